"""While a document is read: fences that are never closed are noted."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from sphinx.transforms import SphinxTransform

from sphinx_memreport.core.problems import Code
from sphinx_memreport.sphinx_ext.directives.base import SOURCE_TEXT
from sphinx_memreport.sphinx_ext.fences import FenceScanner

if TYPE_CHECKING:
    from sphinx_memreport.sphinx_ext.domain import MemDomain


class NoteOpenFences(SphinxTransform):
    """Looks for unclosed fences in a report's Markdown documents."""

    default_priority = 10

    def apply(self, **_kwargs: object) -> None:
        """Scan the source text of the document."""
        from sphinx_memreport.sphinx_ext.directives import CONTAINERS

        docname = self.env.current_document.docname
        domain = cast("MemDomain", self.env.get_domain("mem"))
        if domain.report_of(docname) is None or not self._is_markdown(docname):
            return
        scanner = FenceScanner(self.env.myst_config, CONTAINERS)  # type: ignore[attr-defined]
        for fence in scanner.scan(cast("str", self.env.temp_data.get(SOURCE_TEXT, ""))):
            domain.note(
                Code.UNCLOSED_FENCE,
                fence.line,
                f"the fence '{fence.text}' is never closed",
                docname=docname,
                fix="close it with a line of the same marks; if it is the end of another fence, "
                "that one was closed early: give the outer fence more marks than any line inside",
            )

    def _is_markdown(self, docname: str) -> bool:
        suffix = self.env.doc2path(docname).suffix
        kind = self.config.source_suffix.get(suffix) or ""
        parser = self.env._app.registry.source_parsers.get(kind)
        return "markdown" in getattr(parser, "supported", ())
