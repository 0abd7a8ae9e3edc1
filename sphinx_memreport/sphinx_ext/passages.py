"""How quoted text is shown, on the pages of documents and on those of quoted files."""

from __future__ import annotations

import re
from fnmatch import translate
from functools import cache
from textwrap import dedent

from pygments.lexers import get_all_lexers, get_lexer_for_filename
from pygments.util import ClassNotFound

from sphinx_memreport.core.characters import mark_invisible
from sphinx_memreport.core.models import Resolution

# a line ends at LF alone (contract, section 3.3), but highlighters break at the first of these,
# the text builder at the second, and XML cannot hold that
_OTHER_BREAKS = re.compile("\r(?!\n)|\f")


def shown_passage(quote: str, resolution: Resolution) -> str:
    """The text to show for a quote: the source's own lines once it is verified.

    Their indentation is taken away as far as they share it. What is not verified is shown as
    the author wrote it.
    """
    passage = resolution.passage
    if passage is None:
        return quote.strip("\n")
    return dedent(_indentation(passage, resolution) + passage.replace("\r\n", "\n"))


def _indentation(passage: str, resolution: Resolution) -> str:
    """What stands before a passage in its first line, if nothing but blanks does."""
    excerpt, lines = resolution.excerpt, resolution.lines
    if excerpt is None or lines is None:
        return ""
    first = excerpt.text.split("\n")[lines.start - excerpt.start]
    text = first.lstrip()
    # the passage ends a line or ends in it, and long lines of excerpts are cut
    same = text.startswith(passage.split("\n")[0].rstrip()[:80])
    return first[: len(first) - len(text)] if same else ""


def visible_text(text: str) -> str:
    """Text with its hidden characters marked, and no end of a line but LF."""
    return mark_invisible(_OTHER_BREAKS.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text))


def visible_name(path: str) -> str:
    """A path with hidden characters marked and bytes that are no text escaped."""
    return visible_text(path).encode("utf-8", "backslashreplace").decode("utf-8")


def evidence_anchor(number: int) -> str:
    """The anchor of a piece of evidence on its page: stable while the ones above it are.

    No heading gets such a one, not even "Evidence 1": theirs have no dots.
    """
    return f"evidence.{number + 1}"


def language_of(path: str | None) -> str:
    """The name of the Pygments lexer for a path; plain text when there is none."""
    name = (path or "").rpartition("/")[2]
    _stem, dot, ending = name.rpartition(".")
    # Pygments tries some 900 patterns on a name, nearly all of which look at its ending alone
    return _language_of_name(name if _special_names().match(name) else f"x{dot}{ending}")


@cache
def _language_of_name(name: str) -> str:
    try:
        return str(get_lexer_for_filename(name).aliases[0])
    except (ClassNotFound, IndexError):
        return "text"


@cache
def _special_names() -> re.Pattern[str]:
    """Names that a pattern tells from others with the same ending, as ``CMakeLists.txt``."""
    patterns = {pattern for lexer in get_all_lexers() for pattern in lexer[2]}
    special = (translate(each) for each in patterns if not re.fullmatch(r"\*\.[^.*?\[\]]+", each))
    return re.compile("|".join(sorted(special)))
