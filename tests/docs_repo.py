"""The sites that the snippets of ``docs/`` and the examples of ``tests/problems/`` are built in.

Each is a report ``jotter`` below ``jotter/`` with the repository ``../jotter-source`` as SRC-1:
the one of ``pinned_repo.py`` with the files of ``docs_source/`` added to its second commit.
"""

from __future__ import annotations

from pathlib import Path

from pinned_repo import FIRST, SECOND, PinnedRepo, Tree, plain
from sitebuilder import TinySite, report_toml

HERE = Path(__file__).parent
#: What is pinned where an example does not bring its own memreport.toml.
TREE: Tree = SECOND | {
    path.relative_to(HERE / "docs_source").as_posix(): path.read_bytes()
    for path in sorted((HERE / "docs_source").rglob("*"))
    if path.is_file()
}
CONF = """\
extensions = ["myst_parser", "sphinx_memreport"]
myst_enable_extensions = ["colon_fence"]
html_theme = "alabaster"
suppress_warnings = ["toc.not_included"]
"""
INDEX = "# Reports\n"


def docs_repository(root: Path) -> PinnedRepo:
    """The repository, made in ``root``."""
    return plain(root / "jotter-source", FIRST, TREE)


def docs_site(root: Path, repo: PinnedRepo) -> TinySite:
    """A site in ``root`` with the repository beside it."""
    site = TinySite(root)
    (root / "jotter-source").symlink_to(repo.path)
    toml = report_toml(repo, directory="jotter")
    toml = toml.replace(repo.path.as_posix(), "../jotter-source")
    # so that the report has a document
    site.write({"jotter/start.md": "---\norphan: true\n---\n\n# Jotter\n"})
    site.write({"conf.py": CONF, "index.md": INDEX, "memreport.toml": toml})
    return site
