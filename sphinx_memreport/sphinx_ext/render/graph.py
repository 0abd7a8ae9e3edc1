"""The graph of records: drawn where it can be, else a nested list of the same."""

from __future__ import annotations

from collections.abc import Iterator

from docutils import nodes

from sphinx_memreport.core.graph import MAX_NODES, Graph, Node, Relation, record_graph
from sphinx_memreport.core.ids import Kind
from sphinx_memreport.core.vocabulary import RECORD_TYPES
from sphinx_memreport.sphinx_ext import nodes as placeholders
from sphinx_memreport.sphinx_ext.render.drawing import draw, node_class
from sphinx_memreport.sphinx_ext.render.page import Page
from sphinx_memreport.sphinx_ext.words import _, capitalized, counted, listed, term


def _stroke(relation: Relation) -> str:
    """How a relation is drawn, in words."""
    return {
        Relation.PART_OF: _("solid arrows"),
        Relation.SUPERSEDED_BY: _("heavy arrows"),
        Relation.COUNTERPART: _("dotted arrows"),
        Relation.CITES: _("dashed arrows"),
    }[relation]


def render_graph(page: Page, node: placeholders.record_graph) -> list[nodes.Node]:
    """A drawing with a legend, or a list; what was left out is said."""
    number = node["number"]
    graph = record_graph(page.site, page.facts.views[number])
    if not graph.nodes:
        return []
    shown: list[nodes.Node] = [_note(text) for text in _left_out(graph)]
    svg = draw(page, graph, number) if graph.drawable and _takes_svg(page) else None
    if svg is None:
        return [*shown, _listing(page, graph)]
    drawing = nodes.container(
        "", nodes.raw("", svg, format="html"), classes=["memreport-scroll", "memreport-graph"]
    )
    arrows = [_note(_legend(graph))] if graph.edges else []
    return [*shown, drawing, _boxes(graph), *arrows]


def _takes_svg(page: Page) -> bool:
    builder = page.app.builder
    return builder.format == "html" and builder.name != "epub"


def _note(text: str) -> nodes.paragraph:
    return nodes.paragraph("", text, classes=["memreport-graph-note"])


def _left_out(graph: Graph) -> Iterator[str]:
    if graph.depth < graph.asked_depth:
        yield _(
            "Shown are the records up to {shown} away; {asked} would reach {total}, "
            "more than can be drawn clearly."
        ).format(shown=_steps(graph.depth), asked=_steps(graph.asked_depth), total=graph.total)
    if not graph.drawable:
        yield _(
            "These {records} records with {relations} relations are more than can be drawn "
            "clearly (up to {limit} records), so they are listed."
        ).format(records=len(graph.nodes), relations=len(graph.edges), limit=MAX_NODES)


def _steps(number: int) -> str:
    return counted("{number} step", "{number} steps", number)


def _boxes(graph: Graph) -> nodes.paragraph:
    """What each kind of box stands for, with a box of that kind before it."""
    used = {node.kind for node in graph.nodes}
    kinds: list[tuple[Kind | None, str]] = [
        (each.kind, term(each.title)) for each in RECORD_TYPES if each.kind in used
    ]
    if None in used:
        kinds.append((None, _("declared outside this site")))
    parts = [
        nodes.inline(
            "",
            "",
            nodes.inline("", "", classes=["memreport-swatch", node_class(kind)]),
            nodes.Text(title),
        )
        for kind, title in kinds
    ]
    return nodes.paragraph("", "", *listed(parts), classes=["memreport-graph-note"])


def _legend(graph: Graph) -> str:
    used = {edge.relation for edge in graph.edges}
    parts = [f"{_stroke(each)}: {term(each)}" for each in Relation if each in used]
    return f"{capitalized('; '.join(parts))}."


# --- the same as a list -------------------------------------------------------------------


def _listing(page: Page, graph: Graph) -> nodes.bullet_list:
    """Each record, below it what it is related to."""
    items = nodes.bullet_list(classes=["memreport-graph-list"])
    for index, node in enumerate(graph.nodes):
        item = nodes.list_item("", nodes.paragraph("", "", *_linked(page, node)))
        related = nodes.bullet_list()
        for relation in Relation:
            ends = [
                graph.nodes[edge.end]
                for edge in graph.edges
                if edge.start == index and edge.relation is relation
            ]
            if ends:
                related += _related(page, relation, ends)
        if related.children:
            item += related
        items += item
    return items


def _related(page: Page, relation: Relation, ends: list[Node]) -> nodes.list_item:
    shown = nodes.paragraph("", f"{term(relation)}: ")
    shown += listed([page.cite_record(*node.key, node.target.label) for node in ends])
    return nodes.list_item("", shown)


def _linked(page: Page, node: Node) -> list[nodes.Node]:
    found = [page.cite_record(*node.key, node.target.label)]
    if node.target.label:
        found += [nodes.Text(" "), nodes.literal("", node.key[1], classes=["memreport-id"])]
    return found
