"""What is wrong with a configuration, in words for its author."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel
from pydantic_core import ErrorDetails, PydanticCustomError

from sphinx_memreport.config.lines import Key
from sphinx_memreport.core.problems import Code, Problem


class InvalidConfig(Exception):
    """A configuration that cannot be used.

    :param problems: everything wrong with it, sorted, each of code ``invalid-config`` with the
        file's path and, where there is one, the line.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=Problem.sort_key))
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(
            f"{problem.path}{f':{problem.line}' if problem.line else ''}: {problem.message}"
            f"{problem.addendum}"
            for problem in self.problems
        )

    def report(self) -> str:
        """The problems as the build and every tool say them, one a line (section 4)."""
        return "\n".join(
            f"{problem.path}{f':{problem.line}' if problem.line else ''}: ERROR: "
            f"{problem.message} [memreport.{problem.code}]{problem.addendum}"
            for problem in self.problems
        )


def expected(what: str, fix: str = "") -> PydanticCustomError:
    """The error of a value that is not what was expected, with the words for the author."""
    return PydanticCustomError("expected", "expected {what}", {"what": what, "fix": fix})


TYPES = {
    "string_type": "a string",
    "bool_type": "True or False",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list of strings",
}


def mismatch(where: str, error: ErrorDetails) -> tuple[str, str]:
    """What was expected and what was found, and the fix, for a value of the wrong kind."""
    context = error.get("ctx", {})
    what = context.get("what") or TYPES.get(error["type"])
    fix = context.get("fix", "")
    if what is None and "expected" in context:
        what = f"one of {context['expected']}"
        near = nearest(str(error["input"]).lower(), re.findall("'([^']+)'", context["expected"]))
        fix = f"did you mean {near!r}?" if near else "write one of these"
    if what is None:
        return f"{where}: {error['msg']}", ""
    return f"{where}: expected {what}, found {found_value(error['input'])}", fix


def unknown_key(where: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    names = list(known)
    near = nearest(name, names)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{where}: unknown key{hint}", f"known here: {', '.join(names)}"


def keys_of(model: type[BaseModel]) -> dict[str, str]:
    """The keys that an author may write for a model, and the help on each."""
    fields = model.model_fields.items()
    return {
        field.alias or name: field.description or "" for name, field in fields if name != "slug"
    }


def nearest(name: str, known: Iterable[str]) -> str | None:
    if len(name) > 100:
        return None
    return next(iter(difflib.get_close_matches(name, [str(each) for each in known], n=1)), None)


def found_value(value: object) -> str:
    """A value in few words, as an author of TOML knows it."""
    match value:
        case str():
            return short(value)
        case bool():
            return str(value).lower()
        case int() if abs(value) < 10**18:
            return f"the number {value}"
        case int() | float():
            return "a number"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case dict():
            return "a table"
        case None:
            return "nothing"
        case _:
            return f"a {type(value).__name__}"


def short(value: str | int) -> str:
    """A text in quotes, on one line, without the middle of a long one."""
    text = str(value)
    return repr(text if len(text) <= 80 else f"{text[:60]}…{text[-15:]}")


def printable(text: str, limit: int) -> str:
    line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return line if len(line) <= limit else f"{line[:limit]}…"


def dotted(key: Key) -> str:
    """A key as TOML writes it; an item of a list in brackets, counted from 0."""
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if _PLAIN.fullmatch(part) else short(part))
    return text


_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,80}")


def config_problem(path: Path, line: int | None, key: Key, message: str, fix: str) -> Problem:
    return Problem(
        code=Code.INVALID_CONFIG,
        message=message,
        path=str(path),
        line=line,
        report=str(key[1]) if len(key) > 1 and key[0] == "reports" else None,
        subject=str(key[3]) if len(key) > 3 and key[2] == "sources" else None,
        fix=fix,
    )
