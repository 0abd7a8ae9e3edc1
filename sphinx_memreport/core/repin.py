"""What moving a pin does to the quotes, paths and searches of a report.

Everything is asked of the resolver that builds use (:func:`~.resolve.resolve`), once at each
commit, so that what is said here is what a check will say after the pin was moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice

from rapidfuzz.distance import Indel

from sphinx_memreport.core.blobs import SourceReader
from sphinx_memreport.core.models import Finding, Found, LineRange, Model, Status
from sphinx_memreport.core.nearest import nearest_passage
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.quotes import SourceText
from sphinx_memreport.core.resolve import (
    Answers,
    PathRequest,
    QuoteRequest,
    Requests,
    resolve,
)
from sphinx_memreport.core.search import PlannedSearch, search_findings

# Lines of two versions are compared when a table of so many pairs of them would do.
_MAX_PAIRS = 400_000_000


class Change(StrEnum):
    """What becomes of a quote, path or search, the best first."""

    UNCHANGED = "unchanged"
    MOVED = "moved"  # to other lines of the same file
    RENAMED = "renamed"  # the file was; what is quoted stands in it, wherever
    EDITED = "edited"
    GONE = "gone"


#: Those that somebody must look at.
LOST = (Change.EDITED, Change.GONE)


class Fate(Model):
    """What becomes of one request.

    ``path`` is the path to write, ``within`` the range to write with it (None: leave both the
    range and its absence as they are). ``before`` and ``lines`` are where it stood and stands.
    ``finding`` is what a check will say; None when it will say nothing. ``note`` is for the
    author, where a check has nothing to say. ``passage`` is what stood at the old commit.
    """

    change: Change
    path: str
    before: LineRange | None = None
    lines: LineRange | None = None
    within: LineRange | None = None
    finding: Finding | None = None
    note: str = ""
    passage: str | None = None


@dataclass
class Fates:
    """The fates of everything that was asked for."""

    quotes: dict[QuoteRequest, Fate] = field(default_factory=dict)
    paths: dict[PathRequest, Fate] = field(default_factory=dict)
    searches: dict[PlannedSearch, Fate] = field(default_factory=dict)


def compare(
    quotes: Iterable[QuoteRequest],
    paths: Iterable[PathRequest],
    searches: Iterable[PlannedSearch],
    old: SourceReader,
    new: SourceReader,
    renames: Mapping[str, str],
    encoding: str,
) -> Fates:
    """Say what becomes of quotes, paths and searches when a pin moves.

    :param old: the source at the pin as it is.
    :param new: the source at the commit that it is to be moved to.
    :param renames: new paths of renamed files by their old ones.
    :raises SourceUnavailable: as the readers.
    """
    comparison = _Comparison(old, new, renames, encoding)
    return comparison.run(set(quotes), set(paths), set(searches))


class _Comparison:
    def __init__(
        self, old: SourceReader, new: SourceReader, renames: Mapping[str, str], encoding: str
    ) -> None:
        self._old = old
        self._new = new
        self._renames = renames
        self._encoding = encoding
        self._new_names = frozenset(new.paths())
        self._before = Answers()
        self._after = Answers()
        self._maps: dict[tuple[str, str], LineMap] = {}
        self._sources: dict[str, SourceText] = {}

    def run(
        self, quotes: set[QuoteRequest], paths: set[PathRequest], searches: set[PlannedSearch]
    ) -> Fates:
        files = {each.path for each in quotes} | {each.path for each in paths if each.lines}
        asked = Requests(quotes, paths, files)
        self._before = resolve(asked, self._old, self._encoding)
        self._after = resolve(self._at_new(asked, searches), self._new, self._encoding)
        return Fates(
            {request: self._quote(request) for request in quotes},
            {request: self._path(request) for request in paths},
            {
                search: _search_fate(search, list(self._findings(search)))
                for search in sorted(searches, key=lambda each: each.request)
            },
        )

    def _at_new(self, asked: Requests, searches: set[PlannedSearch]) -> Requests:
        """What is to be known at the new commit: everything, also where it would be safe."""
        found = Requests(searches={search.request for search in searches})
        for path, quote, within in asked.quotes:
            for place in {path, self.new_path(path)}:
                found.texts.add(place)
                for lines in (None, within):
                    found.quotes.add(QuoteRequest(place, quote, lines))
        for path, lines in asked.paths:
            place = self.new_path(path)
            found.paths |= {PathRequest(place, None), PathRequest(place, lines)}
            if lines:
                found.texts.add(place)
        return found

    # --- quotes ---------------------------------------------------------------------------

    def _quote(self, request: QuoteRequest) -> Fate:
        path = self.new_path(request.path)
        was = self._before.quotes[request]
        anywhere = self._after.quotes[QuoteRequest(path, request.quote, None)]
        inside = self._after.quotes[QuoteRequest(path, request.quote, request.lines)]
        fate = Fate(change=Change.GONE, path=path, before=was.lines, passage=was.passage)
        if anywhere.status is Status.VERIFIED and anywhere.lines:
            stays = request.lines is None or inside.status is Status.VERIFIED
            return self._found(fate, request, anywhere.lines, write=not stays)
        if anywhere.status is Status.AMBIGUOUS:
            return self._one_of_several(fate, request)
        if self._after.texts.get(path) and nearest_passage(request.quote, self._source(path)):
            return _with(fate, change=Change.EDITED, finding=inside.finding)
        # a file of another name without anything like the passage is not where it went
        finding = self._after.quotes[request].finding
        return _with(fate, path=request.path, finding=finding)

    def _one_of_several(self, fate: Fate, request: QuoteRequest) -> Fate:
        """A quote that occurs more than once: the lines that it stood on say which is meant."""
        inside = self._after.quotes[QuoteRequest(fate.path, request.quote, request.lines)]
        meant = self._moved(request.path, fate.path, fate.before)
        if meant and self._stands_in(fate.path, request.quote, meant):
            stays = inside.status is Status.VERIFIED and inside.lines == meant
            return self._found(fate, request, meant, write=not stays)
        if inside.status is Status.VERIFIED and inside.lines:
            note = "it occurs more than once: see whether these lines are still meant"
            return _with(self._found(fate, request, inside.lines, write=False), note=note)
        return _with(fate, change=Change.EDITED, finding=inside.finding)

    def _found(self, fate: Fate, request: QuoteRequest, lines: LineRange, *, write: bool) -> Fate:
        if fate.path != request.path:
            change = Change.RENAMED
        else:
            change = Change.UNCHANGED if fate.before in (None, lines) else Change.MOVED
        note = "" if fate.before else "it was not found at the old pin"
        within = lines if write else None
        return _with(fate, change=change, lines=lines, within=within, note=note)

    # --- paths ----------------------------------------------------------------------------

    def _path(self, request: PathRequest) -> Fate:
        path = self.new_path(request.path)
        fate = Fate(change=Change.RENAMED, path=path, before=request.lines, lines=request.lines)
        finding = self._after.paths[PathRequest(path, None)].finding
        if finding is not None:
            return _with(fate, change=Change.GONE, path=request.path, lines=None, finding=finding)
        if request.lines:
            return self._range(fate, request)
        return fate if path != request.path else _with(fate, change=Change.UNCHANGED)

    def _range(self, fate: Fate, request: PathRequest) -> Fate:
        lines = self._moved(request.path, fate.path, request.lines)
        if lines is None:
            finding = self._after.paths[PathRequest(fate.path, request.lines)].finding
            note = "" if finding else "other text stands in these lines, or around them"
            return _with(fate, change=Change.EDITED, lines=None, finding=finding, note=note)
        same = lines == request.lines
        if fate.path == request.path:
            fate = _with(fate, change=Change.UNCHANGED if same else Change.MOVED)
        return _with(fate, lines=lines, within=None if same else lines)

    # --- searches -------------------------------------------------------------------------

    def _findings(self, search: PlannedSearch) -> Iterable[Finding]:
        return search_findings(search, self._after.searches[search.request])

    # --- where things went ----------------------------------------------------------------

    def new_path(self, path: str) -> str:
        """The path that a file or directory has at the new commit; its own when it has none."""
        name = path.rstrip("/")
        if name in self._new_names or self._new.directory_exists(name):
            return path
        moved = self._renames.get(name) or self._renamed_directory(name)
        return moved + path[len(name) :] if moved else path

    def _renamed_directory(self, name: str) -> str | None:
        """Where a directory went, when all its renamed files went there together."""
        places = set()
        for old, new in self._renames.items():
            if old.startswith(f"{name}/"):
                rest = old[len(name) :]
                places.add(new.removesuffix(rest) if new.endswith(rest) else "")
        place = places.pop() if len(places) == 1 else ""
        return place if place and self._new.directory_exists(place) else None

    def _moved(self, path: str, new_path: str, lines: LineRange | None) -> LineRange | None:
        before, after = self._before.texts.get(path), self._after.texts.get(new_path)
        if lines is None or before is None or after is None:
            return None
        if (path, new_path) not in self._maps:
            self._maps[path, new_path] = LineMap(before, after)
        return self._maps[path, new_path].new(lines)

    def _stands_in(self, path: str, quote: str, lines: LineRange) -> bool:
        found = self._source(path).locate(quote, lines)
        return isinstance(found, Found) and found.lines == lines

    def _source(self, path: str) -> SourceText:
        if path not in self._sources:
            self._sources[path] = SourceText(self._after.texts[path] or "")
        return self._sources[path]


def _with(fate: Fate, **values: object) -> Fate:
    return fate.model_copy(update=values)


def _search_fate(search: PlannedSearch, findings: Sequence[Finding]) -> Fate:
    path = ", ".join(search.request.globs)
    if not findings:
        return Fate(change=Change.UNCHANGED, path=path)
    empty = findings[0].code is Code.EMPTY_SEARCH
    return Fate(change=Change.GONE if empty else Change.EDITED, path=path, finding=findings[0])


# --- lines --------------------------------------------------------------------------------


class LineMap:
    """Where lines of one version of a file are in another; white space does not count."""

    def __init__(self, before: str, after: str) -> None:
        self._old, self._new = _lines(before), _lines(after)
        self._blocks = list(_equal_blocks(self._old, self._new))

    def new(self, lines: LineRange) -> LineRange | None:
        """The same lines in the other version, or None when that is not sure.

        It is when they stand nowhere else, before and after, or when all that is the same in
        both versions, in the same order, has them between the same neighbours.
        """
        start, end = lines.start - 1, lines.end
        if end > len(self._old):
            return None
        wanted = self._old[start:end]
        places = list(_places(self._new, wanted, 2))
        if len(places) == 1 and len(list(_places(self._old, wanted, 2))) == 1:
            return LineRange(start=places[0] + 1, end=places[0] + len(wanted))
        for first, last, shift in self._blocks:
            if first <= max(start - 1, 0) and min(end + 1, len(self._old)) <= last:
                return LineRange(start=start + shift + 1, end=end + shift)
        return None


def _places(lines: Sequence[str], wanted: Sequence[str], limit: int) -> Iterator[int]:
    """The first places, by index, where some lines follow each other."""
    starts = (at for at, line in enumerate(lines) if line == wanted[0])
    return islice((at for at in starts if lines[at : at + len(wanted)] == wanted), limit)


def _lines(text: str) -> list[str]:
    lines = [" ".join(line.split()) for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def _equal_blocks(old: Sequence[str], new: Sequence[str]) -> Iterable[tuple[int, int, int]]:
    """Start and end of each run of lines that both have, and how far it moved."""
    head = _shared(old, new)
    tail = _shared(old[head:][::-1], new[head:][::-1])
    middle, other = old[head : len(old) - tail], new[head : len(new) - tail]
    yield 0, head, 0
    if len(middle) * len(other) <= _MAX_PAIRS:
        numbers: dict[str, int] = {}
        coded = [
            [numbers.setdefault(line, len(numbers)) for line in side] for side in (middle, other)
        ]
        for op in Indel.opcodes(*coded):
            if op.tag == "equal":
                yield head + op.src_start, head + op.src_end, op.dest_start - op.src_start
    yield len(old) - tail, len(old), len(new) - len(old)


def _shared(left: Sequence[str], right: Sequence[str]) -> int:
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))
