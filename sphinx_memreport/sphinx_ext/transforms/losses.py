"""While a document is read: what its parser takes for something else is noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
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
from sphinx_memreport.sphinx_ext.logging import DUPLICATE_LINKS, note_parser_message
from sphinx_memreport.sphinx_ext.losses import Loss, LossScanner, defined_again, loosely, plain_name

if TYPE_CHECKING:
    from sphinx_memreport.sphinx_ext.domain import MemDomain

#: Some that are read as one come from another keyboard.
_COLONS = ":：﹕∶꞉"
#: What the argument of a directive of ours begins with: an ID, or a path.
_ID = re.compile(r"(?:SRC|RT|MEM|EPI)-\w")
_PATH = re.compile(r"\S*[./]\w\S*")


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
        for loss in scanner.scan(text):
            self._note(loss)
        # the scanner does not look into included files
        said = cast("set[tuple[str, int]]", self.env.temp_data.get(DUPLICATE_LINKS, set()))
        texts = [text, *self._included()] if said else []
        for label, line in sorted(said):
            found = {address for each in texts for address in scanner.addresses(each, label)}
            if label not in scanner.duplicates and len(found) > 1:
                self._note(defined_again(label.lower(), line))

    def _included(self) -> Iterator[str]:
        for name in self.document.settings.record_dependencies.list:
            with suppress(OSError, UnicodeError):
                yield Path(name).read_text(encoding="utf-8")

    def _note(self, loss: Loss) -> None:
        self.domain.note(loss.code, loss.line, loss.message, docname=self.docname, fix=loss.fix)

    def _scan_comments(self) -> None:
        """A directive of ours with a slip before its body is a comment in reStructuredText."""
        slip = re.compile(
            rf"[{{(]?(?P<name>{loosely(self.domain.own_directives)})(?![\w-])[)}}]?"
            rf"\s*(?P<colons>[{_COLONS}]*)\s*(?P<argument>.*)",
            re.IGNORECASE,
        )
        line = 0
        for comment in self.document.findall(nodes.comment):
            first, _, rest = comment.astext().partition("\n")
            match = slip.match(first)
            if match and _is_meant(match, has_body=rest.startswith(("\n", ":"))):
                line = self._line_of(first, comment.line, line)
                name = plain_name(match["name"])
                message = f"'.. {first}' is read as a comment"
                fix = f"write '.. {name}::', with two colons and a space behind them"
                self._note(Loss(Code.UNKNOWN_DIRECTIVE, line, message, fix))

    def _line_of(self, comment: str, end: int | None, last: int) -> int:
        """The line that a comment begins in.

        :param end: where docutils places it, at its end; None inside of other blocks.
        :param last: the line of the comment before it.
        """
        lines = source_lines(self.env)
        order = range(last + 1, len(lines) + 1)
        if end is not None:
            order = range(min(end, len(lines)), 0, -1)
        return next((n for n in order if comment in lines[n - 1]), end or last or 1)


def _is_meant(slip: re.Match[str], *, has_body: bool) -> bool:
    """Whether a comment was meant as a directive, and does not just begin with its name.

    ``evidence`` is a word that comments begin with, and ``mem object`` may be one.
    """
    name, colons, argument = slip["name"], slip["colons"], slip["argument"]
    if not argument or len(colons) > 1 or _ID.match(argument):
        return True
    if name.lower() != "evidence" and " " not in name:
        return True
    if has_body:
        return bool(colons or _PATH.match(argument))
    return _PATH.fullmatch(argument) is not None


def _settings_of(text: str, config: MdParserConfig) -> MdParserConfig:
    """The settings of MyST that a document is read with: its front matter may change them."""
    try:
        topmatter = read_topmatter(text)
    except TopmatterReadError:  # the parser has said so
        return config
    return merge_file_level(config, topmatter, lambda *_warning: None) if topmatter else config
