"""Before a page is written: the placeholders become what was found out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

from sphinx_memreport.sphinx_ext.domain import MemDomain
from sphinx_memreport.sphinx_ext.nodes import (
    evidence_block,
    member_header,
    path_reference,
    record_relations,
    source_register,
)
from sphinx_memreport.sphinx_ext.render.evidence import render_evidence, render_path
from sphinx_memreport.sphinx_ext.render.page import Page
from sphinx_memreport.sphinx_ext.render.relations import render_relations
from sphinx_memreport.sphinx_ext.render.sources import render_header, render_register

RENDERERS: Mapping[type[nodes.Element], Callable[[Page, Any], list[nodes.Node]]] = {
    evidence_block: render_evidence,
    path_reference: render_path,
    record_relations: render_relations,
    member_header: render_header,
    source_register: render_register,
}


class FillPlaceholders(SphinxPostTransform):
    """Replaces every placeholder of a page; links among the results are resolved by Sphinx."""

    # before Sphinx resolves references, so that those put in here are resolved, too
    default_priority = 8

    def run(self, **_kwargs: Any) -> None:
        """Fill one document."""
        domain = cast("MemDomain", self.env.get_domain("mem"))
        docname = self.env.current_document.docname
        page = Page(self.app, domain, docname, domain.facts(docname))
        for node in list(self.document.findall(nodes.Element)):
            render = RENDERERS.get(type(node))
            if render is not None:
                node.replace_self(render(page, node))
