"""One question to a model, with memory before and after."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import date

from .notes import NoteStore, RefusedError
from .prompt import build
from .recall import recall
from .settings import Settings

MARK = "REMEMBER: "

Model = Callable[[str], str]


def ask(store: NoteStore, question: str, model: Model, today: date | None = None) -> str:
    """Answer a question; lines that the model marks become notes and leave the answer."""
    settings = Settings.load(store.home)
    reply = model(build(store.home, question, recall(store, question, settings)))
    answer = []
    for line in reply.splitlines():
        if line.startswith(MARK):
            with suppress(RefusedError):
                store.add(line.removeprefix(MARK), today or date.today(), source="model")
        else:
            answer.append(line)
    return "\n".join(answer).strip()
