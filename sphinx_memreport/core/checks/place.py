"""Problems at the place of what they are about."""

from __future__ import annotations

from sphinx_memreport.core.models import (
    Amendment,
    Annotation,
    Evidence,
    Finding,
    Record,
    Reference,
)
from sphinx_memreport.core.problems import Code, Problem


def at_record(record: Record, code: Code, message: str, fix: str = "") -> Problem:
    return Problem(
        code=code,
        message=message,
        docname=record.docname,
        line=record.line,
        report=record.report,
        subject=record.id,
        fix=fix,
    )


def at_reference(reference: Reference, code: Code, message: str, fix: str) -> Problem:
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


def at_evidence(finding: Finding, evidence: Evidence) -> Problem:
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


def at_statement(finding: Finding, statement: Record | Annotation | Amendment) -> Problem:
    """At the opening line of a record, or of a directive about one."""
    return Problem(
        code=finding.code,
        message=finding.message,
        docname=statement.docname,
        line=statement.line,
        report=statement.report,
        subject=statement.id if isinstance(statement, Record) else statement.target,
        details=finding.details,
        fix=finding.fix,
    )
