"""Annotations and amendments: what members say of one another's records (section 3.7)."""

from __future__ import annotations

from collections.abc import Iterator

from sphinx_memreport.core.checks.place import at_statement
from sphinx_memreport.core.ids import MemberName
from sphinx_memreport.core.models import Amendment, Annotation, Finding, Record
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.site import Key, Site, TargetKind


def own_annotations(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for annotation in facts.annotations:
            record = site.record(annotation.report, annotation.target)
            if record and _is_own(annotation, record):
                whose = f"the {record.member} member" if record.member else "this document"
                yield at_statement(
                    Finding(
                        code=Code.OWN_ANNOTATION,
                        message=f"{record.id} is declared by {whose} itself, at "
                        f"{record.docname}:{record.line}",
                        fix="write the fields and the text into the record",
                    ),
                    annotation,
                )


def _is_own(annotation: Annotation, record: Record) -> bool:
    """Without ``memmember`` on both sides, a document counts as a member."""
    if annotation.member is None and record.member is None:
        return annotation.docname == record.docname
    return annotation.member == record.member


def misplaced_amendments(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for amendment in facts.amendments:
            if facts.member is not MemberName.RECONCILIATION:
                found = f"the {facts.member} member" if facts.member else "no member"
                yield at_statement(
                    Finding(
                        code=Code.WRONG_MEMBER,
                        message="memamendment belongs to the reconciliation member; "
                        f"this document is of {found}",
                        fix=f"move it there, or say what you think of {amendment.target} in a "
                        "memannotation",
                    ),
                    amendment,
                )


def successors(site: Site) -> Iterator[Problem]:
    in_a_cycle: set[Key] = set()
    for (report, target), amendments in site.amendments.items():
        for amendment in amendments:
            for successor in amendment.superseded_by:
                if site.target(report, successor).kind is TargetKind.SOURCE:
                    yield _invalid(amendment, f"{successor} is a source, not a record")
                elif successor == target:
                    yield _invalid(amendment, f"{target} cannot supersede itself")
        if (report, target) not in in_a_cycle and (chain := _cycle(site, report, target)):
            in_a_cycle |= {(report, each) for each in chain}
            yield _invalid(amendments[0], f"a cycle, {' → '.join([*chain, target])}")


def _invalid(amendment: Amendment, what: str) -> Problem:
    return at_statement(
        Finding(
            code=Code.INVALID_VALUE,
            message=f"option 'superseded-by': {what}",
            fix="name the records that hold in its place",
        ),
        amendment,
    )


def _cycle(site: Site, report: str, start: str) -> list[str]:
    """A chain of records, each superseded by the next, from one back to itself, or nothing."""
    reached: dict[str, str] = {}  # record -> the one that it supersedes
    pending = [start]
    while pending:
        record = pending.pop()
        for successor in site.successors(report, record):
            if successor == start:
                chain = [record]
                while chain[-1] != start:
                    chain.append(reached[chain[-1]])
                return chain[::-1]
            if successor not in reached:
                reached[successor] = record
                pending.append(successor)
    return []
