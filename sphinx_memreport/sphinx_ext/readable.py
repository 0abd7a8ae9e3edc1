"""Files that are named like documents and cannot be read as ones.

Sphinx would wait for a pipe without end, and take bytes that are no text for a fault of its own.
It prints the names of documents as they are, and ends where one has no form in UTF-8.
"""

from __future__ import annotations

import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx_memreport.config import MAX_DOCUMENT_BYTES, InvalidConfig
from sphinx_memreport.core.characters import printable_line
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.sphinx_ext.logging import say

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

# What a terminal obeys, what changes the direction of text, and bytes that are not UTF-8.
_UNPRINTABLE = re.compile("[\0-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def setup_readable(app: Sphinx) -> None:
    """Connect the handler."""
    app.connect("env-before-read-docs", _refuse_unreadable, 100)


def _refuse_unreadable(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """End the build before the first document is read, if one cannot be; say which ones.

    :raises SystemExit: any other exception would have Sphinx print a traceback.
    """
    encoding = app.config.source_encoding
    problems = [
        problem
        for docname in docnames
        if (problem := _fault(docname, Path(env.doc2path(docname)), encoding))
    ]
    if problems:
        for problem in problems:
            say(problem)
        raise SystemExit(2) from InvalidConfig(problems)


def _fault(docname: str, path: Path, encoding: str) -> Problem | None:
    """Why a document cannot be read."""

    def fault(message: str, fix: str, line: int = 1) -> Problem:
        place = printable_line(str(path))
        return Problem(code=Code.SWALLOWED_TEXT, message=message, path=place, line=line, fix=fix)

    if found := _UNPRINTABLE.search(docname):
        return fault(f"the name of the document holds {_said(found[0])}", "rename the file")
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            return fault("expected a document, found no regular file", "remove or exclude it")
        if status.st_size > MAX_DOCUMENT_BYTES:
            return fault(f"the document is larger than {MAX_DOCUMENT_BYTES} bytes", "split it")
        data = path.read_bytes()
    except OSError as error:
        return fault(f"the document cannot be read: {error.strerror}", "mend its permissions")
    try:
        data.decode(encoding)
    except UnicodeDecodeError as error:
        byte = f"found the byte 0x{data[error.start]:02x}"
        expected = encoding.upper().removesuffix("-SIG")
        line = data.count(b"\n", 0, error.start) + 1
        return fault(f"expected {expected}, {byte}", f"save the document as {expected}", line)
    return None


def _said(char: str) -> str:
    if "\udc80" <= char <= "\udcff":  # how Python has such bytes in names
        return f"the byte 0x{ord(char) - 0xDC00:02x}, which is not UTF-8"
    return f"the character U+{ord(char):04X}, which is not printed"
