"""The one list of our directives."""

from __future__ import annotations

from unittest.mock import Mock

from sphinx_memreport.core.vocabulary import OWN_DIRECTIVES
from sphinx_memreport.sphinx_ext.directives import setup_directives


def test_every_directive_that_is_registered_is_listed_and_no_other() -> None:
    app = Mock()
    setup_directives(app)
    assert {call.args[0] for call in app.add_directive.call_args_list} == OWN_DIRECTIVES
