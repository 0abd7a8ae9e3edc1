"""``python -m sphinx_memreport.cli``."""

from sphinx_memreport.cli import main

main(prog_name="memreport")
