"""What the Markdown parser takes for something else in silence: found in its own block tokens.

An unclosed fence takes everything below it along, as when a passage that contains ``:::``
closes the record around it and the record's own end opens a new fence. A fence with a slip in
its opening line becomes a code block, and one below a line of HTML stays text. A line that begins
with ``[label]:`` defines a link; if nothing links there, it is on no page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import is_option_line
from myst_parser.parsers.mdit import create_md_parser

from sphinx_memreport.core.blockscan import CONTAINERS, LITERAL
from sphinx_memreport.core.problems import Code

#: What begins a quotation or an item of a list.
_LEVEL = r"(?:[>*+-]|\d{1,9}[.)])"
_WORTH_A_LOOK = re.compile(
    rf"`{{2}}|~{{3}}|:{{2}}|<|\||\]:| {{4}}|\t|{_LEVEL}(?: {{0,3}}{_LEVEL}){{6}}"
)
#: Evidence whose fence is sure to be one: no line in between begins with as many marks.
_EVIDENCE = re.compile(
    r"^(?P<marks>`{3,})\{evidence\}(?:[ ][^\n`]*)?\n(?:(?![ ]*(?P=marks))[^\n]*\n)*(?P=marks)$",
    re.MULTILINE,
)
_ROLE = re.compile(r"\{(?P<name>(?:external[\w+-]*:)?mem(?:src|raw|:\w+)?)\}(?=`)")
_MARKS = re.compile(r"\s*(?:`{2,}|~{2,}|:{2,})")
_ANY_DIRECTIVE = re.compile(r"\s*(?:`{3,}|~{3,}|:{3,})\{[^}\s]+\}")
#: HTML that hides what stands in it on purpose, or shows it as it is.
_NO_TEXT = re.compile(
    r"\s*(?:<!--.*?-->|<(pre|script|style|textarea)\b.*?</\1\s*>)", re.DOTALL | re.I
)
_CELL_END = re.compile(r"(?<!\\)(?:\\\\)*\|")
#: Settings of MyST with which it knows no directives.
_ONLY = ("commonmark_only", "gfm_only")
#: Rules of the parser without which it reads no text at all.
_INDISPENSABLE = ("block", "inline")
#: Labels of link definitions that are meant as comments, as the parser compares them.
_COMMENTS = frozenset({"//", "COMMENT"})
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


class _Definitions(dict[str, Any]):
    """The link definitions of a document; knows which of them a link has asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.used: set[str] = set()

    def get(self, label: str, default: Any = None) -> Any:
        """What the parser's rule for links calls, and nothing else does."""
        if label in self:
            self.used.add(label)
        return super().get(label, default)


class LossScanner:
    """Finds what is lost with the parser's own block rules.

    :param config: the MyST settings of the document, which decide what a fence is.
    :param own: names of our directives, whose misspelt fences are sought.
    """

    def __init__(self, config: MdParserConfig, own: frozenset[str]) -> None:
        self._config = config
        self._parser: MarkdownIt = create_md_parser(config, RendererHTML)
        # blocks only: inline rules take most of the time and find no fence
        self._parser.core.ruler.enableOnly(["normalize", "block"])
        self._parser.options["inline_definitions"] = True  # a token for each
        self._only = next((name for name in _ONLY if getattr(config, name)), None)
        active = self._parser.get_active_rules()
        self._has_directives = not self._only and "fence" in active["block"]
        self._has_roles = "myst_role" in active["inline"]
        # below that many levels, the parser lets go of the text without a word
        self._deepest = self._parser.options.maxNesting
        self._slip = re.compile(rf"[\W_]*(?P<name>{loosely(own)})\b", re.IGNORECASE)
        self._verbatim = LITERAL - own | {"evidence"}
        self._links = _Definitions()
        #: Whether there is text that is not looked at, in another file.
        self._others_may_link = False
        self._defined: dict[str, tuple[str, int]] = {}  # by label: how it is written, the line
        #: The labels that are defined more than once, as the parser compares them.
        self.duplicates: set[str] = set(_COMMENTS)

    def scan(self, text: str) -> Iterator[Loss]:
        """Yield what is lost in a document.

        Behind an open fence, another one without a name is most likely the end of a third that
        was closed early: a consequence of the first mistake, and not said again.
        """
        rule = next((name for name in _INDISPENSABLE if name in self._config.disable_syntax), None)
        if rule and not self._only:
            yield _no_text(text, rule)
            return
        first = True
        for loss in self._scan(text, 0):
            is_open = loss.code is Code.UNCLOSED_FENCE
            if not is_open or first or re.search(r"\{|\w", loss.message.split("'")[1]):
                yield loss
            first = first and not is_open
        yield from self._unused()

    def _scan(self, text: str, offset: int) -> Iterator[Loss]:
        """``offset`` is the number of the line above the first one of ``text``."""
        # parsing all records again to find nothing in them would take a tenth of the reading
        rest = _EVIDENCE.sub("", text) if self._has_directives else text
        if self._has_roles and not self._links and not _WORTH_A_LOOK.search(rest):
            return
        lines = text.split("\n")
        tokens = self._parser.parse(text, {"references": self._links})
        for token in tokens:
            if token.type == "definition":
                yield from self._definition(token, offset)
            elif token.type == "inline":
                yield from self._inline(token.content, offset + (token.map or [0])[0] + 1)
        # bodies come last, as in the parser: what they define is not known above
        for token in tokens:
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
        name = self._directive(token)
        slip = self._slip.match(token.info)
        if not _is_closed(token):
            yield Loss(
                Code.UNCLOSED_FENCE, line, f"the fence '{opening}' is never closed", _CLOSE_IT
            )
        elif slip and self._only:
            yield _turned_off(f"'{plain_name(slip['name'])}' is a code block", line, self._only)
        elif slip and name is None:
            yield _misread(plain_name(slip["name"]), line, opening)
        elif name is None and token.type == "colon_fence":  # a division
            yield from self._scan(token.content, line)
        elif name is not None:
            yield from self._directive_text(name, token, line)

    def _directive(self, token: Token) -> str | None:
        """The name of the directive that a fence opens, by the parser's rule; None without."""
        word = (token.info.split(maxsplit=1) or [""])[0]
        if word.startswith("{") and word.endswith("}"):
            return word[1:-1].lower()  # docutils takes any case
        if token.type == "fence" and word in self._config.fence_as_directive:
            return word.lower()
        return None

    def _directive_text(self, name: str, token: Token, line: int) -> Iterator[Loss]:
        self._others_may_link |= name == "include"
        start, body = _below_options(token.content)
        options = token.content.split("\n")[:start]
        yield from self._inline(" ".join([token.info, *options]), line)
        if name in CONTAINERS:
            yield from self._front_matter(name, body, line + start)
            yield from self._scan(body, line + start)
        elif name not in self._verbatim:  # it may be read in any way, and links in it count
            yield from self._inline(body, line + start + 1)

    def _front_matter(self, name: str, body: str, line: int) -> Iterator[Loss]:
        """A rule at the start of a body and another below: the parser drops all in between."""
        if not body.startswith("---"):
            return
        tokens = self._parser.parse(body)
        if tokens and tokens[0].type == "front_matter":
            yield Loss(
                Code.SWALLOWED_TEXT,
                line + 1,
                f"the body of {name} begins with '---': all up to the next '---' is dropped, "
                "as if it were front matter",
                "write *** for a rule",
            )

    def _stray_fences(self, token: Token, line: int) -> Iterator[Loss]:
        """Lines of paragraphs and indented code that were meant to open a directive of ours."""
        for number, text in enumerate(token.content.split("\n")):
            marks = _MARKS.match(text)
            slip = self._slip.match(text, marks.end()) if marks else None
            if not marks or not slip or not ("{" in text or ":" in marks[0]):
                continue
            name = plain_name(slip["name"])
            rule = "colon_fence" if ":" in marks[0] else "fence"
            setting = self._only
            if rule in self._config.disable_syntax:
                setting = setting or f"disable_syntax: {rule}"
            if setting:
                yield _turned_off(f"'{name}' is text", line + number, setting)
            else:
                yield _misread(name, line + number, text.strip())

    # --- what stands in a line ------------------------------------------------------------

    def _inline(self, text: str, line: int) -> Iterator[Loss]:
        """Note the links in a text that use a definition, and yield roles that stay text."""
        if self._links:
            self._parser.inline.parse(text, self._parser, {"references": self._links}, [])
        if not self._has_roles:
            setting = self._only or "disable_syntax: myst_role"
            for role in _ROLE.finditer(text):
                number = line + text.count("\n", 0, role.start())
                yield _turned_off(f"the role '{role['name']}' is text", number, setting)

    def _definition(self, token: Token, offset: int) -> Iterator[Loss]:
        assert token.map is not None
        line = offset + token.map[0] + 1
        label, written = token.meta["id"], " ".join(token.meta["label"].split())
        if label in _COMMENTS:
            return
        if label not in self._defined:
            self._defined[label] = written, line
            return
        self.duplicates.add(label)
        if token.meta["url"] != self._links[label]["href"]:
            yield defined_again(written, line)

    def addresses(self, text: str, label: str) -> set[str]:
        """Where a text has links of a label lead; more than one where a definition is dropped."""
        tokens = self._parser.parse(text, {"references": {}})
        definitions = (each.meta for each in tokens if each.type == "definition")
        return {each["url"] for each in definitions if each["id"] == label}

    def _unused(self) -> Iterator[Loss]:
        """Definitions that no link has asked for, when all is read."""
        if self._others_may_link or "html_admonition" in self._config.enable_extensions:
            return
        if self._defined and "substitution" in self._config.enable_extensions:
            values = map(str, self._config.substitutions.values())
            yield from self._inline("\n".join(values), 1)
        for label, (written, line) in self._defined.items():
            if label not in self._links.used:
                yield Loss(
                    Code.SWALLOWED_TEXT,
                    line,
                    f"'[{written}]:' defines a link that is used nowhere: the line is on no page",
                    f"write \\[{written}]: if it is text, % before it if it is a comment, "
                    f"or link to it: [text][{written}]",
                )


def loosely(names: frozenset[str]) -> str:
    """A pattern of names of directives as they are misspelt: ``mem-object``, ``mem object``."""
    longest_first = sorted(names, key=len, reverse=True)
    return "|".join(re.sub("^mem", "mem[-_ ]?", name) for name in longest_first)


def plain_name(name: str) -> str:
    """The name that is meant by what :func:`loosely` has found."""
    return re.sub("[-_ ]", "", name).lower()


def defined_again(label: str, line: int) -> Loss:
    """A second definition of a link, which the parser drops."""
    return Loss(
        Code.SWALLOWED_TEXT,
        line,
        f"'[{label}]:' defines a link that is defined above: the line is dropped",
        f"give one of the two another label, or write \\[{label}]: if it is text",
    )


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


def _turned_off(what: str, line: int, setting: str) -> Loss:
    message = f"with the setting {setting}, {what}: nothing of it is checked"
    return Loss(Code.UNKNOWN_DIRECTIVE, line, message, _take_out(setting))


def _no_text(text: str, rule: str) -> Loss:
    above, found, _ = text.partition("disable_syntax")
    return Loss(
        Code.SWALLOWED_TEXT,
        above.count("\n") + 1 if found else 1,
        f"with the setting disable_syntax: {rule}, no text of the document is read",
        _take_out(f"disable_syntax: {rule}"),
    )


def _take_out(setting: str) -> str:
    setting, _, rule = setting.partition(": ")
    what = f"{rule} out of {setting} in" if rule else f"{setting} out of"
    return f"take {what} the front matter, or conf.py"


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
    if _NO_TEXT.match(token.content):
        return
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
