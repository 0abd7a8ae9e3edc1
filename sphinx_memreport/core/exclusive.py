"""One at a time: locks that end with the processes that hold them, so that none stays behind."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl


@contextmanager
def exclusive(path: Path, waiting: Callable[[str], object]) -> Iterator[None]:
    """Hold a lock; wait while another process, or a process that it forked, holds it.

    Where a process holds it already, it holds it once more. Where the system or the file system
    has no locks, nothing is held.

    :param path: a file for nothing else, which is made and stays; it names the holder.
    :param waiting: told who has it (``process 123``), before the wait begins.
    :raises OSError: when the file cannot be made.
    """
    if sys.platform == "win32":
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="ascii", errors="replace") as file:
        if not _acquire(file, waiting):
            yield
            return
        with suppress(OSError):  # a full disk is for others to notice
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
        try:
            yield
        finally:
            with suppress(OSError):
                file.truncate(0)
                fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough where a child has it


@contextmanager
def exclusive_folders(folders: Iterable[Path]) -> Iterator[None]:
    """Hold folders against everybody else who does so, without a file of ours in them.

    Not for nesting. Where the system or the file system has no such locks, nothing is held.
    """
    with ExitStack() as stack:
        if sys.platform != "win32":
            for folder in sorted(set(folders)):  # in one order, so that no two wait for each other
                handle = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, handle)
                with suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def is_held(folder: Path) -> bool:
    """Whether anybody holds a folder as of :func:`exclusive_folders`; False where nobody can."""
    if sys.platform == "win32":
        return False
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _acquire(file: IO[str], waiting: Callable[[str], object]) -> bool:
    """Acquire a lock; False when this process has it, and where there are none."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read(20)
        if holder == str(os.getpid()):
            return False
        waiting(f"process {holder}" if holder else "another process")
        fcntl.flock(file, fcntl.LOCK_EX)
    except OSError:
        return False
    return True
