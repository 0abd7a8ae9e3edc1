"""Where a checkout keeps its objects, found without running git; its files, read with care.

A checkout may keep them elsewhere, and that is no fault: a linked work tree and a submodule have
a ``.git`` file that points to another place, and clones made with ``--shared`` or
``--reference`` borrow objects over ``objects/info/alternates``. An object is accepted by its hash
alone, so it does not matter whose directory holds it. Nothing else in those places is read, but
for what explains a failure (``config``, ``shallow``) and, where a person names one, refs.
"""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import re
import shlex
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitstore import limits


class Place(NamedTuple):
    """Where a source is expected, and what to say when it is not there."""

    directory: Path  # absolute
    checkout: Path  # as configured
    commit: str
    url: str

    @classmethod
    def of(cls, checkout: Path, commit: str, url: str) -> Place:
        """The place of a checkout, which need not exist."""
        return cls(Path(os.path.abspath(checkout)), checkout, commit, url)  # noqa: PTH100

    def git(self, *arguments: str) -> str:
        """A git command in the checkout, for people to type."""
        return shlex.join(["git", "-C", str(self.checkout), *arguments])

    def no_checkout(self, what: str, fix: str = "") -> SourceUnavailable:
        """``checkout-missing``, with what brings the repository unless another fix is given."""
        message = f"the checkout {self.checkout} {what}"
        return SourceUnavailable(Code.CHECKOUT_MISSING, message, fix or self.clone())

    def no_commit(self, what: str, *options: str) -> SourceUnavailable:
        """``commit-missing``, with the command that fetches the commit."""
        fix = "memreport fetch" if self.url else self.git("fetch", *options, "origin", self.commit)
        return SourceUnavailable(Code.COMMIT_MISSING, f"the repository {self.checkout} {what}", fix)

    def clone(self) -> str:
        """How to get the repository."""
        where = shlex.quote(str(self.checkout))
        if not self.url:
            return f"put a clone of the repository at {where}, or correct `checkout`"
        if self._is_free():
            return "memreport fetch"
        return f"move {where} away, or correct `checkout`; then: memreport fetch"

    def _is_free(self) -> bool:
        """Whether nothing is there, or an empty folder."""
        try:
            return not os.path.lexists(self.directory) or not any(self.directory.iterdir())
        except OSError:
            return False


def operands(*words: str) -> list[str]:
    """Operands of a command that cannot be taken for options."""
    return ["--", *words] if words[0].startswith("-") else list(words)


class Repository(NamedTuple):
    """The two directories of a repository that matter here, and where its objects are."""

    common: Path  # holds config and shallow, which only serve to explain, and most refs
    objects: Path
    own: Path  # holds HEAD; another directory than common for a linked work tree

    @property
    def shallow(self) -> bytes:
        """The list of commits whose parents are not there."""
        return content(self.common / "shallow", limits.MAX_REFS_BYTES)

    @property
    def hex_digits(self) -> int | None:
        """The length of its object IDs. Only explains, so no include is followed."""
        config = self.common / "config"
        if not config.is_file():
            return None
        text = content(config, limits.MAX_POINTER_BYTES)
        return 64 if re.search(rb'(?im)^\s*objectformat\s*=\s*"?sha256\b', text) else 40


def find_repository(place: Place) -> Repository:
    """Find a repository, and make sure that git can read its objects without waiting for ever.

    :raises SourceUnavailable: ``checkout-missing``.
    """
    try:
        repository = _find(place)
        _check_objects(place, repository.objects)
    except OSError as error:
        raise place.no_checkout(f"cannot be read: {error.strerror}") from error
    return repository


def object_directory(checkout: Path, commit: str, fetch_hint: str = "") -> Path:
    """Where a repository on this machine keeps its objects; parameters as of ``open_git``.

    :raises SourceUnavailable: ``checkout-missing`` when no repository is there, or when it keeps
        its packs in another place than its objects: that is for reading, and not for writing.
    """
    place = Place.of(checkout, commit, fetch_hint)
    objects = find_repository(place).objects.resolve()
    if (objects / "pack").resolve() != objects / "pack":
        raise place.no_checkout("has a link for objects/pack, so nothing is fetched into it")
    return objects


def _find(place: Place) -> Repository:
    """Find the object directory the way git does (gitrepository-layout)."""
    top = place.directory
    if not top.exists():
        raise place.no_checkout("does not exist")
    git_dir = top / ".git"
    if not os.path.lexists(git_dir):
        git_dir = top  # a bare repository
    elif not git_dir.is_dir():  # a linked work tree or a submodule
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
    return Repository(common, objects, git_dir)


# --- object directories -----------------------------------------------------------------------


def _check_objects(place: Place, objects: Path) -> None:
    """Look at the object directory and all that it borrows from.

    A missing lender would look like missing objects, and git would wait for ever on a FIFO.
    """
    level = [objects.resolve()]
    seen = set(level)
    for _ in range(limits.MAX_ALTERNATES_DEPTH + 1):
        lenders: list[Path] = []
        for borrower in level:
            _check_files(place, borrower)
            for lender in _alternates(place, borrower):
                if lender not in seen:
                    seen.add(lender)
                    lenders.append(lender)
                if len(seen) > limits.MAX_LENDERS:
                    raise place.no_checkout("borrows its objects from too many repositories")
        level = lenders
    if level:
        raise place.no_checkout("borrows its objects over too many objects/info/alternates")


def _alternates(place: Place, objects: Path) -> Iterator[Path]:
    listing = objects / "info" / "alternates"
    if not listing.exists():
        return
    if not listing.is_file() or listing.stat().st_size > limits.MAX_POINTER_BYTES:
        raise place.no_checkout(f"has no proper list of alternates in {listing}")
    for line in os.fsdecode(content(listing, limits.MAX_POINTER_BYTES)).split("\n"):
        if not line or line.startswith(("#", '"')):  # a quoted path is left to git
            continue
        lender = Path(os.path.normpath(objects / line))
        if not lender.is_dir():
            raise place.no_checkout(
                f"borrows objects from {lender}, which does not exist (see {listing})",
                f"restore {shlex.quote(str(lender))}, or replace the checkout: {place.clone()}",
            )
        yield lender


# What git opens in an object directory
_OBJECT_FOLDER = re.compile("[0-9a-f]{2}|pack|info")


def _check_files(place: Place, objects: Path) -> None:
    for folder in _entries(objects):
        if not _OBJECT_FOLDER.fullmatch(folder.name):
            continue
        for entry in itertools.chain([folder], _entries(Path(folder.path))):
            # what a directory entry is costs no further look at the disk, unless it is a link
            if not (entry.is_file() or entry.is_dir()) and Path(entry.path).exists():
                raise place.no_checkout(
                    f"has something that is no file among its objects: {entry.path}",
                    f"remove {shlex.quote(entry.path)}, or replace the checkout: {place.clone()}",
                )


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing when it cannot be read, as git sees it."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        yield from entries


# --- files ------------------------------------------------------------------------------------


def content(file: Path, limit: int) -> bytes:
    """A file of the repository that need not be there; nothing if it is larger than that."""
    try:
        with open_regular(file) as stream:
            found = stream.read(limit + 1)
    except (OSError, ValueError):
        return b""
    return found if len(found) <= limit else b""


def _first_line(file: Path) -> str:
    with open_regular(file) as stream:
        return os.fsdecode(stream.readline(limits.MAX_POINTER_BYTES)).rstrip("\r\n")


def open_regular(file: Path) -> BinaryIO:
    """Open a file, but no FIFO or device, which could make us wait or never end.

    :raises OSError: as ``open``, and when it is no regular file.
    """
    _check_regular(file.stat())
    descriptor = os.open(file, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _BINARY)
    try:
        _check_regular(os.fstat(descriptor))  # it may be another one by now
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


_BINARY = getattr(os, "O_BINARY", 0)  # Windows


def _check_regular(found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
