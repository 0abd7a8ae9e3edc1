"""A graph as inline SVG, laid out by Graphviz.

Graphviz is given numbered nodes and escaped labels. Of what it gives back only coordinates and
the lines of the labels are taken, into elements that are made here: nothing in a label, and no
program in the place of Graphviz, can put anything else into a page.
"""

from __future__ import annotations

import re
import subprocess
import textwrap
from collections.abc import Iterator
from html import escape
from typing import NamedTuple
from xml.etree import ElementTree

from sphinx.util import logging

from sphinx_memreport.core.graph import Edge, Graph, Node, Relation
from sphinx_memreport.core.ids import Kind
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND
from sphinx_memreport.sphinx_ext.links import ONE_PAGE, on_one_page
from sphinx_memreport.sphinx_ext.render.page import Page
from sphinx_memreport.sphinx_ext.words import _, term

logger = logging.getLogger(__name__)

_TIMEOUT = 30  # seconds; sixty records take less than one
_LABEL_WIDTH = 24
_LABEL_LINES = 3
_FONT_SIZE = 10
#: Points across that a page shows without scrolling sideways, more or less.
_WIDTH = 720
_HEAD = f"""\
digraph {{
graph [bgcolor=transparent, nodesep=0.25, ranksep=0.45, pad=0.1, pack=12]
node [shape=box, fontname="Helvetica,Arial,sans-serif", fontsize={_FONT_SIZE}, margin="0.14,0.07"]
edge [arrowsize=0.7]
"""
_SVG = "{http://www.w3.org/2000/svg}"
_SHAPES = {
    "path": ("d",),
    "polygon": ("points",),
    "polyline": ("points",),
    "ellipse": ("cx", "cy", "rx", "ry"),
}
_NUMBERS = re.compile(r"[-+0-9a-zA-Z.,() ]*")
_POINTS = re.compile(r"(\d+(?:\.\d+)?)pt")
_NAME = re.compile(r"n(\d+)(?:->n(\d+))?")
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_STROKES = {
    Relation.PART_OF: "",
    Relation.SUPERSEDED_BY: ' stroke-width="2.5"',
    Relation.COUNTERPART: ' stroke-dasharray="1 3"',
    Relation.CITES: ' stroke-dasharray="5 3"',
}


def draw(page: Page, graph: Graph, number: int) -> str | None:
    """The SVG of a graph, in which every node is a link; None when Graphviz cannot be run.

    :param number: makes the IDs of the drawing unique on its page.
    """
    config = page.app.config
    command = [config.graphviz_dot, *config.graphviz_dot_args, "-Tsvg"]
    try:
        drawn = _laid_out(command, graph)
        if _width(drawn) > _WIDTH:  # many records on few levels: from left to right, perhaps
            drawn = min(drawn, _laid_out([*command, "-Grankdir=LR"], graph), key=_width)
        return _redrawn(page, graph, number, drawn)
    except (OSError, subprocess.TimeoutExpired, ElementTree.ParseError, _NotDrawn) as error:
        reason = str(error)
    logger.info("memgraph: listed, since %s drew nothing: %s", config.graphviz_dot, reason)
    return None


class _NotDrawn(ValueError):
    """What came back is no drawing of the graph."""


def _laid_out(command: list[str], graph: Graph) -> ElementTree.Element:
    done = subprocess.run(
        command, input=_dot(graph).encode(), capture_output=True, timeout=_TIMEOUT, check=False
    )
    if done.returncode:
        raise _NotDrawn(f"it ended with status {done.returncode}")
    return ElementTree.fromstring(done.stdout)


def _width(root: ElementTree.Element) -> float:
    """The width of a drawing in points; what is none is as narrow as can be."""
    match = _POINTS.fullmatch(root.get("width", ""))
    return float(match[1]) if match else 0.0


# --- to Graphviz --------------------------------------------------------------------------


def _dot(graph: Graph) -> str:
    lines = [_HEAD]
    lines += [f'n{index} [label="{_label(node)}"]\n' for index, node in enumerate(graph.nodes)]
    lines += [f"n{edge.start} -> n{edge.end}\n" for edge in graph.edges]
    return "".join([*lines, "}\n"])


def _label(node: Node) -> str:
    label = _UNPRINTABLE.sub(" ", node.target.label)
    lines = textwrap.wrap(label, _LABEL_WIDTH, max_lines=_LABEL_LINES, placeholder=" …")
    return "\\n".join(_escaped(line) for line in [*lines, _UNPRINTABLE.sub(" ", node.key[1])])


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


# --- from Graphviz ------------------------------------------------------------------------


class _Drawing(NamedTuple):
    """What the parts of a drawing need to know."""

    page: Page
    graph: Graph
    edges: dict[tuple[int, int], Edge]


def _redrawn(page: Page, graph: Graph, number: int, root: ElementTree.Element) -> str:
    canvas = root.find(f"{_SVG}g")
    if root.tag != f"{_SVG}svg" or canvas is None:
        raise _NotDrawn("no SVG came back")
    drawing = _Drawing(page, graph, {(edge.start, edge.end): edge for edge in graph.edges})
    # edges first, so that no line crosses a text
    groups = sorted(canvas.iterfind(f"{_SVG}g"), key=lambda group: group.get("class") == "node")
    body = "".join(_group(drawing, group) for group in groups)
    title = f"memreport-graph-{number}"
    what = _("{records} records and {relations} relations between them").format(
        records=len(graph.nodes), relations=len(graph.edges)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="group" aria-labelledby="{title}" '
        f"{_attributes(root, 'width', 'height', 'viewBox')} "
        f'font-family="Helvetica,Arial,sans-serif" font-size="{_FONT_SIZE}" '
        'fill="currentColor" stroke="none">'
        f'<title id="{title}">{escape(what)}</title>'
        f"<g {_attributes(canvas, 'transform')}>{body}</g></svg>"
    )


def _group(drawing: _Drawing, group: ElementTree.Element) -> str:
    match = _NAME.fullmatch(group.findtext(f"{_SVG}title") or "")
    if match is None:
        return ""
    start, end = int(match[1]), match[2]
    if end is None and start < len(drawing.graph.nodes):
        return _node(drawing, start, group)
    edge = drawing.edges.get((start, int(end or -1)))
    return _edge(drawing, edge, group) if edge else ""


def _node(drawing: _Drawing, index: int, group: ElementTree.Element) -> str:
    node = drawing.graph.nodes[index]
    kind = TYPE_OF_KIND[node.kind] if node.kind else None
    classes = f"memreport-node {node_class(node.kind)}"
    if node.key == drawing.graph.around:
        classes += " memreport-node-around"
    if node.superseded:
        classes += " memreport-node-superseded"
    stroke = ' stroke="currentColor"' + ("" if kind else ' stroke-dasharray="4 2"')
    shapes = "".join(_shapes(group, f' fill="none"{stroke}'))
    texts = list(group.iterfind(f"{_SVG}text"))
    lines = "".join(_line(text, is_id=text is texts[-1]) for text in texts)
    what = term(kind.title) if kind else _("declared outside this site")
    if node.superseded:
        what = f"{what}, {_('superseded')}"
    tooltip = f"{node.key[1]} ({what})"
    content = f"<title>{escape(tooltip)}</title>{shapes}{lines}"
    uri = _uri(drawing.page, node)
    if uri is None:
        return f'<g class="{classes}">{content}</g>'
    return f'<a class="{classes}" href="{escape(uri)}">{content}</a>'


def node_class(kind: Kind | None) -> str:
    """The CSS class of a kind of box; None is that of records from elsewhere."""
    name = TYPE_OF_KIND[kind].directive.removeprefix("mem") if kind else "supplied"
    return f"memreport-node-{name}"


def _line(text: ElementTree.Element, *, is_id: bool) -> str:
    css_class = ' class="memreport-node-id"' if is_id else ""
    place = _attributes(text, "x", "y", "text-anchor")
    return f"<text {place}{css_class}>{escape(text.text or '')}</text>"


def _uri(page: Page, node: Node) -> str | None:
    if node.target.docname is None:
        return None
    if page.app.builder.name == ONE_PAGE:
        return f"#{on_one_page(node.target.docname, node.target.anchor)}"
    address = page.app.builder.get_relative_uri(page.docname, node.target.docname)
    return f"{address}#{node.target.anchor}"


def _edge(drawing: _Drawing, edge: Edge, group: ElementTree.Element) -> str:
    start, end = (drawing.graph.nodes[index].key[1] for index in (edge.start, edge.end))
    relation = str(edge.relation).replace(" ", "-")
    tooltip = f"{start} {term(edge.relation)} {end}"
    line = "".join(
        _shapes(group, f' fill="none" stroke="currentColor"{_STROKES[edge.relation]}', "path")
    )
    head = "".join(_shapes(group, ' fill="currentColor"', "polygon"))
    return (
        f'<g class="memreport-edge memreport-edge-{relation}">'
        f"<title>{escape(tooltip)}</title>{line}{head}</g>"
    )


def _shapes(group: ElementTree.Element, style: str, *names: str) -> Iterator[str]:
    for element in group:
        name = element.tag.removeprefix(_SVG)
        if name in (names or _SHAPES):
            yield f"<{name} {_attributes(element, *_SHAPES[name])}{style}/>"


def _attributes(element: ElementTree.Element, *names: str) -> str:
    """Attributes that hold nothing but numbers, units and letters of paths."""
    found = {name: element.get(name, "") for name in names}
    if not all(_NUMBERS.fullmatch(value) for value in found.values()):
        raise _NotDrawn("what came back holds more than coordinates")
    return " ".join(f'{name}="{value}"' for name, value in found.items() if value)
