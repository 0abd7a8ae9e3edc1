"""A report at a glance."""

from __future__ import annotations

from collections.abc import Iterator

from docutils import nodes

from sphinx_memreport.core.overview import Overview, overviews
from sphinx_memreport.core.problems import Severity
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND
from sphinx_memreport.sphinx_ext.indices import index_links
from sphinx_memreport.sphinx_ext.links import internal_link
from sphinx_memreport.sphinx_ext.nodes import report_overview
from sphinx_memreport.sphinx_ext.render.page import Page, field
from sphinx_memreport.sphinx_ext.render.tables import Column, scrolling_table
from sphinx_memreport.sphinx_ext.words import _, counted, listed, sentence, term

#: Uncovered records that are named; the others are counted.
_NAMED = 20


def render_overview(page: Page, node: report_overview) -> list[nodes.Node]:
    """Counts by kind and member, then quotes, coverage and problems, for each report."""
    found = overviews(page.site, page.facts.views[node["number"]], page.domain.problems)
    shown: list[nodes.Node] = []
    for overview in found:
        if len(found) > 1:
            name = nodes.strong("", _system(page, overview))
            shown.append(nodes.paragraph("", "", name))
        shown += _counts(overview)
        fields = nodes.field_list(classes=["memreport-fields"])
        fields += list(_fields(page, overview))
        shown.append(nodes.container("", fields, classes=["memreport-overview-fields"]))
    links = [_index(title, uri) for title, uri in index_links(page.app, page.docname)]
    if links and any(overview.counts for overview in found):
        shown.append(
            nodes.field_list(
                "", field(_("Indices"), links), classes=["memreport-header", "memreport-indices"]
            )
        )
    return shown


def _system(page: Page, overview: Overview) -> str:
    report = page.report(overview.report)
    return report.system if report else overview.report


def _counts(overview: Overview) -> list[nodes.Node]:
    """The table of records, with a total where there are several members or kinds."""
    if not overview.counts:
        return [nodes.paragraph("", _("No record is declared."))]
    names = [term(each) if each else _("no member") for each in overview.members]
    rows = [(term(TYPE_OF_KIND[each.kind].plural), each.numbers) for each in overview.counts]
    if len(rows) > 1:
        columns = zip(*(numbers for _name, numbers in rows), strict=True)
        rows.append((_("Total"), tuple(map(sum, columns))))
    if len(names) > 1:
        names.append(_("Total"))
        rows = [(name, (*numbers, sum(numbers))) for name, numbers in rows]
    cells = [
        [_text(name), *(_text(str(each or "–")) for each in numbers)] for name, numbers in rows
    ]
    columns_shown = [Column(_("Kind"), 24), *map(Column, names)]
    return [scrolling_table(columns_shown, [[[cell] for cell in row] for row in cells], "overview")]


def _text(text: str) -> nodes.Node:
    return nodes.Text(text)


def _fields(page: Page, overview: Overview) -> Iterator[nodes.field]:
    said = _("{verified} of {quotes} verified").format(
        verified=overview.verified, quotes=overview.quotes
    )
    yield field(_("Quotes"), [_text(said if overview.quotes else _("none"))])
    if overview.uncovered is not None:
        yield field(_("In no coverage table"), _uncovered(page, overview) or [_text(_("none"))])
    if overview.problems:
        yield field(_("Problems"), _problems(page, overview))


def _uncovered(page: Page, overview: Overview) -> list[nodes.Node]:
    targets = overview.uncovered or ()
    shown = [page.cite_record(each.report, each.id, each.label) for each in targets[:_NAMED]]
    hidden = len(targets) - len(shown)
    if hidden:
        shown.append(_text(counted("and {number} more", "and {number} more", hidden)))
    return shown


def _problems(page: Page, overview: Overview) -> list[nodes.Node]:
    counts = [_severity(severity, number) for severity, number in overview.problems]
    builder = page.app.builder
    pages = [
        internal_link(builder, page.docname, docname, "", nodes.inline("", title))
        for docname, title in overview.pages
    ]
    said = ", ".join(counts)
    if not pages:
        return [_text(said)]
    return [
        nodes.inline(
            "", "", *sentence(_("{problems} on {pages}"), problems=said, pages=listed(pages))
        )
    ]


def _severity(severity: Severity, number: int) -> str:
    if severity is Severity.ERROR:
        return counted("{number} error", "{number} errors", number)
    return counted("{number} warning", "{number} warnings", number)


def _index(title: str, uri: str) -> nodes.reference:
    return nodes.reference("", "", nodes.inline("", title), internal=True, refuri=uri)
