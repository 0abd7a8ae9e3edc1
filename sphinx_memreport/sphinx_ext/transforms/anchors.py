"""Markdown links to the anchors of records: ``[text](memory.md#mem-obj-note)``."""

from __future__ import annotations

from typing import Any

from sphinx import addnodes
from sphinx.transforms import SphinxTransform

from sphinx_memreport.core.ids import anchor


class OfferAnchors(SphinxTransform):
    """Tells MyST of the records of a document: it knows headings and named targets only.

    Else it would warn of a link that leads to the record all the same. Such a link is no citation.
    """

    default_priority = 870  # before MyST resolves the links within the document, at 879

    def apply(self, **_kwargs: Any) -> None:
        """Add the anchors to those that MyST keeps, by slug: line, anchor, text."""
        found = {}
        for signature in self.document.findall(addnodes.desc_signature):
            heading = signature.get("memreport_heading")
            if heading and heading.declares and (name := anchor(heading.id)) in signature["ids"]:
                found[name] = (signature.line or 0, name, heading.id)
        if found:
            vars(self.document)["myst_slugs"] = found | getattr(self.document, "myst_slugs", {})
            metadata = self.env.metadata[self.env.current_document.docname]
            metadata["myst_slugs"] = found | metadata.get("myst_slugs", {})
