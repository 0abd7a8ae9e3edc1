"""Pinned sources on this machine: git repositories and captured files.

The only importer of GitPython. A repository is read through its object database alone: its
configuration, hooks, filters, work tree, index and refs play no part, and nothing is fetched.
git is given a private, empty repository of ours that borrows the objects of the checkout, and
every object is hashed again, from the pinned commit over its trees down to the blobs. So what
is read is what the pin names, whatever state the checkout is in (contract, section 2).
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import stat
import threading
import time
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from subprocess import PIPE
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn, Self

from sphinx_memreport.core.blobs import Absence, Blob, NoBlob, SourceUnavailable
from sphinx_memreport.core.problems import Code

if TYPE_CHECKING:
    from git.cmd import Git

#: Files larger than this many bytes are not read into memory.
MAX_BYTES = 64 * 1024 * 1024

# A tree object of this size holds millions of names; a larger one is damage or malice.
_MAX_TREE_BYTES = 256 * 1024 * 1024
_MAX_COMMIT_BYTES = 16 * 1024 * 1024
_MAX_LINK_BYTES = 4096

# Bounds for the files in which a repository says where its objects are.
_MAX_POINTER_BYTES = 1024 * 1024
_MAX_ALTERNATES_DEPTH = 5  # as in git
_MAX_REFS_BYTES = 64 * 1024 * 1024


class _Hash(NamedTuple):
    """The hash of a repository: its name to git and hashlib, and the form of its trees."""

    name: str
    entry: re.Pattern[bytes]
    tree: re.Pattern[bytes]


def _hash(name: str, size: int) -> _Hash:
    entry = rb"([0-7]{5,6}) ([^\0]+)\0(.{%d})" % size
    return _Hash(name, re.compile(entry, re.DOTALL), re.compile(rb"(?:%b)*+" % entry, re.DOTALL))


_HASHES = {40: _hash("sha1", 20), 64: _hash("sha256", 32)}  # by the hex digits of an object ID


# --- public ---------------------------------------------------------------------------------


def open_git(
    checkout: Path, commit: str, *, fetch_hint: str = "", max_bytes: int = MAX_BYTES
) -> GitSource:
    """Open a pinned commit of a repository on this machine.

    :param checkout: a work tree (linked ones and submodules too) or a bare repository. The
        directory itself must be one: repositories around it are not looked for.
    :param commit: the full hash, 40 or 64 hex digits.
    :param fetch_hint: the URL to clone and fetch from, for the commands in error messages.
    :param max_bytes: larger files are reported as ``too-large`` instead of being read.
    :raises SourceUnavailable: ``checkout-missing`` when no repository is there or git is not
        installed, ``commit-missing`` when the repository lacks the commit or its root tree.
    """
    place = _Place(Path(os.path.abspath(checkout)), checkout, commit.lower(), fetch_hint)  # noqa: PTH100
    try:
        repository = _find_repository(place)
        _check_alternates(place, repository.objects)
    except OSError as error:
        raise place.no_checkout(f"cannot be read: {error.strerror}") from error
    if len(place.commit) not in _HASHES or not re.fullmatch("[0-9a-f]+", place.commit):
        raise SourceUnavailable(
            Code.COMMIT_MISSING,
            f"{commit!r} is not a full commit hash of 40 or 64 hex digits",
            "give the full hash, which git rev-parse prints",
        )
    with contextlib.closing(_CatFile(repository.objects, _HASHES[len(place.commit)])) as git:
        (content,) = git.read("commit", [place.commit], _MAX_COMMIT_BYTES)
        if isinstance(content, NoBlob):
            raise _no_commit(place, repository, content)
        header = re.match(rb"tree ([0-9a-f]+)\n", content)
        if not header:
            raise place.no_commit(f"has a malformed commit {place.commit}")
        tree = header[1].decode("ascii")
        (content,) = git.read("tree", [tree], _MAX_TREE_BYTES)
        if isinstance(content, NoBlob):
            raise place.no_commit(f"lacks the tree of commit {place.commit}: {content.detail}")
    return GitSource(place, repository.objects, tree, max_bytes)


def object_directory(checkout: Path, commit: str, fetch_hint: str = "") -> Path:
    """Where a repository on this machine keeps its objects; parameters as of :func:`open_git`.

    :raises SourceUnavailable: ``checkout-missing`` when no repository is there.
    """
    place = _Place(Path(os.path.abspath(checkout)), checkout, commit.lower(), fetch_hint)  # noqa: PTH100
    try:
        return _find_repository(place).objects.resolve()
    except OSError as error:
        raise place.no_checkout(f"cannot be read: {error.strerror}") from error


def open_capture(file: Path, sha256: str, *, max_bytes: int = MAX_BYTES) -> CaptureSource:
    """Open a frozen file and compare its hash with the pinned one.

    :param sha256: 64 hex digits.
    :raises SourceUnavailable: ``checkout-missing`` when no regular file of at most
        ``max_bytes`` is there, ``capture-mismatch`` when its content has another hash.
    """
    fix = f"put the captured file at {shlex.quote(str(file))}, or correct `file`"
    try:
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):  # opening a FIFO would wait for its writer
            raise SourceUnavailable(
                Code.CHECKOUT_MISSING, f"the capture {file} is not a regular file", fix
            )
        if found.st_size > max_bytes:
            message = f"the capture {file} has {_size(found.st_size, max_bytes)}"
            raise SourceUnavailable(Code.CHECKOUT_MISSING, message, fix)
        data = file.read_bytes()
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        message = f"the capture {file} cannot be read: {reason}"
        raise SourceUnavailable(Code.CHECKOUT_MISSING, message, fix) from error
    actual = hashlib.sha256(data).hexdigest()
    if actual != sha256.lower():
        raise SourceUnavailable(
            Code.CAPTURE_MISMATCH,
            f"the capture {file} has the SHA-256 {actual}, pinned is {sha256.lower()}",
            f'restore the captured file, or, if its new content is meant, set sha256 = "{actual}" '
            "and look at every quote from it again",
        )
    return CaptureSource(Blob(actual, data))


class _Unpicklable:
    """An open source belongs to the process that opened it, never into stored data."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be pickled: open the source again instead")


class CaptureSource(_Unpicklable):
    """A captured file whose content has the pinned hash."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob

    def read(self) -> Blob:
        """The content as it was when opened; its object ID is the SHA-256."""
        return self._blob


class GitSource(_Unpicklable):
    """Reads the tree of one commit; implements :class:`~.core.blobs.SourceReader`.

    Paths are relative to the root of the tree and separated by ``/``. Names that are not UTF-8
    are decoded with ``surrogateescape``. Each call runs git processes of its own, which end
    with it: nothing stays open between calls, and calls may be nested.
    """

    def __init__(self, place: _Place, objects: Path, tree: str, max_bytes: int) -> None:
        self._place = place
        self._objects = objects
        self._tree = tree
        self._max_bytes = max_bytes
        self._paths: tuple[str, ...] | None = None
        self._directories: dict[str, bool] = {}
        self._running: set[_CatFile] = set()
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End what an unfinished :meth:`blobs` still runs; the source cannot be used again."""
        self._closed = True
        for git in tuple(self._running):
            git.close()

    def blobs(self, paths: Sequence[str]) -> Iterator[tuple[str, Blob | NoBlob]]:
        """Yield every distinct path, in the order asked, with its content.

        Names are resolved first, reading only the trees on the way; then the contents follow
        one by one. A path that is in no tree, or ends in ``/`` without being a directory, is
        ``missing``. ``detail`` is the target of a symbolic link, the commit of a submodule, the
        size of a file that is too large, and what is wrong with an object that is lost.
        """
        with self._git() as git:
            found = self._find(git, paths)
            oids = [entry.oid for entry in found.values() if isinstance(entry, _Entry)]
            contents = git.read("blob", oids, self._max_bytes, last=True)
            for path, entry in found.items():
                if isinstance(entry, NoBlob):
                    yield path, entry
                    continue
                content = next(contents)
                if entry.is_link:
                    yield path, _link(content)
                elif isinstance(content, NoBlob):
                    yield path, content
                else:
                    yield path, Blob(entry.oid, content)

    def paths(self) -> Sequence[str]:
        """Everything in the tree that is not a directory, sorted: what ``git ls-files`` lists.

        Symbolic links and submodules are included, so that a search can tell that it does not
        look into them.

        :raises SourceUnavailable: ``commit-missing`` when a tree object is lost, since a list
            with gaps would make a search pass that has not seen everything.
        """
        if self._paths is None:
            with self._git() as git:
                self._paths = tuple(sorted(map(_decode, self._walk(git))))
        return self._paths

    def lost(self) -> Sequence[str]:
        """The paths of the tree whose content is not here, as in a partial clone.

        Only whether git can name the objects is looked at; their hashes are checked when read.

        :raises SourceUnavailable: as :meth:`paths`.
        """
        with self._git() as git:
            blobs = {path: entry.oid for path, entry in self._walk_entries(git) if entry.is_blob}
            absent = git.absent(set(blobs.values()))
        return tuple(sorted(_decode(path) for path, oid in blobs.items() if oid in absent))

    def directory_exists(self, path: str) -> bool:
        """Whether ``path`` (without trailing slash; empty is the root) is a directory.

        One git process for a path not asked before: ask :meth:`blobs` for many at once.
        """
        if path not in self._directories:
            with self._git() as git:
                (answer,) = self._find(git, [path]).values()
            self._directories[path] = (
                isinstance(answer, NoBlob) and answer.reason is Absence.DIRECTORY
            )
        return self._directories[path]

    def glob(self, patterns: Sequence[str]) -> Sequence[str]:
        """The paths that match any of the patterns as git's ``:(glob)`` does, sorted.

        :raises SourceUnavailable: as :meth:`paths`.
        """
        glob = Glob(patterns)
        return tuple(path for path in self.paths() if glob.matches(path))

    @contextlib.contextmanager
    def _git(self) -> Iterator[_CatFile]:
        if self._closed:
            raise ValueError("this source is closed")
        git = _CatFile(self._objects, _HASHES[len(self._tree)])
        self._running.add(git)
        try:
            yield git
        finally:
            self._running.discard(git)
            git.close()

    def _find(self, git: _CatFile, paths: Iterable[str]) -> dict[str, _Entry | NoBlob]:
        """Look paths up level by level; only names that were asked for are kept."""
        found: dict[str, _Entry | NoBlob] = dict.fromkeys(paths, NoBlob(Absence.MISSING))
        root = _Branch()
        for path in found:
            root.add(path)
        if "" in found:
            found[""] = NoBlob(Absence.DIRECTORY)
        level = [(self._tree, root)]
        while level:
            below: list[tuple[str, _Branch]] = []
            trees = git.read("tree", [oid for oid, _ in level], _MAX_TREE_BYTES)
            for (_, branch), tree in zip(level, trees, strict=True):
                if isinstance(tree, NoBlob):
                    found.update(dict.fromkeys(branch.paths_below(), tree))
                    continue
                for name, entry in git.entries(tree, branch.below):
                    child = branch.below[name]
                    found.update((path, entry.verdict(path)) for path in child.paths)
                    if child.below and entry.is_tree:
                        below.append((entry.oid, child))
            level = below
        return found

    def _walk(self, git: _CatFile) -> Iterator[bytes]:
        return (path for path, _ in self._walk_entries(git))

    def _walk_entries(self, git: _CatFile) -> Iterator[tuple[bytes, _Entry]]:
        level = {b"": self._tree}
        while level:
            below: dict[bytes, str] = {}
            trees = git.read("tree", list(level.values()), _MAX_TREE_BYTES)
            for directory, tree in zip(level, trees, strict=True):
                if isinstance(tree, NoBlob):
                    message = f"lacks the directory {_decode(directory)!r}: {tree.detail}"
                    raise self._place.no_commit(message, "--refetch", "--no-filter")
                for name, entry in git.entries(tree):
                    if entry.is_tree:
                        below[directory + name + b"/"] = entry.oid
                    else:
                        yield directory + name, entry
            level = below


# --- history --------------------------------------------------------------------------------

#: How long git may look for renames, and for all removals together, in seconds.
RENAME_SECONDS, REMOVAL_SECONDS = 30.0, 20.0

# git sees a longer argument as an error; a long passage is sought by its beginning.
_MAX_SOUGHT_BYTES = 64 * 1024
_MAX_SUBJECT = 200
_RENAME = re.compile(rb":\d+ \d+ [0-9a-f]+ [0-9a-f]+ R\d*\0([^\0]+)\0([^\0]+)\0")
_FULL_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


class Removal(NamedTuple):
    """The commit that took something away, and the first line of its message."""

    commit: str
    subject: str


class NoRemoval(StrEnum):
    """Why no commit can be named."""

    SHALLOW = "the history between the two commits is not in the checkout"
    ELSEWHERE = "no commit between the two takes it away"
    TOO_LONG = "the search took too long"
    UNREADABLE = "git cannot read the history between the two commits"


class History(_Unpicklable):
    """What happened to files from one commit of a repository to another. To be closed.

    Only explains and proposes: git reads the objects by itself here, so nothing of what it says
    is as sure as what a :class:`GitSource` reads. Both sources are of the same checkout.
    """

    def __init__(self, old: GitSource, new: GitSource) -> None:
        self._range = old._place.commit, new._place.commit
        repository = _find_repository(new._place)
        shallow = _content(repository.common / "shallow")
        self._is_shallow = bool(shallow)
        self._home = _PrivateRepository(new._objects, _HASHES[len(new._place.commit)].name, shallow)
        self._renames: dict[str, str] | None = None
        self._seconds = REMOVAL_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._home.close()

    def renames(self) -> Mapping[str, str]:
        """The new path of every file that git takes to be renamed, by its old path.

        Where the contents of some files are not here, only files renamed without any change.
        """
        if self._renames is None:
            command = ["diff-tree", "-r", "-z", "--raw", "--no-commit-id", "--diff-filter=R", "-l0"]
            listed: bytes | None = None
            for similarity in ("-M", "-M100%"):
                listed = _run(self._home, [*command, similarity, *self._range], RENAME_SECONDS)
                if listed is not None:
                    break
            found = _RENAME.findall(listed or b"")
            self._renames = {_decode(old): _decode(new) for old, new in found}
        return self._renames

    def removal(self, path: str, passage: bytes | None = None) -> Removal | NoRemoval:
        """The last commit that took a passage out of a file, or that removed a file.

        :param path: the path at the old commit; where the file was renamed to is looked into, too.
        :param passage: as it stands in the file at the old commit; None for the whole file or
            directory.
        """
        if self._seconds <= 0:
            return NoRemoval.TOO_LONG
        sought = ["--diff-filter=D"]
        if passage is not None and b"\0" not in passage:
            sought = [f"-S{_decode(passage[:_MAX_SOUGHT_BYTES])}"]
        old, new = self._range
        command = ["-c", "core.commitGraph=false", "log", "-1", "-z", "--no-renames"]
        command += ["--no-ext-diff", "--no-textconv", "--format=%H %s", *sought]
        started = time.monotonic()
        paths = {path, self.renames().get(path, path)}
        found = _run(self._home, [*command, f"{old}..{new}", "--", *paths], self._seconds)
        self._seconds -= time.monotonic() - started
        if found is None:
            return NoRemoval.TOO_LONG if self._seconds <= 0 else NoRemoval.UNREADABLE
        commit, _, subject = found.rstrip(b"\0\n").decode("utf-8", "replace").partition(" ")
        if not commit:
            return NoRemoval.SHALLOW if self._is_shallow else NoRemoval.ELSEWHERE
        return Removal(commit, " ".join(subject.split())[:_MAX_SUBJECT])


def resolve_commit(checkout: Path, name: str, *, fetch_hint: str = "") -> str:
    """The full hash of a commit of a repository on this machine.

    :param name: a full or abbreviated hash, a tag or branch (``v1.2``, ``origin/main``),
        ``HEAD`` or ``FETCH_HEAD``, each also with ``~2`` or ``^`` behind it. A full hash is
        returned as it is, whether its commit is there or not.
    :param fetch_hint: the URL to fetch from, for the command in the error message.
    :raises SourceUnavailable: ``checkout-missing`` as :func:`open_git`; ``commit-missing`` when
        the name does not lead to one commit.
    """
    place = _Place(Path(os.path.abspath(checkout)), checkout, name, fetch_hint)  # noqa: PTH100
    if _FULL_HASH.fullmatch(name.lower()):
        return name.lower()
    try:
        repository = _find_repository(place)
        _check_alternates(place, repository.objects)
        base, suffix = re.fullmatch(r"([^~^]*)(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
        oid = _named(repository, base)
        shallow = _content(repository.common / "shallow")
    except OSError as error:
        raise place.no_checkout(f"cannot be read: {error.strerror}") from error
    found: bytes | None = None
    if oid or re.fullmatch("[0-9a-fA-F]{4,64}", base):
        digits = len(oid) if oid else _hex_digits(repository.common / "config") or 40
        home = _PrivateRepository(repository.objects, _HASHES[digits].name, shallow)
        with contextlib.closing(home):
            asked = f"{oid or base}{suffix}^{{commit}}"
            found = _run(home, ["rev-parse", "--verify", "--end-of-options", asked], RENAME_SECONDS)
    commit = (found or b"").decode("ascii", "replace").strip()
    if not _FULL_HASH.fullmatch(commit):
        fetch = place.git("fetch", "--tags", *_operands(fetch_hint or "origin"))
        raise SourceUnavailable(
            Code.COMMIT_MISSING,
            f"{name!r} does not name one commit of the repository {checkout}",
            f"{fetch}, or give the full hash",
        )
    return commit


def _run(home: _PrivateRepository, command: Sequence[str], seconds: float) -> bytes | None:
    """What git prints; None when it fails or takes longer than that."""
    git = home.git()
    from git.exc import GitError

    environment = home.environment() | {"GIT_LITERAL_PATHSPECS": "1"}
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


# Where git looks for a name, in this order (gitrevisions).
_REF_PLACES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}")
_REF_NAME = re.compile(r"(?!-)[^\x00-\x20\x7f:?*\[\\~^\ud800-\udfff]+")
_MAX_SYMREFS = 5  # as in git


def _named(repository: _Repository, name: str) -> str | None:
    """The object ID that a ref holds, read from its file or from ``packed-refs``."""
    if name == "@":
        name = "HEAD"
    for place in _REF_PLACES:
        if place != "{}" or re.fullmatch("[A-Z_]+|refs/.+", name):
            oid = _ref(repository, place.format(name))
            if oid:
                return oid
    return None


def _ref(repository: _Repository, name: str, depth: int = 0) -> str | None:
    parts = name.split("/")
    unsafe = any(not part or part.startswith(".") for part in parts)
    if unsafe or not _REF_NAME.fullmatch(name) or depth > _MAX_SYMREFS:
        return None
    folder = repository.common if name.startswith("refs/") else repository.own
    file = folder / name
    line = _first_line(file) if file.is_file() else ""
    if line.startswith("ref:"):
        return _ref(repository, line.removeprefix("ref:").strip(), depth + 1)
    if match := re.match(r"([0-9a-f]{64}|[0-9a-f]{40})\b", line):
        return match[1]
    packed = _content(repository.common / "packed-refs")
    listed = re.search(rb"(?m)^([0-9a-f]{40,64}) %b\r?$" % re.escape(os.fsencode(name)), packed)
    return listed[1].decode("ascii") if listed else None


def _content(file: Path) -> bytes:
    """A file of the repository that need not be there."""
    if not file.is_file() or file.stat().st_size > _MAX_REFS_BYTES:
        return b""
    return file.read_bytes()


# --- finding the objects --------------------------------------------------------------------


class _Place(NamedTuple):
    """Where a source is expected, and what to say when it is not there."""

    directory: Path  # absolute
    checkout: Path  # as configured
    commit: str
    url: str

    def git(self, *arguments: str) -> str:
        """A git command in the checkout, for people to type."""
        return shlex.join(["git", "-C", str(self.checkout), *arguments])

    def no_checkout(self, what: str, fix: str = "") -> SourceUnavailable:
        message = f"the checkout {self.checkout} {what}"
        return SourceUnavailable(Code.CHECKOUT_MISSING, message, fix or self.clone())

    def no_commit(self, what: str, *options: str) -> SourceUnavailable:
        fix = self.git("fetch", *options, *_operands(self.url or "origin", self.commit))
        return SourceUnavailable(Code.COMMIT_MISSING, f"the repository {self.checkout} {what}", fix)

    def clone(self) -> str:
        """How to get the repository."""
        if not self.url:
            where = shlex.quote(str(self.checkout))
            return f"put a clone of the repository at {where}, or correct `checkout`"
        return shlex.join(["git", "clone", *_operands(self.url, str(self.checkout))])


class _Repository(NamedTuple):
    """The two directories of a repository that matter here."""

    common: Path  # holds config and shallow, which only serve to explain, and most refs
    objects: Path
    own: Path  # holds HEAD; another directory than common for a linked work tree


def _find_repository(place: _Place) -> _Repository:
    """Find the object directory the way git does (gitrepository-layout), without running it."""
    top = place.directory
    if not top.exists():
        raise place.no_checkout("does not exist")
    git_dir = top / ".git"
    if not os.path.lexists(git_dir):
        git_dir = top  # a bare repository
    elif git_dir.is_file():  # a linked work tree or a submodule
        pointer = _first_line(git_dir)
        if not pointer.startswith("gitdir:"):
            raise place.no_checkout("is not a git repository: its .git file names no gitdir")
        git_dir = top / pointer.removeprefix("gitdir:").strip()
    common = git_dir
    if (git_dir / "commondir").is_file():
        common = git_dir / _first_line(git_dir / "commondir")
    objects = common / "objects"
    if not (objects.is_dir() and os.path.lexists(git_dir / "HEAD")):
        raise place.no_checkout("is not a git repository")
    return _Repository(common, objects, git_dir)


def _check_alternates(place: _Place, objects: Path) -> None:
    """Make sure that git can follow ``objects/info/alternates``.

    Clones made with ``--shared`` or ``--reference`` borrow objects, and that is fine: an object
    is accepted by its hash alone, so it does not matter whose directory holds it. But a missing
    lender would look like missing objects, and git would wait for ever on a FIFO.
    """
    level = [objects.resolve()]
    seen = set(level)
    for _ in range(_MAX_ALTERNATES_DEPTH + 1):
        lenders: list[Path] = []
        for borrower in level:
            lenders += [lender for lender in _alternates(place, borrower) if lender not in seen]
        seen.update(lenders)
        level = lenders
    if level:
        raise place.no_checkout("borrows its objects over too many objects/info/alternates")


def _alternates(place: _Place, objects: Path) -> Iterator[Path]:
    listing = objects / "info" / "alternates"
    if not listing.exists():
        return
    if not listing.is_file() or listing.stat().st_size > _MAX_POINTER_BYTES:
        raise place.no_checkout(f"has no proper list of alternates in {listing}")
    for line in os.fsdecode(listing.read_bytes()).split("\n"):
        if not line or line.startswith(("#", '"')):  # a quoted path is left to git
            continue
        lender = Path(os.path.normpath(objects / line))
        if not lender.is_dir():
            raise place.no_checkout(
                f"borrows objects from {lender}, which does not exist (see {listing})",
                f"restore {shlex.quote(str(lender))}, or replace the checkout: {place.clone()}",
            )
        yield lender


def _no_commit(place: _Place, repository: _Repository, content: NoBlob) -> SourceUnavailable:
    digits = _hex_digits(repository.common / "config")
    if digits and len(place.commit) != digits:
        error = place.no_commit(
            f"names objects by {digits} hex digits, the pin has {len(place.commit)}"
        )
        error.fix = f"give the commit in {digits} hex digits"
        return error
    shallow = " (it is a shallow clone)" if (repository.common / "shallow").exists() else ""
    error = place.no_commit(f"lacks the pinned commit{shallow}: {content.detail}")
    if content.detail.endswith("not a commit"):  # fetching cannot mend that
        error.fix = "give the output of " + place.git("rev-parse", place.commit + "^{commit}")
    return error


def _hex_digits(config: Path) -> int | None:
    """The length of the object IDs of a repository; only explains, so no include is followed."""
    with contextlib.suppress(OSError):
        if config.is_file():
            with config.open("rb") as file:
                text = file.read(_MAX_POINTER_BYTES)
            return 64 if re.search(rb'(?im)^\s*objectformat\s*=\s*"?sha256\b', text) else 40
    return None


def _first_line(file: Path) -> str:
    with file.open("rb") as stream:
        return os.fsdecode(stream.readline(_MAX_POINTER_BYTES)).rstrip("\r\n")


def _operands(*operands: str) -> list[str]:
    """Operands of a command that cannot be taken for options."""
    return ["--", *operands] if operands[0].startswith("-") else list(operands)


# --- reading objects ------------------------------------------------------------------------


class _Entry(NamedTuple):
    """What a tree says about one of its names."""

    mode: int
    oid: str

    @property
    def is_tree(self) -> bool:
        return stat.S_ISDIR(self.mode)

    @property
    def is_blob(self) -> bool:
        return not self.is_tree and stat.S_IFMT(self.mode) != 0o160000

    @property
    def is_link(self) -> bool:
        return stat.S_ISLNK(self.mode)

    def verdict(self, path: str) -> _Entry | NoBlob:
        """The entry itself when there is a blob to read."""
        if self.is_tree:
            return NoBlob(Absence.DIRECTORY)
        if path.endswith("/"):
            return NoBlob(Absence.MISSING)
        if stat.S_IFMT(self.mode) == 0o160000:
            return NoBlob(Absence.SUBMODULE, self.oid)
        return self


class _Branch:
    """The paths asked for, as a tree of names."""

    __slots__ = ("below", "paths")

    def __init__(self) -> None:
        self.paths: list[str] = []  # that end here; two, if one has a trailing slash
        self.below: dict[bytes, _Branch] = {}

    def add(self, path: str) -> None:
        """Add a path, unless it cannot be a name in git."""
        with contextlib.suppress(UnicodeEncodeError):
            branch = self
            for name in _encode(path).removesuffix(b"/").split(b"/"):
                if name not in branch.below:
                    branch.below[name] = _Branch()
                branch = branch.below[name]
            branch.paths.append(path)

    def paths_below(self) -> Iterator[str]:
        """All paths that lead through here."""
        pending = list(self.below.values())
        while pending:
            branch = pending.pop()
            yield from branch.paths
            pending += branch.below.values()


class _PrivateRepository:
    """An empty repository of ours that borrows the objects of a checkout; git is run in it.

    To be closed.

    :param shallow: the list of commits whose parents are not there, for walks over history.
    """

    def __init__(self, objects: Path, hash_name: str, shallow: bytes = b"") -> None:
        self._objects = objects
        self._home = TemporaryDirectory(prefix="memreport-")
        # The least that git takes for a repository. It must be told the object format, and to
        # stream large files. As there is no remote, absent objects are not asked for anywhere.
        home = Path(self._home.name)
        (home / "refs").mkdir()
        (home / "HEAD").write_text("ref: refs/heads/none\n")
        (home / "config").write_text(
            "[core]\n\trepositoryformatversion = 1\n\tbare = true\n\tbigFileThreshold = 64m\n"
            f"[extensions]\n\tobjectFormat = {hash_name}\n"
        )
        if shallow:
            (home / "shallow").write_bytes(shallow)

    def close(self) -> None:
        """Remove the repository."""
        self._home.cleanup()

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

    def environment(self) -> dict[str, str]:
        """What git sees on top of the environment of this process.

        Inherited variables of git are blanked, which switches each of them off: GitPython
        cannot remove them.
        """
        home = self._home.name
        inherited = {name: "" for name in os.environ if name.startswith("GIT_")}
        return inherited | {
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


class _CatFile:
    """A ``git cat-file --batch`` over an object directory that trusts nothing but hashes.

    The process starts with the first request. It is ended and replaced when an answer cannot be
    read to its end. To be closed.
    """

    def __init__(self, objects: Path, hash_: _Hash) -> None:
        self._hash = hash_
        self._home = _PrivateRepository(objects, hash_.name)
        self._process: Git.AutoInterrupt | None = None
        self._stderr: _Tail | None = None
        self._writer: threading.Thread | None = None
        self._closed = False

    def close(self) -> None:
        """End the process and remove the private repository."""
        self._closed = True
        self._end()
        self._home.close()

    def read(
        self, kind: str, oids: Sequence[str], limit: int, *, last: bool = False
    ) -> Iterator[bytes | NoBlob]:
        """Yield the content of every object, in order, of at most ``limit`` bytes.

        An object that is absent, damaged or not of this kind is ``lost``. Every content yielded
        has the hash that was asked for.

        :param last: nothing is read after this. Needed for blobs: git sends them without looking
            whether they are as long as they claim, and we would wait for the rest, were it not
            for the end of the stream.
        """
        waiting = deque(oids)
        asked = False
        while waiting:
            if not asked or self._process is None:
                self._ask(waiting, last)
                asked = True
            yield self._answer(kind, waiting.popleft(), limit)

    def entries(
        self, tree: bytes, wanted: Container[bytes] | None = None
    ) -> Iterator[tuple[bytes, _Entry]]:
        """The names in a tree object, all or those wanted."""
        for match in self._hash.entry.finditer(tree):
            mode, name, oid = match.groups()
            if wanted is None or name in wanted:
                yield name, _Entry(int(mode, 8), oid.hex())

    def absent(self, oids: Iterable[str]) -> set[str]:
        """Those objects that are not here; nothing is read of the others."""
        self._end()
        self._start("--batch-check")
        assert self._process is not None
        self._ask(oids, last=True)
        answers = [line.decode("ascii", "replace").split() for line in self._process.stdout]
        self._end()
        return {answer[0] for answer in answers if answer[1:] == ["missing"]}

    def _ask(self, oids: Iterable[str], last: bool) -> None:
        if self._process is None:
            self._start()
        assert self._process is not None
        requests = "".join(f"{oid}\n" for oid in oids).encode("ascii")
        # In a thread, since git stops reading while we do not read.
        self._writer = threading.Thread(
            target=_write, args=(self._process.stdin, requests, last), daemon=True
        )
        self._writer.start()

    def _answer(self, kind: str, oid: str, limit: int) -> bytes | NoBlob:
        assert self._process is not None
        stdout = self._process.stdout
        header = stdout.readline().decode("ascii", "replace").split()
        if header == [oid, "missing"]:
            return NoBlob(Absence.LOST, f"object {oid} is absent or damaged")
        if len(header) != 3 or header[0] != oid:
            return self._lost(oid)
        if header[1] != kind:
            self._end()
            return NoBlob(Absence.LOST, f"object {oid} is a {header[1]}, not a {kind}")
        size = int(header[2])
        if size > limit:
            self._end()
            return NoBlob(Absence.TOO_LARGE, _size(size, limit))
        content: bytes = stdout.read(size + 1)
        if len(content) != size + 1 or not content.endswith(b"\n"):
            return self._lost(oid)
        content = content[:-1]
        digest = hashlib.new(self._hash.name, b"%b %d\0" % (kind.encode(), size))
        digest.update(content)
        if digest.hexdigest() != oid:
            self._end()  # the length may be wrong too
            return NoBlob(Absence.LOST, f"object {oid} is damaged: its content has another hash")
        if kind == "tree" and not self._hash.tree.fullmatch(content):
            return NoBlob(Absence.LOST, f"object {oid} is not a well-formed tree")
        return content

    def _lost(self, oid: str) -> NoBlob:
        said = self._end()
        return NoBlob(Absence.LOST, f"object {oid} cannot be read" + (said and f" ({said})"))

    def _start(self, mode: str = "--batch") -> None:
        if self._closed:
            raise ValueError("this source is closed")
        git = self._home.git()
        from git.exc import GitError

        try:
            self._process = git.cat_file(
                mode, istream=PIPE, as_process=True, shell=False, env=self._home.environment()
            )
        except (GitError, OSError) as error:
            raise _no_git(str(error)) from error
        assert self._process is not None
        self._stderr = _Tail(self._process.stderr)

    def _end(self) -> str:
        """End the process, if there is one; return the last line that it wrote to stderr."""
        process, self._process = self._process, None
        if process is None or process.proc is None:
            return ""
        process.kill()
        process.proc.wait()
        said = self._stderr.join() if self._stderr else ""
        if self._writer:
            self._writer.join()
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                stream.close()
        return said


def _write(stream: IO[bytes], requests: bytes, last: bool) -> None:
    with contextlib.suppress(OSError):  # that git has ended is noticed where it is read
        stream.write(requests)
        if last:
            stream.close()
        else:
            stream.flush()


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


def _link(content: bytes | NoBlob) -> NoBlob:
    target = content if isinstance(content, bytes) else b""
    return NoBlob(Absence.SYMLINK, _decode(target[:_MAX_LINK_BYTES]))


def _no_git(reason: str) -> SourceUnavailable:
    return SourceUnavailable(
        Code.CHECKOUT_MISSING,
        "git cannot be run: " + " ".join(reason.split())[:200],
        "install git, or set GIT_PYTHON_GIT_EXECUTABLE to its path",
    )


def _size(size: int, limit: int) -> str:
    return f"{size:,} bytes, at most {limit:,} are read"


def _encode(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _decode(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")


# --- globs ----------------------------------------------------------------------------------


class Glob:
    """Patterns with the meaning of git's ``:(glob)`` pathspecs; a path matches any of them.

    ``*``, ``?`` and ``[…]`` do not cross ``/``; ``**/``, ``/**/`` and ``/**`` do. A pattern that
    names a directory matches what lies below it; one that is absolute or leaves the tree matches
    nothing. The rules are those of git's wildmatch.c and pathspec.c, bytes and not characters
    included. All patterns run as one automaton, in time proportional to the path.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._names: set[bytes] = set()
        below: list[bytes] = []
        self._nodes: list[_Node] = []
        self._accepting: set[int] = set()
        self._states: dict[frozenset[int], _State] = {}
        starts: list[int] = []
        for pattern in patterns:
            text = _normalise(pattern)
            if text is None:
                continue
            # git compares a pattern as plain text before it takes it for a wildcard.
            self._names.add(text)
            below.append(text if text.endswith(b"/") or not text else text + b"/")
            with contextlib.suppress(IndexError, KeyError):  # malformed: matches nothing
                nodes = list(_compile(text))
                starts.append(len(self._nodes))
                self._nodes += nodes
                self._accepting.add(len(self._nodes) - 1)
        self._below = tuple(below)
        self._start = self._state(starts)

    def matches(self, path: str) -> bool:
        """Whether the path of a file matches."""
        try:
            text = _encode(path)
        except UnicodeEncodeError:  # no name in git
            return False
        if text in self._names or text.startswith(self._below):
            return True
        state = self._start
        for byte in text:
            state = state[byte]
        return state.accepting

    def _state(self, indices: Iterable[int]) -> _State:
        nodes: set[int] = set()
        pending = list(indices)
        while pending:
            index = pending.pop()
            if index not in nodes:
                nodes.add(index)
                pending += [index + jump for jump in self._nodes[index].jumps]
        key = frozenset(nodes)
        if key not in self._states:
            if len(self._states) >= 4096:  # keeps memory bounded, whatever the patterns
                self._states.clear()
            self._states[key] = _State(self, key)
        return self._states[key]


class _Node(NamedTuple):
    """One place in a pattern: the bytes it takes, and how far one of them leads.

    ``jumps`` lead on without a byte.
    """

    takes: frozenset[int] = frozenset()
    advance: int = 1
    jumps: tuple[int, ...] = ()


class _State(dict[int, "_State"]):
    """A set of places in the patterns; maps a byte to the next one, worked out when needed."""

    def __init__(self, glob: Glob, nodes: frozenset[int]) -> None:
        super().__init__()
        self._glob = glob
        self._indices = nodes
        self.accepting = not glob._accepting.isdisjoint(nodes)

    def __missing__(self, byte: int) -> _State:
        nodes = self._glob._nodes
        self[byte] = self._glob._state(
            index + nodes[index].advance for index in self._indices if byte in nodes[index].takes
        )
        return self[byte]


def _bytes_where(test: str) -> frozenset[int]:
    return frozenset(byte for byte in range(128) if re.fullmatch(test, chr(byte)))


_SLASH, _BACKSLASH, _STAR = b"/\\*"
_ANY = frozenset(range(256))
_NO_SLASH = _ANY - {_SLASH}
_CLASSES = {
    b"alnum": _bytes_where("[0-9A-Za-z]"),
    b"alpha": _bytes_where("[A-Za-z]"),
    b"blank": _bytes_where("[ \t]"),
    b"cntrl": _bytes_where("[\x00-\x1f\x7f]"),
    b"digit": _bytes_where("[0-9]"),
    b"graph": _bytes_where("[!-~]"),
    b"lower": _bytes_where("[a-z]"),
    b"print": _bytes_where("[ -~]"),
    b"punct": _bytes_where("[!-/:-@[-`{-~]"),
    b"space": _bytes_where("[ \t\n\r]"),
    b"upper": _bytes_where("[A-Z]"),
    b"xdigit": _bytes_where("[0-9A-Fa-f]"),
}
_CLASS = re.compile(rb"\[:([^\]]*):\]")


def _normalise(pattern: str) -> bytes | None:
    """Take ``.``, ``..`` and doubled slashes out of a pattern; None when it leaves the tree."""
    parts = pattern.split("/")
    kept: list[str] = []
    for part in parts:
        if part == "..":
            if not kept:
                return None
            kept.pop()
        elif part not in ("", "."):
            kept.append(part)
    if pattern.startswith("/"):
        return None
    slash = "/" if kept and parts[-1] in ("", ".", "..") else ""
    try:
        return _encode("/".join(kept) + slash)
    except UnicodeEncodeError:
        return None


def _compile(pattern: bytes) -> Iterator[_Node]:
    """The places of a pattern in order, the accepting one last.

    :raises IndexError: a bracket without end, or a lone backslash.
    :raises KeyError: an unknown character class.
    """
    plain = len(re.split(rb"[*?[\\]", pattern, maxsplit=1)[0])
    yield from (_Node(frozenset({byte})) for byte in pattern[:plain])
    at = plain
    while at < len(pattern):
        byte = pattern[at]
        at += 1
        if byte == _STAR:
            end = at + len(pattern[at:]) - len(pattern[at:].lstrip(b"*"))
            # `**` crosses slashes when it is a whole part, or right after the plain text,
            # which git cuts off before it looks.
            alone = at - 1 == plain or pattern[at - 2] == _SLASH
            rest = pattern[end : end + 2]
            crossing = end > at and alone and (rest[:1] in (b"", b"/") or rest == b"\\/")
            if crossing and rest[:1] == b"/":
                yield _Node(jumps=(1, 3))  # `**/` may stand for nothing at all
            yield _Node(_ANY if crossing else _NO_SLASH, 0, (1,))
            at = end
        elif byte == ord("?"):
            yield _Node(_NO_SLASH)
        elif byte == ord("["):
            chosen, at = _bracket(pattern, at)
            yield _Node(chosen - {_SLASH})
        else:
            if byte == _BACKSLASH:
                byte = pattern[at]
                at += 1
            yield _Node(frozenset({byte}))
    yield _Node()


def _bracket(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """The bytes of ``[…]`` and the index behind it; ``at`` is behind the opening bracket."""
    negated = pattern[at] in b"!^"
    at += negated
    first = at
    chosen: set[int] = set()
    previous = 0  # what a range would start from; 0 when nothing can
    while at == first or pattern[at] != ord("]"):
        byte = pattern[at]
        if byte == _BACKSLASH:
            at += 1
            byte = pattern[at]
            chosen.add(byte)
        elif byte == ord("-") and previous and pattern[at + 1] != ord("]"):
            at += 2 if pattern[at + 1] == _BACKSLASH else 1
            chosen.update(range(previous, pattern[at] + 1))
            byte = 0
        elif named := _CLASS.match(pattern, at):
            chosen |= _CLASSES[named[1]]
            at = named.end() - 1
            byte = 0
        else:
            chosen.add(byte)
        previous = byte
        at += 1
    return (_ANY - chosen if negated else frozenset(chosen)), at + 1
