"""Writing a folder of new files: all of them or none, over nothing that is there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from sphinx_memreport.cli.exits import Failure
from sphinx_memreport.cli.files import write_changes
from sphinx_memreport.cli.output import Change


def write_new(into: Path, texts: Mapping[str, str]) -> None:
    """Write files that are not there yet.

    :param texts: paths below the folder to texts.
    :raises Failure: when one of them is there, or a link leads out of the folder; nothing is
        written then, as when writing fails or is interrupted.
    """
    targets = [into / name for name in texts]
    taken = [str(target) for target in targets if os.path.lexists(target)]
    if taken:
        raise Failure(
            f"{', '.join(taken)} exists already; nothing was written\n    fix: name a new folder"
        )
    made: list[Path] = []
    done = False
    try:
        for target in targets:
            _make_folders(target.parent, made)
            if not target.parent.resolve().is_relative_to(into.resolve()):
                raise Failure(f"{target.parent} leads out of {into}; nothing was written")
        write_changes(
            Change(target, None, text.encode())
            for target, text in zip(targets, texts.values(), strict=True)
        )
        done = True
    finally:
        if not done:
            _take_back(targets, made)


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Make a folder and those above it, and note which were made."""
    for each in reversed([folder, *folder.parents]):
        if not each.exists():
            each.mkdir()
            made.append(each)


def _take_back(targets: list[Path], made: list[Path]) -> None:
    for target in targets:
        with suppress(OSError):
            target.unlink(missing_ok=True)
    for folder in reversed(made):
        with suppress(OSError):
            folder.rmdir()
