"""What the searches behind an absence came to (contract, section 3.6)."""

from __future__ import annotations

from docutils import nodes

from sphinx_memreport.core.models import Hit, LineRange, Names, SearchResult
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.search import PlannedSearch, search_findings, visible
from sphinx_memreport.sphinx_ext.nodes import search_report
from sphinx_memreport.sphinx_ext.render.evidence import render_finding
from sphinx_memreport.sphinx_ext.render.page import Page, badge, dated
from sphinx_memreport.sphinx_ext.words import _, counted, line_numbers, listed, sentence


def render_search(page: Page, node: search_report) -> list[nodes.Node]:
    """One box for each source that was searched; nothing where no search is stated."""
    facts = page.facts
    number = node["number"]
    statement = facts.annotations[number] if node["annotation"] else facts.records[number]
    return [
        _box(page, statement.report, search, result)
        for search, result in page.site.search_results(statement)
    ]


def _box(
    page: Page, report: str, search: PlannedSearch, result: SearchResult | None
) -> nodes.container:
    verdict, css_class = _verdict(search, result)
    box = nodes.container("", classes=["memreport-search", f"memreport-search-{css_class}"])
    line = nodes.paragraph("", "", *_said(page, report, search, result))
    verdict = dated(verdict, result.locked if result else None)
    line += [nodes.Text(" "), badge(verdict, css_class)]
    box += line
    if result is None:
        return box
    if result.hits:
        box += _hits(page, report, search, result)
    for what, names in ((_("Binary"), result.binary), (_("Not searched"), result.skipped)):
        if names.count:
            box += nodes.paragraph("", f"{what}: {_listed(names)}.")
    for finding in search_findings(search, result):
        if finding.code is not Code.REFUTED_ABSENCE:  # its hits are listed already
            box += render_finding(finding)
    return box


def _verdict(search: PlannedSearch, result: SearchResult | None) -> tuple[str, str]:
    if result is None:
        return _("unverified"), "unverified"
    if result.hit_count:
        return _("refuted"), "refuted"
    if list(search_findings(search, result)):
        return _("proves nothing"), "missing"
    return _("nothing found"), "verified"


def _said(
    page: Page, report: str, search: PlannedSearch, result: SearchResult | None
) -> list[nodes.Node]:
    """What was searched for, and where."""
    source, request = search
    pattern = nodes.literal("", visible(request.pattern))
    what = _("the regular expression {pattern}") if request.regex else _("the text {pattern}")
    shown = sentence(what, pattern=pattern)
    cited = page.cite_source(report, source.id)
    if source.kind != "git":
        return sentence(_("Search for {pattern} in {source}"), pattern=shown, source=cited)
    host = page.host_link(report, source.id, None, None)
    found = sentence(
        _("Search for {pattern} in {files} of {source} that match {globs}"),
        pattern=shown,
        files=_files(result),
        source=cited,
        globs=listed([nodes.literal("", glob) for glob in request.globs]),
    )
    return [*found, nodes.Text(" "), host] if host is not None else found


def _files(result: SearchResult | None) -> str:
    if result is None:
        return _("the files")
    shown = counted("{number} file", "{number} files", result.files)
    if not result.binary.count:
        return shown
    return f"{shown} ({counted('{number} binary', '{number} binary', result.binary.count)})"


def _hits(page: Page, report: str, search: PlannedSearch, result: SearchResult) -> nodes.Node:
    hits = nodes.bullet_list(classes=["memreport-hits"])
    for hit in result.hits:
        hits += nodes.list_item("", nodes.paragraph("", "", *_hit(page, report, search, hit)))
    hidden = result.hit_count - len(result.hits)
    if hidden:
        hits += nodes.list_item("", nodes.paragraph("", _more(hidden)))
    return hits


def _hit(page: Page, report: str, search: PlannedSearch, hit: Hit) -> list[nodes.Node]:
    lines = LineRange(start=hit.line, end=hit.line)
    shown: list[nodes.Node] = [
        nodes.literal("", hit.path or search.source.id, classes=["memreport-path"]),
        nodes.Text(f" {line_numbers(lines)} "),
    ]
    # a name with marks or escapes is not the name that the host knows
    if hit.path and not set("\\⟦") & set(hit.path):
        host = page.host_link(report, search.source.id, hit.path, lines)
        shown += [host, nodes.Text(" ")] if host is not None else []
    return [*shown, nodes.literal("", hit.text)]


def _listed(names: Names) -> str:
    hidden = names.count - len(names.shown)
    return ", ".join(names.shown) + (f" {_more(hidden)}" if hidden else "")


def _more(number: int) -> str:
    return counted("and {number} more", "and {number} more", number)
