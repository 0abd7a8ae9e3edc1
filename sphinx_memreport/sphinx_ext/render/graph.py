"""The graph of records: drawn where it can be, else a nested list of the same."""

from __future__ import annotations

from collections.abc import Iterator

from docutils import nodes

from sphinx_memreport.core.graph import MAX_NODES, Graph, Node, Relation, record_graph
from sphinx_memreport.sphinx_ext import nodes as placeholders
from sphinx_memreport.sphinx_ext.render.drawing import draw
from sphinx_memreport.sphinx_ext.render.page import Page

#: How each relation is drawn, in words.
_STROKES = {
    Relation.PART_OF: "solid arrows",
    Relation.SUPERSEDED_BY: "heavy arrows",
    Relation.COUNTERPART: "dotted arrows",
    Relation.CITES: "dashed arrows",
}


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
    return [*shown, drawing, *([_note(_legend(graph))] if graph.edges else [])]


def _takes_svg(page: Page) -> bool:
    builder = page.app.builder
    return builder.format == "html" and builder.name != "epub"


def _note(text: str) -> nodes.paragraph:
    return nodes.paragraph("", text, classes=["memreport-graph-note"])


def _left_out(graph: Graph) -> Iterator[str]:
    if graph.depth < graph.asked_depth:
        yield (
            f"Shown are the records up to {_steps(graph.depth)} away; {_steps(graph.asked_depth)} "
            f"would reach {graph.total}, more than can be drawn clearly."
        )
    if not graph.drawable:
        yield (
            f"These {len(graph.nodes)} records with {len(graph.edges)} relations are more than "
            f"can be drawn clearly (up to {MAX_NODES} records), so they are listed."
        )


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"


def _legend(graph: Graph) -> str:
    used = {edge.relation for edge in graph.edges}
    parts = [f"{_STROKES[relation]}: {relation}" for relation in Relation if relation in used]
    return f"{'; '.join(parts)}.".capitalize()


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
    shown = nodes.paragraph("", f"{relation}: ")
    for index, node in enumerate(ends):
        if index:
            shown += nodes.Text(", ")
        shown += page.cite_record(*node.key, node.target.label)
    return nodes.list_item("", shown)


def _linked(page: Page, node: Node) -> list[nodes.Node]:
    found = [page.cite_record(*node.key, node.target.label)]
    if node.target.label:
        found += [nodes.Text(" "), nodes.literal("", node.key[1], classes=["memreport-id"])]
    return found
