from datetime import date

from jotter import NoteStore, Settings, ask, recall

TODAY = date(2026, 9, 1)


def test_the_closest_note_comes_first(store: NoteStore) -> None:
    store.add("The cat is called Port.", TODAY)
    database = store.add("The staging database listens on port 5433.", TODAY)
    first, _ = recall(store, "staging database port", Settings())
    assert first.id == database.id


def test_used_notes_rise(store: NoteStore) -> None:
    store.add("Alpha: use the port.", TODAY)
    often = store.add("Omega: use the port.", TODAY)
    often.uses = 5
    store.save(often)
    first, _ = recall(store, "which port", Settings())
    assert first.id == often.id


def test_the_budget_holds(store: NoteStore) -> None:
    store.add("port " * 30, TODAY)
    short = store.add("A short note about the port.", TODAY)
    assert [note.id for note in recall(store, "port", Settings(budget=40))] == [short.id]


def test_the_model_sees_rules_and_notes_and_may_add_some(store: NoteStore) -> None:
    store.add("The staging database listens on port 5433.", TODAY)
    (store.home / "rules.md").write_text("Answer in one word.", encoding="utf-8")
    prompts = []

    def model(prompt: str) -> str:
        prompts.append(prompt)
        return "5433\nREMEMBER: Ada asked about the port."

    assert ask(store, "Which port?", model, TODAY) == "5433"
    assert "Answer in one word." in prompts[0]
    assert "port 5433" in prompts[0]
    assert [note.source for note in store.notes()] == ["model", "person"]
