"""What is known of a record elsewhere: its parts, and who cites it."""

from __future__ import annotations

from docutils import nodes

from sphinx_memreport.sphinx_ext.nodes import record_relations
from sphinx_memreport.sphinx_ext.render.page import Page, field


def render_relations(page: Page, node: record_relations) -> list[nodes.Node]:
    """The relations of one record, or nothing."""
    report, target = node["report"], node["target"]
    fields = nodes.field_list(classes=["memreport-relations"])
    parts = page.site.parts.get((report, target), [])
    if parts:
        fields += field("Parts", [page.cite_record(report, part.id, part.label) for part in parts])
    citations = page.site.cited_by(report, target)
    if citations:
        fields += field("Cited by", [page.citation(each) for each in citations])
    return [fields] if fields.children else []
