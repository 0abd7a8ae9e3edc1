"""The last line of a quotation: ``--- `src/app.py:12-20` @ `commit```, or a link to a host."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote

from sphinx_memreport.core.inline import code_span
from sphinx_memreport.core.models import LineRange

_MARK = re.compile(r"\s*(?:---|—|–|--)\s+(?P<rest>\S.*)")
_SOURCE = re.compile(r"\[?`?(?P<id>SRC-[1-9][0-9]*)`?\]?(?![\w-])\s*[:,;]?\s*")
_LINK = re.compile(
    r"\[(?P<text>[^\]]*)\]\((?P<url>https?://[^)\s]+)\)|<(?P<auto>https?://[^>\s]+)>"
)
_URL = re.compile(r"(?P<url>https?://[^\s>)\]]+)")
_BARE = re.compile(r"(?P<path>[\w@.+/-]*[/.][\w@+-][\w@.+/-]*(?::\d+(?:[-–]\d+)?)?)")
_RANGE = re.compile(r":\s*L?(?P<start>[1-9]\d{0,8})(?:\s*[-–]\s*L?(?P<end>[1-9]\d{0,8}))?")
#: Lines of a file without a name, which a capture is.
_LINES = re.compile(r"lines?\s+(?P<start>[1-9]\d{0,8})(?:[-–](?P<end>[1-9]\d{0,8}))?(?![\w-])")
_COMMIT = re.compile(r"@\s*`?(?P<commit>[0-9a-fA-F]{7,64})`?")
_BLOB = re.compile(
    r"(?P<repository>https?://[^/]+/.+?)/(?:-/)?(?:blob|src/commit|src)/"
    r"(?P<commit>[0-9a-fA-F]{7,64})/(?P<path>[^?#]+)(?:\?[^#]*)?(?P<anchor>#.*)?"
)
_ANCHOR = re.compile(
    r"#(?:L|lines-)(?P<start>[1-9]\d{0,8})(?:C\d+)?(?:[-:]L?(?P<end>[1-9]\d{0,8}))?"
)


class Attribution(NamedTuple):
    """Where a quotation is said to stand; ``remark`` is what else the line says."""

    path: str = ""
    lines: LineRange | None = None
    source: str | None = None
    repository: str | None = None
    commit: str | None = None
    remark: str = ""


def is_attribution(line: str) -> bool:
    """Whether a line of a blockquote, without its ``>``, begins like an attribution."""
    return parse_attribution(line) is not None


def parse_attribution(line: str) -> Attribution | None:
    """Read the last line of a quotation; None when it names no place."""
    match = _MARK.fullmatch(line)
    if not match:
        return None
    rest = match["rest"]
    source = _SOURCE.match(rest)
    found = Attribution(source=source["id"] if source else None)
    if source:
        rest = rest[source.end() :]
    for read in (_from_link, _from_code, _from_bare):
        place = read(rest, found)
        if place is not None:
            return place
    if source is None or rest.startswith("`"):
        return None
    lines = _LINES.match(rest)
    remark = rest[lines.end() :] if lines else rest
    return found._replace(lines=_lines(lines), remark=_tidy(remark))


def _from_link(rest: str, found: Attribution) -> Attribution | None:
    match = _LINK.match(rest) or _URL.match(rest)
    if not match:
        return None
    groups = match.groupdict()
    url = groups.get("url") or groups.get("auto") or ""
    blob = _BLOB.fullmatch(url)
    if not blob:
        return None
    anchor = _ANCHOR.match(blob["anchor"] or "")
    path = unquote(blob["path"])
    text = (groups.get("text") or "").strip("` ")
    said = _RANGE.search(text)
    shown = text[: said.start()] if said else text
    return found._replace(
        path=path,
        lines=_lines(anchor) or _lines(said),
        repository=blob["repository"],
        commit=blob["commit"].lower(),
        remark=_joined("" if path.endswith(shown) else text, rest[match.end() :]),
    )


def _from_code(rest: str, found: Attribution) -> Attribution | None:
    span = code_span(rest)
    return _from_path(span[0].strip(), rest[span[1] :], found) if span else None


def _from_bare(rest: str, found: Attribution) -> Attribution | None:
    match = _BARE.match(rest)
    return _from_path(match["path"], rest[match.end() :], found) if match else None


def _from_path(path: str, rest: str, found: Attribution) -> Attribution:
    inside = re.search(_RANGE.pattern + "$", path)
    lines = _lines(inside)
    if inside:
        path = path[: inside.start()]
    elif behind := _RANGE.match(rest):
        lines, rest = _lines(behind), rest[behind.end() :]
    commit = _COMMIT.search(rest)
    if commit:
        rest = rest[: commit.start()] + rest[commit.end() :]
    return found._replace(
        path=path,
        lines=lines,
        commit=commit["commit"].lower() if commit else None,
        remark=_tidy(rest),
    )


def _lines(match: re.Match[str] | None) -> LineRange | None:
    if match is None:
        return None
    return LineRange(start=int(match["start"]), end=int(match["end"] or match["start"]))


def _joined(*texts: str) -> str:
    return " ".join(filter(None, (_tidy(text) for text in texts)))


def _tidy(text: str) -> str:
    """What is left of the line, without the marks that joined it to the place."""
    tidy = text.lstrip(" \t,;:.—–-").rstrip(" \t,;:")
    return tidy if re.search(r"\w", tidy) else ""
