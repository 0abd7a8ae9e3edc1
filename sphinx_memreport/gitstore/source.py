"""A pinned commit of a repository: files by path, and the paths of its tree."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from sphinx_memreport.core.blobs import (
    Absence,
    Blob,
    NoBlob,
    SourceUnavailable,
    path_bytes,
    path_text,
)
from sphinx_memreport.core.globs import Glob
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitstore import limits
from sphinx_memreport.gitstore.checkout import Place, Repository, find_repository
from sphinx_memreport.gitstore.objects import HASHES, Entry, Hash, Kind, ObjectReader, kind_of
from sphinx_memreport.gitstore.pickling import Unpicklable
from sphinx_memreport.gitstore.process import Silent


def open_git(
    checkout: Path, commit: str, *, fetch_hint: str = "", max_bytes: int = limits.MAX_BYTES
) -> GitSource:
    """Open a pinned commit of a repository on this machine.

    :param checkout: a work tree (linked ones and submodules too) or a bare repository. The
        directory itself must be one: repositories around it are not looked for.
    :param commit: the full hash, 40 or 64 hex digits.
    :param fetch_hint: the URL to clone and fetch from, for the commands in error messages.
    :param max_bytes: larger files are reported as ``too-large`` instead of being read.
    :raises SourceUnavailable: ``checkout-missing`` when no repository is there, git cannot read
        it or is not installed, ``commit-missing`` when the repository lacks the commit or its
        root tree.
    """
    place = Place.of(checkout, commit.lower(), fetch_hint)
    repository = find_repository(place)
    if len(place.commit) not in HASHES or not re.fullmatch("[0-9a-f]+", place.commit):
        raise SourceUnavailable(
            Code.COMMIT_MISSING,
            f"{commit!r} is not a full commit hash of 40 or 64 hex digits",
            "give the full hash, which git rev-parse prints",
        )
    with _reading(place, repository.objects, HASHES[len(place.commit)]) as git:
        content = git.commit(place.commit)
        if isinstance(content, NoBlob):
            raise _no_commit(place, repository, content)
        header = re.match(rb"tree ([0-9a-f]+)\n", content)
        if not header:
            raise place.no_commit(f"has a malformed commit {place.commit}")
        tree = header[1].decode("ascii")
        (root,) = git.trees([tree])
        if isinstance(root, NoBlob):
            raise place.no_commit(f"lacks the tree of commit {place.commit}: {root.detail}")
    return GitSource(place, repository.objects, tree, max_bytes)


def _no_commit(place: Place, repository: Repository, content: NoBlob) -> SourceUnavailable:
    digits = repository.hex_digits
    if digits and len(place.commit) != digits:
        error = place.no_commit(
            f"names objects by {digits} hex digits, the pin has {len(place.commit)}"
        )
        error.fix = f"give the commit in {digits} hex digits"
        return error
    shallow = " (it is a shallow clone)" if repository.shallow else ""
    error = place.no_commit(f"lacks the pinned commit{shallow}: {content.detail}")
    if content.detail.endswith("not a commit"):  # fetching cannot mend that
        error.fix = "give the output of " + place.git("rev-parse", place.commit + "^{commit}")
    return error


@contextlib.contextmanager
def _reading(place: Place, objects: Path, hash_: Hash) -> Iterator[ObjectReader]:
    """A reader for some objects of a checkout, closed at the end.

    :raises SourceUnavailable: ``checkout-missing`` when git does not answer.
    """
    reader = ObjectReader(objects, hash_)
    try:
        yield reader
    except Silent:
        raise place.no_checkout(
            f"cannot be read: git gave no answer for {limits.PATIENCE:g} seconds",
            f"see whether this ends: {place.git('fsck')}; else replace it: {place.clone()}",
        ) from None
    finally:
        reader.close()


class GitSource(Unpicklable):
    """Reads the tree of one commit; implements :class:`~.core.blobs.SourceReader`.

    Paths are relative to the root of the tree and separated by ``/``. Names that are not UTF-8
    are decoded with ``surrogateescape``. Each call runs git processes of its own, which end
    with it: nothing stays open between calls, and calls may be nested.
    """

    def __init__(self, place: Place, objects: Path, tree: str, max_bytes: int) -> None:
        self.place = place
        self.objects = objects
        self._tree = tree
        self._max_bytes = max_bytes
        self._paths: tuple[str, ...] | None = None
        self._directories: dict[str, bool] = {}
        self._running: set[ObjectReader] = set()
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

        :raises SourceUnavailable: ``checkout-missing`` when git does not answer; so do all
            methods here.
        """
        with self._git() as git:
            found = self._find(git, paths)
            oids = [entry.oid for entry in found.values() if isinstance(entry, Entry)]
            contents = git.blobs(oids, self._max_bytes)
            for path, entry in found.items():
                if isinstance(entry, NoBlob):
                    yield path, entry
                    continue
                content = next(contents)
                if entry.kind is Kind.LINK:
                    yield path, NoBlob(Absence.SYMLINK, _target(content))
                elif isinstance(content, NoBlob):
                    yield path, content
                else:
                    yield path, Blob(entry.oid, content)

    def paths(self) -> Sequence[str]:
        """Everything in the tree that is not a directory, sorted: what ``git ls-files`` lists.

        Symbolic links and submodules are included, so that a search can tell that it does not
        look into them.

        :raises SourceUnavailable: ``commit-missing`` when a tree object is lost, since a list
            with gaps would make a search pass that has not seen everything; ``checkout-missing``
            when there are more than ``MAX_NAMES`` names.
        """
        if self._paths is None:
            with self._git() as git:
                self._paths = tuple(sorted({path_text(path) for path, *_ in self._walk(git)}))
        return self._paths

    def lost(self) -> Sequence[str]:
        """The paths of the tree whose content is not here, as in a partial clone.

        Only whether git can name the objects is looked at; their hashes are checked when read.

        :raises SourceUnavailable: as :meth:`paths`.
        """
        with self._git() as git:
            blobs = {
                path: oid.hex() for path, kind, oid in self._walk(git) if kind is not Kind.SUBMODULE
            }
            absent = git.absent(set(blobs.values()))
        return tuple(sorted(path_text(path) for path, oid in blobs.items() if oid in absent))

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
    def _git(self) -> Iterator[ObjectReader]:
        if self._closed:
            raise ValueError("this source is closed")
        with _reading(self.place, self.objects, HASHES[len(self._tree)]) as git:
            self._running.add(git)
            try:
                yield git
            finally:
                self._running.discard(git)

    def _find(self, git: ObjectReader, paths: Iterable[str]) -> dict[str, Entry | NoBlob]:
        """Look paths up level by level; only names that were asked for are kept.

        A tree object is read once on a level, however many names lead to it.
        """
        found: dict[str, Entry | NoBlob] = dict.fromkeys(paths, NoBlob(Absence.MISSING))
        root = _Branch()
        for path in found:
            root.add(path)
        if "" in found:
            found[""] = NoBlob(Absence.DIRECTORY)
        level = {self._tree: [root]}
        while level:
            below: dict[str, list[_Branch]] = {}
            for branches, tree in zip(level.values(), git.trees(level), strict=True):
                if isinstance(tree, NoBlob):
                    for branch in branches:
                        found.update(dict.fromkeys(branch.paths_below(), tree))
                    continue
                for child, entry in self._children(git, tree, branches):
                    found.update((path, entry.verdict(path)) for path in child.paths)
                    if child.below and entry.kind is Kind.TREE:
                        below.setdefault(entry.oid, []).append(child)
            level = below
        return found

    def _children(
        self, git: ObjectReader, tree: bytes, branches: Sequence[_Branch]
    ) -> Iterator[tuple[_Branch, Entry]]:
        """What a tree has of the names asked for; of two of the same name, the first, as in git."""
        wanted = {name for branch in branches for name in branch.below}
        for mode, name, oid in git.entries(tree):
            if name in wanted:
                wanted.discard(name)
                entry = Entry.of(mode, oid)
                yield from (
                    (branch.below[name], entry) for branch in branches if name in branch.below
                )

    def _walk(self, git: ObjectReader) -> Iterator[tuple[bytes, Kind, bytes]]:
        """Every path of the tree that is not a directory, what is there, and its raw object ID.

        :raises SourceUnavailable: when a directory is lost, or the names are too many to list.
        """
        names = size = 0
        level = {self._tree: [b""]}
        while level:
            below: dict[str, list[bytes]] = {}
            for directories, tree in zip(level.values(), git.trees(level), strict=True):
                if isinstance(tree, NoBlob):
                    message = f"lacks the directory {path_text(directories[0])!r}: {tree.detail}"
                    raise self.place.no_commit(message, "--refetch", "--no-filter")
                length = sum(map(len, directories))
                for mode, name, oid in git.entries(tree):
                    names += len(directories)
                    size += length + len(name) * len(directories)
                    if names > limits.MAX_NAMES or size > limits.MAX_PATH_BYTES:
                        raise self._too_many_names()
                    paths = [directory + name for directory in directories]
                    kind = kind_of(mode)
                    if kind is Kind.TREE:
                        below.setdefault(oid.hex(), []).extend(path + b"/" for path in paths)
                        continue
                    for path in paths:
                        yield path, kind, oid
            level = below

    def _too_many_names(self) -> SourceUnavailable:
        return self.place.no_checkout(
            f"cannot be listed: at the pinned commit it has more than {limits.MAX_NAMES:,} names, "
            f"or {limits.MAX_PATH_BYTES:,} bytes of them",
            "use a capture of each file that is needed as a source of its own",
        )


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
            for name in path_bytes(path).removesuffix(b"/").split(b"/"):
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


def _target(content: bytes | NoBlob) -> str:
    """What a symbolic link says, as far as it can be read."""
    return path_text(content[: limits.MAX_LINK_BYTES]) if isinstance(content, bytes) else ""
