"""What one build leaves for the next is whole, or is not used.

Sphinx trusts what it finds in its folder of doctrees, and takes a page that is newer than its
text for written. A build that was killed, met a full disk or ran beside another one makes both
untrue. So builds on one folder of doctrees wait for each other, and leave a record there:

``files``
    What the environment and the doctrees were like when they were written. An environment that
    is another one now is thrown away, and the document of such a doctree is read again.
``unfinished``
    The output folders in which writing began and did not end, or was asked for some documents
    only while others were due as well. Every page is written again there.

===================  ================================================================
config-inited        waits for other builds; throws away a damaged environment
env-get-outdated     documents whose doctree is damaged are read again
env-purge-doc        the time is noted before a document is read
env-updated          every page of an unfinished output folder is written again
write-started        the environment is on the disk: it is recorded, and that writing begins
doctree-resolved     it is noted which documents are written
build-finished       it is recorded that writing ended
===================  ================================================================
"""

from __future__ import annotations

import errno
import json
import logging as std_logging
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from sphinx.application import ENV_PICKLE_FILENAME
from sphinx.builders import Builder
from sphinx.util import logging

from sphinx_memreport.core.exclusive import exclusive
from sphinx_memreport.core.output import json_bytes, write_changed
from sphinx_memreport.sphinx_ext.domain import mem_domain
from sphinx_memreport.sphinx_ext.unchanged import WrittenFiles

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.config import Config
    from sphinx.environment import BuildEnvironment

logger = logging.getLogger(__name__)

_RECORD = "memreport-build.json"
_LOCK = "memreport-build.lock"
#: Sphinx's note on how the pages were made; fewer lines than it writes stop every later build.
_BUILD_INFO, _BUILD_INFO_LINES = ".buildinfo", 4
_PIECE = 1 << 20
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO}
_NOT_WRITABLE = {errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.EEXIST}


def setup_kept(app: Sphinx) -> None:
    """Connect the handlers of a build."""
    KeptBuild(app)


class KeptBuild:
    """The handlers of one Sphinx application; holds what lasts for one build only."""

    def __init__(self, app: Sphinx) -> None:
        self._folder = Path(app.doctreedir)
        self._lock = ExitStack()
        self._record = _Record({}, frozenset())
        self._read_at: dict[str, int] = {}
        self._due: set[str] = set()
        self._failed_writes = FailedWrites()
        for event, handler, priority in (
            ("config-inited", self._begin, 1),
            ("builder-inited", self._listen, 500),
            ("env-get-outdated", self._damaged, 500),
            ("env-purge-doc", self._note_time, 500),
            ("env-updated", self._unwritten, 900),
            ("write-started", self._writing, 100),
            ("doctree-resolved", self._note_written, 900),
            ("build-finished", self._finish, 900),
        ):
            app.connect(event, handler, priority)

    def _begin(self, _app: Sphinx, _config: Config) -> None:
        with suppress(OSError):  # what is wrong with the folder, Sphinx is about to say
            self._lock.enter_context(exclusive(self._folder / _LOCK, self._say_waiting))
        self._record = _Record.read(self._folder / _RECORD)
        environment = self._folder / ENV_PICKLE_FILENAME
        if not self._record.vouches_for(self._folder, ENV_PICKLE_FILENAME):
            with suppress(OSError):
                environment.unlink(missing_ok=True)

    def _say_waiting(self, holder: str) -> None:
        logger.info("waiting for %s, which builds with %s, too", holder, self._folder)

    def _listen(self, app: Sphinx) -> None:
        self._failed_writes.install(app.builder)
        build_info = Path(app.outdir) / _BUILD_INFO
        with suppress(OSError, ValueError):
            if len(build_info.read_text(encoding="utf-8").splitlines()) < _BUILD_INFO_LINES:
                build_info.unlink()

    def _damaged(
        self,
        _app: Sphinx,
        env: BuildEnvironment,
        _added: set[str],
        _changed: set[str],
        _removed: set[str],
    ) -> list[str]:
        return [name for name in env.all_docs if not self._vouches_for(f"{name}.doctree")]

    def _vouches_for(self, name: str) -> bool:
        return self._record.vouches_for(self._folder, name)

    def _note_time(self, _app: Sphinx, _env: BuildEnvironment, docname: str) -> None:
        self._read_at[docname] = time.time_ns() // 1000

    def _unwritten(self, app: Sphinx, env: BuildEnvironment) -> Iterable[str]:
        # Sphinx notes the time after the reading: what was saved meanwhile would not be seen
        env.all_docs.update(
            {name: noted for name, noted in self._read_at.items() if name in env.all_docs}
        )
        unfinished = str(app.outdir) in self._record.unfinished
        self._due = set(env.all_docs if unfinished else mem_domain(env).due)
        return sorted(env.all_docs) if unfinished else []

    def _writing(self, app: Sphinx, _builder: Builder) -> None:
        self._save(app, {*self._record.unfinished, str(app.outdir)})

    def _note_written(self, _app: Sphinx, _doctree: nodes.document, docname: str) -> None:
        self._due.discard(docname)

    def _finish(self, app: Sphinx, exception: Exception | None) -> None:
        with self._lock:  # which is released at the end
            if self._failed_writes.remove():
                with suppress(OSError):
                    WrittenFiles(app).forget()
                _say_incomplete(app)
                app.statuscode = 1
            elif exception is None:
                try:
                    left = self._due and _writes_each_document(app.builder)
                    ended = set() if left else {str(app.outdir)}
                    self._save(app, self._record.unfinished - ended)
                except OSError as error:
                    exception = error
            fault = _fault(app, exception)
            if fault is not None:
                _say_incomplete(app, f"{fault}: ")
                raise SystemExit(2) from fault  # Sphinx would print where in the code it was

    def _save(self, app: Sphinx, unfinished: Collection[str]) -> None:
        names = [ENV_PICKLE_FILENAME, *(f"{name}.doctree" for name in app.env.all_docs)]
        files = dict(self._record.renewed(self._folder, names))
        self._record = _Record(files, frozenset(unfinished))
        write_changed(self._folder / _RECORD, self._record.to_bytes())


def _writes_each_document(builder: Builder) -> bool:
    """Whether a builder writes documents one by one, so that it may leave some of them out."""
    kind = type(builder)
    return kind.write is Builder.write and kind.write_documents is Builder.write_documents


def _fault(app: Sphinx, exception: BaseException | None) -> OSError | None:
    """The fault of the machine behind an exception; None for all others, which may be bugs."""
    while exception is not None and not isinstance(exception, OSError):
        exception = getattr(exception, "orig_exc", None) or exception.__cause__
    if exception is None or exception.errno in _NO_ROOM:
        return exception
    folders = Path(app.outdir), Path(app.doctreedir)
    place = Path(str(exception.filename))  # None and numbers are below no folder
    ours = any(place.is_relative_to(folder) for folder in folders)
    return exception if ours and exception.errno in _NOT_WRITABLE else None


def _say_incomplete(app: Sphinx, why: str = "") -> None:
    logger.error(
        "%snot everything could be written, and %s is not complete\n"
        "    fix: make room, or move away what is in the way, and build again",
        why,
        app.outdir,
    )


class FailedWrites(std_logging.Filter):
    """Notices output that a builder could not write, of which Sphinx only warns.

    A process of a parallel build marks the message, which the main process sees once more.
    """

    def __init__(self) -> None:
        super().__init__()
        self._failed = False
        self._loggers: list[std_logging.Logger] = []

    def install(self, builder: Builder) -> None:
        """Listen to the modules of a builder."""
        modules = {each.__module__ for each in type(builder).__mro__} | {"sphinx.util.parallel"}
        self._loggers = [std_logging.getLogger(f"sphinx.{module}") for module in sorted(modules)]
        for each in self._loggers:
            each.addFilter(self)

    def remove(self) -> bool:
        """Stop listening; whether anything could not be written."""
        for each in self._loggers:
            each.removeFilter(self)
        return self._failed

    def filter(self, record: std_logging.LogRecord) -> bool:
        """Say True for every message."""
        details: Any = record.args if isinstance(record.args, tuple) else ()
        if any(isinstance(detail, OSError) for detail in details):
            record.memreport_failed_write = True
        self._failed |= getattr(record, "memreport_failed_write", False)
        return True


# --- the record ---------------------------------------------------------------------------


class _State(NamedTuple):
    """What a file was like: size and time first, since they are had without reading it."""

    size: int
    mtime: int
    checksum: int


class _Record(NamedTuple):
    """Which files a build left, and where its writing did not end."""

    files: Mapping[str, _State]
    unfinished: frozenset[str]

    @classmethod
    def read(cls, path: Path) -> _Record:
        """The record; one that cannot be read vouches for nothing."""
        try:
            data = json.loads(path.read_bytes())
            files = {name: _State(*map(int, state)) for name, state in data["files"].items()}
            return cls(files, frozenset(map(str, data["unfinished"])))
        except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            return cls({}, frozenset())

    def to_bytes(self) -> bytes:
        """The record as JSON."""
        return json_bytes({"files": self.files, "unfinished": sorted(self.unfinished)})

    def vouches_for(self, folder: Path, name: str) -> bool:
        """Whether a file is as it was written, also if it was copied meanwhile."""
        kept = self.files.get(name)
        try:
            return kept is not None and _state(folder / name, kept) == kept._replace(
                mtime=(folder / name).stat().st_mtime_ns
            )
        except OSError:
            return False

    def renewed(self, folder: Path, names: Iterable[str]) -> Iterator[tuple[str, _State]]:
        """The states of files as they are now; those that are missing are left out."""
        for name in names:
            with suppress(FileNotFoundError):
                yield name, _state(folder / name, self.files.get(name))


def _state(path: Path, known: _State | None) -> _State:
    """What a file is like; it is read only when its size or time is not the known one."""
    found = path.stat()
    if known is not None and (found.st_size, found.st_mtime_ns) == known[:2]:
        return known
    checksum = 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            checksum = zlib.crc32(piece, checksum)
    return _State(found.st_size, found.st_mtime_ns, checksum)
