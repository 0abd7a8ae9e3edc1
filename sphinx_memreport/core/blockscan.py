"""Where the ``evidence`` directives of a document stand, line by line, without Sphinx.

For tools that change documents: they may touch what is found here and nothing else. Markdown is
read by the block rules of the parser that builds use; reStructuredText by indentation. What a
build might read in another way is left out and said (:attr:`Scan.skipped`), or found with the
reason why it must not be changed (:attr:`EvidenceBlock.trouble`).

Lines are counted from 1 and end at LF, CRLF or CR, as parsers see them; edits keep every line
end, a byte order mark and everything between the edits as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePath
from typing import NamedTuple

import yaml
from markdown_it import MarkdownIt
from markdown_it.rules_block import make_fence_rule
from markdown_it.token import Token
from mdit_py_plugins.footnote import footnote_plugin
from mdit_py_plugins.front_matter import front_matter_plugin
from mdit_py_plugins.myst_blocks import myst_block_plugin

from sphinx_memreport.core.blocks import Syntax, fence_for, needs_blank_line
from sphinx_memreport.core.ids import SOURCE_ID
from sphinx_memreport.core.models import LineRange
from sphinx_memreport.core.vocabulary import RECORD_TYPES

_LINE_END = re.compile(r"\r\n|\n|\r")
_OPTION = re.compile(r"\s*+:(?P<name>[A-Za-z][\w-]*+):(?:\s++(?P<value>.*))?")
_RANGE = re.compile(r"([1-9][0-9]{0,8})(?:\s*[-–]\s*([1-9][0-9]{0,8}))?")
_LOOKS_LIKE_ONE = re.compile(
    r"(?:(?<!`)`{3,}+|(?<!~)~{3,}+|(?<!:):{3,}+)\s*+\{evidence\}|^\s*+\.\. evidence::"
)

#: Directives whose body is read like the document around it: ours, and common ones.
CONTAINERS = frozenset(record.directive for record in RECORD_TYPES) | {
    *("memannotation", "memamendment", "note", "warning", "tip", "hint", "important"),
    *("caution", "attention", "danger", "error", "admonition", "seealso", "versionadded"),
    *("versionchanged", "deprecated", "topic", "sidebar", "container", "compound", "epigraph"),
    *("only", "dropdown", "card", "grid", "grid-item", "grid-item-card", "tab-set", "tab-item"),
    "div",
}
#: Directives whose body is never read as text.
LITERAL = {
    *("code", "code-block", "sourcecode", "parsed-literal", "literalinclude", "raw", "math"),
    *("mermaid", "highlight", "toctree", "graphviz", "memcoverage", "memprofile", "memsupplied"),
}
#: Directives inside of each other that are looked into; builds cannot read deeper ones either.
_DEEPEST = 100
#: The options of ``evidence``.
OPTIONS = frozenset({"lines", "layer", "lang", "caption", "supports", "name"})


class OptionLine(NamedTuple):
    """An option of a directive, as text, and its line."""

    name: str
    value: str
    line: int


@dataclass(frozen=True)
class EvidenceBlock:
    """One ``evidence`` directive of a document.

    ``line`` is its opening line, ``end`` its last one (the closing fence in Markdown).
    ``argument`` begins at ``argument_column``, counted from 0. The body, with blank lines at its
    ends, is from line ``body_start`` up to, not including, ``body_end``; before each line of it
    that is not blank stands ``prefix``. ``fence`` is empty in reStructuredText. ``trouble`` says
    why the block must not be changed; it is empty when it may be.
    """

    syntax: Syntax
    line: int
    end: int
    argument: str
    argument_column: int
    options: tuple[OptionLine, ...]
    body_start: int
    body_end: int
    quote: str
    prefix: str
    fence: str
    trouble: str = ""

    @property
    def source(self) -> str:
        """The source ID, empty when it was left out."""
        first = self.argument.partition(" ")[0]
        return first if SOURCE_ID.fullmatch(first) or first.startswith("SRC-") else ""

    @property
    def path(self) -> str:
        """The path, empty for a capture."""
        return self.argument.removeprefix(self.source).strip()

    @property
    def lines(self) -> LineRange | None:
        """The range of the option ``lines``; None without it, or when it cannot be read."""
        match = _RANGE.fullmatch(self.option("lines") or "")
        if match is None or int(match[2] or match[1]) < int(match[1]):
            return None
        return LineRange(start=int(match[1]), end=int(match[2] or match[1]))

    def option(self, name: str) -> str | None:
        """The text of an option, or None when it is not given."""
        return next((option.value for option in self.options if option.name == name), None)


class Skipped(NamedTuple):
    """A line that looks like evidence, and why it was left out."""

    line: int
    reason: str


@dataclass
class Scan:
    """What was found in a document, in the order of its lines."""

    blocks: list[EvidenceBlock] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def syntax_of(path: PurePath) -> Syntax | None:
    """How a document is written, by its suffix; None for other files."""
    suffixes: dict[str, Syntax] = {".md": "myst", ".markdown": "myst", ".rst": "rest"}
    return suffixes.get(path.suffix.lower())


def scan(text: str, syntax: Syntax) -> Scan:
    """Find the evidence of a document."""
    view = [_Line(number, "", line) for number, (line, _) in enumerate(split_lines(text), 1)]
    if view[0].text.startswith("\ufeff"):
        view[0] = view[0].inner(view[0].text[1:])
    found = Scan()
    if syntax == "rest":
        _Rest(view, found).scan()
        return found
    markdown = _Markdown(found)
    markdown.scan(view)
    for line in view:
        if line.number not in markdown.seen and _LOOKS_LIKE_ONE.search(line.text):
            found.skipped.append(Skipped(line.number, "it is not read as a directive there"))
    found.blocks.sort(key=lambda block: block.line)
    found.skipped.sort()
    return found


def split_lines(text: str) -> list[tuple[str, str]]:
    """Lines and their ends; the last one is empty when the text ends with a line end."""
    lines = []
    start = 0
    for match in _LINE_END.finditer(text):
        lines.append((text[start : match.start()], match[0]))
        start = match.end()
    return [*lines, (text[start:], "")]


# --- edits --------------------------------------------------------------------------------


class Edit(NamedTuple):
    """Lines from ``start`` up to, not including, ``end`` are replaced by ``lines``."""

    start: int
    end: int
    lines: tuple[str, ...]


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """A text with edits that do not overlap. New lines end like the line above the edit."""
    lines = split_lines(text)
    parts: list[str] = []
    at = 1
    for edit in sorted(edits):
        parts += [line + end for line, end in lines[at - 1 : edit.start - 1]]
        ending = lines[max(edit.start - 2, 0)][1] or "\n"
        # the last line of a file may have no end; the one that takes its place has none either
        last = lines[edit.end - 2][1] if edit.end > edit.start else ending
        new = [line + ending for line in edit.lines]
        if new:
            new[-1] = edit.lines[-1] + (last or "")
        parts += new
        at = edit.end
    parts += [line + end for line, end in lines[at - 1 :]]
    return "".join(parts)


def body_edits(text: str, block: EvidenceBlock, body: Sequence[str]) -> list[Edit]:
    """The edits that give a block another body; blank lines at its ends stay.

    The fence becomes longer where the new body demands it.

    :param body: lines without blank ones at the ends.
    """
    lines = [line for line, _ in split_lines(text)]
    old = [
        line.removeprefix(block.prefix).strip() if line.startswith(block.prefix) else ""
        for line in lines[block.body_start - 1 : block.body_end - 1]
    ]
    first = next(i for i, line in enumerate(old) if line)
    last = next(i for i, line in enumerate(reversed(old)) if line)
    new = [block.prefix + line if line else block.prefix.rstrip(" \t") for line in body]
    directly = first == 0 and block.syntax == "myst"
    if directly and needs_blank_line(body[0]):
        new.insert(0, block.prefix.rstrip(" \t"))
    edits = [Edit(block.body_start + first, block.body_end - last, tuple(new))]
    if block.fence:
        fence = fence_for(body, block.fence[0], len(block.fence))
        if fence != block.fence and any(_would_close(line, block.fence) for line in body):
            for number in (block.line, block.end):
                wider = lines[number - 1].replace(block.fence, fence, 1)
                edits.append(Edit(number, number + 1, (wider,)))
    return edits


def _would_close(line: str, fence: str) -> bool:
    marks = line.strip(" \t")
    return len(marks) >= len(fence) and not marks.strip(fence[0])


# --- Markdown -----------------------------------------------------------------------------


class _Line(NamedTuple):
    """A line as the parser sees it at some depth: what stands before it, and its text there."""

    number: int
    prefix: str
    text: str

    def inner(self, text: str) -> _Line:
        """The same line further inside; ``text`` is the end of this one's."""
        return _Line(self.number, self.prefix + self.text[: len(self.text) - len(text)], text)


class _Fence(NamedTuple):
    """A fence, closed and with its lines told apart from what stands before them."""

    opening: _Line
    end: int
    marks: str
    name: str
    argument: str
    body: list[_Line]
    trouble: str


@cache
def _parser() -> MarkdownIt:
    """The block rules of MyST with colon fences; inline rules find no fence."""
    parser = (
        MarkdownIt("commonmark")
        .enable("table")
        .use(front_matter_plugin)
        .use(myst_block_plugin)
        .use(footnote_plugin, inline=False, move_to_end=False, always_match_refs=True)
    )
    parser.block.ruler.before(
        "fence",
        "colon_fence",
        make_fence_rule(markers=(":",), token_type="colon_fence"),
        {"alt": ["paragraph", "reference", "blockquote", "list", "footnote_def"]},
    )
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


class _Markdown:
    """Walks the fences of a document, and into the bodies that are read like it."""

    def __init__(self, found: Scan) -> None:
        self._found = found
        #: Lines that were told to be evidence, literal text or comments.
        self.seen: set[int] = set()
        self._depth = 0

    def scan(self, view: list[_Line]) -> None:
        self._depth += 1
        self._blocks(view)
        self._depth -= 1

    def _blocks(self, view: list[_Line]) -> None:
        for token in _parser().parse("\n".join(line.text for line in view)):
            if token.map is None:
                continue
            if token.type in ("fence", "colon_fence"):
                self._fence(_fence(token, view))
            elif token.type in ("code_block", "front_matter", "myst_line_comment"):
                self.seen.update(line.number for line in view[slice(*token.map)])

    def _fence(self, fence: _Fence) -> None:
        if fence.name == "{evidence}":
            self._found.blocks.append(_markdown_block(fence))
            self._saw(fence)
        elif self._is_container(fence):
            inner = None if fence.trouble else _below_options(fence.body)
            if inner is not None and self._depth < _DEEPEST:
                self.scan(inner)
            elif any(_LOOKS_LIKE_ONE.search(line.text) for line in fence.body):
                reason = "the options around it cannot be read"
                if inner is not None:
                    reason = "too many directives stand around it"
                self._skip(fence, fence.trouble or reason)
        else:
            directive = fence.name.strip("{}")
            known = not fence.name.startswith("{") or directive in LITERAL
            if not known and any(_LOOKS_LIKE_ONE.search(line.text) for line in fence.body):
                self._skip(fence, f"it is not known how '{directive}' reads its body")
            self._saw(fence)

    def _is_container(self, fence: _Fence) -> bool:
        if fence.name.startswith("{"):
            return fence.name.strip("{}") in CONTAINERS
        return fence.marks.startswith(":")  # a division

    def _saw(self, fence: _Fence) -> None:
        self.seen.update(range(fence.opening.number, fence.end + 1))

    def _skip(self, fence: _Fence, reason: str) -> None:
        lines = [line for line in fence.body if _LOOKS_LIKE_ONE.search(line.text)]
        self._found.skipped += [Skipped(line.number, reason) for line in lines]
        self._saw(fence)


def _fence(token: Token, view: list[_Line]) -> _Fence:
    start, end = token.map or (0, 0)
    opening = view[start]
    trouble = ""
    closed = end - 1 > start and _closes(view[end - 1].text, token.markup)
    if not closed:
        trouble = "its fence is never closed"
    inside = view[start + 1 : end - closed]
    content = token.content.split("\n")[:-1]
    if len(content) != len(inside):
        trouble, content = trouble or "its lines cannot be told apart", []
    body = []
    for line, text in zip(inside, content, strict=False):
        if not line.text.endswith(text):
            trouble = trouble or "tabs stand in the indentation of its lines"
            text = line.text
        body.append(line.inner(text))
    name, argument = (*token.info.strip().split(maxsplit=1), "", "")[:2]
    return _Fence(opening, view[end - 1].number, token.markup, name, argument, body, trouble)


def _closes(line: str, marks: str) -> bool:
    stripped = line.strip(" \t>")
    return len(stripped) >= len(marks) and not stripped.strip(marks[0])


def _is_option_line(line: str) -> bool:
    stripped = line.lstrip()
    return stripped.startswith(":") and not stripped.startswith(":::")


def _below_options(body: list[_Line]) -> list[_Line] | None:
    """The body of a directive below its options; None when they are never closed."""
    if body and body[0].text.startswith("---"):
        for index, line in enumerate(body[1:], start=1):
            if line.text.startswith("---"):
                return body[index + 1 :] if not line.text.strip("- ") else None
        return None
    count = _count_options(body)
    return body[count:]


def _count_options(body: list[_Line]) -> int:
    return next((i for i, line in enumerate(body) if not _is_option_line(line.text)), len(body))


def _markdown_block(fence: _Fence) -> EvidenceBlock:
    count = _count_options(fence.body)
    options, trouble = _options(fence.body[:count], quoted=True)
    body = fence.body[count:]
    if fence.body and fence.body[0].text.startswith("---"):
        trouble = "its first line '---' is read as options"
    full = [line for line in body if line.text.strip()]
    prefixes = {line.prefix for line in full}
    if not full:
        trouble = trouble or "it holds no passage"
    elif len(prefixes) > 1:
        trouble = trouble or "its lines are indented less than its fence"
    opening = fence.opening
    column = len(opening.prefix) + opening.text.rindex(fence.argument)
    return EvidenceBlock(
        syntax="myst",
        line=opening.number,
        end=fence.end,
        argument=fence.argument,
        argument_column=column,
        options=options,
        body_start=opening.number + 1 + count,
        body_end=opening.number + 1 + len(fence.body),
        quote="\n".join(line.text for line in body),
        prefix=min(prefixes, default=""),
        fence=fence.marks,
        trouble=fence.trouble or trouble,
    )


def _options(lines: Iterable[_Line], *, quoted: bool) -> tuple[tuple[OptionLine, ...], str]:
    """Options, and what is wrong with them.

    :param quoted: whether values may stand in quotes, as in Markdown.
    """
    options: list[OptionLine] = []
    trouble = ""
    for line in lines:
        match = _OPTION.fullmatch(line.text)
        value = _value((match["value"] or "").rstrip(), quoted) if match else None
        if match is None or value is None or match["name"] not in OPTIONS:
            trouble = trouble or f"its option '{line.text.strip()[:40]}' cannot be read"
            continue
        if any(option.name == match["name"] for option in options):
            trouble = trouble or f"its option '{match['name']}' is given twice"
        options.append(OptionLine(match["name"], value, line.number))
    if not trouble and any(option.name == "lines" for option in options):
        probe = next(option for option in options if option.name == "lines")
        if not _RANGE.fullmatch(probe.value):
            trouble = f"its option 'lines' is not a range: '{probe.value[:40]}'"
    return tuple(options), trouble


def _value(text: str, quoted: bool) -> str | None:
    """The text of a value; None when it cannot be told."""
    if not quoted or not text:
        return text
    if text[0] in "\"'":
        try:
            value = yaml.load(text, yaml.BaseLoader)  # makes strings, nothing else
        except yaml.YAMLError:
            return None
        return value if isinstance(value, str) else None
    return None if text[0] in "|>#&*!" or " #" in text else text


# --- reStructuredText ---------------------------------------------------------------------

_DIRECTIVE = re.compile(r"\.\.[ ]+(?P<name>[\w:.+-]+?)::(?:[ \t]+(?P<argument>.*))?")


class _Opaque(NamedTuple):
    """Lines deeper than an indentation are literal text, or read in a way that is not known."""

    indent: int
    reason: str


class _Rest:
    """Reads a document by its indentation."""

    def __init__(self, view: list[_Line], found: Scan) -> None:
        self._view = view
        self._found = found
        self._opaque: _Opaque | None = None

    def scan(self) -> None:
        index = 0
        while index < len(self._view):
            index = self._step(index)

    def _step(self, index: int) -> int:
        """Look at one line; return the index of the next."""
        text = self._view[index].text
        if not text.strip():
            return index + 1
        indent = _indent(text)
        if self._opaque and indent <= self._opaque.indent:
            self._opaque = None
        if self._opaque:
            if self._opaque.reason and _LOOKS_LIKE_ONE.search(text):
                self._skip(index, self._opaque.reason)
            return index + 1
        match = _DIRECTIVE.fullmatch(text.strip())
        if match and match["name"] == "evidence":
            return self._evidence(index, (match["argument"] or "").strip())
        if re.match(r"\.\.(?:\s|$)", text.lstrip()):
            self._explicit(match["name"] if match else "", indent)
        elif text.rstrip().endswith("::") and self._is_blank(index + 1):
            self._opaque = _Opaque(indent, "")
        elif ".. evidence::" in text:
            self._skip(index, "it does not stand on a line of its own")
        return index + 1

    def _explicit(self, name: str, indent: int) -> None:
        """A directive, comment, footnote or target."""
        if name in CONTAINERS:
            return
        unknown = name and name not in LITERAL
        reason = f"it is not known how '{name}' reads its body" if unknown else ""
        self._opaque = _Opaque(indent, reason)

    def _evidence(self, index: int, argument: str) -> int:
        opening = self._view[index]
        if opening.text.lstrip(" ").startswith("\t"):
            self._skip(index, "a tab stands before it")
            return index + 1
        if not self._is_blank(index - 1):
            self._skip(index, "no blank line stands before it")
            return index + 1
        end = self._end_of_block(index)
        head = index + 1
        while head < end and not self._is_blank(head):
            head += 1
        body = self._view[head:end]
        options, trouble = _options(self._view[index + 1 : head], quoted=False)
        full = [line for line in body if line.text.strip()]
        margin = min((len(line.text) - len(line.text.lstrip(" ")) for line in full), default=0)
        if not full:
            trouble = trouble or "it holds no passage"
        elif margin <= _indent(opening.text):
            trouble = trouble or "tabs stand in the indentation of its lines"
        if any(re.search("[\v\f\x1c-\x1e\x85\u2028\u2029]", line.text) for line in body):
            trouble = trouble or "a line of it holds another line separator"
        self._found.blocks.append(
            EvidenceBlock(
                syntax="rest",
                line=opening.number,
                end=self._view[end - 1].number,
                argument=argument,
                argument_column=len(opening.prefix) + opening.text.rindex(argument),
                options=options,
                body_start=opening.number + (head - index),
                body_end=opening.number + (end - index),
                quote="\n".join(line.text[margin:] for line in body),
                prefix=" " * margin,
                fence="",
                trouble=trouble,
            )
        )
        return end

    def _end_of_block(self, index: int) -> int:
        """The index behind the last line that belongs to the directive."""
        margin = _indent(self._view[index].text)
        end = index + 1
        for at in range(index + 1, len(self._view)):
            text = self._view[at].text
            if text.strip() and _indent(text) <= margin:
                break
            if text.strip():
                end = at + 1
        return end

    def _is_blank(self, index: int) -> bool:
        return not 0 <= index < len(self._view) or not self._view[index].text.strip()

    def _skip(self, index: int, reason: str) -> None:
        self._found.skipped.append(Skipped(self._view[index].number, reason))


def _indent(text: str) -> int:
    """The column in which a line begins; the parser writes tabs as spaces."""
    spaced = text.expandtabs()
    return len(spaced) - len(spaced.lstrip())


def quotes_of(found: Scan) -> Iterator[tuple[str, tuple[OptionLine, ...], str]]:
    """What must be the same before and after an edit: argument, options and words of each."""
    for block in found.blocks:
        options = tuple(option._replace(line=0) for option in block.options)
        yield block.argument, options, " ".join(block.quote.split())
