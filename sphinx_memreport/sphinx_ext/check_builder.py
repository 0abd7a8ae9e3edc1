"""The builder ``memreport``: everything is read and verified, nothing is written.

For ``memreport check``. The verdicts are there when all is read (``env-updated``); the ``dummy``
builder goes on to resolve every page, which takes most of its time.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

from sphinx.builders import Builder

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class CheckBuilder(Builder):
    """Reads what changed, and stops before the pages."""

    name = "memreport"
    epilog = "Everything was read and checked; no page was written."
    allow_parallel = True

    def get_outdated_docs(self) -> list[str]:
        """The documents to write: none."""
        return []

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:  # noqa: ARG002
        """The address of a page; there are none."""
        return ""

    def write_documents(self, docnames: Set[str]) -> None:
        """Resolve and write nothing."""


def setup_check_builder(app: Sphinx) -> None:
    """Register the builder."""
    app.add_builder(CheckBuilder)
