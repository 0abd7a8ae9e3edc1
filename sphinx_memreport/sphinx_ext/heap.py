"""Spares the garbage collector what stays alive until a build ends.

The environment of an earlier build stays for all of this one, and the collector would walk over
it time and again. What was read is frozen only where documents are written in parallel: there it
is shared with the processes that write, instead of being copied by the collector's marks. A
serial build lets go of each document's tree when it is written, which a frozen one would not be.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup_heap(app: Sphinx) -> None:
    """Connect the handlers."""
    app.connect("env-before-read-docs", _freeze, 900)  # the environment of an earlier build
    if app.parallel > 1:
        app.connect("write-started", _freeze, 900)
    app.connect("build-finished", _unfreeze, 900)


def _freeze(*_event: object) -> None:
    gc.freeze()
    # over what is left, nothing; but from now on the collector measures growth against that
    gc.collect()


def _unfreeze(*_event: object) -> None:
    gc.unfreeze()
