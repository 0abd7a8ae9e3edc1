"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest
from pinned_repo import PinnedRepo, plain


@pytest.fixture
def pinned_repo(tmp_path: Path) -> PinnedRepo:
    """A work tree of its own with two commits of constant hashes; see ``pinned_repo.py``."""
    return plain(tmp_path / "jotter")
