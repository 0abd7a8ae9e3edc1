"""Sphinx reports whose quotes, paths and cross-references stay true to pinned sources."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

__version__ = "0.1.0"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the extension with Sphinx; the import is late so that tools need no Sphinx."""
    from sphinx_memreport.sphinx_ext import setup as setup_extension

    return setup_extension(app)
