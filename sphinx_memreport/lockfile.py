"""Reads ``memreport.lock`` beside ``memreport.toml``; what is in it, :mod:`.core.lock` knows."""

from __future__ import annotations

import os
from pathlib import Path

from sphinx_memreport.config import InvalidConfig, SiteConfig, read_regular_file
from sphinx_memreport.core.lock import LOCK_NAME, MAX_BYTES, InvalidLock, Lock, read_lock
from sphinx_memreport.core.problems import Code, Problem


def lock_path(config: SiteConfig) -> Path:
    """Where the lock of a site is; it need not exist."""
    return config.root / LOCK_NAME


def load_lock(path: Path) -> Lock | None:
    """Read a lock; None when there is no file of that name.

    :raises InvalidConfig: with what is wrong, when it cannot be used.
    """
    problems: list[Problem] = []

    def wrong(line: int | None, message: str, fix: str) -> None:
        problems.append(
            Problem(code=Code.INVALID_CONFIG, message=message, path=str(path), line=line, fix=fix)
        )

    if not os.path.lexists(path):
        return None
    data = read_regular_file(path, wrong, MAX_BYTES, f"move it away: {LOCK_NAME} is a file")
    if data is not None:
        try:
            return read_lock(data)
        except InvalidLock as error:
            wrong(error.line, f"the lock cannot be used: {error.message}", error.fix)
    raise InvalidConfig(problems)
