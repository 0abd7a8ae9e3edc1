"""Writes plain members as MyST documents with our directives, and a site around them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from sphinx_memreport.core.blocks import evidence_block, fence_for
from sphinx_memreport.core.ids import MemberName, Prefix, check_id, find_mentions, parse_record_id
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND, OptionType
from sphinx_memreport.plain.inert import Inert, Links, commonmark, literal
from sphinx_memreport.plain.models import (
    AmendmentItem,
    AxisEntry,
    CoverageEntry,
    CoverageItem,
    Field,
    Heading,
    Item,
    Member,
    Part,
    ProfileItem,
    Quote,
    RecordItem,
    RegisterItem,
    SuppliedItem,
    Text,
)

#: The key under which a document keeps the front matter of the file that it comes from.
FRONT_MATTER_KEY = "plain-form"
#: Comments that hold what a directive has no place for.
HEADING_COMMENT = "plain-heading:"
#: What stands between the note of an axis and the records of the axis as a whole.
AXIS_RECORDS = "Records:"
#: The page of IDs that no member declares.
SUPPLIED_TITLE = "Records from elsewhere"
SUPPLIED_TEXT = "The members of this report cite these records; none of them declares one."
#: What the paragraph with a profile's scope begins with.
SCOPE = "Scope: "

_MEMBER_OF_PREFIX = {
    Prefix.RUNTIME: MemberName.RUNTIME,
    Prefix.MEMORY: MemberName.MEMORY,
    Prefix.EPISTEMIC: MemberName.EPISTEMIC,
}
# A value that MyST's option parser gives back as it is.
_PLAIN = re.compile(r"[^\W_](?:[\w ,.;()/<>+=—–’“”…→*~$&?-]|(?<=\S)[:#'\"`](?=\S))*")
_DASHES = re.compile(r"\A-{3,}[ \t]*$", re.MULTILINE)
_YAML_ESCAPED = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")

# A comment as the export writes it.
_COMMENT = re.compile(r"<!--\n(?P<text>(?:(?!-->).)*)\n-->", re.DOTALL)
# What a block scalar cannot hold.
_NOT_IN_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


class Document(NamedTuple):
    """A file of the site: path below the folder, and text."""

    path: str
    text: str


class Supply(NamedTuple):
    """An ID that the imported members cite and none of them declares."""

    id: str
    label: str
    member: MemberName | None


#: The source ID of a quotation, when it is not the report's only one.
SourceOf = Callable[[Quote], str]
#: Another text for a quotation, such as one with characters restored; None keeps it.
TextOf = Callable[[Member, Quote], str | None]


def document_name(member: Member) -> str:
    """The name of the document that a member becomes, without suffix."""
    stem = PurePosixPath(member.name).name
    stem = re.sub(r"\.(?:md|markdown|txt)$", "", stem, flags=re.IGNORECASE)
    stem = re.sub(r"[^\w.-]+", "-", stem, flags=re.ASCII).strip(".-_")
    return stem or "member"


# --- IDs ----------------------------------------------------------------------------------


def declared_ids(members: Iterable[Member]) -> dict[str, str]:
    """Declared IDs, with their labels."""
    return {
        record.id: record.label
        for member in members
        for record in member.records
        if not record.annotation
    }


def listed_ids(members: Iterable[Member]) -> set[str]:
    """IDs that a member lists as supplied from elsewhere."""
    items = (item for member in members for item in member.items)
    return {each.id for item in items if isinstance(item, SuppliedItem) for each in item.entries}


def cited_ids(member: Member) -> list[str]:
    """Every ID in a member's text, quotations left out, in the order of the text."""
    found: dict[str, None] = {}
    for text in _texts(member):
        for mention in find_mentions(text):
            found[mention.target] = None
    return list(found)


def supplied(members: Sequence[Member]) -> list[Supply]:
    """Well-formed record IDs that are cited, and neither declared nor listed as supplied."""
    declared = {*declared_ids(members), *listed_ids(members)}
    labels = {
        record.id: record.label
        for member in members
        for record in member.records
        if record.annotation and record.label and record.label.lower() != "annotation"
    }
    cited = dict.fromkeys(each for member in members for each in cited_ids(member))
    return [
        Supply(each, labels.get(each, ""), _MEMBER_OF_PREFIX[parse_record_id(each).prefix])
        for each in cited
        if each not in declared and not each.startswith("SRC") and check_id(each) is None
    ]


def _texts(member: Member) -> Iterator[str]:
    for item in member.items:
        match item:
            case RecordItem():
                yield item.id
                yield item.label
                yield from (field.text for field in item.fields)
                yield from (_scanned(part) for part in item.body)
            case AmendmentItem():
                yield " ".join([item.target, *item.successors, item.text])
            case CoverageItem():
                for row in item.rows:
                    yield " ".join(
                        [row.entry, *row.records, row.note, row.unresolved, row.prevents]
                    )
            case RegisterItem():
                for source in item.rows:
                    yield " ".join([source.inspected, source.gaps, *source.more])
            case Text() | Heading() | Quote():
                yield _scanned(item)
    if member.profile:
        yield member.profile.scope
        for axis in member.profile.axes:
            yield " ".join([axis.note, *axis.records])
            yield from (" ".join([each.note, *each.records]) for each in axis.findings)


def _scanned(part: Part) -> str:
    """The text of a part that is read for IDs: neither quotations nor code blocks are."""
    match part:
        case Quote():
            return ""
        case Heading():
            return part.text
    tokens = commonmark().parse(part.text)
    return "\n".join(token.content for token in tokens if token.type == "inline")


# --- a member -----------------------------------------------------------------------------


class MystWriter:
    """Writes members of one report.

    :param members: all of them, so that links between them are known.
    :param source_of: which source a quotation is from.
    :param pins: source ID to commit; an attribution that names another one keeps it as a caption.
    """

    def __init__(
        self, members: Sequence[Member], source_of: SourceOf, pins: Mapping[str, str]
    ) -> None:
        self._declared = declared_ids(members)
        listed = listed_ids(members)
        known = {*self._declared, *listed, *(each.id for each in supplied(members))}
        files = {f"{document_name(member)}.md" for member in members}
        self._inert = Inert(Links(files, known))
        self._source_of = source_of
        self._pins = pins

    def document(self, member: Member, text_of: TextOf = lambda _member, _quote: None) -> str:
        """The text of the document that a member becomes."""
        self._member, self._text_of = member, text_of
        blocks = [self._front_matter(member)] if member.front_matter.text.strip() else []
        items = list(member.items)
        if items and isinstance(items[0], Heading) and items[0].level == 1:
            blocks.append(self._item(items.pop(0)))
        elif not member.title:
            blocks.append(f"# {self._inert.inline(document_name(member))}")
        if member.member is not None:
            blocks.append(_directive("memmember", member.member, [], [], "`"))
        if member.profile:
            blocks += self._profile(member.profile)
        blocks += [self._item(item) for item in items]
        return "\n\n".join(block for block in blocks if block) + "\n"

    def _front_matter(self, member: Member) -> str:
        lines = _NOT_IN_BLOCK.sub("\ufffd", member.front_matter.text).split("\n")
        indented = [f"    {line}" if line.strip() else "" for line in lines]
        return "\n".join(["---", f"{FRONT_MATTER_KEY}: |4", *indented, "---"])

    def _item(self, item: Item) -> str:
        match item:
            case Heading():
                return f"{'#' * item.level} {self._inert.inline(item.text)}"
            case Text():
                return self._text(item.text)
            case Quote():
                return self._quote(item)
            case SuppliedItem():
                return self._supplied(item)
            case RecordItem():
                return self._record(item)
            case AmendmentItem():
                return self._amendment(item)
            case CoverageItem():
                return self._coverage(item)
            case RegisterItem():
                return _directive("memsources", "", [], [], "`")

    # --- records --------------------------------------------------------------------------

    def _record(self, item: RecordItem) -> str:
        name = "memannotation" if item.annotation else TYPE_OF_KIND[item.kind].directive
        argument, comments = item.id, []
        label = self._inert.inline(item.label) if item.label else ""
        if item.annotation:
            comments.append(f"% {HEADING_COMMENT} {item.heading}")
            if self._says_more(item):
                comments.append(f"**{label}**")
        elif label:
            argument = f"{item.id} — {label}"
        options = [
            (field.option, self._value(item, field.option, field.text)) for field in _ordered(item)
        ]
        body = [*comments, *(self._part(part) for part in item.body)]
        return _directive(name, argument, options, body, ":")

    def _says_more(self, item: RecordItem) -> bool:
        """Whether the label of an annotation says what the record's own does not."""
        words = item.label.lower().strip("*. ")
        return words not in ("", "annotation", self._declared.get(item.id, "annotation").lower())

    def _value(self, item: RecordItem, name: str, text: str) -> str:
        option = TYPE_OF_KIND[item.kind].option(name)
        if option is not None and option.type is OptionType.PROSE and text:
            return self._inert.inline(text)
        return " ".join(text.split()) if option and option.type is not OptionType.VERBATIM else text

    def _part(self, part: Part) -> str:
        match part:
            case Heading():
                return _directive(
                    "rubric",
                    self._inert.inline(part.text),
                    [("heading-level", str(part.level))],
                    [],
                    ":",
                )
            case Quote():
                return self._quote(part)
            case Text():
                return self._text(part.text)

    def _text(self, text: str) -> str:
        """Text; a comment that the export wrote is one again."""
        comment = _COMMENT.fullmatch(text)
        if comment is None or HEADING_COMMENT in text:
            return self._inert.block(text)
        return "\n".join(f"% {line}".rstrip() for line in comment["text"].split("\n"))

    def _supplied(self, item: SuppliedItem) -> str:
        if any(each.id in self._declared for each in item.entries):
            return self._inert.block(item.written)
        lines = [
            " ".join(
                [
                    f"{each.id}: {each.label}" if each.label else each.id,
                    *([f"<{each.url}>"] if each.url else []),
                ]
            )
            for each in item.entries
        ]
        options = [("member", item.member)] if item.member else []
        return _directive("memsupplied", "", options, ["\n".join(lines)], "`")

    def _quote(self, quote: Quote) -> str:
        source = self._source_of(quote)
        caption = quote.remark
        if quote.commit and not self._pins.get(source, quote.commit).startswith(quote.commit):
            caption = f"{caption} Quoted at {quote.commit}.".strip()
        try:
            return evidence_block(
                source,
                quote.path,
                self._text_of(self._member, quote) or quote.text,
                lines=quote.lines,
                caption=self._inert.inline(caption) if caption else None,
            ).rstrip("\n")
        except ValueError:  # a path that no directive can name
            return literal(quote.written)

    def _amendment(self, item: AmendmentItem) -> str:
        options = [("superseded-by", ", ".join(item.successors))]
        body = [self._inert.block(item.text)] if item.text.strip() else []
        return _directive("memamendment", item.target, options, body, ":")

    # --- YAML bodies ----------------------------------------------------------------------

    def _coverage(self, item: CoverageItem) -> str:
        lines: list[str] = []
        for row in item.rows:
            lines += _indented(self._coverage_row(row), "- ")
        return _directive("memcoverage", "", [], ["\n".join(lines)], "`")

    def _coverage_row(self, row: CoverageEntry) -> list[str]:
        inline = self._inert.inline
        pairs: list[tuple[str, str]] = [("entry", _scalar(inline(row.entry)))]
        for key in ("direct", "search", "supplied", "records"):
            if values := getattr(row, key):
                pairs.append((key, _flow(values)))
        for key in ("unresolved", "prevents", "note"):
            if value := getattr(row, key):
                pairs.append((key, _scalar(inline(value))))
        return [f"{key}: {value}" for key, value in pairs]

    def _profile(self, profile: ProfileItem) -> list[str]:
        lines: list[str] = []
        for axis in profile.axes:
            lines += [f"{axis.name}:", *_indented(self._axis(axis), "  ")]
        scope = [self._inert.block(f"{SCOPE}{profile.scope}")] if profile.scope else []
        return [*scope, _directive("memprofile", "", [], ["\n".join(lines)], "`")]

    def _axis(self, axis: AxisEntry) -> list[str]:
        lines = [f"assessment: {_scalar(axis.assessment)}"]
        if axis.findings:
            lines.append("findings:")
        for finding in axis.findings:
            pairs = [("value", _scalar(finding.value))]
            if finding.basis:
                pairs.append(("basis", _scalar(finding.basis)))
            if finding.records:
                pairs.append(("records", _flow(finding.records)))
            if finding.note:
                pairs.append(("note", _scalar(self._inert.inline(finding.note))))
            lines += _indented([f"{key}: {value}" for key, value in pairs], "  - ")
        note = self._inert.inline(axis.note) if axis.note else ""
        if axis.records:
            note = f"{note} {AXIS_RECORDS} {', '.join(axis.records)}.".strip()
        return [*lines, f"note: {_scalar(note)}"] if note else lines


def _ordered(item: RecordItem) -> list[Field]:
    """The fields in the order of the vocabulary."""
    names = [option.name for option in TYPE_OF_KIND[item.kind].options]
    return sorted(item.fields, key=lambda field: names.index(field.option))


def _indented(lines: Sequence[str], first: str) -> list[str]:
    """Lines behind a mark, the further ones below the first."""
    return [
        f"{first if not number else ' ' * len(first)}{line}" for number, line in enumerate(lines)
    ]


def _directive(
    name: str,
    argument: str,
    options: Sequence[tuple[str, str]],
    body: Sequence[str],
    marker: str,
) -> str:
    """A directive whose fence is longer than all marks inside."""
    lines = [f":{key}: {_option_value(value)}".rstrip() for key, value in options]
    if body:
        # at the start of a body, a rule of dashes would open front matter, which MyST drops
        body = [_DASHES.sub("***", body[0], count=1), *body[1:]]
        blank = [""] if lines or marker == ":" else []
        lines += [*blank, *"\n\n".join(body).split("\n")]
    fence = fence_for([argument, *lines], marker)
    return "\n".join([f"{fence}{{{name}}} {argument}".rstrip(), *lines, fence])


def _option_value(value: str) -> str:
    return value if not value or _PLAIN.fullmatch(value) else _scalar(value)


def _scalar(text: str) -> str:
    """A double-quoted scalar, which YAML and MyST's option parser read alike."""
    return _YAML_ESCAPED.sub(_escape, json.dumps(text, ensure_ascii=False))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    # no surrogate and no control survives in a page: the replacement character stands for it
    return "\\ufffd" if code < 0xA0 or code > 0xD7FF else f"\\u{code:04x}"


def _flow(values: Iterable[str]) -> str:
    return f"[{', '.join(_scalar(value) for value in values)}]"


# --- pages around them --------------------------------------------------------------------


def supplied_page(entries: Sequence[Supply]) -> str:
    """A page that lists the supplied IDs, those of each member together."""
    blocks = [
        f"# {SUPPLIED_TITLE}",
        SUPPLIED_TEXT,
    ]
    for member in _MEMBER_OF_PREFIX.values():
        of_member = [entry for entry in entries if entry.member is member]
        if of_member:
            lines = [_supply(entry) for entry in of_member]
            blocks.append(
                _directive("memsupplied", "", [("member", member)], ["\n".join(lines)], "`")
            )
    return "\n\n".join(blocks) + "\n"


def _supply(entry: Supply) -> str:
    label = re.sub(r"[<>`]", "", entry.label).strip()
    return f"{entry.id}: {label}" if label else entry.id


def index_page(system: str, names: Sequence[str]) -> str:
    """The first page: the system and its members."""
    toctree = _directive("toctree", "", [("maxdepth", "2")], ["\n".join(names)], "`")
    return f"# {Inert().inline(system)}\n\n{toctree}\n"


def conf_py(system: str) -> str:
    """The settings of the site."""
    return (
        f"project = {system!a}\n"
        "html_show_copyright = False\n"
        'extensions = ["myst_parser", "sphinx_memreport"]\n'
        'myst_enable_extensions = ["colon_fence"]\n'
        "myst_heading_anchors = 4\n"
        'exclude_patterns = ["_build", "checkouts"]\n'
        "# members keep the levels of their headings, which may skip one\n"
        'suppress_warnings = ["myst.header"]\n'
    )
