"""Notes on disk: one Markdown file each, and tombstones of those that are gone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from .vectors import words


class RefusedError(ValueError):
    """A text that was forgotten or merged before is not taken again."""


@dataclass
class Note:
    """One thing worth knowing."""

    id: str
    text: str
    created: date
    source: str = "person"
    uses: int = 0
    merged: tuple[str, ...] = ()

    def dump(self) -> str:
        """The note as the text of its file."""
        head = [f"created: {self.created}", f"source: {self.source}", f"uses: {self.uses}"]
        if self.merged:
            head.append(f"merged: {', '.join(self.merged)}")
        return "\n".join(["---", *head, "---", self.text, ""])

    @classmethod
    def parse(cls, note_id: str, content: str) -> Note:
        """Read a note from the text of its file."""
        _, head, text = content.split("---\n", 2)
        field = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
        return cls(
            id=note_id,
            text=text.strip(),
            created=date.fromisoformat(field["created"]),
            source=field.get("source", "person"),
            uses=int(field.get("uses", 0)),
            merged=tuple(filter(None, field.get("merged", "").split(", "))),
        )


def digest(text: str) -> str:
    """What a tombstone keeps of a text."""
    return hashlib.sha256(text.strip().encode()).hexdigest()


class NoteStore:
    """The notes below one directory."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.directory = home / "notes"
        self.graveyard = home / "tombstones.jsonl"
        self.directory.mkdir(parents=True, exist_ok=True)

    def notes(self) -> Iterator[Note]:
        """Every note, in the order of the file names."""
        for path in sorted(self.directory.glob("*.md")):
            yield Note.parse(path.stem, path.read_text(encoding="utf-8"))

    def add(
        self, text: str, today: date, source: str = "person", merged: tuple[str, ...] = ()
    ) -> Note:
        """Write a new note.

        :raises RefusedError: when a tombstone has the same text.
        """
        if any(stone["digest"] == digest(text) for stone in self.tombstones()):
            raise RefusedError(text)
        note = Note(self._free_id(text), text.strip(), today, source, merged=merged)
        self.save(note)
        return note

    def save(self, note: Note) -> None:
        """Write a note over the file that it came from."""
        path = self.directory / f"{note.id}.md"
        path.write_text(note.dump(), encoding="utf-8")

    def bury(self, note: Note, reason: str, today: date) -> None:
        """Remove a note and leave a tombstone."""
        stone = {
            "id": note.id,
            "reason": reason,
            "buried": str(today),
            "digest": digest(note.text),
        }
        with self.graveyard.open("a", encoding="utf-8") as file:
            file.write(json.dumps(stone) + "\n")
        (self.directory / f"{note.id}.md").unlink()

    def tombstones(self) -> list[dict[str, str]]:
        """What is known of the notes that are gone."""
        if not self.graveyard.exists():
            return []
        lines = self.graveyard.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def _free_id(self, text: str) -> str:
        stem = "-".join(words(text)[:5]) or "note"
        candidate, number = stem, 1
        while (self.directory / f"{candidate}.md").exists():
            number += 1
            candidate = f"{stem}-{number}"
        return candidate
