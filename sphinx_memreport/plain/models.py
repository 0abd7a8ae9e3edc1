"""What a plain-Markdown member says, as frozen values. Lines are those of the file, from 1."""

from __future__ import annotations

from sphinx_memreport.core.ids import Kind, MemberName
from sphinx_memreport.core.models import LineRange, Model


class Text(Model):
    """Markdown as it was written, one or more blocks."""

    line: int
    text: str


class Heading(Model):
    """A heading, inline Markdown."""

    line: int
    level: int
    text: str


class Quote(Model):
    """A blockquote with an attribution.

    ``path`` is empty for a capture. ``source``, ``repository`` and ``commit`` are what the
    attribution names; ``remark`` is what stands in it besides. ``written`` is the whole
    blockquote as it was written.
    """

    line: int
    text: str
    path: str = ""
    lines: LineRange | None = None
    source: str | None = None
    repository: str | None = None
    commit: str | None = None
    remark: str = ""
    written: str = ""


class Field(Model):
    """A labelled value that is an option of the record's directive."""

    line: int
    option: str
    text: str


Part = Text | Heading | Quote


class RecordItem(Model):
    """A declared record, or an annotation on one.

    ``heading`` is the heading's text as it was written.
    """

    line: int
    id: str
    kind: Kind
    label: str
    heading: str
    annotation: bool = False
    fields: tuple[Field, ...] = ()
    body: tuple[Part, ...] = ()


class AmendmentItem(Model):
    """``Amendment: ID is superseded by ID and ID``, and what is said of it."""

    line: int
    target: str
    successors: tuple[str, ...]
    text: str = ""


class SuppliedEntry(Model):
    """An ID that a member outside of the report declares."""

    id: str
    label: str = ""
    url: str = ""


class SuppliedItem(Model):
    """A list of such IDs, and the member that declares them, if it is named.

    ``written`` is the list as it was written, with the line above it.
    """

    line: int
    member: str
    entries: tuple[SuppliedEntry, ...]
    written: str


class CoverageEntry(Model):
    """A row of a coverage table."""

    line: int
    entry: str
    direct: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    supplied: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    unresolved: str = ""
    prevents: str = ""
    note: str = ""


class CoverageItem(Model):
    """A coverage table."""

    line: int
    rows: tuple[CoverageEntry, ...]


class RegisterEntry(Model):
    """A source as a register names it; ``more`` holds what has no place of its own."""

    line: int
    id: str
    kind: str
    repository: str = ""
    commit: str = ""
    file: str = ""
    layers: tuple[tuple[str, tuple[str, ...]], ...] = ()
    inspected: str = ""
    gaps: str = ""
    more: tuple[str, ...] = ()


class RegisterItem(Model):
    """The source register."""

    line: int
    rows: tuple[RegisterEntry, ...]


class FindingEntry(Model):
    """A value of a profile axis."""

    value: str
    basis: str = ""
    records: tuple[str, ...] = ()
    note: str = ""


class AxisEntry(Model):
    """An axis of a profile; ``records`` are those of the axis as a whole."""

    name: str
    assessment: str = ""
    findings: tuple[FindingEntry, ...] = ()
    records: tuple[str, ...] = ()
    note: str = ""


class ProfileItem(Model):
    """The memory profile that the front matter holds."""

    line: int
    scope: str = ""
    axes: tuple[AxisEntry, ...] = ()


Item = (
    Text | Heading | Quote | RecordItem | AmendmentItem | SuppliedItem | CoverageItem | RegisterItem
)


class Remark(Model):
    """Something that was not understood, or not taken as what it seems to be.

    ``text`` is the beginning of it; it is kept in the output as prose.
    """

    line: int
    message: str
    text: str = ""


class FrontMatter(Model):
    """Front matter: its text, without what went into the profile, and its plain values."""

    text: str = ""
    values: tuple[tuple[str, str], ...] = ()

    def get(self, key: str) -> str:
        """A value by key, empty when there is none."""
        return dict(self.values).get(key, "")


class Member(Model):
    """One file."""

    name: str
    member: MemberName | None
    front_matter: FrontMatter
    profile: ProfileItem | None
    items: tuple[Item, ...]
    remarks: tuple[Remark, ...]

    @property
    def title(self) -> str:
        """The text of the first heading of the first level."""
        return next((i.text for i in self.items if isinstance(i, Heading) and i.level == 1), "")

    @property
    def records(self) -> list[RecordItem]:
        """Records and annotations in the order of the text."""
        return [item for item in self.items if isinstance(item, RecordItem)]

    @property
    def quotes(self) -> list[Quote]:
        """All evidence, that of records included, in the order of the text."""
        found: list[Quote] = []
        for item in self.items:
            parts = item.body if isinstance(item, RecordItem) else (item,)
            found += [part for part in parts if isinstance(part, Quote)]
        return found
