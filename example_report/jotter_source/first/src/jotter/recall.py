"""Which notes go into a prompt."""

from __future__ import annotations

import math

from .index import refresh
from .notes import Note, NoteStore
from .settings import Settings
from .vectors import cosine, vector


def recall(store: NoteStore, question: str, settings: Settings) -> list[Note]:
    """The notes for a prompt, best first. Counts a use of each."""
    query = vector(question)
    scored = []
    for note, features in refresh(store):
        habit = 1 + settings.use_weight * math.log1p(note.uses)
        score = cosine(query, features) * habit
        if score > 0:
            scored.append((score, note))
    scored.sort(key=lambda pair: pair[0], reverse=True)
    candidates = [note for _, note in scored[: settings.limit]]
    for note in candidates:
        note.uses += 1
        store.save(note)
    return fit(candidates, settings.budget)


def fit(notes: list[Note], budget: int) -> list[Note]:
    """Those notes that fit into a number of characters; one too long gives way to the next."""
    chosen = []
    for note in notes:
        if len(note.text) <= budget:
            chosen.append(note)
            budget -= len(note.text)
    return chosen
