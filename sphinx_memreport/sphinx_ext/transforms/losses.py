"""While a document is read: what its parser takes for something else is noted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from docutils import nodes
from myst_parser.config.main import (
    MdParserConfig,
    TopmatterReadError,
    merge_file_level,
    read_topmatter,
)
from sphinx.transforms import SphinxTransform

from sphinx_memreport.core.problems import Code
from sphinx_memreport.sphinx_ext.depth import is_markdown
from sphinx_memreport.sphinx_ext.directives.base import SOURCE_TEXT, source_lines
from sphinx_memreport.sphinx_ext.logging import note_parser_message
from sphinx_memreport.sphinx_ext.losses import LossScanner

if TYPE_CHECKING:
    from sphinx_memreport.sphinx_ext.domain import MemDomain


class NoteLosses(SphinxTransform):
    """Looks for lost text in a report's documents."""

    default_priority = 10

    def apply(self, **_kwargs: object) -> None:
        """Scan the source text of a Markdown document, the comments of another one."""
        self.docname = self.env.current_document.docname
        self.domain = cast("MemDomain", self.env.get_domain("mem"))
        if self.domain.report_of(self.docname) is None:
            return
        self._read_messages()
        if is_markdown(self.domain.app, self.docname):
            self._scan_markdown()
        else:
            self._scan_comments()

    def _read_messages(self) -> None:
        """What the parser left in the document, however quiet its logger was made."""
        messages = [*self.document.findall(nodes.system_message), *self.document.parse_messages]
        for message in messages:
            if message.children:
                text, line = message[0].astext(), message.get("line", 1)
                note_parser_message(self.domain, self.docname, text, line)

    def _scan_markdown(self) -> None:
        text = cast("str", self.env.temp_data.get(SOURCE_TEXT, ""))
        config = _settings_of(text, self.env.myst_config)  # type: ignore[attr-defined]
        scanner = LossScanner(config, self.domain.own_directives)
        for code, line, message, fix in scanner.scan(text):
            self.domain.note(code, line, message, docname=self.docname, fix=fix)

    def _scan_comments(self) -> None:
        """A directive of ours with one colon is a comment in reStructuredText."""
        names = "|".join(sorted(self.domain.own_directives))
        slip = re.compile(rf"(?P<name>{names})\s*:?:?(?:\s|$)")
        for comment in self.document.findall(nodes.comment):
            match = slip.match(comment.astext())
            if match:
                first = comment.astext().splitlines()[0]
                self.domain.note(
                    Code.UNKNOWN_DIRECTIVE,
                    self._line_of(first, comment.line or 1),
                    f"'.. {first}' is read as a comment",
                    docname=self.docname,
                    fix=f"write '.. {match['name']}::', with two colons",
                )

    def _line_of(self, comment: str, end: int) -> int:
        """The first line of a comment, which docutils places at its end."""
        lines = source_lines(self.env)
        above = (n for n in range(min(end, len(lines)), 0, -1) if lines[n - 1].endswith(comment))
        return next(above, end)


def _settings_of(text: str, config: MdParserConfig) -> MdParserConfig:
    """The settings of MyST that a document is read with: its front matter may change them."""
    try:
        topmatter = read_topmatter(text)
    except TopmatterReadError:  # the parser has said so
        return config
    return merge_file_level(config, topmatter, lambda *_warning: None) if topmatter else config
