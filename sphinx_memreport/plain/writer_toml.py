"""``memreport.toml`` of an imported report."""

from __future__ import annotations

import re
from collections.abc import Mapping

import tomlkit

#: A value of the file: text, a list of texts, or a table inside a line.
Value = str | list[str] | dict[str, list[str]]

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
# controls and lone surrogates, which neither TOML nor the configuration takes
_UNUSABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def memreport_toml(
    slug: str, report: Mapping[str, Value], sources: Mapping[str, Mapping[str, Value]]
) -> str:
    """The text of the file.

    :param report: the keys of the report's table.
    :param sources: source ID to the keys of its table.
    """
    tables = [_table(f"reports.{slug}", report)]
    tables += [_table(f"reports.{slug}.sources.{name}", keys) for name, keys in sources.items()]
    return "\n".join(tables)


def one_line(text: str) -> str:
    """Text as the configuration takes it: on one line, without controls."""
    return " ".join(_UNUSABLE.sub(" ", text).split())


def _table(name: str, keys: Mapping[str, Value]) -> str:
    return "".join([f"[{name}]\n", *(f"{_key(key)} = {_value(keys[key])}\n" for key in keys)])


def _value(value: Value) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_value(each) for each in value)}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{_key(key)} = {_value(value[key])}' for key in value)} }}"
    return tomlkit.string(one_line(value)).as_string()


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else tomlkit.string(key).as_string()
