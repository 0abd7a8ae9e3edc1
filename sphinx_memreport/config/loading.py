"""From files to models: ``memreport.toml`` and, beside it, ``memreport.local.toml``."""

from __future__ import annotations

import codecs
import re
import stat
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, PydanticCustomError

from sphinx_memreport.config.errors import (
    InvalidConfig,
    config_problem,
    dotted,
    found_value,
    keys_of,
    mismatch,
    nearest,
    printable,
    short,
    unknown_key,
)
from sphinx_memreport.config.lines import Key, LineIndex
from sphinx_memreport.config.models import KINDS, Report, SiteConfig, kind_of
from sphinx_memreport.config.values import directory_path
from sphinx_memreport.core.problems import Problem

#: The file beside the TOML that says where sources are on one machine.
LOCAL_NAME = "memreport.local.toml"
#: The largest file that is read as configuration, in bytes.
MAX_BYTES = 4 * 1024 * 1024
#: The largest document that is read, and all that it includes, in bytes.
MAX_DOCUMENT_BYTES = 64 * 1024 * 1024


def load_config(path: Path) -> SiteConfig:
    """Read ``memreport.toml`` and, beside it, ``memreport.local.toml``.

    :param path: the TOML; problems name it as it is given here.
    :return: the reports, with what the local file overrides already in place.
    :raises InvalidConfig: with every problem of both files. No other exception is raised for
        what the files hold or for files that cannot be read.
    """
    problems: list[Problem] = []
    document = _read(path, problems)
    if document is None:
        raise InvalidConfig(problems)
    files = [path]
    places = _Places(document)
    local_path = path.parent / LOCAL_NAME
    if local_path != path and (local_path.is_symlink() or local_path.exists()):
        files.append(local_path)
        local = _read(local_path, problems)
        if local is not None:
            problems += _override(document, local, places)
    reports = _validate(document.data, places, problems)
    if problems:
        raise InvalidConfig(problems)
    source_lines = {
        (slug, source_id): document.lines.line(("reports", slug, "sources", source_id))
        for slug, report in reports.items()
        for source_id in report.sources
    }
    return SiteConfig(
        path=path,
        files=tuple(files),
        reports=reports,
        source_lines=source_lines,
        directory_lines={
            slug: document.lines.line(("reports", slug, "directory")) for slug in reports
        },
    )


class _Document(NamedTuple):
    """A TOML file that was parsed."""

    path: Path
    data: dict[str, Any]
    lines: LineIndex


class _Places:
    """Says in which file and line a key stands, when some are overridden by another file."""

    def __init__(self, document: _Document) -> None:
        self._main = document
        self._overridden: dict[Key, _Document] = {}

    def override(self, key: Key, document: _Document) -> None:
        self._overridden[key] = document

    def of(self, key: Key) -> tuple[Path, int | None]:
        document = self._overridden.get(key, self._main)
        return document.path, document.lines.line(key)


#: The most parts of a dotted key: the parser takes time and memory with their square.
_MOST_PARTS = 50
_PART_OF_KEY = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(
    rf"""(?<![\w"'\\-]){_PART_OF_KEY}(?:[ \t]*+\.[ \t]*+{_PART_OF_KEY}){{{_MOST_PARTS}}}"""
)


def _read(path: Path, problems: list[Problem]) -> _Document | None:
    """Read and parse one file; what is wrong with it is added to ``problems``."""

    def wrong(line: int | None, message: str, fix: str) -> None:
        problems.append(config_problem(path, line, (), message, fix))

    data = read_regular_file(path, wrong)
    if data is None:
        return None
    if data.startswith(codecs.BOM_UTF8):
        data = data.removeprefix(codecs.BOM_UTF8)
        wrong(1, "the file starts with a byte-order mark (BOM)", "save it as UTF-8 without BOM")
    nul = data.find(b"\0")
    if nul >= 0:
        wrong(_line_at(data, nul), "the file holds a NUL byte", "save it as UTF-8 text")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"found the byte 0x{data[error.start]:02x}"
        wrong(_line_at(data, error.start), f"expected UTF-8, {found}", "save the file as UTF-8")
        return None
    if deep := _DEEP_KEY.search(text):
        row = text.count("\n", 0, deep.start()) + 1
        wrong(row, f"a key has more than {_MOST_PARTS} parts", "no key here has more than six")
        return None
    try:
        return _Document(path, tomllib.loads(text), LineIndex(text))
    except RecursionError:
        wrong(None, "lists or tables are nested too deeply", "memreport.toml needs no such depth")
    except ValueError as error:  # TOMLDecodeError, or a number of too many digits
        place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(error))
        reason = str(error)[: place.start()] if place else str(error)
        last = text.count("\n", 0, len(text.rstrip())) + 1
        line = int(place[1]) if place and place[1] else last if place else None
        column = f" at column {place[2]}" if place and place[2] else ""
        message = f"not valid TOML{column}: {printable(reason, 200)}"
        syntax = "see https://toml.io for the syntax"
        wrong(
            line, message, f"put text in quotes; {syntax}" if reason == "Invalid value" else syntax
        )
    return None


def read_regular_file(
    path: Path,
    wrong: Callable[[int | None, str, str], None],
    limit: int = MAX_BYTES,
    instead: str = "name the TOML file itself",
) -> bytes | None:
    """Read a file that is part of the configuration.

    :param wrong: takes line, message and fix when it cannot be read; None is returned then.
    :param limit: the largest size, in bytes.
    :param instead: the fix when something else is there.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # reading a pipe or a device may never end
            found = "a directory" if stat.S_ISDIR(mode) else "something else"
            wrong(None, f"expected a file, found {found}", instead)
            return None
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        wrong(None, "the file does not exist", "create it, or correct its name")
        return None
    except OSError as error:
        wrong(None, f"the file cannot be read: {error.strerror}", "mend its path or permissions")
        return None
    except ValueError:  # a NUL or a lone surrogate in the path
        wrong(None, "the path is not the name of a file", "correct the name")
        return None
    if len(data) > limit:
        wrong(None, f"the file is larger than {limit} bytes", instead)
        return None
    return data


def _line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


# The tables of memreport.local.toml, level by level, as far as they are the same for all.
_LOCAL_LEVELS = {0: "reports", 2: "sources"}
_LOCAL_KEYS = {"git": "checkout", "capture": "file"}


def _override(document: _Document, local: _Document, places: _Places) -> Iterator[Problem]:
    """Put what the local file says into the data of the main one; yield what it may not say."""

    def visit(key: tuple[str, ...], value: object, main: object) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield wrong(key, f"{dotted(key)}: expected a table, found {found_value(value)}")
            return
        if not isinstance(main, dict):
            return  # a mistake of the main file, which is said there
        for name, child in value.items():
            here = (*key, name)
            if len(here) == 5:
                expected = _LOCAL_KEYS[kind_of(main)]
                if name == expected:
                    main[name] = child
                    places.override(here, local)
                else:
                    found = f"found {short(name)}"
                    yield wrong(here, f"{dotted(here)}: expected only {expected!r} here, {found}")
            elif len(key) in _LOCAL_LEVELS and name != _LOCAL_LEVELS[len(key)]:
                yield wrong(here, _not_local(here))
            elif name not in main:
                near = nearest(name, main)
                hint = f"; did you mean {near!r}?" if near else ""
                yield wrong(here, f"{dotted(here)}: not in {document.path.name}{hint}")
            else:
                yield from visit(here, child, main[name])

    def wrong(key: tuple[str, ...], message: str) -> Problem:
        fix = f"write what is meant for everybody into {document.path.name}"
        return config_problem(local.path, local.lines.line(key), key, message, fix)

    return visit((), local.data, document.data)


def _not_local(key: Key) -> str:
    return (
        f"{dotted(key)}: expected only the checkout or file of a source, as in "
        f"reports.jotter.sources.SRC-1.checkout, found {short(key[-1])}"
    )


_REPORTS = TypeAdapter(dict[str, Report])


def _validate(data: dict[str, Any], places: _Places, problems: list[Problem]) -> dict[str, Report]:
    """Validate the tables, adding everything wrong to ``problems``."""

    def wrong(key: Key, message: str, fix: str) -> None:
        problems.append(config_problem(*places.of(key), key, message, fix))

    for name in data:
        if name != "reports":
            wrong((name,), *unknown_key(dotted((name,)), name, ("reports",)))
    tables = data.get("reports", {})
    if not isinstance(tables, dict):
        message = f"reports: expected a table, found {found_value(tables)}"
        wrong(("reports",), message, "write a table [reports.slug] for each report")
        return {}
    for slug, table in tables.items():
        if isinstance(table, dict) and "slug" in table:
            key = ("reports", slug, "slug")
            wrong(key, *unknown_key(dotted(key), "slug", keys_of(Report)))
    for shared in _shared_directories(tables, places):
        wrong(*shared)
    named = {
        slug: {**table, "slug": slug} if isinstance(table, dict) else table
        for slug, table in tables.items()
    }
    try:
        return _REPORTS.validate_python(named, by_alias=True, by_name=False)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            wrong(*_explain(detail))
    return {}


def _shared_directories(tables: dict[str, Any], places: _Places) -> Iterator[tuple[Key, str, str]]:
    """Directories that an earlier report has already."""
    owners: dict[str, str] = {}
    keys: list[Key] = [
        ("reports", slug, "directory") for slug, table in tables.items() if isinstance(table, dict)
    ]
    for key in sorted(keys, key=lambda key: places.of(key)[1] or 0):
        slug = str(key[1])
        try:
            directory = directory_path(tables[slug].get("directory", ""))
        except (PydanticCustomError, TypeError):
            continue  # said by the model
        owner = owners.setdefault(directory, slug)
        if owner != slug:
            line = places.of(("reports", owner, "directory"))[1]
            yield (
                key,
                f"{dotted(key)}: expected a directory of its own, found {short(directory)}, "
                f"which is that of report {owner!r} (line {line})",
                "a document belongs to one report: give each its own directory",
            )


def _explain(error: ErrorDetails) -> tuple[Key, str, str]:
    """The key, the message and the fix for one error of the tables of reports."""
    loc = list(error["loc"])
    kind = None
    if len(loc) > 3 and loc[1] == "sources" and loc[3] in KINDS:
        kind = str(loc.pop(3))  # pydantic names the member of the union here
    is_slug = loc[1:] == ["slug"]
    key: Key = ("reports", *(part for part in loc[: 1 if is_slug else None] if part != "[key]"))
    where = dotted(key)
    if error["type"] == "extra_forbidden":
        name = str(key[-1])
        message, fix = unknown_key(where, name, keys_of(KINDS[kind] if kind else Report))
        other = next((other for other in KINDS if name in keys_of(KINDS[other])), None)
        if kind and other:
            message = f"{where}: unknown key of kind {kind!r}; it is one of kind {other!r}"
        return key, message, fix
    if key[-1] == "kind" and len(key) == 5:
        found = "no such key" if error["type"] == "missing" else found_value(error["input"])
        message = f"{where}: expected 'git' or 'capture', found {found}"
        return key, message, 'write kind = "git" for a repository, "capture" for a frozen file'
    if error["type"] == "missing":
        name = str(key[-1])
        help_text = keys_of(KINDS[kind] if kind else Report)[name]
        return key, f"{where}: a required key is missing", f"add {name} = …: {help_text}"
    return (key, *mismatch(where, error))
