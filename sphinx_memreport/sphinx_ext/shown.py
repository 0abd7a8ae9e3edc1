"""What a page shows of other documents and of sources, as a digest.

When it changes, the page is written again; when it does not, it is left alone. Everything
that the post-transforms take from the site must be in here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from sphinx_memreport.config import GitSource
from sphinx_memreport.core.graph import record_graph
from sphinx_memreport.core.models import SourceRules, View
from sphinx_memreport.core.overview import overviews
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.site import Key, Site
from sphinx_memreport.core.views import compared_links, record_rows, shown_reports, standing_rows
from sphinx_memreport.sphinx_ext.passages import shown_passage
from sphinx_memreport.sphinx_ext.previews import previews
from sphinx_memreport.sphinx_ext.render.evidence import host_address
from sphinx_memreport.sphinx_ext.render.page import Source

if TYPE_CHECKING:
    from sphinx_memreport.sphinx_ext.domain import MemDomain

#: What no page shows of a source: where it is on this machine, and how it is read.
_UNSHOWN = {"checkout", "file", "encoding", "permalink"}


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
    for declared in facts.declared_keys():
        yield site.cited_by(*declared)
        yield [site.target(part.report, part.id) for part in site.parts.get(declared, [])]
        yield from _additions(site, declared)
    for view in facts.views:
        yield from _of_view(domain, view)
    yield from _of_sources(domain, facts)
    if facts.report and facts.member:
        yield from _header(domain, facts.report)
    for slug in facts.source_registers:
        yield from _register(domain, slug)


# --- views --------------------------------------------------------------------------------


def _of_view(domain: MemDomain, view: View) -> Iterator[object]:
    site = domain.site
    reports = shown_reports(site, view)
    names_reports = len(reports) > 1
    match view.directive:
        case "memrecords":
            yield record_rows(site, view)
        case "memevidence":
            rows = standing_rows(site, view)
            yield [row._replace(record=row.record._replace(page="")) for row in rows]
            names_reports = False
        case "memoverview":
            yield overviews(site, view, domain.problems)
        case "memcomparison":
            yield compared_links(site, view)
            names_reports = True
        case "memgraph":
            yield record_graph(site, view)
            names_reports = False
    if names_reports:
        yield [(slug, domain.config.reports[slug].system) for slug in reports]


# --- sources ------------------------------------------------------------------------------


def _of_sources(domain: MemDomain, facts: DocumentFacts) -> Iterator[object]:
    """What was found out in the sources, and how that is said and linked."""
    site = domain.site
    for evidence in facts.evidence:
        resolution = site.resolution(evidence)
        yield resolution.status, resolution.lines, resolution.finding, resolution.locked
        yield shown_passage(evidence.quote, resolution), resolution.excerpt is not None
        yield site.layer(evidence)
        yield _cited(domain, evidence.report, site.source_of(evidence))
    for path in facts.paths:
        verdict = site.path_verdict(path)
        source = site.source_of(path)
        if verdict and source:
            configured = domain.config.reports[path.report].sources[source.id]
            address = host_address(configured, path, directory=verdict.directory)
            yield verdict.finding, verdict.locked, address
            yield () if address else verdict.excerpts
    for report, search, result in site.searches_in(facts):
        yield search.request, result
        yield _cited(domain, report, search.source)


def _cited(domain: MemDomain, report: str, source: SourceRules | None) -> object:
    """What is shown of a source where something in it is cited: its host and its register."""
    if source is None:
        return None
    configured = domain.config.reports[report].sources[source.id]
    template = configured.permalink if isinstance(configured, GitSource) else None
    return _pin(configured), template, domain.site.target(report, source.id)


def _pin(source: Source) -> object:
    if isinstance(source, GitSource):
        return source.repository, source.commit
    return source.identity, source.layer


def _header(domain: MemDomain, slug: str) -> Iterator[object]:
    report = domain.config.reports[slug]
    yield report.system, report.run_id, report.boundary_kind
    yield [(source_id, _pin(source)) for source_id, source in report.sources.items()]
    yield domain.site.registers.get(slug)


def _register(domain: MemDomain, slug: str) -> Iterator[object]:
    report, verdicts = domain.config.reports.get(slug), domain.site.verdicts
    yield domain.site.registers.get(slug)
    for source_id, source in report.sources.items() if report else ():
        shown: dict[str, Any] = source.model_dump(exclude=_UNSHOWN)
        stand_in = verdicts.locked.get((slug, source_id))
        yield source_id, shown, verdicts.unavailable.get((slug, source_id))
        yield stand_in.date if stand_in else None


# --- records ------------------------------------------------------------------------------


def _additions(site: Site, declared: Key) -> Iterator[object]:
    """What the page of a record shows of annotations and amendments: not where their lines are."""
    for annotation in site.annotations.get(declared, []):
        yield annotation.docname, annotation.anchor, annotation.member, annotation.fields
        yield site.titles.get(annotation.docname)
        yield [site.target(*key) for key in site.cited_in(annotation)]
    report, record_id = declared
    related = [*site.successors(report, record_id), *site.predecessors.get(declared, [])]
    yield [site.target(report, each) for each in related]
    yield [(each.docname, each.anchor) for each in site.amendments.get(declared, [])]
