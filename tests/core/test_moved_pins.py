"""What becomes of quotes, paths and searches when a pin moves, and the edits that are safe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sphinx_memreport.core.blobs import Absence, Blob, NoBlob
from sphinx_memreport.core.blocks import Syntax
from sphinx_memreport.core.models import LineRange, SourceRules
from sphinx_memreport.core.pin_edits import CannotEdit, Document, PathEdit, WrittenPath
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.repin import Change, Fate, LineMap, compare
from sphinx_memreport.core.resolve import PathRequest, QuoteRequest
from sphinx_memreport.core.search import PlannedSearch, SearchRequest


class Tree:
    """A source of files in memory."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.files = {
            path: text.encode() if isinstance(text, str) else text for path, text in files.items()
        }

    def blobs(self, paths: Sequence[str]) -> Iterator[tuple[str, Blob | NoBlob]]:
        for path in paths:
            data = self.files.get(path)
            yield path, NoBlob(Absence.MISSING) if data is None else Blob(f"blob {path}", data)

    def paths(self) -> Sequence[str]:
        return sorted(self.files)

    def directory_exists(self, path: str) -> bool:
        return not path or any(name.startswith(f"{path}/") for name in self.files)

    def glob(self, patterns: Sequence[str]) -> Sequence[str]:
        return [path for path in self.paths() if any(fnmatch(path, each) for each in patterns)]


def lines(text: str | None) -> LineRange | None:
    if text is None:
        return None
    start, _, end = text.partition("-")
    return LineRange(start=int(start), end=int(end or start))


def quote_fate(
    old: Mapping[str, str | bytes],
    new: Mapping[str, str | bytes],
    quote: str,
    within: str | None = None,
    renames: Mapping[str, str] | None = None,
    path: str = "a.py",
) -> Fate:
    request = QuoteRequest(path, quote, lines(within))
    fates = compare([request], [], [], Tree(old), Tree(new), renames or {}, "utf-8")
    return fates.quotes[request]


def path_fate(
    old: Mapping[str, str | bytes],
    new: Mapping[str, str | bytes],
    path: str,
    within: str | None = None,
    renames: Mapping[str, str] | None = None,
) -> Fate:
    request = PathRequest(path, lines(within))
    fates = compare([], [request], [], Tree(old), Tree(new), renames or {}, "utf-8")
    return fates.paths[request]


def shown(fate: Fate) -> tuple[str, str, str | None, str | None]:
    """Change, path, where it stands, and the range to write."""
    return (
        str(fate.change),
        fate.path,
        str(fate.lines) if fate.lines else None,
        str(fate.within) if fate.within else None,
    )


OLD = "alpha = 1\nbeta = 2\ngamma = compute(alpha, beta)\n"
# --- quotes -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "within", "expected"),
    [
        (OLD, None, ("unchanged", "a.py", "2", None)),
        (OLD, "1-3", ("unchanged", "a.py", "2", None)),
        ("# new\n" + OLD, None, ("moved", "a.py", "3", None)),
        ("# new\n" + OLD, "2", ("moved", "a.py", "3", "3")),
        ("# new\n" + OLD, "1-3", ("moved", "a.py", "3", None)),  # the range still holds it
        ("\n" * 40 + OLD, "1-3", ("moved", "a.py", "42", "42")),
    ],
)
def test_a_quote_that_still_stands(
    new: str, within: str | None, expected: tuple[str, str, str | None, str | None]
) -> None:
    fate = quote_fate({"a.py": OLD}, {"a.py": new}, "beta = 2", within)
    assert shown(fate) == expected
    assert fate.finding is None


def test_a_renamed_file_takes_the_quote_along() -> None:
    fate = quote_fate({"a.py": OLD}, {"b.py": "#\n" + OLD}, "beta = 2", "2", {"a.py": "b.py"})
    assert shown(fate) == ("renamed", "b.py", "3", "3")


def test_a_file_that_is_still_there_was_not_renamed() -> None:
    new = {"a.py": OLD, "b.py": OLD}
    assert shown(quote_fate({"a.py": OLD}, new, "beta = 2", None, {"a.py": "b.py"}))[:2] == (
        "unchanged",
        "a.py",
    )


def test_an_edited_quote_comes_with_the_nearest_passage_and_a_word_diff() -> None:
    new = OLD.replace("compute(alpha, beta)", "compute(alpha, delta)")
    fate = quote_fate({"a.py": OLD}, {"a.py": new}, "gamma = compute(alpha, beta)")
    assert fate.change is Change.EDITED
    assert fate.finding is not None
    assert fate.finding.code is Code.STALE_QUOTE
    assert "word diff: gamma = compute(alpha, [-beta-]{+delta+})" in fate.finding.details
    assert fate.passage == "gamma = compute(alpha, beta)"


def test_an_edited_quote_in_a_renamed_file_gets_its_new_path() -> None:
    new = {"b.py": OLD.replace("alpha, beta", "alpha, delta")}
    quote = "gamma = compute(alpha, beta)"
    fate = quote_fate({"a.py": OLD}, new, quote, None, {"a.py": "b.py"})
    assert (fate.change, fate.path) == (Change.EDITED, "b.py")


def test_a_gone_quote_keeps_its_path() -> None:
    renamed = {"b.py": "nothing like it\n"}
    for new, renames in (({"a.py": "other\n"}, {}), (renamed, {"a.py": "b.py"})):
        fate = quote_fate({"a.py": OLD}, new, "gamma = compute(alpha, beta)", None, renames)
        assert (fate.change, fate.path, fate.lines) == (Change.GONE, "a.py", None)
        assert fate.finding is not None


def test_a_gone_quote_says_which_other_file_holds_it() -> None:
    fate = quote_fate({"a.py": OLD}, {"c.py": OLD}, "gamma = compute(alpha, beta)")
    assert (fate.change, fate.path) == (Change.GONE, "a.py")
    assert fate.finding is not None
    assert "c.py" in fate.finding.fix


def test_a_file_that_is_no_text_any_more_is_gone() -> None:
    fate = quote_fate({"a.py": OLD}, {"a.py": b"\0\1"}, "beta = 2")
    assert fate.change is Change.GONE
    assert fate.finding is not None
    assert fate.finding.code is Code.NOT_TEXT


TWICE = "def one():\n    return x\n\ndef two():\n    return x\n"


@pytest.mark.parametrize(
    ("old", "within", "new", "expected"),
    [
        # the range goes along with the lines around
        (TWICE, "5", "#\n\n" + TWICE, ("moved", "a.py", "7", "7")),
        # it must be added where a second one has appeared
        (TWICE[:24], None, TWICE, ("unchanged", "a.py", "2", "2")),
        # another one has taken its place: the check would pass, and show the wrong one
        (TWICE, "5", "def zero():\n    return x\n\n" + TWICE, ("moved", "a.py", "8", "8")),
    ],
)
def test_of_several_the_one_between_the_same_lines_is_meant(
    old: str, within: str | None, new: str, expected: tuple[str, str, str | None, str | None]
) -> None:
    fate = quote_fate({"a.py": old}, {"a.py": new}, "return x", within)
    assert shown(fate) == expected
    assert fate.finding is None


def test_of_several_nobody_knows_which_when_their_lines_are_gone() -> None:
    new = "first()\n    return x\nlast()\nfirst()\n    return x\nlast()\n"
    fate = quote_fate({"a.py": TWICE}, {"a.py": new}, "return x", "5-5")
    assert fate.change is not Change.EDITED  # the range still settles it, so a check says nothing
    assert "whether these lines are still meant" in fate.note
    fate = quote_fate({"a.py": TWICE[:24]}, {"a.py": new}, "return x")
    assert fate.change is Change.EDITED
    assert fate.finding is not None
    assert fate.finding.code is Code.AMBIGUOUS_QUOTE


def test_a_quote_that_was_broken_before() -> None:
    fate = quote_fate({"a.py": "nothing\n"}, {"a.py": OLD}, "beta = 2")
    assert shown(fate) == ("unchanged", "a.py", "2", None)
    assert fate.note == "it was not found at the old pin"
    assert quote_fate({}, {}, "beta = 2").change is Change.GONE


# --- paths --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "within", "expected"),
    [
        ("a.py", None, ("unchanged", "a.py", None, None)),
        ("a.py", "2", ("moved", "a.py", "3", "3")),
        ("old.py", None, ("renamed", "new.py", None, None)),
        ("old.py", "1-2", ("renamed", "new.py", "1-2", None)),
        ("gone.py", None, ("gone", "gone.py", None, None)),
        ("lib", None, ("renamed", "src", None, None)),
        ("lib/", None, ("renamed", "src/", None, None)),
        ("mixed", None, ("gone", "mixed", None, None)),
        ("kept/", None, ("unchanged", "kept/", None, None)),
    ],
)
def test_paths(
    path: str, within: str | None, expected: tuple[str, str, str | None, str | None]
) -> None:
    same = {"kept/x": "x\n"}
    old = {"a.py": OLD, "old.py": OLD, "gone.py": "g\n", "lib/x": "1\n", "lib/s/y": "2\n"}
    old |= same | {"mixed/a": "a\n", "mixed/b": "b\n"}
    new = {"a.py": f"#\n{OLD}", "new.py": OLD, "src/x": "1\n", "src/s/y": "2\n"}
    new |= same | {"one/a": "a\n", "two/b": "b\n"}
    renames = {"old.py": "new.py", "lib/x": "src/x", "lib/s/y": "src/s/y"}
    renames |= {"mixed/a": "one/a", "mixed/b": "two/b"}
    fate = path_fate(old, new, path, within, renames)
    assert shown(fate) == expected
    assert (fate.finding is not None) == (fate.change is Change.GONE)


def test_a_range_whose_text_changed_is_edited_although_a_check_says_nothing() -> None:
    fate = path_fate({"a.py": OLD}, {"a.py": OLD.replace("beta = 2", "beta = 3")}, "a.py", "2-3")
    assert (fate.change, fate.finding) == (Change.EDITED, None)
    assert fate.note


def test_a_range_that_the_file_has_no_more() -> None:
    fate = path_fate({"a.py": OLD}, {"a.py": "x\n"}, "a.py", "2-3")
    assert fate.change is Change.EDITED
    assert fate.finding is not None
    assert fate.finding.code is Code.RANGE_OUTSIDE_FILE


# --- searches -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("glob", "pattern", "expected", "code"),
    [
        ("a.*", "delete", Change.UNCHANGED, None),
        ("a.*", "gamma", Change.EDITED, Code.REFUTED_ABSENCE),
        ("b.*", "delete", Change.GONE, Code.EMPTY_SEARCH),
    ],
)
def test_searches(glob: str, pattern: str, expected: Change, code: Code | None) -> None:
    rules = SourceRules(id="SRC-1", kind="git", fingerprint="f")
    search = PlannedSearch(rules, SearchRequest((glob,), pattern, False))
    fates = compare([], [], [search], Tree({}), Tree({"a.py": OLD}), {}, "utf-8")
    fate = fates.searches[search]
    assert fate.change is expected
    assert (fate.finding.code if fate.finding else None) == code


# --- lines --------------------------------------------------------------------------------

_FILES = st.lists(st.sampled_from(["", "{", "}", "a", "b", "c", "  a"]), max_size=30)


@given(_FILES, _FILES, st.integers(1, 30), st.integers(0, 3))
def test_lines_that_are_mapped_have_the_same_text(
    old: list[str], new: list[str], start: int, more: int
) -> None:
    found = LineMap("\n".join(old), "\n".join(new)).new(LineRange(start=start, end=start + more))
    if found is not None:
        assert found.end - found.start == more
        assert [line.strip() for line in new[found.start - 1 : found.end]] == [
            line.strip() for line in old[start - 1 : start + more]
        ]


@given(_FILES, _FILES, _FILES)
def test_lines_of_an_untouched_part_move_with_it(
    before: list[str], part: list[str], after: list[str]
) -> None:
    marked = ["<start>", *part, "<end>"]
    old, new = "\n".join([*marked, *after]), "\n".join([*before, *marked])
    found = LineMap(old, new).new(LineRange(start=1, end=len(marked)))
    assert found == LineRange(start=len(before) + 1, end=len(before) + len(marked))


# --- edits of evidence --------------------------------------------------------------------


def edit_evidence(
    text: str,
    line: int,
    *,
    path: str = "a.py",
    within: str | None = None,
    new_path: str | None = None,
    new_lines: str | None = None,
    syntax: Syntax = "myst",
) -> str:
    document = Document(text, syntax)
    spans = document.evidence_edits(line, path, lines(within), new_path or path, lines(new_lines))
    return document.edited(spans)


def test_a_path_and_a_range() -> None:
    text = "# T\n\n```{evidence} SRC-1 a.py\n:layer: implementation\n:lines: 12 - 20\n\nq\n```\n"
    new = edit_evidence(text, 3, within="12-20", new_path="src/b c.py", new_lines="14-22")
    assert new == text.replace("SRC-1 a.py", "SRC-1 src/b c.py").replace("12 - 20", "14-22")


def test_a_range_is_added_as_the_first_option() -> None:
    text = "```{evidence} a.py\nq\n```\n"
    assert edit_evidence(text, 1, new_lines="4") == "```{evidence} a.py\n:lines: 4\nq\n```\n"
    inside = "- item\n\n  :::{evidence} a.py\n  :layer: implementation\n\n  q\n  :::\n"
    new = edit_evidence(inside, 3, new_lines="4-5")
    assert new == inside.replace("a.py\n", "a.py\n  :lines: 4-5\n")
    rest = "T\n=\n\n.. evidence:: SRC-1 a.py\n\n   q\n"
    new = edit_evidence(rest, 4, new_lines="4", syntax="rest")
    assert new == rest.replace("a.py\n", "a.py\n   :lines: 4\n")


def test_line_ends_and_byte_order_mark_stay() -> None:
    text = "\ufeff# T\r\n\r\n```{evidence} SRC-1 a.py\r\n:lines: 1\r\n\r\nq\r\n```"
    new = edit_evidence(text, 3, within="1", new_path="b.py", new_lines="2")
    assert new == text.replace("a.py", "b.py").replace(":lines: 1", ":lines: 2")
    added = edit_evidence("```{evidence} a.py\r\nq\r\n```\r\n", 1, new_lines="2")
    assert added == "```{evidence} a.py\r\n:lines: 2\r\nq\r\n```\r\n"


@pytest.mark.parametrize(
    ("line", "path", "within"),
    [(2, "a.py", None), (1, "b.py", None), (1, "a.py", "3")],
)
def test_what_the_build_did_not_read_there_is_left(
    line: int, path: str, within: str | None
) -> None:
    with pytest.raises(CannotEdit):
        edit_evidence("```{evidence} a.py\nq\n```\n", line, path=path, within=within, new_lines="4")


def test_a_path_that_cannot_be_written_there_is_left() -> None:
    text = "```{evidence} a.py\nq\n```\n"
    for path in ("b`.py", " b.py", "b\n.py"):
        with pytest.raises(CannotEdit):
            edit_evidence(text, 1, new_path=path)


# --- edits of paths -----------------------------------------------------------------------


def edit_paths(
    text: str, count: int, old: str, new: str, new_lines: str | None = None, syntax: Syntax = "myst"
) -> tuple[str, list[str]]:
    """The edited text, and why nothing was edited."""
    path, _, anchor = old.partition("#")
    within = lines(anchor.replace("L", "")) if anchor else None
    key = WrittenPath("SRC-1", path, (within.start, within.end) if within else None)
    document = Document(text, syntax, "SRC-1")
    spans, left = document.path_edits({key: PathEdit(new, lines(new_lines))}, {key: count})
    return document.edited(spans), list(left.values())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See {memsrc}`a.py`.\n", "See {memsrc}`b/c.py`.\n"),
        ("See {memsrc}`SRC-1:a.py`.\n", "See {memsrc}`SRC-1:b/c.py`.\n"),
        ("{memsrc}`the a.py\nfile <a.py>`\n", "{memsrc}`the a.py\nfile <b/c.py>`\n"),
        ("{memsrc}``a.py``\n", "{memsrc}``b/c.py``\n"),
        ("{memsrc}`a.py` {memsrc}`a.pyc`\n", "{memsrc}`b/c.py` {memsrc}`a.pyc`\n"),
        (
            "```{memcoverage}\n- entry: a.py\n  direct: [a.py, x]\n  note: a.py\n```\n",
            "```{memcoverage}\n- entry: a.py\n  direct: [b/c.py, x]\n  note: a.py\n```\n",
        ),
        (
            ":::{memcoverage}\n- entry: E\n  search:\n    - 'SRC-1:a.py' # why\n:::\n",
            ":::{memcoverage}\n- entry: E\n  search:\n    - 'SRC-1:b/c.py' # why\n:::\n",
        ),
        (
            "* x\n\n  ```{memcoverage}\n  - entry: E\n    direct: a.py\n  ```\n",
            "* x\n\n  ```{memcoverage}\n  - entry: E\n    direct: b/c.py\n  ```\n",
        ),
    ],
)
def test_a_path_in_markdown(text: str, expected: str) -> None:
    assert edit_paths(text, 1, "a.py", "b/c.py") == (expected, [])
    crlf = text.replace("\n", "\r\n")
    assert edit_paths(crlf, 1, "a.py", "b/c.py") == (expected.replace("\n", "\r\n"), [])


def test_a_path_in_restructuredtext() -> None:
    text = "See :memsrc:`a.py`.\n\n.. memcoverage::\n\n   - entry: E\n     direct: [a.py]\n\nEnd\n"
    new = text.replace("`a.py`", "`b.py`").replace("[a.py]", "[b.py]")
    assert edit_paths(text, 2, "a.py", "b.py", syntax="rest") == (new, [])


def test_a_range_in_a_path() -> None:
    text = "{memsrc}`a.py#L3-L5` {memsrc}`a.py#L3` {memsrc}`a.py`\n"
    new, left = edit_paths(text, 1, "a.py#3-5", "a.py", "7-9")
    assert (new, left) == (text.replace("#L3-L5", "#L7-L9"), [])
    new, left = edit_paths(text, 1, "a.py#3", "b.py", "8")
    assert (new, left) == (text.replace("a.py#L3`", "b.py#L8`"), [])


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("{memsrc}`a.py`, also `` {memsrc}`a.py` ``\n", "b.py"),  # one is only shown
        ("no role at all\n", "b.py"),
        ("{memsrc}`a.py`\n", "b<c>.py"),
        ("{memsrc}`a.py`\n", "b#L3"),
    ],
)
def test_a_path_that_is_not_sure_is_left(text: str, new: str) -> None:
    edited, left = edit_paths(text, 1, "a.py", new)
    assert edited == text
    assert len(left) == 1


def test_a_path_that_yaml_would_read_otherwise_is_put_in_quotes() -> None:
    text = "```{memcoverage}\n- entry: E\n  direct: [a.py]\n```\n"
    assert edit_paths(text, 1, "a.py", "b, c.py") == (text.replace("a.py", '"b, c.py"'), [])


def test_what_a_quote_holds_is_no_path() -> None:
    text = "```{evidence} SRC-1 a.py\n{memsrc}`a.py`\n```\n\n{memsrc}`a.py`\n"
    assert edit_paths(text, 1, "a.py", "b.py") == (text[:-6] + "b.py`\n", [])
