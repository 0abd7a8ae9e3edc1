from datetime import date, timedelta

from jotter import NoteStore, Settings, consolidate, forget

TODAY = date(2026, 9, 1)
LONG_AGO = TODAY - timedelta(days=91)


def test_near_duplicates_become_one(store: NoteStore) -> None:
    store.add("The office closes at six.", TODAY)
    store.add("The office closes at six!", TODAY)
    store.add("Lunch is at noon.", TODAY)
    (summary,) = consolidate(store, lambda texts: f"{len(texts)} notes agree.", TODAY)
    assert set(summary.merged) == {"the-office-closes-at-six", "the-office-closes-at-six-2"}
    assert [note.text for note in store.notes()] == ["2 notes agree.", "Lunch is at noon."]


def test_old_notes_that_nobody_used_go(store: NoteStore) -> None:
    store.add("Old and idle.", LONG_AGO)
    store.add("Young.", TODAY)
    useful = store.add("Old and used.", LONG_AGO)
    useful.uses = 3
    store.save(useful)
    assert [note.id for note in forget(store, Settings(), TODAY)] == ["old-and-idle"]
    assert [note.id for note in store.notes()] == ["old-and-used", "young"]
