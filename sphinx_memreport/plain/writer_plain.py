"""Writes the documents of a report as plain-Markdown members."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from textwrap import dedent
from typing import NamedTuple

import yaml

from sphinx_memreport.config import CaptureSource, GitSource, Report
from sphinx_memreport.core.blocks import body_lines, fence_for
from sphinx_memreport.core.ids import Kind, MemberName, anchor, find_mentions, parse_record_id
from sphinx_memreport.core.profiles import AXES
from sphinx_memreport.core.source_paths import split_source_path
from sphinx_memreport.core.vocabulary import (
    RECORD_TYPES,
    TYPE_OF_KIND,
    OptionType,
    RecordType,
    split_list,
)
from sphinx_memreport.core.yaml_body import BodyFault, Items, Table, Text, Value, read_body
from sphinx_memreport.plain.front_matter import PROFILE_KEY
from sphinx_memreport.plain.inert import fenced
from sphinx_memreport.plain.labels import written_label
from sphinx_memreport.plain.models import Remark
from sphinx_memreport.plain.myst_reader import Block, front_matter, read_blocks
from sphinx_memreport.plain.writer_myst import (
    AXIS_RECORDS,
    FRONT_MATTER_KEY,
    HEADING_COMMENT,
    SCOPE,
)

_TYPE_OF = {type.directive: type for type in RECORD_TYPES}
_VIEWS = frozenset({"memrecords", "memgraph", "memcomparison"})
_ARGUMENT = re.compile(
    r"(?P<id>[^\s—–]+?)(?:\s*(?:—|–|--)\s*|\s+-\s+|\s+|$)(?P<label>.*)", re.DOTALL
)
_ROLE = re.compile(
    r"\{(?P<name>mem|memsrc|memraw)\}(?P<ticks>`+)(?P<text>.+?)(?P=ticks)(?!`)", re.S
)
_EXPLICIT = re.compile(r"(?P<text>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
_PIECES = re.compile(r"\\.|`+|\{(?:mem|memsrc|memraw)\}`", re.DOTALL)
_COVERAGE = ("Entry point", "Paths", "Coverage and records", "Unresolved", "Prevented conclusion")
_REGISTER = (
    *("Source ID", "Kind", "Identity", "Revision or capture", "Evidence layer"),
    *("Inspected scope", "Access gaps"),
)


class Source(NamedTuple):
    """A document of the report: its path in the report's folder, and its text."""

    path: PurePosixPath
    text: str


class Written(NamedTuple):
    """A plain member, and what of the document the plain form has no place for."""

    path: PurePosixPath
    text: str
    lost: tuple[Remark, ...]


def write_members(report: Report, documents: Sequence[Source]) -> list[Written]:
    """The plain members of a report; a document of supplied IDs alone becomes none."""
    homes = _homes(documents)
    written = []
    for document in documents:
        writer = _Writer(report, document, homes)
        text = writer.written()
        if text is not None or writer.lost:
            written.append(Written(document.path, text or "", tuple(writer.lost)))
    return written


def _homes(documents: Sequence[Source]) -> dict[str, PurePosixPath]:
    """Which document declares each record."""
    homes: dict[str, PurePosixPath] = {}
    for document in documents:
        for block in read_blocks(document.text):
            match = _ARGUMENT.fullmatch(block.argument)
            if block.name in _TYPE_OF and match:
                homes.setdefault(match["id"], document.path)
    return homes


class _Writer:
    """Writes one document."""

    def __init__(
        self, report: Report, document: Source, homes: Mapping[str, PurePosixPath]
    ) -> None:
        self._report = report
        self._document = document
        self._homes = homes
        self._member: MemberName | None = None
        self._profile: Table | None = None
        self._scope = ""
        self.lost: list[Remark] = []

    def written(self) -> str | None:
        """The text of the member; None when nothing of it is a member's own."""
        blocks = [b for b in read_blocks(self._document.text) if b.kind != "front_matter"]
        names = {block.name for block in blocks}
        if "memsupplied" in names and all(_is_of_supplied_page(block) for block in blocks):
            return None
        blocks = self._without_scope(blocks)
        parts = [part for block in blocks for part in self._block(block)]
        head = self._front_matter()
        return "\n\n".join([*([head] if head else []), *(p for p in parts if p)]) + "\n"

    def _without_scope(self, blocks: list[Block]) -> list[Block]:
        """The blocks without the paragraph that holds a profile's scope, which is noted."""
        for above, block in pairwise(blocks):
            if block.name == "memprofile" and above.text.startswith(SCOPE):
                self._scope = " ".join(above.text.removeprefix(SCOPE).split())
                return [each for each in blocks if each is not above]
        return blocks

    def _lose(self, line: int, message: str, text: str = "") -> None:
        first = text.strip().split("\n")[0] if text.strip() else ""
        self.lost.append(Remark(line=line, message=message, text=first[:80]))

    # --- blocks ---------------------------------------------------------------------------

    def _block(self, block: Block) -> Iterator[str]:
        if block.kind == "directive":
            yield from self._directive(block)
        elif block.kind == "fence":
            yield block.text
        elif block.kind == "code_block":
            yield "\n".join(fenced(dedent(block.text)))
        elif block.kind == "myst_line_comment" and HEADING_COMMENT in block.text:
            return
        else:
            yield self._inline(block.text)

    def _directive(self, block: Block) -> Iterator[str]:
        if not block.readable:
            self._lose(block.line, f"{block.name}: its options cannot be read; kept as it is")
            yield block.text
        elif block.name in _TYPE_OF:
            yield from self._record(block, _TYPE_OF[block.name])
        elif block.name in _VIEWS or block.name == "toctree":
            self._lose(block.line, f"the plain form has no {block.name}")
        elif hasattr(self, f"_{block.name}"):
            yield from getattr(self, f"_{block.name}")(block)
        else:
            self._lose(block.line, f"the directive '{block.name}' is not ours; kept as it is")
            yield block.text

    def _memmember(self, block: Block) -> Iterator[str]:
        if block.argument in tuple(MemberName):
            self._member = MemberName(block.argument)
        yield ""

    def _rubric(self, block: Block) -> Iterator[str]:
        level = block.option("heading-level")
        yield f"{'#' * int(level) if level.isdigit() else '#####'} {self._inline(block.argument)}"

    def _memsources(self, block: Block) -> Iterator[str]:  # noqa: ARG002 - as all of its kind
        rows = [self._register_row(name, each) for name, each in self._report.sources.items()]
        yield _table(_REGISTER, rows)

    def _memsupplied(self, block: Block) -> Iterator[str]:
        if block.option("from"):
            self._lose(block.line, "memsupplied: what it takes from a file is not written")
        entries = [line.strip() for line in block.body.split("\n") if line.strip()]
        yield "\n".join(f"- {entry}" for entry in entries)

    # --- records --------------------------------------------------------------------------

    def _record(self, block: Block, type: RecordType) -> Iterator[str]:
        match = _ARGUMENT.fullmatch(block.argument)
        record_id, label = (match["id"], match["label"]) if match else (block.argument, "")
        label = self._inline(" ".join(label.split()))
        yield f"#### {record_id} — {label}" if label else f"#### {record_id}"
        yield from self._fields(block, type)
        for inner in read_blocks(block.body, block.body_line):
            yield from self._block(inner)

    def _memannotation(self, block: Block) -> Iterator[str]:
        inner = list(read_blocks(block.body, block.body_line))
        heading = f"On {block.argument}"
        for index, each in enumerate(inner):
            if each.kind == "myst_line_comment" and HEADING_COMMENT in each.text:
                heading = each.text.partition(HEADING_COMMENT)[2].strip()
                following = inner[index + 1 : index + 2]
                # the heading's label once more, for readers of the page
                if following and following[0].text.startswith("**") and index == 0:
                    del inner[1]
                del inner[index]
                break
        yield f"#### {heading}"
        try:
            type = TYPE_OF_KIND[parse_record_id(block.argument).kind]
        except ValueError:
            type = TYPE_OF_KIND[Kind.CLAIM]
        yield from self._fields(block, type)
        for each in inner:
            yield from self._block(each)

    def _fields(self, block: Block, type: RecordType) -> Iterator[str]:
        values = dict(block.options)
        if "part-of" in values:
            yield f"Part of: {values['part-of']}"
        bullets = []
        for option in type.options:
            if option.name == "part-of" or option.name not in values:
                continue
            value = values[option.name]
            if option.type is OptionType.VERBATIM:
                value = _code(value)
            elif option.type is OptionType.FLAG:
                value = "yes"
            else:
                value = self._inline(" ".join(value.split()))
            bullets.append(f"- {written_label(type.kind, option)}: {value}".rstrip())
        yield "\n".join(bullets)
        known = {option.name for option in type.options}
        for name in values:
            if name not in known:
                self._lose(block.line, f"{block.name}: unknown option '{name}'", values[name])

    def _memamendment(self, block: Block) -> Iterator[str]:
        successors = " and ".join(split_list(block.option("superseded-by")))
        inner = list(read_blocks(block.body, block.body_line))
        text = f"Amendment: {block.argument} is superseded by {successors}."
        if inner and inner[0].kind == "paragraph_open":
            text = f"{text} {self._inline(inner.pop(0).text)}"
        yield text
        for each in inner:
            yield from self._block(each)

    def _evidence(self, block: Block) -> Iterator[str]:
        first, _, path = block.argument.partition(" ")
        source, path = (first, path.strip()) if first.startswith("SRC-") else ("", block.argument)
        for name in ("layer", "lang", "supports", "name"):
            if value := block.option(name):
                self._lose(block.line, f"evidence: the plain form has no '{name}'", value)
        place = f":{block.option('lines')}" if block.option("lines") else ""
        attribution = _code(f"{path}{place}") if path else source
        if path and source and len(self._report.sources) > 1:
            attribution = f"{source} {attribution}"
        if caption := block.option("caption"):
            attribution = f"{attribution} — {self._inline(' '.join(caption.split()))}"
        lines = [*body_lines(block.body), f"--- {attribution}"]
        yield "\n".join(f"> {line}".rstrip() for line in lines)

    # --- tables ---------------------------------------------------------------------------

    def _memcoverage(self, block: Block) -> Iterator[str]:
        body = self._yaml(block)
        if not isinstance(body, Items):
            yield block.text
            return
        rows = [self._coverage_row(row) for row in body.items if isinstance(row, Table)]
        yield _table(_COVERAGE, rows)

    def _coverage_row(self, row: Table) -> list[str]:
        paths = []
        for key, role in (("direct", ""), ("search", "searched "), ("supplied", "supplied ")):
            if names := _texts(row, key):
                paths.append(role + ", ".join(_path_in_cell(name) for name in names))
        note = self._inline(_text(row, "note"))
        mentioned = {mention.target for mention in find_mentions(note)}
        ids = ", ".join(each for each in _texts(row, "records") if each not in mentioned)
        said = f"{ids}. {note}" if ids and note else ids or note
        return [
            self._inline(_text(row, "entry")),
            "; ".join(paths),
            said,
            self._inline(_text(row, "unresolved")),
            self._inline(_text(row, "prevents")),
        ]

    def _register_row(self, name: str, source: GitSource | CaptureSource) -> list[str]:
        prose = [source.inspected or "", source.gaps or ""]
        if isinstance(source, CaptureSource):
            identity = f"{source.identity} (file: {_code(source.file)})"
            return [
                name,
                "capture",
                identity,
                f"sha256 {_code(source.sha256)}",
                source.layer,
                *prose,
            ]
        layers = (
            f"{layer}: {', '.join(_code(glob) for glob in globs)}"
            for layer, globs in source.layers.items()
        )
        return [
            *(name, "git", _code(source.repository), _code(source.commit)),
            *("; ".join(layers), *prose),
        ]

    def _yaml(self, block: Block) -> Value | None:
        try:
            return read_body(block.body.split("\n"))
        except BodyFault as fault:
            self._lose(block.line, f"{block.name}: {fault.message}; kept as it is")
            return None

    def _memprofile(self, block: Block) -> Iterator[str]:
        body = self._yaml(block)
        if isinstance(body, Table):
            self._profile = body
            yield ""
        else:
            yield block.text

    # --- front matter ---------------------------------------------------------------------

    def _front_matter(self) -> str:
        data = front_matter(self._document.text)
        plain = data.get(FRONT_MATTER_KEY)
        text = plain.rstrip("\n") if isinstance(plain, str) else self._made_front_matter(data)
        if self._profile is not None and f"{PROFILE_KEY}" not in text:
            dumped = yaml.safe_dump(
                {PROFILE_KEY: self._comparison(self._profile)},
                sort_keys=False, allow_unicode=True, width=10**6,
            )  # fmt: skip
            text = f"{text}\n{dumped.rstrip()}".lstrip("\n")
        return f"---\n{text}\n---" if text else ""

    def _made_front_matter(self, data: Mapping[str, object]) -> str:
        said: dict[str, object] = {key: data[key] for key in data}
        if self._member is not None:
            said["member"] = str(self._member)
        said["system"] = self._report.system
        if self._report.run_id:
            said["run-id"] = self._report.run_id
        if self._report.boundary_kind:
            said["boundary-kind"] = str(self._report.boundary_kind)
        trees = [s for s in self._report.sources.values() if isinstance(s, GitSource)]
        if trees:
            said["source-identity"] = trees[0].repository
            said["reviewed-boundary"] = trees[0].commit
        return yaml.safe_dump(said, sort_keys=False, allow_unicode=True, width=10**6).rstrip()

    def _comparison(self, profile: Table) -> dict[str, object]:
        axes = {name: self._axis(name, value) for name, value in profile.values.items()}
        scope = {"scope": self._scope} if self._scope else {}
        return {**scope, "axes": {name: axis for name, axis in axes.items() if axis is not None}}

    def _axis(self, name: str, value: Value) -> dict[str, object] | None:
        if not isinstance(value, Table) or name not in AXES:
            self._lose(0, f"memprofile: '{name}' is no axis")
            return None
        findings = value.values.get("findings")
        rows = findings.items if isinstance(findings, Items) else ()
        evidence = {
            _text(row, "value"): {
                "basis": _text(row, "basis"),
                "records": _texts(row, "records"),
                "note": self._inline(_text(row, "note")),
            }
            for row in rows
            if isinstance(row, Table)
        }
        note, _, records = self._inline(_text(value, "note")).rpartition(AXIS_RECORDS)
        if not records.strip() or not re.fullmatch(r"[\w\s,-]+\.", records):
            note, records = _text(value, "note"), ""
        return {
            "assessment": _text(value, "assessment"),
            "values": list(evidence),
            "evidence": evidence,
            "records": split_list(records.rstrip(".")),
            "note": note.strip(),
        }

    # --- inline ---------------------------------------------------------------------------

    def _inline(self, text: str) -> str:
        """Inline Markdown with our roles as plain text or links."""
        parts: list[str] = []
        at = 0
        while match := _PIECES.search(text, at):
            parts.append(text[at : match.start()])
            at = match.end()
            piece = match[0]
            if piece.startswith("{"):
                role = _ROLE.match(text, match.start())
                piece, at = (self._role(role), role.end()) if role else (piece, at)
            elif piece.startswith("`"):
                close = re.compile(rf"(?<!`){piece}(?!`)").search(text, at)
                if close:
                    piece, at = text[match.start() : close.end()], close.end()
            parts.append(piece)
        return "".join([*parts, text[at:]])

    def _role(self, match: re.Match[str]) -> str:
        explicit = _EXPLICIT.fullmatch(match["text"])
        text, target = (explicit["text"], explicit["target"]) if explicit else ("", match["text"])
        if match["name"] == "memraw":
            return _code(match["text"])
        if match["name"] == "memsrc":
            source, path, lines = split_source_path(target)
            place = f":{lines[0]}-{lines[1]}" if lines else ""
            shown = f"{source} {_code(path + place)}".strip()
            return f"{text} ({shown})" if text else shown
        home = self._homes.get(target)
        if not text:
            return target
        if home is None:
            return f"{text} ({target})"
        return f"[{text}]({home.name}#{anchor(target)})"


def _is_of_supplied_page(block: Block) -> bool:
    return block.name == "memsupplied" or block.kind in ("heading_open", "paragraph_open")


def _code(text: str) -> str:
    """A code span."""
    ticks = fence_for([text], "`", least=1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _path_in_cell(path: str) -> str:
    return path if path in tuple(MemberName) else _code(path)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, *rows]
    written = [
        f"| {' | '.join(' '.join(cell.split()).replace('|', chr(92) + '|') for cell in line)} |"
        for line in lines
    ]
    return "\n".join([written[0], "|" + "---|" * len(header), *written[1:]])


def _text(table: Table, key: str) -> str:
    value = table.values.get(key)
    return value.text if isinstance(value, Text) else ""


def _texts(table: Table, key: str) -> list[str]:
    value = table.values.get(key)
    if isinstance(value, Text):
        return [value.text] if value.text else []
    items = value.items if isinstance(value, Items) else ()
    return [item.text for item in items if isinstance(item, Text)]
