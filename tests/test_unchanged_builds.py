"""What an earlier build left and is still right is left alone; what is not is made anew."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from cli_project import run
from sitebuilder import Built
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace, patch_docutils
from whole_site import DATA, MEMORY, WholeSite, page_of, state

RECALL, CAPTURE = "src/jotter/recall.py", ""
INDICES = ("mem-records.html", "mem-reports.html")
OURS = (DATA, page_of(RECALL), page_of(CAPTURE), *INDICES)
KEPT = {"jotter/memory.md": MEMORY.replace("Stored note", "Kept note")}
STALE = {"jotter/memory.md": MEMORY.replace("pair[0]", "pair[1]")}
#: A problem in a document that is not read again.
DANGLING = {"jotter/plain.md": "Plain\n=====\n\nSee MEM-OBJ-nota.\n"}


def times(built: Built, names: Iterable[str] = OURS) -> dict[str, int]:
    return {name: (built.out / name).stat().st_mtime_ns for name in names}


# --- nothing changed ------------------------------------------------------------------------


def test_an_unchanged_build_leaves_our_files_alone_and_says_the_same(whole: WholeSite) -> None:
    first = whole.site.build({**STALE, **DANGLING})
    before, written = state(first), times(first)
    assert (len(first.details), first.status) == (3, 1)
    for _ in range(2):
        again = whole.site.build()
        assert (again.read, again.written) == ([], [])
        assert times(again) == written
        assert state(again) == before
        assert again.warnings == first.warnings


def removed(path: Path) -> None:
    path.unlink()


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def garbled(path: Path) -> None:
    path.write_bytes(path.read_bytes()[::-1])


def replaced_in_time(path: Path) -> None:
    """Other words of the same length."""
    path.write_bytes(path.read_bytes().replace(b"jotter", b"potter"))


def touched(path: Path) -> None:
    os.utime(path, (1, 1))


DAMAGES = (removed, emptied, garbled, replaced_in_time, touched)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_each_of_our_files_is_right_again(whole: WholeSite, damage: Callable[[Path], None]) -> None:
    record = whole.site.root / "cache/doctrees/memreport-written.json"
    for path in (*(whole.site.root / "cache/html" / name for name in OURS), record):
        damage(path)
        built = whole.site.build()
        assert (path.name, state(built)) == (path.name, whole.first)
        assert (built.read, built.written) == ([], [])


def test_a_record_that_says_what_is_not_so_vouches_for_nothing(whole: WholeSite) -> None:
    record = whole.site.root / "cache/doctrees/memreport-written.json"
    for content in ('{"x": 1}', "[]", '{"/": {"files": 3}}', "null", "[" * 100_000):
        record.write_text(content)
        assert state(whole.site.build()) == whole.first
    kept = json.loads(record.read_text())
    for broken in ({}, {"key": "x", "files": {}}, {"key": None}, 3):
        record.write_text(json.dumps(dict.fromkeys(kept, broken)))
        (whole.site.root / "cache/html" / DATA).write_text("{}")
        assert state(whole.site.build()) == whole.first


# --- something changed ----------------------------------------------------------------------


def written_by(built: Built) -> dict[str, Any]:
    """The files of any builder that tell what the site says, without times."""
    found: dict[str, Any] = {}
    for path in built.out.rglob("*"):
        name = path.relative_to(built.out).as_posix()
        if path.name == "needs.json":
            (found[name],) = json.loads(path.read_text())["versions"].values()
            found[name].pop("created")
        elif path.suffix in (".html", ".txt") or path.name == DATA:
            found[name] = path.read_text("utf-8")
    return found


BUILDERS = ("html", "dirhtml", "singlehtml", "text", "needs")


def test_builders_in_turn_on_one_folder_of_doctrees(whole: WholeSite) -> None:
    for builder in BUILDERS[1:]:
        whole.site.build(builder=builder)
    whole.site.build({**KEPT, **DANGLING}, builder="text")
    for builder in BUILDERS:
        built = whole.site.build(builder=builder)
        clean = whole.site.build(builder=builder, cache="clean")
        assert (builder, built.details) == (builder, clean.details)
        expected = written_by(clean)
        assert len(expected) >= 1 + (builder != "needs")
        assert (builder, written_by(built)) == (builder, expected)
    shutil.rmtree(whole.site.root / "clean")


def test_a_document_of_another_format_is_named_as_it_is_now(whole: WholeSite) -> None:
    whole.site.build(DANGLING)
    whole.site.write({"jotter/plain.md": None, "jotter/plain.rst": DANGLING["jotter/plain.md"]})
    built = whole.site.build()
    assert [each["file"] for each in built.data(DATA)["problems"]] == [
        "jotter/coverage.md",
        "jotter/plain.rst",
    ]
    assert state(built) == whole.clean()


def build_some(whole: WholeSite, *names: str) -> None:
    """Build as ``sphinx-build`` does with names of files."""
    root, source = whole.site.root / "cache", whole.site.source
    with patch_docutils(source), docutils_namespace():
        app = Sphinx(source, source, root / "html", root / "doctrees", "html", status=None)
        app.build(filenames=[source / name for name in names])


def test_a_build_of_some_documents_leaves_no_other_stale(whole: WholeSite) -> None:
    whole.site.write(KEPT)
    build_some(whole, "jotter/plain.md")
    build_some(whole, "jotter/plain.md")
    assert state(whole.site.build()) == whole.clean()
    assert whole.site.build().written == []


def test_one_application_may_build_twice(whole: WholeSite) -> None:
    root, source = whole.site.root / "cache", whole.site.source
    warnings = StringIO()
    with patch_docutils(source), docutils_namespace():
        app = Sphinx(
            source, source, root / "html", root / "doctrees", "html", status=None, warning=warnings
        )
        app.build()
        whole.site.write(KEPT)
        app.build()
        whole.site.write({"jotter/memory.md": MEMORY})
        whole.site.write(STALE)
        app.build()
    assert warnings.getvalue().count("stale-quote") == 1
    assert state(whole.site.build()) == whole.clean()


@pytest.mark.parametrize(
    "edit", [{**KEPT, **DANGLING}, {"jotter/runtime.md": None}], ids=["edited", "removed"]
)
def test_parallel_builds_end_like_serial_ones(
    whole: WholeSite, edit: Mapping[str, str | None]
) -> None:
    # five documents that are read: enough for several processes
    more = {f"more{n}.md": f"# More {n}\n\n{{mem}}`jotter:MEM-OBJ-note`\n" for n in range(6)}
    whole.site.build(more, parallel=2)
    built = whole.site.build(edit, parallel=2)
    expected = whole.clean()
    assert state(built).without_pages_of_the_past(expected) == expected
    again = whole.site.build(parallel=2)
    assert (again.read, again.written, again.details) == ([], [], built.details)


# --- sources that come and go ---------------------------------------------------------------


def test_a_source_that_goes_and_comes_back(whole: WholeSite) -> None:
    place, hidden = whole.repo.path, whole.repo.path.with_name("hidden")
    place.rename(hidden)
    try:
        for _ in range(2):
            gone = whole.site.build()
            assert [code for code, *_ in gone.problems] == ["checkout-missing", "coverage-gap"]
            assert (gone.out / page_of(CAPTURE)).exists()
            assert not (gone.out / page_of(RECALL)).exists()
        assert state(gone) == whole.clean()
    finally:
        hidden.rename(place)
    assert state(whole.site.build()) == whole.first


def test_a_lock_between(whole: WholeSite) -> None:
    place, hidden = whole.repo.path, whole.repo.path.with_name("hidden")
    assert run("lock", "--site", whole.site.source, "--date", "2026-11-30").exit_code == 0
    place.rename(hidden)
    try:
        for _ in range(2):
            locked = whole.site.build(memreport_offline="lock")
            assert locked.problems == [("coverage-gap", "jotter/coverage", 7)]
            assert "locked on 2026-11-30" in locked.page("jotter/memory")
            assert not (locked.out / page_of(RECALL)).exists()
        assert state(locked) == whole.clean(memreport_offline="lock")
    finally:
        hidden.rename(place)
    assert state(whole.site.build()) == whole.first
