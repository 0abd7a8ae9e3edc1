"""Searches for what must be absent: patterns, forms of a file, bounds, what a result means."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sphinx_memreport.core import search
from sphinx_memreport.core.blobs import Absence, Blob, NoBlob, SingleFile
from sphinx_memreport.core.models import LineRange, ReportRules, SearchResult, SourceRules
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.resolve import (
    Answers,
    QuoteRequest,
    Requests,
    missing_requests,
    resolve,
)
from sphinx_memreport.core.search import (
    PlannedSearch,
    Search,
    SearchRequest,
    look_at,
    plan,
    search_findings,
)

GIT = SourceRules(id="SRC-1", kind="git", fingerprint="1")
CAPTURE = SourceRules(id="SRC-2", kind="capture", fingerprint="2")
OTHER = SourceRules(id="SRC-3", kind="git", fingerprint="3")


def searched(
    pattern: str, data: bytes, *, regex: bool = False, encoding: str = "utf-8", path: str = "a.txt"
) -> SearchResult:
    one = Search(SearchRequest(("**",), pattern, regex))
    look_at([one], path, Blob("0", data), encoding)
    return one.result()


def lines(pattern: str, data: bytes, *, encoding: str = "utf-8") -> list[int]:
    """The lines that a regular expression occurs in."""
    found = searched(pattern, data, regex=True, encoding=encoding)
    assert not found.stopped
    return [hit.line for hit in found.hits]


# --- patterns -------------------------------------------------------------------------------


def test_fixed_string_is_no_expression() -> None:
    found = searched(".sort(", b"a.sort(\nasort(\nb.sort(1)\n")
    assert [(hit.path, hit.line, hit.text) for hit in found.hits] == [
        ("a.txt", 1, "a.sort("),
        ("a.txt", 3, "b.sort(1)"),
    ]
    assert (found.files, found.hit_count, found.binary.count) == (1, 2, 0)


EXPRESSIONS = [
    "a|b",
    "a.*b",
    r"\bnote\b",
    "^note",
    "note$",
    "[a-z]ote",
    "no[^x]e",
    "(?i)NOTE",
    "t{1}",
]
TEXTS = ["notes()", "o.e", "note?", "x[0]", "n[ot]te", "$note", "$", "(note", "a||b", "*.note", "|"]


@pytest.mark.parametrize("pattern", EXPRESSIONS)
def test_a_text_that_looks_like_an_expression_is_tried_as_one(pattern: str) -> None:
    found = searched(pattern, b"x\na note b\nnote\n")
    assert found.hit_count == 0
    assert found.as_expression is not None
    assert found.as_expression.line in (2, 3)
    # a text that occurs is a text
    assert searched(pattern, f"note\n{pattern}\n".encode()).as_expression is None
    # nothing is said of one that does not occur either way
    assert searched(pattern, b"zzz\n" if pattern != "a|b" else b"zzz").as_expression is None


@pytest.mark.parametrize("pattern", TEXTS)
def test_other_texts_are_not_tried_as_expressions(pattern: str) -> None:
    assert searched(pattern, b"note\n").as_expression is None


def test_the_trial_never_stops_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "STEPS", 10)
    found = searched("a.*b", b"note\n" * 100)
    assert (found.stopped, found.as_expression, found.files) == (False, None, 1)


def test_blanks_of_a_pattern_count() -> None:
    assert searched(" = ", b"a=b\n").hit_count == 0
    assert searched(" = ", b"a = b\n").hit_count == 1


def test_a_line_counts_once_and_a_match_over_lines_at_its_first() -> None:
    assert lines(r"a+", b"a a a\nb\na\n") == [1, 3]
    assert lines(r"b\s+c", b"a\nb\n\nc\n") == [2]
    assert [hit.line for hit in searched("b\nc", b"a\nb\nc\n").hits] == [2]


@pytest.mark.parametrize(
    ("pattern", "data", "expected"),
    [
        (r"^import", b"x import\nimport\n", [2]),
        (r"end$", b"end\r\nend.\r\nend", [1, 3]),
        (r"^import", b"\xef\xbb\xbfimport\n", [1]),
        (r"caf.$", "café\n".encode(), [1]),
        (r"[éà]", "E\né\n".encode(), [2]),
        (r"(?i)É", "é\n".encode(), [1]),
        (r"\bcron\b", b"acron\ncron\n", [2]),
        (r"\r\n", b"a\nb\r\n", [2]),
        (r'k="[^"]*"', b'\0\nk="caf\xe9"\n', [2]),
        (r"a.c", b"\0a\xffc\n", [1]),
    ],
)
def test_regular_expressions(pattern: str, data: bytes, expected: list[int]) -> None:
    assert lines(pattern, data) == expected


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("latin-1", "x\ncafé\n".encode("latin-1")),
        ("latin-1", "x\ncafé\n".encode()),
        ("utf-16", "x\ncafé\n".encode("utf-16")),
        ("utf-16-le", "x\ncafé\n".encode("utf-16-le")),
        ("utf-8", "x\ncafé\n".encode("utf-16")),
        ("utf-8", "\ufeffx\ncafé\n".encode("utf-32-be")),
        ("utf-16", b"x\ncaf\xc3\xa9 in a file of another encoding\n"),
    ],
)
def test_encodings(encoding: str, data: bytes) -> None:
    assert [hit.line for hit in searched("café", data, encoding=encoding).hits] == [2]
    assert lines("^caf[é]", data, encoding=encoding) == [2]


@given(
    st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), min_size=1),
)
def test_fixed_string_is_found_in_exactly_the_lines_that_hold_it(
    text: list[str], pattern: str
) -> None:
    text = [*text, f"<{pattern}>"]
    data = "\n".join(text).encode()
    form = data.removeprefix(b"\xef\xbb\xbf").decode()
    expected = [n for n, line in enumerate(form.split("\n"), 1) if pattern in line]
    found = searched(pattern, data)
    assert found.hit_count >= len(expected)
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        assert found.hit_count == len(expected)
        assert [hit.line for hit in found.hits] == expected[: search.SHOWN]


# --- bounds ---------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", [r"(a|aa)+$", r"(a+)+\z", r"(x+x+)+y", r"^(([a-z])+.)+[A-Z]"])
def test_no_pattern_is_slow_by_backtracking(pattern: str) -> None:
    found = searched(pattern, b"a" * 5000 + b"!" + b"x" * 5000, regex=True)
    assert (found.hit_count, found.stopped) == (0, False)


def test_a_search_that_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "SECONDS", 0.0)
    request = SearchRequest(("**",), "b", True)
    one = Search(request)
    for path in ("a", "b"):
        look_at([one], path, Blob("0", b"a\n"), "utf-8")
    result = one.result()
    assert (result.files, result.stopped) == (1, True)
    (finding,) = search_findings(PlannedSearch(GIT, request), result)
    assert finding.code is Code.INVALID_VALUE
    assert "takes too long" in finding.message


def test_a_file_too_long_for_its_pattern_is_not_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "STEPS", 100)
    assert searched("[ab]{50}c", b"a" * 1000, regex=True).stopped
    assert not searched("c", b"a" * 1000).stopped


def test_hits_are_counted_all_and_listed_in_part() -> None:
    found = searched("x", b"x\n" * 1000)
    assert (len(found.hits), found.hit_count) == (search.SHOWN, 1000)


def test_long_lines_are_cut_around_the_hit() -> None:
    (hit,) = searched("needle", "é".encode() * 5000 + b"needle" + "é".encode() * 5000).hits
    assert len(hit.text) < 300
    assert hit.text.startswith("… é")
    assert hit.text.endswith("é …")
    assert "needle" in hit.text


def test_what_is_shown_of_a_hit_holds_nothing_invisible() -> None:
    data = "a\u202eb needle ".encode() + b"\0" * 50 + b"\xff\n"
    (hit,) = searched("needle", data, path="caf\udce9.bin").hits
    assert hit.text == r"a⟦U+202E⟧b needle ⟦U+0000⟧…\xff"
    assert hit.path == r"caf\udce9.bin"


# --- what an author wrote -------------------------------------------------------------------


def planned(text: str, *sources: SourceRules, pattern: str = "x", regex: bool = False) -> object:
    rules = ReportRules(slug="jotter", sources=sources)
    found = plan(rules, text, pattern, regex=regex)
    scopes = [(source.id, request.globs) for source, request in found.searches]
    return scopes or [fault.code for fault in found.faults]


@pytest.mark.parametrize(
    ("text", "sources", "expected"),
    [
        ("src/**, docs/*.md", [GIT], [("SRC-1", ("src/**", "docs/*.md"))]),
        ("src/**", [GIT, CAPTURE], [("SRC-1", ("src/**",))]),
        ("src/**, src/**", [GIT], [("SRC-1", ("src/**",))]),
        ("SRC-3:a:b, SRC-1:c", [GIT, OTHER], [("SRC-3", ("a:b",)), ("SRC-1", ("c",))]),
        ("SRC-2", [GIT, CAPTURE], [("SRC-2", ("**",))]),
        ("src/**", [GIT, OTHER], [Code.UNKNOWN_SOURCE]),
        ("src/**", [CAPTURE], [Code.UNKNOWN_SOURCE]),
        ("SRC-9:src/**", [GIT], [Code.UNKNOWN_SOURCE]),
        ("SRC-2:src/**", [CAPTURE], [Code.INVALID_VALUE]),
        ("SRC-1", [GIT], [Code.INVALID_VALUE]),
        ("SRC-1:", [GIT], [Code.INVALID_VALUE]),
    ],
)
def test_searched(text: str, sources: Sequence[SourceRules], expected: object) -> None:
    assert planned(text, *sources) == expected


NO_PATTERNS = (
    ("(", "[", "\\", "a(?=b)", "(?<!a)b", r"(a)\1", "a{1001}", r"\p{Nothing}", "((a{999}){999})"),
    ("", "a*", "^", "(|a)"),
)


@pytest.mark.parametrize("pattern", [each for patterns in NO_PATTERNS for each in patterns])
def test_patterns_that_cannot_be_searched_for(pattern: str) -> None:
    assert planned("src/**", GIT, pattern=pattern, regex=True) == [Code.INVALID_VALUE]


def test_the_fault_of_a_pattern_names_it_without_what_we_add() -> None:
    (fault,) = plan(ReportRules(slug="j", sources=(GIT,)), "**", "(a", regex=True).faults
    assert fault.message == (
        "option 'pattern': '(a' is no regular expression of RE2: missing ): (a"
    )


# --- what a result means --------------------------------------------------------------------


def codes(result: SearchResult) -> list[Code]:
    request = SearchRequest(("**",), "x", False)
    return [each.code for each in search_findings(PlannedSearch(GIT, request), result)]


def test_findings() -> None:
    one = Search(SearchRequest(("a",), "x", False), empty_globs=["b/**"])
    assert codes(one.result()) == [Code.EMPTY_SEARCH]
    look_at([one], "a", Blob("0", b"y"), "utf-8")
    assert codes(one.result()) == [Code.EMPTY_SEARCH]
    look_at([one], "c", NoBlob(Absence.LOST, "object 1 is absent"), "utf-8")
    look_at([one], "d", Blob("0", b"x"), "utf-8")
    assert codes(one.result()) == [Code.REFUTED_ABSENCE, Code.EMPTY_SEARCH, Code.BLOB_MISSING]


def test_only_files_without_content_prove_nothing() -> None:
    one = Search(SearchRequest(("**",), "x", False))
    for reason in (Absence.SYMLINK, Absence.SUBMODULE):
        look_at([one], reason, NoBlob(reason, "elsewhere"), "utf-8")
    result = one.result()
    assert result.skipped.shown == ("symlink: a symbolic link", "submodule: a submodule")
    assert codes(result) == [Code.EMPTY_SEARCH]


def test_found_nothing_is_no_finding() -> None:
    assert codes(searched("x", b"y\n")) == []
    assert codes(searched("x", b"")) == []


# --- in one pass with quotes ----------------------------------------------------------------


class Data(bytes):
    """Content that counts how many of its kind are alive."""

    alive = 0
    most = 0

    def __init__(self, _data: bytes) -> None:
        Data.alive += 1
        Data.most = max(Data.most, Data.alive)

    def __del__(self) -> None:
        Data.alive -= 1


class Reader:
    """A source of many files that notes what is read of it."""

    def __init__(self, files: dict[str, bytes]) -> None:
        self.files = files
        self.read: list[str] = []

    def blobs(self, paths: Sequence[str]) -> Iterator[tuple[str, Blob | NoBlob]]:
        for path in paths:
            self.read.append(path)
            yield path, Blob(path, Data(self.files[path]))

    def paths(self) -> Sequence[str]:
        return sorted(self.files)

    def directory_exists(self, path: str) -> bool:
        return any(name.startswith(f"{path}/") for name in self.files)

    def glob(self, patterns: Iterable[str]) -> Sequence[str]:
        starts = tuple(pattern.rstrip("*") for pattern in patterns)
        return [path for path in self.paths() if path.startswith(starts)]


def test_one_pass_reads_each_file_once_and_lets_go_of_it() -> None:
    reader = Reader({f"src/{n:02}.py": b"pass\n" * 10 for n in range(50)} | {"a.md": b"quoted\n"})
    searches = {
        SearchRequest(("src/**",), "cron", False),
        SearchRequest(("src/**", "a.md", "docs/**"), "quot", True),
    }
    quote = QuoteRequest("a.md", "quoted", None)
    Data.most = 0
    answers = resolve(Requests({quote}, set(), set(), searches), reader, "utf-8")
    assert reader.read == sorted(reader.files)
    assert Data.most <= 2
    assert answers.quotes[quote].lines == LineRange(start=1, end=1)
    found = {request.pattern: result for request, result in answers.searches.items()}
    assert (found["cron"].files, found["cron"].hit_count) == (50, 0)
    assert (found["quot"].files, found["quot"].hit_count) == (51, 1)
    assert found["quot"].empty_globs == ("docs/**",)


def test_a_capture_is_searched_as_a_whole() -> None:
    request = SearchRequest(("**",), "b", False)
    reader = SingleFile(Blob("0", b"a\nb\n"))
    result = resolve(Requests(searches={request}), reader, "utf-8").searches[request]
    assert [(hit.path, hit.line) for hit in result.hits] == [("", 2)]


def test_known_answers_are_not_asked_for_again() -> None:
    one, two = (SearchRequest(("**",), pattern, False) for pattern in "ab")
    known = Answers(searches={one: SearchResult(), two: SearchResult(files=2)})
    assert missing_requests(Requests(searches={one, two}), Answers()).searches == {one, two}
    assert not missing_requests(Requests(searches={one}), known)
    assert known.to(Requests(searches={two})).searches == {two: SearchResult(files=2)}
