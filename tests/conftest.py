"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings
from pinned_repo import PinnedRepo, plain

# the same examples in every run; tests/campaigns/fuzz.py looks for new ones
settings.register_profile("suite", derandomize=True, deadline=None, database=None)
settings.load_profile("suite")


@pytest.fixture
def pinned_repo(tmp_path: Path) -> PinnedRepo:
    """A work tree of its own with two commits of constant hashes; see ``pinned_repo.py``."""
    return plain(tmp_path / "jotter")
