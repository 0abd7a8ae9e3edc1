"""The Sphinx extension: its table of contents, in build order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx_memreport import __version__
from sphinx_memreport.core.models import DATA_VERSION

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register everything with Sphinx."""
    from sphinx_memreport.sphinx_ext.check_builder import setup_check_builder
    from sphinx_memreport.sphinx_ext.directives import setup_directives
    from sphinx_memreport.sphinx_ext.domain import MemDomain
    from sphinx_memreport.sphinx_ext.evaluation import setup_evaluation
    from sphinx_memreport.sphinx_ext.events import BuildEvents
    from sphinx_memreport.sphinx_ext.export import setup_export
    from sphinx_memreport.sphinx_ext.heap import setup_heap
    from sphinx_memreport.sphinx_ext.highlighting import setup_highlighting
    from sphinx_memreport.sphinx_ext.includes import setup_includes
    from sphinx_memreport.sphinx_ext.kept import setup_kept
    from sphinx_memreport.sphinx_ext.needs import setup_needs
    from sphinx_memreport.sphinx_ext.nodes import setup_nodes
    from sphinx_memreport.sphinx_ext.options import setup_options
    from sphinx_memreport.sphinx_ext.readable import setup_readable
    from sphinx_memreport.sphinx_ext.roles import setup_roles
    from sphinx_memreport.sphinx_ext.style import setup_style
    from sphinx_memreport.sphinx_ext.transforms import setup_transforms
    from sphinx_memreport.sphinx_ext.words import setup_words

    setup_words(app)
    setup_needs(app)
    setup_options(app)
    setup_evaluation(app)
    setup_readable(app)
    setup_includes(app)
    app.add_domain(MemDomain)
    setup_nodes(app)
    setup_directives(app)
    setup_roles(app)
    setup_transforms(app)
    setup_style(app)
    setup_export(app)
    setup_check_builder(app)
    setup_kept(app)
    setup_heap(app)
    setup_highlighting(app)
    BuildEvents(app)
    return {
        "version": __version__,
        "env_version": DATA_VERSION,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
