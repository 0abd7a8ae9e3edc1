"""The header of a member and the source register."""

from __future__ import annotations

from collections.abc import Iterable

from docutils import nodes

from sphinx_memreport.config import GitSource
from sphinx_memreport.core.ids import anchor
from sphinx_memreport.core.lock import LOCK_NAME
from sphinx_memreport.core.models import Status
from sphinx_memreport.permalinks import commit_url, repository_url
from sphinx_memreport.sphinx_ext.nodes import member_header, source_register
from sphinx_memreport.sphinx_ext.render.page import Page, Source, dated, field, is_web, web_link
from sphinx_memreport.sphinx_ext.words import _, capitalized, sentence, term


def render_header(page: Page, node: member_header) -> list[nodes.Node]:
    """System, run, pins and counts."""
    report = page.report(node["report"])
    if report is None:
        return []
    # the first header stands in for a register where a report has none
    has_targets = page.site.registers.get(report.slug) == page.docname
    has_targets = has_targets and report.slug not in page.facts.source_registers
    fields = nodes.field_list(classes=["memreport-header"])
    fields += field(_("System"), [nodes.Text(report.system)])
    fields += field(_("Member"), [nodes.Text(term(node["member"]))])
    if report.run_id:
        fields += field(_("Run"), [nodes.Text(report.run_id)])
    if report.boundary_kind:
        fields += field(_("Boundary"), [nodes.Text(term(str(report.boundary_kind)))])
    pins = [
        _pin(page, report.slug, source_id, source, target=has_targets)
        for source_id, source in report.sources.items()
    ]
    if pins:
        fields += field(_("Sources"), pins)
    fields += field(_("Quotes"), [nodes.Text(_count(page))])
    return [fields]


def _count(page: Page) -> str:
    verdicts = [page.site.resolution(each) for each in page.facts.evidence]
    states = [verdict.status for verdict in verdicts]
    if not states:
        return _("none on this page")
    counts = _("{verified} of {quotes} on this page verified").format(
        verified=states.count(Status.VERIFIED), quotes=len(states)
    )
    return dated(counts, next((each.locked for each in verdicts if each.locked), None))


def _pin(page: Page, slug: str, source_id: str, source: Source, *, target: bool) -> nodes.Node:
    pin = nodes.inline("", "", classes=["memreport-pin"])
    if target:
        # an element of its own: LaTeX sets no label for the IDs of any other
        pin += nodes.target("", "", ids=[anchor(source_id)])
        pin += nodes.strong("", source_id)
    else:
        pin += page.cite_source(slug, source_id)
    pin += nodes.Text(" ")
    if isinstance(source, GitSource):
        home = repository_url(source.repository)
        shown = nodes.literal("", source.commit[:10])
        url = commit_url(source.repository, source.commit)
        pin += sentence(
            _("{repository} at {commit}"),
            repository=web_link(home, source.repository) if home else source.repository,
            commit=web_link(url, shown) if url else shown,
        )
    else:
        identity = source.identity
        pin += web_link(identity, identity) if is_web(identity) else nodes.Text(identity)
        pin += nodes.Text(f" ({term(source.layer)})")
    return pin


def render_register(page: Page, node: source_register) -> list[nodes.Node]:
    """Every source of a report with its pin, layers and limits."""
    report = page.report(node["report"])
    if report is None:
        return []
    has_targets = page.site.registers.get(report.slug) == page.docname
    entries = nodes.definition_list(classes=["memreport-sources"])
    for source_id, source in report.sources.items():
        pin = _pin(page, report.slug, source_id, source, target=has_targets)
        fields = nodes.field_list()
        for name, text in _described(page, report.slug, source_id, source):
            fields += field(name, [nodes.Text(text)])
        entries += nodes.definition_list_item(
            "", nodes.term("", "", pin), nodes.definition("", fields)
        )
    return [entries]


def _described(page: Page, slug: str, source_id: str, source: Source) -> Iterable[tuple[str, str]]:
    if isinstance(source, GitSource):
        yield _("Commit"), source.commit
        for layer, globs in source.layers.items():
            yield capitalized(term(layer)), ", ".join(globs)
    else:
        yield "SHA-256", source.sha256
        yield _("Layer"), term(source.layer)
    if source.inspected:
        yield _("Inspected"), source.inspected
    if source.gaps:
        yield _("Gaps"), source.gaps
    finding = page.site.verdicts.unavailable.get((slug, source_id))
    if finding:
        yield _("Unavailable"), f"{finding.message} [{finding.code}]"
    stand_in = page.site.verdicts.locked.get((slug, source_id))
    if stand_in:
        yield _("Unavailable"), dated(LOCK_NAME, stand_in.date)
