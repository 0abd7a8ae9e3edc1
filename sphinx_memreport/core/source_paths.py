"""Paths in a source as authors write them in ``memsrc`` and in coverage rows (section 3.4)."""

from __future__ import annotations

import re

_SOURCE_PATH = re.compile(
    r"(?:(?P<source>SRC-\w+):)?(?P<path>[^#]*?)(?:#L(?P<start>[0-9]+)(?:-L?(?P<end>[0-9]+))?)?"
)
# no file that is read has more lines; Python refuses to read thousands of digits
_DIGITS = 12


def split_source_path(text: str) -> tuple[str, str, tuple[int, int] | None]:
    """Source ID (or nothing), path and lines of a text such as ``SRC-1:path#L12-L20``."""
    match = _SOURCE_PATH.fullmatch(text.strip())
    if match is None:
        return "", text, None
    lines = None
    if match["start"]:
        lines = (_number(match["start"]), _number(match["end"] or match["start"]))
    return match["source"] or "", match["path"], lines


def _number(digits: str) -> int:
    """A number of a line; one of more digits than any file has lines is cut, not refused."""
    return int(digits.lstrip("0")[:_DIGITS] or "0")
