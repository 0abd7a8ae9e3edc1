from pathlib import Path

import pytest
from jotter import NoteStore


@pytest.fixture
def store(tmp_path: Path) -> NoteStore:
    return NoteStore(tmp_path)
