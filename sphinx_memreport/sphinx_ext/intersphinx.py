"""What the inventories of other sites say about records, where intersphinx is in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment


def ids_of_other_sites(env: BuildEnvironment) -> dict[str, list[str]]:
    """Qualified IDs of records, sorted, by the name of the site in ``intersphinx_mapping``."""
    inventories: Mapping[str, Mapping[str, Mapping[str, object]]]
    inventories = getattr(env, "intersphinx_named_inventory", {})  # as intersphinx keeps them
    return {
        name: sorted(
            qualified
            for kind, entries in inventory.items()
            if kind.startswith("mem:")
            for qualified in entries
        )
        for name, inventory in inventories.items()
    }
