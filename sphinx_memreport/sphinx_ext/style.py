"""Style sheets and scripts of the pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

_STATIC = Path(__file__).parent / "static"


def setup_style(app: Sphinx) -> None:
    """Add our static files to HTML output."""

    def add_static_path(_app: Sphinx, config: Config) -> None:
        config.html_static_path.append(str(_STATIC))

    app.connect("config-inited", add_static_path, priority=490)
    app.add_css_file("memreport.css")
    app.add_js_file("memreport.js", loading_method="defer")
