"""Searches that must find nothing (contract, section 3.6).

A pattern is a fixed string or a regular expression of RE2, whose searches take time in proportion
to the file and bounded memory, whatever the pattern: it comes from an author and must not be able
to stop a build. RE2 has no look-around and no backreferences.

The bytes of a file are searched. A file that may be text of another encoding than UTF-8 is also
searched as that text, and one with CRLF also with LF line ends: a search must rather find too much
than miss something.
"""

from __future__ import annotations

import codecs
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import re2

from sphinx_memreport.core.blobs import Absence, Blob, NoBlob
from sphinx_memreport.core.characters import mark_invisible
from sphinx_memreport.core.models import Finding, Hit, Names, ReportRules, SearchResult, SourceRules
from sphinx_memreport.core.problems import Code, Notice
from sphinx_memreport.core.quotes import NotText, decode, is_lfs_pointer
from sphinx_memreport.core.vocabulary import split_list

#: Hits, and names of files, that a result lists.
SHOWN = 20
#: Processor time that one regular expression may take over all files.
SECONDS = 30.0
#: The most that RE2 may have to do in one file: size of the program times bytes. It takes a
#: minute at worst, and next to nothing nearly always.
STEPS = 5_000_000_000
#: The most characters of a regular expression: RE2 bounds what it makes of one, not what it takes
#: to read it, which for a class such as ``\\p{L}`` is thirty kilobytes each.
LONGEST = 5000
#: Bytes of a line that a hit shows.
_LINE_LIMIT = 240
# `^` and `$` stand at every line, as in a search with grep
_PER_LINE = "(?m)"
# in binary files the same character often stands many times
_REPEATED_MARK = re.compile(r"(⟦U\+[0-9A-F]+⟧)\1+")

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# What stands in a text to be found as it is only by accident: alternatives, classes with a range,
# repetitions of a dot, class or group, escapes of letters, an anchor at an end, a group of flags.
_LOOKS_LIKE_EXPRESSION = re.compile(
    r"\||\[\^|\[[^\[\]]*\w-\w[^\[\]]*\]|[.\])][*+?]|[\])\w]\{\d+,?\d*\}|\\[A-Za-z.()]|\A\^|\$\Z|\(\?"
)
_NOT_SEARCHED = {
    Absence.SYMLINK: "a symbolic link",
    Absence.SUBMODULE: "a submodule",
    Absence.DIRECTORY: "a directory",
}


class SearchRequest(NamedTuple):
    """A pattern and the files of one source that must not hold it; a capture is ``**``."""

    globs: tuple[str, ...]
    pattern: str
    regex: bool


# --- what an author wrote -----------------------------------------------------------------


class PlannedSearch(NamedTuple):
    """What is to be searched in one source."""

    source: SourceRules
    request: SearchRequest


class Plan(NamedTuple):
    """The searches that an absence rests on, and what is wrong with its options."""

    searches: list[PlannedSearch]
    faults: list[Finding]


def plan(rules: ReportRules, searched: str, pattern: str, *, regex: bool) -> Plan:
    """Read ``searched``: a comma-separated list of ``glob``, ``SRC-n:glob`` and captures.

    :return: one search for each source that is named, in the order of the list. A pattern that
        cannot be searched for is a fault and gives no search.
    """
    globs: dict[SourceRules, list[str]] = {}
    faults: list[Finding] = []
    for entry in split_list(searched):
        found = _scope(rules, entry)
        if isinstance(found, Finding):
            faults.append(found)
        else:
            source, glob = found
            globs.setdefault(source, []).append(glob)
    if regex and (fault := _pattern_fault(pattern)):
        return Plan([], [*faults, fault])
    searches = [
        PlannedSearch(source, SearchRequest(tuple(dict.fromkeys(found)), pattern, regex))
        for source, found in globs.items()
    ]
    return Plan(searches, faults)


def _scope(rules: ReportRules, entry: str) -> tuple[SourceRules, str] | Finding:
    named = entry.startswith("SRC-")
    source_id, colon, glob = entry.partition(":") if named else ("", "", entry)
    source = rules.source(source_id) if named else _only_repository(rules)
    known = ", ".join(each.id for each in rules.sources) or "none"
    if source is None:
        what = (
            f"{source_id} is not a source of report '{rules.slug}'"
            if named
            else f"'{entry}' names no source, and the report has not exactly one repository"
        )
        return _of_searched(Code.UNKNOWN_SOURCE, what, f"write SRC-n:glob; its sources: {known}")
    if source.kind == "capture":
        if colon:
            what = f"{source.id} is a capture, a single file; found the glob '{glob}'"
            return _of_searched(Code.INVALID_VALUE, what, f"write {source.id} alone")
        return source, "**"
    if not glob:
        what = f"'{entry}' names no files of {source.id}"
        return _of_searched(Code.INVALID_VALUE, what, f"write {source.id}:** for the whole tree")
    return source, glob


def _only_repository(rules: ReportRules) -> SourceRules | None:
    repositories = [source for source in rules.sources if source.kind == "git"]
    return repositories[0] if len(repositories) == 1 else None


def _of_searched(code: Code, what: str, fix: str) -> Finding:
    return Finding(code=code, message=f"option 'searched': {what}", fix=fix)


@lru_cache(maxsize=256)
def _pattern_fault(pattern: str) -> Finding | None:
    """Why a regular expression cannot be searched for, or None when it can."""
    fix = ""
    if len(pattern) > LONGEST:
        message = f"option 'pattern': an expression has at most {LONGEST:,} characters"
        fix = "split it into several absences"
        message += f"; found {len(pattern):,}"
        return Finding(code=Code.INVALID_VALUE, message=message, fix=fix)
    try:
        if _compile(pattern).search(b"") is None:
            return None
        reason = "matches the empty text, so it occurs in every file"
    except re2.error as error:
        said = error.args[0] if error.args else ""
        text = said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
        reason = f"is no regular expression of RE2: {text.replace(_PER_LINE, '', 1)[:200]}"
        fix = (
            "correct it; RE2 has no look-around and no backreferences, and repeats at most "
            "1000 times. Leave the flag 'regex' out to search for the text as it stands"
        )
    message = f"option 'pattern': '{_short(pattern)}' {reason}"
    return Finding(code=Code.INVALID_VALUE, message=message, fix=fix)


# --- searching ----------------------------------------------------------------------------

#: Gives where the pattern first occurs at or after an offset.
_Find = Callable[[bytes, int], int | None]


class Search:
    """One search on its way through the files of a source."""

    def __init__(self, request: SearchRequest, empty_globs: Sequence[str] = ()) -> None:
        """Start a search.

        :param request: its pattern has no fault.
        :param empty_globs: those of its globs that match no file.
        """
        self._finders = _finders(request)
        self._empty_globs = tuple(empty_globs)
        self._files = 0
        self._hits: list[Hit] = []
        self._hit_count = 0
        self._binary, self._skipped, self._lost = _Names(), _Names(), _Names()
        self._seconds = SECONDS
        self._stopped = False
        self._trial = _trial(request)

    def skip(self, path: str, reason: str, *, lost: bool) -> None:
        """Note a file that cannot be searched."""
        names = self._lost if lost else self._skipped
        names.add(f"{visible(path) or 'the capture'}: {reason}")

    def look_into(self, path: str, file: SearchedFile) -> None:
        """Search one file, unless the search has taken too long already."""
        if self._stopped:
            return
        self._files += 1
        if file.binary:
            self._binary.add(visible(path) or "the capture")
        lines: dict[int, str] = {}
        for form in file.forms:
            for find in self._finders if file.binary else self._finders[:1]:
                for line, text in self._lines(form, find):
                    lines.setdefault(line, text)
        self._hit_count += len(lines)
        for line in sorted(lines)[: SHOWN - len(self._hits)]:
            self._hits.append(Hit(path=visible(path), line=line, text=lines[line]))
        if self._trial and not (self._hits or self._trial.first_hit):
            self._trial.look_into(path, file)

    @property
    def first_hit(self) -> Hit | None:
        """The first line in which the pattern occurs."""
        return next(iter(self._hits), None)

    def _lines(self, form: bytes, find: _Find) -> Iterator[tuple[int, str]]:
        """Number and text of each line in which the pattern begins to occur.

        No more texts than are listed: making them takes longer than finding them.
        """
        line, counted, position, found = 1, 0, 0, 0
        while position <= len(form):
            start = self._timed(find, form, position)
            if start is None:
                return
            line += form.count(b"\n", counted, start)
            end = form.find(b"\n", start)
            end = len(form) if end < 0 else end
            yield line, _line_at(form, start, end) if found < SHOWN else ""
            counted, position, found = start, end + 1, found + 1

    def _timed(self, find: _Find, form: bytes, position: int) -> int | None:
        if self._stopped:
            return None
        began = time.process_time()
        try:
            return find(form, position)
        except _TooMuch:
            self._seconds = 0
            return None
        finally:
            self._seconds -= time.process_time() - began
            self._stopped = self._seconds <= 0

    def result(self) -> SearchResult:
        """What the search came to."""
        return SearchResult(
            files=self._files,
            binary=self._binary.names(),
            hits=tuple(self._hits),
            hit_count=self._hit_count,
            empty_globs=self._empty_globs,
            skipped=self._skipped.names(),
            lost=self._lost.names(),
            stopped=self._stopped,
            as_expression=self._trial.first_hit if self._trial and not self._hits else None,
        )


def _trial(request: SearchRequest) -> Search | None:
    """The search for a text as the regular expression that it looks like."""
    # the start is enough to tell, and keeps the look cheap
    looks_so = not request.regex and _LOOKS_LIKE_EXPRESSION.search(request.pattern[:1000])
    if not looks_so or _pattern_fault(request.pattern):
        return None
    return Search(request._replace(regex=True))


class SearchedFile:
    """The content of a file, in every form in which it is searched; made once for all searches."""

    def __init__(self, data: bytes, encoding: str) -> None:
        self.forms = _forms(data, encoding)
        try:
            decode(data, encoding)
            self.binary = False
        except NotText:
            self.binary = True


def look_at(searches: Iterable[Search], path: str, blob: Blob | NoBlob, encoding: str) -> None:
    """Let searches look at one file, or at what stands in its place."""
    if isinstance(blob, NoBlob):
        reason = _NOT_SEARCHED.get(blob.reason)
        for search in searches:
            search.skip(path, reason or blob.detail or "not here", lost=reason is None)
    elif is_lfs_pointer(blob.data):
        for search in searches:
            search.skip(path, "a Git LFS pointer", lost=False)
    else:
        file = SearchedFile(blob.data, encoding)
        for search in searches:
            search.look_into(path, file)


class _Names:
    """Collects :class:`Names`."""

    def __init__(self) -> None:
        self._shown: list[str] = []
        self._count = 0

    def add(self, name: str) -> None:
        self._count += 1
        if self._count <= SHOWN:
            self._shown.append(name)

    def names(self) -> Names:
        return Names(shown=tuple(self._shown), count=self._count)


class _TooMuch(Exception):
    """A file is too long for a pattern of this size."""


def _finders(request: SearchRequest) -> list[_Find]:
    """How to find the pattern: first for any file, then further ways for binary ones."""
    needle = request.pattern.encode("utf-8", "surrogatepass")
    if not request.regex:

        def find(form: bytes, position: int) -> int | None:
            start = form.find(needle, position)
            return None if start < 0 else start

        return [find]
    # a dot does not take a byte that is no UTF-8, so in a binary file bytes are characters, too
    bytewise = [_regex_finder(request.pattern, latin1=True)] if needle.isascii() else []
    return [_regex_finder(request.pattern), *bytewise]


def _regex_finder(pattern: str, *, latin1: bool = False) -> _Find:
    compiled = _compile(pattern, latin1=latin1)

    def find(form: bytes, position: int) -> int | None:
        if compiled.programsize * (len(form) - position) > STEPS:
            raise _TooMuch
        match = compiled.search(form, position)
        start: int | None = None if match is None else match.start()
        return start

    return find


def _compile(pattern: str, *, latin1: bool = False) -> Any:
    """:raises re2.error: when RE2 does not take it."""
    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    if latin1:
        options.encoding = re2.Options.Encoding.LATIN1
    return re2.compile((_PER_LINE + pattern).encode("utf-8", "surrogatepass"), options)


def _forms(data: bytes, encoding: str) -> list[bytes]:
    """The content as UTF-8, in the encoding of its source, that of its mark, and as it is."""
    forms: list[bytes] = []
    mark = next((name for mark, name in _MARKS.items() if data.startswith(mark)), None)
    for name in (encoding, mark):
        if name and codecs.lookup(name).name != "utf-8":
            text = data.decode(name, "replace").removeprefix("\ufeff")
            forms.append(text.encode("utf-8", "surrogatepass"))
    forms.append(data.removeprefix(codecs.BOM_UTF8))
    forms += [form.replace(b"\r\n", b"\n") for form in forms if b"\r\n" in form]
    return list(dict.fromkeys(forms))


def _line_at(form: bytes, hit: int, end: int) -> str:
    """The line of a hit, up to ``end``, around the hit, with nothing invisible in it."""
    begin = form.rfind(b"\n", 0, hit) + 1
    line, column = form[begin:end], hit - begin
    start, end = 0, len(line)
    if end > _LINE_LIMIT:
        start = _character(line, max(0, column - _LINE_LIMIT // 3))
        end = _character(line, min(end, start + _LINE_LIMIT))
    text = line[start:end].decode("utf-8", "backslashreplace").strip()
    marked = _REPEATED_MARK.sub(r"\1…", mark_invisible(text))
    return f"{'… ' if start else ''}{marked}{' …' if end < len(line) else ''}"


def _character(line: bytes, offset: int) -> int:
    """The start of the UTF-8 character at an offset, at most three bytes back."""
    for start in range(offset, max(0, offset - 4), -1):
        if start == len(line) or line[start] & 0xC0 != 0x80:
            return start
    return offset


def visible(text: str) -> str:
    """A path or pattern with hidden characters marked and bytes that are no text escaped."""
    return mark_invisible(text).encode("utf-8", "backslashreplace").decode("utf-8")


# --- what a result means ------------------------------------------------------------------


def search_findings(search: PlannedSearch, result: SearchResult) -> Iterator[Finding]:
    """What speaks against an absence that rests on a search."""
    source = search.source
    if result.hit_count:
        yield _refuted(search, result)
    elif result.stopped:
        yield Finding(
            code=Code.INVALID_VALUE,
            message=f"option 'pattern': the search of {source.id} takes too long, "
            "so it was not finished",
            fix="write smaller repetitions than {1000}, or name fewer files in 'searched'",
        )
    elif result.as_expression:
        yield _literal(search, result.as_expression)
    if result.empty_globs:
        yield _of_searched(
            Code.EMPTY_SEARCH,
            f"no file of {source.id} matches {_listed(result.empty_globs)}",
            "a glob is compared with whole paths from the root of the tree, and only ** crosses "
            "a /, as in src/**/*.py",
        )
    elif not result.files and not result.lost.count:
        yield _of_searched(
            Code.EMPTY_SEARCH,
            f"nothing of {source.id} in it has content that can be searched: "
            f"{_listed(result.skipped.shown, result.skipped.count)}",
            "name files whose content is in the repository",
        )
    if result.lost.count:
        yield Finding(
            code=Code.BLOB_MISSING,
            message=f"option 'searched': {_counted(result.lost.count, 'file')} of {source.id} "
            "cannot be read, so the search is not complete",
            details=(*result.lost.shown, *_more(result.lost)),
            fix="fetch the whole commit into the checkout (git fetch --refetch), without a "
            "partial-clone filter; or name the other files alone",
        )


def _refuted(search: PlannedSearch, result: SearchResult) -> Finding:
    source, request = search
    hidden = result.hit_count - len(result.hits)
    return Finding(
        code=Code.REFUTED_ABSENCE,
        message=f"the pattern '{_short(request.pattern)}' occurs in "
        f"{'at least ' if result.stopped else ''}{_counted(result.hit_count, 'line')} "
        f"of {source.id}",
        details=(
            *(f"{hit.path or source.id}:{hit.line}: {hit.text}" for hit in result.hits),
            *([f"and {hidden} more"] if hidden else []),
        ),
        fix="correct what is said to be absent, or make 'pattern' or 'searched' say what is meant",
    )


def _literal(search: PlannedSearch, hit: Hit) -> Finding:
    pattern = search.request.pattern
    as_text = visible(re.sub(r"([\\.+*?()|\[\]{}^$])", r"\\\1", pattern))
    write = f"write ':pattern: {as_text}'" if len(as_text) <= 100 else "escape each sign in it"
    return Finding(
        code=Notice.LITERAL_PATTERN,
        message=f"the pattern '{_short(pattern)}' is searched letter by letter; as the regular "
        f"expression that it looks like, it occurs in {search.source.id}",
        details=(f"{hit.path or search.source.id}:{hit.line}: {hit.text}",),
        fix="add the flag ':regex:' to search for the expression; if the letters are meant, "
        f"{write} with it",
    )


def _short(pattern: str) -> str:
    return visible(pattern if len(pattern) <= 60 else pattern[:60] + "…")


def _more(names: Names) -> list[str]:
    hidden = names.count - len(names.shown)
    return [f"and {hidden} more"] if hidden else []


def _listed(names: Sequence[str], count: int = 0) -> str:
    more = f" and {count - len(names)} more" if count > len(names) else ""
    return ", ".join(names) + more


def _counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}" if count == 1 else f"{count:,} {unit}s"
