"""What a build found out, as a lock, and how that differs from the lock that is there."""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TypeVar

from sphinx_memreport.core.export import AnnotationEntry, Export, RecordEntry, SearchEntry
from sphinx_memreport.core.lock import (
    Entry,
    Lock,
    LockedPath,
    LockedQuote,
    LockedSearch,
    LockedSource,
    SourceKey,
    quote_hash,
)
from sphinx_memreport.core.models import ReportRules, Status
from sphinx_memreport.core.problem_files import ProblemEntry
from sphinx_memreport.core.problems import Code, Severity

_Entry = TypeVar("_Entry", bound=Entry)

# Those about sources, quotes, paths and searches: with one of them, not all is verified.
_IN_THE_WAY = frozenset(
    {
        Code.INVALID_CONFIG,
        Code.UNKNOWN_SOURCE,
        Code.CHECKOUT_MISSING,
        Code.COMMIT_MISSING,
        Code.PATH_MISSING,
        Code.BLOB_MISSING,
        Code.RANGE_OUTSIDE_FILE,
        Code.NOT_TEXT,
        Code.CAPTURE_MISMATCH,
        Code.STALE_QUOTE,
        Code.AMBIGUOUS_QUOTE,
        Code.EMPTY_QUOTE,
        Code.UNVERIFIED_QUOTE,
        Code.REFUTED_ABSENCE,
        Code.EMPTY_SEARCH,
    }
)


def in_the_way(problems: Iterable[ProblemEntry]) -> list[ProblemEntry]:
    """The errors for which no lock is written."""
    return [
        problem
        for problem in problems
        if problem.code in _IN_THE_WAY and problem.severity is Severity.ERROR
    ]


def record(
    export: Export,
    reports: Mapping[str, ReportRules],
    date: datetime.date,
    without: Collection[SourceKey] = (),
) -> Lock:
    """Everything that was verified in a source itself, as a lock of that date.

    :param without: sources to leave out.
    """
    sources = _sorted(
        LockedSource(report=slug, source=each.id, pin=each.pin, fingerprint=each.fingerprint)
        for slug, rules in reports.items()
        for each in rules.sources
        if (slug, each.id) not in without
    )
    known = {_source(each) for each in sources}
    return Lock(
        date=date,
        sources=sources,
        quotes=_sorted(each for each in _quotes(export) if _source(each) in known),
        paths=_sorted(each for each in _paths(export) if _source(each) in known),
        searches=_sorted(each for each in _searches(export) if _source(each) in known),
    )


def differences(old: Lock | None, new: Lock, without: Collection[SourceKey] = ()) -> list[Entry]:
    """The entries that only one of two locks has, those of the new one last.

    :param without: sources that do not matter.
    """
    before, after = set(old.entries) if old else set(), set(new.entries)
    changed = [*_sorted(before - after), *_sorted(after - before)]
    return [entry for entry in changed if _source(entry) not in without]


def _quotes(export: Export) -> Iterator[LockedQuote]:
    for entry in export.evidence:
        verified = entry.status is Status.VERIFIED and entry.locked is None
        if verified and entry.blob and entry.lines:
            yield LockedQuote(
                report=entry.report,
                source=entry.source,
                path=entry.path or "",
                within=entry.within,
                quote=quote_hash(entry.quote),
                blob=entry.blob,
                lines=entry.lines,
            )


def _paths(export: Export) -> Iterator[LockedPath]:
    for entry in export.paths:
        if entry.exists and entry.locked is None:
            yield LockedPath(
                report=entry.report,
                source=entry.source,
                path=entry.path,
                lines=entry.lines,
                directory=bool(entry.directory),
            )


def _searches(export: Export) -> Iterator[LockedSearch]:
    stated: list[RecordEntry | AnnotationEntry] = [*export.records, *export.annotations]
    for report, entry in ((each.report, search) for each in stated for search in each.searches):
        result = entry.result
        if result is not None and result.locked is None and _held(entry):
            yield LockedSearch(
                report=report,
                source=entry.source,
                globs=entry.globs,
                pattern=entry.pattern,
                regex=entry.regex,
                files=result.files,
                binary=result.binary,
                skipped=result.skipped,
            )


def _held(entry: SearchEntry) -> bool:
    result = entry.result
    return (
        result is not None
        and result.files > 0
        and not (result.hit_count or result.stopped or result.empty_globs or result.lost.count)
    )


def _source(entry: Entry) -> SourceKey:
    return entry.report, entry.source


def _sorted(entries: Iterable[_Entry]) -> tuple[_Entry, ...]:
    return tuple(sorted(set(entries), key=lambda each: (type(each).__name__, each.key)))
