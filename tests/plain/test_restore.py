"""Quotations that rendering has damaged, and what the source says there."""

from __future__ import annotations

import pytest

from sphinx_memreport.core.models import Found, LineRange
from sphinx_memreport.core.quotes import SourceText
from sphinx_memreport.plain.restore import restored

SOURCE = SourceText(
    "/// Saves to `notes.md`, *always*.\n"
    "fn all(store: &Store) -> Result<Vec<Note>> {\n"
    "    Ok(Vec::new())\n"
    "}\n"
    "if a < b && c > d { say('x') }\n"
    "let kind = `blog`;\n"
    "twice `one`\n"
    "twice `one`\n"
)


@pytest.mark.parametrize(
    ("quote", "passage"),
    [
        ("Saves to notes.md, always", "Saves to `notes.md`, *always*"),
        (
            "fn all(store: &Store) -> Result> { Ok(Vec::new()) }",
            "fn all(store: &Store) -> Result<Vec<Note>> {\n    Ok(Vec::new())\n}",
        ),
        ("if a &lt; b &amp;&amp; c &gt; d", "if a < b && c > d"),
        ("{ say(‘x’) }", "{ say('x') }"),
        ("let kind = blog", "let kind = `blog`"),
    ],
)
def test_what_rendering_lost_comes_back(quote: str, passage: str) -> None:
    found = restored(quote, SOURCE)
    assert found == passage
    assert isinstance(SOURCE.locate(found), Found)


@pytest.mark.parametrize(
    "quote",
    [
        "twice one",  # in two places
        "Saves to files.md",  # not there
        "notes",  # too short to tell
        "``",
    ],
)
def test_nothing_is_offered_when_it_is_not_certain(quote: str) -> None:
    assert restored(quote, SOURCE) is None


def test_a_range_decides_between_two_places() -> None:
    assert restored("twice one", SOURCE, LineRange(start=8, end=8)) == "twice `one`"


def test_a_large_file_is_no_obstacle() -> None:
    source = SourceText("`x` = <y>;\n" * 20000 + "the `one` passage\n" + "<" * 100_000)
    assert restored("the one passage", source) == "the `one` passage"
