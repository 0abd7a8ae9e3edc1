"""The example report, in a site of its own."""

project = "The Jotter report"
author = "The sphinx-memreport authors"
copyright = "2026, The sphinx-memreport authors"
version = release = "2026-11-30"
language = "en"

extensions = ["myst_parser", "sphinx_memreport"]
myst_enable_extensions = ["colon_fence"]
exclude_patterns = ["_build", "checkouts", "jotter_source", "captures"]

html_theme = "furo"
html_title = project
