"""An extension with a builder that has Sphinx read all documents and writes none."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from sphinx.builders import Builder

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class ReadingBuilder(Builder):
    """Reads, and does nothing more."""

    name = "reading"

    def get_outdated_docs(self) -> list[str]:
        """The documents to write: none."""
        return []

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:  # noqa: ARG002
        """The address of a page; there are none."""
        return ""

    def write_documents(self, docnames: Set[str]) -> None:
        """Write nothing."""


def setup(app: Sphinx) -> None:
    """Register the builder."""
    app.add_builder(ReadingBuilder)
