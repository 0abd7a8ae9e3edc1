"""Transforms: while reading, what a document cites and leaves open is noted; before writing,
the placeholders are filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_memreport.sphinx_ext.transforms.anchors import OfferAnchors
from sphinx_memreport.sphinx_ext.transforms.fill import (
    FillPlaceholders,
    FillPlaceholdersForLatex,
    ListInnerTables,
    NameAnchors,
)
from sphinx_memreport.sphinx_ext.transforms.losses import NoteLosses
from sphinx_memreport.sphinx_ext.transforms.mentions import NoteMentions

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup_transforms(app: Sphinx) -> None:
    """Register the transforms."""
    app.add_transform(NoteLosses)
    app.add_transform(NoteMentions)
    app.add_transform(OfferAnchors)
    app.add_post_transform(FillPlaceholders)
    app.add_post_transform(FillPlaceholdersForLatex)
    app.add_post_transform(ListInnerTables)
    app.add_post_transform(NameAnchors)
