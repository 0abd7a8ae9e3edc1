"""What commands print: text that is safe on a terminal, JSON, and diffs."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path
from typing import NamedTuple

import click

from sphinx_memreport.core.characters import mark_invisible
from sphinx_memreport.core.output import json_bytes


class Change(NamedTuple):
    """A file with its content before and after, in bytes. ``old`` is None for a new file."""

    path: Path
    old: bytes | None
    new: bytes


def visible(text: str) -> str:
    """Text of anybody's making as it may go to a terminal: hidden characters are marked.

    Sources and file names may hold escape sequences, which would otherwise be carried out.
    """
    return mark_invisible(text).replace("\r", "").encode("utf-8", "backslashreplace").decode()


def say(text: str = "", *, err: bool = False) -> None:
    """Print text of anybody's making, and a line end."""
    click.echo(visible(text), err=err)


def counted(number: int, word: str) -> str:
    """A number of things: one quote, two quotes."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def say_bytes(data: bytes) -> None:
    """Print text exactly, unless it goes to a terminal, where hidden characters are marked."""
    if sys.stdout.isatty():
        click.echo(visible(data.decode("utf-8", "surrogateescape")), nl=False)
    else:
        click.echo(data, nl=False)


def say_json(value: object) -> None:
    """Print plain data as JSON; the same data gives the same bytes."""
    click.echo(json_bytes(value), nl=False)


def say_diff(*changes: Change) -> None:
    """Print a unified diff that ``patch -p1`` and ``git apply`` take in the current folder."""
    for change in changes:
        say_bytes(diff(change))


def diff(change: Change, base: Path | None = None) -> bytes:
    """One change as a unified diff, empty when nothing changed.

    :param base: the folder that file names are relative to; by default the current one.
    """
    name = _relative(change.path, base or Path.cwd())
    old, new = _lines(change.old or b""), _lines(change.new)
    before = "/dev/null" if change.old is None else f"a/{name}"
    parts = difflib.unified_diff(old, new, before, f"b/{name}", lineterm="\n")
    text = "".join(
        part if part.endswith("\n") else f"{part}\n\\ No newline at end of file\n" for part in parts
    )
    return text.encode("utf-8", "surrogateescape")


def _lines(data: bytes) -> list[str]:
    """Lines with their ends, split at LF alone: other separators are text to diff tools."""
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return (
        [*(f"{line}\n" for line in lines[:-1]), *lines[-1:]]
        if lines[-1]
        else [f"{line}\n" for line in lines[:-1]]
    )


def _relative(path: Path, base: Path) -> str:
    absolute = Path.cwd() / path
    try:
        return absolute.relative_to(base).as_posix()
    except ValueError:
        return absolute.as_posix().lstrip("/")
