"""Before a page is written: the placeholders become what was found out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import make_refnode

from sphinx_memreport.config import CaptureSource, GitSource, Report
from sphinx_memreport.core.ids import anchor
from sphinx_memreport.core.models import Evidence, LineRange, PathReference, Resolution, Status
from sphinx_memreport.core.quotes import mark_invisible
from sphinx_memreport.core.site import Citation
from sphinx_memreport.permalinks import commit_url, permalink, repository_url
from sphinx_memreport.sphinx_ext.nodes import (
    evidence_block,
    member_header,
    path_reference,
    record_relations,
    source_register,
)
from sphinx_memreport.sphinx_ext.pages import source_page_uri
from sphinx_memreport.sphinx_ext.roles import record_reference

if TYPE_CHECKING:
    from sphinx_memreport.sphinx_ext.domain import MemDomain

_STATUS_WORDS = {
    Status.VERIFIED: "verified",
    Status.STALE: "stale: not in the source",
    Status.AMBIGUOUS: "ambiguous",
    Status.MISSING: "not found",
    Status.UNVERIFIED: "unverified",
}


class FillPlaceholders(SphinxPostTransform):
    """Replaces every placeholder of a page; links among the results are resolved by Sphinx."""

    # before Sphinx resolves references, so that those put in here are resolved, too
    default_priority = 8

    def run(self, **_kwargs: Any) -> None:
        """Fill one document."""
        self.domain = cast("MemDomain", self.env.get_domain("mem"))
        self.site = self.domain.site
        self.docname = self.env.current_document.docname
        self.facts = self.site.registry.documents.get(self.docname)
        for node_class, fill in self._fillers():
            for node in list(self.document.findall(node_class)):
                node.replace_self(fill(node) if self.facts else [])

    def _fillers(self) -> Iterable[tuple[type[nodes.Element], Callable[[Any], list[nodes.Node]]]]:
        return (
            (evidence_block, self._evidence),
            (path_reference, self._path),
            (record_relations, self._relations),
            (member_header, self._header),
            (source_register, self._register),
        )

    # --- evidence -------------------------------------------------------------------------

    def _evidence(self, node: nodes.Element) -> list[nodes.Node]:
        assert self.facts is not None
        evidence = self.facts.evidence[node["number"]]
        resolution = self.site.resolution(evidence)
        block = nodes.container(
            "",
            literal_block=True,
            classes=[
                "literal-block-wrapper",
                "memreport-evidence",
                f"memreport-{resolution.status}",
            ],
        )
        block["ids"] = [*node["ids"], evidence_anchor(evidence)]
        block += self._attribution(evidence, resolution)
        block += self._passage(evidence, resolution)
        for caption in node.children:
            caption["classes"] = ["memreport-caption"]  # type: ignore[index]
            block += caption
        if resolution.finding:
            block += self._diagnosis(resolution)
        return [block]

    def _attribution(self, evidence: Evidence, resolution: Resolution) -> nodes.caption:
        source_id = self._source_id(evidence)
        caption = nodes.caption("", "", classes=["memreport-attribution"])
        caption += self._cite_source(evidence.report, source_id)
        if evidence.path:
            caption += nodes.Text(" ")
            caption += self._file_link(evidence, source_id, resolution.lines)
        if resolution.lines:
            unit = "line" if resolution.lines.start == resolution.lines.end else "lines"
            caption += nodes.Text(" ")
            caption += nodes.inline("", f"{unit} {resolution.lines}", classes=["memreport-lines"])
        host = self._host_link(evidence, source_id, resolution.lines)
        if host is not None:
            caption += nodes.Text(" ")
            caption += host
        caption += nodes.Text(" ")
        caption += nodes.inline(
            "",
            _STATUS_WORDS[resolution.status],
            classes=["memreport-badge", f"memreport-badge-{resolution.status}"],
        )
        return caption

    def _passage(self, evidence: Evidence, resolution: Resolution) -> nodes.literal_block:
        text = shown_passage(evidence.quote, resolution.passage)
        block = nodes.literal_block(text, mark_invisible(text))
        block["language"] = evidence.lang or language_of(evidence.path)
        # a passage is a fragment: what a lexer finds odd in it is no fault
        block["force"] = True
        if resolution.lines:
            block["linenos"] = True
            block["highlight_args"] = {"linenostart": resolution.lines.start}
        block["translatable"] = False
        return block

    def _diagnosis(self, resolution: Resolution) -> nodes.Node:
        finding = resolution.finding
        assert finding is not None
        box = nodes.container("", classes=["memreport-diagnosis"])
        box += nodes.paragraph("", f"{finding.message} [{finding.code}]")
        for line in (*finding.details, *([f"fix: {finding.fix}"] if finding.fix else [])):
            box += nodes.paragraph("", mark_invisible(line))
        return box

    # --- links to sources -----------------------------------------------------------------

    def _report(self, slug: str) -> Report | None:
        return self.domain.config.reports.get(slug)

    def _source_id(self, item: Evidence | PathReference) -> str:
        source = self.site.source_of(item)
        return source.id if source else item.source

    def _source(self, slug: str, source_id: str) -> GitSource | CaptureSource | None:
        report = self._report(slug)
        return report.sources.get(source_id) if report else None

    def _cite_source(self, report: str, source_id: str) -> nodes.Node:
        shown = nodes.inline("", source_id, classes=["memreport-source"])
        return record_reference(report, source_id, shown, explicit=False)

    def _file_link(self, evidence: Evidence, source_id: str, lines: LineRange | None) -> nodes.Node:
        """The path, linked to the file's page in the site, where there is one."""
        path = evidence.path or ""
        shown = nodes.literal("", mark_invisible(path), classes=["memreport-path"])
        uri = source_page_uri(self.app, self.docname, evidence.report, source_id, path)
        if uri is None or lines is None:
            return shown
        return nodes.reference(
            "",
            "",
            shown,
            internal=True,
            refuri=f"{uri}#L{lines.start}",
            reftitle=f"{path} in this site",
        )

    def _host_link(
        self, item: Evidence | PathReference, source_id: str, lines: LineRange | None
    ) -> nodes.Node | None:
        """A link to the host at the pinned commit, named by the commit."""
        source = self._source(item.report, source_id)
        if isinstance(source, CaptureSource):
            return _web_link(source.identity, "original") if evidence_is_web(source) else None
        if source is None:
            return None
        url = permalink(source.repository, source.commit, item.path or "", lines, source.permalink)
        shown = f"@ {source.commit[:10]}"
        if url is None:
            return nodes.inline("", shown, classes=["memreport-commit"])
        return _web_link(url, shown)

    def _path(self, node: nodes.Element) -> list[nodes.Node]:
        assert self.facts is not None
        reference = self.facts.paths[node["number"]]
        verdict = self.site.path_verdict(reference)
        shown = nodes.literal("", "", *node.children, classes=["memreport-path"])
        if verdict is None or verdict.finding:
            return [nodes.inline("", "", shown, classes=["memreport-dangling"])]
        source = self._source(reference.report, self._source_id(reference))
        url = None
        if isinstance(source, GitSource):
            url = permalink(
                source.repository,
                source.commit,
                reference.path,
                reference.lines,
                source.permalink,
                directory=verdict.directory,
            )
        if url is None:
            return [shown]
        return [nodes.reference("", "", shown, internal=False, refuri=url)]

    # --- what others say of a record ------------------------------------------------------

    def _relations(self, node: nodes.Element) -> list[nodes.Node]:
        report, target = node["report"], node["target"]
        fields = nodes.field_list(classes=["memreport-relations"])
        parts = self.site.parts.get((report, target), [])
        if parts:
            fields += _field(
                "Parts",
                [self._record_link(report, part.id, part.label) for part in parts],
            )
        citations = self.site.cited_by(report, target)
        if citations:
            fields += _field("Cited by", [self._citation(each) for each in citations])
        return [fields] if fields.children else []

    def _record_link(self, report: str, record_id: str, label: str) -> nodes.Node:
        shown = nodes.inline("", label or record_id)
        return record_reference(report, record_id, shown, explicit=True)

    def _citation(self, citation: Citation) -> nodes.Node:
        shown = nodes.inline("", citation.label or citation.record or citation.docname)
        return make_refnode(
            self.app.builder,
            self.docname,
            citation.docname,
            citation.anchor or "",
            shown,
            citation.record or "",
        )

    # --- headers --------------------------------------------------------------------------

    def _header(self, node: nodes.Element) -> list[nodes.Node]:
        report = self._report(node["report"])
        if report is None:
            return []
        fields = nodes.field_list(classes=["memreport-header"])
        is_register = self.site.registers.get(report.slug) == self.docname
        has_register = any(each.source_registers for each in self.site.registry if is_register)
        fields += _field("System", [nodes.Text(report.system)])
        fields += _field("Member", [nodes.Text(node["member"])])
        if report.run_id:
            fields += _field("Run", [nodes.Text(report.run_id)])
        if report.boundary_kind:
            fields += _field("Boundary", [nodes.Text(str(report.boundary_kind))])
        pins = [
            self._pin(report.slug, source_id, source, target=is_register and not has_register)
            for source_id, source in report.sources.items()
        ]
        if pins:
            fields += _field("Sources", pins)
        fields += _field("Quotes", [nodes.Text(self._count())])
        return [fields]

    def _count(self) -> str:
        assert self.facts is not None
        states = [self.site.resolution(each).status for each in self.facts.evidence]
        if not states:
            return "none on this page"
        return f"{states.count(Status.VERIFIED)} of {len(states)} on this page verified"

    def _pin(
        self, slug: str, source_id: str, source: GitSource | CaptureSource, *, target: bool
    ) -> nodes.Node:
        pin = nodes.inline("", "", classes=["memreport-pin"])
        if target:
            pin["ids"] = [anchor(source_id)]
            pin += nodes.strong("", source_id)
        else:
            pin += self._cite_source(slug, source_id)
        pin += nodes.Text(" ")
        if isinstance(source, GitSource):
            home = repository_url(source.repository)
            pin += _web_link(home, source.repository) if home else nodes.Text(source.repository)
            pin += nodes.Text(" at ")
            shown = nodes.literal("", source.commit[:10])
            url = commit_url(source.repository, source.commit)
            pin += _web_link(url, shown) if url else shown
        else:
            pin += nodes.Text(f"{source.identity} ({source.layer})")
        return pin

    def _register(self, node: nodes.Element) -> list[nodes.Node]:
        report = self._report(node["report"])
        if report is None:
            return []
        owns_targets = self.site.registers.get(report.slug) == self.docname
        entries = nodes.definition_list(classes=["memreport-sources"])
        for source_id, source in report.sources.items():
            term = nodes.term(
                "", "", self._pin(report.slug, source_id, source, target=owns_targets)
            )
            fields = nodes.field_list()
            for name, text in self._described(report.slug, source_id, source):
                fields += _field(name, [nodes.Text(text)])
            entries += nodes.definition_list_item("", term, nodes.definition("", fields))
        return [entries]

    def _described(
        self, slug: str, source_id: str, source: GitSource | CaptureSource
    ) -> Iterable[tuple[str, str]]:
        if isinstance(source, GitSource):
            yield "Commit", source.commit
            for layer, globs in source.layers.items():
                yield str(layer).capitalize(), ", ".join(globs)
        else:
            yield "SHA-256", source.sha256
            yield "Layer", str(source.layer)
        if source.inspected:
            yield "Inspected", source.inspected
        if source.gaps:
            yield "Gaps", source.gaps
        finding = self.site.verdicts.unavailable.get((slug, source_id))
        if finding:
            yield "Unavailable", f"{finding.message} [{finding.code}]"


def shown_passage(quote: str, passage: str | None) -> str:
    """The text to show for a quote: the author's layout where it has the source's lines.

    Line numbers must be those of the source, so a quote with other line breaks is shown as
    the source has it.
    """
    written = quote.strip("\n")
    if passage is None:
        return written
    if [line.split() for line in written.split("\n")] == [
        line.split() for line in passage.split("\n")
    ]:
        return written
    return passage


def evidence_anchor(evidence: Evidence) -> str:
    """The anchor of a piece of evidence on its page: stable while the ones above it are."""
    return f"evidence-{evidence.number + 1}"


def language_of(path: str | None) -> str:
    """The name of the Pygments lexer for a path; plain text when there is none."""
    try:
        name = PurePosixPath(path or "").name
        return str(get_lexer_for_filename(name).aliases[0])
    except (ClassNotFound, IndexError):
        return "text"


def evidence_is_web(source: CaptureSource) -> bool:
    """Whether the identity of a capture is a web address."""
    return source.identity.startswith(("https://", "http://"))


def _web_link(url: str, shown: str | nodes.Node) -> nodes.reference:
    content = nodes.Text(shown) if isinstance(shown, str) else shown
    return nodes.reference("", "", content, internal=False, refuri=url)


def _field(name: str, items: list[nodes.Node]) -> nodes.field:
    paragraph = nodes.paragraph()
    for index, item in enumerate(items):
        if index:
            paragraph += nodes.Text(", ")
        paragraph += item
    return nodes.field("", nodes.field_name("", name), nodes.field_body("", paragraph))
