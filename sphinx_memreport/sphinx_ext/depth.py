"""Documents whose blocks or emphases stand in each other too deeply for the parsers.

MyST and docutils call themselves for each level of blocks, so Python's stack ends at some eighty
of them, and the whole build with it; storing a document takes it to some two hundred levels of
emphasis. Such a document is shown as it was written, and said to be unread.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from textwrap import indent
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt

from sphinx_memreport.core.blocks import fence_for
from sphinx_memreport.core.problems import Code

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from sphinx_memreport.sphinx_ext.domain import MemDomain

#: Levels of blocks, and of emphases, that both parsers can read; people use five.
DEEPEST = 50
# An underscore inside of a word is a part of it.
_EMPHASIS = re.compile(r"[*~]++|(?<!\w)_++|_++(?!\w)")
# Code, addresses and HTML hide marks where they begin and end in one text, but may do so in two.
_HIDING = str.maketrans(dict.fromkeys("`<[", "."))
# Behind such a mark in a line of reStructuredText, blocks go on that stand in what is marked.
_MARK = re.compile(
    r"""
    (?: [-*+•‣⁃]                # of lists
      | \(?[\w#]++[.)]
      | :(?![:\s])[^:\n]++:     # of fields
      | -[^ \n]++               # of options
      | \.\.                    # of footnotes, substitutions and directives
        (?:[ ]\[[^]\s]++\])?+
        (?:[ ]\|[^|\n]++\|)?+
        (?:[ ]\S++(?<=::))?+
    )[ ]++
    | (?P<cells>(?:\|[ ]++)++)(?=\+-)  # of tables in cells
    """,
    re.VERBOSE,
)
_FENCE = re.compile(r"[ \t>]*+(?P<marks>`{3,}+|~{3,}+|:{3,}+)(?P<info>.*)")


def is_markdown(app: Sphinx, docname: str) -> bool:
    """Whether a document is read by the parser of Markdown."""
    kind = app.config.source_suffix.get(app.env.doc2path(docname).suffix) or ""
    return "markdown" in getattr(app.registry.source_parsers.get(kind), "supported", ())


def replace_too_deep(domain: MemDomain, docname: str, content: list[str]) -> None:
    """Note a document that is too deep, and have its text shown instead of read.

    :param content: the one text of the document, which is replaced.
    """
    markdown = is_markdown(domain.app, docname)
    line = first_too_deep(content[0], markdown=markdown)
    if line is None:
        return
    domain.note(
        Code.SWALLOWED_TEXT,
        line,
        f"blocks or emphases stand in each other deeper than {DEEPEST} levels: nothing of the "
        "document is read",
        docname=docname,
        fix="close the directives, lists, quotations or emphases around it first",
    )
    content[0] = shown_as_text(docname, content[0], markdown=markdown)


def first_too_deep(text: str, *, markdown: bool, deepest: int = DEEPEST) -> int | None:
    """The line, counted from 1, of the first block or emphasis that is too deep, or None.

    :param deepest: how many levels of blocks there may be.
    """
    if markdown and (line := _line_of_deep_emphasis(text)):
        return line
    if markdown and sum(map(text.count, (":::", "```", "~~~"))) <= deepest:
        return None
    depths = _fence_depths(text) if markdown else _indentation_depths(text)
    return next((line for line, depth in enumerate(depths, 1) if depth > deepest), None)


def is_emphasis_too_deep(text: str) -> bool:
    """Whether emphases of a piece of Markdown stand in each other too deeply."""
    if not _has_many_marks(text):
        return False
    tokens = _inline_parser().parseInline(text.translate(_HIDING))[0].children or ()
    return any(token.level > DEEPEST for token in tokens)


def _has_many_marks(text: str) -> bool:
    """Whether emphases could be too deep, which in nearly all text they cannot."""
    return sum(map(len, _EMPHASIS.findall(text))) >= 2 * DEEPEST


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("strikethrough")


def _line_of_deep_emphasis(text: str) -> int | None:
    if not _has_many_marks(text):
        return None
    first = 1
    # what is read as one text, as a paragraph or a cell of a table is, has no blank line in it
    for is_blank, group in groupby(text.split("\n"), lambda line: not line.strip(" \t")):
        lines = list(group)
        if not is_blank and is_emphasis_too_deep("\n".join(lines)):
            return first
        first += len(lines)
    return None


def shown_as_text(title: str, text: str, *, markdown: bool) -> str:
    """A document that shows another one as a literal block."""
    if markdown:
        fence = fence_for(text.split("\n"))
        return f"# {title}\n\n{fence}text\n{text}\n{fence}\n"
    line = "=" * len(title)
    return f"{line}\n{title}\n{line}\n\n.. code-block:: text\n\n{indent(text, '   ')}\n"


def _fence_depths(text: str) -> list[int]:
    """At each line, how many fences of directives are open."""
    open_fences: list[str] = []
    depths: list[int] = []
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match and match["info"].lstrip().startswith("{"):
            open_fences.append(match["marks"])
        elif match and not match["info"].strip():
            # the outermost fence that these marks close takes those inside of it along
            for index, marks in enumerate(open_fences):
                if marks[0] == match["marks"][0] and len(marks) <= len(match["marks"]):
                    del open_fences[index:]
                    break
        depths.append(len(open_fences))
    return depths


def _indentation_depths(text: str) -> list[int]:
    """At each line, how many indentations it stands in."""
    columns: list[int] = []
    depths: list[int] = []
    for line in text.split("\n"):
        body = line.lstrip(" \t")
        if body.startswith("| "):  # of a block of lines, whose indentation stands behind the mark
            body = body[1:].lstrip(" ")
        if body.strip():
            column = len(line.expandtabs()) - len(body.expandtabs())
            while columns and columns[-1] >= column:
                columns.pop()
            if column:
                columns.append(column)
            depths.append(len(columns) + _marks_before(line.lstrip(" \t")))
        else:
            depths.append(0)
    return depths


def _marks_before(text: str) -> int:
    """How many blocks of reStructuredText begin in front of the text of a line."""
    count = end = 0
    while match := _MARK.match(text, end):
        count += match["cells"].count("|") if match["cells"] else 1
        end = match.end()
    return count
