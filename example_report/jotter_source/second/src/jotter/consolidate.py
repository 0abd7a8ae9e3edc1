"""Merging notes that say the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date

from .features import cosine
from .index import refresh
from .notes import Note, NoteStore, RefusedError

NEAR_DUPLICATE = 0.9

Summarise = Callable[[list[str]], str]


def consolidate(store: NoteStore, summarise: Summarise, today: date) -> list[Note]:
    """Replace each group of near-duplicates by what ``summarise`` makes of them."""
    summaries = []
    for group in near_duplicates(store):
        text = summarise([note.text for note in group])
        sources = tuple(note.id for note in group)
        try:
            summary = store.add(text, today, source="consolidation", merged=sources)
        except RefusedError:
            continue
        for note in group:
            store.bury(note, f"merged into {summary.id}", today)
        summaries.append(summary)
    return summaries


def near_duplicates(store: NoteStore) -> Iterator[list[Note]]:
    """Groups of two or more notes, each close to the first of its group."""
    rest = refresh(store)
    while rest:
        (first, features), *others = rest
        group, rest = [first], []
        for note, other in others:
            if cosine(features, other) >= NEAR_DUPLICATE:
                group.append(note)
            else:
                rest.append((note, other))
        if len(group) > 1:
            yield group


def longest(texts: list[str]) -> str:
    """The plainest summary: the longest of the texts."""
    return max(texts, key=len)
