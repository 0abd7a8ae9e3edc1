"""A tiny Sphinx site in a folder of its own: write files, build, look at what came out.

    site = TinySite(tmp_path / "site", pinned_repo)
    built = site.build({"memory.md": "# Memory\\n\\nSee MEM-OBJ-nothing.\\n"})
    assert built.problems == [("dangling-id", "memory", 3)]
    assert built.status == 1
    assert "MEM-OBJ-nothing" in built.page("memory")

The site has one report, ``jotter``, that owns all documents and has the pinned repository as
``SRC-1``; write another ``memreport.toml`` or ``conf.py`` where that does not fit. ``build``
runs in this process and is quick; ``run`` starts ``sphinx-build`` as a user does.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from pinned_repo import PinnedRepo
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.console import strip_colors
from sphinx.util.docutils import docutils_namespace, patch_docutils

from sphinx_memreport.config import InvalidConfig
from sphinx_memreport.core.problems import Problem
from sphinx_memreport.sphinx_ext.domain import mem_domain

#: Code, document name, line. Problems of a configuration file have its name for a document.
Found = tuple[str, str, int | None]

CONF = """\
extensions = ["myst_parser", "sphinx_memreport"]
myst_enable_extensions = ["colon_fence"]
html_theme = "alabaster"
html_copy_source = False
"""
INDEX = "# Start\n\n```{toctree}\n:glob:\n\n**\n```\n"


def report_toml(
    repo: PinnedRepo,
    slug: str = "jotter",
    *,
    directory: str = ".",
    keys: str = "",
    source: str = "",
) -> str:
    """A report with the newest commit of a repository as SRC-1.

    :param keys: further lines of the report's table.
    :param source: further lines of the source's table, or tables that follow it.
    """
    return (
        f'[reports.{slug}]\ndirectory = "{directory}"\nsystem = "{slug.title()}"\n{keys}\n'
        f'[reports.{slug}.sources.SRC-1]\nkind = "git"\n'
        f'repository = "https://github.com/example/{slug}"\n'
        f'commit = "{repo.commit}"\ncheckout = "{repo.path.as_posix()}"\n{source}\n'
    )


@dataclass(frozen=True)
class Built:
    """What one build in this process read, said and wrote.

    ``problems`` are ours, in the order in which they are said; ``warnings`` is everything that
    was said, without colours. ``status`` is what ``sphinx-build`` would exit with. ``app`` is
    None when the configuration was refused (status 2).
    """

    source: Path
    out: Path
    status: int
    warnings: str
    details: list[Problem] = field(default_factory=list)
    read: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    app: Sphinx | None = None

    @property
    def problems(self) -> list[Found]:
        """Code, document name and line of every problem."""
        return [(str(p.code), p.docname or Path(p.path or "").name, p.line) for p in self.details]

    @property
    def env(self) -> BuildEnvironment:
        """The environment of the build."""
        assert self.app is not None, self.warnings
        return self.app.env

    def doctree(self, docname: str, *, resolved: bool = False) -> nodes.document:
        """The doctree of a document, before or after post-transforms."""
        assert self.app is not None, self.warnings
        if resolved:
            return self.env.get_and_resolve_doctree(docname, self.app.builder)
        return self.env.get_doctree(docname)

    def page(self, docname: str) -> str:
        """A page as it was written, by document name."""
        return (self.out / f"{docname}.html").read_text(encoding="utf-8")

    def soup(self, docname: str) -> BeautifulSoup:
        """A page, parsed."""
        return BeautifulSoup(self.page(docname), "html.parser")

    def text(self, docname: str) -> str:
        """The text of a page's body, with single spaces."""
        body = self.soup(docname).select_one("[role=main], article")
        assert body is not None
        return " ".join(body.get_text().split())

    def data(self, name: str) -> Any:
        """A JSON file of the output."""
        return json.loads((self.out / name).read_text(encoding="utf-8"))

    def broken_links(self) -> list[tuple[str, str]]:
        """Links inside the site that lead to no page or anchor: page and address."""
        return broken_links(self.out)


class TinySite:
    """A site below ``root``: its sources in ``source``, one output folder for each builder."""

    def __init__(self, root: Path, repo: PinnedRepo | None = None) -> None:
        self.source = root / "source"
        self.root = root
        self.source.mkdir(parents=True)
        self.write({"conf.py": CONF, "index.md": INDEX})
        if repo is not None:
            self.write({"memreport.toml": report_toml(repo)})

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write files, by path below the source folder; None removes one."""
        for name, content in files.items():
            path = self.source / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            data = content.encode("utf-8") if isinstance(content, str) else content
            path.write_bytes(data)

    def build(
        self,
        files: Mapping[str, str | bytes | None] | None = None,
        builder: str = "html",
        *,
        parallel: int = 1,
        cache: str = "cache",
        fresh: bool = False,
        **settings: Any,
    ) -> Built:
        """Write files, then build in this process.

        :param cache: folder of doctrees and output; another name starts from nothing.
        :param fresh: read and write every document again.
        :param settings: override those of ``conf.py``.
        """
        self.write(files or {})
        out = self.root / cache / builder
        warnings = StringIO()
        read: list[str] = []
        written: list[str] = []

        def built(status: int, details: list[Problem], app: Sphinx | None) -> Built:
            said = strip_colors(warnings.getvalue())
            return Built(self.source, out, status, said, details, read, written, app)

        with patch_docutils(self.source), docutils_namespace():
            try:
                app = Sphinx(
                    self.source,
                    self.source,
                    out,
                    self.root / cache / "doctrees",
                    builder,
                    settings,
                    status=None,
                    warning=warnings,
                    freshenv=fresh,
                    parallel=parallel,
                )
                app.connect(
                    "env-before-read-docs", lambda _app, _env, names: read.extend(names), 999
                )
                app.connect("doctree-resolved", lambda _app, _tree, name: written.append(name))
                app.build(force_all=fresh)
            except SystemExit as stop:
                refused = stop.__cause__
                if not isinstance(refused, InvalidConfig):
                    raise
                return built(int(stop.code or 0), list(refused.problems), None)
            return built(app.statuscode, mem_domain(app.env).problems, app)

    def run(
        self, *arguments: str, builder: str = "html", cache: str = "cache"
    ) -> subprocess.CompletedProcess[str]:
        """Run ``sphinx-build`` as a process of its own: exit status, what it prints."""
        out = self.root / cache / builder
        command = [sys.executable, "-m", "sphinx", "--no-color", "-b", builder, *arguments]
        command += ["-d", str(self.root / cache / "doctrees"), str(self.source), str(out)]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def broken_links(out: Path) -> list[tuple[str, str]]:
    """Links between the pages below a folder that lead to no page or anchor."""
    return sorted(_broken_links(out))


def _broken_links(out: Path) -> Iterator[tuple[str, str]]:
    pages = {path: BeautifulSoup(path.read_bytes(), "html.parser") for path in out.rglob("*.html")}
    anchors = {path: {tag["id"] for tag in soup.find_all(id=True)} for path, soup in pages.items()}
    for path, soup in pages.items():
        for tag in soup.find_all("a", href=True):
            href = str(tag["href"])
            if "://" in href or href.startswith(("mailto:", "data:")):
                continue
            target, _, fragment = href.partition("#")
            place = (path.parent / target).resolve() if target else path
            missing = not place.exists() or (
                fragment and place in anchors and fragment not in anchors[place]
            )
            if missing:
                yield path.relative_to(out).as_posix(), href
