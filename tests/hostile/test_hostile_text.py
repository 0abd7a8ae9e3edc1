"""Text that is made to stop a tool: huge, deep, or slow to match.

Nothing here is timed. Each text is so long that what takes time with its square, or worse, would
not end.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from cli_project import Project, run
from pinned_repo import PinnedRepo, plain
from sitebuilder import TinySite, report_toml

from sphinx_memreport.config import (
    MAX_BYTES,
    MAX_DOCUMENT_BYTES,
    InvalidConfig,
    load_config,
)
from sphinx_memreport.config.loading import _MOST_PARTS
from sphinx_memreport.core.blockscan import scan
from sphinx_memreport.core.characters import _LONGEST, printable_line
from sphinx_memreport.core.ids import Kind, find_mentions
from sphinx_memreport.core.inline import code_ends, code_span, titled
from sphinx_memreport.core.pin_edits import Document
from sphinx_memreport.core.quotes import SourceText
from sphinx_memreport.core.search import (
    _LOOKS_LIKE_EXPRESSION,
    LONGEST,
    Search,
    SearchedFile,
    SearchRequest,
)
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND
from sphinx_memreport.core.yaml_body import _MAX_DEPTH, BodyFault, Items, read_body
from sphinx_memreport.plain.attribution import parse_attribution
from sphinx_memreport.plain.fields import clean_value, read_fields
from sphinx_memreport.plain.myst_reader import front_matter
from sphinx_memreport.plain.reader import read_member
from sphinx_memreport.plain.restore import restored
from sphinx_memreport.sphinx_ext.depth import DEEPEST
from sphinx_memreport.sphinx_ext.includes import MOST_INCLUDES
from sphinx_memreport.sphinx_ext.transforms.mentions import _LineFinder

MANY = 200_000
PATTERN = TYPE_OF_KIND[Kind.ABSENCE].option("pattern")


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


# --- one long line --------------------------------------------------------------------------


def _register(cell: str) -> str:
    return (
        "| Source ID | Kind | Identity | Revision | Layer |\n|---|---|---|---|---|\n"
        f"| SRC-1 | git | https://example.org/j | {'a' * 40} | implementation {cell} |\n"
    )


SLOW: dict[str, Callable[[], object]] = {
    "words joined by U+2010": lambda: list(find_mentions("abc\u2010" * MANY)),
    "words joined by hyphens": lambda: list(find_mentions("abc-" * MANY)),
    "hidden characters": lambda: list(find_mentions("MEM-OBJ-a" + "\u200b" * MANY)),
    "backticks in an attribution": lambda: parse_attribution("--- " + "`" * MANY),
    "backticks as a pattern": lambda: clean_value(PATTERN, "`" * MANY) if PATTERN else 0,
    "labels": lambda: read_fields(Kind.ROUTE, "a. " * MANY, bullet=False),
    "colons in a document": lambda: scan(":" * MANY, "myst").blocks,
    "colons in reStructuredText": lambda: scan("x\n\n" + ":" * MANY, "rest").blocks,
    "backticks and blanks": lambda: scan("x ```" + " " * MANY, "myst").blocks,
    "roles in a moved document": lambda: Document("{memsrc}`a" * MANY, "myst"),
    "an expression": lambda: _LOOKS_LIKE_EXPRESSION.search(("[a-b" * MANY)[:1000]),
    "backticks in a register": lambda: read_member("m.md", _register("`" * MANY)),
    "a word in a register": lambda: read_member("m.md", _register("`" + "a" * MANY + "`")),
    "blanks in a coverage table": lambda: read_member(
        "m.md", f"| Entry | Paths | Records |\n|---|---|---|\n| a | x{' ' * MANY}y | z |\n"
    ),
    "blanks in an amendment": lambda: read_member(
        "m.md", f"Amendment: MEM-OBJ-a is superseded by{' ' * MANY}y\n"
    ),
    "a passage at every second character": lambda: restored(
        "ab" * 10, SourceText("a*b*" * 50_000), None
    ),
    "a message": lambda: printable_line("\u202e" * MANY),
    "a code span": lambda: (code_span("`" * MANY), code_ends("` " * MANY)),
    "a title": lambda: titled("a" + " " * MANY + "<b>"),
}


@pytest.mark.parametrize("what", SLOW)
def test_time_grows_with_the_text_alone(what: str) -> None:
    SLOW[what]()


def test_ids_among_urls() -> None:
    found = list(find_mentions("https://example.org/MEM-OBJ-x MEM-OBJ-note " * 50_000))
    assert len(found) == 50_000


def test_an_option_of_many_blanks_is_read() -> None:
    text = "```{evidence} a.py\n:caption: a" + " " * MANY + "b" + " " * MANY + "\n\nx\n```\n"
    (block,) = scan(text, "myst").blocks
    assert (block.option("caption"), block.trouble) == ("a" + " " * MANY + "b", "")


class Counting(list[str]):
    """Lines that count how often one of them is looked at."""

    looked = 0

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        self.looked += 1
        return super().__getitem__(index)


def test_the_lines_of_ids_are_found_in_one_pass() -> None:
    names = [f"MEM-OBJ-n{number}" for number in range(3000)]
    finder = _LineFinder(["# M", "", *names])
    lines = Counting(finder._lines)
    finder._lines = lines
    assert [finder.find(name, 3) for name in names] == list(range(3, 3003))
    assert lines.looked <= 3 * len(names)


def test_a_paragraph_of_many_ids_has_each_at_its_line(site: TinySite) -> None:
    text = "# M\n\n" + "\n".join(f"MEM-OBJ-n{n} and `MEM-OBJ-n{n}`" for n in range(500)) + "\n"
    built = site.build({"m.md": text}, "dummy")
    assert built.problems == [("dangling-id", "m", 3 + n) for n in range(500)]


def test_near_names_are_sought_only_as_long_as_that_is_quick(
    site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sphinx_memreport.core.checks.ids._MOST_COMPARISONS", 2)
    text = "# M\n\n```{memobject} MEM-OBJ-note\n```\n\n" + "\n".join(
        f"MEM-OBJ-not{letter}" for letter in "abcd"
    )
    built = site.build({"m.md": text}, "dummy")
    assert [bool("did you mean" in each.fix) for each in built.details] == [True] * 3 + [False]


def test_long_lines_of_a_source_and_of_a_page(tmp_path: Path) -> None:
    long = "ab cd " * 1_800_000
    repo = plain(tmp_path / "repo", {"long.txt": f"x {long}y\n".encode(), "b.txt": b"b\n"})
    text = (
        "# M\n\n```{evidence} SRC-1 long.txt\ncd y\n```\n\n"
        "```{evidence} SRC-1 long.txt\ncd z\n```\n\n" + "b " * 500_000 + "MEM-OBJ-x\n"
    )
    built = TinySite(tmp_path / "site", repo).build({"m.md": text})
    assert built.problems == [("stale-quote", "m", 7), ("dangling-id", "m", 11)]
    assert len(built.page("m")) < 1_200_000
    assert all(len(line) < 3000 for line in built.warnings.split("\n"))


# --- depth ----------------------------------------------------------------------------------


def nested_fences(depth: int, name: str = "note") -> str:
    fences = [":" * (depth + 3 - level) for level in range(depth)]
    return "\n".join([*(f"{each}{{{name}}}" for each in fences), "MEM-OBJ-x", *reversed(fences)])


def nested_emphases(depth: int) -> str:
    return "*a _b " * (depth // 2) + "x" + " b_ a*" * (depth // 2)


def nested_table(depth: int) -> str:
    lines = ["x"]
    for _ in range(depth):
        width = max(map(len, lines))
        rule = f"+-{'-' * width}-+"
        lines = [rule, *(f"| {line.ljust(width)} |" for line in lines), rule]
    return "\n".join(lines)


EMPHASES = {
    "in a paragraph": ("# M\n\n%s\n", 3),
    "in a heading": ("# %s\n", 1),
    "in a list in a quotation": ("# M\n\n> - %s\n", 3),
    "in a table": ("# M\n\n| a |\n|---|\n| ` | %s | ` |\n", 3),
    "in a directive": ("# M\n\n```{note}\nx\n\n%s\n```\n", 6),
    "in a label": ("# M\n\n```{memobject} MEM-OBJ-a — %s\n```\n", 3),
    "in a field": ("# M\n\n```{memobject} MEM-OBJ-a\n:identity: %s\n```\n", 3),
    "in a row": ('# M\n\n```{memcoverage}\n- entry: "`"\n  note: %s\n```\n', 3),
    "behind half of a link": ("# M\n\n[x](y\n%s\n", 3),
}
# Marks of reStructuredText behind which blocks go on in the same line.
MARKS = (
    *("- ", "* ", "‣ ", "1. ", "#. ", "(a) ", "mmmm. ", ":a: ", ":a b: ", "-a  ", "--all  "),
    *(".. [1] ", ".. [#a] ", ".. |a| replace:: ", ".. note:: ", ".. py:function:: "),
)
DEEP = {
    **{
        f"emphases {name}": ("m.md", text % nested_emphases(200), line)
        for name, (text, line) in EMPHASES.items()
    },
    "many marks": ("m.md", "# M\n\n" + "*" * 500 + "x" + "*" * 500 + "\n", 3),
    **{f"blocks behind {mark}": ("m.rst", f"M\n=\n\n{mark * 200}x\n", 4) for mark in MARKS},
    "lines": ("m.rst", "M\n=\n\n" + "\n".join(f"| {' ' * n}x" for n in range(300)), 54),
    "tables": ("m.rst", f"M\n=\n\n{nested_table(70)}\n", 54),
    "fences": ("m.md", "# M\n\n" + nested_fences(300), 53),
    "directives": (
        "m.rst",
        "M\n=\n\n" + "\n\n".join(f"{' ' * n}.. note::" for n in range(99)),
        None,
    ),
    "quotations": ("m.rst", "M\n=\n\n" + "\n\n".join(f"{' ' * n}x" for n in range(300)), 106),
    "lists": ("m.rst", "M\n=\n\n" + "- " * 300 + "x\n", 4),
}


@pytest.mark.parametrize("what", DEEP)
def test_what_is_too_deep_for_the_parser_is_shown_as_text(site: TinySite, what: str) -> None:
    name, text, line = DEEP[what]
    built = site.build({name: text})
    assert [(code, doc) for code, doc, _ in built.problems] == [("swallowed-text", "m")]
    assert line in (None, built.problems[0][2])
    assert built.status == 1
    shown = built.soup("m").select_one("[role=main] pre")
    assert shown is not None
    assert shown.get_text().strip() == text.strip()


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("m.md", "# M\n\n" + nested_fences(49)),
        ("m.md", "# M\n\n" + nested_fences(49).replace("MEM", nested_emphases(50) + " MEM")),
        ("m.md", "# M\n\n" + "*one* **two** ~~three~~ _four_ __five__ " * 200 + "MEM-OBJ-x\n"),
        ("m.md", "# M\n\n" + "snake_case_name __init__ 2 * 3 * 4 _a *b `**c` " * 200 + "MEM-OBJ-x"),
        ("m.md", "# M\n\n" + "* a\n* *b*\n" * 200 + "\n" + "* " * 200 + "\n\nMEM-OBJ-x\n"),
        ("m.md", "# M\n\n" + "*" * 999 + "\n\n" + "_" * 999 + "\n\nMEM-OBJ-x\n"),
        ("m.md", "# M\n\n| a_b | *c* |\n|---|---|\n" + "| a_b | *c* |\n" * 200 + "\nMEM-OBJ-x"),
        ("m.md", "# M\n\n```c\n" + "char *a; /* x */ int* b;\n" * 200 + "```\n\nMEM-OBJ-x\n"),
        ("m.rst", "M\n=\n\n" + "*one* - **two** :a: " * 200 + "MEM-OBJ-x\n"),
        ("m.rst", "M\n=\n\n:" + "a long name " * 60 + "x: y\n\nMEM-OBJ-x\n"),
        ("m.rst", f"M\n=\n\n+{'---+' * 70}\n|{'   |' * 70}\n+{'---+' * 70}\n\nMEM-OBJ-x\n"),
        ("m.md", "# M\n\n" + "```{note}\nx\n```\n\n" * 200 + "MEM-OBJ-x\n"),
        ("m.md", "# M\n\n" + ">" * 15 + " x\n\nMEM-OBJ-x\n"),
        ("m.rst", "M\n=\n\n" + "\n\n".join(f"{'  ' * n}x" for n in range(49)) + "\n\nMEM-OBJ-x\n"),
    ],
)
def test_what_parsers_can_read_is_read(site: TinySite, name: str, text: str) -> None:
    assert [code for code, _, _ in site.build({name: text}, "dummy").problems] == ["dangling-id"]


def test_tools_without_sphinx_stop_at_the_same_depth(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    evidence = "```{evidence} SRC-1 README.md\n# Jotter\n```"
    text = "# M\n\n" + nested_fences(120, "memobject").replace("MEM-OBJ-x", evidence)
    project = Project(tmp_path / "site", pinned_repo)
    project.write({"m.md": text})
    result = project.run("fmt")
    assert result.exit_code == 0
    assert "left alone: too many directives stand around it" in result.stderr
    assert project.run("export", "--into", tmp_path / "out").exit_code in (0, 1)


HIDDEN = r"\x2aa \x5fb " * 100 + "x" + r" b\x5f a\x2a" * 100


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f'# M\n\n```{{memcoverage}}\n- entry: x\n  note: "{HIDDEN}"\n  records: []\n```\n', 5),
        (f'# M\n\n```{{memobject}} MEM-OBJ-x\n---\nidentity: "{HIDDEN}"\n---\n```\n', 3),
    ],
)
def test_emphases_that_yaml_hides_are_shown_as_text(site: TinySite, text: str, line: int) -> None:
    built = site.build({"m.md": text})
    assert ("swallowed-text", "m", line) in built.problems
    assert built.text("m").count("*a _b") == 100


# --- YAML -----------------------------------------------------------------------------------

BOMBS = {
    "[" * 100_000: "nested deeper than 12",
    "- " * 10_000 + "a": "nested deeper than 12",
    "\n".join(f"{' ' * n}a:" for n in range(500)): "nested deeper than 12",
    "a: &a [x, x]\nb: &b [*a, *a]": "an anchor (&a) is not allowed",
    "a: *a": "an alias (*a) is not allowed",
    "a: !!python/object/apply:os.system [id]": "a tag (tag:yaml.org,2002:python/object/apply",
    "a: !!binary aGk=": "a tag (tag:yaml.org,2002:binary)",
    "%YAML 1.1\n---\na: b": "a YAML directive (%)",
    "a: b\n---\nc: d": "a second YAML document",
    "a: b\na: c": "'a' is given twice",
    "? [a]\n: b": "a key must be text",
    'a: "\\U00110000"': "stands for no character",
    'a: "\\0"': "a control character (U+0000)",
    'a: "\\ud800"': "a control character (U+D800)",
    "a: \x07": "a character that YAML does not allow",
    "a: '" + "x" * MANY: "this is no YAML",
}


@pytest.mark.parametrize("text", BOMBS, ids=lambda text: ascii(text[:20]))
def test_a_yaml_body_is_plain_text_or_a_fault(text: str) -> None:
    with pytest.raises(BodyFault) as caught:
        read_body(text.split("\n"))
    assert BOMBS[text] in caught.value.message


def test_numbers_and_merge_keys_are_text() -> None:
    body = read_body([f"- {'9' * 10_000}", "- <<: x", "- 1e999"])
    assert isinstance(body, Items)
    assert len(body.items) == 3


def test_bombs_on_a_page_are_said_at_their_row(site: TinySite) -> None:
    body = "- entry: x\n  unresolved: y\n- entry: [[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]\n"
    profile = "storage_substrate: !!python/object:os.system\n  assessment: known\n"
    built = site.build(
        {"m.md": f"# M\n\n```{{memcoverage}}\n{body}```\n\n```{{memprofile}}\n{profile}```\n"}
    )
    assert built.problems == [("invalid-value", "m", 6), ("invalid-value", "m", 10)]


def test_one_row_names_thousands_of_records_once_each(site: TinySite) -> None:
    ids = ", ".join(f"MEM-OBJ-n{number % 200}" for number in range(6_000))
    built = site.build(
        {"m.md": f"# M\n\n```{{memcoverage}}\n- entry: x\n  records: [{ids}]\n```\n"}, "dummy"
    )
    assert built.problems == [("dangling-id", "m", 4)] * 200


@pytest.mark.parametrize("text", ["a: " + "[" * 100_000, "a: &a [1]\nb: *a", "[" * 5])
def test_front_matter_that_is_a_bomb_is_none(text: str) -> None:
    assert front_matter(f"---\n{text}\n---\n\n# M\n") == {}


# --- numbers --------------------------------------------------------------------------------


def test_numbers_of_thousands_of_digits_are_problems(site: TinySite) -> None:
    big = "1" * 5000
    text = (
        f"# M\n\nThe {{memsrc}}`README.md#L{big}`, SRC-{big}.\n\n"
        f"```{{memcoverage}}\n- entry: x\n  direct: README.md#L1-L{big}\n  unresolved: y\n```\n\n"
        f"```{{evidence}} SRC-1 README.md\n:lines: {big}\n\n# Jotter\n```\n\n"
        f"```{{memgraph}}\n:around: MEM-OBJ-{big}\n:depth: {big}\n```\n"
    )
    built = site.build({"m.md": text})
    assert sorted(built.problems, key=lambda found: (found[2] or 0, found[0])) == [
        ("range-outside-file", "m", 3),
        ("unknown-source", "m", 3),
        ("range-outside-file", "m", 6),
        ("invalid-value", "m", 11),
        ("invalid-value", "m", 17),
        ("malformed-id", "m", 17),
    ]


def test_a_source_of_thousands_of_digits_is_imported(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    rows = "".join(
        f"| SRC-{name} | git | https://example.org/j | {pinned_repo.commit} | implementation |\n"
        for name in ("1" * 5000, "2", "10")
    )
    header = "| Source ID | Kind | Identity | Revision | Layer |\n|---|---|---|---|---|\n"
    (tmp_path / "memory.md").write_text(f"# J memory report\n\n{header}{rows}", encoding="utf-8")
    result = run("import", tmp_path / "memory.md", "--into", tmp_path / "out")
    assert result.exit_code in (0, 1, 2)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception


@pytest.mark.parametrize("jobs", ["9" * 5000, "²", "-1", "1e3", "\x1b[31m"])
def test_a_number_of_processes_is_one(tmp_path: Path, jobs: str) -> None:
    result = run("check", "--jobs", jobs, "--site", tmp_path)
    assert result.exit_code == 2
    assert isinstance(result.exception, SystemExit)


# --- regular expressions --------------------------------------------------------------------

EXPRESSIONS = {
    "(a{1000}){1000}": "is no regular expression of RE2",
    "((((a{100}){100}){100}){100}){100}": "is no regular expression of RE2",
    "(" * 4000: "is no regular expression of RE2",
    "[[:word:]]{1000}" * 300: "is no regular expression of RE2",
    r"\p{L}{900}" * 400: "is no regular expression of RE2",
    r"\p{L}" * 200_000: "at most 5,000 characters; found 1,000,000",
    "a" * 1_000_000: "at most 5,000 characters",
    "(?:)" * 1000: "matches the empty text",
    "x**": "is no regular expression of RE2",
    r"(a)\1": "is no regular expression of RE2",
    "(?=x)": "is no regular expression of RE2",
}


def test_expressions_that_explode_are_problems_of_the_report(
    site: TinySite,
) -> None:
    text = "# M\n" + "".join(
        f"\n```{{memabsence}} MEM-ABS-x{chr(97 + number)}\n:searched: '**'\n:pattern: '{pattern}'\n"
        ":regex:\n```\n"
        for number, pattern in enumerate(EXPRESSIONS)
    )
    built = site.build({"m.md": text}, "dummy")
    assert built.problems == [("invalid-value", "m", 3 + 6 * n) for n in range(len(EXPRESSIONS))]
    for problem, said in zip(built.details, EXPRESSIONS.values(), strict=True):
        assert said in problem.message
        assert len(problem.message) < 1000


@pytest.mark.parametrize(
    "pattern", ["(a|b)*c" * 700, "|".join(f"z{n}" for n in range(900)), "(x" * 1600 + ")" * 1600]
)
def test_large_expressions_are_searched_with(pattern: str) -> None:
    request = SearchRequest(("**",), pattern, True)
    search = Search(request)
    search.look_into("a.txt", SearchedFile(b"abx" * 100_000, "utf-8"))
    assert search.result().hit_count == 0


# --- files of the configuration -------------------------------------------------------------

TOML_BOMBS: dict[str, tuple[str, int | None, str]] = {
    "a dotted key": (".".join("a" * 1_000_000) + " = 1", 1, "more than 50 parts"),
    "a header": ("\n[" + " . ".join("a" * 500_000) + "]\n", 2, "more than 50 parts"),
    "an inline table": ("x = {" + ".".join("a" * 500_000) + " = 1}", 1, "more than 50 parts"),
    "quoted parts": ("\n\n" + '."a b"' * 100_000 + " = 1", 3, "more than 50 parts"),
    "parts with escapes": ('"a\\"b"' + ".'c d'" * 100_000 + " = 1", 1, "more than 50 parts"),
    "lists": ("x = " + "[" * 100_000, None, "nested too deeply"),
    "tables": ("x = " + "{a=" * 5000, None, "nested too deeply"),
    "digits": ("x = " + "1" * 100_000, None, "not valid TOML"),
    "a string": (f"x = '{'a' * 4_000_000}'", 1, "x: unknown key"),
    "too long": ("#" * 5_000_000, None, "larger than 4194304 bytes"),
    "no end": ('x = """' + '\\"""' * 300_000, None, "not valid TOML"),
    "quotes": ('"' * 1_000_001, 1, "not valid TOML"),
}


@pytest.mark.parametrize("what", TOML_BOMBS)
def test_a_toml_bomb_is_one_problem(tmp_path: Path, what: str) -> None:
    text, line, said = TOML_BOMBS[what]
    path = tmp_path / "memreport.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidConfig) as caught:
        load_config(path)
    (problem,) = caught.value.problems
    assert said in problem.message
    assert line in (None, problem.line)
    assert len(problem.message) < 300


def test_dotted_text_is_no_key(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    toml = report_toml(pinned_repo, source=f'inspected = "{".".join("a" * 40)}. {"." * 500}"')
    (tmp_path / "memreport.toml").write_text(toml + "\n" * 100_000, encoding="utf-8")
    assert list(load_config(tmp_path / "memreport.toml").reports) == ["jotter"]


JSON_BOMBS: Sequence[bytes] = (
    b"[" * 1_000_000,
    b'{"a":' * 100_000,
    b'{"version": ' + b"1" * 100_000 + b"}",
    b'{"version": 1, "sources": ' + b"[" * 900 + b"]" * 900 + b"}",
    b'{"version": 1, "date": "\\ud800", "sources": [{"report": NaN}]}',
    b'"' + b"a" * 1_000_000,
)


@pytest.mark.parametrize("data", JSON_BOMBS, ids=lambda data: ascii(data[:20]))
def test_a_json_bomb_is_a_problem(site: TinySite, data: bytes) -> None:
    files = {
        "memreport.lock": data,
        "other.json": data,
        "m.md": "# M\n\n```{memsupplied}\n:from: other.json\n```\n",
    }
    built = site.build(files, "dummy")
    assert built.problems == [("invalid-value", "m", 3)]
    built = site.build(builder="dummy", memreport_offline="lock")
    assert [(code, doc) for code, doc, _ in built.problems] == [
        ("invalid-config", "memreport.lock")
    ]
    assert built.status == 2


def test_json_of_another_site_is_text(site: TinySite) -> None:
    evil = "<script data-hx=1>x</script>\x1b[31m\u202e"
    record = {"report": "other", "id": "MEM-OBJ-far", "label": evil, "uri": "javascript:x"}
    other = {"schema_version": 1, "records": [record]}
    files = {
        "other.json": json.dumps(other),
        "m.md": "# M\n\n```{memsupplied}\n:from: other.json\n:url: https://example.org\n```\n",
    }
    built = site.build(files)
    assert built.problems == []
    assert built.soup("m").select("[data-hx]") == []
    hrefs = [str(a["href"]) for a in built.soup("m").select("a[href]")]
    assert not any(href.startswith("javascript") for href in hrefs)


# --- the page about safety ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "limit"),
    [
        ("a regular expression", f"{LONGEST:,} characters"),
        ("blocks of a document, or emphases", f"{DEEPEST}"),
        ("includes of a document", f"{MOST_INCLUDES:,}"),
        ("a document, or all", f"{MAX_DOCUMENT_BYTES // 1024 // 1024} MiB"),
        ("lists and mappings", f"{_MAX_DEPTH}"),
        ("`memreport.toml`", f"{MAX_BYTES // 1024 // 1024} MiB"),
        ("parts of a dotted key", f"{_MOST_PARTS}"),
        ("a line of a message", f"{_LONGEST:,} characters"),
    ],
)
def test_the_page_about_safety_names_the_limits_that_hold(what: str, limit: str) -> None:
    page = Path(__file__).resolve().parents[2] / "docs/explanation/safety.md"
    rows = [line for line in page.read_text("utf-8").splitlines() if line.startswith(f"| {what}")]
    assert [row.split("|")[2].strip() for row in rows] == [limit]
