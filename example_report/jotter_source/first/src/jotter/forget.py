"""Letting go of notes that nobody uses."""

from __future__ import annotations

from datetime import date

from .notes import Note, NoteStore
from .settings import Settings


def forget(store: NoteStore, settings: Settings, today: date) -> list[Note]:
    """Bury every note that is old and was seldom used."""
    gone = []
    for note in list(store.notes()):
        age = (today - note.created).days
        if age > settings.forget_after_days and note.uses < settings.keep_uses:
            store.bury(note, f"{note.uses} uses in {age} days", today)
            gone.append(note)
    return gone
