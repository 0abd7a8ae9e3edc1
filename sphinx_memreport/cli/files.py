"""Writing so that whatever happens, each file is the old one or the new one."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from sphinx_memreport.cli.exits import Failure
from sphinx_memreport.cli.output import Change
from sphinx_memreport.core.exclusive import exclusive_folders
from sphinx_memreport.core.output import PART, leftovers


def write_changes(changes: Iterable[Change], root: Path | None = None) -> None:
    """Write files, all or, where the machine allows it, none.

    Everything is written beside its place first, so that a full disk leaves all old files; then
    the new ones take the places of the old. Links stay links, modes are kept. Another command
    that writes into the same folders waits, and then finds that what it read has changed.

    :param root: the folder of the site, which no link in it may lead out of.
    :raises Failure: when a file is no longer what it was when it was read, is not a regular
        file, or lies outside of the site; nothing is written then.
    :raises OSError: when one cannot be written.
    """
    targets = [(change, change.path.resolve()) for change in changes]
    if root is not None:
        for change, target in targets:
            _refuse_way_out(change.path, target, root)
    folders = {target.parent for _, target in targets}
    staged: list[tuple[Path, Path]] = []
    with exclusive_folders(folders):
        try:
            for change, target in targets:
                _refuse_surprises(change, target)
                for left in leftovers(target):
                    left.unlink(missing_ok=True)
                # noted before it is filled, so that an interruption finds it
                handle, name = tempfile.mkstemp(PART, f".{target.name}.", target.parent)
                part = Path(name)
                staged.append((part, target))
                _fill(handle, change.new, _mode(target))
            for change, target in targets:  # writing takes long enough to save a file meanwhile
                _refuse_surprises(change, target)
            for part, target in staged:
                os.replace(part, target)  # noqa: PTH105 - one name to break in tests
            for folder in folders:
                _flush_folder(folder)
        finally:
            for part, _ in staged:
                part.unlink(missing_ok=True)


def write_atomic(path: Path, data: bytes, root: Path | None = None) -> None:
    """Write one file that may be there already; see :func:`write_changes`."""
    old = path.read_bytes() if path.is_file() else None
    write_changes([Change(path, old, data)], root)


def _refuse_way_out(path: Path, target: Path, root: Path) -> None:
    """Refuse a link that leads out of the site."""
    homes = [root]
    if not Path(os.path.abspath(path)).is_relative_to(os.path.abspath(root)):  # noqa: PTH100
        homes.append(path.parent)  # a configuration that lies elsewhere, which conf.py may say
    if not any(target.is_relative_to(home.resolve()) for home in homes):
        raise Failure(
            f"{path} leads out of {root}, to {target}; nothing was written\n"
            "    fix: put the file itself in the place of the link, or edit it where it is"
        )


def _refuse_surprises(change: Change, target: Path) -> None:
    if target.exists() and not target.is_file():
        raise Failure(f"{change.path} is not a regular file; nothing was written")
    now = target.read_bytes() if target.exists() else None
    if now != change.old:
        raise Failure(
            f"{change.path} changed while this command ran; nothing was written\n"
            "    fix: run the command again"
        )


def _fill(handle: int, data: bytes, mode: int) -> None:
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        os.chmod(file.name if os.name == "nt" else file.fileno(), mode)  # noqa: PTH101


def _mode(path: Path) -> int:
    """The mode of a file, or that of a new one."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask


def _flush_folder(folder: Path) -> None:
    """Make the new names last through a power cut, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
