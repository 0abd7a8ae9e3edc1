"""The whole site at once: the registry, indexed, with the verdicts of its sources.

Built anew in every build from values that the environment keeps; holds no state of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from sphinx_memreport.core.ids import Kind, anchor
from sphinx_memreport.core.lock import StandIn
from sphinx_memreport.core.models import (
    Amendment,
    Annotation,
    Evidence,
    Finding,
    Layer,
    LineRange,
    PathReference,
    PathVerdict,
    Profile,
    Record,
    Reference,
    ReportRules,
    Resolution,
    SearchResult,
    SourceRules,
    Status,
    Supplied,
)
from sphinx_memreport.core.registry import Condition, DocumentFacts, Registry
from sphinx_memreport.core.resolve import Answers, PathRequest, QuoteRequest, Requests
from sphinx_memreport.core.search import Plan, PlannedSearch, plan

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
    superseded_by: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The anchor on the page ``docname``."""
        return anchor(self.id)


class Citation(NamedTuple):
    """Who cites a record: another record, an annotation, or the text of a section.

    The label of an annotation is the ID of the record that it is about.
    """

    docname: str
    record: str | None
    anchor: str | None
    label: str
    annotation: bool = False


class QuotedPath(PathVerdict):
    """The verdict on a path, and which of its lines the site shows because evidence quotes them."""

    excerpts: tuple[LineRange, ...] = ()


class Verdicts:
    """What is known of the sources in this build.

    :param answers: by fingerprint of a source.
    :param unavailable: sources that could not be read, with the reason.
    :param layer_of: the layer that a report gives to a path of a source of its (None: the only
        file of a capture), by slug and source ID.
    :param locked: what stands in for sources that are not here; they are not among those
        unavailable, and no answer of an earlier build counts for them.
    """

    def __init__(
        self,
        answers: Mapping[str, Answers],
        unavailable: Mapping[Key, Finding],
        layer_of: Callable[[str, str, str | None], Layer | None] = lambda *_: None,
        locked: Mapping[Key, StandIn] | None = None,
    ) -> None:
        self.answers = answers
        self.unavailable = unavailable
        self.layer_of = layer_of
        self.locked = locked or {}

    def quote(self, report: str, source: SourceRules, request: QuoteRequest) -> Resolution:
        """The verdict on a quote; unverified when its source cannot be read."""
        if stand_in := self.locked.get((report, source.id)):
            return stand_in.quote(request)
        if (report, source.id) not in self.unavailable and source.fingerprint in self.answers:
            found = self.answers[source.fingerprint].quotes.get(request)
            if found is not None:
                return found
        return Resolution(status=Status.UNVERIFIED)

    def path(self, report: str, source: SourceRules, request: PathRequest) -> PathVerdict | None:
        """The verdict on a path, or None when its source cannot be read."""
        if stand_in := self.locked.get((report, source.id)):
            return stand_in.path(request)
        if (report, source.id) in self.unavailable or source.fingerprint not in self.answers:
            return None
        return self.answers[source.fingerprint].paths.get(request)

    def search(self, report: str, search: PlannedSearch) -> SearchResult | None:
        """What a search came to, or None when that cannot be known."""
        source = search.source
        if stand_in := self.locked.get((report, source.id)):
            found = stand_in.search(search.request)
            return None if isinstance(found, Finding) else found
        if (report, source.id) in self.unavailable or source.fingerprint not in self.answers:
            return None
        return self.answers[source.fingerprint].searches.get(search.request)

    def unrecorded_search(self, report: str, search: PlannedSearch) -> Finding | None:
        """What is wrong with a search of which nothing is recorded, where a lock stands in."""
        stand_in = self.locked.get((report, search.source.id))
        found = stand_in.search(search.request) if stand_in else None
        return found if isinstance(found, Finding) else None

    def text(self, source: SourceRules, path: str) -> str | None:
        """The whole text of a file, where it was asked for and can be shown."""
        answers = self.answers.get(source.fingerprint)
        return answers.texts.get(path) if answers else None


class Site:
    """Answers what pages and checks ask about all documents together.

    :param elsewhere: qualified IDs that other sites declare, by the name that this site knows
        each of them by.
    :param left_out: the parts of documents that this build does not show.
    """

    def __init__(
        self,
        registry: Registry,
        reports: Mapping[str, ReportRules],
        titles: Mapping[str, str],
        verdicts: Verdicts | None = None,
        elsewhere: Mapping[str, Collection[str]] | None = None,
        left_out: Sequence[Condition] = (),
    ) -> None:
        self.registry = registry
        self.reports = reports
        self.titles = titles
        self.verdicts = verdicts or Verdicts({}, {})
        self.elsewhere = elsewhere or {}
        self.left_out = left_out
        #: Records in short, as pages show them: put here by what shows them.
        self.in_short: dict[Key, object] = {}
        # asked for by each page that shows the record, and by the export
        self._targets: dict[Key, Target] = {}
        self._citations: dict[Key, list[Citation]] = {}
        self._resolutions: dict[tuple[str, int], Resolution] = {}
        self._sources: dict[Key, SourceRules | None] = {}

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

    @cached_property
    def profiles(self) -> dict[str, list[Profile]]:
        """The profiles of each report, by slug, in the order of documents and lines."""
        found: dict[str, list[Profile]] = defaultdict(list)
        for facts in self.registry:
            for profile in facts.profiles:
                found[profile.report].append(profile)
        return {slug: found[slug] for slug in sorted(found) if slug in self.reports}

    def record(self, report: str, record_id: str) -> Record | None:
        """The first declaration of a record."""
        found = self.declarations.get((report, record_id))
        return found[0] if found else None

    def target(self, report: str, target_id: str) -> Target:
        """What an ID of a report names, and where that stands."""
        key = report, target_id
        if key not in self._targets:
            self._targets[key] = self._target(*key)
        return self._targets[key]

    def _target(self, report: str, target_id: str) -> Target:
        if target_id.startswith("SRC-"):
            rules = self.reports.get(report)
            if rules is None or rules.source(target_id) is None:
                return Target(TargetKind.NOTHING, report, target_id)
            return Target(TargetKind.SOURCE, report, target_id, self.registers.get(report))
        record = self.record(report, target_id)
        successors = self.successors(report, target_id)
        if record:
            return Target(
                TargetKind.RECORD, report, target_id, record.docname, record.label, successors
            )
        entries = self.supplied.get((report, target_id))
        if entries:
            entry = entries[0]
            return Target(
                TargetKind.SUPPLIED, report, target_id, entry.docname, entry.label, successors
            )
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

    def cited_from(self, report: str, record_id: str, option: str | None = None) -> list[Key]:
        """The records that a record cites, each once, in the order of its text.

        :param option: only those that stand in this option.
        """
        return _distinct(
            reference
            for reference in self._references_in.get((report, record_id), [])
            if option in (None, reference.option)
        )

    def cited_in(self, annotation: Annotation) -> list[Key]:
        """The records that an annotation cites besides its own, in the order of its text."""
        return _distinct(
            reference
            for reference in self.registry.facts(annotation.docname).references
            if reference.annotation == annotation.anchor and _cites_another(reference)
        )

    @cached_property
    def _references_in(self) -> dict[Key, list[Reference]]:
        """References to other records by the record whose own text they stand in."""
        found: dict[Key, list[Reference]] = defaultdict(list)
        for facts in self.registry:
            for reference in facts.references:
                citing = (facts.report or "", reference.record or "")
                cited = (reference.report, reference.target)
                if reference.annotation or not reference.record:
                    continue
                if cited != citing and not reference.target.startswith("SRC-"):
                    found[citing].append(reference)
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
        key = report, target_id
        if key not in self._citations:
            self._citations[key] = self._cited_by(*key)
        return self._citations[key]

    def _cited_by(self, report: str, target_id: str) -> list[Citation]:
        citations: dict[Citation, None] = {}
        for reference in self.references.get((report, target_id), []):
            if reference.record == target_id and self.report_of(reference.docname) == report:
                continue
            citations[self._citation(reference)] = None
        return list(citations)

    def _citation(self, reference: Reference) -> Citation:
        if reference.annotation:
            about = reference.record or ""
            return Citation(reference.docname, None, reference.annotation, about, annotation=True)
        if reference.record:
            report = self.report_of(reference.docname) or reference.report
            record = self.record(report, reference.record)
            label = record.label if record else ""
            return Citation(reference.docname, reference.record, anchor(reference.record), label)
        title = self.titles.get(reference.docname, reference.docname)
        section = self.registry.documents[reference.docname].sections.get(reference.section or "")
        label = f"{title}: {section}" if section else title
        return Citation(reference.docname, None, reference.section, label)

    def report_of(self, docname: str) -> str | None:
        """The report that owns a document."""
        facts = self.registry.documents.get(docname)
        return facts.report if facts else None

    # --- annotations and amendments -------------------------------------------------------

    @cached_property
    def annotations(self) -> dict[Key, list[Annotation]]:
        """The annotations of each record, in the order of documents and lines."""
        found: dict[Key, list[Annotation]] = defaultdict(list)
        for facts in self.registry:
            for annotation in facts.annotations:
                found[annotation.report, annotation.target].append(annotation)
        return dict(found)

    @cached_property
    def amendments(self) -> dict[Key, list[Amendment]]:
        """The amendments of each record."""
        found: dict[Key, list[Amendment]] = defaultdict(list)
        for facts in self.registry:
            for amendment in facts.amendments:
                found[amendment.report, amendment.target].append(amendment)
        return dict(found)

    def successors(self, report: str, record_id: str) -> tuple[str, ...]:
        """The IDs that supersede a record."""
        if (report, record_id) not in self.amendments:
            return ()
        found = self.amendments.get((report, record_id), [])
        named = (each for amendment in found for each in amendment.superseded_by)
        return tuple(dict.fromkeys(each for each in named if each != record_id))

    @cached_property
    def predecessors(self) -> dict[Key, list[str]]:
        """The IDs that each record supersedes."""
        found: dict[Key, list[str]] = defaultdict(list)
        for report, record_id in self.amendments:
            for successor in self.successors(report, record_id):
                found[report, successor].append(record_id)
        return dict(found)

    # --- searches -------------------------------------------------------------------------

    def plan(self, statement: Record | Annotation) -> Plan:
        """The searches that a record, or what is added to it, rests on."""
        rules = self.reports.get(statement.report)
        searched, pattern = statement.field("searched") or "", statement.field("pattern") or ""
        if statement.kind is not Kind.ABSENCE or rules is None:
            return Plan([], [])
        if not searched.strip() or not pattern.strip():
            return Plan([], [])
        return plan(rules, searched, pattern, regex=statement.field("regex") is not None)

    def search_results(
        self, statement: Record | Annotation
    ) -> list[tuple[PlannedSearch, SearchResult | None]]:
        """The searches of a statement, with what each came to (None: not known)."""
        return [
            (search, self.verdicts.search(statement.report, search))
            for search in self.plan(statement).searches
        ]

    def searches_in(
        self, facts: DocumentFacts
    ) -> Iterator[tuple[str, PlannedSearch, SearchResult | None]]:
        """Report, search and result of all that a document rests on."""
        statements: list[Record | Annotation] = [*facts.records, *facts.annotations]
        for statement in statements:
            for search, result in self.search_results(statement):
                yield statement.report, search, result

    # --- evidence -------------------------------------------------------------------------

    def source_of(self, item: Evidence | PathReference) -> SourceRules | None:
        """The source that a piece of evidence or a path names, None when there is none."""
        if isinstance(item, PathReference) and not item.source:
            rules = self.reports.get(item.report)
            return rules.only_tree if rules else None
        return self._source(item.report, item.source)

    def _source(self, report: str, source_id: str) -> SourceRules | None:
        key = report, source_id
        if key not in self._sources:
            rules = self.reports.get(report)
            self._sources[key] = rules.source(source_id) if rules else None
        return self._sources[key]

    def layer(self, evidence: Evidence) -> Layer | None:
        """What a piece of evidence can establish: as its author says, else as configured.

        Contract, section 2: the layer of the capture, or the first layer of the git source with
        a glob that matches the path.
        """
        source = self.source_of(evidence)
        if evidence.layer or source is None:
            return evidence.layer
        return self.verdicts.layer_of(evidence.report, source.id, evidence.path)

    @cached_property
    def faulty_places(self) -> frozenset[tuple[str, int | None]]:
        """Document and line of every problem that was found while reading."""
        return frozenset(
            (facts.docname, problem.line) for facts in self.registry for problem in facts.problems
        )

    def is_unclear(self, stated: Record | Annotation | Evidence) -> bool:
        """Whether something has a problem of its own, which says all about what follows from it."""
        if isinstance(stated, Evidence) and self.resolution(stated).status is Status.MISSING:
            return True  # there is no such file, so nothing says of which layer it is
        return (stated.docname, stated.line) in self.faulty_places

    def resolution(self, evidence: Evidence) -> Resolution:
        """The verdict on a piece of evidence."""
        key = evidence.docname, evidence.number
        if key not in self._resolutions:
            self._resolutions[key] = self._resolution(evidence)
        return self._resolutions[key]

    def _resolution(self, evidence: Evidence) -> Resolution:
        source = self.source_of(evidence)
        request = quote_request(evidence, source) if source else None
        if source is None or request is None:
            return Resolution(status=Status.MISSING)
        return self.verdicts.quote(evidence.report, source, request)

    def path_verdict(self, reference: PathReference) -> QuotedPath | None:
        """The verdict on a path, None when it is unknown or nothing can be said."""
        source = self.source_of(reference)
        if source is None or source.kind == "capture":
            return None
        verdict = self.verdicts.path(reference.report, source, path_request(reference))
        if verdict is None:
            return None
        excerpts = self._excerpts.get((reference.report, source.id, reference.path), ())
        return QuotedPath.model_construct(**dict(verdict), excerpts=tuple(excerpts))

    @cached_property
    def _excerpts(self) -> dict[tuple[str, str, str], list[LineRange]]:
        """The lines around each passage that was found, by report, source and path."""
        found: dict[tuple[str, str, str], list[LineRange]] = defaultdict(list)
        for evidence in self.evidence():
            source, excerpt = self.source_of(evidence), self.resolution(evidence).excerpt
            if source and excerpt:
                end = excerpt.start + excerpt.text.count("\n")
                lines = LineRange(start=excerpt.start, end=end)
                found[evidence.report, source.id, evidence.path or ""].append(lines)
        return dict(found)

    def evidence(self) -> Iterator[Evidence]:
        """All evidence of the site, by document and line."""
        for facts in self.registry:
            yield from facts.evidence

    @cached_property
    def _evidence_of(self) -> dict[Key, list[Evidence]]:
        found: dict[Key, list[Evidence]] = defaultdict(list)
        for evidence in self.evidence():
            own = evidence.record if evidence.annotation is None else None
            backed = {*([own] if own else []), *evidence.supports}
            for record_id in backed:
                found[evidence.report, record_id].append(evidence)
        return dict(found)

    def evidence_of(self, report: str, record_id: str) -> list[Evidence]:
        """The evidence that stands in a record or says that it supports it.

        What stands in an annotation backs another analyst's words, not the record.
        """
        return self._evidence_of.get((report, record_id), [])

    def requests(self, *, whole_files: bool = False) -> dict[str, Requests]:
        """What must be found out, by fingerprint of the source.

        :param whole_files: whether the whole text of every quoted file is wanted as well.
        """
        found: dict[str, Requests] = defaultdict(Requests)
        for facts in self.registry:
            for evidence in facts.evidence:
                source = self.source_of(evidence)
                if source and (request := quote_request(evidence, source)):
                    found[source.fingerprint].quotes.add(request)
                    if whole_files:
                        found[source.fingerprint].texts.add(request.path)
            for _, planned, _ in self.searches_in(facts):
                found[planned.source.fingerprint].searches.add(planned.request)
            for path in facts.paths:
                source = self.source_of(path)
                if source and source.kind == "git":
                    found[source.fingerprint].paths.add(path_request(path))
        return dict(found)


def _distinct(references: Iterable[Reference]) -> list[Key]:
    return list(dict.fromkeys((each.report, each.target) for each in references))


def _cites_another(reference: Reference) -> bool:
    return reference.target != reference.record and not reference.target.startswith("SRC-")


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
