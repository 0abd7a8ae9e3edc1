"""The vectors of all notes, kept in ``index.json`` so that recall need not compute them."""

from __future__ import annotations

import json

from .notes import Note, NoteStore
from .vectors import Vector, vector


def refresh(store: NoteStore) -> list[tuple[Note, Vector]]:
    """Pair each note with its vector, computing only those that are new or changed."""
    path = store.home / "index.json"
    old = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    new = {}
    pairs = []
    for note in store.notes():
        entry = old.get(note.id)
        # A length is cheaper to compare than a text.
        if entry is None or entry["length"] != len(note.text):
            entry = {"length": len(note.text), "vector": vector(note.text)}
        new[note.id] = entry
        pairs.append((note, {int(slot): weight for slot, weight in entry["vector"].items()}))
    path.write_text(json.dumps(new, indent=1), encoding="utf-8")
    return pairs
