"""What the tests of faults share."""

from __future__ import annotations

import pytest
from two_states import TwoStates


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> TwoStates:
    """A site in two states; every test says in which it starts."""
    return TwoStates(tmp_path_factory.mktemp("faults"))
