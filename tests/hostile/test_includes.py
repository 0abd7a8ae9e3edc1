"""Includes that lead back to themselves, or take a document beyond all bounds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import CONF, Found, TinySite

from sphinx_memreport.sphinx_ext import includes

RECORD = "```{memobject} MEM-OBJ-x\n```\n\n"


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    site = TinySite(tmp_path / "site", pinned_repo)
    site.write({"conf.py": f'{CONF}exclude_patterns = ["*.inc"]\n'})
    return site


def markdown(file: str, options: str = "") -> str:
    return f"# A\n\n```{{include}} {file}\n{options}```\n\nMEM-OBJ-end\n"


def rest(file: str) -> str:
    return f"A\n=\n\n.. include:: {file}\n\nMEM-OBJ-end\n"


def fences(depth: int, inner: str) -> str:
    marks = ["`" * (depth + 3 - level) for level in range(depth)]
    return "\n".join([*(f"{each}{{note}}" for each in marks), inner, *reversed(marks)]) + "\n"


# What the document that includes goes on with is read in each of them.
END = ("dangling-id", "a", 6)
CIRCLES: dict[str, tuple[dict[str, str], list[Found]]] = {
    "itself": ({"a.md": markdown("a.md")}, [("swallowed-text", "a", 3), END]),
    "a record": (
        {"a.md": f"# A\n\n{RECORD}```{{include}} a.md\n```\n"},
        [("swallowed-text", "a", 6)],
    ),
    "a part of itself": (
        {"a.md": markdown("a.md", ":start-line: 1\n").replace("MEM-OBJ-end", "")},
        [("swallowed-text", "a", 3)],
    ),
    "over a file": (
        {"a.md": markdown("b.inc"), "b.inc": "b\n\n```{include} a.md\n```\n"},
        [("swallowed-text", "a", 3), END],
    ),
    "a file of itself": (
        {"a.md": markdown("b.inc"), "b.inc": "b\n\n```{include} b.inc\n```\n"},
        [("swallowed-text", "a", 3), END],
    ),
    "rest, itself": ({"a.rst": rest("a.rst")}, [("swallowed-text", "a", 4), END]),
    "rest, over a file": (
        {"a.rst": rest("b.inc"), "b.inc": "b\n\n.. include:: c.inc\n", "c.inc": rest("b.inc")},
        [("swallowed-text", "a", 4), END],
    ),
    "one in the other": (
        {"a.md": markdown("b.inc"), "b.inc": "```{eval-rst}\n.. include:: a.md\n```\n"},
        [("swallowed-text", "a", 3), END],
    ),
}


@pytest.mark.parametrize("what", CIRCLES)
def test_a_circle_of_includes_is_a_problem_of_the_document(site: TinySite, what: str) -> None:
    files, problems = CIRCLES[what]
    built = site.build(files)
    assert sorted(built.problems, key=lambda found: found[2] or 0) == problems
    assert built.status == 1
    assert "itself" in built.warnings
    assert (built.out / "a.html").exists()
    again = site.build()
    assert (again.read, again.problems) == ([], built.problems)


def test_both_documents_of_a_circle_say_so_in_every_build(site: TinySite) -> None:
    site.write({"a.md": markdown("b.md"), "b.md": markdown("a.md")})
    serial = site.build(cache="serial")
    parallel = site.build(cache="parallel", parallel=2)
    found = [each for each in serial.problems if each[0] == "swallowed-text"]
    assert found == [("swallowed-text", "a", 3), ("swallowed-text", "b", 3)]
    assert parallel.problems == serial.problems


@pytest.mark.parametrize(
    "files",
    [
        {"a.md": markdown("a.md", ":literal:\n")},
        {"a.md": markdown("a.md", ":code: text\n")},
        {"a.md": "# A\n\n```{include} a.md\n:start-after: '% b'\n```\n\n% b\n\nMEM-OBJ-end\n"},
        {"a.md": markdown("b.inc") * 3, "b.inc": "b\n"},
        {"a.rst": rest("b.inc") + "\n.. include:: b.inc\n", "b.inc": "b\n"},
        {"a.rst": rest("<isonum.txt>")},
        {"a.md": markdown("<isonum.txt>", ":literal:\n")},
    ],
)
def test_includes_that_end_are_read(site: TinySite, files: dict[str, str]) -> None:
    assert {code for code, _, _ in site.build(files).problems} == {"dangling-id"}


@pytest.mark.parametrize(
    ("name", "include"), [("a.md", "```{include} %s\n```\n\n"), ("a.rst", ".. include:: %s\n\n")]
)
def test_includes_that_multiply_come_to_an_end(
    site: TinySite, monkeypatch: pytest.MonkeyPatch, name: str, include: str
) -> None:
    monkeypatch.setattr(includes, "MOST_INCLUDES", 30)
    site.write({f"{n}.inc": f"x\n\n{include % f'{n + 1}.inc' * 10}" for n in range(9)})
    site.write({"9.inc": "x\n"})
    title = "A\n=\n\n" if name == "a.rst" else "# A\n\n"
    built = site.build({name: f"{title}{include % '0.inc' * 10}"}, "dummy")
    assert [(code, doc) for code, doc, _ in built.problems] == [("swallowed-text", "a")]
    assert "the document includes more than 30 files" in built.warnings


def test_all_that_is_included_has_a_limit(site: TinySite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(includes, "MAX_DOCUMENT_BYTES", 30)
    built = site.build({"a.md": "# A\n\n" + "```{include} b.inc\n```\n\n" * 4, "b.inc": "x" * 10})
    assert built.problems == [("swallowed-text", "a", 12)]


DEEP = {
    "by itself": ("# A\n\n```{include} b.inc\n```\n", fences(300, "x"), 3),
    "with what is around it": (
        "# A\n\n" + fences(40, ":::{include} b.inc\n:::"),
        fences(40, "x"),
        43,
    ),
    "in emphases": ("# A\n\n```{include} b.inc\n```\n", "*a _b " * 100 + "x" + " b_ a*" * 100, 3),
}


@pytest.mark.parametrize("what", DEEP)
def test_an_included_file_that_is_too_deep_is_a_problem(site: TinySite, what: str) -> None:
    text, included, line = DEEP[what]
    built = site.build({"a.md": text, "b.inc": included})
    assert built.problems == [("swallowed-text", "a", line)]


def test_long_chains_of_includes_in_blocks_end_before_the_stack(site: TinySite) -> None:
    site.write({f"{n}.inc": f".. note::\n\n   .. include:: {n + 1}.inc\n" for n in range(90)})
    built = site.build({"a.rst": "A\n=\n\n.. include:: 0.inc\n", "90.inc": "x\n"})
    assert built.problems == [("swallowed-text", "a", 4)]


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _circle(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize("make", [_pipe, _device, _circle, Path.mkdir])
def test_what_is_no_file_is_not_included(site: TinySite, make: Callable[[Path], None]) -> None:
    make(site.source / "b.inc")
    built = site.build({"a.md": markdown("b.inc"), "c.rst": rest("b.inc")})
    found = [each for each in built.problems if each[0] == "swallowed-text"]
    assert found == [("swallowed-text", "a", 3), ("swallowed-text", "c", 4)]
