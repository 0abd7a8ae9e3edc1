"""``memreport.lock``: its bytes, what is refused, and what it vouches for."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sphinx_memreport.config import InvalidConfig
from sphinx_memreport.core import lock as lock_module
from sphinx_memreport.core.lock import (
    InvalidLock,
    Lock,
    LockedPath,
    LockedQuote,
    LockedSearch,
    LockedSource,
    StandIn,
    quote_hash,
    read_lock,
)
from sphinx_memreport.core.lock_record import differences
from sphinx_memreport.core.models import Finding, LineRange, Names, SourceRules, Status
from sphinx_memreport.core.output import json_bytes
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.resolve import PathRequest, QuoteRequest
from sphinx_memreport.core.search import SearchRequest
from sphinx_memreport.lockfile import load_lock

DATE = datetime.date(2026, 11, 30)
PIN, FINGERPRINT, BLOB = "a" * 40, "b" * 64, "c" * 40
TWO = LineRange(start=1, end=2)
RULES = SourceRules(id="SRC-1", kind="git", fingerprint=FINGERPRINT, commit=PIN)


def source(report: str = "jotter", id: str = "SRC-1") -> LockedSource:
    return LockedSource(report=report, source=id, pin=PIN, fingerprint=FINGERPRINT)


def quote(
    text: str = "a b", path: str = "x.py", within: LineRange | None = None, report: str = "jotter"
) -> LockedQuote:
    return LockedQuote(
        report=report,
        source="SRC-1",
        path=path,
        within=within,
        quote=quote_hash(text),
        blob=BLOB,
        lines=LineRange(start=2, end=2),
    )


def path(name: str, lines: LineRange | None = None, *, directory: bool = False) -> LockedPath:
    return LockedPath(report="jotter", source="SRC-1", path=name, lines=lines, directory=directory)


SEARCH = LockedSearch(
    report="jotter",
    source="SRC-1",
    globs=("src/**",),
    pattern="cron",
    regex=False,
    files=3,
    binary=Names(),
    skipped=Names(shown=("link: a symbolic link",), count=1),
)
LOCK = Lock(
    date=DATE,
    sources=(source(),),
    quotes=(quote(within=TWO), quote("é “q”"), quote("z", "a.py")),
    paths=(path("src", directory=True), path("x.py", TWO)),
    searches=(SEARCH,),
)


def signed(content: dict[str, object]) -> bytes:
    """A lock whose checksum agrees with what is in it, as somebody hostile would make it."""
    content = {name: value for name, value in content.items() if name != "checksum"}
    return json_bytes(content | {"checksum": hashlib.sha256(json_bytes(content)).hexdigest()})


def refused(data: bytes) -> InvalidLock:
    with pytest.raises(InvalidLock) as caught:
        read_lock(data)
    assert "memreport lock" in caught.value.fix
    return caught.value


# --- bytes --------------------------------------------------------------------------------


def test_bytes_depend_on_the_entries_alone_and_read_back() -> None:
    data = LOCK.to_bytes()
    shuffled = LOCK.model_copy(
        update={"quotes": LOCK.quotes[::-1] + LOCK.quotes, "paths": LOCK.paths[::-1]}
    )
    assert shuffled.to_bytes() == data
    assert set(read_lock(data).entries) == set(LOCK.entries)
    assert read_lock(data).to_bytes() == data
    assert read_lock(data.replace(b"\n", b"\r\n")) == read_lock(data)


def test_an_entry_a_line() -> None:
    before = LOCK.to_bytes().decode().splitlines()
    more = LOCK.model_copy(update={"quotes": (*LOCK.quotes, quote("more"))})
    after = more.to_bytes().decode().splitlines()
    new = [line for line in after if line not in before]
    assert [line[:10] for line in new] == ['"checksum"', '{"blob": "']
    assert len(after) == len(before) + 1


def test_entries_of_sources_that_are_not_listed_are_not_written() -> None:
    foreign = LOCK.model_copy(update={"quotes": (*LOCK.quotes, quote(report="other"))})
    assert foreign.to_bytes() == LOCK.to_bytes()


_NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)
_LINES = st.builds(
    lambda start, more: LineRange(start=start, end=start + more),
    st.integers(1, 10**6),
    st.integers(0, 99),
)
_QUOTES = st.builds(quote, _NAMES.filter(str.split), _NAMES, st.none() | _LINES)
_PATHS = st.builds(path, _NAMES, st.none() | _LINES, directory=st.booleans())


@settings(deadline=None)
@given(st.lists(_QUOTES), st.lists(_PATHS), st.dates())
def test_every_lock_reads_back(
    quotes: list[LockedQuote], paths: list[LockedPath], date: datetime.date
) -> None:
    made = Lock(date=date, sources=(source(),), quotes=tuple(quotes), paths=tuple(paths))
    found = read_lock(made.to_bytes())
    assert found.to_bytes() == made.to_bytes()
    assert {each.key for each in found.entries} == {each.key for each in made.entries}


# --- what is refused ----------------------------------------------------------------------


@settings(deadline=None)
@given(st.data())
def test_no_other_bytes_are_a_lock(data: st.DataObject) -> None:
    """Whatever is changed, cut, put in or doubled, the lock is refused, in a few words."""
    whole = LOCK.to_bytes()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 80)))
    new = data.draw(st.binary(max_size=8) | st.just(whole[start:end] * 2))
    changed = whole[:start] + new + whole[end:]
    if changed.replace(b"\r\n", b"\n") == whole:
        return
    error = refused(changed)
    assert "\n" not in error.message
    assert len(error.message) < 300


@settings(deadline=None)
@given(
    st.binary(max_size=200)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_any_bytes_are_refused_without_a_traceback(data: bytes) -> None:
    refused(data)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.data())
def test_values_of_other_types_are_refused_whatever_the_checksum_says(data: st.DataObject) -> None:
    content = json.loads(LOCK.to_bytes())
    name = data.draw(st.sampled_from(["version", "date", "sources", "quotes", "paths", "searches"]))
    if isinstance(content[name], list) and data.draw(st.booleans()):
        entry = data.draw(st.sampled_from(content[name]))
        key = data.draw(st.sampled_from(sorted(entry)))
        old, entry[key] = entry[key], data.draw(_JSON)
        is_other = type(entry[key]) is not type(old) and entry[key] is not None
    else:
        content[name] = data.draw(_JSON.filter(lambda value: not isinstance(value, list | str)))
        is_other = content[name] != 1
    if is_other:
        refused(signed(content))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: text.replace("2026-11-30", "2026-12-01"), 2),
        (lambda text: text.replace('"end": 2, "start": 2', '"end": 9, "start": 9', 1), 2),
        (lambda text: text.replace(PIN, "d" * 40), 2),
        (lambda text: text.replace('"end": 2', '"end":  2', 1), 6),
        (lambda text: text.replace('"version": 1', '"version": 1, "version": 1'), None),
        (lambda text: text.replace('"report"', '"rport"', 1), 5),
        (lambda text: text.replace(BLOB, "c" * 39 + "\\n", 1), 9),
        (lambda text: text.replace("jotter", "<<<<<<< ours\njotter", 1), 5),
        (lambda text: text[:-2], None),
        (lambda text: text[:-1], None),
        (lambda text: text + "\n", None),
        (lambda text: f"\ufeff{text}", 1),
        (lambda text: re.sub(r'"checksum": .*\n', "", text), None),
        (lambda text: re.sub(r'("checksum": ").', r"\1x", text), 2),
        (lambda text: text.replace('"version": 1', '"version": 2'), None),
        (lambda text: text.replace('"version": 1', '"version": true'), None),
        (lambda text: text.replace('"version": 1', '"version": ' + "9" * 5000), None),
        (lambda text: text.replace('"version": 1', '"version": NaN'), None),
        (lambda _: "[" * 100_000, None),
        (lambda _: '{"version": 1, "quotes": ' + "[" * 900 + "]" * 900 + "}", None),
        (lambda _: "[]", 1),
        (lambda _: "", 1),
        (lambda _: "version = 1\n", 1),
    ],
)
def test_a_lock_that_was_changed(change: Callable[[str], str], line: int | None) -> None:
    error = refused(change(LOCK.to_bytes().decode()).encode())
    if line is not None:
        assert error.line == line


def test_a_doubled_entry_is_refused_even_with_a_checksum_that_agrees() -> None:
    content = json.loads(LOCK.to_bytes())
    lines = LOCK.to_bytes().decode().split("\n")
    first = lines.index('"quotes": [') + 2
    twice = "\n".join([*lines[:first], lines[first - 1], *lines[first:]])
    assert refused(twice.encode()).line == first + 1
    other = {**content["quotes"][0], "lines": {"start": 7, "end": 7}}
    first_, *rest = content["quotes"]
    for quotes in ([first_, other, *rest], [other, first_, *rest]):
        refused(signed({**content, "quotes": quotes}))
    refused(signed({**content, "quotes": [*content["quotes"], content["quotes"][0]]}))
    refused(signed({**content, "sources": content["sources"] * 2}))
    refused(signed({**content, "sources": []}))


def test_a_huge_lock_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = LOCK.to_bytes()
    monkeypatch.setattr(lock_module, "MAX_BYTES", len(data))
    read_lock(data)
    monkeypatch.setattr(lock_module, "MAX_BYTES", len(data) - 1)
    assert refused(data).message.startswith("it is larger than")
    huge = tmp_path / "memreport.lock"
    with huge.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InvalidConfig, match="larger than 67108864 bytes"):
        load_lock(huge)


def test_what_is_no_file_is_refused_and_what_is_not_there_is_none(tmp_path: Path) -> None:
    assert load_lock(tmp_path / "memreport.lock") is None
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name in ("folder", "link"):
        with pytest.raises(InvalidConfig) as caught:
            load_lock(tmp_path / name)
        (problem,) = caught.value.problems
        assert (problem.code, problem.path) == (Code.INVALID_CONFIG, str(tmp_path / name))


# --- what it vouches for ------------------------------------------------------------------


def stand_in(lock: Lock = LOCK, report: str = "jotter", rules: SourceRules = RULES) -> StandIn:
    found = lock.stand_in(report, rules)
    assert isinstance(found, StandIn), found
    return found


def test_a_recorded_quote_is_verified_with_its_lines_and_the_date() -> None:
    found = stand_in().quote(QuoteRequest("x.py", " a\n\tb ", TWO))  # white space does not count
    assert (found.status, found.blob, found.locked) == (Status.VERIFIED, BLOB, DATE)
    assert found.lines == LineRange(start=2, end=2)
    assert (found.finding, found.passage, found.excerpt) == (None, None, None)


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (QuoteRequest("x.py", "a B", TWO), "does not record this quote from x.py"),
        (QuoteRequest("x.py", "ab", TWO), "does not record this quote from x.py"),
        (QuoteRequest("x.py", "a b", None), "records the quote from x.py with ':lines: 1-2', not"),
        (QuoteRequest("a.py", "z", TWO), "records the quote from a.py without ':lines:', not"),
        (
            QuoteRequest("x.py", "a b", LineRange(start=1, end=3)),
            "records the quote from x.py with ':lines: 1-2', not",
        ),
        (QuoteRequest("X.py", "a b", TWO), "records the quote from x.py, not from X.py"),
        (QuoteRequest("", "a b", TWO), "records the quote from x.py, not from SRC-1"),
    ],
)
def test_another_quote_path_or_range_is_unverified(request_: QuoteRequest, said: str) -> None:
    found = stand_in().quote(request_)
    assert (found.status, found.lines, found.locked) == (Status.UNVERIFIED, None, None)
    assert found.finding is not None
    assert found.finding.code is Code.UNVERIFIED_QUOTE
    assert said in found.finding.message


def test_paths() -> None:
    known = stand_in()
    directory = known.path(PathRequest("src", None))
    assert (directory.directory, directory.finding, directory.locked) == (True, None, DATE)
    assert known.path(PathRequest("x.py", TWO)).finding is None
    # a file with these lines exists, but that was not asked
    for other in (PathRequest("x.py", None), PathRequest("src", TWO), PathRequest("src/", None)):
        verdict = known.path(other)
        assert verdict.finding is not None
        assert (verdict.finding.code, verdict.locked) == (Code.UNVERIFIED_QUOTE, None)


def test_searches() -> None:
    known = stand_in()
    found = known.search(SearchRequest(("src/**",), "cron", False))
    assert not isinstance(found, Finding)
    assert (found.files, found.skipped.count, found.hit_count, found.locked) == (3, 1, 0, DATE)
    for other in (
        SearchRequest(("src/**",), "cron", True),
        SearchRequest(("src/**",), "Cron", False),
        SearchRequest(("src/*",), "cron", False),
        SearchRequest(("src/**", "docs/**"), "cron", False),
    ):
        missing = known.search(other)
        assert isinstance(missing, Finding)
        assert missing.code is Code.UNVERIFIED_QUOTE


@pytest.mark.parametrize(
    ("report", "rules", "said"),
    [
        ("other", RULES, "does not record it"),
        ("jotter", RULES.model_copy(update={"id": "SRC-2"}), "does not record it"),
        (
            "jotter",
            RULES.model_copy(update={"fingerprint": "d" * 64, "commit": "e" * 40}),
            f"records it at {PIN}, pinned is {'e' * 40}",
        ),
        (
            "jotter",
            RULES.model_copy(update={"fingerprint": "d" * 64}),
            "records it with another encoding",
        ),
        (
            "jotter",
            SourceRules(id="SRC-1", kind="capture", fingerprint="d" * 64, sha256="e" * 64),
            f"records it at {PIN}, pinned is {'e' * 64}",
        ),
    ],
)
def test_another_report_source_or_pin_has_no_stand_in(
    report: str, rules: SourceRules, said: str
) -> None:
    found = LOCK.stand_in(report, rules)
    assert isinstance(found, Finding)
    assert found.code is Code.UNVERIFIED_QUOTE
    assert found.message == f"memreport.lock {said}"


@settings(deadline=None)
@given(_QUOTES, _QUOTES)
def test_a_lock_vouches_for_what_it_recorded_and_nothing_else(
    recorded: LockedQuote, asked: LockedQuote
) -> None:
    lock = Lock(date=DATE, sources=(source(),), quotes=(recorded,))
    known = stand_in(read_lock(lock.to_bytes()))._quotes
    request = QuoteRequest(asked.path, asked.quote, asked.within)
    assert (request in known) == (recorded.key == asked.key)


# --- differences --------------------------------------------------------------------------


def test_differences_name_what_only_one_of_two_locks_has() -> None:
    new = LOCK.model_copy(update={"quotes": (*LOCK.quotes[1:], quote("new")), "date": DATE.min})
    assert differences(LOCK, LOCK.model_copy(update={"date": DATE.min})) == []
    assert differences(LOCK, new) == [LOCK.quotes[0], quote("new")]
    assert differences(LOCK, new, {("jotter", "SRC-1")}) == []
    assert len(differences(None, LOCK)) == 7
