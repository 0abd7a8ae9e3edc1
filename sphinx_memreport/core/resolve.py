"""Quotes, paths and searches against one pinned source: every blob is read and normalised once.

A source's work is collected first (:class:`Requests`), then done in one pass over the
blobs that it names. Only when something is missing are further files of the tree read, to say
where the passage went.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from sphinx_memreport.core.blobs import Absence, Blob, NoBlob, SourceReader
from sphinx_memreport.core.models import (
    Ambiguous,
    Excerpt,
    Finding,
    Found,
    LineRange,
    Missing,
    PathVerdict,
    Resolution,
    SearchResult,
    Status,
)
from sphinx_memreport.core.nearest import files_holding, nearest_passage, nearest_path
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.quotes import NotText, SourceText, decode, is_lfs_pointer
from sphinx_memreport.core.search import Search, SearchRequest, look_at

#: Lines shown before and after a passage on the page of its file.
CONTEXT_LINES = 4
#: Characters of a line that are shown in messages and excerpts; minified files have longer ones.
_LINE_LIMIT = 400
#: Occurrences that a message lists.
_SHOWN_OCCURRENCES = 8
#: Files of a tree that are searched for a missing quote, those with its suffix first.
_SEARCHED_FILES = 20_000
#: Bytes of them: small repositories can hold large files under many names.
_SEARCHED_BYTES = 1024**3
# Lines as other tools write them behind a path: file.py:41, file.py:41-43, file.py#L41-L43.
_LINES_BEHIND = re.compile(
    r"(?P<path>.+?)(?::|#L| )(?P<first>[0-9]{1,9})(?:-L?(?P<last>[0-9]{1,9}))?"
)


class QuoteRequest(NamedTuple):
    """A passage that is said to stand in a file (empty path: a capture)."""

    path: str
    quote: str
    lines: LineRange | None


class PathRequest(NamedTuple):
    """A file or directory, or lines of a file, that are said to exist."""

    path: str
    lines: LineRange | None


@dataclass
class Requests:
    """What is to be found out about one source."""

    quotes: set[QuoteRequest] = field(default_factory=set)
    paths: set[PathRequest] = field(default_factory=set)
    #: Files whose whole text is wanted.
    texts: set[str] = field(default_factory=set)
    searches: set[SearchRequest] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.quotes or self.paths or self.texts or self.searches)


@dataclass
class Answers:
    """What was found out about one source."""

    quotes: dict[QuoteRequest, Resolution] = field(default_factory=dict)
    paths: dict[PathRequest, PathVerdict] = field(default_factory=dict)
    #: None for a file that cannot be shown.
    texts: dict[str, str | None] = field(default_factory=dict)
    searches: dict[SearchRequest, SearchResult] = field(default_factory=dict)

    def to(self, requests: Requests) -> Answers:
        """Those of the answers that some requests ask for."""
        return Answers(
            {request: self.quotes[request] for request in requests.quotes & self.quotes.keys()},
            {request: self.paths[request] for request in requests.paths & self.paths.keys()},
            {path: self.texts[path] for path in requests.texts & self.texts.keys()},
            {each: self.searches[each] for each in requests.searches & self.searches.keys()},
        )

    def update(self, other: Answers) -> None:
        """Take over further answers."""
        self.quotes.update(other.quotes)
        self.paths.update(other.paths)
        self.texts.update(other.texts)
        self.searches.update(other.searches)


def resolve(requests: Requests, reader: SourceReader, encoding: str) -> Answers:
    """Answer every request about one source.

    :param encoding: how its files are to be decoded, strictly.
    """
    return _Pass(reader, encoding).run(requests)


class _Pass:
    """One pass over one source; holds the quoted files until its missing quotes are explained."""

    def __init__(self, reader: SourceReader, encoding: str) -> None:
        self.reader = reader
        self.encoding = encoding
        self.texts: dict[str, SourceText] = {}
        self.failures: dict[str, Finding] = {}
        self.blob_ids: dict[str, str] = {}
        self.searches: dict[SearchRequest, Search] = {}

    def run(self, requests: Requests) -> Answers:
        quoted = {request.path for request in requests.quotes}
        ranged = {request.path for request in requests.paths if request.lines}
        self._read(quoted | ranged | requests.texts, requests.searches)
        answers = Answers()
        absent: list[QuoteRequest] = []
        for request in sorted(requests.quotes, key=_quote_order):
            resolution = self._locate(request)
            if resolution is None:
                absent.append(request)
            else:
                answers.quotes[request] = resolution
        answers.quotes.update(self._explain(absent))
        for path_request in sorted(requests.paths, key=_path_order):
            answers.paths[path_request] = self._check_path(path_request)
        for path in sorted(requests.texts):
            answers.texts[path] = self.texts[path].text if path in self.texts else None
        for search_request, search in self.searches.items():
            answers.searches[search_request] = search.result()
        return answers

    def _read(self, texts: set[str], requests: set[SearchRequest]) -> None:
        """Read each blob once: for the searches, which let go of it, and to be kept as text."""
        searching = self._searching(requests)
        for path, blob in self.reader.blobs(sorted(texts | searching.keys())):
            if path in searching:
                look_at(searching[path], path, blob, self.encoding)
            if path not in texts:
                continue
            if isinstance(blob, NoBlob):
                self.failures[path] = _no_blob(path, blob)
            else:
                self._decode(path, blob)

    def _searching(self, requests: set[SearchRequest]) -> dict[str, list[Search]]:
        """Which searches look into which file."""
        matching = {
            glob: self.reader.glob([glob])
            for glob in {glob for request in requests for glob in request.globs}
        }
        searching: dict[str, list[Search]] = {}
        for request in sorted(requests):
            empty = [glob for glob in request.globs if not matching[glob]]
            self.searches[request] = search = Search(request, empty)
            for path in {path for glob in request.globs for path in matching[glob]}:
                searching.setdefault(path, []).append(search)
        return searching

    def _decode(self, path: str, blob: Blob) -> None:
        self.blob_ids[path] = blob.oid
        if is_lfs_pointer(blob.data):
            self.failures[path] = Finding(
                code=Code.BLOB_MISSING,
                message=f"{path} is a Git LFS pointer; its content is not in the repository",
                fix="quote a file whose content is in the repository, or add it as a capture",
            )
            return
        try:
            self.texts[path] = SourceText(decode(blob.data, self.encoding))
        except NotText as error:
            self.failures[path] = Finding(
                code=Code.NOT_TEXT,
                message=f"{path or 'the capture'} is not text: {error}",
                fix='set its encoding in memreport.toml (encoding = "latin-1") '
                "if it is text, else quote another file",
            )

    def _locate(self, request: QuoteRequest) -> Resolution | None:
        """The verdict on one quote, or None when it is missing and must be explained."""
        failure = self.failures.get(request.path)
        if failure is not None:
            # a path that is gone is explained with the quote: it may have moved with it
            gone = failure.code is Code.PATH_MISSING
            return None if gone else self._failed(request, Status.MISSING, failure)
        source = self.texts[request.path]
        if request.lines and (finding := _outside(request.path, request.lines, source)):
            return self._failed(request, Status.STALE, finding)
        match source.locate(request.quote, request.lines):
            case Found() as found:
                return Resolution(
                    status=Status.VERIFIED,
                    blob=self.blob_ids[request.path],
                    lines=found.lines,
                    passage=source.text[found.start : found.end],
                    excerpt=_excerpt(source, found.lines),
                )
            case Ambiguous() as ambiguous:
                finding = _ambiguous(request, ambiguous, source)
                return self._failed(request, Status.AMBIGUOUS, finding)
            case Missing(elsewhere=elsewhere) if elsewhere:
                return self._failed(request, Status.STALE, _elsewhere(request, elsewhere, source))
            case _:
                return None

    def _failed(self, request: QuoteRequest, status: Status, finding: Finding) -> Resolution:
        return Resolution(status=status, blob=self.blob_ids.get(request.path), finding=finding)

    # --- why a quote is missing -----------------------------------------------------------

    def _explain(self, absent: list[QuoteRequest]) -> dict[QuoteRequest, Resolution]:
        if not absent:
            return {}
        quotes = list(dict.fromkeys(request.quote for request in absent))
        suffixes = {_suffix(request.path) for request in absent}
        holders = files_holding(quotes, self._tree(suffixes))
        answers = {}
        for request in absent:
            others = [path for path in holders.get(request.quote, []) if path != request.path]
            if request.path in self.failures:
                finding = self._path_gone(request, others)
                answers[request] = self._failed(request, Status.MISSING, finding)
            else:
                finding = self._stale(request, others)
                answers[request] = self._failed(request, Status.STALE, finding)
        return answers

    def _tree(self, suffixes: set[str]) -> Iterator[tuple[str, str]]:
        """The text files of the tree, those already read first, then by likelihood."""
        yield from ((path, source.text) for path, source in self.texts.items())
        rest = [p for p in self.reader.paths() if p not in self.texts and p not in self.failures]
        rest.sort(key=lambda path: (_suffix(path) not in suffixes, path))
        left = _SEARCHED_BYTES
        for path, blob in self.reader.blobs(rest[:_SEARCHED_FILES]):
            if isinstance(blob, Blob):
                left -= len(blob.data)
                if left < 0:
                    return
                try:
                    yield path, decode(blob.data, self.encoding)
                except NotText:
                    continue

    def _stale(self, request: QuoteRequest, others: Sequence[str]) -> Finding:
        name = request.path or "the capture"
        details = []
        near = nearest_passage(request.quote, self.texts[request.path])
        if near:
            details.append(
                f"nearest passage: {near.lines.words} ({min(round(near.similarity), 99)} % alike)"
            )
            details.append(f"word diff: {near.diff}")
        if others:
            details.append(f"the quote stands in {_listing(others)}")
        if not near and not others:
            details.append("nothing at the pinned commit comes near it")
        if others:
            fix = f"name the file that holds the quote: {others[0]}"
        elif near:
            fix = f"copy the passage again from {near.lines.words}, or rewrite what rests on it"
        else:
            fix = "remove the quote, or rewrite what rests on it"
        where = f"{request.lines.words} of {name}" if request.lines else name
        return Finding(
            code=Code.STALE_QUOTE,
            message=f"the quote does not occur in {where}",
            details=tuple(details),
            fix=fix,
        )

    def _path_gone(self, request: QuoteRequest, others: Sequence[str]) -> Finding:
        failure = self._with_nearest_path(request.path)
        if lines := _LINES_BEHIND.fullmatch(request.path):
            numbers = "-".join(filter(None, lines.group("first", "last")))
            fix = f"write {lines['path']} alone, and its lines as an option: ':lines: {numbers}'"
            return _with(failure, fix=fix)
        if not others:
            searched = "and no file there holds the quote"
            return _with(failure, details=(*failure.details, searched))
        return _with(
            failure,
            details=(*failure.details, f"the quote stands in {_listing(others)}"),
            fix=f"name the file that holds the quote: {others[0]}",
        )

    def _with_nearest_path(self, path: str) -> Finding:
        failure = self.failures[path]
        if failure.fix:
            return failure
        near = nearest_path(path, self.reader.paths())
        if near is None:
            fix = "no path there is like it; name one that exists, or remove what rests on it"
            return _with(failure, fix=fix)
        return _with(failure, details=(f"nearest path: {near}",), fix=f"did you mean {near}?")

    # --- paths ----------------------------------------------------------------------------

    def _check_path(self, request: PathRequest) -> PathVerdict:
        path = request.path
        if request.lines:
            if path in self.failures:
                return PathVerdict(finding=self._with_nearest_path(path))
            return PathVerdict(finding=_outside(path, request.lines, self.texts[path]))
        if path.rstrip("/") in self._names:
            return PathVerdict()
        if self.reader.directory_exists(path.rstrip("/")):
            return PathVerdict(directory=True)
        self.failures.setdefault(path, _no_blob(path, NoBlob(Absence.MISSING)))
        return PathVerdict(finding=self._with_nearest_path(path))

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.reader.paths())


def _with(finding: Finding, **changes: object) -> Finding:
    """A finding with other details or another fix."""
    return Finding.model_validate({**dict(finding), **changes})


def _no_blob(path: str, blob: NoBlob) -> Finding:
    code = Code.PATH_MISSING
    fix = ""
    match blob.reason:
        case Absence.MISSING:
            message = f"no file {path} at the pinned commit"
        case Absence.DIRECTORY:
            message = f"{path} is a directory, not a file"
            fix = "name a file in it"
        case Absence.SUBMODULE:
            message = f"{path} is a submodule; its files are not in this repository"
            fix = "add the submodule's repository as a source of its own"
        case Absence.SYMLINK:
            message = f"{path} is a symbolic link to {blob.detail}; links are not followed"
            fix = "name the file that it points to"
        case Absence.LOST | Absence.TOO_LARGE:
            code = Code.BLOB_MISSING
            message = f"{path} cannot be read: {blob.detail or 'its object is not here'}"
            fix = (
                "quote a smaller file"
                if blob.reason is Absence.TOO_LARGE
                else "fetch the whole commit into the checkout (git fetch --refetch), "
                "without a partial-clone filter"
            )
    return Finding(code=code, message=message, fix=fix)


def _outside(path: str, lines: LineRange, source: SourceText) -> Finding | None:
    if lines.start <= lines.end <= source.line_count:
        return None
    verb = "lies" if lines.start == lines.end else "lie"
    return Finding(
        code=Code.RANGE_OUTSIDE_FILE,
        message=f"{lines.words} {verb} outside {path or 'the capture'}, "
        f"which has {source.line_count} lines",
        fix="correct the range, or leave it out",
    )


def _ambiguous(request: QuoteRequest, found: Ambiguous, source: SourceText) -> Finding:
    shown = found.occurrences[:_SHOWN_OCCURRENCES]
    details = [
        f":lines: {lines}   {_clip(source.line_text(lines.start).strip())}" for lines in shown
    ]
    hidden = len(found.occurrences) - len(shown)
    if hidden:
        details.append(f"and {hidden} more")
    distinct = len(set(found.occurrences)) == len(found.occurrences)
    where = f"{request.lines.words} of " if request.lines else ""
    return Finding(
        code=Code.AMBIGUOUS_QUOTE,
        message=f"the quote occurs {len(found.occurrences)} times in {where}"
        f"{request.path or 'the capture'}",
        details=tuple(details),
        fix=f"add one of these, such as ':lines: {shown[0]}', or quote more of the passage"
        if distinct
        else "quote more of the passage: some of these stand on one line",
    )


def _elsewhere(
    request: QuoteRequest, elsewhere: Sequence[LineRange], source: SourceText
) -> Finding:
    found = [_occurrence(lines, source) for lines in elsewhere[:_SHOWN_OCCURRENCES]]
    return Finding(
        code=Code.STALE_QUOTE,
        message=f"the quote does not occur in {request.lines.words if request.lines else ''} of "
        f"{request.path or 'the capture'}, but it does elsewhere in the file",
        details=tuple(found),
        fix=f"write ':lines: {elsewhere[0]}'"
        if len(elsewhere) == 1
        else "write the lines that are meant",
    )


def _occurrence(lines: LineRange, source: SourceText) -> str:
    return f":lines: {lines}   {_clip(source.line_text(lines.start).strip())}"


def _excerpt(source: SourceText, lines: LineRange) -> Excerpt:
    start = max(1, lines.start - CONTEXT_LINES)
    end = min(source.line_count, lines.end + CONTEXT_LINES)
    text = source.passage(LineRange(start=start, end=end))
    if len(text) > _LINE_LIMIT or "\r" in text:
        text = "\n".join(map(_clip, text.split("\n")))
    return Excerpt(start=start, text=text)


def _clip(line: str) -> str:
    line = line.rstrip("\r\n")
    return line if len(line) <= _LINE_LIMIT else line[:_LINE_LIMIT] + " …"


def _listing(paths: Sequence[str], limit: int = 5) -> str:
    more = f" and {len(paths) - limit} more" if len(paths) > limit else ""
    return ", ".join(paths[:limit]) + more


def _suffix(path: str) -> str:
    return path.rpartition(".")[2]


def _quote_order(request: QuoteRequest) -> tuple[str, str, int]:
    return (request.path, request.quote, request.lines.start if request.lines else 0)


def _path_order(request: PathRequest) -> tuple[str, int]:
    return (request.path, request.lines.start if request.lines else 0)


def missing_requests(requests: Requests, known: Answers) -> Requests:
    """Those requests that ``known`` does not answer yet."""
    return Requests(
        requests.quotes - known.quotes.keys(),
        requests.paths - known.paths.keys(),
        requests.texts - known.texts.keys(),
        requests.searches - known.searches.keys(),
    )
