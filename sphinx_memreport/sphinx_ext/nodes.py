"""Placeholders that a post-transform fills once all documents are read.

They hold plain values only, since doctrees are pickled, and as few nodes as can be: Sphinx walks
over every node of a document some thirty times, and keeps all of them until they are written. A
writer never sees one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class evidence_block(nodes.General, nodes.Element):  # noqa: N801 - docutils' convention
    """One piece of evidence, ``number`` in its document; its child is the caption, if any."""


class Heading(NamedTuple):
    """What the signature of a card shows besides its title."""

    report: str
    #: The ID that is shown.
    id: str
    #: Where the ID leads: :data:`HERE`, :data:`RECORD`, or a web address; nowhere if empty.
    link: str
    #: Words in frames, each with the class that gives it its colour.
    badges: tuple[tuple[str, str], ...]
    #: Whether the card declares the ID, so that what is known of it elsewhere is shown, too.
    declares: bool


#: The anchor of the signature itself.
HERE = "#"
#: The record of that ID, wherever it is declared.
RECORD = "record"


class record_card(addnodes.desc):  # noqa: N801
    """A card: each signature holds the title alone and, as ``memreport_heading``, the rest."""


class record_field(nodes.Part, nodes.Element):  # noqa: N801
    """An option of a card: its name is the attribute ``name``, its value the only child."""


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
    record_card,
    record_field,
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

    for placeholder in PLACEHOLDERS:
        # Sphinx keeps headings as they were read, for tables of contents: there, a path is its text
        handlers = (_pass, _pass) if placeholder is path_reference else (visit, None)
        app.add_node(
            placeholder,
            html=handlers,
            latex=handlers,
            text=handlers,
            man=handlers,
            texinfo=handlers,
        )
    app.connect("builder-inited", _complete_handlers)


def _pass(_writer: Any, _node: nodes.Element) -> None:
    """Show what is inside."""


def _complete_handlers(app: Sphinx) -> None:
    """Have nodes shown as the builder's format says where nothing is said for the builder itself.

    Sphinx looks at the format only if no extension says anything for the builder; one that comes
    with sphinx-needs does so for EPUB, and nodes of all others could not be shown there.
    """
    every = app.registry.translation_handlers
    own = every.get(app.builder.name)
    if own is not None and app.builder.name != app.builder.format:
        for name, handlers in every.get(app.builder.format, {}).items():
            own.setdefault(name, handlers)
