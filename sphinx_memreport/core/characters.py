"""Characters that a reader cannot see or that a terminal obeys (contract, section 3.3)."""

from __future__ import annotations

import re
import unicodedata

_PLAIN_CONTROLS = frozenset("\t\n\r\f")
# Format characters (Cf) that are drawn: signs that enclose the number or word after them.
_VISIBLE_FORMATS = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd"
)
# Characters of other categories that nothing is drawn for: joiners, fillers, and variation
# selectors save the two that choose between text and emoji style.
_BLANKS = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2028\u2029\u2800\u3164"
    "\ufe00-\ufe0d\uffa0\U000e0100-\U000e01ef]"
)


def invisible_characters(quote: str) -> list[tuple[int, str]]:
    """The characters that a reader cannot see, or that change the direction of text.

    These are format characters (bidirectional controls, zero-width characters, byte order
    marks, soft hyphens, tags), controls except tab, LF, CR and form feed, and blank fillers.

    :returns: offset and name of each, as in ``(3, "U+202E RIGHT-TO-LEFT OVERRIDE")``.
    """
    names = {char: _name(char) for char in set(quote) if _is_invisible(char)}
    if not names:
        return []
    return [(offset, names[char]) for offset, char in enumerate(quote) if char in names]


def mark_invisible(text: str) -> str:
    """``text`` with each invisible character as a visible escape, ``⟦U+202E⟧``."""
    return text.translate({ord(c): f"⟦{_code(c)}⟧" for c in set(text) if _is_invisible(c)})


def _is_invisible(char: str) -> bool:
    category = unicodedata.category(char)
    if category == "Cc":
        return char not in _PLAIN_CONTROLS
    if category == "Cf":
        return char not in _VISIBLE_FORMATS
    return _BLANKS.match(char) is not None


def _code(char: str) -> str:
    return f"U+{ord(char):04X}"


def _name(char: str) -> str:
    return f"{_code(char)} {unicodedata.name(char, '') or _control_name(char)}"


def _control_name(char: str) -> str:
    """Controls have no name of their own, but the pictures of most of them have."""
    picture = 0x2421 if char == "\x7f" else 0x2400 + ord(char)
    if picture > 0x2421:
        return "CONTROL CHARACTER"
    return unicodedata.name(chr(picture)).removeprefix("SYMBOL FOR ")


# --- text that tools print --------------------------------------------------------------------

#: The most characters of one line of a message.
_LONGEST = 2000
_BREAKS = re.compile(r"[\n\r\f]+")


def printable_line(text: str) -> str:
    """``text`` as one line that may go to a terminal, a log or a page.

    Whatever an author, a file name or a source holds, nothing in the line moves a cursor, starts
    a line of its own, or changes the direction of what follows. The middle of a very long text
    is left out.
    """
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST * 3 // 4]} … {text[-_LONGEST // 4 :]}"
    line = mark_invisible(_BREAKS.sub(" ", text))
    return line.encode("utf-8", "backslashreplace").decode("utf-8")
