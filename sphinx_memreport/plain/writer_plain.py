"""Writes the documents of a report as plain-Markdown members."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import PurePosixPath
from textwrap import dedent
from typing import NamedTuple

import yaml

from sphinx_memreport.config import CaptureSource, ContractLevel, GitSource, Report
from sphinx_memreport.core.blocks import body_lines, fence_for
from sphinx_memreport.core.ids import Kind, MemberName, anchor, find_mentions, parse_record_id
from sphinx_memreport.core.inline import code_ends, titled
from sphinx_memreport.core.profiles import AXES
from sphinx_memreport.core.source_paths import split_source_path
from sphinx_memreport.core.vocabulary import (
    OWN_DIRECTIVES,
    RECORD_TYPES,
    TYPE_OF_KIND,
    OptionType,
    RecordType,
    split_list,
)
from sphinx_memreport.core.yaml_body import BodyFault, Items, Table, Text, Value, read_body
from sphinx_memreport.plain.front_matter import PROFILE_KEY
from sphinx_memreport.plain.inert import fenced
from sphinx_memreport.plain.labels import supplied_by, written_label
from sphinx_memreport.plain.models import Remark
from sphinx_memreport.plain.myst_reader import Block, front_matter, read_blocks
from sphinx_memreport.plain.writer_myst import (
    AXIS_RECORDS,
    FRONT_MATTER_KEY,
    HEADING_COMMENT,
    SCOPE,
    SUPPLIED_TEXT,
    SUPPLIED_TITLE,
)

_TYPE_OF = {type.directive: type for type in RECORD_TYPES}
_ARGUMENT = re.compile(
    r"(?P<id>[^\s—–]+?)(?:\s*(?:—|–|--)\s*|\s+-\s+|\s+|$)(?P<label>.*)", re.DOTALL
)
_PIECES = re.compile(r"\\.|\{(?P<role>[\w.+:-]+)\}(?P<ticks>`+)|`+", re.DOTALL)
#: Our roles, by the names that authors may give them.
_ROLES = {"mem": "mem", "mem:record": "mem", "mem:source": "mem"} | {
    "memsrc": "memsrc",
    "mem:path": "memsrc",
    "memraw": "memraw",
}
#: Directives of which nothing stands where they stand.
_UNSEEN = OWN_DIRECTIVES - {"evidence", "memcoverage", "memsources"} | {"toctree"}
_COMMENT_MARK = re.compile(r"^[ ]{0,3}%[ ]?", re.MULTILINE)
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
            lost = sorted(writer.lost, key=lambda remark: remark.line)
            written.append(Written(document.path, text or "", tuple(lost)))
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
        self._line = 1  # of the block that is being written
        self._unchecked: list[int] = []  # lines of paths that nothing checks any more
        self._writers = {
            "rubric": self._rubric,
            "memmember": self._memmember,
            "memsources": self._memsources,
            "memsupplied": self._memsupplied,
            "memannotation": self._memannotation,
            "memamendment": self._memamendment,
            "memcoverage": self._memcoverage,
            "memprofile": self._memprofile,
            "evidence": self._evidence,
        }
        self.lost: list[Remark] = []

    def written(self) -> str | None:
        """The text of the member; None when nothing of it is a member's own."""
        blocks = [b for b in read_blocks(self._document.text) if b.kind != "front_matter"]
        if _is_supplied_page(blocks):
            return None
        blocks = self._without_scope(blocks)
        self._note_text_below_records(blocks)
        parts = [part for block in blocks for part in self._block(block)]
        if self._unchecked:
            message = f"memsrc: paths in the text ({len(self._unchecked)}) are not checked any more"
            self._lose(self._unchecked[0], message)
        head = self._front_matter()
        return "\n\n".join([*([head] if head else []), *(p for p in parts if p)]) + "\n"

    def _without_scope(self, blocks: list[Block]) -> list[Block]:
        """The blocks without the paragraph that holds a profile's scope, which is noted."""
        for above, block in pairwise(blocks):
            if block.name == "memprofile" and above.text.startswith(SCOPE):
                self._scope = " ".join(above.text.removeprefix(SCOPE).split())
                return [each for each in blocks if each is not above]
        return blocks

    def _note_text_below_records(self, blocks: list[Block]) -> None:
        """Name what would become part of a record: that ends where a heading stands."""
        record = ""
        for block in blocks:
            if block.name in _TYPE_OF or block.name == "memannotation":
                record = block.argument
            elif block.name in ("memamendment", "memsupplied") or _is_heading(block):
                record = ""
            elif record and block.kind != "myst_line_comment" and block.name not in _UNSEEN:
                message = f"no heading divides it from {record.split()[0]}: it becomes part of that"
                self._lose(block.line, message, block.text)
                record = ""

    def _lose(self, line: int, message: str, text: str = "") -> None:
        first = text.strip().split("\n")[0] if text.strip() else ""
        self.lost.append(Remark(line=line, message=message, text=first[:80]))

    # --- blocks ---------------------------------------------------------------------------

    def _block(self, block: Block) -> Iterator[str]:
        self._line = block.line
        if block.kind == "directive":
            yield from self._directive(block)
        elif block.kind == "fence":
            yield block.text
        elif block.kind == "code_block":
            yield "\n".join(fenced(dedent(block.text)))
        elif block.kind == "myst_line_comment":
            yield from self._comment(block)
        else:
            yield self._inline(block.text)

    def _comment(self, block: Block) -> Iterator[str]:
        """A comment as Markdown has it; one that this cannot hold is named."""
        text = _COMMENT_MARK.sub("", block.text)
        if HEADING_COMMENT in text:
            return
        if "-->" in text:
            self._lose(block.line, "a comment that holds '-->' is not written", text)
        else:
            yield f"<!--\n{text}\n-->"

    def _directive(self, block: Block) -> Iterator[str]:
        if not block.readable:
            self._lose(block.line, f"{block.name}: its options cannot be read; kept as it is")
            yield block.text
        elif block.name in _TYPE_OF:
            yield from self._record(block, _TYPE_OF[block.name])
        elif block.name in self._writers:
            yield from self._writers[block.name](block)
        elif block.name in OWN_DIRECTIVES or block.name == "toctree":
            self._lose(block.line, f"the plain form has no {block.name}")
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

    def _memsources(self, block: Block) -> Iterator[str]:
        for name, source in self._report.sources.items():
            self._lose_of_source(block.line, name, source)
        rows = [self._register_row(name, each) for name, each in self._report.sources.items()]
        yield _table(_REGISTER, rows)

    def _lose_of_source(self, line: int, name: str, source: GitSource | CaptureSource) -> None:
        """Name what a row of the register has no place for."""
        if source.encoding != "utf-8":
            self._lose(line, f"{name}: the plain form has no 'encoding'", source.encoding)
        if isinstance(source, CaptureSource):
            self._lose(line, f"{name}: its file is named but not copied", source.file)
        elif source.permalink:
            self._lose(line, f"{name}: the plain form has no 'permalink'", source.permalink)

    def _memsupplied(self, block: Block) -> Iterator[str]:
        if block.option("from"):
            self._lose(block.line, "memsupplied: what it takes from a file is not written")
        entries = [line.strip() for line in block.body.split("\n") if line.strip()]
        if entries:
            yield supplied_by(block.option("member"))
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
        attribution = _code(f"{path}{place}") if path else f"{source}{_lines(block)}"
        if path and source and len(self._report.sources) > 1:
            attribution = f"{source} {attribution}"
        if caption := block.option("caption"):
            attribution = f"{attribution} — {self._inline(' '.join(caption.split()))}"
        lines = [*body_lines(block.body), f"--- {attribution}"]
        yield "\n".join(f"> {line}".rstrip() for line in lines)

    # --- tables ---------------------------------------------------------------------------

    def _memcoverage(self, block: Block) -> Iterator[str]:
        body = self._yaml(block, Items)
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
        note, unresolved, prevents = (
            self._inline(_text(row, key)) for key in ("note", "unresolved", "prevents")
        )
        records = _texts(row, "records")
        for cited in _records_in(f"{note} {unresolved} {prevents}"):
            if cited not in records:
                self._lose(self._line, "memcoverage: cited, it becomes a record of the row", cited)
        ids = ", ".join(_unsaid(records, note))
        said = f"{ids}. {note}" if ids and note else ids or note
        return [self._inline(_text(row, "entry")), "; ".join(paths), said, unresolved, prevents]

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

    def _yaml(self, block: Block, wanted: type[Value]) -> Value | None:
        try:
            body = read_body(block.body.split("\n"))
        except BodyFault as fault:
            self._lose(block.line, f"{block.name}: {fault.message}; kept as it is")
            return None
        if not isinstance(body, wanted):
            self._lose(block.line, f"{block.name}: its body cannot be read; kept as it is")
        return body

    def _memprofile(self, block: Block) -> Iterator[str]:
        body = self._yaml(block, Table)
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
        whole = self._inline(_text(value, "note"))
        note, _, records = whole.rpartition(AXIS_RECORDS)
        # the import puts the records of an axis, which its directive has no place for, there
        if AXIS_RECORDS not in whole or not _is_list_of_records(records):
            note, records = whole, ""
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
        ends = code_ends(text)
        parts: list[str] = []
        at = 0
        while match := _PIECES.search(text, at):
            parts.append(text[at : match.start()])
            at = match.end()
            piece = match[0]
            if match["role"]:
                end = ends[match.start("ticks")]
                if end > at:
                    content = text[at : end - len(match["ticks"])]
                    piece, at = self._role(match["role"], content, text[match.start() : end]), end
            elif piece.startswith("`"):
                at = ends[match.start()]
                piece = text[match.start() : at]
            parts.append(piece)
        return "".join([*parts, text[at:]])

    def _role(self, written_name: str, content: str, written: str) -> str:
        name = _ROLES.get(written_name)
        if name is None:
            self._lose(self._line, f"the role '{written_name}' is not ours; kept as it is", written)
            return written
        explicit = titled(content)
        text, target = "", content
        if explicit:
            text, target = explicit.title, content[explicit.start : explicit.end]
        if name == "memraw":
            self._lose(self._line, "memraw: without it, the ID is a citation", content)
            return _code(content)
        if name == "memsrc":
            self._unchecked.append(self._line)
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


def _is_heading(block: Block) -> bool:
    """Whether a block is a heading of a level that ends a record."""
    return block.kind == "heading_open" and not block.text.lstrip().startswith("#####")


def _is_supplied_page(blocks: Sequence[Block]) -> bool:
    """Whether a document is the page that the import makes of IDs which no member declares."""
    own = [block for block in blocks if block.name != "memsupplied"]
    return [block.text for block in own] == [f"# {SUPPLIED_TITLE}", SUPPLIED_TEXT] and all(
        "<" not in block.body and not block.option("from") for block in blocks
    )


def lost_settings(report: Report, documents: Sequence[Source]) -> Iterator[Remark]:
    """What the configuration says of a report and none of its members will."""
    if report.contract is not ContractLevel.CORE:
        message = f"the plain form has no 'contract = \"{report.contract}\"'"
        yield Remark(line=1, message=message)
    names = {block.name for document in documents for block in read_blocks(document.text)}
    if "memsources" not in names and (lost := list(_without_register(report))):
        yield Remark(line=1, message=f"no document has memsources: not written: {', '.join(lost)}")


def _without_register(report: Report) -> Iterator[str]:
    """What front matter does not say of sources: that holds the pin of the first tree alone."""
    trees = [name for name, source in report.sources.items() if isinstance(source, GitSource)]
    for name, source in report.sources.items():
        if name not in trees[:1]:
            yield name
        else:
            said = {key: getattr(source, key) for key in ("layers", "inspected", "gaps")}
            yield from (f"{key} of {name}" for key, value in said.items() if value)


def _lines(block: Block) -> str:
    """The lines of a capture, which has no path to write them behind."""
    lines = block.option("lines")
    many = "s" if "-" in lines else ""
    return f", line{many} {lines}" if lines else ""


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


def _is_list_of_records(text: str) -> bool:
    """Whether a text is record IDs with commas between them, and a full stop."""
    listed = split_list(text.strip().removesuffix("."))
    return bool(listed) and listed == _records_in(text)


def _records_in(text: str) -> list[str]:
    """The records that a text cites, in its order."""
    targets = (mention.target for mention in find_mentions(text) if not mention.is_source)
    return list(dict.fromkeys(targets))


def _unsaid(records: list[str], note: str) -> list[str]:
    """The records to write before a note: those that it does not say itself, in their order."""
    said = _records_in(note)
    unsaid = [each for each in records if each not in said]
    return unsaid if [*unsaid, *said] == records else records


def _text(table: Table, key: str) -> str:
    value = table.values.get(key)
    return value.text if isinstance(value, Text) else ""


def _texts(table: Table, key: str) -> list[str]:
    value = table.values.get(key)
    if isinstance(value, Text):
        return [value.text] if value.text else []
    items = value.items if isinstance(value, Items) else ()
    return [item.text for item in items if isinstance(item, Text)]
