"""Fields of a record: bullets, or labels inside a paragraph (``Consumer: … Channel: …``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from sphinx_memreport.core.ids import Kind, parse_record_id
from sphinx_memreport.core.inline import code_span
from sphinx_memreport.core.vocabulary import (
    FORMS,
    GUARANTEES,
    STATUSES,
    Option,
    OptionType,
    split_list,
)
from sphinx_memreport.plain.labels import option_for

_LABEL = r"[A-Za-z][^.:;!?*`\n()\[\]|<>]{0,70}?"
_BOLD = re.compile(rf"\*\*(?P<label>{_LABEL})(?:[.:]\*\*:?|\*\*:)(?:\s+|$)")
_BARE = re.compile(rf"(?P<label>{_LABEL}):(?:\s+|$)")
# where a sentence may begin
_START = re.compile(r"(?:^|(?<=[.;!?`)\]*])\s+)")
_LONGEST_UNKNOWN = 6


class Piece(NamedTuple):
    """A stretch of a paragraph: a field with its option and value, or text without."""

    option: Option | None
    text: str


def read_fields(kind: Kind, text: str, *, bullet: bool) -> list[Piece] | None:
    """Split a paragraph, or the text of a bullet, at its labels.

    A paragraph is one of fields when it begins with a label that the kind of record knows, or
    holds two of them; a bullet when it begins with one.

    :return: None when it holds no field at all.
    """
    line = " ".join(text.split())
    marks = list(_marks(kind, line))
    known = [mark for mark in marks if mark.option]
    first = bool(known) and known[0].start == 0
    if not first and (bullet or len(known) < 2):
        return None
    if bullet:  # what looks like a label of no option belongs to the field before it
        marks = known
    pieces = [Piece(None, line[: marks[0].start].strip())] if marks[0].start else []
    for mark, following in zip(marks, [*marks[1:], None], strict=True):
        end = following.start if following else len(line)
        pieces.append(_piece(mark, line[mark.start : end].strip(), line[mark.end : end].strip()))
    return pieces


class _Mark(NamedTuple):
    start: int
    end: int
    option: Option | None


def _marks(kind: Kind, line: str) -> Iterator[_Mark]:
    """Every label in a line; unknown ones only where they look like labels."""
    for place in _START.finditer(line):
        match = _BOLD.match(line, place.end()) or _BARE.match(line, place.end())
        if not match:
            continue
        option = option_for(kind, match["label"])
        capital = match["label"][0].isupper() or match[0].startswith("*")
        if option or (capital and len(match["label"].split()) <= _LONGEST_UNKNOWN):
            yield _Mark(match.start(), match.end(), option)


def _piece(mark: _Mark, whole: str, value: str) -> Piece:
    if mark.option is None:
        return Piece(None, whole)
    clean = clean_value(mark.option, value)
    return Piece(None, whole) if clean is None else Piece(mark.option, clean)


def clean_value(option: Option, value: str) -> str | None:
    """A value as the option takes it; None when it says more than the option can hold.

    A form is taken when it is a list of forms and nothing else, a pattern when it is a code
    span. Statuses and IDs lose their code marks and the full stop of their sentence; whatever
    else they hold is kept, for the build to say.
    """
    bare = value.strip("`*. ")
    match option.type:
        case OptionType.FORMS:
            items = [item.strip("` ").lower() for item in split_list(value.rstrip("."))]
            return ", ".join(items) if items and all(item in FORMS for item in items) else None
        case OptionType.STATUS:
            return bare.lower() if bare.lower() in STATUSES else value
        case OptionType.GUARANTEE:
            return bare.lower() if bare.lower() in GUARANTEES else value
        case OptionType.RECORD:
            return bare if _is_record(bare) else value
        case OptionType.VERBATIM:
            return _code(value)
        case OptionType.FLAG:
            return "" if bare.lower() in ("", "yes") else None
        case OptionType.WORDS:
            return value.rstrip(".")
    return value


def _code(value: str) -> str | None:
    """The content of a value that is a code span, without the one blank at each end."""
    span = code_span(value)
    if span is None or span[1] != len(value):
        return None
    content = span[0].removeprefix(" ").removesuffix(" ")
    return content or None


def _is_record(text: str) -> bool:
    try:
        parse_record_id(text)
    except ValueError:
        return False
    return True
