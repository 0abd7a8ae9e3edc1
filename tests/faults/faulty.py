"""Faults at chosen steps of a build or a command, in a forked process that is ended for real.

A *step* is whatever may leave something half done: an event of Sphinx, a file that is opened to
be written (the fault comes when half of the first piece is on the disk), a file that is moved to
its place (the fault comes before and after). Steps are counted, so a fault can be repeated.

    steps = count_steps(build)
    assert run_with_fault(build, 7, kill(signal.SIGKILL)) == -signal.SIGKILL
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import random
import re
import select
import signal
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from sphinx.events import EventManager

#: What is done in the forked process, and what strikes at a step; it is told the path, if any.
Action = Callable[[], object]
Fault = Callable[[str], object]

#: Exit statuses of the forked process.
CRASHED, INTERRUPTED = 98, 130
#: Seconds after which a process that waits for another gives up.
_PATIENCE = 60.0


def kill(number: int) -> Fault:
    """Send a signal to this very process."""
    return lambda _path: os.kill(os.getpid(), number)


def disk_full(path: str) -> NoReturn:
    """Fail as a write does when no space is left."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path or None)


def count_steps(action: Action) -> list[str]:
    """Do it in a forked process, and say which steps it took: an event, or a path."""
    with tempfile.TemporaryFile("w+") as listed:

        def counted() -> None:
            steps = _Steps(-1, lambda _path: None)
            steps.install()
            action()
            os.write(listed.fileno(), "\n".join(steps.taken).encode())

        assert in_child(counted) == 0
        listed.seek(0)
        return listed.read().splitlines()


def run_with_fault(action: Action, step: int | str, fault: Fault) -> int:
    """Do it in a forked process, with a fault at a step.

    :param step: its number, or a regular expression for the name of the first that is meant.
    :return: the exit status; the negative number of the signal that ended the process.
    """

    def faulty() -> object:
        _Steps(step, fault).install()
        return action()

    return in_child(faulty)


def sample(steps: list[str], count: int, seed: int) -> list[int]:
    """Numbers of steps, spread over all of them; the first and the last are among them."""
    rng = random.Random(seed)
    inner = rng.sample(range(1, len(steps) - 1), min(count, len(steps)) - 2)
    return sorted([0, *inner, len(steps) - 1])


def in_child(action: Action) -> int:
    """Do it in a forked process, and wait for its end; see :func:`start` and :func:`ended`."""
    return ended(start(action))


def start(action: Action) -> int:
    """Start to do it in a forked process; what it returns is the status, if it is a number."""
    process = os.fork()
    if process == 0:
        status: object = CRASHED
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            status = action()
        except KeyboardInterrupt:
            status = INTERRUPTED
        except SystemExit as stop:
            status = stop.code
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status if isinstance(status, int) else 0)
    return process


def ended(process: int) -> int:
    """Wait for a process that was started: its status as of :func:`os.waitstatus_to_exitcode`."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


class Gate:
    """Where one process waits for a word of another."""

    def __init__(self) -> None:
        self._ends = os.pipe()

    def open(self, *_: object, **__: object) -> None:
        """Let the other go on."""
        os.write(self._ends[1], b".")

    def wait(self, *_: object) -> None:
        """Wait until the other opens the gate; a test that goes wrong ends, too."""
        ready, _, _ = select.select([self._ends[0]], [], [], _PATIENCE)
        assert ready, "nobody opened the gate"
        os.read(self._ends[0], 1)


def snapshot(folder: Path) -> Mapping[str, bytes]:
    """Every file below a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


class _Steps:
    """Counts steps in this process and strikes at one of them; installed once, never removed."""

    def __init__(self, step: int | str, fault: Fault) -> None:
        self.taken: list[str] = []
        self._step = step
        self._fault = fault
        self._process = os.getpid()

    def take(self, name: str, path: str = "") -> None:
        """Count a step, and strike when it is the one."""
        if os.getpid() != self._process:
            return  # a process of a parallel build
        self.taken.append(name)
        step = self._step
        if re.match(step, name) if isinstance(step, str) else len(self.taken) - 1 == step:
            self._step = -1
            self._fault(path)

    def install(self) -> None:
        """Watch events, files that are written, and files that are moved to their place."""
        emit, open_, replace = EventManager.emit, io.open, os.replace
        steps = self

        def emit_counted(events: EventManager, name: str, *args: Any, **more: Any) -> Any:
            steps.take(name)
            return emit(events, name, *args, **more)

        def open_counted(file: Any, mode: str = "r", *args: Any, **more: Any) -> Any:
            opened = open_(file, mode, *args, **more)
            path = _path(file)
            if set(mode).isdisjoint("wxa+") or not Path(path).is_file():
                return opened
            return _Torn(opened, path, steps)

        def replace_counted(source: Any, target: Any, **more: Any) -> None:
            steps.take(f"before {target}", str(target))
            replace(source, target, **more)
            steps.take(f"after {target}", str(target))

        EventManager.emit = emit_counted  # type: ignore[assignment]
        builtins.open = io.open = open_counted  # type: ignore[assignment]
        os.replace = os.rename = replace_counted  # type: ignore[assignment]


def _path(file: Any) -> str:
    if isinstance(file, int):
        link = Path(f"/proc/self/fd/{file}")
        return str(link.readlink()) if link.exists() else ""
    return os.fspath(file)


class _Torn:
    """A file whose first write is a step: half of it is on the disk when the fault strikes."""

    def __init__(self, file: Any, path: str, steps: _Steps) -> None:
        self._file = file
        self._path = path
        self._steps: _Steps | None = steps

    def write(self, data: Any) -> int:
        """Write; the first time in two halves."""
        steps, self._steps = self._steps, None
        if steps is None:
            return int(self._file.write(data))
        half = len(data) // 2
        self._file.write(data[:half])
        self._file.flush()
        steps.take(f"write {self._path}", self._path)
        self._file.write(data[half:])
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def __enter__(self) -> _Torn:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)
