extensions = ["myst_parser", "sphinx_memreport"]
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["toc.not_included"]
memreport_offline = "lock"
