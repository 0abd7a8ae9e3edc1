"""Keeps the heap small, and spares the garbage collector what stays alive until a build ends.

Sphinx keeps the trees of all documents from when they are read until they are written, though it
has just stored each on the disk. On a large site they are most of the memory, and the collector
walks over them time and again. So they are let go of, and loaded again one by one. What stays is
the environment: what an earlier build left of it, and then what was read, is frozen. It stays so
behind the build, as the last look of the collector at all of it would be a third of a build that
changes nothing; the next application in the process thaws it.
"""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Objects made before the collector looks at them: a record is about a thousand, most of which
#: are gone soon after. Where documents are written in parallel, their trees wait for a process.
_YOUNG = 5_000
_YOUNG_WHILE_PARALLEL = 20_000
_DEFAULT = gc.get_threshold()


def setup_heap(app: Sphinx) -> None:
    """Connect the handlers."""
    gc.unfreeze()
    app.connect("env-before-read-docs", _freeze, 900)  # the environment of an earlier build
    app.connect("source-read", _let_go_of_trees, 900)  # those of the documents before this one
    app.connect("write-started", _let_go_of_trees, 800)
    app.connect("write-started", _freeze, 900)
    app.connect("build-finished", _leave, 900)


def _freeze(app: Sphinx, *_event: object) -> None:
    gc.set_threshold(_YOUNG if app.parallel == 1 else _YOUNG_WHILE_PARALLEL)
    gc.freeze()
    # over what is left, nothing; but from now on the collector measures growth against that
    gc.collect()


def _let_go_of_trees(app: Sphinx, *_event: object) -> None:
    # no part of Sphinx's interface: where they are not, all is as it was
    for name in ("_write_doc_doctree_cache", "_pickled_doctree_cache"):
        # the latter would be asked first, also when an application builds a second time
        getattr(app.env, name, {}).clear()


def _leave(*_event: object) -> None:
    gc.freeze()
    gc.set_threshold(*_DEFAULT)
