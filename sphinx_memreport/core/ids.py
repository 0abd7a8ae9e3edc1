"""The grammar of record and source IDs, and the names derived from an ID.

Contract, section 3.1: ``(RT|MEM|EPI)-(CMP|OBJ|RTE|CLM|ABS|BAP)-name`` and ``SRC-n``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from rapidfuzz.distance import OSA


class Prefix(StrEnum):
    """The analyst that declares a record."""

    RUNTIME = "RT"
    MEMORY = "MEM"
    EPISTEMIC = "EPI"


class Kind(StrEnum):
    """What a record describes."""

    COMPONENT = "CMP"
    OBJECT = "OBJ"
    ROUTE = "RTE"
    CLAIM = "CLM"
    ABSENCE = "ABS"
    AUTHORITY = "BAP"


class MemberName(StrEnum):
    """The parts of a report (contract, section 3.5)."""

    BOUNDARY = "boundary"
    RUNTIME = "runtime"
    MEMORY = "memory"
    EPISTEMIC = "epistemic"
    RECONCILIATION = "reconciliation"
    OVERVIEW = "overview"
    VERIFICATION = "verification"
    SYNTHESIS = "synthesis"
    PROFILE = "profile"


class IdStyle(StrEnum):
    """The form of names that a report admits (``ids`` in memreport.toml)."""

    NAMED = "named"
    NUMBERED = "numbered"
    ANY = "any"


_WORD = r"[a-z][a-z0-9]*"
NAMED = re.compile(rf"{_WORD}(?:-{_WORD}){{0,2}}")
NUMBERED = re.compile(r"[1-9][0-9]*")
SOURCE_ID = re.compile(r"SRC-[1-9][0-9]*")
REPORT_SLUG = re.compile(r"[a-z][a-z0-9-]*")

_PREFIXES = "|".join(Prefix)
_KINDS = "|".join(Kind)

# What a token must look like to count as an attempt at a record ID: three parts joined by
# hyphens (or by the dashes that typography makes of them), of which the first or the second
# is right and the other one nearly so. One mistyped letter is then a problem instead of silent
# text. Possessive groups match a token whole or not at all.
_HYPHEN = "[-\u2010\u2011]"
# Marks on letters, and characters that are not seen, are part of a token: it would otherwise end
# before them and name another record than the one that a reader sees.
_MARKS = "\u0300-\u036f"
_HIDDEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
_UNSEEN = f"[{_MARKS}{_HIDDEN}]*+"
_DASH = f"[-\u2010-\u2014]{_UNSEEN}"
_LETTER = rf"[^\W\d_]{_UNSEEN}"
# what is hidden at the end of a token belongs to the text behind it
_ALNUM = rf"[^\W_]++(?:(?:[{_MARKS}]++|[{_HIDDEN}]++(?=[^\W_]))[^\W_]*+)*+"
# Letters of other alphabets that look like those of prefixes and kinds.
_LOOKALIKES = str.maketrans("АВСЕІЈМОРЅТΑΒΕΙΜΟΡΤϹ", "ABCEIJMOPSTABEIMOPTC")
_RECORD_SHAPE = (
    rf"(?P<prefix>(?:{_LETTER}){{1,4}}){_DASH}(?P<kind>(?:{_LETTER}){{2,4}}){_DASH}"
    rf"{_ALNUM}(?:{_HYPHEN}{_ALNUM})*+(?:(?:[–—]|\.\.)\d++)?+"
)
# a number, or so short that it must have been meant as one
_SOURCE_SHAPE = (
    rf"[SЅＳ]{_UNSEEN}[RＲ]{_UNSEEN}[CСϹＣ]{_UNSEEN}{_DASH}"
    rf"(?:(?=\D{{0,2}}\d|[^\W_]{{1,2}}(?!\w)){_ALNUM})"
    rf"(?:(?:{_HYPHEN}|[–—]|\.\.)(?:SRC{_HYPHEN})?\d++)*+"
)
_MENTION = re.compile(
    r"(?<![\w/\u2010\u2011-])"
    rf"(?:(?P<report>{REPORT_SLUG.pattern}):)?"
    rf"(?:(?P<record>{_RECORD_SHAPE})|(?P<source>{_SOURCE_SHAPE}))"
    r"(?![\w/]|\.[a-z0-9]{1,5}(?!\w))"
)
# the lookbehind keeps the search linear in words of any length
_URL = re.compile(r"(?<![A-Za-z0-9+.-])(?:[A-Za-z][A-Za-z0-9+.-]*+://|mailto:|www\.)[^\s<>\"]+")


class RecordId(NamedTuple):
    """A well-formed record ID in its parts."""

    prefix: Prefix
    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.prefix}-{self.kind}-{self.name}"


class Mention(NamedTuple):
    """Something in running text that has the shape of an ID, right or wrong."""

    start: int
    end: int
    #: Text before a colon in front of the ID; a report only if the site has one of that name.
    report: str | None
    target: str

    @property
    def is_source(self) -> bool:
        """Whether the ID names a source rather than a record."""
        return self.target.startswith("SRC")


def parse_record_id(text: str, style: IdStyle = IdStyle.ANY) -> RecordId:
    """Parse one record ID.

    :raises ValueError: with the reason, in words for the author, when ``text`` is not one.
    """
    parts = text.split("-", 2)
    if len(parts) < 3 or not parts[2]:
        raise ValueError(
            "an ID has three parts: a prefix (RT, MEM, EPI), a kind "
            "(CMP, OBJ, RTE, CLM, ABS, BAP) and a name, as in MEM-OBJ-note"
        )
    prefix, kind, name = parts
    if prefix not in tuple(Prefix):
        raise ValueError(f"{prefix!r} is not a prefix; expected {_one_of(Prefix)}")
    if kind not in tuple(Kind):
        raise ValueError(f"{kind!r} is not a kind; expected {_one_of(Kind)}")
    if not _name_fits(name, style):
        raise ValueError(f"the name {name!r} must be {_NAME_RULES[style]}")
    return RecordId(Prefix(prefix), Kind(kind), name)


def check_id(text: str, style: IdStyle = IdStyle.ANY) -> str | None:
    """Say what is wrong with a record or source ID, or None when it is well formed."""
    hyphenated = re.sub("[-\u2010-\u2014]", "-", text)
    if hyphenated != text and check_id(hyphenated, style) is None:
        return f"its parts are joined by hyphens, not by other dashes: {hyphenated}"
    if odd := next((char for char in hyphenated if not char.isascii()), ""):
        name = f"U+{ord(odd):04X} {unicodedata.name(odd, '')}".rstrip()
        return f"an ID is made of the letters a to z, digits and hyphens; found {name}"
    if text.startswith("SRC-"):
        if SOURCE_ID.fullmatch(text):
            return None
        if re.fullmatch(r"SRC-\d+\D+\d+", text):
            return "a range of sources is not an ID; list each source"
        return "a source ID is SRC- and a number, as in SRC-1"
    if re.fullmatch(r".*-\d+(?:[–—-]|\.\.)\d+", text):
        return "a range of records is not an ID; list each record"
    try:
        parse_record_id(text, style)
    except ValueError as error:
        return str(error)
    return None


def find_mentions(text: str) -> Iterator[Mention]:
    """Find every token in ``text`` that is shaped like an ID, outside URLs.

    Contract, section 3.4: tokens are matched whole; not after ``/``, a word character or
    ``-``, nor before ``_``, ``/`` or a file ending.
    """
    urls = [match.span() for match in _URL.finditer(text)]
    starts = [start for start, _ in urls]
    position = 0
    while match := _MENTION.search(text, position):
        if match["record"] and not _is_meant(match["prefix"], match["kind"]):
            position = match.start() + 1
            continue
        position = match.end()
        url = bisect_right(starts, match.start()) - 1
        if url < 0 or match.start() >= urls[url][1]:
            target = match["record"] or match["source"]
            yield Mention(match.start(), match.end(), match["report"], target)


def _is_meant(prefix: str, kind: str) -> bool:
    """Whether two parts are an attempt at a prefix and a kind, and no other abbreviation."""
    if not (prefix.isascii() and kind.isascii()):
        prefix, kind = _folded(prefix), _folded(kind)
    if prefix in tuple(Prefix):
        # RT begins many an abbreviation; MEM and EPI do not
        return prefix != Prefix.RUNTIME or _is_near(kind, Kind)
    # a prefix at the end of a longer word is part of that word
    return kind in tuple(Kind) and not prefix.endswith(tuple(Prefix)) and _is_near(prefix, Prefix)


def _folded(part: str) -> str:
    """A part with the letters that it looks like, and nothing that is not seen."""
    seen = re.sub(f"[{_MARKS}{_HIDDEN}]", "", part)
    return unicodedata.normalize("NFKC", seen).translate(_LOOKALIKES)


def _is_near(part: str, names: type[StrEnum]) -> bool:
    return any(OSA.distance(part.upper(), name) <= 1 for name in names)


def anchor(record_or_source_id: str) -> str:
    """The HTML anchor of an ID: the ID in lower case (contract, section 3.1)."""
    return record_or_source_id.lower()


def need_id(report: str, record_id: str) -> str:
    """The sphinx-needs ID of a record, unique on the site; also its qualified reference."""
    return f"{report}:{record_id}"


def annotation_need_id(report: str, docname: str, annotation_anchor: str) -> str:
    """The sphinx-needs ID of an annotation, unique on the site: it has no ID of its own."""
    place = "".join(
        each if each.isascii() and (each.isalnum() or each in "-/") else f"_{ord(each):x}_"
        for each in docname
    )
    return f"{report}:{place.replace('/', ':')}:{annotation_anchor}"


_NAME_RULES = {
    IdStyle.NAMED: "one to three lowercase words joined by hyphens, each starting with a letter",
    IdStyle.NUMBERED: "a number, as in MEM-OBJ-3",
    IdStyle.ANY: "one to three lowercase words joined by hyphens, each starting with a letter, "
    "or a number",
}


def _name_fits(name: str, style: IdStyle) -> bool:
    named = style is not IdStyle.NUMBERED and NAMED.fullmatch(name)
    numbered = style is not IdStyle.NAMED and NUMBERED.fullmatch(name)
    return bool(named or numbered)


def _one_of(names: type[StrEnum]) -> str:
    return ", ".join(names)
