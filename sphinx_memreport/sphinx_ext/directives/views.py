"""Views: directives that show what other documents declare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from sphinx_memreport.sphinx_ext.directives.base import MemDirective
from sphinx_memreport.sphinx_ext.nodes import source_register

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class SourcesDirective(MemDirective):
    """The source register of a report, from ``memreport.toml``."""

    optional_arguments = 0
    option_names = frozenset({"report"})

    def run(self) -> list[nodes.Node]:
        """Show the register of the named report, else of the document's own."""
        values = self.parse_options()
        if values is None:
            return []
        slug = values.get("report", "").strip() or self.facts.report
        if slug is None and not self.inside_report():
            return []
        self.facts.source_registers.append(slug or "")
        return [source_register("", report=slug)]


def setup_views(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("memsources", SourcesDirective)
