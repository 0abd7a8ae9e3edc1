"""Memory for agents, in plain files."""

from .consolidate import consolidate
from .forget import forget
from .notes import Note, NoteStore, RefusedError
from .recall import recall
from .session import ask
from .settings import Settings

__all__ = [
    "Note",
    "NoteStore",
    "RefusedError",
    "Settings",
    "ask",
    "consolidate",
    "forget",
    "recall",
]
