"""What views show, as plain values: pages are made from them, and a page is out of date exactly
when they change (contract, section 3.10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from sphinx_memreport.core.ids import Kind, MemberName
from sphinx_memreport.core.models import Evidence, Profile, Record, Status, View
from sphinx_memreport.core.profiles import AXES
from sphinx_memreport.core.quotes import normalise
from sphinx_memreport.core.site import Key, Site
from sphinx_memreport.core.vocabulary import STATUS_OPTIONS


class RecordRow(NamedTuple):
    """A record in a list. ``quotes`` back it, of which ``verified`` were."""

    report: str
    id: str
    label: str
    kind: Kind
    member: MemberName | None
    statuses: tuple[tuple[str, str], ...]
    verified: int
    quotes: int
    docname: str
    page: str


def shown_reports(site: Site, view: View) -> list[str]:
    """The reports of a view, all of them when it names none; without those that do not exist."""
    return [slug for slug in view.reports or site.reports if slug in site.reports]


def chosen_records(site: Site, view: View) -> Iterator[Record]:
    """The records that a view asks for, by report, then in the order of documents and lines."""
    reports = shown_reports(site, view)
    chosen = [records[0] for records in site.declarations.values() if records[0].report in reports]
    chosen.sort(key=lambda record: reports.index(record.report))
    for record in chosen:
        statuses = {text for _, text in _statuses(record)}
        if (
            (not view.kinds or record.kind in view.kinds)
            and (not view.members or record.member in view.members)
            and (not view.statuses or not statuses.isdisjoint(view.statuses))
        ):
            yield record


def record_rows(site: Site, view: View) -> list[RecordRow]:
    """The rows of ``memrecords``."""
    return [_record_row(site, record) for record in chosen_records(site, view)]


def _statuses(record: Record) -> tuple[tuple[str, str], ...]:
    """The statuses of a route; an option of that name is prose elsewhere."""
    if record.kind is not Kind.ROUTE:
        return ()
    return tuple((name, text) for name in STATUS_OPTIONS if (text := record.field(name)))


def _record_row(site: Site, record: Record) -> RecordRow:
    states = [site.resolution(each).status for each in site.evidence_of(record.report, record.id)]
    return RecordRow(
        record.report,
        record.id,
        record.label,
        record.kind,
        record.member,
        _statuses(record),
        states.count(Status.VERIFIED),
        len(states),
        record.docname,
        site.titles.get(record.docname, record.docname),
    )


# --- coverage of evidence -----------------------------------------------------------------


class Standing(StrEnum):
    """What stands behind a record, the least first: that is where work remains."""

    NOTHING = "nothing"
    PATH = "only a path"
    UNVERIFIED = "unverified quotes only"
    REFUTED = "a refuted search"
    SHARED = "one shared quote"
    SEARCH = "a search"
    VERIFIED = "verified quotes"


class StandingRow(NamedTuple):
    """A record and what stands behind it; ``shared_with`` are records with the same passage."""

    record: RecordRow
    standing: Standing
    shared_with: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()


def standing_rows(site: Site, view: View) -> list[StandingRow]:
    """The rows of ``memevidence``, those with the least behind them first.

    A record that rests on one passage shares it when other records quote the same words at the
    same place. Two sentences on one line are two passages. An absence without a quote rests on
    the search that the build runs for it, unless that finds something. A path counts that the
    record's text names (``memsrc``) or that a coverage row with the record names as read or
    searched.
    """
    holders, paths = _holders(site), _paths(site)
    rows = (
        _standing(site, record, holders, paths.get((record.report, record.id), ()))
        for record in chosen_records(site, view)
    )
    order = list(Standing)
    return sorted(rows, key=lambda row: order.index(row.standing))


#: Report, source, path and lines of a verified passage, and its words as they are matched.
_Passage = tuple[str, str, str, str, str]


def _passage(site: Site, evidence: Evidence) -> _Passage | None:
    resolution = site.resolution(evidence)
    source = site.source_of(evidence)
    if resolution.status is not Status.VERIFIED or source is None:
        return None
    place = evidence.report, source.fingerprint, evidence.path or "", str(resolution.lines)
    return *place, normalise(evidence.quote)


def _holders(site: Site) -> dict[_Passage, list[str]]:
    """The records that rest on each passage."""
    found: dict[_Passage, list[str]] = defaultdict(list)
    for report, record_id in site.declarations:
        passages = {_passage(site, each) for each in site.evidence_of(report, record_id)}
        for passage in passages:
            if passage is not None:
                found[passage].append(record_id)
    return found


def _paths(site: Site) -> dict[Key, tuple[str, ...]]:
    found: dict[Key, dict[str, None]] = defaultdict(dict)
    for facts in site.registry:
        for path in facts.paths:
            if path.record:
                found[path.report, path.record][path.path] = None
        for row in facts.coverage:
            for record_id in row.records:
                found[row.report, record_id].update(dict.fromkeys((*row.direct, *row.search)))
    return {key: tuple(sorted(paths)) for key, paths in found.items()}


def _standing(
    site: Site, record: Record, holders: dict[_Passage, list[str]], paths: Sequence[str]
) -> StandingRow:
    backing = site.evidence_of(record.report, record.id)
    passages = {passage for each in backing if (passage := _passage(site, each))}
    row = partial(StandingRow, _record_row(site, record))
    searches = site.search_results(record) if not backing else []
    if searches:
        refuted = any(result is not None and result.hit_count for _, result in searches)
        return row(Standing.REFUTED if refuted else Standing.SEARCH)
    if not backing:
        return row(Standing.PATH, paths=tuple(paths)) if paths else row(Standing.NOTHING)
    if not passages:
        return row(Standing.UNVERIFIED)
    if len(passages) == 1:
        others = tuple(each for each in holders[passages.pop()] if each != record.id)
        if others:
            return row(Standing.SHARED, shared_with=others)
    return row(Standing.VERIFIED)


# --- comparison ---------------------------------------------------------------------------


class Compared(NamedTuple):
    """A value of an axis with its basis and the records behind it."""

    value: str
    basis: str
    records: tuple[str, ...]


class ComparedAxis(NamedTuple):
    """What a profile says on an axis; no assessment where it says nothing."""

    assessment: str
    findings: tuple[Compared, ...]


class ComparedReport(NamedTuple):
    """A row of a comparison; no document where the report has no profile."""

    report: str
    docname: str | None
    axes: tuple[ComparedAxis, ...]


def shown_axes(view: View) -> list[str]:
    """The axes of a comparison, all of them when it names none."""
    return [name for name in AXES if not view.axes or name in view.axes]


def compared_reports(site: Site, view: View) -> list[ComparedReport]:
    """The rows of ``memcomparison``."""
    rows = []
    for slug in shown_reports(site, view):
        profile = site.profiles[slug][0] if slug in site.profiles else None
        cells = tuple(_compared(profile, axis) for axis in shown_axes(view)) if profile else ()
        rows.append(ComparedReport(slug, profile.docname if profile else None, cells))
    return rows


def _compared(profile: Profile, name: str) -> ComparedAxis:
    axis = profile.axis(name)
    if axis is None:
        return ComparedAxis("", ())
    findings = (Compared(each.value, each.basis, each.records) for each in axis.findings)
    return ComparedAxis(axis.assessment, tuple(findings))


def compared_links(site: Site, view: View) -> object:
    """The rows of ``memcomparison`` and where the records in them lead."""
    rows = compared_reports(site, view)
    links = {
        (row.report, record_id): site.target(row.report, record_id)
        for row in rows
        for axis in row.axes
        for finding in axis.findings
        for record_id in finding.records
    }
    return rows, sorted(links.values())
