"""Evidence as an author writes it: a passage becomes the text of an ``evidence`` block.

Contract, section 3.3. A block written here is read back whole: its fence is longer than any
marks in the passage, and a first line that the option parser would take has a blank line before
it. How a passage is laid out (line breaks and indentation of its source, without the
indentation that its lines share) is decided here for every tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from textwrap import dedent, indent
from typing import Literal

from sphinx_memreport.core.ids import SOURCE_ID
from sphinx_memreport.core.models import Found, Layer, LineRange
from sphinx_memreport.core.quotes import SourceText

Syntax = Literal["myst", "rest"]

# What would end a line in one parser and not in another. All of it is whitespace to a quote.
_ODD_BREAKS = re.compile("[\r\v\f\x1c-\x1f\x85\u2028\u2029]")
_MARKS = re.compile(r"`+|~+|:+")
# A value of an option that needs no quotes in MyST's option block.
_PLAIN = re.compile(r"[^\W_](?:[\w ,.;()/<>+=*~$&!?-]|(?<=\S)[:#'\"`](?=\S))*", re.ASCII)
# Controls, line separators and lone surrogates, which no single line of text can hold.
_NOT_IN_LINE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_REST_INDENT = "   "


def evidence_block(
    source: str,
    path: str | None,
    quote: str,
    *,
    lines: LineRange | None = None,
    layer: Layer | str | None = None,
    lang: str | None = None,
    caption: str | None = None,
    supports: Iterable[str] = (),
    syntax: Syntax = "myst",
) -> str:
    """The text of an ``evidence`` directive, with a line end.

    :param source: source ID; empty when the report has one source.
    :param path: path in the tree; None or empty for a capture.
    :param quote: the passage, laid out as it is to stand in the body. Line breaks that are not
        LF become spaces, which does not change what the quote matches.
    :raises ValueError: when the passage is empty or holds what no document can hold, or a value
        cannot be written on one line.
    """
    body = body_lines(quote)
    if not body:
        raise ValueError("the passage holds nothing but white space")
    if "\0" in quote:
        raise ValueError("the passage holds U+0000, a character that no document can hold")
    argument = evidence_argument(source, path)
    options = [
        ("lines", str(lines) if lines else None),
        ("layer", str(layer) if layer else None),
        ("lang", lang),
        ("supports", ", ".join(supports) or None),
        ("caption", caption),
    ]
    write = _rest if syntax == "rest" else _myst
    given = [(name, value) for name, value in options if value and value.strip()]
    return write(argument, given, body)


def evidence_argument(source: str, path: str | None) -> str:
    """Source ID and path as they follow the directive's name.

    :raises ValueError: when the path cannot be written there so that it is read back.
    """
    path = path or ""
    argument = f"{source} {path}".strip()
    if path != path.strip() or _NOT_IN_LINE.search(argument):
        raise ValueError(
            f"the path {path!r} begins or ends with a space or holds a character that cannot be "
            "written behind the name of a directive"
        )
    if not source and SOURCE_ID.match(argument):
        raise ValueError(f"the path {path!r} looks like a source: name the source, too")
    return argument


def body_lines(quote: str) -> list[str]:
    """The lines of a passage as a body holds them, without blank lines at the ends.

    White space at the end of a line is left out: editors remove it anyway.
    """
    text = _ODD_BREAKS.sub(" ", quote.replace("\r\n", "\n"))
    lines = [line.rstrip() for line in text.split("\n")]
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    return lines


def laid_out(source: SourceText, found: Found) -> str:
    """A passage with the line breaks and indentation of its source.

    The indentation that all lines share is taken away. The first line counts as indented like
    the line of the file that it begins in, even where the passage begins in the middle of it.
    """
    first = source.line_text(found.lines.start)
    margin = first[: len(first) - len(first.lstrip(" \t"))]
    passage = source.text[found.start : found.end].replace("\r\n", "\n")
    return dedent(margin + _ODD_BREAKS.sub(" ", passage))


def needs_blank_line(first_line: str) -> bool:
    """Whether a body that begins with this line needs a blank line before it (section 3)."""
    return first_line.lstrip().startswith(":") or first_line.startswith("---")


def fence_for(lines: Iterable[str], marker: str = "`", least: int = 3) -> str:
    """A fence of one kind of mark that is longer than any run of it in the lines."""
    runs = (
        len(run)
        for line in lines
        for run in _MARKS.findall(line)
        if run[0] == marker and len(run) >= least
    )
    return marker * max(least, max(runs, default=0) + 1)


def _myst(argument: str, options: list[tuple[str, str]], body: list[str]) -> str:
    # the opening line of a backtick fence cannot hold a backtick
    fence = fence_for(body, "~" if "`" in argument else "`")
    head = [f"{fence}{{evidence}} {argument}".rstrip()]
    head += [f":{name}: {_option_value(value)}" for name, value in options]
    blank = [""] if options or needs_blank_line(body[0]) else []
    return "\n".join([*head, *blank, *body, fence, ""])


def _rest(argument: str, options: list[tuple[str, str]], body: list[str]) -> str:
    inner = [f":{name}: {_one_line(value)}" for name, value in options]
    text = "\n".join([*inner, "", *body, ""])
    return f".. evidence:: {argument}".rstrip() + "\n" + indent(text, _REST_INDENT)


def _option_value(value: str) -> str:
    """A value that MyST's option parser gives back as it is."""
    text = _one_line(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _one_line(value: str) -> str:
    text = " ".join(value.split())
    if _NOT_IN_LINE.search(text):
        raise ValueError(f"{text!r} holds a character that an option cannot hold")
    return text
