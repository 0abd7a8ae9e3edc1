from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphinx_memreport.core.characters import invisible_characters, mark_invisible
from sphinx_memreport.core.models import Ambiguous, Found, LineRange, Missing
from sphinx_memreport.core.quotes import (
    MAX_OCCURRENCES,
    NotText,
    SourceText,
    decode,
    is_lfs_pointer,
    normalise,
)

fixed = settings(derandomize=True, deadline=None, database=None, max_examples=300)

SPACES = [c for c in map(chr, range(sys.maxunicode + 1)) if c.isspace()]
spaces = st.lists(st.sampled_from([" ", "\n", "\r\n", "\t", *SPACES]), min_size=1, max_size=4).map(
    "".join
)
# A small alphabet makes repeated, overlapping and near occurrences.
small_text = st.text(st.sampled_from("aab \n\t\r\x0c\u2028\xa0"), max_size=30)


def lines(start: int, end: int | None = None) -> LineRange:
    return LineRange(start=start, end=end or start)


def found_text(source: SourceText, quote: str, within: LineRange | None = None) -> str:
    location = source.locate(quote, within)
    assert isinstance(location, Found), location
    return source.text[location.start : location.end]


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def naive_occurrences(text: str, quote: str) -> list[tuple[int, int]]:
    """Every span of ``text`` that reads like ``quote``, by trying them all."""
    return [
        (start, end)
        for start in range(len(text))
        for end in range(start + 1, len(text) + 1)
        if not text[start].isspace()
        and not text[end - 1].isspace()
        and text[start:end].split() == quote.split()
    ]


def test_whitespace_is_the_same_for_split_and_for_regular_expressions() -> None:
    assert re.findall(r"\s", "".join(map(chr, range(sys.maxunicode + 1)))) == SPACES


# --- locate: properties -------------------------------------------------------------------


@st.composite
def passages(draw: st.DrawFn) -> tuple[str, str, int, int]:
    """A text, a quote of it with other whitespace, and where the quote was taken from."""
    words = draw(st.lists(st.text("abc.({é语", min_size=1, max_size=4), min_size=1, max_size=12))
    gaps = draw(st.lists(spaces, min_size=len(words), max_size=len(words)))
    text = draw(st.sampled_from(["", " ", "\n\n  ", "\r\n"]))
    places = []
    for word, gap in zip(words, gaps, strict=True):
        places.append((len(text), len(text) + len(word)))
        text += word + gap
    if draw(st.booleans()):
        text = text.rstrip()
    first = draw(st.integers(0, len(words) - 1))
    last = draw(st.integers(first, len(words) - 1))
    quote = words[first]
    for word in words[first + 1 : last + 1]:
        quote += draw(spaces) + word
    quote = draw(st.sampled_from(["", "\n", "   "])) + quote + draw(st.sampled_from(["", "\n"]))
    return text, quote, places[first][0], places[last][1]


@given(passages())
@fixed
def test_a_passage_with_other_whitespace_is_found_at_its_true_lines(
    passage: tuple[str, str, int, int],
) -> None:
    text, quote, start, end = passage
    true_lines = lines(line_at(text, start), line_at(text, end - 1))
    location = SourceText(text).locate(quote)
    if len(naive_occurrences(text, quote)) == 1:
        assert location == Found(lines=true_lines, start=start, end=end)
    else:
        assert isinstance(location, Ambiguous)
        assert true_lines in location.occurrences


@given(text=small_text, quote=small_text.filter(str.strip), first=st.integers(1, 6), data=st.data())
@fixed
def test_occurrences_are_counted_truly(
    text: str, quote: str, first: int, data: st.DataObject
) -> None:
    last = data.draw(st.integers(first, 8))
    for within in (None, lines(first, last)):
        everywhere = [
            (lines(line_at(text, start), line_at(text, end - 1)), start, end)
            for start, end in naive_occurrences(text, quote)
        ]
        inside = [
            place
            for place in everywhere
            if within is None or (first <= place[0].start and place[0].end <= last)
        ]
        location = SourceText(text).locate(quote, within)
        match inside:
            case []:
                elsewhere = tuple(place[0] for place in everywhere) if within else ()
                assert location == Missing(elsewhere=elsewhere)
            case [(place, start, end)]:
                assert location == Found(lines=place, start=start, end=end)
            case _:
                assert location == Ambiguous(occurrences=tuple(place[0] for place in inside))


@given(small_text)
@fixed
def test_lines_are_what_lies_between_line_feeds(text: str) -> None:
    source = SourceText(text)
    expected = text.split("\n")
    if expected[-1] == "":
        expected.pop()
    assert source.line_count == len(expected)
    for number, line in enumerate(expected, 1):
        ended = number < len(expected) or text.endswith("\n")
        assert source.line_text(number) == (line.removesuffix("\r") if ended else line)
    for offset in range(len(text)):
        assert source.line_of(offset) == line_at(text, offset)
    if expected:
        whole = source.passage(lines(1, len(expected)))
        assert text in (whole, whole + "\n", whole + "\r\n")


# --- locate: cases ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "quote", "expected"),
    [
        ("one\r\ntwo\r\nthree\r\n", "two\nthree", lines(2, 3)),
        ("if x:\n\treturn  y\n", "return y", lines(2)),
        ("a\n\n\n\nb", "a b", lines(1, 5)),
        ("no final newline", "newline", lines(1)),
        ("one\x0ctwo\nthree", "two", lines(1)),
        ("one\x0c\ntwo", "two", lines(2)),
        ("one\u2028two\x85three\x1cfour\nfive", "two three four", lines(1)),
        ("one\rtwo\nthree", "two three", lines(1, 2)),
        ("one\rtwo\nthree", "three", lines(2)),
        ("   \n  lead", "lead", lines(2)),
        ("trail \n\n", "trail", lines(1)),
        ("x\xa0y", "x y", lines(1)),
        ("שלום עולם\nنص", "نص", lines(2)),
        ("whole", " whole\n", lines(1)),
    ],
)
def test_whitespace_and_line_ends(text: str, quote: str, expected: LineRange) -> None:
    location = SourceText(text).locate(quote)
    assert isinstance(location, Found)
    assert location.lines == expected
    assert text[location.start : location.end].split() == quote.split()


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("Note", "note"),
        ("it's", "it’s"),
        ("# a\n# b", "a b"),
        ("a … b", "a ... b"),
        ("foo", "fo o"),
        ("zero\u200bwidth", "zerowidth"),
        ("é", "e\u0301"),
        ("", "x"),
        (" \n", "x"),
        ("ab", "abc"),
    ],
)
def test_nothing_else_is_normalised(text: str, quote: str) -> None:
    assert SourceText(text).locate(quote) == Missing()


def test_overlapping_occurrences_count() -> None:
    assert SourceText("aaa").locate("aa") == Ambiguous(occurrences=(lines(1), lines(1)))
    assert SourceText("x\ny\nx\ny\nx").locate("x y x") == Ambiguous(
        occurrences=(lines(1, 3), lines(3, 5))
    )


def test_within_counts_only_what_lies_entirely_inside() -> None:
    source = SourceText("key\n  value\n\nkey\n  value\n")
    assert source.locate("key value") == Ambiguous(occurrences=(lines(1, 2), lines(4, 5)))
    assert found_text(source, "key value", lines(4, 5)) == "key\n  value"
    assert found_text(source, "key value", lines(2, 9)) == "key\n  value"
    assert source.locate("key value", lines(2, 4)) == Missing(elsewhere=(lines(1, 2), lines(4, 5)))
    assert source.locate("value", lines(5, 5)) == Found(lines=lines(5), start=19, end=24)


def test_within_lines_that_the_file_does_not_have() -> None:
    source = SourceText("one\ntwo\n")
    assert source.locate("two", lines(3, 9)) == Missing(elsewhere=(lines(2),))
    assert source.locate("two", lines(2, 1)) == Missing(elsewhere=(lines(2),))
    assert SourceText("").locate("two", lines(1)) == Missing()


def test_within_crlf_and_blank_lines() -> None:
    source = SourceText("a\r\n\r\n  a\r\n\r\na")
    for number in (1, 3, 5):
        assert isinstance(source.locate("a", lines(number)), Found)
    for number in (2, 4):
        assert isinstance(source.locate("a", lines(number)), Missing)
    assert isinstance(source.locate("a", lines(1, 4)), Ambiguous)


@pytest.mark.parametrize("quote", ["", " ", "\n\t\xa0"])
def test_an_empty_quote_is_the_callers_mistake(quote: str) -> None:
    with pytest.raises(ValueError, match="empty"):
        SourceText("text").locate(quote)


def test_a_large_file_on_one_line() -> None:
    filler = "word  other " * 420_000
    source = SourceText(filler + "the needle" + filler)
    assert len(source.text) > 5_000_000
    location = source.locate("the\nneedle")
    assert location == Found(lines=lines(1), start=len(filler), end=len(filler) + 10)
    many = source.locate("o")
    assert isinstance(many, Ambiguous)
    assert len(many.occurrences) == MAX_OCCURRENCES
    assert source.locate("needles", lines(1)) == Missing()


def test_places_and_lines_that_do_not_exist() -> None:
    source = SourceText("one\ntwo")
    for wrong in (lines(3), lines(1, 3), lines(2, 1)):
        with pytest.raises(IndexError):
            source.passage(wrong)
    for number in (0, 3, -1):
        with pytest.raises(IndexError):
            source.line_text(number)
    for offset in (-1, 7):
        with pytest.raises(IndexError):
            source.line_of(offset)
    assert SourceText("").line_count == 0
    assert SourceText("\n").line_count == 1


def test_normalise() -> None:
    assert normalise("\ta \n\x0c b\u2028") == "a b"


# --- decode -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"plain\r\n", "utf-8", "plain\r\n"),
        (b"\xef\xbb\xbfmark", "utf-8", "mark"),
        (b"\xef\xbb\xbfmark", "utf-8-sig", "mark"),
        ("mark".encode("utf-16"), "utf-16", "mark"),
        (b"\xfe\xff\x00m", "UTF-16", "m"),
        (b"\xff\xfem\x00", "utf_16_le", "m"),
        (b"caf\xe9", "latin-1", "café"),
        (b"", "utf-8", ""),
        ("a\ufeffb".encode(), "utf-8", "a\ufeffb"),
    ],
)
def test_decode(data: bytes, encoding: str, text: str) -> None:
    assert decode(data, encoding) == text


@pytest.mark.parametrize(
    ("data", "encoding", "reason", "hint"),
    [
        (b"ab\x00c", "utf-8", "a binary file: a NUL at byte 2", None),
        (b"ab\x00c", "latin-1", "a binary file: a NUL at byte 2", None),
        (b"\xff\xfea\x00", "utf-8", "a byte order mark says that this is UTF-16", '"utf-16"'),
        (b"a\nb\ncaf\xe9 x", "utf-8", "at byte 7, line 3", 'encoding = "latin-1"'),
        (b"a\n\xc3\xa4", "ascii", "at byte 2, line 2", 'encoding = "latin-1"'),
        ("a\nb".encode("utf-16-le") + b"x", "utf-16-le", "at byte 6, line 2", "encoding"),
    ],
)
def test_decode_refuses(data: bytes, encoding: str, reason: str, hint: str | None) -> None:
    with pytest.raises(NotText) as caught:
        decode(data, encoding)
    assert reason in caught.value.reason
    assert str(caught.value) == caught.value.reason
    assert (hint in caught.value.hint) if hint else caught.value.hint == ""


def test_decode_with_an_unknown_encoding() -> None:
    with pytest.raises(LookupError):
        decode(b"", "no-such-encoding")


POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    b"size 12345\n"
)


def test_lfs_pointer() -> None:
    assert is_lfs_pointer(POINTER)
    assert is_lfs_pointer(POINTER.replace(b"oid", b"ext-0-foo sha256:00\noid"))
    assert not is_lfs_pointer(b"An example:\n" + POINTER)
    assert not is_lfs_pointer(POINTER + b"and more\n")
    assert not is_lfs_pointer(b"")


# --- invisible characters -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("char", "name"),
    [
        ("\u202e", "U+202E RIGHT-TO-LEFT OVERRIDE"),
        ("\u2066", "U+2066 LEFT-TO-RIGHT ISOLATE"),
        ("\u200b", "U+200B ZERO WIDTH SPACE"),
        ("\ufeff", "U+FEFF ZERO WIDTH NO-BREAK SPACE"),
        ("\xad", "U+00AD SOFT HYPHEN"),
        ("\U000e0041", "U+E0041 TAG LATIN CAPITAL LETTER A"),
        ("\x1b", "U+001B ESCAPE"),
        ("\x00", "U+0000 NULL"),
        ("\x7f", "U+007F DELETE"),
        ("\x9b", "U+009B CONTROL CHARACTER"),
        ("\u2028", "U+2028 LINE SEPARATOR"),
        ("\u3164", "U+3164 HANGUL FILLER"),
        ("\U000e0100", "U+E0100 VARIATION SELECTOR-17"),
    ],
)
def test_invisible_characters_are_named_and_marked(char: str, name: str) -> None:
    assert invisible_characters(f"a{char}b{char}") == [(1, name), (3, name)]
    assert mark_invisible(f"a{char}b") == f"a⟦{name.split()[0]}⟧b"


def test_visible_text_is_left_alone() -> None:
    text = "tab\t lf\n crlf\r\n ff\x0c nbsp\xa0 שלום نص 语言 é e\u0301 ❤\ufe0f \u0600 → “”"
    assert invisible_characters(text) == []
    assert mark_invisible(text) == text
