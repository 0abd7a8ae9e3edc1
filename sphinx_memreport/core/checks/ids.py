"""IDs: well formed, unique, told apart, declared where they may be, and not dangling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from sphinx_memreport.core.checks.place import at_record, at_reference
from sphinx_memreport.core.ids import IdStyle, check_id, need_id
from sphinx_memreport.core.models import Record, Reference, ReferenceOrigin
from sphinx_memreport.core.nearest import nearest_names
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.site import Site, TargetKind
from sphinx_memreport.core.vocabulary import PREFIX_OF_MEMBER

#: IDs that are compared with unknown ones in search of near ones, over all of a site.
_MOST_COMPARISONS = 300_000


def declared_ids(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for record in facts.records:
            style = (
                site.reports[record.report].ids if record.report in site.reports else IdStyle.ANY
            )
            if fault := check_id(record.id, style):
                message, fix = f"{record.id}: {fault}", _well_formed(record.id, style)
                yield at_record(record, Code.MALFORMED_ID, message, fix)
            else:
                yield from _foreign_prefix(facts, record)
        for entry in facts.supplied:
            fault = check_id(entry.id, IdStyle.ANY)
            fix = _well_formed(entry.id, IdStyle.ANY)
            if entry.id.startswith("SRC-"):
                fault, fix = "a source cannot be supplied, only records", "remove this entry"
            if fault:
                yield Problem(
                    code=Code.MALFORMED_ID,
                    message=f"{entry.id}: {fault}",
                    docname=entry.docname,
                    line=entry.line,
                    report=entry.report,
                    subject=entry.id,
                    fix=fix,
                )


def _well_formed(written: str, style: IdStyle) -> str:
    """What to write instead of an ID that is none."""
    prefix, _, rest = written.partition("-")
    kind, _, name = rest.partition("-")
    meant = f"{prefix.upper()}-{kind.upper()}-{name.lower().replace('_', '-')}"
    if check_id(meant, style) is None:
        return f"write {meant}"
    if rest and name.count("-") > 2:
        return "write a name of at most three words"
    example = "MEM-OBJ-3" if style is IdStyle.NUMBERED else "MEM-OBJ-note"
    return f"write a prefix, a kind and a name, as in {example}"


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
    names = _Names(site)
    for (report, target), references in site.references.items():
        if site.target(report, target).kind is not TargetKind.NOTHING:
            continue
        for code, message, fix in _why_nothing(site, names, report, target):
            for reference in references:
                yield at_reference(reference, code, message, fix or _last_resort(reference))


def left_out_ids(site: Site) -> Iterator[Problem]:
    """References from what a build shows to records that it leaves out: they lead nowhere."""
    if not site.left_out:
        return
    for (report, record_id), references in site.references.items():
        record = site.record(report, record_id)
        part = record and next((each for each in site.left_out if each.holds(record)), None)
        for reference in references if part else ():
            if part and not any(each.holds(reference) for each in site.left_out):
                yield at_reference(
                    reference,
                    Code.DANGLING_ID,
                    f"{record_id} is declared in 'only:: {part.expression}' at "
                    f"{part.docname}:{part.first}, which this build leaves out",
                    "take the record out of it, or cite it under the same condition",
                )


def _why_nothing(
    site: Site, names: _Names, report: str, target: str
) -> Iterator[tuple[Code, str, str]]:
    rules = site.reports.get(report)
    shown = target if rules else f"{report}:{target}" if report else target
    style = rules.ids if rules else IdStyle.ANY
    if fault := check_id(target, style):
        near = names.near(report, target, style)
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
        yield Code.DANGLING_ID, *_dangling(site, names, report, target)


def _last_resort(reference: Reference) -> str:
    if reference.origin is ReferenceOrigin.RELATION:
        return "correct the ID"
    return f"correct it, or write {{memraw}}`{reference.target}` if it is no reference"


def _dangling(site: Site, names: _Names, report: str, target: str) -> tuple[str, str]:
    elsewhere = sorted(
        need_id(slug, target)
        for slug in site.reports
        if slug != report and site.target(slug, target).kind is not TargetKind.NOTHING
    )
    near = names.near(report, target)
    proposals = []
    if elsewhere:
        proposals.append(f"write {{mem}}`{elsewhere[0]}` for the record of another report")
    if near:
        proposals.append(f"did you mean {_or(near)}?")
    if external := names.external_roles(report, target):
        proposals.append(f"write {external[0]} for the record of another site")
    if not proposals:
        proposals.append("declare it, or list it in memsupplied if a member elsewhere declares it")
    if report and report not in site.reports:
        return f"there is no report '{report}' to hold {target}", "; ".join(proposals)
    where = f" in report '{report}'" if report else ""
    return f"{target} is declared nowhere{where}", "; ".join(proposals)


class _Names:
    """IDs that may be meant by one that names nothing.

    Near ones are sought as long as that is quick: a site on which thousands of IDs dangle has
    lost a document, and no proposal for each would help.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known: dict[tuple[str, IdStyle | None], list[str]] = {}
        self._comparisons = 0

    def near(self, report: str, target: str, style: IdStyle | None = None) -> list[str]:
        """IDs of a report that are like a text; with a style, only those that follow it."""
        key = (report, style)
        if key not in self._known:
            ids = self._site.ids(report)
            self._known[key] = [each for each in ids if self._is_good(report, each, style)]
        if self._comparisons > _MOST_COMPARISONS:
            return []
        self._comparisons += len(self._known[key])
        return nearest_names(target, self._known[key])

    def _is_good(self, report: str, record_id: str, style: IdStyle | None) -> bool:
        """Whether nothing is wrong with an ID as it is declared: it may have to change itself."""
        record = self._site.record(report, record_id)
        if record is None:
            return not (style and check_id(record_id, style))
        facts = self._site.registry.documents[record.docname]
        rules = self._site.reports.get(report)
        wanted = style or (rules.ids if rules else IdStyle.ANY)
        return not check_id(record_id, wanted) and not any(_foreign_prefix(facts, record))

    def external_roles(self, report: str, target: str) -> list[str]:
        """The roles that reach an ID in other sites, that of a site or report so named first."""
        found = [
            (report not in (name, qualified.partition(":")[0]), name, qualified)
            for name, qualified in self._elsewhere.get(target, ())
        ]
        roles = ((name, qualified) for _, name, qualified in sorted(found))
        return [f"{{external+{name}:mem:record}}`{qualified}`" for name, qualified in roles]

    @cached_property
    def _elsewhere(self) -> dict[str, list[tuple[str, str]]]:
        """ID to the sites that have it, and how it is written there."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, names in self._site.elsewhere.items():
            for qualified in names:
                found.setdefault(qualified.partition(":")[2], []).append((name, qualified))
        return found


def _or(names: Iterable[str]) -> str:
    return " or ".join(names)
