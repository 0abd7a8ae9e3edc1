"""Includes that lead back to themselves, or take a document beyond all bounds.

docutils notices that a file is about to include itself, and warns; MyST goes on until Python's
stack ends. The event that both emit does not say which files are open. So the directive of Sphinx,
and the class that MyST has in its place, are replaced by ones that look first.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from traceback import walk_stack
from typing import TYPE_CHECKING, Any, TypeVar

from docutils import nodes
from docutils.parsers.rst import DirectiveError
from myst_parser.mdit_to_docutils import base as myst
from myst_parser.mocking import MockIncludeDirective
from sphinx.directives.other import Include

from sphinx_memreport.config import MAX_DOCUMENT_BYTES
from sphinx_memreport.core.problems import Code
from sphinx_memreport.sphinx_ext.depth import DEEPEST, first_too_deep
from sphinx_memreport.sphinx_ext.domain import mem_domain

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

#: Includes of one document, with those of the files that it includes; people use a few.
MOST_INCLUDES = 1000
#: Where what is known of the document that is read is kept.
_INCLUDES = "memreport-includes"
# A level of blocks or includes is some eight functions that call each other.
_CALLS_OF_A_LEVEL = 10

_CIRCLE = "it includes itself, or a file that includes it"

#: A file and the options that take a part of it.
_Part = tuple[object, ...]

N = TypeVar("N", bound=nodes.Node)


def setup_includes(app: Sphinx) -> None:
    """Replace the directives."""
    app.connect("source-read", _begin_document)
    app.add_directive("include", _RestInclude, override=True)
    vars(myst)["MockIncludeDirective"] = _MarkdownInclude


def _begin_document(app: Sphinx, docname: str, _content: list[str]) -> None:
    itself = _part(os.path.realpath(app.env.doc2path(docname)), {})
    app.env.temp_data[_INCLUDES] = _Includes(app.env, docname, [itself], _calls())


def _calls() -> int:
    """How many functions have called each other."""
    return sum(1 for _ in walk_stack(None))


def _part(file: str, options: Mapping[str, Any]) -> _Part:
    clip = ("start-line", "end-line", "start-after", "end-before")
    return (file, *(options.get(name) or None for name in clip))


@dataclass
class _Includes:
    """The includes of the document that is read."""

    env: BuildEnvironment
    docname: str
    #: What is being read, the document first; of reStructuredText, docutils knows the rest.
    open: list[_Part]
    calls: int
    count: int = 0
    size: int = 0
    #: The line of the document in which the outermost include stands.
    line: int = 1

    def read(
        self,
        directive: MockIncludeDirective | Include,
        parse: Callable[[], Sequence[N]],
        *,
        markdown: bool,
    ) -> list[N]:
        """What an include becomes; nothing, and a problem, where that would never end.

        :param parse: what the directive does by itself.
        :param markdown: whether the parser of Markdown reads the file.
        """
        argument, options = directive.arguments[0], directive.options
        try:
            fault = self._fault(argument, options, markdown=markdown)
            if not fault:
                self.open.append(_part(self.env.relfn2path(argument)[1], options))
                try:
                    return list(parse())
                finally:
                    self.open.pop()
        except DirectiveError as error:
            if "circular inclusion" not in error.msg:
                raise
            fault = _CIRCLE
        if self.count <= MOST_INCLUDES + 1:
            mem_domain(self.env).note_once(
                Code.SWALLOWED_TEXT,
                self.line,
                f"nothing of the included file '{argument}' is read: {fault}",
                docname=self.docname,
                fix="take the include out, or name another file",
            )
        return []

    def _fault(self, argument: str, options: Mapping[str, Any], *, markdown: bool) -> str:
        """Why a file is not read; empty when it is, or its parser says why not."""
        self.count += 1
        if self.count > MOST_INCLUDES:
            return f"the document includes more than {MOST_INCLUDES:,} files"
        try:
            file = Path(self.env.relfn2path(argument)[1])
            found = file.stat()
        except FileNotFoundError:
            return ""
        except (OSError, RuntimeError, ValueError) as error:  # as of links that lead in a circle
            return getattr(error, "strerror", None) or "its path cannot be followed"
        self.size += found.st_size
        if not stat.S_ISREG(found.st_mode):
            return "it is no regular file"
        if self.size > MAX_DOCUMENT_BYTES:
            return f"all that the document includes is larger than {MAX_DOCUMENT_BYTES:,} bytes"
        if "literal" in options or "code" in options:
            return ""
        if _part(str(file), options) in self.open:
            return _CIRCLE
        try:
            text = file.read_text(options.get("encoding", "utf-8"), errors="replace")
        except (OSError, ValueError, LookupError):  # no permission, or no such encoding
            return ""
        deepest = DEEPEST - (_calls() - self.calls) // _CALLS_OF_A_LEVEL
        if deepest <= 0 or first_too_deep(text, markdown=markdown, deepest=deepest):
            return f"its blocks and those around it are deeper than {DEEPEST} levels"
        return ""


class _MarkdownInclude(MockIncludeDirective):
    """The include of MyST."""

    def run(self) -> list[nodes.Element]:
        """Read the file, unless that would never end."""
        env = self.renderer.sphinx_env
        known: _Includes | None = env.temp_data.get(_INCLUDES) if env else None
        if known is None or _is_of_docutils(self.arguments[0]):
            return super().run()
        if len(known.open) == 1:
            known.line = self.lineno
        return known.read(self, super().run, markdown=True)


class _RestInclude(Include):
    """The include of Sphinx; what is included is read after it returns."""

    def run(self) -> list[nodes.Node]:
        """Read the file, unless that would never end."""
        known: _Includes | None = self.env.temp_data.get(_INCLUDES)
        if known is None or _is_of_docutils(self.arguments[0]):
            return list(super().run())
        if len(known.open) == 1 and len(self.state.document.include_log) <= 1:
            known.line = self.get_source_info()[1]
        # another parser may be named
        formats = getattr(self.options.get("parser"), "supported", ())
        return known.read(self, super().run, markdown="markdown" in formats)


def _is_of_docutils(argument: str) -> bool:
    return argument.startswith("<") and argument.endswith(">")
