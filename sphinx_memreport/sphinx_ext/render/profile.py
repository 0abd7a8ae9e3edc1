"""Profiles of several reports, side by side."""

from __future__ import annotations

from docutils import nodes

from sphinx_memreport.core.profiles import axis_title
from sphinx_memreport.core.views import (
    Compared,
    ComparedAxis,
    ComparedReport,
    compared_reports,
    shown_axes,
)
from sphinx_memreport.sphinx_ext.directives.profile import PROFILE_ANCHOR
from sphinx_memreport.sphinx_ext.links import internal_link
from sphinx_memreport.sphinx_ext.nodes import profile_comparison
from sphinx_memreport.sphinx_ext.render.page import Page, badge
from sphinx_memreport.sphinx_ext.render.tables import CHOICE, Column, scrolling_table
from sphinx_memreport.sphinx_ext.words import _, listed, sentence, term


def render_comparison(page: Page, node: profile_comparison) -> list[nodes.Node]:
    """A table with a system on each row; reports without a profile are named below it."""
    view = page.facts.views[node["number"]]
    axes = shown_axes(view)
    rows = compared_reports(page.site, view)
    columns = [
        Column(_("System"), 14),
        *(Column(term(axis_title(axis)), 18, choice=True) for axis in axes),
    ]
    cells = [
        [[_system(page, row)], *(_axis(page, row, axis) for axis in row.axes)]
        for row in rows
        if row.docname is not None
    ]
    shown: list[nodes.Node] = [scrolling_table(columns, cells, "comparison")] if cells else []
    without = [_name(page, row) for row in rows if row.docname is None]
    if without:
        said = _("Without a profile: {reports}.").format(reports=", ".join(without))
        shown.append(nodes.paragraph("", said))
    return shown


def _name(page: Page, row: ComparedReport) -> str:
    report = page.report(row.report)
    return report.system if report else row.report


def _system(page: Page, row: ComparedReport) -> nodes.Node:
    name = nodes.strong("", _name(page, row))
    return internal_link(page.app.builder, page.docname, row.docname or "", PROFILE_ANCHOR, name)


def _axis(page: Page, row: ComparedReport, axis: ComparedAxis) -> list[nodes.Node]:
    if axis.findings:
        partly = [nodes.paragraph("", "", _assessment("partial"))]
        found = [_finding(page, row.report, finding) for finding in axis.findings]
        return [*(partly if axis.assessment == "partial" else []), *found]
    return [_assessment(axis.assessment)]


def _assessment(word: str) -> nodes.inline:
    shown = badge(term(word) or _("not assessed"), "assessment")
    shown["classes"].append(CHOICE)
    return shown


def _finding(page: Page, report: str, finding: Compared) -> nodes.paragraph:
    """The value, linked to the record that supports it; more records follow by ID."""
    first, *others = finding.records or ("",)
    value = page.cite_record(report, first, finding.value) if first else nodes.Text(finding.value)
    shown = nodes.paragraph("", "", nodes.inline("", "", value, classes=[CHOICE]), nodes.Text(" "))
    if finding.basis:
        shown += badge(term(finding.basis), finding.basis.replace(" ", "-"))
    if others:
        also = listed([page.cite_record(report, record_id) for record_id in others])
        shown += [nodes.Text(" "), *sentence(_("also {records}"), records=also)]
    return shown
