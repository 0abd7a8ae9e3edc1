"""Where nothing can be written: a status, a sentence for the author, and no lie afterwards."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from faulty import disk_full, in_child, run_with_fault
from sphinx.cmd.build import build_main
from two_states import TwoStates


def sphinx_build(states: TwoStates, said: Path, *more: str) -> int:
    """``sphinx-build`` in a process that is ended afterwards; what it says goes to a file."""
    with open(said, "w", encoding="utf-8") as file, open(os.devnull, "w", encoding="utf-8") as null:  # noqa: PTH123
        sys.stdout, sys.stderr = null, file
        cache, site = states.site.root / "cache", states.site
        folders = ["-d", str(cache / "doctrees"), str(site.source), str(cache / "html")]
        return build_main(["--no-color", *more, *folders])


#: What is being written when the disk is full, and the exit status.
PLACES = {
    "the environment": (r"write .*/environment\.pickle", 2),
    "the record": (r"write .*/\.memreport-build\.json\.", 2),
    "files for git": (r"write .*/memreport-[^/]+/HEAD", 1),
    "a static file": (r"write .*/_static/basic\.css", 1),
    "a page": (r"write .*/citing\.html", 1),
    "a source page": (r"write .*/_memreport/.*recall.*\.html", 1),
    "the export": (r"write .*/\.memreport\.json\.", 1),
}


def test_disk_full_while_writing(states: TwoStates, tmp_path: Path) -> None:
    said = tmp_path / "said"
    build = partial(sphinx_build, states, said)
    states.turn_to("first")
    states.site.build()
    wrong = {}
    for turn, (what, (pattern, status)) in enumerate(PLACES.items()):
        state = ("second", "first")[turn % 2]
        states.turn_to(state)
        ended = run_with_fault(build, pattern, disk_full)
        text = said.read_text()
        found = states.differences(state, states.site.build())
        sentence = "No space left on device" in text and "fix: " in text
        if found or ended != status or not sentence or "Traceback" in text:
            wrong[what] = ended, found, text
    assert wrong == {}


def test_a_page_that_a_parallel_process_cannot_write(states: TwoStates, tmp_path: Path) -> None:
    states.turn_to("first")
    states.site.build()
    states.turn_to("second")
    page = states.site.root / "cache/html/memory.html"
    page.unlink()
    page.mkdir()
    said = tmp_path / "said"
    for parallel in ("4", "1", "1"):  # not written in the first, it is tried again in the others
        assert in_child(partial(sphinx_build, states, said, "-j", parallel)) == 1
        assert f"error writing file {page}" in said.read_text()
        assert "not everything could be written" in said.read_text()
    page.rmdir()
    assert states.differences("second", states.site.build()) == []


def _file_for_folder(folder: Path) -> Callable[[], None]:
    folder.rename(folder.with_name("aside"))
    folder.write_text("")

    def undo() -> None:
        folder.unlink()
        folder.with_name("aside").rename(folder)

    return undo


@pytest.mark.parametrize(
    "folder", ["html", "html/_memreport", "doctrees", "doctrees/environment.pickle"]
)
def test_what_is_in_the_way_is_named(states: TwoStates, tmp_path: Path, folder: str) -> None:
    states.turn_to("first")
    states.site.build()
    states.turn_to("second")
    place = states.site.root / "cache" / folder
    if place.is_file():
        place.unlink()
        place.mkdir()
        undo: Callable[[], object] = place.rmdir
    else:
        undo = _file_for_folder(place)
    said = tmp_path / "said"
    try:
        assert in_child(partial(sphinx_build, states, said)) in (1, 2)
        assert str(place) in said.read_text()
    finally:
        undo()
    assert states.differences("second", states.site.build()) == []


def test_a_read_only_output_folder(states: TwoStates, tmp_path: Path) -> None:
    """As every user but root meets it: opening a file to write it fails."""
    said = tmp_path / "said"

    def read_only(path: str) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)

    states.turn_to("first")
    states.site.build()
    states.turn_to("second")
    build = partial(sphinx_build, states, said)
    for name, status in (("environment.pickle", 2), ("index.html", 1)):
        assert run_with_fault(build, f"write .*/{name}", read_only) == status
        assert "Permission denied" in said.read_text()
        assert "Traceback" not in said.read_text()
    assert states.differences("second", states.site.build()) == []
