"""What the core needs of a pinned source: blobs by path and the names in its tree.

``gitstore`` implements :class:`SourceReader` for git repositories and captures; tests
implement it with a dictionary.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from sphinx_memreport.core.problems import Code


class Blob(NamedTuple):
    """The bytes of one file at the pinned commit and their object ID (SHA-256 of a capture)."""

    oid: str
    data: bytes


class Absence(StrEnum):
    """Why a path has no blob that can be read."""

    MISSING = "missing"  # no such name in the tree
    DIRECTORY = "directory"
    SUBMODULE = "submodule"
    SYMLINK = "symlink"
    LOST = "lost"  # listed in the tree, but the object is not in this repository
    TOO_LARGE = "too-large"


class NoBlob(NamedTuple):
    """A path without a blob; ``detail`` is the target of a symbolic link, a size, and so on."""

    reason: Absence
    detail: str = ""


class SourceUnavailable(Exception):
    """A source that cannot be read at all: one problem for the whole source.

    :param code: ``checkout-missing``, ``commit-missing`` or ``capture-mismatch``.
    :param message: one line that says what was expected and what was found.
    :param fix: the command or edit that mends it.
    """

    def __init__(self, code: Code, message: str, fix: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.fix = fix


class SourceReader(Protocol):
    """Reads one source at its pin. All paths use ``/`` and are relative to the tree's root."""

    def blobs(self, paths: Sequence[str]) -> Iterator[tuple[str, Blob | NoBlob]]:
        """Yield every path once with its blob, streaming: memory holds one blob at a time."""
        ...

    def paths(self) -> Sequence[str]:
        """All file paths of the tree, sorted; listed once, on first use."""
        ...

    def directory_exists(self, path: str) -> bool:
        """Whether ``path`` (without trailing slash; empty is the root) is a directory."""
        ...

    def glob(self, patterns: Sequence[str]) -> Sequence[str]:
        """The file paths that match any of git's ``:(glob)`` patterns, sorted."""
        ...


class SingleFile:
    """A :class:`SourceReader` of one file without a name: a capture, whose path is ``""``."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob

    def blobs(self, paths: Sequence[str]) -> Iterator[tuple[str, Blob | NoBlob]]:
        """Yield the file for the empty path; nothing else exists."""
        for path in paths:
            yield path, self._blob if path == "" else NoBlob(Absence.MISSING)

    def paths(self) -> Sequence[str]:
        """The one path."""
        return [""]

    def directory_exists(self, path: str) -> bool:  # noqa: ARG002 - a file holds no directory
        """A capture has no directories."""
        return False

    def glob(self, patterns: Sequence[str]) -> Sequence[str]:
        """A capture has no names to match; ``**`` and ``*`` mean the file itself."""
        return [""] if any(pattern in {"", "*", "**"} for pattern in patterns) else []


def path_bytes(path: str) -> bytes:
    """A path as git knows it.

    :raises UnicodeEncodeError: for text that cannot be a name in git.
    """
    return path.encode("utf-8", "surrogateescape")


def path_text(path: bytes) -> str:
    """A path as we know it: bytes that are not UTF-8 become lone surrogates."""
    return path.decode("utf-8", "surrogateescape")
