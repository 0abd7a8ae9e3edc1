"""Placeholders that a post-transform fills once all documents are read.

They hold plain values only, since doctrees are pickled. A writer never sees one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class evidence_block(nodes.General, nodes.Element):  # noqa: N801 - docutils' convention
    """One piece of evidence, ``number`` in its document; its child is the caption, if any."""


class record_relations(nodes.General, nodes.Element):  # noqa: N801
    """What is known of the record ``target`` elsewhere: who cites it, its parts …"""


class record_standing(nodes.General, nodes.Element):  # noqa: N801
    """Whether the record ``target`` is superseded."""


class search_report(nodes.General, nodes.Element):  # noqa: N801
    """What the search of the record, or ``annotation``, ``number`` of its document came to."""


class member_header(nodes.General, nodes.Element):  # noqa: N801
    """System, run, pins and counts of the report ``report``."""


class source_register(nodes.General, nodes.Element):  # noqa: N801
    """The sources of the report ``report``."""


class record_list(nodes.General, nodes.Element):  # noqa: N801
    """The records that view ``number`` of the document asks for."""


class evidence_overview(nodes.General, nodes.Element):  # noqa: N801
    """What stands behind the records that view ``number`` of the document asks for."""


class report_overview(nodes.General, nodes.Element):  # noqa: N801
    """The reports that view ``number`` of the document asks for, at a glance."""


class profile_comparison(nodes.General, nodes.Element):  # noqa: N801
    """The profiles that view ``number`` of the document asks for, side by side."""


class record_graph(nodes.General, nodes.Element):  # noqa: N801
    """The records and relations that view ``number`` of the document asks for."""


class path_reference(nodes.Inline, nodes.TextElement):  # noqa: N801
    """A path in a source: attributes ``source``, ``path``, ``lines``."""


PLACEHOLDERS: tuple[type[nodes.Element], ...] = (
    evidence_block,
    record_relations,
    record_standing,
    search_report,
    member_header,
    source_register,
    record_list,
    evidence_overview,
    report_overview,
    profile_comparison,
    record_graph,
    path_reference,
)


def setup_nodes(app: Sphinx) -> None:
    """Register the placeholders; a writer that meets one has been given an unfinished page."""

    def visit(_writer: Any, node: nodes.Element) -> None:
        raise RuntimeError(f"{type(node).__name__} was not filled")

    handlers = (visit, None)
    for placeholder in PLACEHOLDERS:
        app.add_node(
            placeholder,
            html=handlers,
            latex=handlers,
            text=handlers,
            man=handlers,
            texinfo=handlers,
        )
