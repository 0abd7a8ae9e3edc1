"""Quotations that rendering has damaged: what the source says where one of them was copied.

A quotation copied from a rendered page lacks what Markdown and HTML took for markup: backticks,
``<tags>``, emphasis marks, backslashes; entities and typographic marks stand for others. Both
sides are reduced to what every rendering keeps; where the reduced quotation stands exactly once
in the reduced file, the passage of the file is what was quoted. That is an offer to the author,
never a match.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right

from sphinx_memreport.core.blocks import laid_out
from sphinx_memreport.core.models import Found, LineRange
from sphinx_memreport.core.quotes import SourceText, normalise

# what HTML takes for a tag, and what Markdown takes for marks
_LOST = re.compile(r"<[A-Za-z/!?][^>]{0,200}>|[`*_\\]")
_TYPOGRAPHY = str.maketrans({"“": '"', "”": '"', "‘": "'", "’": "'", "–": "-", "—": "-"})
# a quotation that is shorter than this, without white space, could be from anywhere
_FEWEST = 8
_MOST_MARKS = 6
# where a quotation reduces to next to nothing, it may stand at every second character
_MOST_PLACES = 50


def restored(quote: str, source: SourceText, within: LineRange | None = None) -> str | None:
    """The passage that a quotation was copied from, laid out as in the source; or None.

    :param within: the lines that the quotation is said to stand in.
    """
    kept, places = _reduced(source.normalised)
    passages = {
        found
        for wanted in {_reduced(quote)[0], _reduced(html.unescape(quote))[0]}
        if len(wanted) >= _FEWEST
        for found in _passages(wanted, kept, places, source, within)
    }
    return passages.pop() if len(passages) == 1 else None


def _passages(
    wanted: str, kept: str, places: list[int], source: SourceText, within: LineRange | None
) -> list[str]:
    """The passages that reduce to a text; more than one is as good as none."""
    at = kept.find(wanted)
    if at < 0 or (within is None and kept.find(wanted, at + 1) >= 0):
        return []
    found: list[str] = []
    for _ in range(_MOST_PLACES):
        if at < 0 or len(found) > 1:
            break
        passage = _passage(at, at + len(wanted), places, source, within)
        found += [passage] if passage is not None else []
        at = kept.find(wanted, at + 1)
    return found


def _passage(
    start: int, end: int, places: list[int], source: SourceText, within: LineRange | None
) -> str | None:
    """The passage between two places of the reduced text, if it stands only once."""
    first, last = places[start], places[end - 1] + 1
    for begin, finish in ((_widened(source.normalised, first, last)), (first, last)):
        found = source.locate(source.normalised[begin:finish], within)
        if isinstance(found, Found):
            text = laid_out(source, found)
            return text if normalise(text) else None
    return None


def _widened(text: str, first: int, last: int) -> tuple[int, int]:
    """A span with the marks at its ends that pair with one inside."""
    for _ in range(_MOST_MARKS):
        odd = [mark for mark in "`*_" if text.count(mark, first, last) % 2]
        if text[last : last + 1] in odd:
            last += 1
        elif text[max(0, first - 1) : first] in odd:
            first -= 1
        else:
            break
    return first, last


def _reduced(text: str) -> tuple[str, list[int]]:
    """A text without what rendering loses and without white space, and where each character was.

    White space goes, too: a tag that is lost may have stood between words, or inside one.
    """
    lost = [match.span() for match in _LOST.finditer(text)]
    starts = [start for start, _ in lost]
    kept: list[str] = []
    places: list[int] = []
    for index, char in enumerate(text):
        span = bisect_right(starts, index) - 1
        if char.isspace() or (span >= 0 and index < lost[span][1]):
            continue
        kept.append(char.translate(_TYPOGRAPHY))
        places.append(index)
    return "".join(kept), places
