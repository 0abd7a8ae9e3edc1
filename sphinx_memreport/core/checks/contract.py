"""The contract levels (section 3.9): coverage at both, the further rules of level strict."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from sphinx_memreport.core.checks.place import at_record
from sphinx_memreport.core.ids import Kind
from sphinx_memreport.core.models import Annotation, CoverageRow, Evidence, Layer, Record
from sphinx_memreport.core.overview import uncovered
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.site import Site
from sphinx_memreport.core.vocabulary import STATUS_OPTIONS, TYPE_OF_KIND

_SOURCE = re.compile(r"SRC-\w+")

_STATED: dict[Kind, tuple[str, ...]] = {
    Kind.COMPONENT: ("identity", "form", "substrate"),
    Kind.OBJECT: ("identity", "form", "substrate"),
    Kind.CLAIM: ("source",),
}
_EVIDENCED = frozenset({Kind.COMPONENT, Kind.OBJECT, Kind.ROUTE})
#: What each status needs, the stronger layer standing in for the weaker one.
_LAYERS_FOR: dict[str, tuple[Layer, ...]] = {
    "observed": (Layer.OBSERVED, Layer.CAUSAL),
    "causally supported": (Layer.CAUSAL,),
}


def coverage_rows(site: Site) -> Iterator[Problem]:
    """Rows that say neither what was found nor what was not, and sources without a path."""
    for facts in site.registry:
        for row in facts.coverage:
            is_broken = row.line in facts.broken_rows
            if not row.records and not row.unresolved and not is_broken:
                yield _at_row(
                    row,
                    Code.COVERAGE_GAP,
                    f"memcoverage: {_name(row)} names neither records nor what stays unresolved",
                    "add 'records: [MEM-OBJ-…]' or 'unresolved: what is not known'",
                )
            for text in (*row.direct, *row.search, *row.supplied):
                if _SOURCE.fullmatch(text) and _is_tree(site, row.report, text):
                    yield _at_row(
                        row,
                        Code.PATH_MISSING,
                        f"memcoverage: {text} is a git source; {_name(row)} names no path in it",
                        f"write the path behind it: {text}:path/in/the/repository",
                    )


def _name(row: CoverageRow) -> str:
    return f"the row '{row.entry}'" if row.entry else "the row"


def _is_tree(site: Site, report: str, source_id: str) -> bool:
    rules = site.reports.get(report)
    source = rules.source(source_id) if rules else None
    return source is not None and source.kind == "git"


def _at_row(row: CoverageRow, code: Code, message: str, fix: str) -> Problem:
    return Problem(
        code=code,
        message=message,
        docname=row.docname,
        line=row.line,
        report=row.report,
        fix=fix,
    )


# --- level strict -------------------------------------------------------------------------


def _strict_records(site: Site) -> Iterator[Record]:
    """The records of reports at level strict; of duplicates the first declaration."""
    for records in site.declarations.values():
        rules = site.reports.get(records[0].report)
        if rules is not None and rules.strict:
            yield records[0]


def stated_fields(site: Site) -> Iterator[Problem]:
    """An object or component says what it is, a claim who claims it."""
    unread = _unread_options(site)
    for record in _strict_records(site):
        if (record.docname, record.line) in unread:
            continue  # the options were lost, which is said already
        for name in _STATED.get(record.kind, ()):
            if not record.field(name):
                directive = TYPE_OF_KIND[record.kind].directive
                yield at_record(
                    record,
                    Code.MISSING_FIELD,
                    f"{record.id}: {directive} needs the option '{name}' at level strict",
                    f"add a line ':{name}: …'",
                )


def _unread_options(site: Site) -> set[tuple[str, int]]:
    return {
        (facts.docname, problem.line or 0)
        for facts in site.registry
        for problem in facts.problems
        if problem.code is Code.SWALLOWED_TEXT
    }


def carried_evidence(site: Site) -> Iterator[Problem]:
    """An object, component or route carries evidence; what supports it from elsewhere counts."""
    for record in _strict_records(site):
        if record.kind in _EVIDENCED and not site.evidence_of(record.report, record.id):
            yield at_record(
                record,
                Code.NO_EVIDENCE,
                f"{record.id} carries no evidence",
                "quote what it rests on in an evidence block in its body, "
                f"or add ':supports: {record.id}' to evidence elsewhere",
            )


def overclaimed_statuses(site: Site) -> Iterator[Problem]:
    """``observed`` and ``causally supported`` rest on a run or an experiment.

    The statuses of an annotation may rest on evidence in it, too.
    """
    for record in _strict_records(site):
        if record.kind is Kind.ROUTE:
            own = site.evidence_of(record.report, record.id)
            if own:  # without any, that is the problem
                yield from _overclaimed(site, record, record.id, own)
    for (report, record_id), found in site.annotations.items():
        rules = site.reports.get(report)
        for each in found:
            if each.kind is Kind.ROUTE and rules is not None and rules.strict:
                backing = [*site.evidence_of(report, record_id), *_evidence_in(site, each)]
                yield from _overclaimed(site, each, f"annotation on {record_id}", backing)


def _evidence_in(site: Site, annotation: Annotation) -> Iterator[Evidence]:
    for evidence in site.registry.facts(annotation.docname).evidence:
        if evidence.annotation == annotation.anchor:
            yield evidence


def _overclaimed(
    site: Site, statement: Record | Annotation, name: str, backing: Iterable[Evidence]
) -> Iterator[Problem]:
    backing = list(backing)
    if any(map(site.is_unclear, backing)):
        return  # what is wrong with it is said already
    layers = {site.layer(each) for each in backing}
    for status, needed in _LAYERS_FOR.items():
        options = [option for option in STATUS_OPTIONS if statement.field(option) == status]
        if options and layers.isdisjoint(needed):
            yield Problem(
                code=Code.OVERCLAIMED_STATUS,
                message=f"{name}: option {_quoted(options)} says '{status}', but there is no "
                f"evidence of layer '{needed[0]}'",
                docname=statement.docname,
                line=statement.line,
                report=statement.report,
                subject=statement.target if isinstance(statement, Annotation) else statement.id,
                fix=f"quote a source of that layer, add ':layer: {needed[0]}' to evidence that "
                "is of it, or claim less",
            )


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f"'{name}'" for name in names)


def uncovered_records(site: Site) -> Iterator[Problem]:
    """Every component, object and route stands in a row of a coverage table.

    Where a table of the report could not be read whole, that may be why: it has been said.
    """
    unread = {facts.report for facts in site.registry if facts.broken_rows}
    records = (each for each in _strict_records(site) if each.report not in unread)
    for record in uncovered(site, records):
        yield at_record(
            record,
            Code.UNCOVERED_RECORD,
            f"no row of a coverage table names {record.id}",
            "add it to the 'records' of the row in memcoverage that it was found by",
        )
