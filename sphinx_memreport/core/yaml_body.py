"""YAML bodies of directives: text, lists and mappings that know their lines.

Contract, section 3: every scalar is plain text, so ``yes``, ``1.10`` and ``~`` are what an author
typed. What could make one text mean another (anchors, tags, a key given twice) is a fault, and so
is what YAML would lose in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import yaml

from sphinx_memreport.core.problems import Code

#: Lists and mappings inside each other; ours need four.
_MAX_DEPTH = 12
# Escapes in double quotes can stand for these, which no page could hold.
_UNUSABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
# What ends a line in YAML and not in a document, whose lines faults are told by.
_BREAKS = re.compile("[\r\x85\u2028\u2029]")


class BodyFault(Exception):
    """What is wrong with a body, at a line of it counted from 1."""

    def __init__(self, line: int, message: str, fix: str = "", code: Code = Code.INVALID_VALUE):
        super().__init__(message)
        self.line = line
        self.message = message
        self.fix = fix
        self.code = code


class Text(NamedTuple):
    """A scalar."""

    line: int
    text: str


class Items(NamedTuple):
    """A list."""

    line: int
    items: tuple[Value, ...]


class Table(NamedTuple):
    """A mapping; ``lines`` says where each key stands."""

    line: int
    values: dict[str, Value]
    lines: dict[str, int]


Value = Text | Items | Table

#: What a value is, for messages.
WORDS: dict[type[Value], str] = {Text: "text", Items: "a list", Table: "a mapping"}


def read_body(lines: list[str]) -> Value | None:
    """Read a YAML body; None when it holds nothing.

    :param lines: the body, without line ends.
    :raises BodyFault: with the first thing that is wrong. What YAML itself cannot read is at
        its own line, everything else at the line of the row that holds it.
    """
    text = "\n".join(_BREAKS.sub(" ", line) for line in lines) + "\n"
    try:
        return _Reader(text, lines).read()
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BodyFault(line, f"a character that YAML does not allow: {error.reason}") from None
    except (ValueError, OverflowError):  # the parser takes any number for a character
        raise BodyFault(1, "an escape (\\U…) stands for no character", "remove it") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = min(mark.line + 1, len(lines)) if mark else 1
        raise BodyFault(
            line,
            f"this is no YAML: {_reason(error)}",
            "check the indentation; put a text with ': ' or with a mark at its start in quotes",
        ) from None


def _reason(error: yaml.MarkedYAMLError) -> str:
    return " ".join(" ".join(filter(None, (error.context, error.problem))).split())


class _Reader:
    """One pass over the parser's events. ``row`` is the line that a fault is reported at."""

    def __init__(self, text: str, lines: list[str]) -> None:
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=yaml.BaseLoader)
        self._text = text
        self._lines = lines

    def read(self) -> Value | None:
        found: Value | None = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                self._check_document(event, documents)
            elif isinstance(event, yaml.NodeEvent):
                found = self._value(event, _line(event), depth=1)
        self._check_comments()
        return None if isinstance(found, Text) and not found.text else found

    def _check_document(self, event: yaml.DocumentStartEvent, number: int) -> None:
        if event.version or event.tags:
            raise BodyFault(_line(event), "a YAML directive (%) has no meaning here", "remove it")
        if number > 1:
            raise BodyFault(
                _line(event), "a second YAML document begins here", "remove the line '---'"
            )

    def _value(self, event: yaml.Event, row: int, depth: int) -> Value:
        self._check_node(event, row, depth)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._items(event, row, depth)
        if isinstance(event, yaml.MappingStartEvent):
            return self._table(event, row, depth)
        assert isinstance(event, yaml.ScalarEvent)
        if hidden := _UNUSABLE.search(event.value):
            raise BodyFault(row, f"a control character (U+{ord(hidden[0]):04X}) is not allowed")
        return Text(_line(event), event.value.strip())

    def _check_node(self, event: yaml.Event, row: int, depth: int) -> None:
        anchor = getattr(event, "anchor", None)
        if isinstance(event, yaml.AliasEvent):
            raise BodyFault(row, f"an alias (*{anchor}) is not allowed", _WRITE_OUT)
        if anchor is not None:
            raise BodyFault(row, f"an anchor (&{anchor}) is not allowed", _WRITE_OUT)
        if tag := getattr(event, "tag", None):
            raise BodyFault(
                row, f"a tag ({tag}) is not allowed", "every value is plain text: quote it"
            )
        if depth > _MAX_DEPTH:
            raise BodyFault(row, f"lists and mappings are nested deeper than {_MAX_DEPTH} levels")

    def _items(self, start: yaml.Event, row: int, depth: int) -> Items:
        items: list[Value] = []
        for event in self._events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            starts_row = depth == 1 or isinstance(event, yaml.MappingStartEvent)
            items.append(self._value(event, _line(event) if starts_row else row, depth + 1))
        return Items(_line(start), tuple(items))

    def _table(self, start: yaml.Event, row: int, depth: int) -> Table:
        values: dict[str, Value] = {}
        lines: dict[str, int] = {}
        for event in self._events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            inner_row = _line(event) if depth == 1 else row
            key = self._value(event, inner_row, depth + 1)
            if not isinstance(key, Text):
                raise BodyFault(inner_row, f"a key must be text, found {WORDS[type(key)]}")
            if key.text in values:
                raise BodyFault(
                    inner_row,
                    f"'{key.text}' is given twice",
                    "put what belongs together under one key",
                )
            values[key.text] = self._value(next(self._events), inner_row, depth + 1)
            lines[key.text] = key.line
        return Table(_line(start), values, lines)

    def _check_comments(self) -> None:
        """A comment behind something on its line is text that would vanish.

        A line that is nothing but a comment is one that was meant.
        """
        rest = _without_scalars(self._text)
        for number, line in enumerate(rest.split("\n")):
            match = re.search(r"(?<=\s)#", line)
            if match and line[: match.start()].strip():
                lost = self._lines[number][match.start() :].strip()
                raise BodyFault(
                    number + 1,
                    f"the text after ' #' is cut off as a comment: '{lost}'",
                    "put the whole value in quotes",
                    Code.SWALLOWED_TEXT,
                )


def _without_scalars(text: str) -> str:
    """A YAML text with every scalar masked, so that what is left of ``#`` begins a comment."""
    masked = list(text)
    for token in yaml.scan(text, Loader=yaml.BaseLoader):
        if isinstance(token, yaml.ScalarToken) and token.start_mark and token.end_mark:
            start, end = token.start_mark.index, token.end_mark.index
            if token.style in ("|", ">"):  # a comment may stand behind the mark
                start = text.find("\n", start)
            masked[start:end] = ["\n" if c == "\n" else "x" for c in masked[start:end]]
    return "".join(masked)


_WRITE_OUT = "write the value out, or put it in quotes"


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
