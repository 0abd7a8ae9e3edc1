"""Markdown of anybody's making, so written that MyST does nothing with it but show it.

Plain Markdown knows no directives, roles, targets or comments, and its readers may drop raw HTML;
MyST would carry them out. Here each of them is escaped. What was escaped is then read with MyST's
own parser: a text in which anything active is left is shown as a literal block instead, so that
safety does not rest on the escaping.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from sphinx_memreport.core.blocks import fence_for
from sphinx_memreport.core.ids import parse_record_id
from sphinx_memreport.core.inline import code_ends

# Rules that show text, or nest it; everything else that MyST knows does something.
_SHOWN = frozenset(
    "blockquote_close blockquote_open bullet_list_close bullet_list_open code_block code_inline "
    "em_close em_open fence hardbreak heading_close heading_open hr inline link_close link_open "
    "list_item_close list_item_open ordered_list_close ordered_list_open paragraph_close "
    "paragraph_open softbreak strong_close strong_open table_close table_open tbody_close "
    "tbody_open td_close td_open text text_special th_close th_open thead_close thead_open "
    "tr_close tr_open".split()
)
_ROLE = re.compile(r"\{[a-zA-Z0-9_\-+:]+\}`")
_AUTOLINK = re.compile(r"<(?:https?://|mailto:)[^\s<>]*>")
_TAG = re.compile(r"<[A-Za-z/!?]")
_WEB = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
_DESTINATION = re.compile(r"\]\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\))?[^\s()<>]*))")
_RECORD_LINK = re.compile(
    r"\[(?P<text>[^\[\]`<>{}\\\n]+)\]"
    r"\((?P<file>[\w.-]*)#(?P<id>[a-z]{2,4}-[a-z]{2,4}-[a-z0-9-]+)\)"
)
_BLOCK_MARK = re.compile(r"[:%]|\+\s*\+\s*\+|\(.*\)=$")
_WORD = re.compile(r"[^\W_]+")


@cache
def commonmark() -> MarkdownIt:
    """The parser of the plain form: CommonMark and tables."""
    return MarkdownIt("commonmark").enable("table")


class Links(NamedTuple):
    """Where links may lead besides the web: files of the report, and its records."""

    files: Collection[str] = ()
    records: Collection[str] = ()

    def admits(self, href: str) -> bool:
        """Whether a link may stay one: it must not make MyST look for a file on this machine."""
        return bool(_WEB.match(href)) or href.startswith("#") or href.split("#")[0] in self.files


class Inert:
    """Makes texts inert; ``literal`` counts those that are shown as literal blocks."""

    def __init__(self, links: Links | None = None) -> None:
        self._links = links or Links()
        self._plain = commonmark()
        self._myst = create_md_parser(
            MdParserConfig(enable_extensions={"colon_fence"}), RendererHTML
        )

    def block(self, text: str) -> str:
        """Blocks of Markdown. The result is without blank lines at its ends."""
        text = _trimmed(text)
        written = _Blocks(text, self._plain, self.escaped).written()
        if written is not None and not lost_words(text, written) and self._is_inert(written):
            return written
        return literal(text)

    def inline(self, text: str) -> str:
        """One line of inline Markdown, as options and labels hold it."""
        line = " ".join(text.split())
        written = self.escaped(line)
        if self._are_shown(self._myst.parseInline(written)):
            return written
        ticks = fence_for([line], "`", least=1)
        return f"{ticks} {line} {ticks}"

    def escaped(self, text: str) -> str:
        """Inline Markdown with everything escaped that only MyST knows, and HTML."""
        return _Scanner(text, self._links).run()

    def _is_inert(self, text: str) -> bool:
        environment: dict[str, dict[str, dict[str, str]]] = {}
        # a line above: front matter stands on the first line alone
        tokens = self._myst.parse(f"\n{text}", environment)
        references = environment.get("references", {}).values()
        return self._are_shown(tokens) and all(
            self._links.admits(each["href"]) for each in references
        )

    def _are_shown(self, tokens: Iterable[Token]) -> bool:
        for token in tokens:
            if token.type not in _SHOWN and not self._is_reference(token):
                return False
            if token.type == "fence" and token.info.lstrip().startswith("{"):
                return False
            if token.type == "link_open" and not self._links.admits(str(token.attrGet("href"))):
                return False
            if token.children and not self._are_shown(token.children):
                return False
        return True

    def _is_reference(self, token: Token) -> bool:
        """Whether this is the role that links to records became."""
        return token.type == "myst_role" and token.meta["name"] == "mem"


def lost_words(text: str, written: str) -> bool:
    """Whether a text has words that another one lacks, as of a table's row that is too long.

    Where links to records lead is no loss: they become references by ID.
    """
    shown = _RECORD_LINK.sub(r"\g<text>", text)
    return bool(Counter(_WORD.findall(shown)) - Counter(_WORD.findall(written)))


def literal(text: str) -> str:
    """A text as a literal block."""
    lines = text.split("\n")
    fence = fence_for(lines)
    return "\n".join([f"{fence}text", *lines, fence])


def _trimmed(text: str) -> str:
    lines = [line.rstrip() if not line.strip() else line for line in text.split("\n")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    return "\n".join(lines)


# --- inline -------------------------------------------------------------------------------


class _Scanner:
    """One pass over inline Markdown, in time that grows with its length alone."""

    def __init__(self, text: str, links: Links) -> None:
        self._text = text
        self._links = links
        self._code_ends = code_ends(text)

    def run(self) -> str:
        parts: list[str] = []
        position = 0
        while position < len(self._text):
            written, position = self._next(position)
            parts.append(written)
        return "".join(parts)

    def _next(self, at: int) -> tuple[str, int]:
        text = self._text
        char = text[at]
        if char == "\\":
            return text[at : at + 2], at + 2
        if char == "`":
            end = self._code_ends[at]
            return text[at:end], end
        if char == "{" and _ROLE.match(text, at):
            return "\\{", at + 1
        if char == "<":
            return self._angle(at)
        if char == "!" and text.startswith("[", at + 1):
            return "\\!", at + 1
        if char == "[":
            return self._bracket(at)
        if char == "]" and text.startswith("(", at + 1) and not self._may_link(at):
            return "\\]", at + 1
        return char, at + 1

    def _angle(self, at: int) -> tuple[str, int]:
        link = _AUTOLINK.match(self._text, at)
        if link:
            return link[0], link.end()
        return ("\\<" if _TAG.match(self._text, at) else "<"), at + 1

    def _bracket(self, at: int) -> tuple[str, int]:
        if self._text.startswith("^", at + 1):  # a footnote
            return "\\[", at + 1
        match = _RECORD_LINK.match(self._text, at)
        if match and (record := record_of_anchor(match["id"])) in self._links.records:
            shown = match["text"].strip()
            role = record if shown == record else f"{shown} <{record}>"
            return f"{{mem}}`{role}`", match.end()
        return "[", at + 1

    def _may_link(self, at: int) -> bool:
        match = _DESTINATION.match(self._text, at)
        if not match:
            return False
        return self._links.admits(match[1] if match[1] is not None else match[2])


def record_of_anchor(anchor: str) -> str | None:
    """The record ID that an anchor is made from, or None."""
    prefix, kind, name = anchor.split("-", 2)
    written = f"{prefix.upper()}-{kind.upper()}-{name}"
    try:
        return str(parse_record_id(written))
    except ValueError:
        return None


# --- blocks -------------------------------------------------------------------------------


class _Blocks:
    """Rewrites blocks line by line, so that nesting and layout stay as they are."""

    def __init__(self, text: str, parser: MarkdownIt, escaped: Callable[[str], str]) -> None:
        self._text = text
        self._lines = text.split("\n")
        self._tokens = parser.parse(text)
        self._escaped = escaped

    def written(self) -> str | None:
        """The text, or None when it cannot be rewritten line by line."""
        replaced: dict[int, tuple[int, list[str]]] = {}
        cells = _table_lines(self._tokens)
        for token in self._tokens:
            if token.map is None:
                continue
            start, end = token.map
            if token.type == "inline" and start not in cells:
                if not self._rewrite_inline(token, start, end):
                    return None
            elif token.type in ("fence", "code_block") and token.level == 0:
                replaced[start] = (end, ["", *fenced(token.content, token.info, token.markup), ""])
            elif token.type == "fence" and token.info.lstrip().startswith("{"):
                self._lines[start] = self._lines[start].replace("{", "text {", 1)
            elif token.type == "html_block":
                if token.level:
                    return None
                lines = _trimmed("\n".join(self._lines[start:end])).split("\n")
                replaced[start] = (end, ["", *literal("\n".join(lines)).split("\n"), ""])
            elif token.type == "table_open":
                if token.level:
                    return None
                replaced[start] = (end, self._table(token))
        return _trimmed("\n".join(_spliced(self._lines, replaced)))

    def _rewrite_inline(self, token: Token, start: int, end: int) -> bool:
        before = token.content.split("\n")
        after = self._escaped(token.content).split("\n")
        if len(before) != len(after) or len(before) > end - start:
            return False
        for offset, (old, new) in enumerate(zip(before, after, strict=True)):
            line = self._lines[start + offset]
            place = line.rfind(old)
            if place < 0:
                return False
            if _BLOCK_MARK.match(old.strip()):
                indent = len(new) - len(new.lstrip())
                new = f"{new[:indent]}\\{new[indent:]}"
            self._lines[start + offset] = line[:place] + new + line[place + len(old) :]
        return True

    def _table(self, opening: Token) -> list[str]:
        rows = table_rows(self._tokens, self._tokens.index(opening))
        aligned = [_alignment(cell) for cell in rows[0]]
        written = [[self._cell(cell.text) for cell in row] for row in rows]
        head, *body = [f"| {' | '.join(row)} |" for row in written]
        return [head, f"|{'|'.join(aligned)}|", *body]

    def _cell(self, text: str) -> str:
        return self._escaped(text).replace("|", "\\|")


class Cell(NamedTuple):
    """A cell of a table: its Markdown, and how it is aligned."""

    text: str
    style: str


def table_rows(tokens: Sequence[Token], opening: int) -> list[list[Cell]]:
    """The cells of the table that opens at an index of the tokens, row by row."""
    rows: list[list[Cell]] = []
    for index in range(opening, len(tokens)):
        token = tokens[index]
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_open", "td_open"):
            style = str(token.attrGet("style") or "")
            rows[-1].append(Cell(tokens[index + 1].content, style))
    return rows


def _alignment(cell: Cell) -> str:
    left = ":" if "left" in cell.style or "center" in cell.style else ""
    right = ":" if "right" in cell.style or "center" in cell.style else ""
    return f"{left}---{right}"


def _table_lines(tokens: Sequence[Token]) -> set[int]:
    """Lines that are rows of tables."""
    found: set[int] = set()
    for token in tokens:
        if token.type == "table_open" and token.map:
            found.update(range(*token.map))
    return found


def fenced(content: str, info: str = "", markup: str = "") -> list[str]:
    """Code as a fence that is closed, and whose info string names no directive.

    Indented code, too: below a list, it would become a part of the list.
    """
    lines = content.removesuffix("\n").split("\n")
    info = info.strip()
    if info.startswith("{"):
        info = f"text {info}"
    fence = fence_for(lines, markup[:1] or "`")
    return [f"{fence}{info}", *lines, fence]


def _spliced(lines: list[str], replaced: dict[int, tuple[int, list[str]]]) -> list[str]:
    out: list[str] = []
    at = 0
    while at < len(lines):
        if at in replaced:
            end, new = replaced[at]
            out += new
            at = max(end, at + 1)
        else:
            out.append(lines[at])
            at += 1
    return out
