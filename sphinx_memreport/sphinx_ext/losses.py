"""What the Markdown parser takes for something else in silence: found in its own block tokens.

An unclosed fence takes everything below it along, as when a passage that contains ``:::``
closes the record around it and the record's own end opens a new fence. A fence with a slip in
its opening line becomes a code block, and one below a line of HTML stays text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import is_option_line
from myst_parser.parsers.mdit import create_md_parser

from sphinx_memreport.core.blockscan import CONTAINERS
from sphinx_memreport.core.problems import Code

#: What begins a quotation or an item of a list.
_LEVEL = r"(?:[>*+-]|\d{1,9}[.)])"
_WORTH_A_LOOK = re.compile(
    rf"`{{2}}|~{{3}}|:{{2}}|<|\|| {{4}}|\t|{_LEVEL}(?: {{0,3}}{_LEVEL}){{6}}"
)
#: Evidence whose fence is sure to be one: no line in between begins with as many marks.
_EVIDENCE = re.compile(
    r"^(?P<marks>`{3,})\{evidence\}(?:[ ][^\n`]*)?\n(?:(?![ ]*(?P=marks))[^\n]*\n)*(?P=marks)$",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(r"\{(?P<name>[^}\s]+)\}(?:\s|$)")
_MARKS = re.compile(r"\s*(?:`{2,}|~{2,}|:{2,})")
_ANY_DIRECTIVE = re.compile(r"\s*(?:`{3,}|~{3,}|:{3,})\{[^}\s]+\}")
_CELL_END = re.compile(r"(?<!\\)(?:\\\\)*\|")
#: Settings of MyST with which it knows no directives.
_ONLY = ("commonmark_only", "gfm_only")
_CLOSE_IT = (
    "close it with a line of the same marks; if it is the end of another fence, that one was "
    "closed early: give the outer fence more marks than any line inside"
)


class Loss(NamedTuple):
    """Text that is read as something else: where (a line from 1), and what to do about it."""

    code: Code
    line: int
    message: str
    fix: str


class LossScanner:
    """Finds what is lost with the parser's own block rules.

    :param config: the MyST settings of the site, which decide what a fence is.
    :param own: names of our directives, whose misspelt fences are sought.
    """

    def __init__(self, config: MdParserConfig, own: frozenset[str]) -> None:
        self._parser: MarkdownIt = create_md_parser(config, RendererHTML)
        # blocks only: inline rules take most of the time and find no fence
        self._parser.core.ruler.enableOnly(["normalize", "block"])
        self._own = own
        self._only = next((name for name in _ONLY if getattr(config, name)), None)
        self._has_directives = (
            not self._only and "fence" in self._parser.get_active_rules()["block"]
        )
        # below that many levels, the parser lets go of the text without a word
        self._deepest = self._parser.options.maxNesting
        names = "|".join(sorted(own, key=len, reverse=True))
        self._slip = re.compile(rf"[\s{{(]*(?P<name>{names})\b")

    def scan(self, text: str) -> Iterator[Loss]:
        """Yield what is lost in a document.

        Behind an open fence, another one without a name is most likely the end of a third that
        was closed early: a consequence of the first mistake, and not said again.
        """
        first = True
        for loss in self._scan(text, 0):
            is_open = loss.code is Code.UNCLOSED_FENCE
            if not is_open or first or re.search(r"\{|\w", loss.message.split("'")[1]):
                yield loss
            first = first and not is_open

    def _scan(self, text: str, offset: int) -> Iterator[Loss]:
        """``offset`` is the number of the line above the first one of ``text``."""
        # parsing all records again to find nothing in them would take a tenth of the reading
        rest = _EVIDENCE.sub("", text) if self._has_directives else text
        if not _WORTH_A_LOOK.search(rest):
            return
        lines = text.split("\n")
        for token in self._parser.parse(text):
            if token.map is None:
                continue
            start = offset + token.map[0] + 1
            if token.nesting == 1 and token.level + 1 >= self._deepest:
                yield _too_deep(start, self._deepest)
            if token.type in ("fence", "colon_fence"):
                yield from self._fence(token, start, lines[token.map[0]].strip())
            elif token.type == "html_block":
                yield from _html(token, start)
            elif token.type == "table_open":
                yield from _table(lines[token.map[0] : token.map[1]], start)
            elif token.type in ("inline", "code_block"):
                yield from self._stray_fences(token, start)

    def _fence(self, token: Token, line: int, opening: str) -> Iterator[Loss]:
        match = _DIRECTIVE.match(token.info.strip())
        name = match["name"].lower() if match is not None else ""  # docutils takes any case
        if not _is_closed(token):
            yield Loss(
                Code.UNCLOSED_FENCE, line, f"the fence '{opening}' is never closed", _CLOSE_IT
            )
        elif self._only and name in self._own:
            yield _not_a_directive(name, line, self._only)
        elif match is None and (slip := self._slip.match(token.info)):
            yield _misread(slip["name"], line, opening)
        elif name in CONTAINERS:
            yield from self._front_matter(name, token.content, line)
            yield from self._scan(token.content, line)

    def _front_matter(self, name: str, content: str, line: int) -> Iterator[Loss]:
        """A rule at the start of a body and another below: the parser drops all in between."""
        start, body = _below_options(content)
        if not body.startswith("---"):
            return
        tokens = self._parser.parse(body)
        if tokens and tokens[0].type == "front_matter":
            yield Loss(
                Code.SWALLOWED_TEXT,
                line + start + 1,
                f"the body of {name} begins with '---': all up to the next '---' is dropped, "
                "as if it were front matter",
                "write *** for a rule",
            )

    def _stray_fences(self, token: Token, line: int) -> Iterator[Loss]:
        """Lines of paragraphs and indented code that were meant to open a directive of ours."""
        for number, text in enumerate(token.content.split("\n")):
            marks = _MARKS.match(text)
            slip = self._slip.match(text, marks.end()) if marks else None
            if marks and slip and ("{" in text or ":" in marks[0]):
                yield _misread(slip["name"], line + number, text.strip())


def _below_options(content: str) -> tuple[int, str]:
    """How many lines of options and blank ones a directive has, and its body below them."""
    lines = content.split("\n")
    start = 0
    if lines[0].startswith("---"):
        start = next((n for n, text in enumerate(lines[1:], 2) if text.startswith("---")), 0)
    else:
        while start < len(lines) and is_option_line(lines[start]):
            start += 1
    while start < len(lines) and not lines[start].strip():
        start += 1
    return start, "\n".join(lines[start:])


def _misread(name: str, line: int, opening: str) -> Loss:
    return Loss(
        Code.UNKNOWN_DIRECTIVE,
        line,
        f"'{opening}' is not read as the directive '{name}'",
        f"write ```{{{name}}} or :::{{{name}}} and a space before what follows, indented like "
        "the text around it (colon fences need the MyST extension colon_fence)",
    )


def _not_a_directive(name: str, line: int, setting: str) -> Loss:
    return Loss(
        Code.UNKNOWN_DIRECTIVE,
        line,
        f"with {setting}, '{name}' is a code block and no directive",
        f"take {setting} out of the front matter, or of conf.py",
    )


def _too_deep(line: int, deepest: int) -> Loss:
    return Loss(
        Code.SWALLOWED_TEXT,
        line,
        f"lists and quotations stand in each other deeper than the {deepest} levels that are "
        "read: what is inside is dropped",
        "take it out of some of them (a list in a list counts as two levels)",
    )


def _is_closed(token: Token) -> bool:
    """Whether a fence has a closing line: then it is one line longer than its content."""
    assert token.map is not None
    inside = token.content.removesuffix("\n").count("\n") + 1 if token.content else 0
    return token.map[1] - token.map[0] - 1 > inside


def _html(token: Token, line: int) -> Iterator[Loss]:
    for number, text in enumerate(token.content.split("\n")):
        if _ANY_DIRECTIVE.match(text):
            yield Loss(
                Code.SWALLOWED_TEXT,
                line + number,
                f"'{text.strip()}' stands in a block of HTML and is not read as a directive",
                "put a blank line above it",
            )
    if token.content.lstrip().startswith("<!--") and "-->" not in token.content:
        yield Loss(
            Code.SWALLOWED_TEXT,
            line,
            "the comment '<!--' is never closed and takes the rest of the document along",
            "close it with -->",
        )


def _table(lines: list[str], line: int) -> Iterator[Loss]:
    columns = _cells(lines[0])
    for number, text in enumerate(lines):
        if _cells(text) > columns:
            yield Loss(
                Code.SWALLOWED_TEXT,
                line + number,
                f"the row has {_cells(text)} cells, the table {columns} columns: "
                "the rest is dropped",
                r"give the header as many cells, or write \| for a bar that is text",
            )


def _cells(row: str) -> int:
    text = row.strip(" \t>")
    bars = len(_CELL_END.findall(text))
    return bars + 1 - text.startswith("|") - (text.endswith("|") and not text.endswith("\\|"))
