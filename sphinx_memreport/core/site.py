"""The whole site at once: the registry, indexed, with the verdicts of its sources.

Built anew in every build from values that the environment keeps; holds no state of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from sphinx_memreport.core.ids import anchor
from sphinx_memreport.core.models import (
    Evidence,
    Finding,
    PathReference,
    PathVerdict,
    Record,
    Reference,
    ReportRules,
    Resolution,
    SourceRules,
    Status,
    Supplied,
)
from sphinx_memreport.core.registry import Registry
from sphinx_memreport.core.resolve import Answers, PathRequest, QuoteRequest, Requests

#: A record or source ID in its report.
Key = tuple[str, str]


class TargetKind(StrEnum):
    """What an ID turned out to name."""

    RECORD = "record"
    SUPPLIED = "supplied"
    SOURCE = "source"
    NOTHING = "nothing"


class Target(NamedTuple):
    """Where a reference leads, and what is shown of that."""

    kind: TargetKind
    report: str
    id: str
    docname: str | None = None
    label: str = ""

    @property
    def anchor(self) -> str:
        """The anchor on the page ``docname``."""
        return anchor(self.id)


class Citation(NamedTuple):
    """Who cites a record: another record, or the text of a section."""

    docname: str
    record: str | None
    anchor: str | None
    label: str


class Verdicts:
    """What is known of the sources in this build.

    :param answers: by fingerprint of a source.
    :param unavailable: sources that could not be read, with the reason.
    """

    def __init__(self, answers: Mapping[str, Answers], unavailable: Mapping[Key, Finding]) -> None:
        self.answers = answers
        self.unavailable = unavailable

    def quote(self, report: str, source: SourceRules, request: QuoteRequest) -> Resolution:
        """The verdict on a quote; unverified when its source cannot be read."""
        if (report, source.id) not in self.unavailable and source.fingerprint in self.answers:
            found = self.answers[source.fingerprint].quotes.get(request)
            if found is not None:
                return found
        return Resolution(status=Status.UNVERIFIED)

    def path(self, report: str, source: SourceRules, request: PathRequest) -> PathVerdict | None:
        """The verdict on a path, or None when its source cannot be read."""
        if (report, source.id) in self.unavailable or source.fingerprint not in self.answers:
            return None
        return self.answers[source.fingerprint].paths.get(request)


class Site:
    """Answers what pages and checks ask about all documents together."""

    def __init__(
        self,
        registry: Registry,
        reports: Mapping[str, ReportRules],
        titles: Mapping[str, str],
        verdicts: Verdicts | None = None,
    ) -> None:
        self.registry = registry
        self.reports = reports
        self.titles = titles
        self.verdicts = verdicts or Verdicts({}, {})

    # --- declarations ---------------------------------------------------------------------

    @cached_property
    def declarations(self) -> dict[Key, list[Record]]:
        """All declarations of each record ID, in the order of documents and lines."""
        found: dict[Key, list[Record]] = defaultdict(list)
        for facts in self.registry:
            for record in facts.records:
                found[record.report, record.id].append(record)
        return dict(found)

    @cached_property
    def supplied(self) -> dict[Key, list[Supplied]]:
        """All entries of ``memsupplied`` for each ID."""
        found: dict[Key, list[Supplied]] = defaultdict(list)
        for facts in self.registry:
            for entry in facts.supplied:
                found[entry.report, entry.id].append(entry)
        return dict(found)

    @cached_property
    def registers(self) -> dict[str, str]:
        """The document that describes the sources of each report, by slug.

        The one with ``memsources``, else the first with ``memmember``.
        """
        found: dict[str, str] = {}
        for facts in self.registry:
            if facts.report and facts.member and facts.report not in found:
                found[facts.report] = facts.docname
        for facts in reversed(list(self.registry)):
            for slug in facts.source_registers:
                found[slug] = facts.docname
        return found

    def record(self, report: str, record_id: str) -> Record | None:
        """The first declaration of a record."""
        found = self.declarations.get((report, record_id))
        return found[0] if found else None

    def target(self, report: str, target_id: str) -> Target:
        """What an ID of a report names, and where that stands."""
        if target_id.startswith("SRC-"):
            rules = self.reports.get(report)
            if rules is None or rules.source(target_id) is None:
                return Target(TargetKind.NOTHING, report, target_id)
            return Target(TargetKind.SOURCE, report, target_id, self.registers.get(report))
        record = self.record(report, target_id)
        if record:
            return Target(TargetKind.RECORD, report, target_id, record.docname, record.label)
        entries = self.supplied.get((report, target_id))
        if entries:
            entry = entries[0]
            return Target(TargetKind.SUPPLIED, report, target_id, entry.docname, entry.label)
        return Target(TargetKind.NOTHING, report, target_id)

    def ids(self, report: str) -> list[str]:
        """Every record ID that can be cited in a report, sorted."""
        known = {*self.declarations, *self.supplied}
        return sorted(record_id for slug, record_id in known if slug == report)

    # --- citations ------------------------------------------------------------------------

    @cached_property
    def references(self) -> dict[Key, list[Reference]]:
        """All references to each ID, in the order of documents and lines."""
        found: dict[Key, list[Reference]] = defaultdict(list)
        for facts in self.registry:
            for reference in facts.references:
                found[reference.report, reference.target].append(reference)
        return dict(found)

    def cited_from(self, report: str, record_id: str) -> list[Key]:
        """The records that a record cites, each once, in the order of its text."""
        return list(self._cited_from.get((report, record_id), {}))

    @cached_property
    def _cited_from(self) -> dict[Key, dict[Key, None]]:
        found: dict[Key, dict[Key, None]] = defaultdict(dict)
        for facts in self.registry:
            for reference in facts.references:
                citing = (facts.report or "", reference.record or "")
                cited = (reference.report, reference.target)
                if reference.record and cited != citing and not cited[1].startswith("SRC-"):
                    found[citing][cited] = None
        return dict(found)

    @cached_property
    def parts(self) -> dict[Key, list[Record]]:
        """The records that are part of each record."""
        found: dict[Key, list[Record]] = defaultdict(list)
        for (report, _), records in self.declarations.items():
            if records[0].part_of:
                found[report, records[0].part_of].append(records[0])
        return dict(found)

    def cited_by(self, report: str, target_id: str) -> list[Citation]:
        """Who cites an ID, each once; a record's mentions of itself do not count."""
        citations: dict[Citation, None] = {}
        for reference in self.references.get((report, target_id), []):
            if reference.record == target_id and self.report_of(reference.docname) == report:
                continue
            citations[self._citation(reference)] = None
        return list(citations)

    def _citation(self, reference: Reference) -> Citation:
        if reference.record:
            report = self.report_of(reference.docname) or reference.report
            record = self.record(report, reference.record)
            label = record.label if record else ""
            return Citation(reference.docname, reference.record, anchor(reference.record), label)
        title = self.titles.get(reference.docname, reference.docname)
        return Citation(reference.docname, None, reference.section, title)

    def report_of(self, docname: str) -> str | None:
        """The report that owns a document."""
        facts = self.registry.documents.get(docname)
        return facts.report if facts else None

    # --- evidence -------------------------------------------------------------------------

    def source_of(self, item: Evidence | PathReference) -> SourceRules | None:
        """The source that a piece of evidence or a path names, None when there is none."""
        rules = self.reports.get(item.report)
        return rules.source(item.source) if rules else None

    def resolution(self, evidence: Evidence) -> Resolution:
        """The verdict on a piece of evidence."""
        source = self.source_of(evidence)
        request = quote_request(evidence, source) if source else None
        if source is None or request is None:
            return Resolution(status=Status.MISSING)
        return self.verdicts.quote(evidence.report, source, request)

    def path_verdict(self, reference: PathReference) -> PathVerdict | None:
        """The verdict on a path, None when it is unknown or nothing can be said."""
        source = self.source_of(reference)
        if source is None or source.kind == "capture":
            return None
        return self.verdicts.path(reference.report, source, path_request(reference))

    def evidence(self) -> Iterator[Evidence]:
        """All evidence of the site, by document and line."""
        for facts in self.registry:
            yield from facts.evidence

    @cached_property
    def _evidence_of(self) -> dict[Key, list[Evidence]]:
        found: dict[Key, list[Evidence]] = defaultdict(list)
        for evidence in self.evidence():
            backed = {*([evidence.record] if evidence.record else []), *evidence.supports}
            for record_id in backed:
                found[evidence.report, record_id].append(evidence)
        return dict(found)

    def evidence_of(self, report: str, record_id: str) -> list[Evidence]:
        """The evidence that stands in a record or says that it supports it."""
        return self._evidence_of.get((report, record_id), [])

    def requests(self) -> dict[str, Requests]:
        """What must be found out, by fingerprint of the source."""
        found: dict[str, Requests] = defaultdict(Requests)
        for facts in self.registry:
            for evidence in facts.evidence:
                source = self.source_of(evidence)
                if source and (request := quote_request(evidence, source)):
                    found[source.fingerprint].quotes.add(request)
            for path in facts.paths:
                source = self.source_of(path)
                if source and source.kind == "git":
                    found[source.fingerprint].paths.add(path_request(path))
        return dict(found)


def quote_request(evidence: Evidence, source: SourceRules) -> QuoteRequest | None:
    """What must be looked up for a piece of evidence; None when it cannot be looked up."""
    if not evidence.quote.strip() or (source.kind == "git" and not evidence.path):
        return None
    if source.kind == "capture" and evidence.path:
        return None
    return QuoteRequest(evidence.path or "", evidence.quote, evidence.lines)


def path_request(reference: PathReference) -> PathRequest:
    """What must be looked up for a path."""
    return PathRequest(reference.path, reference.lines)


def sources_in_use(reports: Sequence[ReportRules]) -> Iterator[tuple[ReportRules, SourceRules]]:
    """Every source of every report."""
    for report in reports:
        for source in report.sources:
            yield report, source
