"""Data as bytes that are the same for the same content, and files that change only with them."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path


def json_bytes(value: object) -> bytes:
    """Plain data as JSON: keys sorted, UTF-8, an entry of an outer list on a line of its own.

    Line by line a difference shows which entry changed, and the encoder in C does the work.
    A lone surrogate, as in a path that is not UTF-8, is written as its JSON escape, since it
    has no form in UTF-8.
    """
    return _outer(value).encode("utf-8", "backslashreplace") + b"\n"


def _outer(value: object) -> str:
    if isinstance(value, dict):
        items = [f"{_inner(key)}: {_outer(value[key])}" for key in sorted(value)]
        return "{\n" + ",\n".join(items) + "\n}" if items else "{}"
    if isinstance(value, list) and value:
        return "[\n" + ",\n".join(_inner(item) for item in value) + "\n]"
    return _inner(value)


def _inner(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def write_changed(path: Path, data: bytes) -> bool:
    """Write a file, and the folders above it, unless it holds these bytes already.

    Readers see the old content or the new one, never a part.

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
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    return True
