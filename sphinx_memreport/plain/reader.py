"""Reads a plain-Markdown member. Nothing is left out: what is not understood stays as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from markdown_it.token import Token

from sphinx_memreport.core.ids import Kind, MemberName, check_id, find_mentions
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND, OptionType
from sphinx_memreport.plain.attribution import is_attribution, parse_attribution
from sphinx_memreport.plain.fields import Piece, clean_value, read_fields
from sphinx_memreport.plain.front_matter import read_front_matter, split_front_matter
from sphinx_memreport.plain.inert import commonmark, lost_words, table_rows
from sphinx_memreport.plain.labels import member_from, supplier
from sphinx_memreport.plain.models import (
    AmendmentItem,
    Field,
    Heading,
    Item,
    Member,
    Part,
    Quote,
    RecordItem,
    Remark,
    SuppliedEntry,
    SuppliedItem,
    Text,
)
from sphinx_memreport.plain.tables import read_table

#: The largest file that is read, in bytes.
MAX_BYTES = 4 * 1024 * 1024

# What ends a line in one parser and not in another; none of it is more than white space.
_ODD_BREAKS = str.maketrans(dict.fromkeys("\v\f\x1c\x1d\x1e\x85\u2028\u2029", " "))
# What no page and no configuration can hold.
_UNUSABLE = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")

_RECORD = re.compile(
    r"(?P<on>On\s+)?[\[`]*(?P<id>[A-Z]{2,4}-(?:" + "|".join(Kind) + r")-[^\s`\]()—–:]+)[`\]]*"
    r"(?:\([^()\s]*\))?(?:\s*(?:—|–|--|:)\s*|\s+-\s+|\s+|$)(?P<label>.*)"
)
_LOOKS_DECLARED = re.compile(r"(?:On\s+)?[\[`]*[A-Z]{2,5}-[A-Za-z0-9]")
_AMENDMENT = re.compile(
    r"\**Amendment:?\**:?\s*(?P<target>`?[\w-]+`?)\s+is\s+superseded\s+by\s+(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_SUCCESSORS = re.compile(r"(?:\s*+(?:(?:,|\band\b|&)\s*+)?\[?`?[A-Z]{2,4}-[A-Z]{2,4}-[\w-]+`?\]?)+")
_SUPPLIED = re.compile(
    r"(?P<id>[\w-]+)(?::[ ](?P<label>[^<>]+?))?(?:[ ]<(?P<url>https?://[^\s\"'<>]+)>)?"
)
_AMENDED = re.compile(r"\**Amendment:", re.IGNORECASE)
_PART_OF = re.compile(r"\s*\**Part of(?::\**|\**:)\s*(?P<rest>.*)", re.IGNORECASE)


class NotReadable(Exception):
    """A file that cannot be read as text."""


class _Block(NamedTuple):
    """A block of the top level: its kind, first line, end, and the index of its token."""

    kind: str
    start: int
    end: int
    token: int


def decode(data: bytes) -> str:
    """The text of a file, with LF as its only line end.

    :raises NotReadable: when it is too large or not UTF-8.
    """
    if len(data) > MAX_BYTES:
        raise NotReadable(f"has {len(data)} bytes; at most {MAX_BYTES} are read")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise NotReadable(f"line {line} is not UTF-8: {error.reason}") from None
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_ODD_BREAKS)


def read_member(name: str, text: str) -> Member:
    """Read one member.

    :param name: the file's name, which may say which member it is.
    :param text: its text, from :func:`decode`.
    """
    return _Reader(name, text).member()


class _Reader:
    """One pass over the blocks of a file."""

    def __init__(self, name: str, text: str) -> None:
        self._name = name
        self._remarks: list[Remark] = []
        if _UNUSABLE.search(text):
            line = text[: _UNUSABLE.search(text).start()].count("\n") + 1  # type: ignore[union-attr]
            self._remark(line, "control characters were replaced by U+FFFD")
            text = _UNUSABLE.sub("\ufffd", text)
        matter, self._offset, body = split_front_matter(text)
        self._front = read_front_matter(matter)
        if self._front.fault:
            self._remark(self._front.fault_line + 1, f"front matter: {self._front.fault}")
        self._lines = body.split("\n")
        self._tokens = commonmark().parse(body)

    def member(self) -> Member:
        """What the file says."""
        items = tuple(self._items())
        title = next((i.text for i in items if isinstance(i, Heading) and i.level == 1), "")
        return Member(
            name=self._name,
            member=self._member(title),
            front_matter=self._front.matter,
            profile=self._front.profile,
            items=items,
            remarks=tuple(sorted(self._remarks, key=lambda remark: remark.line)),
        )

    def _member(self, title: str) -> MemberName | None:
        said = self._front.matter.get("member")
        if said in tuple(MemberName):
            return MemberName(said)
        stem = PurePosixPath(self._name).stem
        found = member_from(self._front.matter.get("type")) or member_from(stem)
        if found is None and (found := member_from(title)) is None:
            self._remark(1, "which member this is could not be told from type, name or title")
        return found

    def _remark(self, line: int, message: str, text: str = "") -> None:
        first = next((each for each in text.split("\n") if each.strip()), "").strip()
        shown = first if len(first) <= 80 else f"{first[:80]}…"
        self._remarks.append(Remark(line=line, message=message, text=shown))

    def _line(self, index: int) -> int:
        """The line of the file, from 1, of an index into the body's lines."""
        return self._offset + index + 1

    def _raw(self, start: int, end: int) -> str:
        return "\n".join(self._lines[start:end]).strip("\n")

    # --- blocks ---------------------------------------------------------------------------

    def _blocks(self) -> Iterator[_Block]:
        """The blocks of the top level; a list of supplied IDs is one with the line above it."""
        above: _Block | None = None
        for block in self._single_blocks():
            if above and block.kind == "bullet_list_open" and self._supplied_entries(block):
                yield _Block("supplied", above.start, block.end, block.token)
                above = None
                continue
            if above:
                yield above
            paragraph = block.kind == "paragraph_open"
            if paragraph and supplier(self._raw(block.start, block.end)) is not None:
                above = block
                continue
            above = None
            yield block
        if above:
            yield above

    def _single_blocks(self) -> Iterator[_Block]:
        """The blocks of the top level; what lies between them (link definitions) included."""
        at = 0
        for index, token in enumerate(self._tokens):
            if token.level or token.nesting < 0 or token.map is None:
                continue
            start, end = token.map
            if start > at:
                yield from self._between(at, start)
            if token.type == "blockquote_open":
                end = self._end_of_quote(start, end)
            yield _Block(token.type, start, end, index)
            # the rest of a quote's lazily continued paragraph is text below it
            if token.map[1] > end:
                yield from self._between(end, token.map[1])
            at = max(at, token.map[1])
        yield from self._between(at, len(self._lines))

    def _between(self, start: int, end: int) -> Iterator[_Block]:
        if any(line.strip() for line in self._lines[start:end]):
            yield _Block("text", start, end, -1)

    def _end_of_quote(self, start: int, end: int) -> int:
        """The end of a quote's lines with ``>``, if the last of them is an attribution."""
        marked = start
        while marked < end and self._lines[marked].lstrip().startswith(">"):
            marked += 1
        last = _unquoted(self._lines[marked - 1]) if marked > start else ""
        return marked if is_attribution(last) else end

    def _items(self) -> Iterator[Item]:
        record: _OpenRecord | None = None
        for block in self._blocks():
            heading = self._heading(block)
            if heading is not None and heading.level <= 4:
                if record is not None:
                    yield record.closed()
                record = self._declared(heading)
                if record is None:
                    yield heading
            elif record is not None and (block.kind == "supplied" or self._amends(block)):
                yield record.closed()
                record = None
                yield from self._outside(block)
            elif record is not None:
                self._into_record(record, block, heading)
            elif heading is not None:
                yield heading
            else:
                yield from self._outside(block)
        if record is not None:
            yield record.closed()

    def _amends(self, block: _Block) -> bool:
        """Whether a paragraph is an amendment, which belongs to no record."""
        paragraph = block.kind == "paragraph_open"
        return paragraph and bool(_AMENDED.match(self._lines[block.start]))

    def _heading(self, block: _Block) -> Heading | None:
        if block.kind != "heading_open":
            return None
        level = int(self._tokens[block.token].tag[1])
        text = " ".join(self._tokens[block.token + 1].content.split())
        return Heading(line=self._line(block.start), level=level, text=text)

    def _declared(self, heading: Heading) -> _OpenRecord | None:
        match = _RECORD.fullmatch(heading.text) if heading.level == 4 else None
        if match is None:
            if heading.level == 4 and _LOOKS_DECLARED.match(heading.text):
                self._remark(heading.line, "a heading that declares no record", heading.text)
            return None
        kind = Kind(match["id"].split("-")[1])
        return _OpenRecord(heading, match["id"], kind, match["label"], bool(match["on"]))

    def _outside(self, block: _Block) -> Iterator[Item]:
        line = self._line(block.start)
        if block.kind == "blockquote_open":
            yield from self._quotes(block.start, block.end)
        elif block.kind == "table_open":
            yield self._table(block) or Text(line=line, text=self._raw(block.start, block.end))
        elif block.kind == "supplied":
            yield self._supplied(block)
        elif block.kind == "bullet_list_open":
            yield from self._amended(block)
        else:
            text = self._raw(block.start, block.end)
            yield self._amendment(line, text) or Text(line=line, text=text)

    def _supplied(self, block: _Block) -> SuppliedItem:
        written = self._raw(block.start, block.end)
        return SuppliedItem(
            line=self._line(block.start),
            member=supplier(written.split("\n")[0]) or "",
            entries=tuple(self._supplied_entries(block)),
            written=written,
        )

    def _supplied_entries(self, block: _Block) -> list[SuppliedEntry]:
        """The entries of a list; none when one of its bullets is something else."""
        found: list[SuppliedEntry] = []
        for item in _list_items(self._tokens, block.token):
            match = _SUPPLIED.fullmatch(" ".join((item.text or "").split()))
            if match is None or not item.simple or check_id(match["id"]):
                return []
            label, url = match["label"] or "", match["url"] or ""
            found.append(SuppliedEntry(id=match["id"], label=label, url=url))
        return found

    def _table(self, block: _Block) -> Item | None:
        """A register or a coverage table, unless a row has more cells than the header."""
        rows = table_rows(self._tokens, block.token)
        lines = [self._line(number) for number in _row_lines(self._tokens, block.token)]
        cells = " ".join(cell.text for row in rows for cell in row)
        table, remarks = read_table(rows, lines)
        if table and lost_words(self._raw(block.start, block.end), cells):
            self._remark(self._line(block.start), "a table with a row longer than its header")
            return None
        for remark in remarks:
            self._remark(remark.line, remark.message, remark.text)
        return table

    def _amendment(self, line: int, text: str) -> AmendmentItem | None:
        if not _AMENDED.match(text):
            return None
        match = _AMENDMENT.fullmatch(text)
        named = _SUCCESSORS.match(match["rest"]) if match else None
        targets = list(find_mentions(match["target"])) if match else []
        if match is None or named is None or len(targets) != 1:
            self._remark(line, "an amendment that does not say what supersedes what", text)
            return None
        rest = match["rest"][named.end() :]
        return AmendmentItem(
            line=line,
            target=targets[0].target,
            successors=tuple(found.target for found in find_mentions(named[0])),
            text=rest.lstrip(" \t\n,;:.—–"),
        )

    # --- records --------------------------------------------------------------------------

    def _into_record(self, record: _OpenRecord, block: _Block, heading: Heading | None) -> None:
        line = self._line(block.start)
        if heading is not None:
            record.body.append(heading)
        elif block.kind == "blockquote_open":
            record.body += self._quotes(block.start, block.end)
        elif block.kind == "bullet_list_open":
            record.body += self._list(block, record)
        elif block.kind == "paragraph_open":
            self._paragraph(record, line, self._raw(block.start, block.end))
        else:
            record.body.append(Text(line=line, text=self._raw(block.start, block.end)))

    def _paragraph(self, record: _OpenRecord, line: int, text: str) -> None:
        """A paragraph of a record: ``Part of:`` on a line of its own, fields, or prose."""
        kept: list[str] = []
        for offset, each in enumerate(text.split("\n")):
            match = _PART_OF.fullmatch(each)
            if not match or not self._part_of(record, line + offset, match["rest"]):
                kept.append(each)
        prose = "\n".join(kept).strip("\n")
        if not prose.strip():
            return
        pieces = read_fields(record.kind, prose, bullet=False)
        if pieces is None:
            record.body.append(Text(line=line, text=prose))
            return
        for piece in pieces:
            if not self._field(record, line, piece):
                record.body.append(Text(line=line, text=self._whole(piece)))

    def _whole(self, piece: Piece) -> str:
        return piece.text if piece.option is None else f"{piece.option.label}: {piece.text}"

    def _field(self, record: _OpenRecord, line: int, piece: Piece) -> bool:
        """Take a field; False when it must stay in the text."""
        if piece.option is None:
            return False
        name = piece.option.name
        if record.has(name):
            self._remark(line, f"{record.id}: '{name}' is given twice", piece.text)
            return False
        empty = not piece.text and piece.option.type is not OptionType.FLAG
        if empty and not piece.option.required:
            return False
        record.fields.append(Field(line=line, option=name, text=piece.text))
        return True

    def _amended(self, block: _Block) -> Iterator[Item]:
        """A bullet list of a text outside records; its amendments stand alone."""
        items = list(_list_items(self._tokens, block.token))
        if not all(item.simple and _AMENDED.match(item.text or "") for item in items):
            yield from self._list(block, None)
            return
        for item in items:
            line = self._line(item.start)
            raw = self._raw(item.start, item.end)
            yield self._amendment(line, item.text or "") or Text(line=line, text=raw)

    def _list(self, block: _Block, record: _OpenRecord | None) -> Iterator[Part]:
        """A bullet list: fields go to the record, quotations become evidence, the rest is text."""
        kept: list[str] = []
        kept_line = self._line(block.start)
        for item in _list_items(self._tokens, block.token):
            line = self._line(item.start)
            if record is not None and self._bullet(record, line, item):
                continue
            lifted = list(self._lifted(item))
            if not kept:
                kept_line = line
            skipped = {number for start, end in lifted for number in range(start, end)}
            raw = [self._lines[n] for n in range(item.start, item.end) if n not in skipped]
            kept.append("\n".join(raw).rstrip("\n"))
            if lifted:
                yield Text(line=kept_line, text="\n".join(kept))
                kept = []
                for start, end in lifted:
                    yield from self._quotes(start, end)
        if any(each.strip() for each in kept):
            yield Text(line=kept_line, text="\n".join(kept).strip("\n"))

    def _bullet(self, record: _OpenRecord, line: int, item: _ListItem) -> bool:
        """Take a bullet that is a field, or several behind each other."""
        if item.text is None:
            return False
        text = " ".join(item.text.split())
        if part_of := _PART_OF.fullmatch(text):
            return self._part_of(record, line, part_of["rest"])
        pieces = read_fields(record.kind, text, bullet=True)
        if pieces is None or not any(piece.option for piece in pieces):
            return False
        if not item.simple:
            self._remark(line, f"{record.id}: a field that holds more than text", text)
            return False
        for piece in pieces:
            if not self._field(record, line, piece):
                record.body.append(Text(line=line, text=f"- {self._whole(piece)}"))
        return True

    def _part_of(self, record: _OpenRecord, line: int, rest: str) -> bool:
        option = TYPE_OF_KIND[record.kind].option("part-of")
        if option is None or record.has("part-of"):
            return False
        value = clean_value(option, rest) or ""
        record.fields.append(Field(line=line, option="part-of", text=value))
        return True

    def _lifted(self, item: _ListItem) -> Iterator[tuple[int, int]]:
        """The lines of quotations with an attribution inside a bullet."""
        for start, end in item.quotes:
            if is_attribution(_unquoted(self._lines[end - 1])):
                yield start, end

    # --- quotations -----------------------------------------------------------------------

    def _quotes(self, start: int, end: int) -> Iterator[Part]:
        """The quotations of a blockquote: each ends in an attribution."""
        lines = [_unquoted(line) for line in self._lines[start:end]]
        begin = 0
        for index, line in enumerate(lines):
            ends = index + 1 == len(lines) or not lines[index + 1].strip()
            if ends and is_attribution(line):
                yield self._quote(start + begin, lines[begin : index + 1], start + index + 1)
                begin = index + 1
        if any(line.strip() for line in lines[begin:]):
            text = self._raw(start + begin, end)
            self._remark(self._line(start + begin), "a quotation without an attribution", text)
            yield Text(line=self._line(start + begin), text=text)

    def _quote(self, start: int, lines: list[str], end: int) -> Part:
        found = parse_attribution(lines[-1])
        text = "\n".join(lines[:-1]).strip("\n")
        written = self._raw(start, end)
        if found is None or not text.strip():
            self._remark(self._line(start), "a quotation without a passage", written)
            return Text(line=self._line(start), text=written)
        return Quote(
            line=self._line(start),
            text=text,
            path=found.path,
            lines=found.lines,
            source=found.source,
            repository=found.repository,
            commit=found.commit,
            remark=found.remark,
            written=written,
        )


class _OpenRecord:
    """A record whose end has not been seen."""

    def __init__(self, heading: Heading, id: str, kind: Kind, label: str, annotation: bool) -> None:
        self.heading = heading
        self.id = id
        self.kind = kind
        self.label = label.strip()
        self.annotation = annotation
        self.fields: list[Field] = []
        self.body: list[Part] = []

    def has(self, option: str) -> bool:
        """Whether an option is set."""
        return any(field.option == option for field in self.fields)

    def closed(self) -> RecordItem:
        """The record."""
        return RecordItem(
            line=self.heading.line,
            id=self.id,
            kind=self.kind,
            label=self.label,
            heading=self.heading.text,
            annotation=self.annotation,
            fields=tuple(self.fields),
            body=tuple(self.body),
        )


class _ListItem(NamedTuple):
    """A bullet: its lines, its first paragraph, and the lines of quotations in it.

    ``simple`` says that it holds paragraphs and lists alone; ``text`` is then all of it.
    """

    start: int
    end: int
    text: str | None
    simple: bool
    quotes: tuple[tuple[int, int], ...]


def _list_items(tokens: Sequence[Token], opening: int) -> Iterator[_ListItem]:
    level = tokens[opening].level
    index = opening + 1
    while tokens[index].level > level:
        token = tokens[index]
        if token.type == "list_item_open" and token.level == level + 1 and token.map:
            end = index + 1
            while tokens[end].level > token.level:
                end += 1
            yield _list_item(token.map, tokens[index + 1 : end], token.level + 1)
            index = end
        index += 1


def _list_item(lines: list[int], inside: Sequence[Token], level: int) -> _ListItem:
    texts = [token.content for token in inside if token.type == "inline"]
    simple = all(
        token.type == "inline" or token.type.startswith(("paragraph", "list_item", "bullet_list"))
        for token in inside
    )
    quotes = tuple(
        (token.map[0], token.map[1])
        for token in inside
        if token.type == "blockquote_open" and token.level == level and token.map
    )
    starts = bool(inside) and inside[0].type == "paragraph_open"
    text = (" ".join(texts) if simple else texts[0]) if starts and texts else None
    return _ListItem(lines[0], lines[1], text, simple, quotes)


def _row_lines(tokens: Sequence[Token], opening: int) -> list[int]:
    """The first line of each row of a table."""
    found: list[int] = []
    for token in tokens[opening:]:
        if token.type == "table_close":
            break
        if token.type == "tr_open" and token.map:
            found.append(token.map[0])
    return found


def _unquoted(line: str) -> str:
    """A line of a blockquote without its mark and the one space behind it."""
    text = line.lstrip(" \t")
    if not text.startswith(">"):
        return line
    return text[1:].removeprefix(" ")
