"""What a page holds for its script: records in short, for when a reader points at a reference to
one, and the words of the script where they are not English.

The data stands in the page itself: a page that is opened from a disk may not fetch any.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from sphinx_memreport.core.graph import record_graph
from sphinx_memreport.core.models import Record, View
from sphinx_memreport.core.overview import overviews
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.site import Key, Site
from sphinx_memreport.core.views import chosen_records, compared_reports, standing_rows
from sphinx_memreport.core.vocabulary import TYPE_OF_KIND, OptionType
from sphinx_memreport.sphinx_ext.words import origin, script_words, superseded_by, term

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.builders.html import StandaloneHTMLBuilder

    from sphinx_memreport.sphinx_ext.domain import MemDomain

#: Characters of a record's first field that a preview shows.
_TEXT_LIMIT = 240
#: Builders whose pages have addresses of their own.
_BUILDERS = ("html", "dirhtml")


class Preview(NamedTuple):
    """A record in short."""

    docname: str
    anchor: str
    label: str
    id: str
    badges: tuple[str, ...]
    text: str


def previews(site: Site, facts: DocumentFacts) -> list[Preview]:
    """The records that a page has links to, in short, in the order of their IDs."""
    found = []
    for key in sorted(set(_linked(site, facts))):
        if key not in site.in_short:
            site.in_short[key] = _preview(site, *key)
        found.append(cast("Preview | None", site.in_short[key]))
    return [preview for preview in found if preview]


def _linked(site: Site, facts: DocumentFacts) -> Iterator[Key]:
    for reference in facts.references:
        yield reference.report, reference.target
    for view in facts.views:
        yield from _shown_by(site, view)
    for declared in facts.declared_keys():
        for part in site.parts.get(declared, []):
            yield part.report, part.id
        related = [*site.successors(*declared), *site.predecessors.get(declared, [])]
        yield from ((declared[0], each) for each in related)
        for citation in site.cited_by(*declared):
            if citation.record:
                yield site.report_of(citation.docname) or declared[0], citation.record


def _shown_by(site: Site, view: View) -> Iterator[Key]:
    """The records that a view shows."""
    match view.directive:
        case "memrecords":
            yield from ((record.report, record.id) for record in chosen_records(site, view))
        case "memevidence":
            for row in standing_rows(site, view):
                for record_id in (row.record.id, *row.shared_with):
                    yield row.record.report, record_id
        case "memcomparison":
            for compared in compared_reports(site, view):
                for axis in compared.axes:
                    for finding in axis.findings:
                        yield from ((compared.report, each) for each in finding.records)
        case "memgraph":
            yield from (node.key for node in record_graph(site, view).nodes)
        case "memoverview":
            for overview in overviews(site, view, ()):
                yield from ((each.report, each.id) for each in overview.uncovered or ())


def _preview(site: Site, report: str, record_id: str) -> Preview | None:
    target = site.target(report, record_id)
    if target.docname is None:
        return None
    record = site.record(report, record_id)
    entry = next(iter(site.supplied.get((report, record_id), [])), None)
    if record is not None:
        badges, text = _badges_of(record), _summary(site, record)
    elif entry is not None:
        badges, text = (origin(entry),), ""
    else:
        return None
    if target.superseded_by:
        badges = (*badges, superseded_by(target))
    return Preview(target.docname, target.anchor, target.label, record_id, badges, text)


def _badges_of(record: Record) -> tuple[str, ...]:
    type = TYPE_OF_KIND[record.kind]
    found = [term(type.title)]
    for option in type.options:
        status = record.field(option.name)
        if option.type is OptionType.STATUS and status:
            found.append(f"{term(option.label)}: {term(status)}")
    return tuple(found)


def _summary(site: Site, record: Record) -> str:
    facts = site.registry.documents[record.docname]
    text = " ".join(facts.summaries.get(record.id, "").split())
    return text if len(text) <= _TEXT_LIMIT else text[:_TEXT_LIMIT].rsplit(" ", 1)[0] + " …"


def add_previews(
    app: Sphinx,
    pagename: str,
    _templatename: str,
    _context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Put the previews of a page into it, for ``html-page-context``."""
    domain = cast("MemDomain", app.env.get_domain("mem"))
    facts = domain.registry.documents.get(pagename)
    if doctree is None or facts is None or app.builder.name not in _BUILDERS:
        return
    if words := script_words():
        _add_data(app, "memreport-words", words)
    data = {}
    for preview in previews(domain.site, facts):
        elsewhere = preview.docname != pagename
        uri = app.builder.get_relative_uri(pagename, preview.docname) if elsewhere else ""
        data[f"{uri}#{preview.anchor}"] = preview[2:]
    if data:
        _add_data(app, "memreport-previews", data)


def _add_data(app: Sphinx, name: str, data: object) -> None:
    builder = cast("StandaloneHTMLBuilder", app.builder)
    # the application would keep the data of every page, and give it to those of its next build
    builder.add_js_file("", priority=500, body=script_safe(data), type="application/json", id=name)


def script_safe(data: object) -> str:
    """JSON that nothing in it can end the script element it stands in."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
