"""Values in a cached environment are not validated: a changed model needs a new data version."""

from __future__ import annotations

import hashlib
import json
import pickle
from pathlib import Path

from pydantic import TypeAdapter

from sphinx_memreport.core.models import DATA_VERSION
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.resolve import Answers

SNAPSHOT = Path(__file__).with_name("stored_models.json")


def digest() -> str:
    """A digest of the JSON Schema of everything that the environment stores."""
    schemas = [TypeAdapter(stored).json_schema() for stored in (DocumentFacts, Answers)]
    return hashlib.sha256(json.dumps(schemas, sort_keys=True).encode()).hexdigest()


def test_a_changed_model_has_a_new_data_version() -> None:
    snapshot = json.loads(SNAPSHOT.read_text())
    current = {"version": DATA_VERSION, "digest": digest()}
    if current["digest"] != snapshot["digest"]:
        assert current["version"] > snapshot["version"], (
            "a stored model changed: raise DATA_VERSION in core/models.py"
        )
    assert current == snapshot, f"write {json.dumps(current)} into {SNAPSHOT.name}"


def test_stored_values_can_be_pickled() -> None:
    facts = DocumentFacts("memory")
    assert pickle.loads(pickle.dumps(facts)) == facts
    assert pickle.loads(pickle.dumps(Answers())) == Answers()
