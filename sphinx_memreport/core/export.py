"""``memreport.json``: everything that a site says and what was found out about it, as data.

Contract, section 5. The same content gives the same bytes on every machine, so nothing here
holds a time, a machine's path or the order in which things happened. The JSON Schema is made
from the models of this module and shipped; after a change of theirs write it anew::

    python -m sphinx_memreport.core.export
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sphinx_memreport.core.ids import IdStyle, Kind, MemberName, anchor, parse_record_id
from sphinx_memreport.core.models import (
    Amendment,
    Annotation,
    CoverageRow,
    Evidence,
    FieldValue,
    Layer,
    LineRange,
    Model,
    PathReference,
    Profile,
    Record,
    Reference,
    ReferenceOrigin,
    SearchResult,
    Status,
    Supplied,
)
from sphinx_memreport.core.output import json_bytes, write_changed
from sphinx_memreport.core.problem_files import ProblemEntry
from sphinx_memreport.core.problems import DOCS_URL, Code
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.site import Key, Site, TargetKind

#: Version of the form of ``memreport.json``; raise it when a reader could be misled.
SCHEMA_VERSION: Literal[1] = 1
#: The export, in the output folder of every builder.
EXPORT_NAME = "memreport.json"
#: The shipped JSON Schema.
SCHEMA_FILE = Path(__file__).parent / "schema" / "memreport.schema.json"
_SCHEMA_ID = f"{DOCS_URL}memreport-{SCHEMA_VERSION}.schema.json"


class DocumentEntry(Model):
    """A document of a report."""

    docname: str
    title: str
    member: MemberName | None
    uri: str | None = Field(description="Address of the page, relative to the site.")


class ReportEntry(Model):
    """A report, as configured, and its documents."""

    slug: str
    directory: str
    system: str
    run_id: str | None
    boundary_kind: str | None
    contract: str
    ids: IdStyle
    documents: tuple[DocumentEntry, ...] = ()


class LayerEntry(Model):
    """An evidence layer, and the globs of the paths that it is given to (none: all)."""

    layer: Layer
    globs: tuple[str, ...] = ()


class SourceEntry(Model):
    """A pinned source. Where it is on one machine is not part of it."""

    report: str
    id: str
    kind: Literal["git", "capture"]
    repository: str | None = Field(
        None, description="URL of the repository; null for one that is nowhere published."
    )
    commit: str | None = None
    identity: str | None = Field(None, description="What was captured.")
    sha256: str | None = None
    encoding: str
    layers: tuple[LayerEntry, ...] = ()
    inspected: str | None
    gaps: str | None
    cited_by: tuple[str, ...] = ()


class SearchEntry(Model):
    """A search that must find nothing, and what it came to; null when that is unknown."""

    source: str
    globs: tuple[str, ...]
    pattern: str
    regex: bool
    result: SearchResult | None


class AnnotationEntry(Model):
    """What another member adds to a record; ``anchor`` is that of its evidence, too."""

    report: str
    target: str
    kind: Kind
    member: MemberName | None
    docname: str
    line: int
    anchor: str
    uri: str | None
    fields: Mapping[str, str]
    cites: tuple[str, ...]
    searches: tuple[SearchEntry, ...]


class RecordEntry(Model):
    """A declared record. IDs of another report are qualified, as in ``jotter:MEM-OBJ-note``."""

    report: str
    id: str
    kind: Kind
    label: str
    member: MemberName | None
    docname: str
    line: int
    uri: str | None = Field(description="Address of the record, relative to the site.")
    fields: Mapping[str, str] = Field(description="The options, as plain text, by name.")
    tags: tuple[str, ...]
    part_of: str | None
    parts: tuple[str, ...]
    counterpart: tuple[str, ...]
    superseded_by: tuple[str, ...]
    supersedes: tuple[str, ...]
    annotations: tuple[AnnotationEntry, ...]
    searches: tuple[SearchEntry, ...]
    cites: tuple[str, ...]
    cited_by: tuple[str, ...] = Field(
        description="Records that cite this one; `references` holds the text that does, too."
    )


class SuppliedEntry(Model):
    """An ID that a member outside the site declares."""

    report: str
    id: str
    label: str
    member: str | None
    url: str | None
    docname: str
    line: int
    uri: str | None
    superseded_by: tuple[str, ...]
    supersedes: tuple[str, ...]
    annotations: tuple[AnnotationEntry, ...]
    cited_by: tuple[str, ...]


class EvidenceEntry(Model):
    """A quoted passage and the verdict on it."""

    report: str
    source: str = Field(description="The source, also where the author left it out.")
    path: str | None = Field(description="Path at the pin; null for a capture.")
    blob: str | None = Field(description="The blob that holds the passage.")
    lines: LineRange | None = Field(description="Where the passage was found.")
    status: Status
    locked: date | None = Field(
        description="Date of the lock that says so in place of the source; null when it was read."
    )
    quote: str
    within: LineRange | None = Field(description="Where the author says that it stands.")
    layer: Layer | None = Field(description="As the author says, else as configured.")
    lang: str | None
    caption: str | None
    record: str | None
    annotation: str | None = Field(description="Anchor of the annotation that it stands in.")
    supports: tuple[str, ...]
    docname: str
    line: int


class ReferenceEntry(Model):
    """One citation of a record or source, and what it turned out to name."""

    report: str
    target: str
    names: TargetKind
    origin: ReferenceOrigin
    docname: str
    line: int
    record: str | None
    annotation: str | None
    option: str | None


class PathEntry(Model):
    """A path in a source that the text points at; ``exists`` is null when that is unknown."""

    report: str
    source: str
    path: str
    lines: LineRange | None
    exists: bool | None
    directory: bool | None = Field(description="Whether it is a directory; null as `exists`.")
    locked: date | None = Field(
        description="Date of the lock that says so in place of the source; null when it was read."
    )
    docname: str
    line: int
    record: str | None


class Export(Model):
    """Everything that a site of reports says. Lists are sorted; lines count from 1."""

    schema_version: Literal[1] = SCHEMA_VERSION
    reports: tuple[ReportEntry, ...]
    sources: tuple[SourceEntry, ...]
    records: tuple[RecordEntry, ...]
    supplied: tuple[SuppliedEntry, ...]
    annotations: tuple[AnnotationEntry, ...]
    amendments: tuple[Amendment, ...]
    coverage: tuple[CoverageRow, ...]
    profiles: tuple[Profile, ...]
    evidence: tuple[EvidenceEntry, ...]
    references: tuple[ReferenceEntry, ...]
    paths: tuple[PathEntry, ...]
    problems: tuple[ProblemEntry, ...]

    def to_bytes(self) -> bytes:
        """The content of ``memreport.json``."""
        # entry by entry: all of them at once, as plain data, would be several times as large
        return json_bytes(
            {
                name: map(_plain, value) if isinstance(value, tuple) else value
                for name, value in self
            }
        )


# --- from the site ------------------------------------------------------------------------


def export_site(
    site: Site,
    reports: Iterable[ReportEntry],
    sources: Iterable[SourceEntry],
    problems: Iterable[ProblemEntry],
    uri_of: Callable[[str], str | None],
) -> Export:
    """Put together what a site says.

    :param reports: the configured reports; their documents are added here.
    :param sources: their sources, likewise.
    :param uri_of: the address of a document's page, relative to the site; None without one.
    """
    return _Exporter(site, uri_of).export(reports, sources, problems)


class _Exporter:
    """Makes the entries of one site."""

    def __init__(self, site: Site, uri_of: Callable[[str], str | None]) -> None:
        self._site = site
        self._uri_of = uri_of

    def export(
        self,
        reports: Iterable[ReportEntry],
        sources: Iterable[SourceEntry],
        problems: Iterable[ProblemEntry],
    ) -> Export:
        every = list(self._site.registry)
        return Export(
            reports=tuple(sorted(map(self._report, reports), key=lambda each: each.slug)),
            sources=tuple(sorted(map(self._source, sources), key=_identity)),
            records=self._sorted(every, lambda facts: map(self._record, facts.records), _identity),
            supplied=self._sorted(
                every, lambda facts: map(self._supplied, facts.supplied), _identity
            ),
            annotations=self._sorted(
                every, lambda facts: map(self._annotation, facts.annotations), _aimed
            ),
            amendments=self._sorted(every, lambda facts: facts.amendments, _aimed),
            coverage=self._sorted(every, lambda facts: facts.coverage),
            profiles=self._sorted(every, lambda facts: facts.profiles),
            evidence=self._sorted(every, lambda facts: map(self._evidence, facts.evidence)),
            references=self._sorted(
                every, lambda facts: map(self._reference, facts.references), _cited
            ),
            paths=self._sorted(every, lambda facts: map(self._path, facts.paths)),
            problems=tuple(sorted(problems, key=ProblemEntry.sort_key)),
        )

    def _sorted(
        self,
        every: Sequence[DocumentFacts],
        entries: Callable[[DocumentFacts], Iterable[Any]],
        key: Callable[[Any], tuple[object, ...]] = lambda _entry: (),
    ) -> tuple[Any, ...]:
        """The entries of all documents by ``key``, then by place."""
        found = (entry for facts in every for entry in entries(facts))
        return tuple(sorted(found, key=lambda entry: (key(entry), entry.docname, entry.line)))

    def _report(self, report: ReportEntry) -> ReportEntry:
        documents = [
            DocumentEntry(
                docname=facts.docname,
                title=self._site.titles.get(facts.docname, ""),
                member=facts.member,
                uri=self._uri_of(facts.docname),
            )
            for facts in self._site.registry
            if facts.report == report.slug
        ]
        return report.model_copy(update={"documents": tuple(documents)})

    def _source(self, source: SourceEntry) -> SourceEntry:
        return source.model_copy(update={"cited_by": self._cited_by(source.report, source.id)})

    def _record(self, record: Record) -> RecordEntry:
        key = (record.report, record.id)
        return RecordEntry(
            report=record.report,
            id=record.id,
            kind=record.kind,
            label=record.label,
            member=record.member,
            docname=record.docname,
            line=record.line,
            uri=self._uri(record.docname, record.id),
            fields=_by_name(record.fields),
            tags=record.tags,
            part_of=record.part_of,
            parts=tuple(sorted(part.id for part in self._site.parts.get(key, []))),
            counterpart=_written(record.report, self._site.cited_from(*key, "counterpart")),
            **self._later_words(*key),
            searches=self._searches(record),
            cites=_written(record.report, self._site.cited_from(*key)),
            cited_by=self._cited_by(*key),
        )

    def _supplied(self, entry: Supplied) -> SuppliedEntry:
        return SuppliedEntry(
            report=entry.report,
            id=entry.id,
            label=entry.label,
            member=entry.member,
            url=entry.url,
            docname=entry.docname,
            line=entry.line,
            uri=self._uri(entry.docname, entry.id),
            **self._later_words(entry.report, entry.id),
            cited_by=self._cited_by(entry.report, entry.id),
        )

    def _later_words(self, report: str, target: str) -> dict[str, Any]:
        """What others say of a record."""
        return {
            "superseded_by": tuple(sorted(self._site.successors(report, target))),
            "supersedes": tuple(sorted(self._site.predecessors.get((report, target), []))),
            "annotations": tuple(
                map(self._annotation, self._site.annotations.get((report, target), []))
            ),
        }

    def _annotation(self, annotation: Annotation) -> AnnotationEntry:
        page = self._uri_of(annotation.docname)
        return AnnotationEntry(
            report=annotation.report,
            target=annotation.target,
            kind=annotation.kind,
            member=annotation.member,
            docname=annotation.docname,
            line=annotation.line,
            anchor=annotation.anchor,
            uri=None if page is None else f"{page}#{annotation.anchor}",
            fields=_by_name(annotation.fields),
            cites=_written(annotation.report, self._site.cited_in(annotation)),
            searches=self._searches(annotation),
        )

    def _searches(self, statement: Record | Annotation) -> tuple[SearchEntry, ...]:
        return tuple(
            SearchEntry(
                source=search.source.id,
                globs=search.request.globs,
                pattern=search.request.pattern,
                regex=search.request.regex,
                result=result,
            )
            for search, result in self._site.search_results(statement)
        )

    def _evidence(self, evidence: Evidence) -> EvidenceEntry:
        resolution = self._site.resolution(evidence)
        return EvidenceEntry(
            report=evidence.report,
            source=self._source_id(evidence),
            path=evidence.path,
            blob=resolution.blob,
            lines=resolution.lines,
            status=resolution.status,
            locked=resolution.locked,
            quote=evidence.quote,
            within=evidence.lines,
            layer=self._site.layer(evidence),
            lang=evidence.lang,
            caption=evidence.caption,
            record=evidence.record,
            annotation=evidence.annotation,
            supports=evidence.supports,
            docname=evidence.docname,
            line=evidence.line,
        )

    def _reference(self, reference: Reference) -> ReferenceEntry:
        return ReferenceEntry(
            report=reference.report,
            target=reference.target,
            names=self._site.target(reference.report, reference.target).kind,
            origin=reference.origin,
            docname=reference.docname,
            line=reference.line,
            record=reference.record,
            annotation=reference.annotation,
            option=reference.option,
        )

    def _path(self, reference: PathReference) -> PathEntry:
        verdict = self._site.path_verdict(reference)
        if verdict and verdict.finding and verdict.finding.code is Code.UNVERIFIED_QUOTE:
            verdict = None
        return PathEntry(
            report=reference.report,
            source=self._source_id(reference),
            path=reference.path,
            lines=reference.lines,
            exists=None if verdict is None else verdict.finding is None,
            directory=None if verdict is None else verdict.directory,
            locked=verdict.locked if verdict else None,
            docname=reference.docname,
            line=reference.line,
            record=reference.record,
        )

    # --- shared ---------------------------------------------------------------------------

    def _source_id(self, item: Evidence | PathReference) -> str:
        source = self._site.source_of(item)
        return source.id if source else item.source

    def _uri(self, docname: str, target: str) -> str | None:
        page = self._uri_of(docname)
        return None if page is None else f"{page}#{anchor(target)}"

    def _cited_by(self, report: str, target: str) -> tuple[str, ...]:
        keys = [
            (self._site.report_of(citation.docname) or report, citation.record)
            for citation in self._site.cited_by(report, target)
            if citation.record
        ]
        return _written(report, keys)


def _plain(entry: BaseModel) -> dict[str, Any]:
    return entry.model_dump(mode="json")


def _identity(entry: RecordEntry | SuppliedEntry | SourceEntry) -> tuple[object, ...]:
    return (entry.report, entry.id)


def _aimed(entry: AnnotationEntry | Amendment) -> tuple[object, ...]:
    return (entry.report, entry.target)


def _cited(entry: ReferenceEntry) -> tuple[object, ...]:
    return (entry.docname, entry.line, entry.report, entry.target, entry.origin)


def _by_name(fields: Iterable[FieldValue]) -> dict[str, str]:
    return {field.name: field.text for field in fields}


def _written(report: str, keys: Iterable[Key]) -> tuple[str, ...]:
    """IDs as the authors of ``report`` write them: qualified when they are of another."""
    return tuple(
        sorted({target if slug == report else f"{slug}:{target}" for slug, target in keys})
    )


# --- the schema ---------------------------------------------------------------------------


def schema_bytes() -> bytes:
    """The JSON Schema of ``memreport.json``, made from the models."""
    schema = Export.model_json_schema(mode="serialization")
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return json_bytes({"$schema": dialect, "$id": _SCHEMA_ID, **schema, "title": "memreport.json"})


# --- reading that of another site ---------------------------------------------------------


class InvalidExport(Exception):
    """A file that is not the ``memreport.json`` of a site; the message says why."""


class ForeignRecord(BaseModel):
    """What is taken over of a record of another site."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True)

    report: str
    id: Annotated[str, AfterValidator(lambda text: str(parse_record_id(text)))]
    label: str
    member: str | None = None
    uri: str | None = None


def read_records(data: bytes) -> list[ForeignRecord]:
    """The records that the ``memreport.json`` of another site declares.

    :raises InvalidExport: when the data is something else, or of a version not known here.
    """
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InvalidExport("it is not JSON") from error
    if not isinstance(content, dict) or not isinstance(content.get("records"), list):
        raise InvalidExport("it has no list of records")
    version = content.get("schema_version")
    if version != SCHEMA_VERSION:
        raise InvalidExport(f"its schema_version is {version!r:.40}, expected {SCHEMA_VERSION}")
    try:
        return [ForeignRecord.model_validate(record) for record in content["records"]]
    except ValidationError as error:
        place = error.errors(include_url=False, include_input=False, include_context=False)[0]
        names = ".".join(str(part) for part in place["loc"])
        raise InvalidExport(
            f"a record in it is not as expected: {names}: {place['msg']}"
        ) from error


def main() -> None:
    """Write the shipped schema anew."""
    write_changed(SCHEMA_FILE, schema_bytes())


if __name__ == "__main__":
    main()
