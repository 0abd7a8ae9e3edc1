"""IDs that look like others: letters of other alphabets, characters that are not seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import TinySite

from sphinx_memreport.core.ids import check_id, find_mentions


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("МEM-OBJ-note", "U+041C CYRILLIC CAPITAL LETTER EM"),
        ("МЕМ-ОВЈ-note", "U+041C CYRILLIC CAPITAL LETTER EM"),
        ("RΤ-RTE-note", "U+03A4 GREEK CAPITAL LETTER TAU"),
        ("MEM-OBJ-nоte", "U+043E CYRILLIC SMALL LETTER O"),
        ("ＭＥＭ-OBJ-note", "U+FF2D FULLWIDTH LATIN CAPITAL LETTER M"),
        ("ЅRC-1", "U+0405 CYRILLIC CAPITAL LETTER DZE"),
        ("SRС-1", "U+0421 CYRILLIC CAPITAL LETTER ES"),
        ("MEM-OBJ-no\u200bte", "U+200B ZERO WIDTH SPACE"),
        ("MEM-OBJ-no\u202ete", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("MEM-OBJ-no\ufeffte", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("MEM-OBJ-no\U000e0074te", "U+E0074 TAG LATIN SMALL LETTER T"),
        ("MEM-OBJ-note\u0301", "U+0301 COMBINING ACUTE ACCENT"),
        ("ME\u200dM-OBJ-note", "U+200D ZERO WIDTH JOINER"),
        ("MEM-\u2060OBJ-note", "U+2060 WORD JOINER"),
        ("MEM\u00ad-OBJ-note", "U+00AD SOFT HYPHEN"),
        ("SRC-1\u200b0", "U+200B ZERO WIDTH SPACE"),
    ],
)
def test_what_looks_like_an_id_is_seen_whole_and_refused(text: str, named: str) -> None:
    assert [mention.target for mention in find_mentions(f"See {text}.")] == [text]
    assert check_id(text) == (
        f"an ID is made of the letters a to z, digits and hyphens; found {named}"
    )


@pytest.mark.parametrize("mark", ["\u200f", "\u200b", "\ufe0f"])
def test_a_mark_behind_an_id_belongs_to_what_follows(mark: str) -> None:
    assert [m.target for m in find_mentions(f"MEM-OBJ-note{mark}, SRC-1{mark}")] == [
        "MEM-OBJ-note",
        "SRC-1",
    ]


def test_on_a_page_they_are_problems_and_never_links_to_another_record(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    declared = "```{memobject} MEM-OBJ-no — No\n```\n\n```{memobject} MEM-OBJ-note — Note\n```\n"
    text = (
        f"# M\n\n{declared}\nSee MEM-OBJ-no\u200bte,\nМEM-OBJ-note,\nMEM-OBJ-note\u0301 and\n"
        "{mem}`MEM-OBJ-no\u202ete`.\n\n```{memobject} MEM-OBJ-nоte — Copy\n:part-of: MEM-OBJ-nо\n"
        "```\n\n```{evidence} SRC-1 README.md\n:supports: MEM-OBJ-not\u200be\n\n# Jotter\n```\n"
    )
    built = TinySite(tmp_path / "site", pinned_repo).build({"m.md": text})
    assert built.problems == [("malformed-id", "m", line) for line in (9, 10, 11, 12, 14, 14, 18)]
    links = {a["href"] for a in built.soup("m").select("[role=main] p a.mem, [role=main] p a")}
    assert not links & {"#mem-obj-no", "#mem-obj-note"}
    for hidden in "\u200b\u202e":
        assert hidden not in built.warnings
    assert "MEM-OBJ-no⟦U+200B⟧te: an ID is made of" in built.warnings
