"""What happened to files between two commits of a repository."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple, Self

from sphinx_memreport.core.blobs import SourceUnavailable, path_text
from sphinx_memreport.gitstore import limits
from sphinx_memreport.gitstore.checkout import find_repository
from sphinx_memreport.gitstore.objects import HASHES
from sphinx_memreport.gitstore.pickling import Unpicklable
from sphinx_memreport.gitstore.process import PrivateRepository
from sphinx_memreport.gitstore.source import GitSource

_RENAME = re.compile(rb":\d+ \d+ [0-9a-f]+ [0-9a-f]+ R\d*\0([^\0]+)\0([^\0]+)\0")


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


class History(Unpicklable):
    """What happened to files from one commit of a repository to another. To be closed.

    Only explains and proposes: git reads the objects by itself here, so nothing of what it says
    is as sure as what a :class:`GitSource` reads. Both sources are of the same checkout.
    """

    def __init__(self, old: GitSource, new: GitSource) -> None:
        self._sources = old, new
        self._range = old.place.commit, new.place.commit
        shallow = find_repository(new.place).shallow
        self._is_shallow = bool(shallow)
        hash_name = HASHES[len(new.place.commit)].name
        self._home = PrivateRepository(new.objects, hash_name, shallow)
        self._renames: dict[str, str] | None = None
        self._seconds = limits.REMOVAL_SECONDS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._home.close()

    def renames(self) -> Mapping[str, str]:
        """The new path of every file that git takes to be renamed, by its old path.

        Where the contents of some files are not here, only files renamed without any change.
        """
        if self._renames is None:
            found = _RENAME.findall(self._listed())
            self._renames = {path_text(old): path_text(new) for old, new in found}
        return self._renames

    def _listed(self) -> bytes:
        try:
            for source in self._sources:
                source.paths()  # git would list without end what we refuse to list
        except SourceUnavailable:
            return b""
        command = ["diff-tree", "-r", "-z", "--raw", "--no-commit-id", "--diff-filter=R", "-l0"]
        for similarity in ("-M", "-M100%"):
            listed = self._home.run([*command, similarity, *self._range], limits.RENAME_SECONDS)
            if listed is not None:
                return listed
        return b""

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
            sought = [f"-S{path_text(passage[: limits.MAX_SOUGHT_BYTES])}"]
        old, new = self._range
        command = ["log", "-1", "-z", "--no-renames"]
        command += ["--no-ext-diff", "--no-textconv", "--format=%H %s", *sought]
        started = time.monotonic()
        paths = {path, self.renames().get(path, path)}
        found = self._home.run([*command, f"{old}..{new}", "--", *paths], self._seconds)
        self._seconds -= time.monotonic() - started
        if found is None:
            return NoRemoval.TOO_LONG if self._seconds <= 0 else NoRemoval.UNREADABLE
        commit, _, subject = found.rstrip(b"\0\n").decode("utf-8", "replace").partition(" ")
        if not commit:
            return NoRemoval.SHALLOW if self._is_shallow else NoRemoval.ELSEWHERE
        return Removal(commit, " ".join(subject.split())[: limits.MAX_SUBJECT])
