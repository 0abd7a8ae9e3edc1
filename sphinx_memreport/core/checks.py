"""Every problem that needs more than one document, from the site and its verdicts.

Problems that a document shows by itself are found while it is read and stand in its facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sphinx_memreport.core.ids import IdStyle, check_id, need_id
from sphinx_memreport.core.models import Evidence, Finding, Record, Reference, ReportRules
from sphinx_memreport.core.nearest import nearest_names
from sphinx_memreport.core.problems import Code, Problem, Severity, default_severity
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.site import Key, Site, TargetKind
from sphinx_memreport.core.vocabulary import PREFIX_OF_MEMBER


def check_site(site: Site, severities: Mapping[Code, Severity], config_path: str) -> list[Problem]:
    """All problems of the site, sorted, each with its severity.

    :param severities: what ``memreport_severity`` sets.
    :param config_path: the file that problems of whole sources are reported in.
    """
    problems = {
        _with_severity(problem, site.reports, severities)
        for check in _CHECKS
        for problem in check(site)
    }
    problems |= {
        _with_severity(problem, site.reports, severities)
        for problem in _unavailable_sources(site, config_path)
    }
    return sorted(problems, key=Problem.sort_key)


def _with_severity(
    problem: Problem, reports: Mapping[str, ReportRules], severities: Mapping[Code, Severity]
) -> Problem:
    rules = reports.get(problem.report or "")
    strict = rules is not None and rules.strict
    severity = severities.get(problem.code) or default_severity(problem.code, strict=strict)
    return problem.model_copy(update={"severity": severity})


def _found_while_reading(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        yield from facts.problems


# --- IDs ----------------------------------------------------------------------------------


def _declared_ids(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for record in facts.records:
            style = (
                site.reports[record.report].ids if record.report in site.reports else IdStyle.ANY
            )
            if fault := check_id(record.id, style):
                yield _at(record, Code.MALFORMED_ID, f"{record.id}: {fault}")
            yield from _foreign_prefix(facts, record)
        for entry in facts.supplied:
            if fault := check_id(entry.id, IdStyle.ANY):
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
        yield _at(
            record,
            Code.FOREIGN_PREFIX,
            f"{record.id}: the {facts.member} member declares only {expected}- records",
            f"declare {expected}-{rest}, or annotate the record with memannotation",
        )


def _duplicate_ids(site: Site) -> Iterator[Problem]:
    for records in site.declarations.values():
        first, *later = records
        for record in later:
            yield _at(
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


def _colliding_ids(site: Site) -> Iterator[Problem]:
    for (report, record_id), records in site.declarations.items():
        words = record_id.split("-")
        for length in range(3, len(words)):
            shorter = site.record(report, "-".join(words[:length]))
            if shorter:
                yield _at(
                    records[0],
                    Code.COLLIDING_ID,
                    f"{record_id} begins with the whole of {shorter.id}, declared at "
                    f"{shorter.docname}:{shorter.line}: in running text the two cannot be told "
                    "apart",
                    "rename one of the two",
                )


def _dangling_ids(site: Site) -> Iterator[Problem]:
    for (report, target), references in site.references.items():
        if site.target(report, target).kind is not TargetKind.NOTHING:
            continue
        for code, message, fix in _why_nothing(site, report, target):
            for reference in references:
                yield _at_reference(reference, code, message, fix)


def _why_nothing(site: Site, report: str, target: str) -> Iterator[tuple[Code, str, str]]:
    rules = site.reports.get(report)
    shown = target if rules else f"{report}:{target}" if report else target
    if fault := check_id(target, rules.ids if rules else IdStyle.ANY):
        near = nearest_names(target, site.ids(report))
        fix = f"did you mean {_or(near)}?" if near else ""
        yield (
            Code.MALFORMED_ID,
            f"{shown}: {fault}",
            fix or f"{{memraw}}`{target}` if it is no reference",
        )
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
    if not proposals:
        proposals.append("declare it, or list it in memsupplied if a member elsewhere declares it")
    if report and report not in site.reports:
        return f"there is no report '{report}' to hold {target}", "; ".join(proposals)
    where = f" in report '{report}'" if report else ""
    return f"{target} is declared nowhere{where}", "; ".join(proposals)


# --- relations ----------------------------------------------------------------------------


def _part_of(site: Site) -> Iterator[Problem]:
    in_a_cycle: set[Key] = set()
    for (report, record_id), (record, *_) in site.declarations.items():
        if record.part_of == record_id:
            yield _at(
                record,
                Code.PART_OF_SELF,
                f"option 'part-of': {record_id} cannot be a part of itself",
                "name the record that contains it, or remove the option",
            )
        elif (report, record_id) not in in_a_cycle:
            chain = _cycle(site, record)
            if chain:
                in_a_cycle |= {(report, name) for name in chain}
                yield _at(
                    record,
                    Code.PART_OF_CYCLE,
                    f"option 'part-of': a cycle, {' → '.join([*chain, chain[0]])}",
                    "remove one of these part-of options",
                )


def _cycle(site: Site, start: Record) -> list[str]:
    """The chain of ``part-of`` from a record back to itself, or nothing."""
    chain = [start.id]
    record: Record | None = start
    while record and record.part_of:
        if record.part_of == start.id:
            return chain if len(chain) > 1 else []
        if record.part_of in chain:
            return []
        chain.append(record.part_of)
        record = site.record(start.report, record.part_of)
    return []


# --- sources and evidence -----------------------------------------------------------------


def _unavailable_sources(site: Site, config_path: str) -> Iterator[Problem]:
    for (report, source_id), finding in site.verdicts.unavailable.items():
        rules = site.reports[report].source(source_id)
        yield Problem(
            code=finding.code,
            message=f"{report}: {source_id}: {finding.message}",
            path=config_path,
            line=rules.line if rules else None,
            report=report,
            subject=source_id,
            details=finding.details,
            fix=finding.fix,
        )


def _evidence(site: Site) -> Iterator[Problem]:
    for evidence in site.evidence():
        finding = _unusable(site, evidence)
        if finding is None and evidence.quote.strip():
            finding = site.resolution(evidence).finding
        if finding:
            yield _finding(finding, evidence)
        for supported in evidence.supports:
            # also a reference, so that an unknown ID is a dangling one
            if site.target(evidence.report, supported).kind is TargetKind.SOURCE:
                yield _finding(
                    Finding(
                        code=Code.INVALID_VALUE,
                        message=f"option 'supports': {supported} is a source, not a record",
                    ),
                    evidence,
                )


def _unusable(site: Site, evidence: Evidence) -> Finding | None:
    """What is wrong with the source and path of a piece of evidence as such."""
    rules = site.reports.get(evidence.report)
    if rules is None:
        return None
    source = rules.source(evidence.source)
    if source is None:
        known = ", ".join(each.id for each in rules.sources) or "none"
        message = (
            f"{evidence.source} is not a source of report '{evidence.report}'"
            if evidence.source
            else f"the report has {len(rules.sources)} sources; "
            "the evidence must say which one it quotes"
        )
        return Finding(code=Code.UNKNOWN_SOURCE, message=message, fix=f"its sources are: {known}")
    if source.kind == "git" and not evidence.path:
        return Finding(
            code=Code.PATH_MISSING,
            message=f"evidence from {source.id} names no path",
            fix=f"write the path behind the source ID: {source.id} path/in/the/repository",
        )
    if source.kind == "capture" and evidence.path:
        return Finding(
            code=Code.INVALID_VALUE,
            message=f"{source.id} is a capture, a single file; found the path {evidence.path}",
            fix=f"write {source.id} alone",
        )
    return None


def _paths(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for reference in facts.paths:
            rules = site.reports.get(reference.report)
            source = site.source_of(reference)
            finding: Finding | None
            if rules is None:
                continue
            if source is None:
                known = ", ".join(each.id for each in rules.sources) or "none"
                finding = Finding(
                    code=Code.UNKNOWN_SOURCE,
                    message=f"{reference.source or 'a path without a source'} is not a source of "
                    f"report '{reference.report}'",
                    fix=f"its sources are: {known}",
                )
            elif source.kind == "capture":
                finding = Finding(
                    code=Code.INVALID_VALUE,
                    message=f"{source.id} is a capture and has no paths",
                    fix=f"cite {source.id} alone",
                )
            else:
                verdict = site.path_verdict(reference)
                finding = verdict.finding if verdict else None
            if finding:
                yield Problem(
                    code=finding.code,
                    message=finding.message,
                    docname=reference.docname,
                    line=reference.line,
                    report=reference.report,
                    subject=reference.source or None,
                    details=finding.details,
                    fix=finding.fix,
                )


def _foreign_commits(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for mention in facts.commits:
            rules = site.reports.get(mention.report)
            pins = {source.commit for source in rules.sources} if rules else set()
            if mention.commit not in pins:
                yield Problem(
                    code=Code.FOREIGN_COMMIT,
                    message=f"{mention.commit} is not a pinned commit of report '{mention.report}'",
                    docname=mention.docname,
                    line=mention.line,
                    report=mention.report,
                    fix="name a pinned commit, or leave the hash out",
                )


# --- placing problems ---------------------------------------------------------------------


def _at(record: Record, code: Code, message: str, fix: str = "") -> Problem:
    return Problem(
        code=code,
        message=message,
        docname=record.docname,
        line=record.line,
        report=record.report,
        subject=record.id,
        fix=fix,
    )


def _at_reference(reference: Reference, code: Code, message: str, fix: str) -> Problem:
    option = f"option '{reference.option}': " if reference.option else ""
    return Problem(
        code=code,
        message=option + message,
        docname=reference.docname,
        line=reference.line,
        report=reference.report,
        subject=reference.target,
        fix=fix,
    )


def _finding(finding: Finding, evidence: Evidence) -> Problem:
    return Problem(
        code=finding.code,
        message=finding.message,
        docname=evidence.docname,
        line=evidence.line,
        report=evidence.report,
        subject=evidence.record or evidence.source or None,
        details=finding.details,
        fix=finding.fix,
    )


def _or(names: Iterable[str]) -> str:
    return " or ".join(names)


_CHECKS: tuple[Callable[[Site], Iterable[Problem]], ...] = (
    _found_while_reading,
    _declared_ids,
    _duplicate_ids,
    _colliding_ids,
    _dangling_ids,
    _part_of,
    _evidence,
    _paths,
    _foreign_commits,
)
