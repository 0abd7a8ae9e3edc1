"""Repositories as an attacker would make them: object files written by hand, traps, a check.

git refuses to write most of this. Objects go into the object directory of a repository that
``pinned_repo.py`` has made.
"""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from cli_project import run
from pinned_repo import PinnedRepo
from sitebuilder import TinySite

MIB = 1024 * 1024

Problem = tuple[str, str, int | None]


# --- what the author sees ---------------------------------------------------------------------


def quoting(*passages: tuple[str, str], more: str = "") -> dict[str, str]:
    """A page with one piece of evidence for each path and passage, at lines 3, 7, 11, …"""
    evidence = [f"```{{evidence}} SRC-1 {path}\n{passage}\n```\n" for path, passage in passages]
    return {"memory.md": "\n".join(["# Memory\n", *evidence, more])}


class Verdict(NamedTuple):
    """What ``memreport check`` says: its exit status, the problems and what they say."""

    status: int
    problems: list[Problem]
    text: str


def check(root: Path, repo: PinnedRepo, pages: Mapping[str, str]) -> Verdict:
    """Check a site about a repository, in this process."""
    site = TinySite(root, repo)
    site.write(pages)
    result = run("check", "--format", "json", "--site", site.source)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return _verdict(result.exit_code, result.stdout)


def check_measured(root: Path, repo: PinnedRepo, pages: Mapping[str, str]) -> tuple[Verdict, int]:
    """Check in a process of its own; also the MiB of the largest process that took part."""
    site = TinySite(root, repo)
    site.write(pages)
    command = [sys.executable, "-m", "sphinx_memreport.cli", "check", "--format", "json"]
    measuring = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], capture_output=True, text=True)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n"
        "print(done.returncode)\nprint(done.stdout)\nprint(done.stderr, file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", measuring, *command, "--site", site.source],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Traceback" not in done.stderr
    peak, status, said = done.stdout.split("\n", 2)
    return _verdict(int(status), said), int(peak)


def _verdict(status: int, said: str) -> Verdict:
    problems = [(each["code"], each["file"], each["line"]) for each in json.loads(said)]
    return Verdict(status, problems, said)


# --- objects ----------------------------------------------------------------------------------


def objects_of(repo: PinnedRepo) -> Path:
    """The object directory of a repository."""
    return Path(repo.git("rev-parse", "--absolute-git-dir")) / "objects"


def loose_file(objects: Path, oid: str) -> Path:
    """Where an object is that no pack holds."""
    return objects / oid[:2] / oid[2:]


def object_id(kind: str, content: bytes) -> str:
    """The hash of an object."""
    return hashlib.sha1(f"{kind} {len(content)}\0".encode() + content).hexdigest()


def write_object(objects: Path, kind: str, content: bytes) -> str:
    """Write a loose object as it is, well-formed or not."""
    oid = object_id(kind, content)
    file = loose_file(objects, oid)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(zlib.compress(f"{kind} {len(content)}\0".encode() + content, 1))
    return oid


def tree(entries: Iterable[tuple[str, str, str]]) -> bytes:
    """The content of a tree object from modes, names and object IDs, in the order given."""
    return b"".join(f"{mode} {name}\0".encode() + bytes.fromhex(oid) for mode, name, oid in entries)


def commit(repo: PinnedRepo, root: str, message: bytes = b"x\n") -> PinnedRepo:
    """The repository, pinned at a new commit of a tree."""
    person = b"A <a@b> 1700000000 +0000"
    content = b"tree %b\nauthor %b\ncommitter %b\n\n%b" % (root.encode(), person, person, message)
    oid = write_object(objects_of(repo), "commit", content)
    return PinnedRepo(repo.path, (*repo.commits, oid))


def pin(repo: PinnedRepo, files: Mapping[str, str], *extra: tuple[str, str, str]) -> PinnedRepo:
    """The repository, pinned at a tree of some blobs by name, and other entries."""
    entries = sorted([*(("100644", name, oid) for name, oid in files.items()), *extra])
    return commit(repo, write_object(objects_of(repo), "tree", tree(sorted(entries, key=_name))))


def _name(entry: tuple[str, str, str]) -> str:
    return entry[1]


def write_zeros(objects: Path, size: int) -> str:
    """A loose blob of nothing but NUL, written in no time: its file is a thousandth of it."""
    header = f"blob {size}\0".encode()
    digest = hashlib.sha1(header)
    for piece in _zeros(size):
        digest.update(piece)
    oid = digest.hexdigest()
    file = loose_file(objects, oid)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(deflated_zeros(size, header))
    return oid


def deflated_zeros(size: int, header: bytes = b"") -> bytes:
    """A header and many NUL, compressed: the same block again and again."""
    deflate = zlib.compressobj(1, wbits=-15)
    start = deflate.compress(header) + deflate.flush(zlib.Z_FULL_FLUSH)
    block = deflate.compress(bytes(MIB)) + deflate.flush(zlib.Z_FULL_FLUSH)
    assert size % MIB == 0
    check = zlib.adler32(header)
    for piece in _zeros(size):
        check = zlib.adler32(piece, check)
    return b"\x78\x01" + start + block * (size // MIB) + deflate.flush() + struct.pack(">I", check)


def _zeros(size: int) -> Iterator[bytes]:
    piece = bytes(MIB)
    return (piece for _ in range(size // MIB))


# --- packs ------------------------------------------------------------------------------------


class Packed(NamedTuple):
    """One entry of a pack: what the index calls it, and its bytes."""

    oid: str
    data: bytes


KINDS = {"commit": 1, "tree": 2, "blob": 3}


def whole(oid: str, kind: str, size: int, deflated: bytes) -> Packed:
    """An object that stands for itself, or says so."""
    return Packed(oid, _pack_header(KINDS[kind], size) + deflated)


def delta(oid: str, base: str, delta: bytes) -> Packed:
    """An object that is made from another one, which may be of this pack."""
    return Packed(oid, _pack_header(7, len(delta)) + bytes.fromhex(base) + zlib.compress(delta))


def copying(base_size: int, size: int) -> bytes:
    """A delta: the first bytes of the base, fewer than 65,536."""
    return _number(base_size) + _number(size) + b"\xb0" + struct.pack("<H", size)


def write_pack(objects: Path, entries: Iterable[Packed]) -> Path:
    """Write a pack and an index that says what the entries say; git checks neither on reading."""
    entries = list(entries)
    pack = b"PACK" + struct.pack(">II", 2, len(entries))
    places: dict[str, tuple[int, int]] = {}
    for entry in entries:
        places[entry.oid] = (len(pack), zlib.crc32(entry.data))
        pack += entry.data
    trailer = hashlib.sha1(pack).digest()
    oids = sorted(places)
    fanout = [sum(int(oid[:2], 16) <= first for oid in oids) for first in range(256)]
    index = b"\xfftOc" + struct.pack(">I", 2) + struct.pack(">256I", *fanout)
    index += b"".join(bytes.fromhex(oid) for oid in oids)
    index += b"".join(struct.pack(">I", places[oid][1]) for oid in oids)
    index += b"".join(struct.pack(">I", places[oid][0]) for oid in oids) + trailer
    file = objects / "pack" / f"pack-{trailer.hex()}.pack"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(pack + trailer)
    file.with_suffix(".idx").write_bytes(index + hashlib.sha1(index).digest())
    return file


def _pack_header(kind: int, size: int) -> bytes:
    first, size = (kind << 4) | (size & 15), size >> 4
    return bytes([first | (128 if size else 0)]) + (_number(size) if size else b"")


def _number(value: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    out = bytearray()
    while True:
        out.append((value & 127) | (128 if value > 127 else 0))
        value >>= 7
        if not value:
            return bytes(out)


# --- traps ------------------------------------------------------------------------------------


class Canary:
    """A command that leaves a mark when something runs it."""

    def __init__(self, folder: Path) -> None:
        self._mark = folder / "it-ran"
        self.command = folder / "canary"
        self.command.write_text(f"#!/bin/sh\ntouch '{self._mark}'\nexit 1\n")
        self.command.chmod(0o755)

    @property
    def ran(self) -> bool:
        """Whether anything has run it."""
        return self._mark.exists()
