"""The move of one pin: what a report rests on, what becomes of it, and the edits that are safe."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

import tomlkit
from pydantic import Field
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import String

from sphinx_memreport.cli.checking import Checked
from sphinx_memreport.cli.common import Change as FileChange
from sphinx_memreport.cli.common import Failure, report_of, source_of
from sphinx_memreport.config import GitSource, SiteConfig
from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.core.blockscan import syntax_of
from sphinx_memreport.core.export import (
    AnnotationEntry,
    EvidenceEntry,
    Export,
    PathEntry,
    RecordEntry,
    SuppliedEntry,
)
from sphinx_memreport.core.models import LineRange, Model
from sphinx_memreport.core.pin_edits import CannotEdit, Document, PathEdit, Span, WrittenPath
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.repin import LOST, Change, Fate, Fates, compare
from sphinx_memreport.core.resolve import PathRequest, QuoteRequest
from sphinx_memreport.core.search import PlannedSearch, SearchRequest
from sphinx_memreport.gitstore import GitSource as OpenSource
from sphinx_memreport.gitstore import History, Removal, fetch_command, open_git, resolve_commit
from sphinx_memreport.verify import rules_of


class Item(Model):
    """A quote, path or search of the report, and what becomes of it."""

    kind: Literal["quote", "path", "search"]
    docname: str
    line: int
    path: str = Field(description="As it is written; the globs of a search.")
    within: LineRange | None = Field(None, description="The range as it is written, if any.")
    records: tuple[str, ...] = Field((), description="Records that rest on it.")
    fate: Fate
    removed: str = Field("", description="Which commit took it away, or why that is not known.")
    left: str = Field("", description="Why it is not edited although that would be safe.")

    @property
    def is_lost(self) -> bool:
        """Whether it is edited or gone."""
        return self.fate.change in LOST

    @property
    def needs_edit(self) -> bool:
        """Whether the document must say something else."""
        return self.fate.path != self.path or self.fate.within is not None


class Mention(NamedTuple):
    """A place where the text names the old commit."""

    docname: str
    line: int


class Move:
    """The move of one pin to another commit of its checkout.

    :raises Failure: when there is no such report or source, or it is a capture.
    :raises SourceUnavailable: when one of the commits is not in the checkout.
    """

    def __init__(self, checked: Checked, slug: str, source_id: str, name: str) -> None:
        assert checked.config is not None
        self.config: SiteConfig = checked.config
        self.report = report_of(self.config, slug)
        self.source_id, source = source_of(self.report, source_id)
        if not isinstance(source, GitSource):
            raise Failure(
                f"{source_id} is a capture, whose pin is the hash of its file\n"
                "    fix: replace the file, and sha256 in the configuration"
            )
        self.source = source
        self.name = name
        self.commit = resolve_commit(
            self.config.checkout_path(source), name, fetch_hint=source.repository
        )
        self._checked = checked
        self._export = Export.model_validate_json(checked.export)
        self.items: list[Item] = []
        self._compare()
        self.changes = self._changes()

    # --- what becomes of everything -------------------------------------------------------

    def _compare(self) -> None:
        quotes, paths, searches = [*self._quotes()], [*self._paths()], [*self._searches()]
        with (
            self._open(self.source.commit) as old,
            self._open(self.commit) as new,
            History(old, new) as history,
        ):
            fates = compare(
                {_quote(entry) for entry in quotes},
                {_path(entry) for entry in paths},
                {search for _, search in searches},
                old,
                new,
                history.renames(),
                self.source.encoding,
            )
            items = [self._quote_item(entry, fates) for entry in quotes]
            items += [self._path_item(entry, fates) for entry in paths]
            items += [_search_item(*each, fates) for each in searches]
            items.sort(key=lambda item: (item.docname, item.line, item.kind, item.path))
            self.items = [self._explained(item, history) for item in items]

    def _open(self, commit: str) -> OpenSource:
        place, url = self.config.checkout_path(self.source), self.source.repository
        try:
            return open_git(place, commit, fetch_hint=url)
        except SourceUnavailable as error:
            if error.code is Code.COMMIT_MISSING and commit != self.source.commit:
                error.fix = fetch_command(place, url)  # 'memreport fetch' brings pins alone
            raise

    def _mine(self, entries: Iterable[Any]) -> Iterator[Any]:
        for entry in entries:
            if entry.report == self.report.slug and entry.source == self.source_id:
                yield entry

    def _quotes(self) -> Iterator[EvidenceEntry]:
        found = self._mine(self._export.evidence)
        return (entry for entry in found if entry.path and entry.quote.strip())

    def _paths(self) -> Iterator[PathEntry]:
        return self._mine(self._export.paths)

    def _searches(self) -> Iterator[tuple[_Statement, PlannedSearch]]:
        rules = rules_of(self.config)[self.report.slug].source(self.source_id)
        statements: list[tuple[_Statement, RecordEntry | AnnotationEntry]] = [
            *((_Statement(it.docname, it.line, it.id), it) for it in self._export.records),
            *((_Statement(it.docname, it.line, it.target), it) for it in self._export.annotations),
        ]
        for statement, entry in statements:
            for search in entry.searches if entry.report == self.report.slug else ():
                if rules is not None and search.source == self.source_id:
                    request = SearchRequest(search.globs, search.pattern, search.regex)
                    yield statement, PlannedSearch(rules, request)

    def _quote_item(self, entry: EvidenceEntry, fates: Fates) -> Item:
        own = (entry.record,) if entry.record else ()
        return Item(
            kind="quote",
            docname=entry.docname,
            line=entry.line,
            path=entry.path or "",
            within=entry.within,
            records=tuple(dict.fromkeys((*own, *entry.supports))),
            fate=fates.quotes[_quote(entry)],
        )

    def _path_item(self, entry: PathEntry, fates: Fates) -> Item:
        own = (entry.record,) if entry.record else ()
        rows = [
            record
            for row in self._export.coverage
            if (row.report, row.docname, row.line) == (entry.report, entry.docname, entry.line)
            for record in row.records
        ]
        return Item(
            kind="path",
            docname=entry.docname,
            line=entry.line,
            path=entry.path,
            within=entry.lines,
            records=tuple(dict.fromkeys((*own, *rows))),
            fate=fates.paths[_path(entry)],
        )

    def _explained(self, item: Item, history: History) -> Item:
        """The item with the commit that removed what is gone."""
        if item.fate.change is not Change.GONE or item.kind == "search":
            return item
        passage = item.fate.passage
        if item.kind == "quote" and passage is None:
            return item.model_copy(update={"removed": "it was not there at the old pin either"})
        sought = passage.encode(self.source.encoding, "replace") if passage is not None else None
        found = history.removal(item.path.rstrip("/"), sought)
        if isinstance(found, Removal):
            said = f"removed by {found.commit[:12]} ({found.subject})"
        else:
            said = f"which commit removed it is not known: {found}"
        return item.model_copy(update={"removed": said})

    # --- what rests on it -----------------------------------------------------------------

    def resting(self) -> dict[str, tuple[str, ...]]:
        """The records that rest on what is edited or gone, and the records that cite each."""
        entries: list[RecordEntry | SuppliedEntry] = [*self._export.records, *self._export.supplied]
        citing = {each.id: each.cited_by for each in entries if each.report == self.report.slug}
        lost = sorted({record for item in self.items if item.is_lost for record in item.records})
        return {record: citing.get(record, ()) for record in lost}

    def mentions(self) -> list[Mention]:
        """Where the text names the old commit, which a check will warn of."""
        pins = [source for source in self.report.sources.values() if isinstance(source, GitSource)]
        if sum(source.commit == self.source.commit for source in pins) > 1:
            return []
        whole = re.compile(rf"(?<![\w/-]){self.source.commit}(?![\w-])")
        return [
            Mention(docname, number)
            for docname in sorted(self._own_documents())
            for number, line in enumerate(self._text(docname).split("\n"), start=1)
            if whole.search(line)
        ]

    def _own_documents(self) -> list[str]:
        report = next(each for each in self._export.reports if each.slug == self.report.slug)
        return [document.docname for document in report.documents]

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to do."""
        return not any(item.is_lost or item.left for item in self.items)

    # --- edits ----------------------------------------------------------------------------

    def _changes(self) -> list[FileChange]:
        """The files with what is safe; the pin comes last, so that a second run can go on."""
        by_document: dict[str, list[int]] = defaultdict(list)
        for index, item in enumerate(self.items):
            if item.needs_edit:
                by_document[item.docname].append(index)
        changes = [self._edited(name, by_document[name]) for name in sorted(by_document)]
        return [*(change for change in changes if change), self._pin()]

    def _edited(self, docname: str, indices: list[int]) -> FileChange | None:
        """A document with the edits of its items; what cannot be edited is noted with them."""
        path = self._checked.documents[docname]
        try:
            document, old = self._document(path)
            spans = [*self._evidence_spans(document, indices), *self._path_spans(document, indices)]
            new = document.edited(spans).encode("utf-8")
        except CannotEdit as error:
            for index in indices:
                self._leave(index, str(error))
            return None
        return FileChange(path, old, new) if new != old else None

    def _document(self, path: Path) -> tuple[Document, bytes]:
        syntax, old = syntax_of(path), path.read_bytes()
        if syntax is None:
            raise CannotEdit("it is not known how documents of this suffix are written")
        trees = [name for name, each in self.report.sources.items() if isinstance(each, GitSource)]
        try:
            return Document(old.decode("utf-8"), syntax, trees[0] if len(trees) == 1 else ""), old
        except UnicodeDecodeError:
            raise CannotEdit("the document is not UTF-8") from None

    def _evidence_spans(self, document: Document, indices: list[int]) -> Iterator[Span]:
        for index in indices:
            item = self.items[index]
            if item.kind == "quote":
                try:
                    yield from document.evidence_edits(
                        item.line, item.path, item.within, item.fate.path, item.fate.within
                    )
                except CannotEdit as error:
                    self._leave(index, str(error))

    def _path_spans(self, document: Document, indices: list[int]) -> list[Span]:
        asked = {self._written(self.items[i]): i for i in indices if self.items[i].kind == "path"}
        if not asked:
            return []
        docname = self.items[indices[0]].docname
        written = Counter(
            self._written(item)
            for item in self.items
            if item.kind == "path" and item.docname == docname
        )
        edits = {
            path: PathEdit(self.items[i].fate.path, self.items[i].fate.within)
            for path, i in asked.items()
        }
        spans, left = document.path_edits(edits, written)
        for index in indices:
            if self.items[index].kind == "path":
                self._leave(index, left.get(self._written(self.items[index]), ""))
        return spans

    def _written(self, item: Item) -> WrittenPath:
        lines = (item.within.start, item.within.end) if item.within else None
        return WrittenPath(self.source_id, item.path, lines)

    def _leave(self, index: int, reason: str) -> None:
        self.items[index] = self.items[index].model_copy(update={"left": reason})

    def _text(self, docname: str) -> str:
        return self._checked.documents[docname].read_bytes().decode("utf-8", "replace")

    def _pin(self) -> FileChange:
        keys = ("reports", self.report.slug, "sources", self.source_id)
        old = self.config.path.read_bytes()
        new = _with_pin(old.decode("utf-8"), keys, self.commit)
        if new is None:
            raise Failure(
                f"{self.config.path} cannot be edited so that nothing else of it changes\n"
                f'    fix: write commit = "{self.commit}" for {self.source_id} yourself'
            )
        return FileChange(self.config.path, old, new.encode("utf-8"))


class _Statement(NamedTuple):
    """What a search stands in."""

    docname: str
    line: int
    record: str


def _quote(entry: EvidenceEntry) -> QuoteRequest:
    return QuoteRequest(entry.path or "", entry.quote, entry.within)


def _path(entry: PathEntry) -> PathRequest:
    return PathRequest(entry.path, entry.lines)


def _search_item(statement: _Statement, search: PlannedSearch, fates: Fates) -> Item:
    return Item(
        kind="search",
        docname=statement.docname,
        line=statement.line,
        path=fates.searches[search].path,
        records=(statement.record,),
        fate=fates.searches[search],
    )


def _with_pin(text: str, keys: tuple[str, ...], commit: str) -> str | None:
    """The configuration with another commit; None when anything else of it would change."""
    try:
        document = tomlkit.parse(text)
        if tomlkit.dumps(document) != text:
            return None
        table: Any = document
        for key in keys:
            table = table[key]
        literal = isinstance(table["commit"], String) and table["commit"].as_string()[:1] == "'"
        table["commit"] = tomlkit.string(commit, literal=literal)
        new = tomlkit.dumps(document)
        wanted: Any = tomllib.loads(text)
        inner = wanted
        for key in keys:
            inner = inner[key]
        inner["commit"] = commit
        return new if tomllib.loads(new) == wanted else None
    except (TOMLKitError, ValueError, KeyError, TypeError):
        return None
