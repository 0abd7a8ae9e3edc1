"""Pages about quoted files: the passages in their place, and who rests on them.

They belong to no document, so they are put together as HTML here. Every name, line and label is
escaped: a page's ``title`` and ``body`` stand in Sphinx's templates as they are.
"""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property, lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pygments import highlight
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.util.parallel import ParallelTasks

from sphinx_memreport import __version__
from sphinx_memreport.config import GitSource
from sphinx_memreport.core.models import Evidence, LineRange, Resolution
from sphinx_memreport.core.site import TargetKind
from sphinx_memreport.permalinks import permalink
from sphinx_memreport.sphinx_ext.passages import (
    evidence_anchor,
    language_of,
    visible_name,
    visible_text,
)
from sphinx_memreport.sphinx_ext.unchanged import newest_template, output_file
from sphinx_memreport.sphinx_ext.words import _, capitalized, line_numbers

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

    from sphinx_memreport.sphinx_ext.domain import MemDomain

#: Folder of the pages in the output.
_FOLDER = "_memreport"
#: Builders that write pages which belong to no document.
_BUILDERS = ("html", "dirhtml")
_NAME_LIMIT = 80
_MARK = '<section class="memreport-source-page"'
#: All of a page below the theme's own parts; there is no section inside of it.
_SECTION = re.compile(
    rf'{_MARK} data-digest="(?P<digest>\w+)" data-content="(?P<content>\w+)">'
    r"(?P<blocks>.*?)</section>",
    re.DOTALL,
)
_ASSET_OF_NEEDS = re.compile(r"(?:^|/)sphinx-(?:needs|data-viewer)/")
#: Characters of a file that a page shows whole.
_WHOLE_LIMIT = 1_000_000
#: Pages that are not worth a process.
_FEW = 20


@lru_cache(maxsize=4096)  # a file is quoted many times, close together
def source_page_name(report: str, source_id: str, path: str) -> str:
    """The page of a file, safe as a file name and in a URL, whatever the path is made of.

    All pages of a source lie in one folder. The digest keeps apart what a file system, or the
    builder, would not: names that differ in case only, a file ``a`` and a folder ``a.html``.
    """
    readable = re.sub(r"[^a-z0-9.]+", "-", path.lower())[-_NAME_LIMIT:].strip("-.")
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return f"{_FOLDER}/{report}/{source_id.lower()}/{readable or 'capture'}-{digest}"


def has_source_pages(app: Sphinx) -> bool:
    """Whether the builder writes pages about quoted files, and the settings want them."""
    return (
        isinstance(app.builder, StandaloneHTMLBuilder)
        and app.builder.name in _BUILDERS
        and app.config.memreport_source_pages != "none"
    )


def source_page_uri(
    app: Sphinx, docname: str, report: str, source_id: str, path: str
) -> str | None:
    """The address of a file's page from a document's page; None when there are no such pages."""
    if not has_source_pages(app):
        return None
    return app.builder.get_relative_uri(docname, source_page_name(report, source_id, path))


class Passage(NamedTuple):
    """One piece of evidence and where in the file it was found."""

    evidence: Evidence
    resolution: Resolution
    lines: LineRange


def collect_source_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Pages for ``html-collect-pages``: one for each quoted file.

    A build with several processes has written them all when it comes to the end of these.
    """
    if not isinstance(app.builder, StandaloneHTMLBuilder) or app.builder.name not in _BUILDERS:
        return
    domain = cast("MemDomain", app.env.get_domain("mem"))
    wanted = has_source_pages(app)
    pages = [
        _SourcePage(app, domain, *key, passages)
        for key, passages in sorted(_quoted_files(domain).items())
        if wanted
    ]
    _remove_others(app.builder, {page.name for page in pages})
    changed = newest_template(app.builder)
    due = [page for page in pages if not page.is_written(changed)]
    if app.builder.parallel_ok and len(due) > _FEW:
        _write_in_parallel(app, due)
    else:
        yield from (page.parts() for page in due)


def _write_in_parallel(app: Sphinx, due: list[_SourcePage]) -> None:
    builder = cast("StandaloneHTMLBuilder", app.builder)

    def write(pages: list[_SourcePage]) -> None:
        for page in pages:
            builder.handle_page(*page.parts())

    tasks = ParallelTasks(app.parallel)
    for first in range(app.parallel):
        tasks.add_task(write, due[first :: app.parallel])
    tasks.join()


def source_page_files(app: Sphinx) -> list[str]:
    """The pages of quoted files, relative to the output folder."""
    if not has_source_pages(app):
        return []
    builder = cast("StandaloneHTMLBuilder", app.builder)
    domain = cast("MemDomain", app.env.get_domain("mem"))
    return [output_file(builder, source_page_name(*key)) for key in _quoted_files(domain)]


def drop_assets_of_needs(
    _app: Sphinx,
    pagename: str,
    _templatename: str,
    context: dict[str, Any],
    _doctree: nodes.document | None,
) -> None:
    """Take from a page of ours, for ``html-page-context``, what only views of needs use.

    It is half of the files that such a page would have a reader load.
    """
    if pagename.startswith(f"{_FOLDER}/"):
        for kind in ("css_files", "script_files"):
            files = context.get(kind, ())
            context[kind] = [each for each in files if not _ASSET_OF_NEEDS.search(str(each))]


def _remove_others(builder: StandaloneHTMLBuilder, names: set[str]) -> None:
    """Remove pages of files that are no longer quoted; only what bears our mark."""
    keep = {Path(builder.get_outfilename(name)) for name in names}
    for path in Path(builder.outdir, _FOLDER).rglob(f"*{builder.out_suffix}"):
        if path not in keep and path.is_file() and not path.is_symlink():
            with suppress(OSError, UnicodeError):
                if _MARK in path.read_text(encoding="utf-8"):
                    path.unlink()


def _quoted_files(domain: MemDomain) -> dict[tuple[str, str, str], list[Passage]]:
    quoted: dict[tuple[str, str, str], list[Passage]] = defaultdict(list)
    for evidence in domain.site.evidence():
        resolution = domain.site.resolution(evidence)
        source = domain.site.source_of(evidence)
        # what a lock vouches for has no excerpt: its file is not here
        if resolution.excerpt and resolution.lines and source:
            key = evidence.report, source.id, evidence.path or ""
            quoted[key].append(Passage(evidence, resolution, resolution.lines))
    return quoted


class _SourcePage:
    """The page of one file."""

    def __init__(
        self,
        app: Sphinx,
        domain: MemDomain,
        report: str,
        source_id: str,
        path: str,
        passages: list[Passage],
    ) -> None:
        self.builder = cast("StandaloneHTMLBuilder", app.builder)
        self.highlighter = self.builder.highlighter
        self.site = domain.site
        self.report = domain.config.reports[report]
        self.source_id = source_id
        self.path = path
        self.passages = sorted(passages, key=lambda each: (each.lines.start, each.lines.end))
        self.whole = self._whole_text() if app.config.memreport_source_pages == "full" else None
        self.name = source_page_name(report, source_id, path)
        self.title = visible_name(path) or source_id

    @cached_property
    def language(self) -> str:
        """The lexer to highlight with; looked for only when the page is written."""
        return self.passages[0].evidence.lang or language_of(self.path)

    def is_written(self, since: float) -> bool:
        """Whether the page stands in the output, whole, as it would be written now.

        :param since: when the newest template was changed.
        """
        path = Path(self.builder.get_outfilename(self.name))
        try:
            written = path.read_text(encoding="utf-8")
            if path.stat().st_mtime < since:
                return False
        except (OSError, UnicodeError):
            return False
        found = _SECTION.search(written)
        return (
            found is not None
            and found["digest"] == self._digest()
            and found["content"] == _content_hash(found["blocks"])
            and "</html>" in written[found.end() :]
        )

    def _digest(self) -> str:
        """What the page rests on; it stands in the page, so that no other record can be wrong."""
        build_info = getattr(self.builder, "build_info", None)
        rests_on = [
            __version__,
            getattr(build_info, "config_hash", ""),
            self.builder.config.language,
            self._about(),
            self.whole,
            [
                (
                    each.lines,
                    each.resolution.excerpt,
                    each.evidence.lang,
                    list(self._citing(each.evidence)),
                )
                for each in self.passages
            ],
        ]
        return hashlib.sha256(repr(rests_on).encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def _whole_text(self) -> list[str] | None:
        """The lines of the file; None when it cannot be had or is too long for a page."""
        source = self.site.reports[self.report.slug].source(self.source_id)
        text = self.site.verdicts.text(source, self.path) if source else None
        if text is None or len(text) > _WHOLE_LIMIT:
            return None
        return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]

    def parts(self) -> tuple[str, dict[str, Any], str]:
        """Name, context and template, as Sphinx takes them."""
        return self.name, {"title": escape(self.title), "body": self._body()}, "page.html"

    def _body(self) -> str:
        """All of the page below the theme's own parts."""
        quoted = {n for each in self.passages for n in range(each.lines.start, each.lines.end + 1)}
        blocks = [
            f'<h1 class="memreport-file">{escape(self.title)}</h1>',
            f'<p class="memreport-file-about">{self._about()}</p>',
        ]
        for run in self._runs():
            blocks += self._run(run, quoted)
        content = "".join(blocks)
        digests = f'data-digest="{self._digest()}" data-content="{_content_hash(content)}"'
        return f"{_MARK} {digests}>{content}</section>"

    def _about(self) -> str:
        about = _("Excerpts of the file that the report on {report} quotes as {source}, {pin}.")
        if self.whole is not None:
            about = _("The whole file that the report on {report} quotes as {source}, {pin}.")
        source = escape(self.source_id)
        target = self.site.target(self.report.slug, self.source_id)
        if target.docname is not None:
            source = self._link(target.docname, target.anchor, self.source_id)
        report = escape(self.report.system)
        return about.format(report=report, source=source, pin=self._original())

    def _original(self) -> str:
        source = self.report.sources[self.source_id]
        if not isinstance(source, GitSource):
            original = _web_link(source.identity, escape(source.identity))
            return _("a frozen copy of {original}").format(original=original)
        url = permalink(source.repository, source.commit, self.path, None, source.permalink)
        commit = _web_link(url or "", f"<code>{source.commit[:10]}</code>")
        return _("at commit {commit}").format(commit=commit)

    # --- lines ----------------------------------------------------------------------------

    def _runs(self) -> list[dict[int, str]]:
        """The lines to show, by number, in runs without a gap; overlapping excerpts are one."""
        lines: dict[int, str] = {}
        for each in self.passages:
            excerpt = each.resolution.excerpt
            if excerpt is not None:
                lines.update(enumerate(excerpt.text.split("\n"), excerpt.start))
        if self.whole is not None:
            lines = dict(enumerate(self.whole, 1))
        runs: list[dict[int, str]] = []
        for number in sorted(lines):
            if not runs or number - 1 not in runs[-1]:
                runs.append({})
            runs[-1][number] = lines[number]
        return runs

    def _run(self, run: dict[int, str], quoted: set[int]) -> Iterator[str]:
        """One run of lines; who cites a passage is said right above its first line."""
        notes = {each.lines.start: "" for each in self.passages if each.lines.start in run}
        for start in notes:
            notes[start] = self._cited_at(start)
        code = dict(zip(run, self._highlighted(list(run.values())), strict=True))
        cuts = sorted({min(run), *notes})
        yield '<div class="memreport-excerpt">'
        for cut, end in zip(cuts, [*cuts[1:], max(run) + 1], strict=True):
            yield notes.get(cut, "")
            yield '<div class="highlight notranslate"><pre>'
            for number in range(cut, end):
                marked = " memreport-quoted" if number in quoted else ""
                yield (
                    f'<span class="memreport-line{marked}" id="L{number}">'
                    f'<a class="linenos" href="#L{number}" tabindex="-1">{number}</a>'
                    f"{code[number]}\n</span>"
                )
            yield "</pre></div>"
        yield "</div>"

    def _highlighted(self, lines: list[str]) -> list[str]:
        """Lines as HTML, each complete in itself."""
        shown = [visible_text(line) for line in lines]
        code = "\n".join(shown) + "\n"
        lexer = self.highlighter.get_lexer(code, self.language, {"stripnl": False}, force=True)
        html = highlight(code, lexer, self.highlighter.get_formatter(nowrap=True))
        found = html.removesuffix("\n").split("\n")
        # whatever a lexer does to the text, a line keeps its number
        return found if len(found) == len(lines) else [escape(line) for line in shown]

    # --- who cites a passage --------------------------------------------------------------

    def _cited_at(self, start: int) -> str:
        """All that cite the passages that begin at a line, by passage."""
        items: dict[str, dict[str, None]] = defaultdict(dict)
        for each in self.passages:
            if each.lines.start == start:
                lines = capitalized(line_numbers(each.lines))
                items[lines].update(dict.fromkeys(self._citing(each.evidence)))
        said = _("{lines}, quoted by {records}")
        rows = (
            f"<li>{said.format(lines=lines, records=', '.join(who))}</li>"
            for lines, who in items.items()
        )
        return f'<ul class="memreport-cited-at">{"".join(rows)}</ul>'

    def _citing(self, evidence: Evidence) -> Iterator[str]:
        own = evidence.record if evidence.annotation is None else None
        backed = [*([own] if own else []), *evidence.supports]
        if evidence.annotation:
            label = _("annotation on {record}").format(record=evidence.record)
            yield self._link(evidence.docname, evidence.annotation, label)
        for record_id in dict.fromkeys(backed):
            target = self.site.target(evidence.report, record_id)
            if target.kind is TargetKind.NOTHING or target.docname is None:
                yield escape(record_id)
                continue
            link = self._link(target.docname, target.anchor, target.label or record_id)
            yield f"{link} <code>{escape(record_id)}</code>" if target.label else link
        if not backed and not evidence.annotation:
            title = self.site.titles.get(evidence.docname, evidence.docname)
            yield self._link(evidence.docname, evidence_anchor(evidence.number), title)

    def _link(self, docname: str, anchor: str, shown: str) -> str:
        uri = self.builder.get_relative_uri(self.name, docname)
        href = escape(f"{uri}#{anchor}")
        return f'<a class="reference internal" href="{href}">{escape(shown)}</a>'


def _content_hash(html: str) -> str:
    """Says whether what a page holds is what was written there."""
    return hashlib.sha256(html.encode("utf-8", "xmlcharrefreplace")).hexdigest()[:32]


def _web_link(url: str, shown: str) -> str:
    """A link out of the site, around HTML; that alone when the address is not of the web."""
    if not url.startswith(("https://", "http://")):
        return shown
    return f'<a class="reference external" href="{escape(url)}">{shown}</a>'
