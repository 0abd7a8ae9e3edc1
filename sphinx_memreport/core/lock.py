"""``memreport.lock``: verdicts that stand in for a source where its checkout is not there.

The lock holds what a build found out about each source at its pin: the quotes that are verified,
the paths that exist, the searches that held. It vouches for exactly that. A quote is known by
the hash of its normalised text, its path and its ``lines``; when one of them is another, or the
pin is, the lock says nothing.

The file is JSON, sorted, an entry on a line of its own; the same verdicts give the same bytes.
:func:`read_lock` takes these bytes and no others, so a lock that was edited, merged or cut is
refused. Its checksum is against accidents: who can write the lock can write the report.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import zip_longest
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, Field, ValidationError

from sphinx_memreport.core.models import (
    Finding,
    LineRange,
    Model,
    Names,
    PathVerdict,
    Resolution,
    SearchResult,
    SourceRules,
    Status,
)
from sphinx_memreport.core.output import json_bytes
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.quotes import normalise
from sphinx_memreport.core.resolve import PathRequest, QuoteRequest
from sphinx_memreport.core.search import SearchRequest, visible

#: The file, beside ``memreport.toml``.
LOCK_NAME = "memreport.lock"
#: Version of its form; a lock of another version is refused.
LOCK_VERSION: Literal[1] = 1
#: The largest lock that is read, in bytes: some 200,000 quotes.
MAX_BYTES = 64 * 1024 * 1024
_WRITE_ANEW = "where the checkouts are, run 'memreport lock', and commit the file"

#: Report and ID of a source.
SourceKey = tuple[str, str]


class InvalidLock(Exception):
    """A lock that cannot be used.

    :param line: where in the file, counted from 1, if that can be said.
    """

    def __init__(self, message: str, line: int | None = None, fix: str = _WRITE_ANEW) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.fix = fix


def quote_hash(quote: str) -> str:
    """What a lock knows a quote by: the SHA-256 of its normalised text, in hexadecimal."""
    return hashlib.sha256(normalise(quote).encode("utf-8", "surrogatepass")).hexdigest()


# --- entries ------------------------------------------------------------------------------


def _in_order(lines: LineRange) -> LineRange:
    if lines.start > lines.end:
        raise ValueError("the lines end before they start")
    return lines


_Lines = Annotated[LineRange, AfterValidator(_in_order)]
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
_ObjectId = Annotated[str, Field(pattern="^([0-9a-f]{40}|[0-9a-f]{64})$")]


class LockedSource(Model):
    """A source and its pin: the commit, or the SHA-256 of a capture."""

    report: str
    source: str
    pin: _ObjectId
    fingerprint: _Sha256

    @property
    def key(self) -> tuple[Any, ...]:
        """What may stand in a lock only once; the order of entries."""
        return (self.report, self.source)


class LockedQuote(Model):
    """A verified quote. ``path`` is empty for a capture, ``within`` is its option ``lines``."""

    report: str
    source: str
    path: str
    within: _Lines | None
    quote: _Sha256
    blob: _ObjectId
    lines: _Lines

    @property
    def key(self) -> tuple[Any, ...]:
        """What may stand in a lock only once; the order of entries."""
        return (self.report, self.source, self.path, _order(self.within), self.quote)


class LockedPath(Model):
    """A file or directory that exists, or lines that lie inside of a file."""

    report: str
    source: str
    path: str
    lines: _Lines | None
    directory: bool

    @property
    def key(self) -> tuple[Any, ...]:
        """What may stand in a lock only once; the order of entries."""
        return (self.report, self.source, self.path, _order(self.lines))


class LockedSearch(Model):
    """A search that found nothing, and what was searched; see :class:`SearchResult`."""

    report: str
    source: str
    globs: tuple[str, ...]
    pattern: str
    regex: bool
    files: int = Field(ge=1)
    binary: Names
    skipped: Names

    @property
    def key(self) -> tuple[Any, ...]:
        """What may stand in a lock only once; the order of entries."""
        return (self.report, self.source, self.globs, self.pattern, self.regex)


Entry = LockedSource | LockedQuote | LockedPath | LockedSearch


def _order(lines: LineRange | None) -> tuple[int, int]:
    return (lines.start, lines.end) if lines else (0, 0)


def describe(entry: Entry) -> str:
    """An entry in a line, for people."""
    match entry:
        case LockedSource():
            said = f"at {entry.pin}"
        case LockedQuote():
            said = f"{entry.path or 'the capture'}:{entry.lines} (quote)"
        case LockedPath():
            said = f"{entry.path}{f':{entry.lines}' if entry.lines else ''} (path)"
        case LockedSearch():
            said = f"{', '.join(entry.globs)} (search for {entry.pattern})"
    return visible(f"{entry.report} {entry.source} {said}")


class Lock(Model):
    """All that a lock says."""

    version: Literal[1] = LOCK_VERSION
    date: datetime.date
    sources: tuple[LockedSource, ...] = ()
    quotes: tuple[LockedQuote, ...] = ()
    paths: tuple[LockedPath, ...] = ()
    searches: tuple[LockedSearch, ...] = ()

    @property
    def entries(self) -> Iterator[Entry]:
        """Every entry."""
        yield from self.sources
        yield from self.quotes
        yield from self.paths
        yield from self.searches

    def to_bytes(self) -> bytes:
        """The content of the file: each entry once, sorted, and only those of its sources."""
        known = {(source.report, source.source) for source in self.sources}
        body: dict[str, object] = {"version": self.version, "date": self.date.isoformat()}
        lists: dict[str, tuple[Entry, ...]] = {
            "sources": self.sources,
            "quotes": self.quotes,
            "paths": self.paths,
            "searches": self.searches,
        }
        for name, entries in lists.items():
            distinct = {each.key: each for each in entries if (each.report, each.source) in known}
            body[name] = [distinct[key].model_dump(mode="json") for key in sorted(distinct)]
        checksum = hashlib.sha256(json_bytes(body)).hexdigest()
        return json_bytes(body | {"checksum": checksum})

    @cached_property
    def _by_source(self) -> dict[SourceKey, list[Entry]]:
        found: dict[SourceKey, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            found[entry.report, entry.source].append(entry)
        return found

    def stand_in(self, report: str, source: SourceRules) -> StandIn | Finding:
        """What is recorded of a source at its pin, or why nothing is that would hold for it."""
        entries = self._by_source.get((report, source.id), [])
        recorded = next((each for each in entries if isinstance(each, LockedSource)), None)
        if recorded is not None and recorded.fingerprint == source.fingerprint:
            return StandIn(self.date, source.id, entries)
        if recorded is None:
            said = f"{LOCK_NAME} does not record it"
        elif recorded.pin == source.pin:
            said = f"{LOCK_NAME} records it with another encoding"
        else:
            said = f"{LOCK_NAME} records it at {recorded.pin}, pinned is {source.pin}"
        return Finding(code=Code.UNVERIFIED_QUOTE, message=said, fix=_WRITE_ANEW)


# --- in place of a source -----------------------------------------------------------------


class StandIn:
    """Answers requests about one source, as :func:`resolve` does, from what a lock recorded.

    What it does not know is unverified, and that is never a pass.
    """

    def __init__(self, date: datetime.date, source: str, entries: Iterable[Entry]) -> None:
        self.date = date
        self._source = source
        self._quotes: dict[QuoteRequest, LockedQuote] = {}  # by hash in place of the quote
        self._paths: dict[PathRequest, LockedPath] = {}
        self._searches: dict[SearchRequest, LockedSearch] = {}
        for entry in entries:
            match entry:
                case LockedQuote():
                    request = QuoteRequest(entry.path, entry.quote, entry.within)
                    self._quotes[request] = entry
                case LockedPath():
                    self._paths[PathRequest(entry.path, entry.lines)] = entry
                case LockedSearch():
                    search = SearchRequest(entry.globs, entry.pattern, entry.regex)
                    self._searches[search] = entry

    def quote(self, request: QuoteRequest) -> Resolution:
        """The verdict on a quote."""
        hashed = request._replace(quote=quote_hash(request.quote))
        found = self._quotes.get(hashed)
        if found is None:
            finding = self._unverified(self._changed(hashed))
            return Resolution(status=Status.UNVERIFIED, finding=finding)
        return Resolution(
            status=Status.VERIFIED, blob=found.blob, lines=found.lines, locked=self.date
        )

    def path(self, request: PathRequest) -> PathVerdict:
        """The verdict on a path."""
        found = self._paths.get(request)
        if found is None:
            lines = f", {request.lines.words}," if request.lines else ""
            said = f"does not record the path {request.path}{lines} of {self._source}"
            return PathVerdict(finding=self._unverified(said))
        return PathVerdict(directory=found.directory, locked=self.date)

    def search(self, request: SearchRequest) -> SearchResult | Finding:
        """What a search came to."""
        found = self._searches.get(request)
        if found is None:
            return self._unverified(f"does not record this search of {self._source}")
        return SearchResult(
            files=found.files, binary=found.binary, skipped=found.skipped, locked=self.date
        )

    def _changed(self, request: QuoteRequest) -> str:
        """What of a quote is not as it was recorded; its hash is known, or it is not."""
        name = request.path or self._source
        same = [known for known in self._quotes if known.quote == request.quote]
        here = next((known for known in same if known.path == request.path), None)
        if here is not None:
            recorded = f"with ':lines: {here.lines}'" if here.lines else "without ':lines:'"
            return f"records the quote from {name} {recorded}, not as it stands here"
        if same:
            other = visible(same[0].path)
            return f"records the quote from {other}, not from {name}"
        return f"does not record this quote from {name}"

    def _unverified(self, said: str) -> Finding:
        return Finding(
            code=Code.UNVERIFIED_QUOTE,
            message=f"{self._source} is not here, and {LOCK_NAME} {said}",
            fix=_WRITE_ANEW,
        )


# --- reading ------------------------------------------------------------------------------


class _Difference(NamedTuple):
    """A line that is not as it would be written."""

    number: int
    found: str | None


def read_lock(data: bytes) -> Lock:
    """Read the content of a lock.

    :raises InvalidLock: when it is not, byte by byte, what :meth:`Lock.to_bytes` gives for the
        entries in it. Line ends may be CRLF, as git makes them on some machines.
    """
    text = _text(data)
    content = _parsed(text)
    version = content.get("version")
    if version != LOCK_VERSION:
        raise InvalidLock(f"its version is {_short(version)}, expected {LOCK_VERSION}")
    checksum = content.pop("checksum", None)
    try:
        lock = Lock.model_validate(content)
    except ValidationError as error:
        raise _explained(error, text) from None
    except RecursionError:
        raise InvalidLock("lists or objects in it are nested too deeply") from None
    if not isinstance(checksum, str):
        raise InvalidLock("its checksum is missing")
    written = lock.to_bytes().decode("utf-8")
    if written != text:
        raise _edited(text, written)
    return lock


def _text(data: bytes) -> str:
    if len(data) > MAX_BYTES:
        raise InvalidLock(f"it is larger than {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidLock("it is not UTF-8", line) from None


def _parsed(text: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidLock(f"it is not JSON: {error.msg}", error.lineno) from None
    except RecursionError:
        raise InvalidLock("lists or objects in it are nested too deeply") from None
    except ValueError:  # a number of too many digits
        raise InvalidLock("a number in it has too many digits") from None
    if not isinstance(content, dict):
        raise InvalidLock("it is not a JSON object", 1)
    return content


def _explained(error: ValidationError, text: str) -> InvalidLock:
    """The first thing that is wrong with the entries."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = first["loc"]
    name = ".".join(_short(part) for part in place)
    line = None
    if len(place) > 1 and isinstance(place[1], int):
        lines = text.split("\n")
        head = f'"{place[0]}": ['
        if head in lines:  # entries stand on lines of their own below it
            line = lines.index(head) + 2 + place[1]
    return InvalidLock(f"{name}: {first['msg']}", line)


def _edited(text: str, written: str) -> InvalidLock:
    """Where a lock is not as it was written."""
    lines = zip_longest(text.split("\n"), written.split("\n"))
    different = [
        _Difference(number, found)
        for number, (found, expected) in enumerate(lines, 1)
        if found != expected
    ]
    for number, found in different:
        if found is None or not found.startswith('"checksum": '):
            return InvalidLock(
                "the line is not as 'memreport lock' writes it: the file was edited, merged or cut",
                number,
            )
    return InvalidLock(
        "its checksum does not agree with its entries: the file was edited or merged",
        different[0].number,
    )


def _short(value: object) -> str:
    """A value of the file, on one line."""
    text = visible(str(value)) if isinstance(value, str | int) else type(value).__name__
    text = " ".join(text.split())
    return text if len(text) <= 40 else f"{text[:40]}…"
