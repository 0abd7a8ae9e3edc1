"""IDs: well formed, unique, told apart, declared where they may be, and not dangling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sphinx_memreport.core.checks.place import at_record, at_reference
from sphinx_memreport.core.ids import IdStyle, check_id, need_id
from sphinx_memreport.core.models import Record, Reference, ReferenceOrigin
from sphinx_memreport.core.nearest import nearest_names
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.site import Site, TargetKind
from sphinx_memreport.core.vocabulary import PREFIX_OF_MEMBER


def declared_ids(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for record in facts.records:
            style = (
                site.reports[record.report].ids if record.report in site.reports else IdStyle.ANY
            )
            if fault := check_id(record.id, style):
                yield at_record(record, Code.MALFORMED_ID, f"{record.id}: {fault}")
            else:
                yield from _foreign_prefix(facts, record)
        for entry in facts.supplied:
            fault = check_id(entry.id, IdStyle.ANY)
            if entry.id.startswith("SRC-"):
                fault = "a source cannot be supplied, only records"
            if fault:
                yield Problem(
                    code=Code.MALFORMED_ID,
                    message=f"{entry.id}: {fault}",
                    docname=entry.docname,
                    line=entry.line,
                    report=entry.report,
                    subject=entry.id,
                )


def _foreign_prefix(facts: DocumentFacts, record: Record) -> Iterator[Problem]:
    expected = PREFIX_OF_MEMBER.get(facts.member) if facts.member else None
    prefix, _, rest = record.id.partition("-")
    if expected and prefix != expected:
        yield at_record(
            record,
            Code.FOREIGN_PREFIX,
            f"{record.id}: the {facts.member} member declares only {expected}- records",
            f"declare {expected}-{rest}, or annotate the record with memannotation",
        )


def duplicate_ids(site: Site) -> Iterator[Problem]:
    for records in site.declarations.values():
        first, *later = records
        for record in later:
            yield at_record(
                record,
                Code.DUPLICATE_ID,
                f"{record.id} is already declared at {first.docname}:{first.line}",
                "give this record another name, or annotate the first one",
            )
    for (report, record_id), entries in site.supplied.items():
        declared = site.record(report, record_id)
        first_place = declared or entries[0]
        for entry in entries if declared else entries[1:]:
            yield Problem(
                code=Code.DUPLICATE_ID,
                message=f"{record_id} is already "
                f"{'declared' if declared else 'supplied'} at "
                f"{first_place.docname}:{first_place.line}",
                docname=entry.docname,
                line=entry.line,
                report=report,
                subject=record_id,
                fix="remove this entry",
            )


def colliding_ids(site: Site) -> Iterator[Problem]:
    for (report, record_id), records in site.declarations.items():
        words = record_id.split("-")
        for length in range(3, len(words)):
            shorter = site.record(report, "-".join(words[:length]))
            if shorter:
                yield at_record(
                    records[0],
                    Code.COLLIDING_ID,
                    f"{record_id} begins with the whole of {shorter.id}, declared at "
                    f"{shorter.docname}:{shorter.line}: in running text the two cannot be told "
                    "apart",
                    "rename one of the two",
                )


def dangling_ids(site: Site) -> Iterator[Problem]:
    for (report, target), references in site.references.items():
        if site.target(report, target).kind is not TargetKind.NOTHING:
            continue
        for code, message, fix in _why_nothing(site, report, target):
            for reference in references:
                yield at_reference(reference, code, message, fix or _last_resort(reference))


def _why_nothing(site: Site, report: str, target: str) -> Iterator[tuple[Code, str, str]]:
    rules = site.reports.get(report)
    shown = target if rules else f"{report}:{target}" if report else target
    style = rules.ids if rules else IdStyle.ANY
    if fault := check_id(target, style):
        sound = [each for each in site.ids(report) if not check_id(each, style)]
        near = nearest_names(target, sound)
        yield Code.MALFORMED_ID, f"{shown}: {fault}", f"did you mean {_or(near)}?" if near else ""
    elif target.startswith("SRC-"):
        known = ", ".join(source.id for source in rules.sources) if rules else ""
        yield (
            Code.UNKNOWN_SOURCE,
            f"{shown} is not a source of report '{report}'",
            f"name one of {known}, or add [reports.{report}.sources.{target}]"
            if known
            else f"add [reports.{report}.sources.{target}] to memreport.toml",
        )
    else:
        yield Code.DANGLING_ID, *_dangling(site, report, target)


def _last_resort(reference: Reference) -> str:
    if reference.origin is ReferenceOrigin.RELATION:
        return "correct the ID"
    return f"correct it, or write {{memraw}}`{reference.target}` if it is no reference"


def _dangling(site: Site, report: str, target: str) -> tuple[str, str]:
    elsewhere = sorted(
        need_id(slug, target)
        for slug in site.reports
        if slug != report and site.target(slug, target).kind is not TargetKind.NOTHING
    )
    near = nearest_names(target, site.ids(report))
    proposals = []
    if elsewhere:
        proposals.append(f"write {{mem}}`{elsewhere[0]}` for the record of another report")
    if near:
        proposals.append(f"did you mean {_or(near)}?")
    if external := _external_roles(site, report, target):
        proposals.append(f"write {external[0]} for the record of another site")
    if not proposals:
        proposals.append("declare it, or list it in memsupplied if a member elsewhere declares it")
    if report and report not in site.reports:
        return f"there is no report '{report}' to hold {target}", "; ".join(proposals)
    where = f" in report '{report}'" if report else ""
    return f"{target} is declared nowhere{where}", "; ".join(proposals)


def _external_roles(site: Site, report: str, target: str) -> list[str]:
    """The roles that reach an ID in other sites, that of a site or report so named first."""
    found = [
        (report not in (name, qualified.partition(":")[0]), name, qualified)
        for name, names in site.elsewhere.items()
        for qualified in names
        if qualified.partition(":")[2] == target
    ]
    return [f"{{external+{name}:mem:record}}`{qualified}`" for _, name, qualified in sorted(found)]


def _or(names: Iterable[str]) -> str:
    return " or ".join(names)
