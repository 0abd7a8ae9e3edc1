"""A report at a glance, as plain values: what it holds, what was verified, what is open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sphinx_memreport.core.ids import Kind, MemberName
from sphinx_memreport.core.models import Record, Status, View
from sphinx_memreport.core.problems import Problem, Severity
from sphinx_memreport.core.site import Site, Target
from sphinx_memreport.core.views import shown_reports
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND

#: Kinds that a coverage table should name (contract, section 3.9).
COVERED_KINDS = frozenset({Kind.COMPONENT, Kind.OBJECT, Kind.ROUTE})


class KindCount(NamedTuple):
    """How many records of a kind each member declares, in the order of the members."""

    kind: Kind
    numbers: tuple[int, ...]


class Overview(NamedTuple):
    """What one report comes to.

    ``members`` declare records (None: documents of no member). ``uncovered`` is None where the
    report has no coverage table. ``problems`` are counted by severity, errors first; ``pages``
    are the documents that they stand in.
    """

    report: str
    members: tuple[MemberName | None, ...]
    counts: tuple[KindCount, ...]
    verified: int
    quotes: int
    uncovered: tuple[Target, ...] | None
    problems: tuple[tuple[Severity, int], ...]
    pages: tuple[tuple[str, str], ...]


def overviews(site: Site, view: View, problems: Sequence[Problem]) -> list[Overview]:
    """The reports of a ``memoverview``."""
    return [_overview(site, slug, problems) for slug in shown_reports(site, view)]


def uncovered(site: Site, records: Iterable[Record]) -> list[Record]:
    """Those of the records that a coverage table should name and none does."""
    covered = {
        (row.report, record_id)
        for facts in site.registry
        for row in facts.coverage
        for record_id in row.records
    }
    return [
        record
        for record in records
        if record.kind in COVERED_KINDS and (record.report, record.id) not in covered
    ]


def _overview(site: Site, slug: str, problems: Sequence[Problem]) -> Overview:
    records = [each[0] for (report, _), each in site.declarations.items() if report == slug]
    members = _members(records)
    numbers = Counter((record.kind, record.member) for record in records)
    states = [site.resolution(each).status for each in site.evidence() if each.report == slug]
    has_coverage = any(row.report == slug for facts in site.registry for row in facts.coverage)
    own = [problem for problem in problems if problem.report == slug]
    severities = Counter(problem.severity for problem in own)
    pages = dict.fromkeys(problem.docname for problem in own if problem.docname)
    return Overview(
        slug,
        members,
        tuple(
            KindCount(kind, tuple(numbers[kind, member] for member in members))
            for kind in TYPE_OF_KIND
            if any(record.kind is kind for record in records)
        ),
        states.count(Status.VERIFIED),
        len(states),
        tuple(site.target(slug, record.id) for record in uncovered(site, records))
        if has_coverage
        else None,
        tuple((each, severities[each]) for each in Severity if severities[each]),
        tuple((page, site.titles.get(page, page)) for page in pages),
    )


def _members(records: Iterable[Record]) -> tuple[MemberName | None, ...]:
    found = {record.member for record in records}
    named: list[MemberName | None] = [member for member in MemberName if member in found]
    return (*named, *([None] if None in found else []))
