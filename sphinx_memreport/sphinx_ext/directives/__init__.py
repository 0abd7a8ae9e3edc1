"""The directives, one module per family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_memreport.core.vocabulary import RECORD_TYPES
from sphinx_memreport.sphinx_ext.directives.evidence import setup_evidence
from sphinx_memreport.sphinx_ext.directives.members import setup_members
from sphinx_memreport.sphinx_ext.directives.records import setup_records
from sphinx_memreport.sphinx_ext.directives.views import setup_views

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: The directives of this extension: what a parser could not make of one is our problem.
OWN_DIRECTIVES = frozenset(
    {*(record.directive for record in RECORD_TYPES), "evidence", "memmember", "memsupplied"}
    | {"memsources"}
)
#: Those whose body is parsed like the document around it.
CONTAINERS = frozenset(record.directive for record in RECORD_TYPES)


def setup_directives(app: Sphinx) -> None:
    """Register every directive."""
    setup_records(app)
    setup_evidence(app)
    setup_members(app)
    setup_views(app)
