"""The documents of reports, found and read without Sphinx."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sphinx_memreport.cli.exits import Failure
from sphinx_memreport.config import (
    MAX_DOCUMENT_BYTES,
    GitSource,
    Ownership,
    Report,
    SiteConfig,
    read_regular_file,
)
from sphinx_memreport.core.blocks import Syntax
from sphinx_memreport.core.blockscan import syntax_of


class Document(NamedTuple):
    """A document of a report. ``text`` has its line ends and byte order mark as in ``data``."""

    path: Path
    report: Report
    syntax: Syntax
    data: bytes
    text: str


def documents(
    config: SiteConfig, paths: Iterable[Path] = (), slug: str | None = None
) -> Iterator[Document]:
    """The documents of a site, sorted; all of them, or those named and below the folders named.

    Hidden folders, output folders, virtual environments, checkouts and other repositories are
    not looked into.

    :param slug: only those of one report.
    :raises Failure: for a named path that is no document of a report, and for a document that
        cannot be read, is no regular file, too large, or not UTF-8.
    """
    owner = Ownership(config, config.root)
    root = config.root.resolve()
    named = tuple(paths)
    seen: set[str] = set()
    for start in named or (config.root,):
        if not start.exists():
            raise Failure(f"{start} does not exist")
        for path in sorted(_below(config, start)) if start.is_dir() else [start]:
            place = _inside(root, path)
            syntax = syntax_of(path)
            report = owner.report_of(place.with_suffix("").as_posix()) if place else None
            if syntax is None or report is None:
                if path == start:
                    raise Failure(f"{path} is not a document of a report in {config.path}")
                continue
            real = os.path.realpath(path)
            if slug in (None, report.slug) and real not in seen:
                seen.add(real)
                data = _read(path)
                yield Document(path, report, syntax, data, _decode(path, data))


def _below(config: SiteConfig, start: Path) -> Iterator[Path]:
    checkouts = {
        config.checkout_path(source).resolve()
        for report in config.reports.values()
        for source in report.sources.values()
        if isinstance(source, GitSource)
    }
    for folder, folders, files in os.walk(start):
        here = Path(folder)
        folders[:] = sorted(
            name
            for name in folders
            if not name.startswith((".", "_build", "node_modules"))
            and not _is_foreign(here / name)
            and (here / name).resolve() not in checkouts
        )
        yield from (here / name for name in files if syntax_of(Path(name)))


def _is_foreign(folder: Path) -> bool:
    marks = (".git", "pyvenv.cfg", "objects", ".doctrees", "objects.inv")
    return any((folder / mark).exists() for mark in marks)


def _inside(root: Path, path: Path) -> Path | None:
    """The path relative to the folder of the configuration, or None outside of it."""
    # the first keeps links, and neither minds those that lead in a circle
    for candidate in map(Path, (os.path.abspath(path), os.path.realpath(path))):  # noqa: PTH100
        if candidate.is_relative_to(root):
            return candidate.relative_to(root)
    return None


def _read(path: Path) -> bytes:
    def wrong(_line: int | None, message: str, fix: str) -> None:
        raise Failure(f"{path}: {message}\n    fix: {fix}")

    data = read_regular_file(path, wrong, MAX_DOCUMENT_BYTES, "move it out of the report")
    assert data is not None
    return data


def _decode(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Failure(f"{path}:{line}: not UTF-8\n    fix: save the file as UTF-8") from None
