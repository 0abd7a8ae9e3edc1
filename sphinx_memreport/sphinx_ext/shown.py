"""What a page shows of other documents and of sources, as a digest.

When it changes, the page is written again; when it does not, it is left alone. Everything
that the post-transforms take from the site must be in here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from sphinx_memreport.core.graph import record_graph
from sphinx_memreport.core.models import View
from sphinx_memreport.core.overview import overviews
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.site import Key, Site
from sphinx_memreport.core.views import (
    compared_links,
    record_rows,
    shown_reports,
    standing_rows,
)
from sphinx_memreport.sphinx_ext.previews import previews

if TYPE_CHECKING:
    from sphinx_memreport.sphinx_ext.domain import MemDomain


def _nothing(_site: Site, _view: View) -> None:
    """A view whose content is in here anyway."""


#: What each view shows, by its directive.
_SHOWN_BY: Mapping[str, Callable[[Site, View], object]] = {
    "memrecords": record_rows,
    "memevidence": standing_rows,
    "memcomparison": compared_links,
    "memgraph": record_graph,
}


def digest(domain: MemDomain, facts: DocumentFacts) -> str:
    """The digest of one page."""
    sink = hashlib.blake2b(digest_size=16)
    for value in _shown(domain, facts):
        sink.update(repr(value).encode("utf-8", "surrogatepass"))
        sink.update(b"\0")
    return sink.hexdigest()


def _shown(domain: MemDomain, facts: DocumentFacts) -> Iterator[object]:
    site = domain.site
    yield previews(site, facts)
    for reference in facts.references:
        yield site.target(reference.report, reference.target)
    for evidence in facts.evidence:
        resolution = site.resolution(evidence)
        yield resolution.status, resolution.lines, resolution.passage, resolution.finding
        yield resolution.locked
        source = site.source_of(evidence)
        if source:
            yield domain.config.reports[evidence.report].sources[source.id]
            yield site.target(evidence.report, source.id)
    for path in facts.paths:
        yield site.path_verdict(path)
        source = site.source_of(path)
        if source:
            yield domain.config.reports[path.report].sources[source.id]
    for declared in facts.declared_keys():
        yield site.cited_by(*declared)
        yield [site.target(part.report, part.id) for part in site.parts.get(declared, [])]
        yield from _additions(site, declared)
    for report, search, result in site.searches_in(facts):
        yield search, result
        yield domain.config.reports[report].sources[search.source.id]
        yield site.target(report, search.source.id)
    for view in facts.views:
        if view.directive == "memoverview":
            yield overviews(site, view, domain.problems)
        yield _SHOWN_BY.get(view.directive, _nothing)(site, view)
        yield [(slug, domain.config.reports[slug].system) for slug in shown_reports(site, view)]
    for slug in {*facts.source_registers, *([facts.report] if facts.member else [])}:
        yield domain.config.reports.get(slug or "")
        yield site.registers.get(slug or "") == facts.docname
        yield sorted(item for item in site.verdicts.unavailable.items() if item[0][0] == slug)
        yield sorted((key, each.date) for key, each in site.verdicts.locked.items())


def _additions(site: Site, declared: Key) -> Iterator[object]:
    """What the page of a record shows of annotations and amendments: not where their lines are."""
    for annotation in site.annotations.get(declared, []):
        yield annotation.docname, annotation.anchor, annotation.member, annotation.fields
        yield site.titles.get(annotation.docname)
    report, record_id = declared
    related = [*site.successors(report, record_id), *site.predecessors.get(declared, [])]
    yield [site.target(report, each) for each in related]
    yield [(each.docname, each.anchor) for each in site.amendments.get(declared, [])]
