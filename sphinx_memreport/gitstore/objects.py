"""Objects of a repository, each hashed again: nothing that git says is believed without that."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import stat
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from sphinx_memreport.core.blobs import Absence, NoBlob
from sphinx_memreport.gitstore import limits
from sphinx_memreport.gitstore.process import CatFile, PrivateRepository


class Hash(NamedTuple):
    """The hash of a repository: its name to git, how to compute it, and the form of its trees."""

    name: str
    digest: Callable[[bytes], Any]
    entry: re.Pattern[bytes]
    tree: re.Pattern[bytes]


def _sha1(data: bytes) -> Any:
    return hashlib.sha1(data, usedforsecurity=False)  # git decides; FIPS would refuse it


def _hash(name: str, digest: Callable[[bytes], Any], size: int) -> Hash:
    entry = rb"([0-7]{5,6}) ([^\0]+)\0(.{%d})" % size
    tree = rb"(?:%b)*+" % entry
    return Hash(name, digest, re.compile(entry, re.DOTALL), re.compile(tree, re.DOTALL))


#: By the hex digits of an object ID.
HASHES = {40: _hash("sha1", _sha1, 20), 64: _hash("sha256", hashlib.sha256, 32)}


class Kind(Enum):
    """What a name in a tree stands for."""

    TREE, SUBMODULE, LINK, FILE = range(4)


@functools.cache
def kind_of(mode: bytes) -> Kind:
    """The kind that a mode in a tree means; of six octal digits there are not too many to keep."""
    kind = stat.S_IFMT(int(mode, 8))
    kinds = {stat.S_IFDIR: Kind.TREE, 0o160000: Kind.SUBMODULE, stat.S_IFLNK: Kind.LINK}
    return kinds.get(kind, Kind.FILE)


class Entry(NamedTuple):
    """What a tree says about one of its names."""

    kind: Kind
    oid: str

    @classmethod
    def of(cls, mode: bytes, oid: bytes) -> Entry:
        """An entry from what stands in the tree."""
        return cls(kind_of(mode), oid.hex())

    def verdict(self, path: str) -> Entry | NoBlob:
        """The entry itself when there is a blob to read."""
        if self.kind is Kind.TREE:
            return NoBlob(Absence.DIRECTORY)
        if path.endswith("/"):
            return NoBlob(Absence.MISSING)
        if self.kind is Kind.SUBMODULE:
            return NoBlob(Absence.SUBMODULE, self.oid)
        return self


class ObjectReader:
    """Reads objects from an object directory; every content it gives has the hash asked for.

    An object that is absent, damaged or not of the kind asked for is ``lost``. One process of
    git gives many objects. It is ended and replaced when an answer cannot be read to its end; of
    what it holds, no more than one object is in our memory. To be closed.

    :raises Silent: when git does not answer, from each of the methods.
    """

    def __init__(self, objects: Path, hash_: Hash) -> None:
        self._hash = hash_
        self._home = PrivateRepository(objects, hash_.name)
        self._git: CatFile | None = None
        self._failures = 0
        self._closed = False

    def close(self) -> None:
        """End the process and remove the private repository."""
        self._closed = True
        try:
            self._end()
        finally:
            self._home.close()

    def commit(self, oid: str) -> bytes | NoBlob:
        """The content of a commit, of at most ``MAX_COMMIT_BYTES``."""
        (content,) = self._converse("commit", [oid], limits.MAX_COMMIT_BYTES)
        return content

    def trees(self, oids: Collection[str]) -> Iterator[bytes | NoBlob]:
        """Well-formed trees of at most ``MAX_TREE_BYTES``, in order. To be read to the end."""
        return self._converse("tree", list(oids), limits.MAX_TREE_BYTES)

    def blobs(self, oids: Sequence[str], limit: int) -> Iterator[bytes | NoBlob]:
        """Yield the contents of files, in order, of at most ``limit`` bytes.

        git sends files without looking whether they are as long as they claim, and we would wait
        for the rest. So it is given a list that ends, and not a conversation.
        """
        if not oids:
            return
        self._end()
        left = limits.MAX_TOTAL_BYTES
        with self._home.file(_lines(oids)) as file:
            for number, oid in enumerate(oids):
                if left <= 0:
                    read = f"{limits.MAX_TOTAL_BYTES:,} bytes of other files were read before it"
                    yield NoBlob(Absence.TOO_LARGE, read)
                    continue
                if self._git is None:
                    # git has moved on in the file, which only the system knows; all IDs are
                    # of one length
                    os.lseek(file.fileno(), number * (len(oid) + 1), os.SEEK_SET)
                    self._git = self._start("--batch", file)
                content = self._answer("blob", oid, limit)
                left -= len(content) if isinstance(content, bytes) else 0
                yield content
            self._end()

    def entries(self, tree: bytes) -> Iterator[tuple[bytes, bytes, bytes]]:
        """Mode, name and object ID of each name in a tree object, as they stand there."""
        return map(re.Match.groups, self._hash.entry.finditer(tree))  # type: ignore[arg-type]

    def absent(self, oids: Iterable[str]) -> set[str]:
        """Those objects that are not here; nothing is read of the others."""
        self._end()
        absent = set(oids)
        with self._home.file(_lines(absent)) as file:
            self._git = self._start("--batch-check", file)
            while self._git and (answer := self._git.header()):
                if answer[1:] != ["missing"]:
                    absent.discard(answer[0])
            self._end()
        return absent

    def _converse(self, kind: str, oids: Sequence[str], limit: int) -> Iterator[bytes | NoBlob]:
        """Ask for objects while reading them; for those whose length git makes sure of."""
        asked = 0
        for number, oid in enumerate(oids):
            if self._git is None:
                self._git = self._start("--batch")
                asked = number
            window = limits.PIPE_BYTES // (len(oid) + 1)
            if self._git and asked <= number + window // 2 and asked < len(oids):
                self._git.ask(_lines(oids[asked : number + window]))
                asked = number + window
            yield self._answer(kind, oid, limit)

    def _answer(self, kind: str, oid: str, limit: int) -> bytes | NoBlob:
        if self._git is None:
            return NoBlob(Absence.LOST, f"git failed at {self._failures:,} objects before {oid}")
        header = self._git.header()
        if header == [oid, "missing"]:
            return NoBlob(Absence.LOST, f"object {oid} is absent or damaged")
        if len(header) != 3 or header[0] != oid:
            return self._lost(oid)
        if header[1] != kind:
            self._fail()
            return NoBlob(Absence.LOST, f"object {oid} is a {header[1]}, not a {kind}")
        size = int(header[2])
        if size > limit:
            self._fail()
            return NoBlob(Absence.TOO_LARGE, limits.too_large(size, limit))
        content = self._git.content(size)
        if content is None:
            return self._lost(oid)
        digest = self._hash.digest(b"%b %d\0" % (kind.encode("ascii"), size))
        digest.update(content)
        if digest.hexdigest() != oid:
            self._fail()  # the length may be wrong too
            return NoBlob(Absence.LOST, f"object {oid} is damaged: its content has another hash")
        if kind == "tree" and not self._hash.tree.fullmatch(content):
            return NoBlob(Absence.LOST, f"object {oid} is not a well-formed tree")
        return content

    def _lost(self, oid: str) -> NoBlob:
        said = self._fail()
        return NoBlob(Absence.LOST, f"object {oid} cannot be read" + (said and f" ({said})"))

    def _fail(self) -> str:
        """Give up a process whose next bytes are not the next answer."""
        self._failures += 1
        return self._end()

    def _start(self, mode: str, requests: BinaryIO | None = None) -> CatFile | None:
        """A new process; none when too many have failed."""
        if self._closed:
            raise ValueError("this source is closed")
        if self._failures >= limits.MAX_FAILURES:
            return None
        return CatFile(self._home, mode, requests)

    def _end(self) -> str:
        """End the process, if there is one; return the last line that it wrote to stderr."""
        git, self._git = self._git, None
        return git.end() if git else ""


def _lines(oids: Iterable[str]) -> bytes:
    return "".join(f"{oid}\n" for oid in oids).encode("ascii")
