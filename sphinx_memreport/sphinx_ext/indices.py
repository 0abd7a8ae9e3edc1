"""Pages that list every record: by kind and by report (``{ref}`mem-records```, ``mem-reports``).

A heading is put into a page as it is, so it is a word of ours or a report's slug.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, cast

from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.domains import Index, IndexEntry

from sphinx_memreport.core.ids import anchor
from sphinx_memreport.core.models import Record
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND
from sphinx_memreport.sphinx_ext.unchanged import output_file
from sphinx_memreport.sphinx_ext.words import _, term

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.builders import Builder

    from sphinx_memreport.sphinx_ext.domain import MemDomain

_Groups = list[tuple[str, list[IndexEntry]]]
_Content = tuple[_Groups, bool]
#: Builders that write the pages.
_BUILDERS = ("html", "dirhtml")


class _KeptIndex(Index):
    """An index of all documents is kept in the environment: Sphinx asks for it in every build."""

    def generate(self, docnames: Iterable[str] | None = None) -> _Content:
        """Groups of records, and whether they are collapsed."""
        if docnames is None:
            return cast("MemDomain", self.domain).listings.get(self.name, []), False
        return self.groups(docnames), False

    def groups(self, docnames: Iterable[str] | None) -> _Groups:
        """Headings with their records, of some documents or of all."""
        raise NotImplementedError


class RecordsByKind(_KeptIndex):
    """Every record of the site, by kind."""

    name = "records"
    localname = _("Records by kind")

    def groups(self, docnames: Iterable[str] | None) -> _Groups:
        """A group for each kind, in it the records by ID."""
        groups: dict[str, list[IndexEntry]] = defaultdict(list)
        records = sorted(_records(self.domain, docnames), key=lambda each: (each.id, each.report))
        several = len({record.report for record in records}) > 1
        for kind, type in TYPE_OF_KIND.items():
            for record in records:
                if record.kind is kind:
                    extra = _system(self.domain, record.report) if several else ""
                    # the heading becomes an ID, which can hold no blank
                    heading = term(type.plural).replace(" ", "\N{NO-BREAK SPACE}")
                    groups[heading].append(_entry(record, extra))
        return list(groups.items())


class RecordsByReport(_KeptIndex):
    """Every record of the site, by report."""

    name = "reports"
    localname = _("Records by report")

    def groups(self, docnames: Iterable[str] | None) -> _Groups:
        """A group for each report, in it the records by ID."""
        groups: dict[str, list[IndexEntry]] = defaultdict(list)
        for record in sorted(_records(self.domain, docnames), key=lambda e: (e.report, e.id)):
            kind = term(TYPE_OF_KIND[record.kind].title)
            groups[record.report].append(_entry(record, kind))
        return list(groups.items())


INDICES = (RecordsByKind, RecordsByReport)


def index_files(app: Sphinx) -> list[str]:
    """The pages of the indices, relative to the output folder."""
    builder = app.builder
    if not isinstance(builder, StandaloneHTMLBuilder):
        return []
    return [
        output_file(builder, name)
        for name, index, *_content in builder.domain_indices
        if index in INDICES
    ]


def leave_indices(builder: Builder) -> None:
    """Keep Sphinx from writing the pages of the indices again; links to them stay."""
    if isinstance(builder, StandaloneHTMLBuilder):
        builder.domain_indices = [each for each in builder.domain_indices if each[1] not in INDICES]


def plain_title(
    _app: Sphinx, _pagename: str, _template: str, context: dict[str, Any], *_tree: object
) -> None:
    """Have the title of an index as text, for ``html-page-context``: JSON knows nothing else."""
    if "indextitle" in context:
        context["indextitle"] = str(context["indextitle"])


def index_links(app: Sphinx, docname: str) -> Iterator[tuple[str, str]]:
    """Title and address of each index from a page, where the builder writes them."""
    chosen = app.config.html_domain_indices
    if not isinstance(app.builder, StandaloneHTMLBuilder) or app.builder.name not in _BUILDERS:
        return
    for index in INDICES:
        name = f"mem-{index.name}"
        if chosen is True or (not isinstance(chosen, bool) and name in chosen):
            yield str(index.localname), app.builder.get_relative_uri(docname, name)


def _records(domain: object, docnames: Iterable[str] | None) -> Iterator[Record]:
    site = cast("MemDomain", domain).site
    chosen = None if docnames is None else set(docnames)
    for record, *_others in site.declarations.values():
        if chosen is None or record.docname in chosen:
            yield record


def _system(domain: object, slug: str) -> str:
    return cast("MemDomain", domain).config.reports[slug].system


def _entry(record: Record, extra: str) -> IndexEntry:
    return IndexEntry(record.id, 0, record.docname, anchor(record.id), extra, "", record.label)
