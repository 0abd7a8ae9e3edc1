"""Sources, evidence, paths and commits against what was found in the sources."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sphinx_memreport.core.checks.place import at_evidence
from sphinx_memreport.core.models import Evidence, Finding
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.site import Site, TargetKind

#: A source as other places name it: ``SRC-1:path``, or with a comma.
_JOINED = re.compile(r"(?P<source>SRC-[0-9]+)[:,]+")


def unavailable_sources(site: Site, config_path: str) -> Iterator[Problem]:
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


def evidence_problems(site: Site) -> Iterator[Problem]:
    for evidence in site.evidence():
        if not evidence.quote.strip():
            continue  # said while it was read
        finding = _unusable(site, evidence) or site.resolution(evidence).finding
        # without a range that could not be read, a passage may well occur more than once
        of_lost_range = finding and finding.code is Code.AMBIGUOUS_QUOTE
        if finding and not (of_lost_range and site.is_unclear(evidence)):
            yield at_evidence(finding, evidence)
        for supported in evidence.supports:
            # also a reference, so that an unknown ID is a dangling one
            if site.target(evidence.report, supported).kind is TargetKind.SOURCE:
                yield at_evidence(
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
        fix = f"its sources are: {known}"
        if joined := _JOINED.match(evidence.source):
            path = f"{evidence.source[joined.end() :]} {evidence.path or ''}".strip()
            fix = f"put a space, and nothing else, between the two: {joined['source']} {path}"
        return Finding(code=Code.UNKNOWN_SOURCE, message=message, fix=fix)
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


def path_problems(site: Site) -> Iterator[Problem]:
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


def foreign_commits(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for mention in facts.commits:
            rules = site.reports.get(mention.report)
            sources = rules.sources if rules else ()
            pins = {pin for source in sources for pin in (source.commit, source.sha256)}
            # a longer one is the hash of a file, unless there is a pin of that length
            lengths = {40, *(len(source.commit or "") for source in sources)}
            if len(mention.commit) in lengths and mention.commit not in pins:
                yield Problem(
                    code=Code.FOREIGN_COMMIT,
                    message=f"{mention.commit} is not a pinned commit of report '{mention.report}'",
                    docname=mention.docname,
                    line=mention.line,
                    report=mention.report,
                    fix="name a pinned commit, or leave the hash out",
                )
