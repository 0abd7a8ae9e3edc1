"""What the Markdown parser made of a directive's options, and what it lost.

The parser drops what it does not understand with a warning at most; here the raw text is read
again with the parser's own tokenizer and every loss becomes a fault (contract, section 3).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from docutils.parsers.rst import directives
from myst_parser.mocking import MockState
from myst_parser.parsers.directives import is_option_line
from myst_parser.parsers.options import TokenizeError, options_to_tokens

from sphinx_memreport.core.nearest import nearest_names

_OPTION_LINE = re.compile(r"\s*:(?P<name>[A-Za-z][\w-]*):(?:\s|$)")
# ``name:value``, and a value that begins with a quotation and does not end with it.
_JOINED = re.compile(r"(?P<name>[a-z][a-z-]*):(?P<value>[^\s:]\S{0,20})")
_QUOTED_START = re.compile(r"[a-z][a-z-]*:\s+(?P<mark>[\"']).*?(?P=mark)\s*\S")
_FENCE = re.compile(r"\s*(?:`{3,}|~{3,}|:{3,})")


class AnyOption(dict[str, Any]):
    """An ``option_spec`` that takes every name: our directives check the names themselves,
    so that an unknown one neither vanishes (Markdown) nor takes the directive along (reST)."""

    def __missing__(self, _name: str) -> Any:
        return directives.unchanged


class ParsedOptions(NamedTuple):
    """Options as text by name, what was lost on the way, and names that are not known here."""

    values: dict[str, str]
    faults: list[str]
    unknown: tuple[str, ...] = ()
    #: What to write instead, where that is known of the only fault.
    fix: str = ""


def read_options(
    directive: Any, known: Collection[str], *, yaml_block: bool = True, prose_body: bool = False
) -> ParsedOptions:
    """Read a directive's options and say what the parser lost.

    :param directive: a running directive with ``option_spec = AnyOption(...)``.
    :param known: the names it takes.
    :param yaml_block: whether an option block between ``---`` lines is allowed.
    :param prose_body: whether the body is prose, so that its first line may be the lost rest
        of an option.
    """
    if not isinstance(directive.state, MockState):
        values = {name: value or "" for name, value in directive.options.items()}
        lost = _lost_rest([], list(directive.content), known) if prose_body else None
        return ParsedOptions(values, [lost] if lost else [], _unknown(values, known))
    # block_text is the opening line, the body as it was, and the closing line
    lines = directive.block_text.split("\n")[1:-2]
    if lines and lines[0].startswith("---"):
        if not yaml_block:
            return ParsedOptions({}, ["the first line '---' of the body is read as options"])
        block, rest = _yaml_block(lines)
        if rest is None:
            return ParsedOptions({}, ["the option block that '---' opens is never closed"])
    else:
        block, rest = _colon_block(lines)
        if prose_body and (fault := _lost_rest(block, rest, known)):
            return ParsedOptions({}, [fault])
    return _tokenized(block, known)


def _yaml_block(lines: list[str]) -> tuple[list[str], list[str] | None]:
    for index, line in enumerate(lines[1:], start=1):
        if line.startswith("---"):
            return lines[1:index], lines[index + 1 :]
    return lines[1:], None


def _colon_block(lines: list[str]) -> tuple[list[str], list[str]]:
    count = 0
    while count < len(lines) and is_option_line(lines[count]):
        count += 1
    return [line.lstrip()[1:] for line in lines[:count]], lines[count:]


def _lost_rest(block: list[str], rest: list[str], known: Collection[str]) -> str | None:
    """A first paragraph of the body that belongs to the options."""
    if not rest:
        return None
    if block and rest[0].strip() and not _FENCE.match(rest[0]):
        return f"'{_short(rest[0])}' stands directly below the options: it belongs to no option"
    start = next((n for n, line in enumerate(rest) if line.strip()), len(rest))
    for line in rest[start:]:
        if not line.strip() or _FENCE.match(line):
            return None
        match = _OPTION_LINE.match(line)
        if match and match["name"] in known:
            return f"the option line '{_short(line)}' stands in the body, where it is plain text"
    return None


def _tokenized(block: list[str], known: Collection[str]) -> ParsedOptions:
    try:
        tokens, state = options_to_tokens("\n".join(block))
        pairs = [(key.value, value.value if value else "") for key, value in tokens]
    except TokenizeError as error:
        return _unreadable(block[: error.problem_mark.line + 1], error.problem)
    values = dict(pairs)
    times = Counter(name for name, _ in pairs)
    faults = [f"option '{name}' is given twice" for name in values if times[name] > 1]
    if state.has_comments:
        cut = [block[number] for number in state.comment_lines if number < len(block)]
        shown = f" in ':{_short(cut[0])}'" if cut else ""
        faults.append(f"the text after ' #' is cut off as a comment{shown}")
    fix = "" if len(faults) > 1 or state.has_comments else "remove one of the two"
    return ParsedOptions(values, faults, _unknown(values, known), fix)


def _unreadable(lines: list[str], reason: str) -> ParsedOptions:
    """Options that the parser gave up on at the last of these lines, perhaps for an earlier one."""
    for line in reversed(lines):
        if match := _JOINED.match(line):
            fault = f"':{_short(line)}' is no option: a space is missing"
            return ParsedOptions({}, [fault], fix=f"write ':{match['name']}: {match['value']}…'")
        if match := _QUOTED_START.match(line):
            fault = f"the value in ':{_short(line)}' goes on behind its closing quotation mark"
            other = "'" if match["mark"] == '"' else '"'
            fix = f"put the whole value between {other} and {other}"
            return ParsedOptions({}, [fault], fix=fix)
    line = lines[-1] if lines else ""
    return ParsedOptions({}, [f"':{_short(line)}' cannot be read as an option: {reason}"])


def _unknown(values: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in values if name not in known)


def said_of_unknown(names: Iterable[str], known: Collection[str]) -> tuple[list[str], str]:
    """What to say of options that are not known, and what to write in their places, if anything."""
    allowed = ", ".join(sorted(known)) or "none"
    faults = [f"option '{name}' is unknown here (known: {allowed})" for name in names]
    near = [each for name in names for each in nearest_names(name, known, limit=1)]
    if near:
        return faults, f"did you mean {', '.join(repr(each) for each in near)}?"
    return faults, "remove it, or write one of the known ones" if faults else ""


def _short(line: str) -> str:
    text = line.strip()
    return text if len(text) <= 60 else text[:60] + "…"
