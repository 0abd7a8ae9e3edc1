"""Fixtures that every test may use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pinned_repo import PinnedRepo, plain
from whole_site import WholeSite

# the same examples in every run; tests/campaigns/fuzz.py looks for new ones
settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.load_profile("suite")


@pytest.fixture
def pinned_repo(tmp_path: Path) -> PinnedRepo:
    """A work tree of its own with two commits of constant hashes; see ``pinned_repo.py``."""
    return plain(tmp_path / "jotter")


@pytest.fixture(scope="session")
def whole_site(tmp_path_factory: pytest.TempPathFactory) -> WholeSite:
    return WholeSite(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def whole(whole_site: WholeSite) -> Iterator[WholeSite]:
    """A site with everything, as its first build left it; see ``whole_site.py``."""
    yield whole_site
    whole_site.restore()
