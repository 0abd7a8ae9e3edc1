"""What sphinx-needs would make directives of: the types of the needs that records become."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from sphinx_memreport.core.problems import Code
from sphinx_memreport.sphinx_ext.directives.base import MemDirective
from sphinx_memreport.sphinx_ext.needs import own_need_types

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config


class NeedTypeDirective(MemDirective):
    """``mem_object``: a slip for ``memobject`` that would declare a need and no record."""

    def run(self) -> list[nodes.Node]:
        """Say so; what stands in it is shown as it was written."""
        self.note(
            Code.UNKNOWN_DIRECTIVE,
            f"'{self.name}' is a type of needs, which records become; it declares no record",
            fix=f"write {self.name.replace('_', '')}",
        )
        return [nodes.literal_block("", "\n".join(self.content))]


def setup_need_types(app: Sphinx) -> None:
    """Take the place of the directives, once sphinx-needs has made them."""
    app.connect("config-inited", _replace, priority=900)


def _replace(app: Sphinx, _config: Config) -> None:
    for name in own_need_types(app):
        app.add_directive(name, NeedTypeDirective, override=True)
