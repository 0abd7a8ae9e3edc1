"""Values that stay bytes until somebody looks at one."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sphinx_memreport.core.packed import Packed


@dataclass
class Value:
    """Counts how often one like it is unpickled."""

    text: str = ""
    lines: list[str] = field(default_factory=list)

    def __setstate__(self, state: dict[str, object]) -> None:
        UNPICKLED.append(str(state["text"]))
        vars(self).update(state)


UNPICKLED: list[str] = []


@pytest.fixture
def unpickled() -> list[str]:
    UNPICKLED.clear()
    return UNPICKLED


def packed(**values: Value) -> Packed[Value]:
    found: Packed[Value] = Packed()
    found.update(values)
    return found


def stored(mapping: Packed[Value]) -> Packed[Value]:
    """The mapping as the next build has it."""
    return pickle.loads(pickle.dumps(mapping))  # type: ignore[no-any-return]


# --- laziness -------------------------------------------------------------------------------


def test_a_value_is_unpickled_when_it_is_looked_at_and_then_kept(unpickled: list[str]) -> None:
    later = stored(packed(a=Value("a"), b=Value("b")))
    assert (list(later), len(later), "a" in later, "c" in later) == (["a", "b"], 2, True, False)
    again = stored(later)
    del again["b"]
    again["c"] = Value("c")
    assert unpickled == []
    assert again["a"] is again["a"]
    assert again.get("b") is None
    assert unpickled == ["a"]


def test_nothing_is_unpickled_to_be_stored_or_compared(unpickled: list[str]) -> None:
    later = stored(packed(a=Value("a"), b=Value("b")))
    target: Packed[Value] = Packed()
    target.take("b", later)
    assert stored(later).digest() == later.digest()
    assert target.digest() == stored(target).digest() != later.digest()
    assert unpickled == []
    assert target["b"] == Value("b")


def test_one_broken_value_does_not_hurt_the_others() -> None:
    class Broken:
        def __reduce__(self) -> tuple[object, ...]:
            return int, ("x",)

    mapping: Packed[object] = Packed()
    mapping.update(fine=1, broken=Broken())
    later = pickle.loads(pickle.dumps(mapping))
    assert later["fine"] == 1
    with pytest.raises(ValueError, match="invalid literal"):
        _ = later["broken"]


# --- changes --------------------------------------------------------------------------------


def test_a_value_may_be_changed_until_it_is_packed() -> None:
    mapping = packed(a=Value("a"))
    mapping["a"].lines.append("first")
    assert stored(mapping)["a"].lines == ["first"]
    mapping["a"] = Value("a", ["second"])
    assert stored(mapping)["a"].lines == ["second"]


def test_another_value_in_the_place_of_one_that_is_packed(unpickled: list[str]) -> None:
    later = stored(packed(a=Value("a")))
    before = later.digest()
    later["a"] = Value("new")
    assert later["a"] == stored(later)["a"] == Value("new")
    assert later.digest() != before
    assert unpickled == ["new"]


@pytest.mark.parametrize("is_packed", [True, False])
def test_what_is_taken_over_replaces_what_was_there(is_packed: bool) -> None:
    target, other = packed(a=Value("old")), packed(a=Value("new"))
    assert target["a"] == Value("old")
    target.take("a", stored(other) if is_packed else other)
    assert target["a"] == Value("new")
    assert stored(target)["a"] == Value("new")
    if not is_packed:
        assert target["a"] is other["a"]
    with pytest.raises(KeyError):
        target.take("b", other)


# --- properties -----------------------------------------------------------------------------

KEYS = st.text(max_size=3) | st.sampled_from(["a", "b", "\udcff"])
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=5,
)
DATA = st.dictionaries(KEYS, VALUES, max_size=6)


def mapping_of(data: dict[str, object]) -> Packed[object]:
    found: Packed[object] = Packed()
    found.update(data)
    return found


@given(DATA)
def test_what_is_stored_is_what_was_put_in(data: dict[str, object]) -> None:
    later = pickle.loads(pickle.dumps(mapping_of(data)))
    assert dict(later) == data
    assert list(later) == list(data)
    assert later == data


@given(DATA, st.randoms(use_true_random=False))
def test_the_digest_is_that_of_the_content(data: dict[str, object], random: object) -> None:
    first = mapping_of(data)
    digest = first.digest()
    names = list(data)
    random.shuffle(names)  # type: ignore[attr-defined]
    assert mapping_of({name: data[name] for name in names}).digest() == digest
    later = pickle.loads(pickle.dumps(first))
    for name in names[::2]:
        assert later[name] == data[name]  # to look at a value is not to change it
    assert later.digest() == digest
    assert pickle.loads(pickle.dumps(later)).digest() == digest


@given(DATA, DATA)
def test_other_content_has_another_digest(one: dict[str, object], other: dict[str, object]) -> None:
    if one != other:
        assert mapping_of(one).digest() != mapping_of(other).digest()


class LikeADict(RuleBasedStateMachine):
    """Whatever is done to it, in whatever order it is stored: it is a dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.mapping: Packed[object] = Packed()
        self.model: dict[str, object] = {}

    @rule(key=KEYS, value=VALUES)
    def put(self, key: str, value: object) -> None:
        self.mapping[key] = self.model[key] = value

    @rule(key=KEYS)
    def remove(self, key: str) -> None:
        assert self.mapping.pop(key, "none") == self.model.pop(key, "none")

    @rule(key=KEYS)
    def look(self, key: str) -> None:
        assert self.mapping.get(key) == self.model.get(key)

    @rule(key=KEYS, value=VALUES, is_packed=st.booleans())
    def take(self, key: str, value: object, is_packed: bool) -> None:
        other = mapping_of({key: value})
        self.mapping.take(key, pickle.loads(pickle.dumps(other)) if is_packed else other)
        self.model.pop(key, None)
        self.model[key] = value

    @rule()
    def store(self) -> None:
        digest = self.mapping.digest()
        self.mapping = pickle.loads(pickle.dumps(self.mapping))
        assert self.mapping.digest() == digest

    @invariant()
    def names(self) -> None:
        assert (set(self.mapping), len(self.mapping)) == (set(self.model), len(self.model))

    def teardown(self) -> None:
        assert dict(self.mapping) == self.model


TestLikeADict = LikeADict.TestCase
TestLikeADict.settings = settings(max_examples=30, stateful_step_count=15)
