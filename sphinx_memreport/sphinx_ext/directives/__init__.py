"""The directives, one module per family."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_memreport.core.vocabulary import OWN_DIRECTIVES
from sphinx_memreport.sphinx_ext.directives.annotations import setup_annotations
from sphinx_memreport.sphinx_ext.directives.coverage import setup_coverage
from sphinx_memreport.sphinx_ext.directives.evidence import setup_evidence
from sphinx_memreport.sphinx_ext.directives.members import setup_members
from sphinx_memreport.sphinx_ext.directives.need_types import setup_need_types
from sphinx_memreport.sphinx_ext.directives.profile import setup_profile
from sphinx_memreport.sphinx_ext.directives.records import setup_records
from sphinx_memreport.sphinx_ext.directives.views import setup_views

if TYPE_CHECKING:
    from sphinx.application import Sphinx

__all__ = ["OWN_DIRECTIVES", "setup_directives"]


def setup_directives(app: Sphinx) -> None:
    """Register every directive."""
    setup_records(app)
    setup_annotations(app)
    setup_evidence(app)
    setup_members(app)
    setup_coverage(app)
    setup_profile(app)
    setup_views(app)
    setup_need_types(app)
