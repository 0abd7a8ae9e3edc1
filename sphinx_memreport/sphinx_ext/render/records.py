"""Lists of records, and what stands behind each."""

from __future__ import annotations

from collections.abc import Sequence

from docutils import nodes

from sphinx_memreport.core.models import View
from sphinx_memreport.core.views import RecordRow, Standing, StandingRow, record_rows, standing_rows
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND
from sphinx_memreport.sphinx_ext.links import internal_link
from sphinx_memreport.sphinx_ext.nodes import evidence_overview, record_list
from sphinx_memreport.sphinx_ext.render.page import Page, badge
from sphinx_memreport.sphinx_ext.render.tables import CHOICE, Column, scrolling_table
from sphinx_memreport.sphinx_ext.words import _, capitalized, counted, listed, sentence, term

Cell = list[nodes.Node]


def render_records(page: Page, node: record_list) -> list[nodes.Node]:
    """The table of records."""
    view = page.facts.views[node["number"]]
    rows = record_rows(page.site, view)
    if not rows:
        return [_none(view)]
    several = len({row.report for row in rows}) > 1
    columns = [
        *([Column(_("Report"), 12, choice=True)] if several else []),
        Column(_("ID"), 22),
        Column(_("Label"), 26),
        Column(_("Kind"), 14, choice=True),
        Column(_("Member"), 12, choice=True),
        Column(_("Status"), 24, choice=True),
        Column(_("Verified quotes"), 10),
        Column(_("Page"), 14),
    ]
    cells: list[list[Cell]] = [
        [
            *([_system(page, row)] if several else []),
            *_id_and_label(page, row),
            [nodes.Text(term(TYPE_OF_KIND[row.kind].title))],
            [nodes.Text(term(row.member or ""))],
            _statuses(row),
            [nodes.Text(f"{row.verified}/{row.quotes}")],
            [_page_link(page, row)],
        ]
        for row in rows
    ]
    return [scrolling_table(columns, cells, "records")]


def _none(view: View) -> nodes.paragraph:
    return nodes.paragraph("", _("No record is of this kind."), classes=[f"{view.directive}-none"])


def _system(page: Page, row: RecordRow) -> Cell:
    report = page.report(row.report)
    return [nodes.Text(report.system if report else row.report)]


def _id_and_label(page: Page, row: RecordRow) -> tuple[Cell, Cell]:
    link = page.cite_record(row.report, row.id)
    return [link], [page.cite_record(row.report, row.id, row.label)] if row.label else []


def _statuses(row: RecordRow) -> Cell:
    shown: Cell = []
    for name, status in row.statuses:
        if shown:
            shown.append(nodes.Text(" "))
        said = badge(f"{term(name.capitalize())}: {term(status)}", status.replace(" ", "-"))
        said["classes"].append(CHOICE)
        shown.append(said)
    return shown


def _page_link(page: Page, row: RecordRow) -> nodes.Node:
    builder = page.app.builder
    return internal_link(builder, page.docname, row.docname, "", nodes.inline("", row.page))


# --- coverage of evidence -----------------------------------------------------------------


def render_evidence_overview(page: Page, node: evidence_overview) -> list[nodes.Node]:
    """Counts, then the table of records with what stands behind each, the least first."""
    view = page.facts.views[node["number"]]
    rows = standing_rows(page.site, view)
    if not rows:
        return [_none(view)]
    columns = [
        Column(_("ID"), 22),
        Column(_("Label"), 26),
        Column(_("Rests on"), 24, choice=True),
        Column(_("Verified quotes"), 10),
        Column(_("Which"), 30),
    ]
    cells: list[list[Cell]] = [
        [
            *_id_and_label(page, row.record),
            [badge(term(row.standing), f"standing-{row.standing.name.lower()}")],
            [nodes.Text(f"{row.record.verified}/{row.record.quotes}")],
            _which(page, row),
        ]
        for row in rows
    ]
    return [_counts(rows), scrolling_table(columns, cells, "standing")]


def _counts(rows: Sequence[StandingRow]) -> nodes.paragraph:
    standings = [row.standing for row in rows]
    counts = [f"{term(each)}: {standings.count(each)}" for each in Standing if each in standings]
    total = counted(
        "{number} record, by what it rests on",
        "{number} records, by what they rest on",
        len(rows),
    )
    return nodes.paragraph("", f"{total}. {capitalized('; '.join(counts))}.")


def _which(page: Page, row: StandingRow) -> Cell:
    if row.shared_with:
        others = listed([page.cite_record(row.record.report, each) for each in row.shared_with])
        return sentence(_("shared with {records}"), records=others)
    return [nodes.Text(", ".join(row.paths))] if row.paths else []
