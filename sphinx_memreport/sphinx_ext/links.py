"""Links between documents."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from docutils import nodes
from sphinx.errors import NoUri
from sphinx.util.nodes import make_refnode

if TYPE_CHECKING:
    from sphinx.builders import Builder


def internal_link(
    builder: Builder,
    fromdocname: str,
    todocname: str,
    anchor: str,
    shown: nodes.Element,
    title: str | None = None,
) -> nodes.Element:
    """A link to an anchor of a document, or to the document when the anchor is empty.

    Where all documents are one page, what Sphinx makes of an anchor,
    ``#document-memory#mem-obj-note``, leads nowhere: see :func:`on_one_page`. A document that is no
    part of what is built (one book of several) cannot be linked to: then what is shown is given
    back.
    """
    try:
        link = make_refnode(builder, fromdocname, todocname, anchor, shown, title)
    except NoUri:
        return shown
    if anchor and builder.name == ONE_PAGE:
        link["refuri"] = f"#{on_one_page(todocname, anchor)}"
    return link


#: The builder that makes one page of all documents.
ONE_PAGE = "singlehtml"


def on_one_page(docname: str, anchor: str) -> str:
    """The anchor where all documents are one page: several of them may have one of its name."""
    return quote(f"{docname}:{anchor}", safe="/:")
