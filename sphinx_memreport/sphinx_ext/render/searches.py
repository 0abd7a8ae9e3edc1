"""What the searches behind an absence came to (contract, section 3.6)."""

from __future__ import annotations

from docutils import nodes

from sphinx_memreport.core.models import Hit, LineRange, Names, SearchResult
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.search import PlannedSearch, search_findings, visible
from sphinx_memreport.sphinx_ext.nodes import search_report
from sphinx_memreport.sphinx_ext.render.evidence import render_finding
from sphinx_memreport.sphinx_ext.render.page import Page, badge


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
    line += [nodes.Text(" "), badge(verdict, css_class)]
    box += line
    if result is None:
        return box
    if result.hits:
        box += _hits(page, report, search, result)
    for what, names in (("Binary", result.binary), ("Not searched", result.skipped)):
        if names.count:
            box += nodes.paragraph("", f"{what}: {_listed(names)}.")
    for finding in search_findings(search, result):
        if finding.code is not Code.REFUTED_ABSENCE:  # its hits are listed already
            box += render_finding(finding)
    return box


def _verdict(search: PlannedSearch, result: SearchResult | None) -> tuple[str, str]:
    if result is None:
        return "unverified", "unverified"
    if result.hit_count:
        return "refuted", "refuted"
    if list(search_findings(search, result)):
        return "proves nothing", "missing"
    return "nothing found", "verified"


def _said(
    page: Page, report: str, search: PlannedSearch, result: SearchResult | None
) -> list[nodes.Node]:
    """What was searched for, and where."""
    source, request = search
    kind = "the regular expression" if request.regex else "the text"
    found: list[nodes.Node] = [
        nodes.Text(f"Search for {kind} "),
        nodes.literal("", visible(request.pattern)),
        nodes.Text(" in "),
    ]
    if source.kind == "git":
        found.append(nodes.Text(f"{_files(result)} of "))
    found.append(page.cite_source(report, source.id))
    if source.kind == "git":
        for number, glob in enumerate(request.globs):
            found += [nodes.Text(", " if number else " that match "), nodes.literal("", glob)]
        host = page.host_link(report, source.id, None, None)
        found += [nodes.Text(" "), host] if host is not None else []
    return found


def _files(result: SearchResult | None) -> str:
    if result is None:
        return "the files"
    shown = "1 file" if result.files == 1 else f"{result.files:,} files"
    return f"{shown} ({result.binary.count:,} binary)" if result.binary.count else shown


def _hits(page: Page, report: str, search: PlannedSearch, result: SearchResult) -> nodes.Node:
    hits = nodes.bullet_list(classes=["memreport-hits"])
    for hit in result.hits:
        hits += nodes.list_item("", nodes.paragraph("", "", *_hit(page, report, search, hit)))
    hidden = result.hit_count - len(result.hits)
    if hidden:
        hits += nodes.list_item("", nodes.paragraph("", f"and {hidden:,} more"))
    return hits


def _hit(page: Page, report: str, search: PlannedSearch, hit: Hit) -> list[nodes.Node]:
    shown: list[nodes.Node] = [
        nodes.literal("", hit.path or search.source.id, classes=["memreport-path"]),
        nodes.Text(f" line {hit.line} "),
    ]
    # a name with marks or escapes is not the name that the host knows
    if hit.path and not set("\\⟦") & set(hit.path):
        lines = LineRange(start=hit.line, end=hit.line)
        host = page.host_link(report, search.source.id, hit.path, lines)
        shown += [host, nodes.Text(" ")] if host is not None else []
    return [*shown, nodes.literal("", hit.text)]


def _listed(names: Names) -> str:
    hidden = names.count - len(names.shown)
    return ", ".join(names.shown) + (f" and {hidden:,} more" if hidden else "")
