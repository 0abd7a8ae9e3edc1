"""Data as bytes that are the same for the same content, and files that change only with them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from glob import escape
from pathlib import Path

_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True)
#: How the names of files and folders end that are not in their place yet.
PART = ".memreport-part"


def json_bytes(value: object) -> bytes:
    """Plain data as JSON: keys sorted, UTF-8, an entry of an outer list on a line of its own.

    An iterator stands for a list whose entries need not be there all at once.

    Line by line a difference shows which entry changed, and the encoder in C does the work.
    A lone surrogate, as in a path that is not UTF-8, is written as its JSON escape, since it
    has no form in UTF-8.
    """
    return _outer(value).encode("utf-8", "backslashreplace") + b"\n"


def _outer(value: object) -> str:
    if isinstance(value, dict):
        items = [f"{_inner(key)}: {_outer(value[key])}" for key in sorted(value)]
        return "{\n" + ",\n".join(items) + "\n}" if items else "{}"
    if isinstance(value, list | Iterator):
        items = [_inner(item) for item in value]
        return "[\n" + ",\n".join(items) + "\n]" if items else "[]"
    return _inner(value)


def _inner(value: object) -> str:
    return _ENCODER.encode(value)


def leftovers(target: Path) -> list[Path]:
    """What processes that were killed left of a file or folder that was to take this place."""
    return list(target.parent.glob(f".{escape(target.name)}.*{PART}"))


def write_changed(path: Path, data: bytes) -> bool:
    """Write a file, and the folders above it, unless it holds these bytes already.

    Readers see the old content or the new one, never a part. Of two that write one file at a
    time, one may fail.

    :return: whether the file was written.
    :raises OSError: when it cannot be written, or is there but not a regular file.
    :raises ValueError: when the path cannot be that of a file.
    """
    if path.exists() and not path.is_file():  # a pipe or a device may wait for ever
        raise OSError(None, "it is not a regular file")
    with suppress(FileNotFoundError):
        if path.read_bytes() == data:
            return False
    path = path.resolve()  # a symbolic link stays one
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in leftovers(path):
        left.unlink(missing_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}{PART}")
    try:
        part.write_bytes(data)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return True
