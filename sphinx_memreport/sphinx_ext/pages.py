"""Pages about quoted files: the passages in their place, and who rests on them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from sphinx.builders.html import StandaloneHTMLBuilder

from sphinx_memreport.core.models import Evidence, Resolution, Status
from sphinx_memreport.core.quotes import mark_invisible

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from sphinx_memreport.core.site import Site
    from sphinx_memreport.sphinx_ext.domain import MemDomain

#: Folder of the pages in the output.
_FOLDER = "_memreport"
#: Builders that write pages which belong to no document.
_BUILDERS = ("html", "dirhtml")
_NAME_LIMIT = 120


def source_page_name(report: str, source_id: str, path: str) -> str:
    """The page of a file: safe as a file name and in a URL, whatever the path is made of."""
    parts = [_safe_name(part) for part in path.split("/")] if path else ["capture"]
    return "/".join([_FOLDER, report, source_id.lower(), *parts])


def _safe_name(part: str) -> str:
    # letters, digits and a few marks stay; anything else could mean something to a file system,
    # a URL or a page template, so the name is then made unique by a hash
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in part)
    if plain == part and plain.strip(".") and len(plain) <= _NAME_LIMIT:
        return plain
    digest = hashlib.sha256(part.encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return f"{plain[:_NAME_LIMIT].lstrip('.')}~{digest}"


def has_source_pages(app: Sphinx) -> bool:
    """Whether the builder writes pages about quoted files."""
    return isinstance(app.builder, StandaloneHTMLBuilder) and app.builder.name in _BUILDERS


def source_page_uri(
    app: Sphinx, docname: str, report: str, source_id: str, path: str
) -> str | None:
    """The address of a file's page from a document's page; None when there are no such pages."""
    if not has_source_pages(app):
        return None
    return app.builder.get_relative_uri(docname, source_page_name(report, source_id, path))


def collect_source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Pages for ``html-collect-pages``: one for each quoted file."""
    if not has_source_pages(app):
        return
    domain = cast("MemDomain", app.env.get_domain("mem"))
    quoted: dict[tuple[str, str, str], list[tuple[Evidence, Resolution]]] = defaultdict(list)
    for evidence in domain.site.evidence():
        resolution = domain.site.resolution(evidence)
        source = domain.site.source_of(evidence)
        if resolution.status is Status.VERIFIED and source:
            quoted[evidence.report, source.id, evidence.path or ""].append((evidence, resolution))
    for (report, source_id, path), passages in sorted(quoted.items()):
        name = source_page_name(report, source_id, path)
        title = mark_invisible(path) or source_id
        body = _body(app, domain.site, name, title, source_id, passages)
        yield name, {"title": escape(title), "body": body}, "page.html"


def _body(
    app: Sphinx,
    site: Site,
    page: str,
    title: str,
    source_id: str,
    passages: list[tuple[Evidence, Resolution]],
) -> str:
    blocks = [
        f'<h1 class="memreport-file">{escape(title)}</h1>',
        f"<p>Excerpts of {escape(source_id)} around what the report quotes.</p>",
    ]
    for evidence, resolution in sorted(passages, key=lambda each: _first_line(each[1])):
        blocks.append(_excerpt(app, site, page, evidence, resolution))
    return "\n".join(blocks)


def _first_line(resolution: Resolution) -> tuple[int, int]:
    lines = resolution.lines
    return (lines.start, lines.end) if lines else (0, 0)


def _excerpt(app: Sphinx, site: Site, page: str, evidence: Evidence, resolution: Resolution) -> str:
    assert resolution.excerpt is not None
    assert resolution.lines is not None
    builder = cast("StandaloneHTMLBuilder", app.builder)
    from sphinx_memreport.sphinx_ext.render.evidence import language_of

    marked = range(
        resolution.lines.start - resolution.excerpt.start + 1,
        resolution.lines.end - resolution.excerpt.start + 2,
    )
    code = builder.highlighter.highlight_block(
        mark_invisible(resolution.excerpt.text),
        evidence.lang or language_of(evidence.path),
        force=True,
        linenos="inline",
        linenostart=resolution.excerpt.start,
        hl_lines=list(marked),
    )
    target = evidence.record
    anchor = (target or "").lower()
    uri = builder.get_relative_uri(page, evidence.docname) + (f"#{anchor}" if anchor else "")
    record = site.record(evidence.report, target) if target else None
    label = (record.label if record else "") or target or site.titles.get(evidence.docname, "")
    return (
        f'<div class="memreport-excerpt" id="L{resolution.lines.start}">'
        f"<p>Lines {resolution.lines}, quoted by "
        f'<a class="reference internal" href="{escape(quote(uri, safe="/#.:?=&%~"))}">'
        f"{escape(label)}</a></p>\n{code}</div>"
    )
