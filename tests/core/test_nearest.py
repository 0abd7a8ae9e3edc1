from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphinx_memreport.core.models import LineRange, Missing
from sphinx_memreport.core.nearest import (
    MAX_DIFF,
    MAX_QUOTE,
    Near,
    files_holding,
    nearest_names,
    nearest_passage,
    nearest_path,
    word_diff,
)
from sphinx_memreport.core.quotes import SourceText, normalise

fixed = settings(derandomize=True, deadline=None, database=None, max_examples=200)

SOURCE = SourceText(
    '''\
"""Recall of stored notes."""

from __future__ import annotations


def recall(store: Store, question: str, limit: int = 5) -> list[Note]:
    """Return the notes that are most similar to the question, best first."""
    vector = store.embed(question)
    scored = [(cosine(vector, note.vector), note) for note in store.notes()]
    scored.sort(key=lambda pair: pair[0], reverse=True)
    return [note for _, note in scored[:limit]]


def forget(store: Store, note: Note) -> None:
    # A tombstone keeps the identifier, so that
    # a later import does not bring the note back.
    store.write(Tombstone(note.identifier))
    store.vectors.pop(note.identifier, None)
    log.info("forgot %s", note.identifier)
'''
)


def near(quote: str, source: SourceText = SOURCE) -> Near:
    found = nearest_passage(quote, source)
    assert found is not None
    return found


def lines(start: int, end: int | None = None) -> LineRange:
    return LineRange(start=start, end=end or start)


def prose(words: int, seed: int) -> list[str]:
    """Words that look like text, the same in every run."""
    pick = random.Random(seed)
    syllables = ["ka", "lo", "mi", "ren", "tos", "ul", "be", "dra", "fin", "gor"]
    return ["".join(pick.choices(syllables, k=pick.randint(1, 4))) for _ in range(words)]


# --- passages -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quote", "where", "passage"),
    [
        pytest.param(
            "scored.sort(key=lambda pair: pair[0], reverse=False)",
            lines(10),
            "scored.sort(key=lambda pair: pair[0], reverse=True)",
            id="a word edited at the end",
        ),
        pytest.param(
            "vectar = store.embed(question)",
            lines(8),
            "vector = store.embed(question)",
            id="one character at the beginning",
        ),
        pytest.param(
            "scored.sort(key=lambda pair: pair[0], reverse=True)\n"
            "    scored = dedupe(scored)\n"
            "    return [note for _, note in scored[:limit]]",
            lines(10, 11),
            "scored.sort(key=lambda pair: pair[0], reverse=True)\n"
            "    return [note for _, note in scored[:limit]]",
            id="a line removed from the middle",
        ),
        pytest.param(
            "# A tombstone keeps the identifier, so that\n"
            "# a later import does not bring the note back.\n"
            "store.vectors.pop(note.identifier, None)",
            lines(15, 18),
            "# A tombstone keeps the identifier, so that\n"
            "    # a later import does not bring the note back.\n"
            "    store.write(Tombstone(note.identifier))\n"
            "    store.vectors.pop(note.identifier, None)",
            id="a line inserted in the middle",
        ),
        pytest.param(
            "# A tombstone keeps the\n# identifier, so that a later\n"
            "# import does not bring the note back.",
            lines(15, 16),
            "# A tombstone keeps the identifier, so that\n"
            "    # a later import does not bring the note back.",
            id="wrapped with its comment signs",
        ),
        pytest.param(
            "Log.Info('forgot %s', note.id)",
            lines(19),
            'log.info("forgot %s", note.identifier)',
            id="several edits",
        ),
    ],
)
def test_an_edited_passage(quote: str, where: LineRange, passage: str) -> None:
    found = near(quote)
    assert (found.lines, found.passage) == (where, passage)
    assert 60 <= found.similarity < 100
    assert found.diff == word_diff(quote, passage)


def test_the_diff_says_what_changed() -> None:
    found = near("scored.sort(key=lambda pair: pair[0], reverse=False)")
    assert found.diff == "scored.sort(key=lambda pair: pair[0], reverse=[-False-]{+True+})"


@pytest.mark.parametrize(
    ("quote", "text", "diff"),
    [
        ("dumps(self.items))", "dumps(self.items, indent=1))", "dumps(self.items{+, indent=1+}))"),
        ("def add(self, name):", "def add(self, name, n=1):", "def add(self, name{+, n=1+}):"),
        (
            "f(load(path), flags)",
            "f(cached, load(path), flags)",
            "f({+cached, +}load(path), flags)",
        ),
    ],
)
def test_what_was_inserted_near_an_end_takes_nothing_away(quote: str, text: str, diff: str) -> None:
    found = nearest_passage(
        quote, SourceText(f"import json\n\n{text}\n    return self.other(None)\n")
    )
    assert found is not None
    assert found.diff == diff


@pytest.mark.parametrize(
    "quote",
    [
        "SELECT id, body FROM notes WHERE owner = ? ORDER BY created",
        "zzzz",
        "— — —",
        "x" * 5000,
        "",
        " \n",
    ],
)
def test_nothing_comes_near(quote: str) -> None:
    assert nearest_passage(quote, SOURCE) is None


def test_minimum() -> None:
    quote = "vector = storage.encode(query)"
    similarity = near(quote).similarity
    assert nearest_passage(quote, SOURCE, minimum=similarity + 1) is None
    assert nearest_passage(quote, SOURCE, minimum=similarity) is not None


def test_minimum_comes_before_showing_what_a_word_became() -> None:
    source = SourceText("call xyz")
    changed, gone = (nearest_passage("call f", source, minimum) for minimum in (70, 75))
    assert changed is not None
    assert gone is not None
    assert (changed.passage, changed.diff) == ("call xyz", "call [-f-]{+xyz+}")
    assert (gone.passage, gone.diff) == ("call", "call[- f-]")


def test_an_empty_file() -> None:
    assert nearest_passage("quote", SourceText("")) is None
    assert nearest_passage("quote", SourceText(" \n\n")) is None


def test_a_quote_longer_than_the_file() -> None:
    source = SourceText("\n  alpha beta gamma delta\n")
    found = near("alpha beta gamma delta epsilon", source)
    assert (found.lines, found.passage) == (lines(2), "alpha beta gamma delta")
    assert found.diff == "alpha beta gamma delta[- epsilon-]"
    assert nearest_passage("alpha " + "other words " * 9, source) is None


def test_the_nearest_of_several_similar_passages() -> None:
    source = SourceText("".join(f"assert value_{n} == expected[{n}]\n" for n in range(100)))
    assert near("assert value_57 = expected[57]", source).lines == lines(57 + 1)


def test_stray_words_far_off_do_not_widen_the_passage() -> None:
    filler = "other things stand here\n"
    body = "one two three four five six seven"
    source = SourceText(f"delta\n{filler}{body} eight nine\n{filler}omega\n")
    found = near(f"delta {body} removed removed removed eight nine omega", source)
    assert f"{body} eight nine" in found.passage
    assert "delta" not in found.passage
    assert "omega" not in found.passage


def test_a_long_passage_that_begins_like_another_one() -> None:
    words = prose(200, seed=9)
    edited = [word if n % 20 != 5 else "edited" for n, word in enumerate(words)]
    decoy = [*words[:60], *prose(140, seed=10)]
    filler = prose(2_000, seed=11)
    for texts in ((decoy, filler, edited), (edited, filler, decoy)):
        source = SourceText("\n".join(" ".join(text) for text in texts))
        assert near(" ".join(words), source).passage == " ".join(edited)


def test_of_equally_near_passages_always_the_same() -> None:
    source = SourceText("one red apple here\n" * 50)
    results = {near("one green apple here", source) for _ in range(3)}
    assert [found.passage for found in results] == ["one red apple here"]


def test_scripts_without_spaces() -> None:
    source = SourceText(
        "这是一个很长的句子没有任何空格但是包含了我们要找的那一段文字以及更多内容\n第二行"
    )
    found = near("包含了我门要找的那一段文字", source)
    assert found.passage == "包含了我们要找的那一段文字"
    assert found.diff == "包含了我[-门-]{+们+}要找的那一段文字"


def test_data_without_breaks() -> None:
    data = "".join(
        random.Random(5).choices("abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789", k=9000)
    )
    quote = data[4000:4300].replace(data[4150], "_", 1)
    found = near(quote, SourceText(data))
    assert found.similarity > 99
    assert found.passage == data[4000:4300]
    assert re.search(r"\[-_-\]\{\+\w\+\}", found.diff)


def test_a_large_file_on_one_line() -> None:
    words = prose(1_100_000, seed=1)
    source = SourceText(" ".join(words))
    assert len(source.text) > 5_000_000
    for size in (30, 300, 1_200):
        passage = words[600_000 : 600_000 + size]
        quote = [*passage[: size // 2], "CHANGED", *passage[size // 2 + 1 :]]
        found = near(" ".join(quote), source)
        assert found.lines == lines(1)
        assert found.passage == " ".join(passage)
        assert "[-CHANGED-]" in found.diff


def test_a_very_long_quote_is_compared_around_its_first_difference() -> None:
    words = prose(9_000, seed=2)
    source = SourceText("\n".join(words))
    quote = [*words[1_000:6_000], "INSERTED", *words[6_000:8_000]]
    assert len(" ".join(quote)) > MAX_QUOTE
    found = near("\n".join(quote), source)
    assert found.lines.start < 6_000 < found.lines.end
    assert "[-INSERTED -]" in found.diff


@given(data=st.data())
@fixed
def test_a_passage_with_one_changed_word_is_found_where_it_stands(data: st.DataObject) -> None:
    words = prose(400, seed=3)
    size = data.draw(st.integers(10, 40))
    start = data.draw(st.integers(0, len(words) - size))
    changed = data.draw(st.integers(0, size - 1))
    width = data.draw(st.integers(1, 12))
    text = "".join(word + ("\n" if n % width == 0 else " ") for n, word in enumerate(words))
    quote = words[start : start + size]
    quote[changed] = "q" * len(quote[changed])
    found = near("\n".join(quote), SourceText(text))
    assert found.passage in text
    assert found.passage.split() == words[start : start + size]
    assert len(found.diff) <= MAX_DIFF


@given(
    quote=st.text(max_size=120), text=st.text(max_size=300), minimum=st.sampled_from([0, 30, 60])
)
@fixed
def test_what_comes_near_is_in_the_text(quote: str, text: str, minimum: float) -> None:
    found = nearest_passage(quote, SourceText(text), minimum)
    if found is not None:
        assert found.passage in text
        assert found.passage == found.passage.strip()
        assert minimum <= found.similarity <= 100
        assert normalise(found.passage) in normalise(SourceText(text).passage(found.lines))


# --- word diffs ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "found", "diff"),
    [
        ("a b c", "a x c", "a [-b-]{+x+} c"),
        ("a b", "a b c", "a b{+ c+}"),
        ("a b c", "b c", "[-a -]b c"),
        ("same  text", "same\ntext", "same text"),
        ("x = f(a)", "x = f(b)", "x = f([-a-]{+b+})"),
        ("one two", "three four", "[-one two-]{+three four+}"),
        ("", "new", "{+new+}"),
        ("gone", "", "[-gone-]"),
        ("", "", ""),
    ],
)
def test_word_diff(expected: str, found: str, diff: str) -> None:
    assert word_diff(expected, found) == diff


def test_long_runs_are_elided() -> None:
    words = [f"word{n}" for n in range(300)]
    other = [*words[:150], "changed", *words[151:]]
    diff = word_diff(" ".join(words), " ".join(other))
    assert "[-word150-]{+changed+}" in diff
    assert diff.startswith("…")
    assert diff.endswith("…")
    assert len(diff) < 150
    assert len(word_diff(" ".join(words), " ".join(words))) < 100


def test_a_change_in_a_long_word_is_not_elided() -> None:
    word = "".join(random.Random(4).choices("abcdef", k=2000))
    assert "[-X-]{+Y+}" in word_diff(word + "X" + word, word + "Y" + word)


def test_a_diff_of_very_different_long_texts_is_short() -> None:
    one, other = " ".join(prose(20_000, seed=6)), " ".join(prose(20_000, seed=7))
    diff = word_diff(one, other)
    assert len(diff) <= MAX_DIFF
    assert diff.endswith("…")


def test_a_diff_of_long_texts_with_two_changes_far_apart() -> None:
    words = prose(20_000, seed=8)
    other = [*words]
    other[19_990] = "LAST"
    other[10:11] = ["FIRST", "AND", "MORE"]
    diff = word_diff(" ".join(words), " ".join(other))
    assert "{+FIRST AND MORE +}" in diff
    assert diff.count("[-") == 1
    assert diff.endswith("…")


words_of_text = st.text(st.sampled_from("abc  .,(é语"), max_size=40)


@given(words_of_text, words_of_text)
@fixed
def test_a_diff_holds_both_texts(expected: str, found: str) -> None:
    diff = word_diff(expected, found)
    before = re.sub(r"\[-(.*?)-\]", r"\1", re.sub(r"\{\+.*?\+\}", "", diff))
    after = re.sub(r"\{\+(.*?)\+\}", r"\1", re.sub(r"\[-.*?-\]", "", diff))
    assert before == normalise(expected)
    assert after == normalise(found)


@given(st.text(max_size=1500), st.text(max_size=1500))
@fixed
def test_a_diff_is_one_short_line(expected: str, found: str) -> None:
    diff = word_diff(expected, found)
    assert len(diff) <= MAX_DIFF
    assert len(diff.splitlines()) <= 1
    assert diff == word_diff(expected, found)


# --- names --------------------------------------------------------------------------------

NAMES = [
    "MEM-OBJ-note",
    "MEM-OBJ-note-body",
    "MEM-OBJ-chunk",
    "MEM-RTE-recall",
    "MEM-RTE-forget",
    "RT-RTE-answer",
    "EPI-CLM-freshness",
    "SRC-1",
    "SRC-12",
]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("MEM-OBJ-chnuk", "MEM-OBJ-chunk"),
        ("MEM-OBJ-chunks", "MEM-OBJ-chunk"),
        ("MEM-OBJ-chnk", "MEM-OBJ-chunk"),
        ("MEM-OBJ-nte", "MEM-OBJ-note"),
        ("MEM-OBJ-nt", "MEM-OBJ-note"),
        ("MEM-OBJ-notebody", "MEM-OBJ-note-body"),
        ("MEM-ROU-recall", "MEM-RTE-recall"),
        ("MEM-OBJ-recall", "MEM-RTE-recall"),
        ("RT-RTE-forget", "MEM-RTE-forget"),
        ("mem-rte-recall", "MEM-RTE-recall"),
        ("MEM\u2011RTE\u2011recal", "MEM-RTE-recall"),
        ("EPI-CLM-fresh", "EPI-CLM-freshness"),
        ("EPI-CLM-freshness-score", "EPI-CLM-freshness"),
        ("SCR-12", "SRC-12"),
        ("recall", "MEM-RTE-recall"),
    ],
)
def test_near_names(name: str, first: str) -> None:
    if name == "EPI-CLM-fresh":
        assert nearest_names(name, NAMES, minimum=70)[0] == first
    else:
        assert nearest_names(name, NAMES)[0] == first


@pytest.mark.parametrize("name", ["MEM-OBJ-vectors", "SRC-3", "SRC-2", "MEM-OBJ-x", "", "MEM-OBJ-"])
def test_unrelated_names(name: str) -> None:
    assert nearest_names(name, NAMES) == []


def test_short_names_and_numbers_are_near_to_nothing_else() -> None:
    assert nearest_names("MEM-OBJ-x", ["MEM-OBJ-y", "MEM-OBJ-ab"]) == []
    assert nearest_names("MEM-OBJ-3", ["MEM-OBJ-4", "RT-CMP-3"]) == []
    assert nearest_names("MEN-OBJ-3", ["MEM-OBJ-3"]) == ["MEM-OBJ-3"]


def test_near_names_are_few_and_ordered() -> None:
    names = ["evidence", "memroute", "memsource", "memrecords", "memobject"]
    assert nearest_names("evidnce", names) == ["evidence"]
    assert nearest_names("MEM-OBJ-nose", [f"MEM-OBJ-{n}ose" for n in "hdrpl"]) == [
        "MEM-OBJ-dose",
        "MEM-OBJ-hose",
        "MEM-OBJ-lose",
    ]
    assert nearest_names("MEM-OBJ-note", ["MEM-OBJ-note-b", "MEM-OBJ-nota", "MEM-OBJ-not"]) == [
        "MEM-OBJ-not",
        "MEM-OBJ-nota",
        "MEM-OBJ-note-b",
    ]
    assert len(nearest_names("aaaa", ["aaab", "aaac", "aaad", "aaae"], limit=2)) == 2


id_names = st.from_regex(r"[a-z]{4,8}(-[a-z]{2,6})?", fullmatch=True)


@given(name=id_names, data=st.data())
@fixed
def test_a_typo_of_one_or_two_characters_is_found(name: str, data: st.DataObject) -> None:
    declared = f"MEM-OBJ-{name}"
    typed = list(declared)
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(typed) - 2))
        match data.draw(st.sampled_from(["drop", "double", "swap", "replace"])):
            case "drop":
                del typed[at]
            case "double":
                typed.insert(at, typed[at])
            case "swap":
                typed[at : at + 2] = typed[at + 1], typed[at]
            case _:
                typed[at] = "q"
    others = ["MEM-OBJ-vector-index", "MEM-RTE-zzzzzzzzzzzz"]
    assert declared in nearest_names("".join(typed), [*others, declared])


# --- paths --------------------------------------------------------------------------------

PATHS = [
    "README.md",
    "src/jotter/recall.py",
    "src/jotter/store/base.py",
    "src/other/base.py",
    "src/jotter/store/__init__.py",
    "tests/store/base.py",
    "docs/recall.md",
    "migrations/0001.sql",
]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("lib/recall.py", "src/jotter/recall.py"),
        ("recall.py", "src/jotter/recall.py"),
        ("lib/store/base.py", "tests/store/base.py"),
        ("src/jotter2/store/base.py", "src/jotter/store/base.py"),
        ("src/jotter/recal.py", "src/jotter/recall.py"),
        ("src/jotter/Recall.py", "src/jotter/recall.py"),
        ("readme.md", "README.md"),
        ("README.rst", "README.md"),
        ("docs/recall.rst", "docs/recall.md"),
        ("migrations/0002.sql", None),
        ("src/jotter/embedding.py", None),
        ("Makefile", None),
        ("a", None),
        ("", None),
    ],
)
def test_nearest_path(path: str, expected: str | None) -> None:
    assert nearest_path(path, PATHS) == expected
    assert nearest_path(path, reversed(PATHS)) == expected


def test_directories_in_common_count_before_similar_letters() -> None:
    paths = ["old/long/name/stores/base.py", "x/store/base.py"]
    assert nearest_path("old/long/name/store/base.py", paths) == "x/store/base.py"


def test_the_path_itself_is_no_answer() -> None:
    assert nearest_path("README.md", ["README.md"]) is None


# --- other files --------------------------------------------------------------------------


def test_files_holding() -> None:
    files = [
        ("a.py", "def recall(\n    store,\n):\n    pass"),
        ("b.py", "def  recall( store, ): and def recall( store, ):"),
        ("c.py", "recall( def store, )"),
        ("d.py", ""),
    ]
    quotes = ["def recall( store, ):", "store,", "  STORE,", "store,"]
    assert files_holding(quotes, iter(files)) == {
        "def recall( store, ):": ["a.py", "b.py"],
        "store,": ["a.py", "b.py", "c.py"],
        "  STORE,": [],
    }


def test_files_are_read_one_at_a_time() -> None:
    taken: list[str] = []

    def files() -> Iterator[tuple[str, str]]:
        for number in range(3):
            taken.append(f"{number}")
            yield f"{number}", "text"

    assert files_holding(["text"], files()) == {"text": taken}
    assert files_holding([], [("a", "text")]) == {}


def test_files_holding_an_empty_quote() -> None:
    with pytest.raises(ValueError, match="empty"):
        files_holding(["text", " "], [])


@given(st.lists(st.text("ab \n\t", max_size=12), max_size=4), st.text("ab \n", max_size=5))
@fixed
def test_files_holding_agrees_with_locate(texts: list[str], quote: str) -> None:
    if quote.strip():
        files = [(f"{number}", text) for number, text in enumerate(texts)]
        expected = [
            path for path, text in files if not isinstance(SourceText(text).locate(quote), Missing)
        ]
        assert files_holding([quote], files) == {quote: expected}
