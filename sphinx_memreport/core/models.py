"""What an author wrote and what was found out about it, as frozen values.

Everything here is stored in the Sphinx environment (pickled) and exported (JSON). Unpickling
does not validate: raise :data:`DATA_VERSION` whenever a model changes, or what the stored trees of
documents are made of. What a site holds thousands of is a plain dataclass with slots, a fifth of
the size of a pydantic model.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from sphinx_memreport.core.ids import IdStyle, Kind, MemberName
from sphinx_memreport.core.problems import Code, MessageLine, Notice

#: Version of the stored models; a snapshot test of their JSON Schema guards it.
DATA_VERSION = 6


class Model(BaseModel):
    """Base of all stored values: frozen, hashable, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class Slotted:
    """Base of stored dataclasses with slots: pickled by position, several times as fast."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def __reduce__(self) -> tuple[object, ...]:
        return _restored, (type(self), tuple(getattr(self, name) for name in self.__slots__))


def _restored(cls: type, values: tuple[object, ...]) -> object:
    restored: object = object.__new__(cls)
    for name, value in zip(cls.__slots__, values, strict=True):  # type: ignore[attr-defined]
        object.__setattr__(restored, name, value)  # frozen
    return restored


class Layer(StrEnum):
    """What a piece of evidence can establish (contract, section 2)."""

    IMPLEMENTATION = "implementation"
    DOCTRINE = "doctrine/design"
    REPORTED = "reported operation"
    OBSERVED = "observed run"
    CAUSAL = "causal experiment"


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRange(Slotted):
    """Lines of a file, counted from 1, both ends included.

    :raises ValueError: when an end is below 1.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")

    start: Annotated[int, Field(ge=1)]
    end: Annotated[int, Field(ge=1)]

    def __post_init__(self) -> None:
        if self.start < 1 or self.end < 1:
            raise ValueError("lines are counted from 1")

    def __str__(self) -> str:
        return str(self.start) if self.start == self.end else f"{self.start}-{self.end}"

    @property
    def words(self) -> str:
        """The range as it is said in a sentence: ``line 5`` or ``lines 5-8``."""
        return f"line {self}" if self.start == self.end else f"lines {self}"


class SourceRules(Model):
    """What the checks must know of one source.

    ``fingerprint`` stands for all that decides a verdict about it; ``place`` is the line of its
    table in ``memreport.toml``.
    """

    id: str
    kind: Literal["git", "capture"]
    fingerprint: str
    commit: str | None = None
    sha256: str | None = None
    line: int | None = None

    @property
    def pin(self) -> str:
        """The commit, or the SHA-256 of a capture."""
        return self.commit or self.sha256 or ""


class ReportRules(Model):
    """What the checks must know of one report."""

    slug: str
    ids: IdStyle = IdStyle.NAMED
    strict: bool = False
    sources: tuple[SourceRules, ...] = ()

    def source(self, source_id: str) -> SourceRules | None:
        """The source of that ID; an empty ID means the only source of the report."""
        if not source_id:
            return self.sources[0] if len(self.sources) == 1 else None
        return next((source for source in self.sources if source.id == source_id), None)

    @property
    def only_tree(self) -> SourceRules | None:
        """The source that a path without a source is in: the only one that has paths."""
        trees = [source for source in self.sources if source.kind == "git"]
        return trees[0] if len(trees) == 1 else None


# --- what an author wrote -----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValue(Slotted):
    """One option of a record directive, as plain text."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(Slotted):
    """A declared record. ``docname`` and ``line`` are the directive's opening line."""

    report: str
    id: str
    kind: Kind
    label: str
    docname: str
    line: int
    member: MemberName | None = None
    fields: tuple[FieldValue, ...] = ()
    part_of: str | None = None
    tags: tuple[str, ...] = ()

    def field(self, name: str) -> str | None:
        """The text of an option, or None when the author left it out."""
        return next((value.text for value in self.fields if value.name == name), None)


class Annotation(Model):
    """What another analyst adds to a record (contract, section 3.7).

    ``target`` is the annotated record, ``kind`` its kind. ``fields`` are plain text, as the page
    of the record shows them. ``anchor`` is unique in the document.
    """

    report: str
    target: str
    kind: Kind
    docname: str
    line: int
    anchor: str
    member: MemberName | None = None
    fields: tuple[FieldValue, ...] = ()

    def field(self, name: str) -> str | None:
        """The text of an option, or None when the author left it out."""
        return next((value.text for value in self.fields if value.name == name), None)


class Amendment(Model):
    """A statement that a record is superseded by others (contract, section 3.7)."""

    report: str
    target: str
    docname: str
    line: int
    anchor: str
    superseded_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Slotted):
    """A verbatim passage and where it is said to stand.

    ``number`` counts the evidence of a document from 0 and with ``docname`` identifies it.
    ``path`` is None for a capture. ``record`` is the record it stands in, if any; where
    ``annotation`` is set, it stands in the annotation of that anchor on the record.
    """

    report: str
    docname: str
    line: int
    number: int
    source: str
    path: str | None
    quote: str
    lines: LineRange | None = None
    layer: Layer | None = None
    lang: str | None = None
    caption: str | None = None
    record: str | None = None
    annotation: str | None = None
    supports: tuple[str, ...] = ()


class ReferenceOrigin(StrEnum):
    """How an ID came to be cited."""

    ROLE = "role"
    BARE = "bare"
    OPTION = "option"
    RELATION = "relation"  # part-of, supports, superseded-by, coverage rows …


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference(Slotted):
    """One citation of a record or source ID.

    ``report`` is the report whose name space holds ``target``. ``record`` is the record in
    which the citation stands, if any; where ``annotation`` is set, it stands in the annotation
    of that anchor on the record. ``option`` is the option that holds it.
    """

    report: str
    target: str
    docname: str
    line: int
    origin: ReferenceOrigin
    record: str | None = None
    annotation: str | None = None
    option: str | None = None
    section: str | None = None


class PathReference(Model):
    """A path in a source that a document points at (``memsrc``); it must exist."""

    report: str
    source: str
    path: str
    docname: str
    line: int
    lines: LineRange | None = None
    record: str | None = None


class Supplied(Model):
    """An ID that a member outside this site declares (contract, section 3.8)."""

    report: str
    id: str
    docname: str
    line: int
    label: str = ""
    url: str | None = None
    member: str | None = None


class CoverageRow(Model):
    """A row of a coverage table (contract, section 3.9); ``line`` is where it begins.

    ``direct``, ``search`` and ``supplied`` are as the author wrote them.
    """

    report: str
    docname: str
    line: int
    entry: str = ""
    direct: tuple[str, ...] = ()
    search: tuple[str, ...] = ()
    supplied: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    unresolved: str = ""
    prevents: str = ""
    note: str = ""


class ProfileFinding(Model):
    """A value of a profile axis and what it rests on; ``line`` is where it begins."""

    line: int
    value: str
    basis: str = ""
    records: tuple[str, ...] = ()
    note: str = ""


class ProfileAxis(Model):
    """What a profile says on one axis; ``line`` is that of its key."""

    line: int
    name: str
    assessment: str = ""
    findings: tuple[ProfileFinding, ...] = ()
    note: str = ""


class Profile(Model):
    """The profile of a report (contract, section 3.10), as far as it could be read."""

    report: str
    docname: str
    line: int
    axes: tuple[ProfileAxis, ...] = ()

    def axis(self, name: str) -> ProfileAxis | None:
        """What the profile says on an axis, or None."""
        return next((axis for axis in self.axes if axis.name == name), None)


class View(Model):
    """A directive that shows what other documents declare, and what it asks for.

    Empty lists mean everything. ``report`` is the report that ``around`` belongs to.
    """

    directive: str
    docname: str
    line: int
    reports: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    members: tuple[MemberName, ...] = ()
    statuses: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    report: str = ""
    around: str | None = None
    depth: int = 1


class CommitMention(Model):
    """A full commit hash in the text of a document."""

    report: str
    commit: str
    docname: str
    line: int


# --- what was found out -------------------------------------------------------------------


class Status(StrEnum):
    """The verdict on one piece of evidence."""

    VERIFIED = "verified"
    STALE = "stale"
    AMBIGUOUS = "ambiguous"
    MISSING = "missing"
    UNVERIFIED = "unverified"


class Finding(Model):
    """A problem without a place: the same for every document that holds the same evidence."""

    code: Code | Notice
    message: MessageLine
    details: tuple[MessageLine, ...] = ()
    fix: MessageLine = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt(Slotted):
    """Whole lines around a passage, as a page about the file shows them.

    ``start`` is the number of the first line of ``text``.
    """

    start: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution(Slotted):
    """The verdict on one piece of evidence, with what a page shows of it.

    ``passage`` is the text of the file that was matched, set when verified. Where ``locked`` is
    set, no file was read: the lock of that date vouches for the verdict.
    """

    status: Status
    blob: str | None = None
    lines: LineRange | None = None
    passage: str | None = None
    excerpt: Excerpt | None = None
    finding: Finding | None = None
    locked: date | None = None


class PathVerdict(Model):
    """Whether a path exists at the pin; ``finding`` is set when it, or its range, does not.

    ``locked`` is the date of the lock that says so in place of a checkout.
    """

    directory: bool = False
    finding: Finding | None = None
    locked: date | None = None


class Names(Model):
    """Names in the order of the search: the first of them, and how many there are."""

    shown: tuple[str, ...] = ()
    count: int = 0


class Hit(Model):
    """A line in which a pattern occurs. ``path`` is empty for a capture."""

    path: str
    line: int
    text: str


class SearchResult(Model):
    """What a search for a pattern came to (contract, section 3.6).

    ``files`` were searched, ``binary`` of them are no text. ``hits`` are the first of
    ``hit_count`` lines. ``empty_globs`` match no file. ``skipped`` have no content of their own
    (links, submodules, LFS pointers), ``lost`` have, but it is not here. ``stopped`` says that
    the search took too long. ``as_expression`` is the first line in which a text that looks like
    a regular expression, and does not occur, would occur as one. ``locked`` is the date of the
    lock that says all this in place of a checkout.
    """

    files: int = 0
    binary: Names = Names()
    hits: tuple[Hit, ...] = ()
    hit_count: int = 0
    empty_globs: tuple[str, ...] = ()
    skipped: Names = Names()
    lost: Names = Names()
    stopped: bool = False
    as_expression: Hit | None = None
    locked: date | None = None


class Found(NamedTuple):
    """A quote that occurs exactly once (within ``lines``, if those were given)."""

    lines: LineRange
    #: Character offsets into the file's text, end excluded.
    start: int
    end: int


class Ambiguous(NamedTuple):
    """A quote that occurs more than once; overlapping occurrences count."""

    occurrences: tuple[LineRange, ...]


class Missing(NamedTuple):
    """A quote that does not occur.

    ``elsewhere`` holds where the file does have it, when it was sought only within given lines.
    """

    elsewhere: tuple[LineRange, ...] = ()
