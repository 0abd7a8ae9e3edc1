"""Code spans and titled targets in inline Markdown, found in time that grows with the text alone.

Regular expressions for these backtrack over every run of backticks or blanks, and a text of
nothing else would keep them busy for hours.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TICKS = re.compile(r"`+")


class Titled(NamedTuple):
    """``title <target>``: the title, and where the target stands in the text."""

    title: str
    start: int
    end: int


def code_ends(text: str) -> dict[int, int]:
    """Where what begins at each run of backticks ends: a code span, or the run alone."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    ends: dict[int, int] = {}
    next_of_length: dict[int, int] = {}
    for start, end in reversed(runs):
        length = end - start
        ends[start] = next_of_length.get(length, end)
        next_of_length[length] = end
        if length > 1:  # behind a backslash, the run is one shorter
            ends[start + 1] = next_of_length.get(length - 1, end)
    return ends


def code_span(text: str) -> tuple[str, int] | None:
    """The content of the code span at the start of a text and where the span ends, or None."""
    opening = _TICKS.match(text)
    if opening is None:
        return None
    for run in _TICKS.finditer(text, opening.end()):
        if len(run[0]) == opening.end():
            return text[opening.end() : run.start()], run.end()
    return None


def titled(text: str) -> Titled | None:
    """A text of the form ``title <target>``, or None."""
    start = text.rfind("<")
    if start < 1 or not text.endswith(">"):
        return None
    return Titled(text[:start].rstrip() or text[:1], start + 1, len(text) - 1)
