"""What a document must say instead when a pin moves: paths and ranges, at their exact places.

A place is edited only when what stands there is what the build read there. Everything else
around the edits stays as it is, byte for byte.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

import yaml

from sphinx_memreport.core.blocks import Syntax, evidence_argument
from sphinx_memreport.core.blockscan import EvidenceBlock, Scan, quotes_of, scan, split_lines
from sphinx_memreport.core.inline import code_ends, titled
from sphinx_memreport.core.models import LineRange
from sphinx_memreport.core.source_paths import split_source_path


class Span(NamedTuple):
    """Characters of a document, end excluded, and what is to stand there instead."""

    start: int
    end: int
    new: str


class CannotEdit(Exception):
    """Why a place is left as it is, in words for the author."""


class WrittenPath(NamedTuple):
    """A path as ``memsrc`` or a coverage row says it; the source is never left out here."""

    source: str
    path: str
    lines: tuple[int, int] | None


class PathEdit(NamedTuple):
    """What is to be written for a path; ``lines`` None leaves the range, or its absence."""

    path: str
    lines: LineRange | None


class Document:
    """The text of a document and the places in it that tools may edit.

    :param only_source: the source that is meant where none is written, if there is one.
    """

    def __init__(self, text: str, syntax: Syntax, only_source: str = "") -> None:
        self.text = text
        self._syntax = syntax
        self._only_source = only_source
        self._lines = split_lines(text)
        self._starts = _starts(self._lines)
        self._scan: Scan = scan(text, syntax)
        self._blocks = {block.line: block for block in self._scan.blocks}

    # --- evidence -------------------------------------------------------------------------

    def evidence_edits(
        self,
        line: int,
        path: str,
        lines: LineRange | None,
        new_path: str,
        new_lines: LineRange | None,
    ) -> list[Span]:
        """The edits of one evidence block.

        :param line: its opening line.
        :param path: the path that the build read there; ``lines`` likewise.
        :param new_lines: the range to write; None leaves the option, or its absence.
        :raises CannotEdit: when the block is not found as the build read it.
        """
        block = self._blocks.get(line)
        if block is None:
            reasons = [each.reason for each in self._scan.skipped if each.line == line]
            raise CannotEdit(reasons[0] if reasons else "no evidence is written in this line")
        if block.trouble:
            raise CannotEdit(block.trouble)
        if block.path != path or block.lines != lines:
            raise CannotEdit("the evidence there is not what the build read")
        edits = []
        if new_path != path:
            edits.append(self._argument_edit(block, new_path))
        if new_lines is not None:
            edits.append(self._lines_edit(block, new_lines))
        return edits

    def _argument_edit(self, block: EvidenceBlock, path: str) -> Span:
        try:
            argument = evidence_argument(block.source, path)
        except ValueError as error:
            raise CannotEdit(str(error)) from None
        if block.fence.startswith("`") and "`" in argument:
            raise CannotEdit(f"the path {path} cannot stand behind a fence of backticks")
        start = self._starts[block.line - 1] + block.argument_column
        at = start + len(block.argument) - len(block.path)
        return self._checked(Span(at, at + len(block.path), path), block.path)

    def _lines_edit(self, block: EvidenceBlock, lines: LineRange) -> Span:
        option = next((each for each in block.options if each.name == "lines"), None)
        if option is None:
            text, end = self._lines[block.line - 1]
            at = self._starts[block.line - 1] + len(text) + len(end)
            return Span(at, at, f"{block.prefix}:lines: {lines}{end}")
        at = self._starts[option.line - 1] + self._lines[option.line - 1][0].rindex(option.value)
        return self._checked(Span(at, at + len(option.value), str(lines)), option.value)

    # --- paths ----------------------------------------------------------------------------

    def path_edits(
        self, edits: Mapping[WrittenPath, PathEdit], written: Mapping[WrittenPath, int]
    ) -> tuple[list[Span], dict[WrittenPath, str]]:
        """The edits of ``memsrc`` roles and coverage rows.

        Equal paths become equal paths, so they are edited together, and only when there are as
        many in the text as the build read.

        :param edits: what is to be written instead.
        :param written: how often the build read each of them in this document.
        :return: the edits, and why some paths are left.
        """
        places: dict[WrittenPath, list[_Place]] = {path: [] for path in edits}
        for place in self._places():
            if place.written in places:
                places[place.written].append(place)
        spans: list[Span] = []
        left: dict[WrittenPath, str] = {}
        for path, edit in edits.items():
            try:
                found = [self._path_edit(place, edit) for place in places[path]]
                if len(found) != written[path]:
                    raise CannotEdit(
                        f"it is written {len(found)} times where a tool can tell, "
                        f"the build read it {written[path]} times"
                    )
                spans += found
            except CannotEdit as error:
                left[path] = str(error)
        return spans, left

    def _path_edit(self, place: _Place, edit: PathEdit) -> Span:
        start, end = place.start, place.end
        old = self.text[start:end]
        path = place.written.path
        at = old.find(path)
        if at < 0 or old.count(path) != 1:
            raise CannotEdit("its path is not written out")
        head, tail = old[:at], old[at + len(path) :]
        if edit.lines is not None:
            tail = re.sub(r"#L[0-9]+(?:-L?[0-9]+)?", _anchor(edit.lines), tail)
        lines = (edit.lines.start, edit.lines.end) if edit.lines else place.written.lines
        plain = head + edit.path + tail
        for new in (plain, json.dumps(plain.strip("\"'"), ensure_ascii=False)):
            read = place.reads(new)
            if read is not None and split_source_path(read)[1:] == (edit.path, lines):
                return Span(start, end, new)
        raise CannotEdit(f"the path {edit.path} cannot be written there")

    def _places(self) -> Iterator[_Place]:
        hidden = [
            (self._starts[block.body_start - 1], self._starts[block.body_end - 1])
            for block in self._scan.blocks
        ]
        for place in (*self._roles(), *self._rows()):
            if not any(start <= place.start < end for start, end in hidden):
                yield place

    def _roles(self) -> Iterator[_Place]:
        spans = _myst_roles(self.text) if self._syntax == "myst" else _rest_roles(self.text)
        for base, content in spans:
            target = titled(content)
            start, end = target[1:] if target else (0, len(content))
            yield _Place(base + start, base + end, self._written(content[start:end]), _as_role)

    def _rows(self) -> Iterator[_Place]:
        """The paths in the rows of ``memcoverage``."""
        opening = _MYST_COVERAGE if self._syntax == "myst" else _REST_COVERAGE
        for index, (line, _) in enumerate(self._lines):
            match = opening.fullmatch(line)
            if match:
                first, body = self._body(index, match)
                for scalar in _row_paths(body):
                    yield from self._row_place(first, body, scalar)

    def _row_place(
        self, first: int, body: list[tuple[int, str]], scalar: yaml.ScalarNode
    ) -> Iterator[_Place]:
        begin, end = scalar.start_mark, scalar.end_mark
        if begin.line == end.line:
            cut = body[begin.line][0]
            start = self._starts[first + begin.line] + cut
            written = self._written(str(scalar.value))
            yield _Place(start + begin.column, start + end.column, written, _as_scalar)

    def _body(self, index: int, match: re.Match[str]) -> tuple[int, list[tuple[int, str]]]:
        """Index of the first line of a YAML body, and its lines with how much stands before."""
        indent = len(match["indent"])
        fence = match["fence"]
        lines: list[tuple[int, str]] = []
        for text, _ in self._lines[index + 1 :]:
            stripped = text.strip()
            if fence and _closes(stripped, fence):
                break
            if not fence and stripped and len(text) - len(text.lstrip()) <= indent:
                break
            cut = min(indent if fence else len(text), len(text) - len(text.lstrip()))
            lines.append((cut, text))
        if not fence:
            margin = min((cut for cut, text in lines if text.strip()), default=0)
            lines = [(min(margin, cut), text) for cut, text in lines]
        body = [(cut, text[cut:]) for cut, text in lines]
        options = 0
        while options < len(body) and _OPTION.match(body[options][1]):
            options += 1
        return index + 1 + options, body[options:]

    def _written(self, text: str) -> WrittenPath:
        source, path, lines = split_source_path(text)
        return WrittenPath(source or self._only_source, path, lines)

    # --- shared ---------------------------------------------------------------------------

    def _checked(self, span: Span, expected: str) -> Span:
        if self.text[span.start : span.end] != expected:
            raise CannotEdit("it is not written there as the build read it")
        return span

    def edited(self, spans: Iterable[Span]) -> str:
        """The text with edits applied.

        :raises CannotEdit: when a passage would not be read as before.
        """
        parts = []
        at = 0
        for span in sorted(spans):
            if span.start < at:
                raise CannotEdit("two edits touch the same place")
            parts += [self.text[at : span.start], span.new]
            at = span.end
        new = "".join([*parts, self.text[at:]])
        before, after = quotes_of(self._scan), quotes_of(scan(new, self._syntax))
        if [each[2] for each in before] != [each[2] for each in after]:
            raise CannotEdit("a passage would not be read as before")
        return new


def _starts(lines: list[tuple[str, str]]) -> list[int]:
    """Where each line starts; one more at the end of the text."""
    starts = [0]
    for text, end in lines:
        starts.append(starts[-1] + len(text) + len(end))
    return starts


def _anchor(lines: LineRange) -> str:
    return f"#L{lines.start}" if lines.start == lines.end else f"#L{lines.start}-L{lines.end}"


# --- roles and rows -----------------------------------------------------------------------

_MYST_ROLE = re.compile(r"\{(?:memsrc|mem:path)\}(?P<ticks>`+)")
_REST_ROLE = re.compile(r":(?:memsrc|mem:path):`(?P<content>[^`\\]+)`")
_MYST_COVERAGE = re.compile(r"(?P<indent>[ ]*)(?P<fence>`{3,}|~{3,}|:{3,})\s*\{memcoverage\}.*")
_REST_COVERAGE = re.compile(r"(?P<indent>[ ]*)\.\. memcoverage::(?P<fence>)\s*")
_OPTION = re.compile(r"\s*:[A-Za-z][\w-]*:")
_PATH_KEYS = frozenset({"direct", "search", "supplied"})


class _Place(NamedTuple):
    """Where a path is written; ``reads`` says what a text means there, None for nothing good."""

    start: int
    end: int
    written: WrittenPath
    reads: Callable[[str], str | None]


def _myst_roles(text: str) -> Iterator[tuple[int, str]]:
    """Where the content of each role begins, and the content."""
    ends = code_ends(text)
    for match in _MYST_ROLE.finditer(text):
        start, ticks = match.end(), len(match["ticks"])
        end = ends[match.start("ticks")] - ticks
        if end > start:
            yield start, text[start:end]


def _rest_roles(text: str) -> Iterator[tuple[int, str]]:
    for match in _REST_ROLE.finditer(text):
        yield match.start("content"), match["content"]


def _as_role(text: str) -> str | None:
    """A path in a role, which nothing can quote."""
    return None if re.search(r"[`<>\\\n]", text) else text


def _as_scalar(text: str) -> str | None:
    """A path in a list of a YAML body, in brackets or not."""
    try:
        value = yaml.load(f"- [{text}]\n- {text}\n", yaml.BaseLoader)  # makes strings, nothing else
    except yaml.YAMLError:
        return None
    read = value[1]
    return read if isinstance(read, str) and value[0] == [read] else None


def _row_paths(body: list[tuple[int, str]]) -> Iterator[yaml.ScalarNode]:
    """The scalars of a coverage table that are paths; none when it cannot be read."""
    try:
        root = yaml.compose("\n".join(text for _, text in body) + "\n", yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError):
        return
    for row in root.value if isinstance(root, yaml.SequenceNode) else ():
        for key, value in row.value if isinstance(row, yaml.MappingNode) else ():
            if key.value in _PATH_KEYS:
                items = value.value if isinstance(value, yaml.SequenceNode) else [value]
                yield from (item for item in items if isinstance(item, yaml.ScalarNode))


def _closes(line: str, fence: str) -> bool:
    return len(line) >= len(fence) and not line.strip(fence[0])
