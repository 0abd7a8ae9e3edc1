"""Builds one site and prints, as JSON, the CPU seconds of all of it and of the checking in it.

    python -m benchmarks.checking SOURCE OUT

In one process, for a difference of two per cent is less than that of two builds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Any

from sphinx.cmd.build import build_main

from sphinx_memreport.core.checks import check_site
from sphinx_memreport.sphinx_ext import events
from sphinx_memreport.verify import OpenSources

_seconds = 0.0


def _timed(work: Callable[..., Any]) -> Callable[..., Any]:
    def timed(*arguments: Any, **named: Any) -> Any:
        global _seconds
        start = time.process_time()
        try:
            return work(*arguments, **named)
        finally:
            _seconds += time.process_time() - start

    return timed


def main() -> int:
    """Build with the two calls timed: opening and asking the sources, and the checks."""
    OpenSources.__init__ = _timed(OpenSources.__init__)  # type: ignore[method-assign]
    OpenSources.answer = _timed(OpenSources.answer)  # type: ignore[method-assign]
    vars(events)["check_site"] = _timed(check_site)
    status = build_main(["-q", *sys.argv[1:]])
    print(json.dumps({"checking": _seconds, "all": time.process_time()}))
    return status


if __name__ == "__main__":
    sys.exit(main())
