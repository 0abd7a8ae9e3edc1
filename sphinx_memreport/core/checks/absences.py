"""Searches that must find nothing (contract, section 3.6)."""

from __future__ import annotations

from collections.abc import Iterator

from sphinx_memreport.core.checks.place import at_statement
from sphinx_memreport.core.models import Annotation, Record
from sphinx_memreport.core.problems import Problem
from sphinx_memreport.core.search import search_findings
from sphinx_memreport.core.site import Site


def searches(site: Site) -> Iterator[Problem]:
    for facts in site.registry:
        for record in facts.records:
            yield from _against(site, record)
        for annotation in facts.annotations:
            yield from _against(site, annotation)


def _against(site: Site, statement: Record | Annotation) -> Iterator[Problem]:
    for fault in site.plan(statement).faults:
        yield at_statement(fault, statement)
    for search, result in site.search_results(statement):
        if result is not None:  # an unavailable source is a problem of its own
            for finding in search_findings(search, result):
                yield at_statement(finding, statement)
        elif unrecorded := site.verdicts.unrecorded_search(statement.report, search):
            yield at_statement(unrecorded, statement)
