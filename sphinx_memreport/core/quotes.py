"""Where a quotation stands in a file (contract, section 3.3).

Runs of whitespace, as :meth:`str.split` sees them, count as one space; nothing else is
normalised. Lines end at LF only. A file is normalised once (:class:`SourceText`) and then
searched for many quotes.
"""

from __future__ import annotations

import codecs
import re
from array import array
from bisect import bisect_right
from functools import cached_property
from io import StringIO
from itertools import accumulate

from sphinx_memreport.core.models import Ambiguous, Found, LineRange, Missing

#: No more occurrences than this are listed in a verdict: a tuple of this length means
#: "at least so many". Whether there are none, one or several is always exact.
MAX_OCCURRENCES = 1000

# A single whitespace character keeps its place when it becomes a space; only longer runs move
# what follows. ``\s`` and str.split() agree on what whitespace is.
_MOVING_RUN = re.compile(r"(\s\s+)")


#: Characters in which lines are counted sooner than it is found out where each of them starts.
_NEAR = 10_000


def normalise(text: str) -> str:
    """``text`` with every run of whitespace as one space, and none at its ends."""
    return " ".join(text.split())


class SourceText:
    """The text of one file, normalised once and searched many times.

    Offsets are characters counted from 0, ends excluded; lines are counted from 1, ends
    included.
    """

    def __init__(self, text: str) -> None:
        #: The text as given.
        self.text = text
        #: What quotes are sought in: the text with its whitespace collapsed.
        self.normalised = normalise(text)
        #: A final newline does not start a further line; an empty file has 0 lines.
        self.line_count = text.count("\n") + (text != "" and not text.endswith("\n"))

    def locate(self, quote: str, within: LineRange | None = None) -> Found | Ambiguous | Missing:
        """Find the one place where ``quote`` stands.

        With ``within``, only occurrences that lie entirely in those lines count; lines that
        the file does not have hold none. Overlapping occurrences are counted each. At most
        :data:`MAX_OCCURRENCES` are listed.

        :raises ValueError: when the quote has no text.
        """
        needle = normalise(quote)
        if not needle:
            raise ValueError("an empty quote stands everywhere and nowhere")
        place = self.normalised.find(needle) if within is None else -1
        if place >= 0 and self.normalised.find(needle, place + 1) < 0:  # as nearly always
            return self._found(quote, place, len(needle), within)
        places = self._places(needle, within)
        if len(places) == 1:
            return self._found(quote, places[0], len(needle), within)
        if places:
            return Ambiguous(occurrences=self._line_ranges(places, len(needle)))
        if within is None:
            return Missing()
        return Missing(elsewhere=self._line_ranges(self._places(needle), len(needle)))

    def _found(self, quote: str, place: int, length: int, within: LineRange | None) -> Found:
        """The only occurrence of a quote, in ``normalised`` at ``place``.

        Most quotes are written letter by letter as the file is. Then nothing has to be worked out
        of how text and normalised text differ, but that text never stands before its place there.
        """
        quote = quote.strip()
        start = self.text.find(quote, place) if within is None else -1
        if start < 0:
            start, end = self.span(place, place + length)
            return Found(lines=self.lines_of(start, end), start=start, end=end)
        if start < _NEAR and "_line_starts" not in vars(self):
            first = self.text.count("\n", 0, start) + 1
        else:
            first = bisect_right(self._line_starts, start)
        lines = LineRange(start=first, end=first + quote.count("\n"))
        return Found(lines, start, start + len(quote))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets into ``text`` of a non-empty span of ``normalised``."""
        return self._original(start), self._original(end - 1) + 1

    def line_of(self, offset: int) -> int:
        """The line of the character at ``offset``.

        :raises IndexError: when there is no such character.
        """
        if not 0 <= offset < len(self.text):
            raise IndexError(f"no character {offset} in a text of {len(self.text)}")
        return bisect_right(self._line_starts, offset)

    def lines_of(self, start: int, end: int) -> LineRange:
        """The lines that a non-empty span of ``text`` touches.

        :raises IndexError: when the span is not inside the text.
        """
        if not 0 <= start < end <= len(self.text):
            raise IndexError(f"no characters {start} to {end} in a text of {len(self.text)}")
        starts = self._line_starts
        return LineRange(start=bisect_right(starts, start), end=bisect_right(starts, end - 1))

    def passage(self, lines: LineRange) -> str:
        """The lines as they stand in the file, without the line end of the last one.

        :raises IndexError: when the file does not have these lines.
        """
        if not lines.start <= lines.end <= self.line_count:
            raise IndexError(f"no lines {lines} in a file of {self.line_count} lines")
        start, end = self._line_starts[lines.start - 1], self._line_starts[lines.end] - 1
        return self.text[start : end - self.text.startswith("\r\n", end - 1)]

    def line_text(self, number: int) -> str:
        """One line without its line end.

        :raises IndexError: when the file does not have this line.
        """
        if not 1 <= number <= self.line_count:
            raise IndexError(f"no line {number} in a file of {self.line_count} lines")
        return self.passage(LineRange(start=number, end=number))

    def _places(self, needle: str, within: LineRange | None = None) -> list[int]:
        """The first MAX_OCCURRENCES offsets of ``needle`` in ``normalised``."""
        start, end = (0, len(self.normalised)) if within is None else self._bounds(within)
        places: list[int] = []
        place = self.normalised.find(needle, start, end)
        while place >= 0 and len(places) < MAX_OCCURRENCES:
            places.append(place)
            place = self.normalised.find(needle, place + 1, end)
        return places

    def _line_ranges(self, places: list[int], length: int) -> tuple[LineRange, ...]:
        return tuple(self.lines_of(*self.span(place, place + length)) for place in places)

    def _bounds(self, lines: LineRange) -> tuple[int, int]:
        """The span of ``normalised`` that holds what lies entirely in ``lines``."""
        end = min(lines.end, self.line_count)
        if lines.start > end:
            return 0, 0
        starts = self._line_starts
        return self._normal(starts[lines.start - 1]), self._normal(starts[end] - 1)

    @cached_property
    def _line_starts(self) -> array[int]:
        """Where each line starts; the entry after the last line is one past its line end."""
        text = self.text if self.text.endswith("\n") else f"{self.text}\n"
        return array("Q", accumulate(map(len, StringIO(text, newline="\n")), initial=0))

    @cached_property
    def _moves(self) -> tuple[array[int], array[int]]:
        """Where text and normalised text shift against each other.

        Two parallel ascending lists, offsets into ``text`` and into ``normalised``: from each
        pair to the next, both run in step.
        """
        text = self.text.lstrip()
        lengths = [len(part) for part in _MOVING_RUN.split(text)]  # text, run, text, run … text
        leading = len(self.text) - len(text)
        originals = array("Q", list(accumulate(lengths, initial=leading))[::2])
        lengths[1::2] = [1] * (len(lengths) // 2)
        normals = array("Q", list(accumulate(lengths, initial=0))[::2])
        return originals, normals

    def _original(self, offset: int) -> int:
        """The offset in ``text`` of a character of ``normalised``."""
        originals, normals = self._moves
        index = bisect_right(normals, offset) - 1
        return originals[index] + offset - normals[index]

    def _normal(self, offset: int) -> int:
        """The offset in ``normalised`` of the first word character at or after ``offset``.

        Off by the one space before it when ``offset`` stands in whitespace, which no
        occurrence starts or ends with.
        """
        originals, normals = self._moves
        index = bisect_right(originals, offset) - 1
        if index < 0:
            return 0
        normal = normals[index] + offset - originals[index]
        return min(normal, normals[index + 1]) if index + 1 < len(normals) else normal


# --- bytes --------------------------------------------------------------------------------

_LFS_POINTER = re.compile(
    rb"version https://(?:git-lfs|hawser)\.github\.com/spec/v1\n"
    rb"(?:ext-[^\n]*\n)*oid [a-z0-9]+:[0-9a-f]+\n(?:ext-[^\n]*\n)*size [0-9]+\n?"
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class NotText(ValueError):
    """Bytes that are not text in the given encoding.

    ``reason`` says why in the author's words; ``hint`` says what to type, empty when nothing
    helps. Bytes are counted from 0, lines from 1.
    """

    def __init__(self, reason: str, hint: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.hint = hint


def decode(data: bytes, encoding: str) -> str:
    """Decode a file strictly; a byte order mark is not part of its text.

    :raises NotText: when the bytes are binary or not valid in ``encoding``.
    :raises LookupError: when Python knows no such text encoding.
    """
    if not codecs.lookup(encoding).name.startswith(("utf-16", "utf-32")):
        _refuse_nul(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].decode(encoding, "replace").count("\n") + 1
        raise NotText(
            f"not valid {encoding}: {error.reason} at byte {error.start}, line {line}",
            'name the encoding of this source in memreport.toml, as in encoding = "latin-1"',
        ) from None
    return text.removeprefix("\ufeff")


def is_lfs_pointer(data: bytes) -> bool:
    """Whether a file is a Git LFS pointer, which stands in for content kept elsewhere."""
    return len(data) < 1024 and _LFS_POINTER.fullmatch(data) is not None


def _refuse_nul(data: bytes) -> None:
    nul = data.find(b"\0")
    if nul < 0:
        return
    if data.startswith(_UTF16_MARKS):
        raise NotText(
            "a byte order mark says that this is UTF-16",
            'name the encoding of this source in memreport.toml: encoding = "utf-16"',
        )
    raise NotText(f"a binary file: a NUL at byte {nul}")
