"""Tables that scroll inside a container of their own where a page is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from docutils import nodes


class Column(NamedTuple):
    """A heading and the column's share of the width."""

    title: str
    width: int = 10


def scrolling_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Sequence[nodes.Node]]], name: str
) -> nodes.container:
    """A table in a container that scrolls.

    :param rows: the nodes of each cell; bare text and inline nodes are put into a paragraph.
    :param name: names the CSS class, ``memreport-NAME``.
    """
    group = nodes.tgroup("", cols=len(columns))
    group += [nodes.colspec("", colwidth=column.width) for column in columns]
    heading = [[nodes.Text(column.title)] for column in columns]
    group += nodes.thead("", _row(heading))
    group += nodes.tbody("", *(_row(cells) for cells in rows))
    table = nodes.table("", group, classes=[f"memreport-{name}"])
    return nodes.container("", table, classes=["memreport-scroll"])


def _row(cells: Sequence[Sequence[nodes.Node]]) -> nodes.row:
    return nodes.row("", *(_entry(cell) for cell in cells))


def _entry(content: Sequence[nodes.Node]) -> nodes.entry:
    if all(isinstance(node, nodes.paragraph) for node in content):
        return nodes.entry("", *content)
    return nodes.entry("", nodes.paragraph("", "", *content))
