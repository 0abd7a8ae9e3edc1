"""Tables that scroll inside a container of their own where a page is narrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from docutils import nodes

#: The CSS class of the container.
SCROLLING = "memreport-scroll"
#: The CSS class of what a reader may choose rows by; without it in a cell, it is the whole cell.
CHOICE = "memreport-choice"


class Column(NamedTuple):
    """A heading and the column's share of the width.

    ``choice`` says that a reader may choose rows by the values of the column.
    """

    title: str
    width: int = 10
    choice: bool = False


def scrolling_table(
    columns: Sequence[Column], rows: Sequence[Sequence[Sequence[nodes.Node]]], name: str
) -> nodes.container:
    """A table in a container that scrolls.

    :param rows: the nodes of each cell; bare text and inline nodes are put into a paragraph.
    :param name: names the CSS class, ``memreport-NAME``.
    """
    group = nodes.tgroup("", cols=len(columns))
    group += [nodes.colspec("", colwidth=column.width) for column in columns]
    heading = [_entry([nodes.Text(column.title)]) for column in columns]
    for column, entry in zip(columns, heading, strict=True):
        entry["classes"] += [CHOICE] if column.choice else []
    group += nodes.thead("", nodes.row("", *heading))
    group += nodes.tbody("", *(_row(cells) for cells in rows))
    table = nodes.table("", group, classes=[f"memreport-{name}"])
    return nodes.container("", table, classes=[SCROLLING])


def as_list(table: nodes.table) -> nodes.bullet_list:
    """Such a table as a list of its rows, each of which has its cells with their titles."""
    heading, *rows = table.findall(nodes.row)
    titles = [entry.astext() for entry in heading]
    return nodes.bullet_list("", *(_item(titles, row) for row in rows))


def _item(titles: Sequence[str], row: nodes.row) -> nodes.list_item:
    item = nodes.list_item()
    for title, entry in zip(titles, row, strict=True):
        if entry.astext():
            paragraphs = cast("list[nodes.paragraph]", entry.children)
            paragraphs[0].insert(0, nodes.Text(f"{title}: "))
            item += paragraphs
    return item


def _row(cells: Sequence[Sequence[nodes.Node]]) -> nodes.row:
    return nodes.row("", *(_entry(cell) for cell in cells))


def _entry(content: Sequence[nodes.Node]) -> nodes.entry:
    if all(isinstance(node, nodes.paragraph) for node in content):
        return nodes.entry("", *content)
    return nodes.entry("", nodes.paragraph("", "", *content))
