from datetime import date

import pytest
from jotter import Note, NoteStore, RefusedError

TODAY = date(2026, 9, 1)


def test_a_note_survives_its_file() -> None:
    note = Note("a", "One line.\n---\nAnother.", TODAY, "model", 3, ("b", "c"))
    assert Note.parse("a", note.dump()) == note


def test_ids_come_from_the_first_words(store: NoteStore) -> None:
    first = store.add("The build needs Python 3.11 or later.", TODAY)
    second = store.add("The build needs Python 3, says the manual.", TODAY)
    assert first.id == "the-build-needs-python-3"
    assert second.id == "the-build-needs-python-3-2"


def test_a_buried_text_is_refused(store: NoteStore) -> None:
    store.bury(store.add("Tea at four.", TODAY), "a test", TODAY)
    assert list(store.notes()) == []
    with pytest.raises(RefusedError):
        store.add("Tea at four.", TODAY)


def test_a_tombstone_does_not_keep_the_text(store: NoteStore) -> None:
    store.bury(store.add("Tea at four.", TODAY), "a test", TODAY)
    assert "Tea" not in store.graveyard.read_text(encoding="utf-8")
