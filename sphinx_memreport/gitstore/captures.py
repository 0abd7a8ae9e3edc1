"""Captures: frozen files that are pinned by their hash."""

from __future__ import annotations

import hashlib
import shlex
from pathlib import Path

from sphinx_memreport.core.blobs import Blob, SourceUnavailable
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitstore import limits
from sphinx_memreport.gitstore.checkout import open_regular
from sphinx_memreport.gitstore.pickling import Unpicklable


def open_capture(file: Path, sha256: str, *, max_bytes: int = limits.MAX_BYTES) -> CaptureSource:
    """Open a frozen file and compare its hash with the pinned one.

    :param sha256: 64 hex digits.
    :raises SourceUnavailable: ``checkout-missing`` when no regular file of at most
        ``max_bytes`` is there, ``capture-mismatch`` when its content has another hash.
    """
    fix = f"put the captured file at {shlex.quote(str(file))}, or correct `file`"
    try:
        with open_regular(file) as stream:
            data = stream.read(max_bytes + 1)
            size = file.stat().st_size
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        message = f"the capture {file} cannot be read: {reason}"
        raise SourceUnavailable(Code.CHECKOUT_MISSING, message, fix) from error
    if len(data) > max_bytes:
        message = f"the capture {file} has {limits.too_large(size, max_bytes)}"
        raise SourceUnavailable(Code.CHECKOUT_MISSING, message, fix)
    actual = hashlib.sha256(data).hexdigest()
    if actual != sha256.lower():
        raise SourceUnavailable(
            Code.CAPTURE_MISMATCH,
            f"the capture {file} has the SHA-256 {actual}, pinned is {sha256.lower()}",
            f'restore the captured file, or, if its new content is meant, set sha256 = "{actual}" '
            "and look at every quote from it again",
        )
    return CaptureSource(Blob(actual, data))


class CaptureSource(Unpicklable):
    """A captured file whose content has the pinned hash."""

    def __init__(self, blob: Blob) -> None:
        self._blob = blob

    def read(self) -> Blob:
        """The content as it was when opened; its object ID is the SHA-256."""
        return self._blob
