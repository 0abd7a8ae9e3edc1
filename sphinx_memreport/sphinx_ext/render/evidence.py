"""A piece of evidence: where it stands, the passage, the verdict."""

from __future__ import annotations

from docutils import nodes

from sphinx_memreport.config import GitSource
from sphinx_memreport.core.characters import mark_invisible
from sphinx_memreport.core.models import Evidence, Finding, PathReference, Resolution, Status
from sphinx_memreport.core.site import QuotedPath
from sphinx_memreport.permalinks import permalink
from sphinx_memreport.sphinx_ext.nodes import evidence_block, path_reference
from sphinx_memreport.sphinx_ext.pages import source_page_uri
from sphinx_memreport.sphinx_ext.passages import (
    evidence_anchor,
    language_of,
    shown_passage,
    visible_text,
)
from sphinx_memreport.sphinx_ext.render.page import Page, Source, badge, dated
from sphinx_memreport.sphinx_ext.words import _, listed, sentence, term


def _verdict(status: Status) -> str:
    return {
        Status.VERIFIED: _("verified"),
        Status.STALE: _("stale: not in the source"),
        Status.AMBIGUOUS: _("ambiguous"),
        Status.MISSING: _("not found"),
        Status.UNVERIFIED: _("unverified"),
    }[status]


def render_evidence(page: Page, node: evidence_block) -> list[nodes.Node]:
    """The block of one piece of evidence."""
    evidence = page.facts.evidence[node["number"]]
    resolution = page.site.resolution(evidence)
    block = nodes.container(
        "",
        literal_block=True,
        classes=[
            "literal-block-wrapper",
            "memreport-evidence",
            f"memreport-{resolution.status}",
            *(["memreport-locked"] if resolution.locked else []),
        ],
    )
    block["ids"] = [*node["ids"], evidence_anchor(evidence.number)]
    block += _attribution(page, evidence, resolution)
    block += _passage(evidence, resolution)
    for caption in node.children:
        caption["classes"] = ["memreport-caption"]  # type: ignore[index]
        block += caption
    if evidence.supports:
        block += _supports(page, evidence)
    if resolution.finding:
        block += render_finding(resolution.finding)
    return [block]


def _supports(page: Page, evidence: Evidence) -> nodes.container:
    """The records that the passage supports besides the one that it stands in."""
    records = [page.name_record(evidence.report, each) for each in evidence.supports]
    said = sentence(_("Supports {records}"), records=listed(records))
    return nodes.container("", nodes.paragraph("", "", *said), classes=["memreport-supports"])


def _attribution(page: Page, evidence: Evidence, resolution: Resolution) -> nodes.caption:
    report, lines = evidence.report, resolution.lines
    source_id = page.source_id(evidence)
    parts: list[nodes.Node] = [page.cite_source(report, source_id)]
    # of a file that is not here, there is nothing to show
    has_page = resolution.excerpt is not None
    parts += page.file_link(report, source_id, evidence.path, lines, has_page=has_page)
    host = page.host_link(report, source_id, evidence.path, lines)
    if host is not None:
        parts.append(host)
    if layer := page.site.layer(evidence):
        parts.append(badge(term(layer), "layer"))
    verdict = dated(_verdict(resolution.status), resolution.locked)
    parts.append(badge(verdict, resolution.status))
    caption = nodes.caption("", "", classes=["memreport-attribution"])
    for index, part in enumerate(parts):
        if index:
            caption += nodes.Text(" ")
        caption += part
    return caption


def _passage(evidence: Evidence, resolution: Resolution) -> nodes.literal_block:
    text = visible_text(shown_passage(evidence.quote, resolution))
    block = nodes.literal_block(text, text)
    block.line = evidence.line  # where a lexer that is not known is said to be asked for
    block["language"] = evidence.lang or language_of(evidence.path)
    # a passage is a fragment: what a lexer finds odd in it is no fault
    block["force"] = True
    block["translatable"] = False
    block["trim_flags"] = False  # word for word
    # an author's own line breaks need not be those of the file
    if resolution.lines and resolution.passage is not None:
        block["linenos"] = True
        block["highlight_args"] = {"linenostart": resolution.lines.start}
    return block


def render_finding(finding: Finding) -> nodes.Node:
    """What is wrong, in place, so that an author sees it on the page as well."""
    box = nodes.container("", classes=["memreport-diagnosis"])
    box += nodes.paragraph("", f"{finding.message} [{finding.code}]")
    for line in (*finding.details, *([f"fix: {finding.fix}"] if finding.fix else [])):
        box += nodes.paragraph("", mark_invisible(line))
    return box


def render_path(page: Page, node: path_reference) -> list[nodes.Node]:
    """A path that a role points at, linked to the host, else to the file's page in the site."""
    reference = page.facts.paths[node["number"]]
    verdict = page.site.path_verdict(reference)
    shown = nodes.literal("", "", *_unbroken(node), classes=["memreport-path"])
    if verdict is None or verdict.finding:
        return [nodes.inline("", "", shown, classes=["memreport-dangling"])]
    source = page.source(reference.report, page.source_id(reference))
    url = host_address(source, reference, directory=verdict.directory)
    uri = url or _page_uri(page, reference, verdict)
    if uri is None:
        return [shown]
    link = nodes.reference("", "", shown, internal=url is None, refuri=uri)
    if verdict.locked:
        link["reftitle"] = dated(_("verified"), verdict.locked)
    return [link]


def host_address(source: Source | None, reference: PathReference, *, directory: bool) -> str | None:
    """The address of a path at the host of its source; None where there is no known host."""
    if not isinstance(source, GitSource):
        return None
    return permalink(
        source.repository,
        source.commit,
        reference.path,
        reference.lines,
        source.permalink,
        directory=directory,
    )


def _unbroken(node: path_reference) -> list[nodes.Node]:
    """What a path is shown as; no line ends inside the source ID that it begins with."""
    source, text = f"{node['source']}:", node.astext()
    if source == ":" or not text.startswith(source):
        return node.children
    head = nodes.inline("", source, classes=["memreport-unbroken"])
    return [head, nodes.Text(text.removeprefix(source))]


def _page_uri(page: Page, reference: PathReference, verdict: QuotedPath) -> str | None:
    """The address of a file's page, at the first line that is meant where the page shows it."""
    if not verdict.excerpts:
        return None
    source_id, path = page.source_id(reference), reference.path
    uri = source_page_uri(page.app, page.docname, reference.report, source_id, path)
    start = reference.lines.start if reference.lines else 0
    if uri and any(each.start <= start <= each.end for each in verdict.excerpts):
        return f"{uri}#L{start}"
    return uri
