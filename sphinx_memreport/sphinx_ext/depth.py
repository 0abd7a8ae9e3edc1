"""Documents whose blocks stand in each other too deeply for the parsers.

MyST and docutils call themselves for each level, so Python's stack ends at some eighty of them,
and the whole build with it. Such a document is shown as it was written, and said to be unread.
"""

from __future__ import annotations

import re
from textwrap import indent
from typing import TYPE_CHECKING

from sphinx_memreport.core.blocks import fence_for
from sphinx_memreport.core.problems import Code

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from sphinx_memreport.sphinx_ext.domain import MemDomain

#: Levels that both parsers can read; people use five.
DEEPEST = 50
# Each pair of marks is a level; such a run without a word beside it is a rule.
_EMPHASIS = re.compile(r"(?<![*_])[*_]{300,}+(?=\w)")
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
        f"blocks stand in each other deeper than {DEEPEST} levels: nothing of the document is read",
        docname=docname,
        fix="close the directives, lists or quotations around it first",
    )
    content[0] = shown_as_text(docname, content[0], markdown=markdown)


def first_too_deep(text: str, *, markdown: bool) -> int | None:
    """The line, counted from 1, of the first block that stands too deep, or None."""
    if markdown and (marks := _EMPHASIS.search(text)):
        return text.count("\n", 0, marks.start()) + 1
    if markdown and sum(map(text.count, (":::", "```", "~~~"))) <= DEEPEST:
        return None
    depths = _fence_depths(text) if markdown else _indentation_depths(text)
    return next((line for line, depth in enumerate(depths, 1) if depth > DEEPEST), None)


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
        if body.strip():
            # what stands behind the mark of a list is indented like it
            mark = re.match(r"(?:(?:[-*+•]|\w{1,3}[.)]|\.\.)[ ]+)*", body)
            column = len(line.expandtabs()) - len(body.expandtabs())
            while columns and columns[-1] >= column:
                columns.pop()
            if column:
                columns.append(column)
            depths.append(len(columns) + (mark[0].count(" ") if mark else 0))
        else:
            depths.append(0)
    return depths
