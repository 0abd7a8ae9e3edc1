"""Front matter: its values, and the memory profile that a profile member keeps there."""

from __future__ import annotations

from typing import NamedTuple

from sphinx_memreport.core.profiles import AXES
from sphinx_memreport.core.yaml_body import BodyFault, Items, Table, Text, Value, read_body
from sphinx_memreport.plain.models import AxisEntry, FindingEntry, FrontMatter, ProfileItem

#: The key of the profile in front matter.
PROFILE_KEY = "memory-comparison"

_AXIS_KEYS = frozenset({"assessment", "values", "evidence", "records", "note"})
_FINDING_KEYS = frozenset({"basis", "records", "note"})


class Read(NamedTuple):
    """Front matter as far as it could be read; ``fault`` says what could not, and where."""

    matter: FrontMatter
    profile: ProfileItem | None = None
    fault: str = ""
    fault_line: int = 0


class _Unexpected(Exception):
    """A profile that is not of the known form."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line
        self.message = message


def split_front_matter(text: str) -> tuple[str, int, str]:
    """Front matter, the number of lines it takes with its marks, and the text below it."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return "", 0, text
    for index, line in enumerate(lines[1:], start=1):
        if line.rstrip() in ("---", "..."):
            return "\n".join(lines[1:index]), index + 1, "\n".join(lines[index + 1 :])
    return "", 0, text


def read_front_matter(text: str) -> Read:
    """Read front matter. What is no YAML, or no profile of the known form, stays as text."""
    if not text.strip():
        return Read(FrontMatter())
    lines = text.split("\n")
    try:
        body = read_body(lines)
    except BodyFault as fault:
        return Read(FrontMatter(text=text), None, fault.message, fault.line)
    if not isinstance(body, Table):
        return Read(FrontMatter(text=text), None, "it is no mapping", 1)
    values = tuple(
        (key, value.text) for key, value in body.values.items() if isinstance(value, Text)
    )
    whole = FrontMatter(text=text, values=values)
    if PROFILE_KEY not in body.values:
        return Read(whole)
    try:
        profile = _profile(body.lines[PROFILE_KEY], body.values[PROFILE_KEY])
    except _Unexpected as error:
        return Read(whole, None, f"{PROFILE_KEY}: {error.message}", error.line)
    rest = _without(lines, body)
    return Read(FrontMatter(text=rest, values=values), profile)


def _without(lines: list[str], body: Table) -> str:
    """The lines without those of the profile; comments stay, and so does what has no own lines."""
    start = body.lines[PROFILE_KEY]
    below = [line for line in body.lines.values() if line > start]
    end = min(below, default=len(lines) + 1)
    shared = any(line == start for key, line in body.lines.items() if key != PROFILE_KEY)
    if shared or lines[0].lstrip().startswith("{"):
        return "\n".join(lines)
    comments = [line for line in lines[start - 1 : end - 1] if line.lstrip().startswith("#")]
    return "\n".join([*lines[: start - 1], *comments, *lines[end - 1 :]])


def _profile(line: int, value: Value) -> ProfileItem:
    table = _table(line, value, "the profile")
    _only(table, frozenset({"scope", "axes"}), "the profile")
    axes = _table(line, table.values.get("axes", Table(line, {}, {})), "axes")
    unknown = [name for name in axes.values if name not in AXES]
    if unknown:
        raise _Unexpected(axes.lines[unknown[0]], f"unknown axis '{unknown[0]}'")
    return ProfileItem(
        line=line,
        scope=_text(table, "scope"),
        axes=tuple(_axis(axes.lines[name], name, axes.values[name]) for name in axes.values),
    )


def _axis(line: int, name: str, value: Value) -> AxisEntry:
    table = _table(line, value, name)
    _only(table, _AXIS_KEYS, name)
    evidence = table.values.get("evidence")
    found: dict[str, FindingEntry] = {}
    if isinstance(evidence, Table):
        found = {
            key: _finding(evidence.lines[key], key, each) for key, each in evidence.values.items()
        }
    elif evidence is not None and not _is_empty(evidence):
        raise _Unexpected(line, f"{name}: 'evidence' must be a mapping")
    for each in _texts(table, "values"):
        found.setdefault(each, FindingEntry(value=each))
    return AxisEntry(
        name=name,
        assessment=_text(table, "assessment"),
        findings=tuple(found.values()),
        records=_texts(table, "records"),
        note=_text(table, "note"),
    )


def _finding(line: int, value: str, written: Value) -> FindingEntry:
    table = _table(line, written, value)
    _only(table, _FINDING_KEYS, value)
    return FindingEntry(
        value=value,
        basis=_text(table, "basis"),
        records=_texts(table, "records"),
        note=_text(table, "note"),
    )


def _table(line: int, value: Value, what: str) -> Table:
    if not isinstance(value, Table):
        raise _Unexpected(line, f"{what} must be a mapping")
    return value


def _only(table: Table, known: frozenset[str], what: str) -> None:
    for key in table.values:
        if key not in known:
            raise _Unexpected(table.lines[key], f"{what}: unknown key '{key}'")


def _text(table: Table, key: str) -> str:
    value = table.values.get(key, Text(0, ""))
    if not isinstance(value, Text):
        raise _Unexpected(table.lines[key], f"'{key}' must be text")
    return value.text


def _texts(table: Table, key: str) -> tuple[str, ...]:
    value = table.values.get(key)
    if value is None or _is_empty(value):
        return ()
    if isinstance(value, Items) and all(isinstance(item, Text) for item in value.items):
        return tuple(item.text for item in value.items if isinstance(item, Text))
    raise _Unexpected(table.lines[key], f"'{key}' must be a list of texts")


def _is_empty(value: Value) -> bool:
    if isinstance(value, Text):
        return not value.text
    return not (value.items if isinstance(value, Items) else value.values)
