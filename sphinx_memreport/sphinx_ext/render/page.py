"""One page that is being filled: what its renderers may ask, and the nodes they share."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from docutils import nodes

from sphinx_memreport.config import CaptureSource, GitSource, Report
from sphinx_memreport.core.ids import find_mentions
from sphinx_memreport.core.models import Evidence, LineRange, PathReference
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.core.site import Citation, Key, Site
from sphinx_memreport.permalinks import permalink
from sphinx_memreport.sphinx_ext.links import internal_link
from sphinx_memreport.sphinx_ext.pages import source_page_uri
from sphinx_memreport.sphinx_ext.passages import visible_name
from sphinx_memreport.sphinx_ext.words import _, line_numbers, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx

    from sphinx_memreport.sphinx_ext.domain import MemDomain

Source = GitSource | CaptureSource


@dataclass(frozen=True)
class Page:
    """A document that is about to be written, and the site around it."""

    app: Sphinx
    domain: MemDomain
    docname: str
    facts: DocumentFacts

    @property
    def site(self) -> Site:
        """The whole site."""
        return self.domain.site

    def report(self, slug: str) -> Report | None:
        """The configured report of that name."""
        return self.domain.config.reports.get(slug)

    def source(self, slug: str, source_id: str) -> Source | None:
        """The configured source of that ID."""
        report = self.report(slug)
        return report.sources.get(source_id) if report else None

    def source_id(self, item: Evidence | PathReference) -> str:
        """The ID of the source that is meant, also where the author left it out."""
        source = self.site.source_of(item)
        return source.id if source else item.source

    # --- links ----------------------------------------------------------------------------

    def cite_source(self, report: str, source_id: str) -> nodes.Node:
        """A source ID, linked to its entry in the register."""
        shown = nodes.inline("", source_id, classes=["memreport-source"])
        return self.link(report, source_id, shown)

    def cite_record(self, report: str, record_id: str, label: str = "") -> nodes.Node:
        """A record, linked by its label (else its ID)."""
        unbroken = [] if label else ["memreport-cited-id"]
        shown = nodes.inline("", label or record_id, classes=unbroken)
        return self.link(report, record_id, shown)

    def name_record(self, report: str, record_id: str) -> nodes.Node:
        """A record, linked by its label and ID."""
        label = self.site.target(report, record_id).label
        return self.cite_record(report, record_id, f"{label} ({record_id})" if label else "")

    def link(self, report: str, target: str, shown: nodes.Element) -> nodes.Element:
        """What is shown of a record or source, linked to it."""
        return self.domain.link(self.app.builder, self.docname, report, target, shown)

    def linked(self, report: str, text: str, cited: Collection[Key]) -> Iterator[nodes.Node]:
        """Plain text, with the records in it linked that it cites."""
        end = 0
        for mention in find_mentions(text):
            named = mention.report in self.site.reports
            key = (mention.report if named and mention.report else report, mention.target)
            if key in cited:
                start = mention.start if named else mention.end - len(mention.target)
                yield nodes.Text(text[end:start])
                end = mention.end
                yield self.link(*key, nodes.inline("", text[start:end]))
        yield nodes.Text(text[end:])

    def citation(self, citation: Citation) -> nodes.Node:
        """A place that cites a record, linked."""
        name = citation.label or citation.record or citation.docname
        if citation.annotation:
            name = _("annotation on {record}").format(record=citation.label)
        shown = nodes.inline("", name)
        if citation.record:
            shown["classes"].append("mem-record")
        return internal_link(
            self.app.builder,
            self.docname,
            citation.docname,
            citation.anchor or "",
            shown,
            citation.record or "",
        )

    def file_link(
        self,
        report: str,
        source_id: str,
        path: str | None,
        lines: LineRange | None,
        *,
        has_page: bool = True,
    ) -> list[nodes.Node]:
        """Path and lines, linked to the file's page in the site, where there is one."""
        shown: list[nodes.Node] = []
        if path:
            shown.append(nodes.literal("", visible_name(path), classes=["memreport-path"]))
        if lines is None:
            return shown
        if shown:
            shown.append(nodes.Text(" "))
        shown.append(nodes.inline("", line_numbers(lines), classes=["memreport-lines"]))
        uri = source_page_uri(self.app, self.docname, report, source_id, path or "")
        if uri is None or not has_page:
            return shown
        return [
            nodes.reference(
                "",
                "",
                *shown,
                internal=True,
                refuri=f"{uri}#L{lines.start}",
                reftitle=_("In its place in the file"),
            )
        ]

    def host_link(
        self, report: str, source_id: str, path: str | None, lines: LineRange | None
    ) -> nodes.Node | None:
        """A link to the host at the pinned commit, named by the commit."""
        source = self.source(report, source_id)
        if isinstance(source, CaptureSource):
            return web_link(source.identity, _("original")) if is_web(source.identity) else None
        if source is None:
            return None
        url = permalink(source.repository, source.commit, path or "", lines, source.permalink)
        shown = f"@ {source.commit[:10]}"
        if url is None:
            return nodes.inline("", shown, classes=["memreport-commit"])
        return web_link(url, shown)


def dated(verdict: str, locked: date | None) -> str:
    """A verdict, with the date of the lock where that vouches for it."""
    if locked is None:
        return verdict
    return _("{verdict}, locked on {date}").format(verdict=verdict, date=locked.isoformat())


def is_web(text: str) -> bool:
    """Whether a text is a web address and may become a link."""
    return text.startswith(("https://", "http://"))


def web_link(url: str, shown: str | nodes.Node) -> nodes.reference:
    """A link that leads out of the site."""
    content = nodes.Text(shown) if isinstance(shown, str) else shown
    return nodes.reference("", "", content, internal=False, refuri=url)


def field(name: str, items: Sequence[nodes.Node]) -> nodes.field:
    """A field of a field list; several items are separated by commas."""
    paragraph = nodes.paragraph("", "", *listed(items))
    return nodes.field("", nodes.field_name("", name), nodes.field_body("", paragraph))


def badge(text: str, css_class: str) -> nodes.inline:
    """A word in a frame: kind, status or verdict, never by colour alone."""
    shown = nodes.inline("", text, classes=["memreport-badge", f"memreport-badge-{css_class}"])
    shown["memreport_unscanned"] = True
    return shown
