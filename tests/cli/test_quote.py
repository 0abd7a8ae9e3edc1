"""``memreport quote``: the block that is printed is verified as the build verifies it."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from cli_project import Project, run_process
from hypothesis import given, settings
from hypothesis import strategies as st
from pinned_repo import PinnedRepo, bare, plain
from sitebuilder import TinySite, report_toml

from sphinx_memreport.core.blockscan import scan

AWKWARD = {
    "guide.md": b"Save:\n\n```console\n$ jotter\n```\n\n:::{note}\nplain\n:::\n---\na: b\n---\n",
    "style.css": b":root {\n  color: red;\n}\n",
    "twice.py": b"def f():\n    return 1\n\ndef g():\n    return 1\n",
    "same.txt": b"a a a\n",
    "hidden.txt": "safe\u202etxt\n".encode(),
    "escape.txt": b"\x1b]0;owned\x07text\n",
    "crlf.txt": b"one\r\n\ttwo\r\n",
    "blank.txt": b"\n\n\n",
    "binary.bin": bytes(range(256)),
    "a b/ünï.txt": b"space\n",
    "notes.txt": b"Notes are kept for ever.\n",
}


@pytest.fixture
def repo(tmp_path: Path) -> PinnedRepo:
    return plain(tmp_path / "repo", AWKWARD)


@pytest.fixture
def project(tmp_path: Path, repo: PinnedRepo) -> Project:
    return Project(tmp_path / "p", repo)


def fenced(body: str, head: str, fence: str = "```") -> str:
    return f"{fence}{{evidence}} SRC-1 {head}\n{body}\n{fence}\n"


@pytest.mark.parametrize(
    ("arguments", "block"),
    [
        (["SRC-1", "notes.txt", "1"], fenced("Notes are kept for ever.", "notes.txt")),
        (["notes.txt", "1-1"], fenced("Notes are kept for ever.", "notes.txt")),
        (["guide.md", "3-5"], fenced("```console\n$ jotter\n```", "guide.md", "````")),
        (["guide.md", "10-12"], fenced("\n---\na: b\n---", "guide.md")),
        (["style.css", "1-3"], fenced("\n:root {\n  color: red;\n}", "style.css")),
        (["twice.py", "5"], fenced(":lines: 5\n\nreturn 1", "twice.py")),
        (["twice.py", "4-5"], fenced("def g():\n    return 1", "twice.py")),
        (["crlf.txt", "1-2"], fenced("one\n\ttwo", "crlf.txt")),
        (["a b/ünï.txt", "1"], fenced("space", "a b/ünï.txt")),
        (["--find", "Notes\n are  kept"], fenced("Notes are kept", "notes.txt")),
        (["--find", "Notes are", "-L"], fenced("Notes are kept for ever.", "notes.txt")),
        (["twice.py", "--find", "return 1 def g"], fenced("    return 1\n\ndef g", "twice.py")),
        (
            ["twice.py", "4-5", "--find", "return 1"],
            fenced(":lines: 5\n\nreturn 1", "twice.py"),
        ),
        (
            ["SRC-1", "notes.txt", "1", "--rest", "--caption", "A # b"],
            ".. evidence:: SRC-1 notes.txt\n   :caption: A # b\n\n   Notes are kept for ever.\n",
        ),
        (
            ["notes.txt", "1", "--layer", "observed run", "--supports", "MEM-OBJ-note"],
            fenced(
                ":layer: observed run\n:supports: MEM-OBJ-note\n\nNotes are kept for ever.",
                "notes.txt",
            ),
        ),
    ],
)
def test_blocks(project: Project, arguments: list[str], block: str) -> None:
    result = project.run("quote", *arguments)
    assert (result.exit_code, result.stdout) == (0, block), result.output


def test_every_block_is_verified_by_a_build(tmp_path: Path, repo: PinnedRepo) -> None:
    project = Project(tmp_path / "p", repo)
    site = TinySite(tmp_path / "site", repo)
    places = [
        *(["guide.md", "1-12"], ["guide.md", "7-9"], ["style.css", "1"], ["twice.py", "2"]),
        *(["crlf.txt", "2"], ["a b/ünï.txt", "1"], ["escape.txt", "1"], ["--find", "safe"]),
    ]
    blocks = [project.run("quote", *place).stdout for place in places]
    rest = [project.run("quote", *place, "--rest").stdout for place in places]
    built = site.build(
        {
            "a.md": "# A\n\n" + "\n".join(blocks),
            "b.rst": "B\n=\n\n" + "\n".join(rest),
        },
        builder="dummy",
    )
    assert [p for p in built.problems if p[0] != "invisible-character"] == []


def test_in_a_record_with_colons_more_are_needed_and_that_is_said(project: Project) -> None:
    result = project.run("quote", "guide.md", "7-9")
    assert "needs 4 colons or more" in result.stderr


def test_hidden_characters_are_said(project: Project) -> None:
    result = project.run("quote", "hidden.txt", "1")
    assert result.exit_code == 0
    assert "safe\u202etxt" in result.stdout
    assert "U+202E RIGHT-TO-LEFT OVERRIDE" in result.stderr


def test_hidden_characters_never_reach_a_terminal(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sphinx_memreport.cli.quote._is_watched", lambda: True)
    result = project.run("quote", "escape.txt", "1")
    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "fix: write the block to a file" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["notes.txt", "2"], 1, "range-outside-file"),
        (["notes.tx", "1"], 1, "did you mean notes.txt?"),
        (["binary.bin", "1"], 1, "not-text"),
        (["blank.txt", "1-3"], 1, "blank"),
        (["notes.txt", "--find", "Notes are held for ever"], 1, "nearest passage: line 1"),
        (["twice.py", "--find", "return 1"], 1, ":lines: 5"),
        (["same.txt", "--find", "a"], 1, "occurs 3 times"),
        (["--find", "return 1"], 1, "SRC-1 twice.py 5   return 1"),
        (["--find", "Notes were kept for ever"], 1, "near: SRC-1 notes.txt 1"),
        (["--find", "zzz qqq xxx"], 1, "nothing at the pin reads so"),
        (["--find", "  "], 2, "--find needs a text"),
        (["notes.txt"], 2, "say which lines"),
        (["notes.txt", "3-1"], 2, "ends before it begins"),
        (["notes.txt", "x", "1"], 2, "put a path with spaces in quotes"),
        (["SRC-2", "notes.txt", "1"], 2, "has no source SRC-2; it has: SRC-1"),
        (["12"], 2, "name the path"),
        (["notes.txt", "1", "--report", "x"], 2, "no report 'x'"),
    ],
)
def test_what_cannot_be_quoted_is_said(
    project: Project, arguments: list[str], status: int, said: str
) -> None:
    result = project.run("quote", *arguments)
    assert (result.exit_code, result.stdout) == (status, ""), result.output
    assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (["notes.txt", "2"], "name lines from 1 to 1"),
        (["zzz.py", "2"], "name a path that is there at the pinned commit"),
        (["notes.txt", "--find", "zzz qqq xxx"], "name a text that is there at the pinned commit"),
        (["same.txt", "--find", "a"], "give more of the passage: some of these stand on one line"),
        (
            ["twice.py", "--find", "return 1"],
            "name its lines, as in memreport quote SRC-1 twice.py 2 --find 'return 1'",
        ),
        (
            ["twice.py", "4", "--find", "def f():"],
            "name its lines, as in memreport quote SRC-1 twice.py 1 --find 'def f():'",
        ),
        (["--find", "return 1"], "such as memreport quote SRC-1 twice.py 2 --find 'return 1'"),
    ],
)
def test_a_fix_is_something_to_type_that_works(
    project: Project, arguments: list[str], fix: str
) -> None:
    result = project.run("quote", *arguments)
    assert result.exit_code == 1
    assert result.stderr.endswith(f"\n    fix: {fix}\n")
    if "memreport quote" in fix:
        mended = project.run(*shlex.split(fix.partition("memreport ")[2]))
        assert mended.stdout.startswith("```{evidence} SRC-1 twice.py\n")


def test_a_source_out_of_reach(tmp_path: Path, repo: PinnedRepo) -> None:
    project = Project(tmp_path / "p", repo)
    toml = report_toml(repo).replace(repo.path.as_posix(), "nowhere")
    project.write({"memreport.toml": toml})
    result = project.run("quote", "notes.txt", "1")
    assert (result.exit_code, "checkout-missing" in result.stderr) == (3, True)


def test_captures_and_several_sources(tmp_path: Path, repo: PinnedRepo) -> None:
    post = b"A user reports: notes vanish.\nNotes are kept for ever.\n"
    project = Project(
        tmp_path / "p",
        repo,
        report_toml(
            repo,
            source='[reports.jotter.sources.SRC-2]\nkind = "capture"\nidentity = "post"\n'
            f'file = "post.txt"\nsha256 = "{sha256(post).hexdigest()}"\n'
            'layer = "reported operation"\n',
        ),
    )
    project.write({"post.txt": post})
    block = "```{evidence} SRC-2\nA user reports: notes vanish.\n```\n"
    assert project.run("quote", "SRC-2", "1").stdout == block
    found = project.run("quote", "--find", "a user", "-L")
    assert found.exit_code == 1  # case counts
    assert project.run("quote", "--find", "A user", "-L").stdout == block
    # a path is in the only tree
    assert project.run("quote", "notes.txt", "1").stdout.startswith("```{evidence} SRC-1 notes")
    both = project.run("quote", "--find", "kept for ever")
    assert both.exit_code == 1
    assert "SRC-1 notes.txt 1" in both.stderr
    assert "SRC-2 2   Notes are" in both.stderr
    assert project.run("quote", "SRC-2", "notes.txt", "1").exit_code == 2


def test_as_data(project: Project) -> None:
    result = project.run("quote", "notes.txt", "1", "--json")
    assert json.loads(result.stdout) == {
        "block": fenced("Notes are kept for ever.", "notes.txt"),
        "lines": "1",
        "path": "notes.txt",
        "source": "SRC-1",
    }


def test_a_block_through_a_pipe_has_the_bytes_of_the_source(project: Project) -> None:
    done = run_process("quote", "escape.txt", "1", cwd=project.root)
    assert done.stdout == fenced("\x1b]0;owned\x07text", "escape.txt")


# --- property ---------------------------------------------------------------------------------

LINES = st.lists(
    st.one_of(
        st.sampled_from(["```", "~~~~", ":::", "---", ":x: y", "", "\tdeep", "same", "    x"]),
        st.text(alphabet=st.characters(codec="utf-8", categories=["L", "P", "Zs"]), max_size=8),
    ),
    min_size=1,
    max_size=8,
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


@settings(max_examples=60, deadline=None)
@given(LINES, st.data(), st.booleans())
def test_what_is_quoted_is_found_again(
    folder: Path, lines: list[str], data: st.DataObject, rest: bool
) -> None:
    content = "".join(f"{line}\n" for line in lines).encode()
    name = sha256(content).hexdigest()[:16]
    place = folder / name
    repo = PinnedRepo(place, ()) if place.exists() else bare(place, {"f": content})
    repo = PinnedRepo(place, tuple(repo.git("rev-list", "main").split()))
    project = Project(folder / f"{name}-p", repo)
    start = data.draw(st.integers(1, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    result = project.run("quote", "f", f"{start}-{end}", *(["--rest"] if rest else []))
    wanted = " ".join(" ".join(lines[start - 1 : end]).split())
    if result.exit_code:
        assert not wanted or "more than once within" in result.stderr, result.output
        return
    (block,) = scan(result.stdout, "rest" if rest else "myst").blocks
    assert " ".join(block.quote.split()) == wanted
    assert (block.source, block.path, block.trouble) == ("SRC-1", "f", "")
