"""Which notes go into a prompt."""

from __future__ import annotations

import math

from .features import cosine, vector
from .index import refresh
from .notes import Note, NoteStore
from .prompt import fit
from .settings import Settings


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
