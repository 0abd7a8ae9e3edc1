"""Before a page is written: the placeholders become what was found out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_memreport.sphinx_ext.domain import MemDomain
from sphinx_memreport.sphinx_ext.links import ONE_PAGE, on_one_page
from sphinx_memreport.sphinx_ext.nodes import (
    evidence_block,
    evidence_overview,
    member_header,
    path_reference,
    profile_comparison,
    record_card,
    record_field,
    record_graph,
    record_list,
    report_overview,
    search_report,
    source_register,
)
from sphinx_memreport.sphinx_ext.render.cards import render_card, render_field
from sphinx_memreport.sphinx_ext.render.evidence import render_evidence, render_path
from sphinx_memreport.sphinx_ext.render.graph import render_graph
from sphinx_memreport.sphinx_ext.render.overview import render_overview
from sphinx_memreport.sphinx_ext.render.page import Page
from sphinx_memreport.sphinx_ext.render.profile import render_comparison
from sphinx_memreport.sphinx_ext.render.records import render_evidence_overview, render_records
from sphinx_memreport.sphinx_ext.render.searches import render_search
from sphinx_memreport.sphinx_ext.render.sources import render_header, render_register
from sphinx_memreport.sphinx_ext.render.tables import SCROLLING, as_list

RENDERERS: Mapping[type[nodes.Element], Callable[[Page, Any], list[nodes.Node]]] = {
    evidence_block: render_evidence,
    path_reference: render_path,
    record_card: render_card,
    record_field: render_field,
    search_report: render_search,
    member_header: render_header,
    source_register: render_register,
    record_list: render_records,
    evidence_overview: render_evidence_overview,
    report_overview: render_overview,
    profile_comparison: render_comparison,
    record_graph: render_graph,
}


class FillPlaceholders(SphinxPostTransform):
    """Replaces every placeholder of a page; links in what is put there are resolved already."""

    # behind the transforms of Sphinx, each of which walks over every node: none need see these
    default_priority = 410

    def run(self, **_kwargs: Any) -> None:
        """Fill one document."""
        domain = cast("MemDomain", self.env.get_domain("mem"))
        joined = _joined_documents(self.document)
        for node in list(self.document.findall(nodes.Element)):
            render = RENDERERS.get(type(node))
            if render is not None:
                docname = joined.get(node, self.env.current_document.docname)
                # what another extension copied here still is about its own document
                facts = domain.facts(node.get("memreport_docname", docname))
                page = Page(domain.app, domain, docname, facts)
                node.replace_self(render(page, node))


class FillPlaceholdersForLatex(FillPlaceholders):
    """LaTeX has transforms of its own, for footnotes and listings, that must see what is filled."""

    default_priority = 210
    formats = ("latex",)


class ListInnerTables(SphinxPostTransform):
    """Where a builder knows no table inside of a table, shows such a one of ours as a list."""

    default_priority = 415  # behind those that fill
    formats = ("text", "man")

    def run(self, **_kwargs: Any) -> None:
        """Replace the tables of one document."""
        for outer in list(self.document.findall(nodes.table)):
            for inner in list(outer.findall(nodes.table)):
                if inner is not outer and SCROLLING in inner.parent["classes"]:
                    inner.replace_self(as_list(inner))


class NameAnchors(SphinxPostTransform):
    """Where all documents are one page, gives anchors names that differ, besides their own."""

    default_priority = 420  # behind those that fill
    builders = (ONE_PAGE,)

    def run(self, **_kwargs: Any) -> None:
        """Name the anchors of one page."""
        joined = _joined_documents(self.document)
        for node in self.document.findall(nodes.Element):
            docname = joined.get(node, self.config.root_doc)
            node["ids"] += [on_one_page(docname, each) for each in node["ids"]]


def _joined_documents(document: nodes.document) -> dict[nodes.Element, str]:
    """The document of each node that comes from another one: some builders join all.

    Sphinx leaves the old parents to what it joins, so this is found from above.
    """
    return {
        node: file["docname"]
        for file in document.findall(addnodes.start_of_file)  # inner ones come later
        for node in file.findall(nodes.Element)
    }
