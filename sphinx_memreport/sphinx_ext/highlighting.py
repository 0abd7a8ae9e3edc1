"""Spares each block of code a formatter of its own.

Pygments works out the whole style for every formatter, and Sphinx makes one for every block: for a
passage of some lines, that takes longer than highlighting it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from pygments.formatters import HtmlFormatter
from sphinx.builders.html import StandaloneHTMLBuilder

if TYPE_CHECKING:
    from pygments.formatter import Formatter
    from sphinx.application import Sphinx

    MakeFormatter = Callable[..., Formatter[str]]


class KeptFormatters:
    """Makes formatters as ``make`` does, one for each set of options."""

    def __init__(self, make: MakeFormatter) -> None:
        self._make = make
        self._kept: dict[str, Formatter[str]] = {}

    def __call__(self, **options: Any) -> Formatter[str]:
        """The formatter with these options, at the first line number that is asked for."""
        start = options.pop("linenostart", 1)
        key = repr(sorted(options.items()))
        formatter = self._kept.get(key)
        if formatter is None:
            formatter = self._kept[key] = self._make(**options)
        if isinstance(formatter, HtmlFormatter) and isinstance(start, int):
            formatter.linenostart = abs(start)
            return formatter
        return self._make(linenostart=start, **options)


def _keep_formatters(app: Sphinx) -> None:
    if isinstance(app.builder, StandaloneHTMLBuilder):
        highlighter = app.builder.highlighter
        kept = KeptFormatters(cast("MakeFormatter", highlighter.formatter))
        highlighter.formatter = cast("type[Formatter[str]]", kept)


def setup_highlighting(app: Sphinx) -> None:
    """Connect the handler."""
    app.connect("builder-inited", _keep_formatters)
