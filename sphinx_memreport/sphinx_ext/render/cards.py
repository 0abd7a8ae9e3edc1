"""The card of a record: its signature, its fields, and what is known of it elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from docutils import nodes
from sphinx import addnodes

from sphinx_memreport.sphinx_ext.nodes import HERE, RECORD, Heading, record_card, record_field
from sphinx_memreport.sphinx_ext.render.page import Page, badge, web_link
from sphinx_memreport.sphinx_ext.render.relations import render_relations, render_standing
from sphinx_memreport.sphinx_ext.words import _


def render_card(page: Page, node: record_card) -> list[nodes.Node]:
    """A card, laid out; what else stands in it is filled on its own."""
    card = addnodes.desc("", *node.children)
    card.attributes.update(node.attributes)
    card.source, card.line = node.source, node.line
    signatures = [each for each in node.children if isinstance(each, addnodes.desc_signature)]
    contents = [each for each in node.children if isinstance(each, addnodes.desc_content)]
    for signature, content in zip(signatures, contents, strict=True):
        heading = cast("Heading", signature.attributes.pop("memreport_heading"))
        signature[:] = list(_signature(page, heading, signature))
        if heading.declares:
            standing = render_standing(page, heading.report, heading.id)
            if standing and "memreport-record" in card["classes"]:
                card["classes"].append("memreport-superseded")
            content[:0] = standing
            content += render_relations(page, heading.report, heading.id)
    return [card]


def _signature(page: Page, heading: Heading, signature: nodes.Element) -> Iterator[nodes.Node]:
    """Title, ID, kind and statuses, in the order of what a reader looks for."""
    if signature.children:
        yield addnodes.desc_name("", "", *signature.children)
        yield nodes.Text(" ")
    shown: nodes.Element = nodes.literal("", heading.id, classes=["memreport-id"])
    if heading.link == HERE:
        shown = nodes.reference(
            "", "", shown, internal=True, refid=signature["ids"][0], reftitle=_("Link to this")
        )
    elif heading.link == RECORD:
        shown = page.link(heading.report, heading.id, shown)
    elif heading.link:
        shown = web_link(heading.link, shown)
    yield addnodes.desc_addname("", "", shown)
    for text, css_class in heading.badges:
        yield nodes.Text(" ")
        yield badge(text, css_class)


def render_field(_page: Page, node: record_field) -> list[nodes.Node]:
    """An option, as a field of a list."""
    name = nodes.field_name("", node["name"])
    return [nodes.field("", name, nodes.field_body("", *node.children))]
