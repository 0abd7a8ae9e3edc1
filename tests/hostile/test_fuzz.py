"""Every property of :mod:`properties` with a few texts, the same in every run."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, settings
from properties import PROPERTIES

#: Texts that each property is tried with; a slow one with fewer.
EXAMPLES = 60


@pytest.mark.parametrize("name", PROPERTIES)
def test_property(name: str) -> None:
    each = PROPERTIES[name]
    each.run(
        settings(
            max_examples=max(3, EXAMPLES // each.cost),
            derandomize=True,
            deadline=None,
            database=None,
            phases=(Phase.explicit, Phase.generate),
            suppress_health_check=list(HealthCheck),
        )
    )
