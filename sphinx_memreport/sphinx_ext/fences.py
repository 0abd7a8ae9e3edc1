"""Fences that are never closed: the Markdown parser closes them in silence.

An unclosed fence takes everything below it along, as when a passage that contains ``:::``
closes the record around it and the record's own end opens a new fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

_OPENING = re.compile(r"^[ >*+\-\d.)]*(?:`{3,}|~{3,}|:{3,})", re.MULTILINE)
_DIRECTIVE = re.compile(r"\{(?P<name>[^}\s]+)\}")


class OpenFence(NamedTuple):
    """A fence without an end: its line, counted from 1, and its opening line's text."""

    line: int
    text: str


class FenceScanner:
    """Finds unclosed fences with the parser's own block rules.

    :param config: the MyST settings of the site, which decide what a fence is.
    :param containers: names of directives whose bodies are parsed and so are scanned, too.
    """

    def __init__(self, config: MdParserConfig, containers: frozenset[str]) -> None:
        self._parser: MarkdownIt = create_md_parser(config, RendererHTML)
        # blocks only: inline rules take most of the time and find no fence
        self._parser.core.ruler.enableOnly(["normalize", "block"])
        self._containers = containers

    def scan(self, text: str) -> Iterator[OpenFence]:
        """Yield the unclosed fences of a document.

        Behind one of them, a fence without a name is most likely the end of another that was
        closed early: a consequence of the first mistake, and not said again.
        """
        first = True
        for fence in self._scan(text, 0):
            if first or fence.text.strip("`~:"):
                yield fence
            first = False

    def _scan(self, text: str, offset: int) -> Iterator[OpenFence]:
        """``offset`` is the number of the line above the first one of ``text``."""
        if not _OPENING.search(text):
            return
        lines = text.split("\n")
        for token in self._parser.parse(text):
            if token.type not in ("fence", "colon_fence") or token.map is None:
                continue
            start, end = token.map
            if not _closes(lines[end - 1], token.markup, alone=end - 1 > start):
                yield OpenFence(offset + start + 1, lines[start].strip())
            elif self._is_container(token.info):
                yield from self._scan(token.content, offset + start + 1)

    def _is_container(self, info: str) -> bool:
        match = _DIRECTIVE.match(info.strip())
        return match is not None and match["name"] in self._containers


def _closes(line: str, markup: str, *, alone: bool) -> bool:
    """Whether the last line of a fence is its closing line."""
    stripped = line.strip(" \t>\r")
    return alone and len(stripped) >= len(markup) and not stripped.strip(markup[0])
