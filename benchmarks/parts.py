"""The parts alone, against the least that could do the same work."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.sites import FUNCTIONS, function, path_of
from sphinx_memreport.core.blobs import Blob
from sphinx_memreport.core.quotes import (
    NotText,
    SourceText,
    decode,
    is_lfs_pointer,
    normalise,
)
from sphinx_memreport.core.resolve import QuoteRequest, Requests, resolve
from sphinx_memreport.gitstore import open_git


class Part(NamedTuple):
    """One part: what it did, its time and that of the bare work in seconds (medians)."""

    name: str
    ours: float
    bare: float

    @property
    def ratio(self) -> float:
        """How many times the bare work."""
        return self.ours / self.bare


def synthetic_quotes(quotes: int, files: int) -> set[QuoteRequest]:
    """As many quotations of the synthetic repository, from as many files."""
    return {
        QuoteRequest(path_of(number % files), function(number % files, number // files), None)
        for number in range(min(quotes, files * FUNCTIONS))
    }


def real_quotes(repository: Path, commit: str, quotes: int, files: int) -> set[QuoteRequest]:
    """Quotations of three lines each from text files of a real repository, by a fixed seed."""
    chance = random.Random(1)
    with open_git(repository, commit) as source:
        paths = chance.sample(list(source.paths()), min(files, len(source.paths())))
        found: set[QuoteRequest] = set()
        for path, blob in source.blobs(sorted(paths)):
            data = getattr(blob, "data", b"")
            try:
                lines = decode(data, "utf-8").split("\n") if not is_lfs_pointer(data) else []
            except NotText:
                continue
            for _ in range(max(1, quotes // len(paths))):
                start = chance.randrange(len(lines)) if lines else 0
                quote = "\n".join(lines[start : start + 3])
                if quote.strip():
                    found.add(QuoteRequest(path, quote, None))
    return found


def compare_parts(
    repository: Path, commit: str, requests: set[QuoteRequest], repeats: int
) -> Iterator[Part]:
    """Blobs read, quotes located with the reading included, and all that a build asks for."""
    paths = sorted({request.path for request in requests})

    def read() -> None:
        with open_git(repository, commit) as source:
            for _path, _blob in source.blobs(paths):
                pass

    by_path: dict[str, list[str]] = {path: [] for path in paths}
    for request in requests:
        by_path[request.path].append(request.quote)

    def locate() -> None:
        with open_git(repository, commit) as source:
            for path, blob in source.blobs(paths):
                assert isinstance(blob, Blob)
                text = SourceText(decode(blob.data, "utf-8"))
                for quote in by_path[path]:
                    text.locate(quote)

    def answer() -> None:
        with open_git(repository, commit) as source:
            resolve(Requests(quotes=set(requests)), source, "utf-8")

    def bare_read() -> dict[str, bytes]:
        return _cat_file(repository, commit, paths)

    def bare_locate() -> None:
        texts = {
            path: normalise(data.decode("utf-8", "replace")) for path, data in bare_read().items()
        }
        for request in requests:
            texts[request.path].find(normalise(request.quote))

    yield _compared(f"{len(paths)} blobs read", read, bare_read, repeats)
    name = f"{len(requests)} quotes located in {len(paths)} blobs, reading included"
    yield _compared(name, locate, bare_locate, repeats)
    yield _compared("the same, with verdicts and excerpts for pages", answer, bare_locate, repeats)


def _compared(
    name: str, ours: Callable[[], object], bare: Callable[[], object], repeats: int
) -> Part:
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        for work, taken in zip((ours, bare), times, strict=True):
            start = time.perf_counter()
            work()
            taken.append(time.perf_counter() - start)
    return Part(name, median(times[0]), median(times[1]))


def _cat_file(repository: Path, commit: str, paths: list[str]) -> dict[str, bytes]:
    """One pipelined ``git cat-file --batch`` by object names, which git looks up before."""
    listing = subprocess.run(
        ["git", "-C", str(repository), "ls-tree", "-rz", commit, "--", *paths],
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    oids = {
        path.decode("utf-8", "surrogateescape"): head.split()[2]
        for head, path in (line.split(b"\t", 1) for line in listing.split(b"\0") if line)
    }
    with subprocess.Popen(
        ["git", "-C", str(repository), "cat-file", "--batch", "--buffer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as git:
        assert git.stdin is not None
        assert git.stdout is not None
        git.stdin.write(b"".join(oid + b"\n" for oid in oids.values()))
        git.stdin.close()
        contents = {}
        for path in oids:
            size = int(git.stdout.readline().split()[2])
            contents[path] = git.stdout.read(size + 1)[:-1]
    return contents
