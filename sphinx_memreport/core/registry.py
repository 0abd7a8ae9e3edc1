"""What every document says: declarations and references by document name.

The registry is what the Sphinx environment stores. Documents are added whole, cleared whole
and merged whole, so parallel and incremental builds end with the facts of a clean one.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sphinx_memreport.core.ids import MemberName
from sphinx_memreport.core.models import (
    Amendment,
    Annotation,
    CommitMention,
    CoverageRow,
    Evidence,
    PathReference,
    Profile,
    Record,
    Reference,
    Supplied,
    View,
)
from sphinx_memreport.core.problems import Problem


class Condition(NamedTuple):
    """A part of a document that only some builds show: ``only`` with its lines, from 1 on."""

    docname: str
    expression: str
    first: int
    last: int

    def holds(self, place: Record | Reference) -> bool:
        """Whether something stands in the part."""
        return place.docname == self.docname and self.first <= place.line <= self.last


@dataclass
class DocumentFacts:
    """What one document declares and cites, and the problems found while reading it.

    ``report`` is the slug of the report that owns the document.
    """

    docname: str
    report: str | None = None
    #: Whether it holds IDs although the site has no report; they are checked against nothing.
    cites_in_vain: bool = False
    member: MemberName | None = None
    member_line: int | None = None
    records: list[Record] = field(default_factory=list)
    #: Titles of the sections that cite something, by anchor.
    sections: dict[str, str] = field(default_factory=dict)
    #: By record ID, for previews of the record on other pages.
    summaries: dict[str, str] = field(default_factory=dict)
    evidence: list[Evidence] = field(default_factory=list)
    references: list[Reference] = field(default_factory=list)
    paths: list[PathReference] = field(default_factory=list)
    commits: list[CommitMention] = field(default_factory=list)
    coverage: list[CoverageRow] = field(default_factory=list)
    profiles: list[Profile] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    supplied: list[Supplied] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    amendments: list[Amendment] = field(default_factory=list)
    source_registers: list[str] = field(default_factory=list)
    #: Lines of rows that have a problem of their own; what else is odd about them follows from it.
    broken_rows: list[int] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def declared_keys(self) -> list[tuple[str, str]]:
        """Report and ID of every record that the document declares or lists as supplied."""
        records = [(record.report, record.id) for record in self.records]
        return records + [(entry.report, entry.id) for entry in self.supplied]


class Registry:
    """Facts by document name, over a mapping that the caller stores."""

    def __init__(self, documents: MutableMapping[str, DocumentFacts] | None = None) -> None:
        self.documents = {} if documents is None else documents

    def facts(self, docname: str) -> DocumentFacts:
        """The facts of a document, empty at first."""
        if docname not in self.documents:
            self.documents[docname] = DocumentFacts(docname)
        return self.documents[docname]

    def clear(self, docname: str) -> None:
        """Forget a document."""
        self.documents.pop(docname, None)

    def __iter__(self) -> Iterator[DocumentFacts]:
        """All facts, by document name: an order that no build changes."""
        return iter(self.documents[name] for name in sorted(self.documents))
