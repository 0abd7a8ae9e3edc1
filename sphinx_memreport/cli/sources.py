"""The pinned sources of a site and whether they are here, for ``fetch`` and ``status``."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from sphinx_memreport.config import CaptureSource, GitSource, SiteConfig
from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitfetch import whole
from sphinx_memreport.gitstore import open_capture


class State(StrEnum):
    """What is on this machine of a source."""

    PRESENT = "present"
    MISSING = "missing"
    NOT_A_REPOSITORY = "not a repository"
    COMMIT_MISSING = "commit missing"
    INCOMPLETE = "incomplete"
    MISMATCH = "mismatch"


class SourceState(NamedTuple):
    """A source, where it is on this machine, and what is there.

    ``message`` and ``fix`` are empty when it is present.
    """

    report: str
    id: str
    source: GitSource | CaptureSource
    place: Path
    state: State
    message: str = ""
    fix: str = ""

    @property
    def pin(self) -> str:
        """The commit, or the SHA-256 of a capture."""
        return self.source.commit if isinstance(self.source, GitSource) else self.source.sha256

    @property
    def can_be_fetched(self) -> bool:
        """Whether ``memreport fetch`` can mend it."""
        return isinstance(self.source, GitSource) and self.state in (
            State.MISSING,
            State.COMMIT_MISSING,
            State.INCOMPLETE,
        )


def states(config: SiteConfig, slug: str | None = None) -> Iterator[SourceState]:
    """Every source, in the order of the file; each repository is looked at once for a commit.

    :param slug: only those of one report.
    """
    known: dict[tuple[Path, str], tuple[State, str, str]] = {}
    for report in config.reports.values():
        for source_id, source in report.sources.items() if slug in (None, report.slug) else ():
            place = (
                config.checkout_path(source)
                if isinstance(source, GitSource)
                else config.file_path(source)
            )
            pin = source.commit if isinstance(source, GitSource) else source.sha256
            if (place, pin) not in known:
                known[place, pin] = state_of(config, source)
            yield SourceState(report.slug, source_id, source, place, *known[place, pin])


def state_of(config: SiteConfig, source: GitSource | CaptureSource) -> tuple[State, str, str]:
    """What is here of one source, a message, and what mends it."""
    if isinstance(source, CaptureSource):
        try:
            open_capture(config.file_path(source), source.sha256)
        except SourceUnavailable as error:
            mismatch = error.code is Code.CAPTURE_MISMATCH
            return State.MISMATCH if mismatch else State.MISSING, error.message, error.fix
        return State.PRESENT, "", ""
    place = config.checkout_path(source)
    found = whole(place, source.commit, source.repository)
    if found is None:
        return State.PRESENT, "", ""
    match found.code:
        case Code.COMMIT_MISSING:
            state = State.COMMIT_MISSING
        case Code.BLOB_MISSING:
            state = State.INCOMPLETE
        case _:
            taken = place.is_file() or (place.is_dir() and any(place.iterdir()))
            state = State.NOT_A_REPOSITORY if taken else State.MISSING
    return state, found.message, found.fix
