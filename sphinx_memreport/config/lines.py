"""The lines of the keys of a TOML document, which :mod:`tomllib` does not tell."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

#: A key of a TOML document, part by part; an item of a list is its number.
Key = tuple[str | int, ...]

# What decides where a statement of TOML ends: strings and comments, which may hold anything,
# brackets, between which lines go on, and line ends. Three quotes end a string, and up to two
# more belong to it.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[{]|[\]}]|\n\s*+",
    re.DOTALL,
)
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEY = rf"(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*)"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*{_KEY}[ \t]*\]")
_ASSIGNMENT = re.compile(rf"[ \t]*{_KEY}[ \t]*=")
_DEEPEST = 8  # no key of ours is deeper; keeps absurdly deep keys cheap


class LineIndex:
    """The lines of the keys of a TOML document, which :mod:`tomllib` does not tell.

    :param text: a document that tomllib accepts. Keys inside of inline tables and lists count
        to the line of the key that holds these.
    """

    def __init__(self, text: str) -> None:
        self._written: dict[Key, int] = {}
        self._implied: dict[Key, int] = {}
        table: tuple[str, ...] = ()
        for line, statement in _statements(text):
            header = _HEADER.match(statement)
            if header:
                key = table = _parse_key(header["key"])
            elif assignment := _ASSIGNMENT.match(statement):
                key = (*table, *_parse_key(assignment["key"]))
            else:
                continue
            self._written.setdefault(key, line)
            for length in range(1, min(len(key), _DEEPEST)):
                self._implied.setdefault(key[:length], line)

    def line(self, key: Sequence[str | int]) -> int | None:
        """The line, counted from 1, of a key or else of the nearest key above it.

        A table without a header of its own is where it is first mentioned.
        """
        for length in range(len(key), 0, -1):
            prefix = tuple(key[:length])
            line = self._written.get(prefix, self._implied.get(prefix))
            if line is not None:
                return line
        return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Split a document into headers and assignments, each with its first line."""
    start = depth = 0
    line = 1
    for token in _TOKEN.finditer(text + "\n"):
        first = token[0][0]
        if first in "[{":
            depth += 1
        elif first in "]}":
            depth -= 1
        elif first == "\n" and depth == 0:
            yield line, text[start : token.start()]
            line += text.count("\n", start, token.end())
            start = token.end()


def _parse_key(key: str) -> tuple[str, ...]:
    """The parts of a dotted key; quoted parts are read by tomllib itself."""
    if '"' not in key and "'" not in key:
        return tuple(part.strip() for part in key.split("."))
    parts: list[str] = []
    value: Any = tomllib.loads(f"{key} = 0")
    while isinstance(value, dict):
        ((part, value),) = value.items()
        parts.append(part)
    return tuple(parts)
