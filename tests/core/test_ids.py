"""The ID grammar, and what counts as a mention of an ID in running text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sphinx_memreport.core.ids import (
    IdStyle,
    Kind,
    Prefix,
    anchor,
    check_id,
    find_mentions,
    need_id,
    parse_record_id,
)

WORDS = st.lists(st.from_regex(r"[a-z][a-z0-9]{0,6}", fullmatch=True), min_size=1, max_size=3)
IDS = st.builds(
    lambda prefix, kind, words: f"{prefix}-{kind}-{'-'.join(words)}",
    st.sampled_from(list(Prefix)),
    st.sampled_from(list(Kind)),
    WORDS,
)


def targets(text: str) -> list[str]:
    return [mention.target for mention in find_mentions(text)]


@given(IDS)
def test_a_well_formed_id_is_itself_again(record_id: str) -> None:
    assert str(parse_record_id(record_id)) == record_id
    assert check_id(record_id, IdStyle.NAMED) is None
    assert anchor(record_id) == record_id.lower()
    assert need_id("jotter", record_id) == f"jotter:{record_id}"


@given(IDS, st.text(max_size=20), st.text(max_size=20))
def test_a_mention_is_the_whole_token_at_its_place(record_id: str, before: str, after: str) -> None:
    text = f"{before} {record_id} {after}"
    found = [m for m in find_mentions(text) if m.start == len(before) + 1]
    # text before may end in the start of a URL that goes on up to the next blank only
    assert [(m.target, text[m.start : m.end]) for m in found] == [(record_id, record_id)]


@given(st.text(max_size=200))
def test_any_text_can_be_scanned(text: str) -> None:
    for mention in find_mentions(text):
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end].endswith(mention.target)


@given(st.text(max_size=40), st.sampled_from(list(IdStyle)))
def test_any_text_is_judged_without_a_fault(text: str, style: IdStyle) -> None:
    fault = check_id(text, style)
    assert fault is None or fault


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MEM-OBJ-note.", ["MEM-OBJ-note"]),
        ("(MEM-OBJ-note)", ["MEM-OBJ-note"]),
        ("MEM-OBJ-note's", ["MEM-OBJ-note"]),
        ("MEM-OBJ-note, RT-RTE-a", ["MEM-OBJ-note", "RT-RTE-a"]),
        ("MEM-OBJ-note—kept", ["MEM-OBJ-note"]),
        ("MEM-OBJ-a–MEM-OBJ-b", ["MEM-OBJ-a", "MEM-OBJ-b"]),
        ("MEM-OBJ-a-b-c-d", ["MEM-OBJ-a-b-c-d"]),
        ("SRC-1-based", ["SRC-1"]),
        ("SRC-1, SRC-2", ["SRC-1", "SRC-2"]),
        ("SRC-1–3", ["SRC-1–3"]),
        ("MEM-OBJ-3–5", ["MEM-OBJ-3–5"]),
        ("/MEM-OBJ-note", []),
        ("xMEM-OBJ-note", []),
        ("xxMEM-OBJ-note", []),
        ("-MEM-OBJ-note", []),
        ("MEM-OBJ-note_x", []),
        ("MEM-OBJ-note/x", []),
        ("MEM-OBJ-note.md", []),
        ("MEM-OBJ-*", []),
        ("A-B-C, UTF-8, ISO-8859-1, GPL-MIT-x", []),
        ("https://example.org/a?MEM-OBJ-note", []),
    ],
)
def test_what_is_a_mention(text: str, expected: list[str]) -> None:
    assert targets(text) == expected


@pytest.mark.parametrize("style", list(IdStyle))
def test_the_style_of_a_report_decides_on_names(style: IdStyle) -> None:
    assert (check_id("MEM-OBJ-note", style) is None) == (style is not IdStyle.NUMBERED)
    assert (check_id("MEM-OBJ-3", style) is None) == (style is not IdStyle.NAMED)


def test_one_paragraph_of_many_ids_is_scanned_in_one_go() -> None:
    text = " ".join(f"MEM-OBJ-n{n}" for n in range(10_000))
    assert len(targets(text)) == 10_000
