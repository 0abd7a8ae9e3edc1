"""Every problem that needs more than one document, from the site and its verdicts.

Problems that a document shows by itself are found while it is read and stand in its facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from sphinx_memreport.core.checks import (
    absences,
    additions,
    contract,
    ids,
    profiles,
    relations,
    sources,
    views,
)
from sphinx_memreport.core.problems import Code, Problem, Severity, default_severity
from sphinx_memreport.core.site import Site


def _found_while_reading(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        yield from facts.problems


_CHECKS: tuple[Callable[[Site], Iterable[Problem]], ...] = (
    _found_while_reading,
    ids.declared_ids,
    ids.duplicate_ids,
    ids.colliding_ids,
    ids.dangling_ids,
    ids.left_out_ids,
    relations.part_of,
    sources.evidence_problems,
    sources.path_problems,
    sources.foreign_commits,
    absences.searches,
    additions.own_annotations,
    additions.misplaced_amendments,
    additions.successors,
    contract.coverage_rows,
    contract.stated_fields,
    contract.carried_evidence,
    contract.overclaimed_statuses,
    contract.uncovered_records,
    profiles.one_for_each_report,
    profiles.overclaimed_bases,
    views.unknown_reports,
)


def check_site(site: Site, severities: Mapping[Code, Severity], config_path: str) -> list[Problem]:
    """All problems of the site, sorted, each with its severity.

    :param severities: what ``memreport_severity`` sets.
    :param config_path: the file that problems of whole sources are reported in.
    """
    problems = {problem for check in _CHECKS for problem in check(site)}
    problems.update(sources.unavailable_sources(site, config_path))
    weighed = (_weighed(problem, site, severities) for problem in problems)
    return sorted(weighed, key=Problem.sort_key)


def _weighed(problem: Problem, site: Site, severities: Mapping[Code, Severity]) -> Problem:
    rules = site.reports.get(problem.report or "")
    strict = rules is not None and rules.strict
    wanted = severities.get(problem.code) if isinstance(problem.code, Code) else None
    severity = wanted or default_severity(problem.code, strict=strict)
    return problem.model_copy(update={"severity": severity})
