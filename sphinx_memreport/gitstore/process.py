"""Running git: in a private repository of ours, never in the checkout, never for too long."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from subprocess import PIPE, TimeoutExpired
from tempfile import TemporaryDirectory, TemporaryFile, gettempdir
from typing import IO, TYPE_CHECKING, BinaryIO

from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitstore import limits

if TYPE_CHECKING:
    from git.cmd import Git


class PrivateRepository:
    """An empty repository of ours that borrows the objects of a checkout; git is run in it.

    To be closed.

    :param shallow: the list of commits whose parents are not there, for walks over history.
    :raises SourceUnavailable: ``checkout-missing`` when it cannot be made.
    """

    def __init__(self, objects: Path, hash_name: str, shallow: bytes = b"") -> None:
        self._objects = objects
        try:
            self._home = TemporaryDirectory(prefix="memreport-")
            self._fill(Path(self._home.name), hash_name, shallow)
        except OSError as error:
            raise _no_room(error) from error

    def _fill(self, home: Path, hash_name: str, shallow: bytes) -> None:
        # The least that git takes for a repository. It must be told the object format, to stream
        # large files, and to do without indexes over packs and commits, which may be damaged
        # alone. As there is no remote, absent objects are not asked for anywhere.
        settings = ["repositoryformatversion = 1", "bare = true", "bigFileThreshold = 64m"]
        settings += ["commitGraph = false", "multiPackIndex = false"]
        (home / "refs").mkdir()
        (home / "HEAD").write_text("ref: refs/heads/none\n")
        core = "".join(f"\t{setting}\n" for setting in settings)
        (home / "config").write_text(f"[core]\n{core}[extensions]\n\tobjectFormat = {hash_name}\n")
        if shallow:
            (home / "shallow").write_bytes(shallow)

    def close(self) -> None:
        """Remove the repository."""
        self._home.cleanup()

    def run(self, command: Sequence[str], seconds: float) -> bytes | None:
        """What a git command prints; None when it fails or takes longer than that."""
        git = self.git()
        from git.exc import GitError

        environment = self._environment() | {"GIT_LITERAL_PATHSPECS": "1"}
        # GitPython can end a process only on systems that have signals
        limit = None if os.name == "nt" else max(seconds, 0.1)
        try:
            return git.execute(
                [git.GIT_PYTHON_GIT_EXECUTABLE, *command],
                stdout_as_string=False,
                strip_newline_in_stdout=False,
                kill_after_timeout=limit,
                shell=False,
                env=environment,
            )
        except (GitError, OSError, ValueError):  # a NUL or a lone surrogate in an argument
            return None

    def start(self, command: Sequence[str], stdin: BinaryIO | int) -> Git.AutoInterrupt:
        """Start a git command that goes on running.

        :raises SourceUnavailable: ``checkout-missing`` when git cannot be run.
        """
        git = self.git()
        from git.exc import GitError

        arguments = [git.GIT_PYTHON_GIT_EXECUTABLE, *command]
        environment = self._environment()
        try:
            return git.execute(
                arguments, istream=stdin, as_process=True, shell=False, env=environment
            )
        except (GitError, OSError) as error:
            raise _no_git(str(error)) from error

    @contextlib.contextmanager
    def file(self, content: bytes) -> Iterator[BinaryIO]:
        """A nameless file with some content, for git to read from; it is gone at the end."""
        with TemporaryFile(dir=self._home.name) as file:
            try:
                file.write(content)
                file.seek(0)
            except OSError as error:
                raise _no_room(error) from error
            yield file

    def git(self) -> Git:
        """What runs git here.

        :raises SourceUnavailable: ``checkout-missing`` when git is not installed.
        """
        try:
            # Importing GitPython looks for git, and fails without it.
            from git.cmd import Git
        except ImportError as error:
            raise _no_git(str(error)) from error
        return Git(self._home.name)

    def _environment(self) -> dict[str, str]:
        """What git sees on top of the environment of this process.

        Inherited variables of git are blanked, which switches each of them off: GitPython
        cannot remove them.
        """
        home = self._home.name
        inherited = {name: "" for name in os.environ if name.startswith("GIT_")}
        return inherited | {
            "GIT_ALLOC_LIMIT": limits.GIT_ALLOCATION,
            "GIT_DIR": home,
            "GIT_COMMON_DIR": home,
            "GIT_WORK_TREE": home,
            "GIT_OBJECT_DIRECTORY": str(self._objects),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": os.devnull,
            "GIT_CONFIG_GLOBAL": os.devnull,
            "HOME": home,  # git before 2.32 does not know the line above
            "XDG_CONFIG_HOME": home,
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_PAGER": "cat",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }


def _no_git(reason: str) -> SourceUnavailable:
    return SourceUnavailable(
        Code.CHECKOUT_MISSING,
        "git cannot be run: " + " ".join(reason.split())[:200],
        "install git, or set GIT_PYTHON_GIT_EXECUTABLE to its path",
    )


def _no_room(error: OSError) -> SourceUnavailable:
    return SourceUnavailable(
        Code.CHECKOUT_MISSING,
        f"git needs a temporary folder, which cannot be made: {error.strerror}",
        f"make room in {gettempdir()}, or set TMPDIR to another folder",
    )


class Silent(Exception):
    """git was asked for something and did not answer in time."""


class CatFile:
    """A ``git cat-file`` that is ended when it lets us wait too long for an answer.

    :param mode: ``--batch`` or ``--batch-check``.
    :param requests: a file of object IDs, one a line, to be answered from where it stands; or
        nothing, and :meth:`ask` asks.
    """

    def __init__(
        self, home: PrivateRepository, mode: str, requests: BinaryIO | None = None
    ) -> None:
        self._process = home.start(["cat-file", mode], requests or PIPE)
        self._said = _Tail(self._process.stderr)
        self._waiting_since: float | None = None
        self._was_silent = False
        self._ended = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def ask(self, requests: bytes) -> None:
        """Send requests: no more than :data:`~.limits.PIPE_BYTES` may wait to be answered.

        So git can always take them, and we need not read while we write.
        """
        with contextlib.suppress(OSError):  # that git has ended is noticed where it is read
            self._process.stdin.write(requests)
            self._process.stdin.flush()

    def header(self) -> list[str]:
        """The words of the next line; none at the end."""
        self._waiting_since = time.monotonic()
        line: bytes = self._process.stdout.readline(limits.PIPE_BYTES)
        self._waiting_since = None
        return line.decode("ascii", "replace").split()

    def content(self, size: int) -> bytes | None:
        """The next bytes and the line end behind them; None when the stream ends before."""
        self._waiting_since = time.monotonic()
        found: bytes = self._process.stdout.read(size)
        end: bytes = self._process.stdout.read(1)
        self._waiting_since = None
        return found if end == b"\n" else None

    def end(self) -> str:
        """End the process; return the last line that it wrote to stderr.

        :raises Silent: when it had to be ended because it did not answer.
        """
        self._ended.set()
        process = self._process.proc
        assert process is not None
        process.kill()
        try:
            process.wait(limits.PATIENCE)
        except TimeoutExpired:  # the disk is what hangs
            raise Silent from None
        said = self._said.join()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        if self._was_silent:
            raise Silent
        return said

    def _watch(self) -> None:
        while not self._ended.wait(limits.PATIENCE / 4):
            since = self._waiting_since
            if since is not None and time.monotonic() - since > limits.PATIENCE:
                self._was_silent = True
                self._process.kill()
                return


class _Tail:
    """Reads a stream to its end in a thread, so that its writer never blocks; keeps the end."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._lines: deque[bytes] = deque(maxlen=1)
        self._thread = threading.Thread(
            target=self._lines.extend, args=(iter(lambda: stream.readline(1024), b""),), daemon=True
        )
        self._thread.start()

    def join(self) -> str:
        """The last line; waits for the end of the stream."""
        self._thread.join()
        return b"".join(self._lines).decode("utf-8", "replace").strip()
