"""``memreport quote``: a passage of a source as a block to paste."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

import click

from sphinx_memreport.cli.common import (
    Exit,
    Failure,
    config_option,
    json_option,
    load,
    report_of,
    report_option,
    say,
    say_bytes,
    say_json,
    source_of,
)
from sphinx_memreport.config import CaptureSource, GitSource, Report
from sphinx_memreport.core.blobs import Blob, SourceReader
from sphinx_memreport.core.blocks import Syntax, body_lines, evidence_block, laid_out
from sphinx_memreport.core.blockscan import scan
from sphinx_memreport.core.characters import invisible_characters
from sphinx_memreport.core.ids import SOURCE_ID
from sphinx_memreport.core.models import (
    Ambiguous,
    Finding,
    Found,
    Layer,
    LineRange,
    Missing,
    Status,
)
from sphinx_memreport.core.nearest import Near, files_holding, nearest_passage
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.quotes import (
    NotText,
    SourceText,
    decode,
    is_lfs_pointer,
    normalise,
)
from sphinx_memreport.core.resolve import PathRequest, QuoteRequest, Requests, resolve
from sphinx_memreport.verify import open_source

_LINES = re.compile(r"([1-9][0-9]{0,8})(?:-([1-9][0-9]{0,8}))?")
#: Matches and near passages that are listed.
_SHOWN = 20
_NEAREST = 3
#: Characters of a tree in which near passages are sought: a second or two.
_COMPARED = 40_000_000


class Place(NamedTuple):
    """What the arguments name. An empty path is a capture, or any file with ``--find``."""

    source: str
    path: str
    lines: LineRange | None


class _Passage(NamedTuple):
    """A passage of a file: its text, laid out, and its lines."""

    path: str
    text: SourceText
    quote: str
    lines: LineRange


@click.command()
@click.argument("place", nargs=-1, metavar="[SRC-n] [PATH] [LINES]")
@click.option("-f", "--find", metavar="TEXT", help="Quote the passage that reads so.")
@click.option("-L", "--whole-lines", is_flag=True, help="With --find: quote its lines whole.")
@click.option("--layer", type=click.Choice([str(layer) for layer in Layer]), help="Option 'layer'.")
@click.option("--caption", help="Option 'caption'.")
@click.option("--supports", multiple=True, metavar="ID", help="Option 'supports'; may be repeated.")
@click.option("--rest", is_flag=True, help="Write reStructuredText instead of Markdown.")
@report_option
@config_option
@json_option
def quote(
    place: tuple[str, ...],
    find: str | None,
    config_path: Path | None,
    slug: str | None,
    *,
    whole_lines: bool,
    layer: str | None,
    caption: str | None,
    supports: tuple[str, ...],
    rest: bool,
    as_json: bool,
) -> None:
    """Print a passage of a pinned source as an evidence block.

    The block is unique and whole as it is printed: it names the lines where the passage occurs
    more than once, and its fence is longer than any in the passage. It was verified as the build
    verifies it. The source may be left out when the report has one.

    \b
      memreport quote SRC-1 src/app.py 12-20
      memreport quote src/app.py 12
      memreport quote src/app.py --find "def recall("
      memreport quote --find "notes are kept for ever"      in any file
      memreport quote SRC-2 --find "a user reports"         in a capture

    With --find, white space counts as in evidence: a run of it is one space. Several matches are
    listed with the lines that settle which is meant; without a match, the nearest passages are.
    The exit status is then 1.
    """
    config = load(config_path)
    report = report_of(config, slug)
    asked = _parse(place, finding=find is not None)
    if find is not None and not normalise(find):
        raise Failure("--find needs a text")
    with ExitStack() as stack:
        candidates = {
            source_id: _Files(source_id, open_source(config, source, stack), source)
            for source_id, source in _candidates(report, asked, finding=find is not None).items()
        }
        if find is None or asked.path or asked.lines:
            ((source_id, files),) = candidates.items()
            passage = files.lines(asked) if find is None else files.find(asked, find)
        else:
            source_id, passage = _find_anywhere(candidates, find)
            files = candidates[source_id]
        if whole_lines and find is not None:
            passage = _whole(passage)
        syntax: Syntax = "rest" if rest else "myst"
        try:
            block = evidence_block(
                source_id,
                passage.path,
                passage.quote,
                lines=_settling(passage),
                layer=layer,
                caption=caption,
                supports=supports,
                syntax=syntax,
            )
        except ValueError as error:
            raise Failure(str(error), Exit.PROBLEMS) from None
        files.check(block, syntax, passage)
    _warn(passage)
    if as_json:
        data = {"source": source_id, "path": passage.path or None, "lines": str(passage.lines)}
        say_json({**data, "block": block})
    else:
        say_bytes(block.encode("utf-8"))


def _parse(words: tuple[str, ...], *, finding: bool) -> Place:
    rest = list(words)
    source = rest.pop(0) if rest and SOURCE_ID.fullmatch(rest[0]) else ""
    lines = None
    match = _LINES.fullmatch(rest[-1]) if rest else None
    if match:
        rest.pop()
        start, end = int(match[1]), int(match[2] or match[1])
        if end < start:
            raise click.UsageError(f"the range {match[0]} ends before it begins")
        lines = LineRange(start=start, end=end)
    if len(rest) > 1:
        raise click.UsageError(
            f"expected a source, a path and lines, as in SRC-1 src/app.py 12-20; found "
            f"{' '.join(words)!r} (put a path with spaces in quotes)"
        )
    if not finding and lines is None:
        raise click.UsageError("say which lines, as in 12-20, or what they read with --find")
    return Place(source, rest[0] if rest else "", lines)


def _candidates(
    report: Report, asked: Place, *, finding: bool
) -> dict[str, GitSource | CaptureSource]:
    """The sources that are meant: the one named, or what the rest of the place leaves open."""
    if asked.source:
        source_id, source = source_of(report, asked.source)
        if asked.path and isinstance(source, CaptureSource):
            raise Failure(f"{source_id} is a capture: name it without a path")
        return {source_id: source}
    if finding and not asked.path and not asked.lines and report.sources:
        return dict(report.sources)
    trees = {name: each for name, each in report.sources.items() if isinstance(each, GitSource)}
    if asked.path and len(trees) == 1:
        return dict(trees)
    return dict([source_of(report, None)])


class _Files:
    """The files of a source, asked for passages."""

    def __init__(
        self, source_id: str, reader: SourceReader, source: GitSource | CaptureSource
    ) -> None:
        self._id = source_id
        self._reader = reader
        self._encoding = source.encoding
        self._capture = isinstance(source, CaptureSource)

    def lines(self, asked: Place) -> _Passage:
        """The lines that were asked for."""
        if not asked.path and not self._capture:
            raise click.UsageError("name the path of a file, or what it reads with --find")
        assert asked.lines is not None
        text = self._text(asked.path, PathRequest(asked.path, asked.lines))
        quote = "\n".join(body_lines(dedent("\n".join(body_lines(text.passage(asked.lines))))))
        if not quote:
            raise Failure(f"lines {asked.lines} of {asked.path} are blank", Exit.PROBLEMS)
        return _Passage(asked.path, text, quote, asked.lines)

    def find(self, asked: Place, wanted: str) -> _Passage:
        """The one passage that reads as wanted.

        :raises Failure: with all of several, or with those that come near.
        """
        if not asked.path and not self._capture:
            raise click.UsageError("lines need the path of their file")
        request = QuoteRequest(asked.path, wanted, asked.lines)
        answers = resolve(
            Requests(quotes={request}, texts={asked.path}), self._reader, self._encoding
        )
        resolution = answers.quotes[request]
        text = SourceText(answers.texts[asked.path] or "")
        if resolution.finding is not None:
            settled = self._settled(asked.path, text, request)
            raise _failure(resolution.finding, settled or self._fix(resolution.finding, text))
        return _found(asked.path, text, wanted, asked.lines)

    def holding(self, wanted: str) -> dict[str, SourceText]:
        """The files that hold a passage, and their texts."""
        paths = files_holding([wanted], self._tree(self._reader.paths()))[wanted]
        return {path: SourceText(text) for path, text in self._tree(paths)}

    def nearest(self, wanted: str) -> list[tuple[Near, str]]:
        """The nearest passage of each file in which something comes near, and its path."""
        near: list[tuple[Near, str]] = []
        compared = 0
        for path, text in self._tree(self._reader.paths()):
            compared += len(text)
            if compared > _COMPARED:
                break
            found = nearest_passage(wanted, SourceText(text))
            if found:
                near.append((found, path))
        return near

    def _tree(self, paths: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The texts among some files."""
        for path, blob in self._reader.blobs(paths):
            if isinstance(blob, Blob) and not is_lfs_pointer(blob.data):
                try:
                    yield path, decode(blob.data, self._encoding)
                except NotText:
                    continue

    def _text(self, path: str, request: PathRequest) -> SourceText:
        answers = resolve(Requests(paths={request}, texts={path}), self._reader, self._encoding)
        finding = answers.paths[request].finding
        text = answers.texts[path]
        if finding is not None or text is None:
            raise _failure(finding, self._fix(finding, SourceText(text or "")))
        return SourceText(text)

    def _settled(self, path: str, text: SourceText, request: QuoteRequest) -> str:
        """The command that finds the first of several matches, where lines can tell them apart."""
        match text.locate(request.quote, request.lines):
            case Ambiguous(occurrences=ranges) | Missing(elsewhere=ranges) if ranges:
                pass
            case _:
                return ""
        if len(set(ranges)) < len(ranges):
            return ""
        return f"name its lines, as in {_command(self._id, path, ranges[0], request.quote)}"

    def _fix(self, finding: Finding | None, text: SourceText) -> str:
        """What to type instead: nothing rests on a passage yet that is still to be quoted."""
        match finding.code if finding else None:
            case Code.RANGE_OUTSIDE_FILE:
                return f"name lines from 1 to {text.line_count}"
            case Code.PATH_MISSING | Code.STALE_QUOTE if finding and "rests on it" in finding.fix:
                what = "a path" if finding.code is Code.PATH_MISSING else "a text"
                return f"name {what} that is there at the pinned commit"
            case Code.AMBIGUOUS_QUOTE:
                return "give more of the passage: some of these stand on one line"
        return finding.fix if finding else ""

    def check(self, block: str, syntax: Syntax, passage: _Passage) -> None:
        """Read a block as a build does, and have it resolved.

        :raises Failure: when that does not lead back to the passage.
        """
        (read,) = scan(block, syntax).blocks
        request = QuoteRequest(read.path, read.quote, read.lines)
        resolution = resolve(Requests(quotes={request}), self._reader, self._encoding).quotes[
            request
        ]
        if read.trouble or resolution.status is not Status.VERIFIED:
            reason = read.trouble or (resolution.finding.message if resolution.finding else "")
            raise Failure(
                f"this passage cannot be written as a block that is read back: {reason}\n"
                "    fix: quote other lines",
                Exit.PROBLEMS,
            )
        if passage.path != read.path:
            raise Failure(f"the path {passage.path!r} is read back as {read.path!r}")


def _find_anywhere(sources: Mapping[str, _Files], wanted: str) -> tuple[str, _Passage]:
    """The one passage in any file of some sources that reads as wanted, and its source.

    :raises Failure: with all of several, or with those that come near.
    """
    places = [
        (source_id, path, text, lines)
        for source_id, files in sources.items()
        for path, text in files.holding(wanted).items()
        for lines in _ranges(text.locate(wanted))
    ]
    if len(places) == 1:
        source_id, path, text, _ = places[0]
        return source_id, _found(path, text, wanted, None)
    if not places:
        raise Failure(
            "\n".join(["nothing at the pin reads so", *_near(sources, wanted)]), Exit.PROBLEMS
        )
    shown = [
        f"    {' '.join(filter(None, [source_id, path]))} {lines}   "
        f"{text.line_text(lines.start).strip()[:100]}"
        for source_id, path, text, lines in places[:_SHOWN]
    ]
    if len(places) > _SHOWN:
        shown.append(f"    and {len(places) - _SHOWN} more")
    head = f"{len(places)} passages read so; name the place of the one that is meant:"
    source_id, path, _, lines = places[0]
    fix = f"    fix: such as {_command(source_id, path, lines, wanted)}"
    raise Failure("\n".join([head, *shown, fix]), Exit.PROBLEMS)


def _command(source_id: str, path: str, lines: LineRange, wanted: str) -> str:
    place = [source_id, *([path] if path else []), str(lines)]
    return shlex.join(["memreport", "quote", *place, "--find", wanted])


def _near(sources: Mapping[str, _Files], wanted: str) -> list[str]:
    near = [
        (found, f"{source_id} {path}".strip())
        for source_id, files in sources.items()
        for found, path in files.nearest(wanted)
    ]
    near.sort(key=lambda pair: (-pair[0].similarity, pair[1]))
    return [
        f"    near: {place} {found.lines} ({found.similarity:.0f} % alike): {found.diff}"
        for found, place in near[:_NEAREST]
    ]


def _found(path: str, text: SourceText, wanted: str, within: LineRange | None) -> _Passage:
    found = text.locate(wanted, within)
    assert isinstance(found, Found)
    return _Passage(path, text, laid_out(text, found), found.lines)


def _whole(passage: _Passage) -> _Passage:
    """The same passage with the rest of its first and last line."""
    quote = dedent("\n".join(body_lines(passage.text.passage(passage.lines))))
    return passage._replace(quote=quote)


def _ranges(location: object) -> tuple[LineRange, ...]:
    match location:
        case Found(lines=lines):
            return (lines,)
        case Ambiguous(occurrences=occurrences):
            return occurrences
    return ()


def _settling(passage: _Passage) -> LineRange | None:
    """The lines that must be named so that the quote is unique; None when it is."""
    if isinstance(passage.text.locate(passage.quote), Found):
        return None
    if isinstance(passage.text.locate(passage.quote, passage.lines), Found):
        return passage.lines
    raise Failure(
        f"the passage occurs more than once within lines {passage.lines}\n"
        "    fix: quote more of it, as with --whole-lines",
        Exit.PROBLEMS,
    )


def _warn(passage: _Passage) -> None:
    """Say on standard error what whoever pastes the block must know."""
    hidden = invisible_characters(passage.quote)
    if hidden:
        names = ", ".join(dict.fromkeys(name for _, name in hidden))
        message = f"the passage holds characters that cannot be seen or change direction: {names}"
        if _is_watched():
            raise Failure(
                f"{message}\n    fix: write the block to a file: memreport quote … > block.md",
                Exit.PROBLEMS,
            )
        say(f"warning: {message}", err=True)
    colons = [len(run) for run in re.findall(r"^[ \t]*(:{3,})", passage.quote, re.MULTILINE)]
    if colons:
        say(f"note: a record around this block needs {max(colons) + 1} colons or more", err=True)


def _is_watched() -> bool:
    return sys.stdout.isatty()


def _failure(finding: Finding | None, fix: str) -> Failure:
    if finding is None:
        return Failure("the file cannot be read as text", Exit.PROBLEMS)
    lines = [f"{finding.message} [memreport.{finding.code}]"]
    lines += [f"    {detail}" for detail in finding.details]
    lines += [f"    fix: {fix}"] if fix else []
    return Failure("\n".join(lines), Exit.PROBLEMS)
