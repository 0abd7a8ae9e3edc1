"""The builder ``memreport``: everything is read and verified, nothing is written.

For ``memreport check``. The ``dummy`` builder resolves every page, which takes longer than
reading what changed; the verdicts are there before that, at ``env-updated``.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from sphinx.builders import Builder

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class CheckBuilder(Builder):
    """Reads what changed and stops before the pages."""

    name = "memreport"
    epilog = "Everything was read and checked; no page was written."
    allow_parallel = True

    def get_outdated_docs(self) -> str:
        """What is to be written: nothing."""
        return "nothing"

    def get_target_uri(self, docname: str, typ: str | None = None) -> str:  # noqa: ARG002
        """The address of a page; there are none."""
        return ""

    def write_documents(self, docnames: Set[str]) -> None:
        """Write nothing, and resolve nothing for it."""

    def prepare_writing(self, docnames: Set[str]) -> None:
        """Nothing is to be prepared."""

    def write(
        self,
        build_docnames: Sequence[str] | None,
        updated_docnames: Sequence[str],
        method: str = "update",
    ) -> None:
        """Skip the writing phase."""


def setup_check_builder(app: Sphinx) -> None:
    """Register the builder."""
    app.add_builder(CheckBuilder)
