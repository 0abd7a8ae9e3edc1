"""Files that are named like documents and cannot be read as ones.

Sphinx would wait for a pipe without end, and take bytes that are no text for a fault of its own.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_memreport.config import InvalidConfig
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.sphinx_ext.logging import say

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment


def setup_readable(app: Sphinx) -> None:
    """Connect the handler."""
    app.connect("env-before-read-docs", _refuse_unreadable, 100)


def _refuse_unreadable(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """End the build before the first document is read, if one cannot be; say which ones.

    :raises SystemExit: any other exception would have Sphinx print a traceback.
    """
    encoding = app.config.source_encoding
    paths = (Path(env.doc2path(docname)) for docname in docnames)
    problems = [problem for path in paths if (problem := _fault(path, encoding))]
    if problems:
        for problem in problems:
            say(problem)
        raise SystemExit(2) from InvalidConfig(problems)


def _fault(path: Path, encoding: str) -> Problem | None:
    """Why a document cannot be read."""

    def fault(message: str, fix: str, line: int = 1) -> Problem:
        return Problem(
            code=Code.SWALLOWED_TEXT, message=message, path=str(path), line=line, fix=fix
        )

    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return fault("expected a document, found no regular file", "remove or exclude it")
        data = path.read_bytes()
    except OSError as error:
        return fault(f"the document cannot be read: {error.strerror}", "mend its permissions")
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        found = f"found the byte 0x{data[error.start]:02x}"
        expected = encoding.upper().removesuffix("-SIG")
        line = data.count(b"\n", 0, error.start) + 1
        return fault(f"expected {expected}, {found}", f"save the document as {expected}", line)
    return None
