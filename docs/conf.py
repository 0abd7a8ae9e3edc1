"""The documentation of sphinx-memreport, as a Sphinx site."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "sphinx-memreport"
author = "The sphinx-memreport authors"
copyright = "2026, The sphinx-memreport authors"
language = "en"

extensions = ["myst_parser", "generated_reference", "snippets"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "_ext"]
nitpicky = True
smartquotes = False

html_theme = "furo"
html_title = project
html_static_path = ["_static"]
html_css_files = ["docs.css"]
html_copy_source = False
highlight_language = "text"
