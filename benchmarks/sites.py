"""Synthetic sites: one text, as our records, as sphinx-needs directives, as plain MyST.

A record has a title, one option, two references to other records and one quotation. Each variant
shows all of it: what differs is who keeps the records.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

FILES = 5_000
#: Functions in each file; a quotation is one of them.
FUNCTIONS = 20
_QUOTED_FILES = 1_000

_CONF = """\
extensions = [{extensions}]
myst_enable_extensions = ["colon_fence", "fieldlist"]
html_theme = "alabaster"
# a sidebar with a tree of all pages is quadratic in pages, whatever they hold
html_sidebars = {{"**": []}}
"""
_NEED_TYPES = """\
needs_types = [
    {"directive": "entry", "title": "Entry", "prefix": "E_", "color": "#D9EAD3", "style": "node"}
]
needs_id_regex = "^MEM-OBJ-[a-z]+$"
needs_fields = {"form": {"description": "Form", "schema": {"type": "string"}}}
needs_build_json = True
"""


class Variant(StrEnum):
    """Who keeps the records of a site."""

    PLAIN = "plain MyST"
    NEEDS = "sphinx-needs"
    OURS = "memreport"


@dataclass(frozen=True)
class Size:
    """How much a site holds."""

    records: int
    pages: int


def make_repository(root: Path) -> tuple[str, str]:
    """A repository of ``FILES`` files with two commits; the second one edits a tenth of them.

    :return: the two commit hashes. No quotation is touched by the second commit.
    """
    root.mkdir(parents=True)
    _git(root, "init", "--quiet")
    _git(root, "fast-import", "--quiet", stdin="".join(_commits()).encode())
    hashes = _git(root, "rev-list", "--reverse", "main").split()
    return hashes[0], hashes[1]


def path_of(number: int) -> str:
    """The path of a file of the repository."""
    return f"src/part{number % 50}/module{number}.py"


def function(file: int, number: int) -> str:
    """A function of a file: what is quoted."""
    name = f"step_{file}_{number}"
    return f"def {name}(value):\n    total = value + {number} * {file}\n    return total"


def _commits() -> Iterator[str]:
    for mark, message in enumerate(("first", "second"), start=1):
        yield f"commit refs/heads/main\nmark :{mark}\n"
        yield f"committer A <a@example.org> {mark} +0000\n"
        yield f"data {len(message)}\n{message}\n"
        if mark == 2:
            yield "from :1\n"
        for number in range(0, FILES, 1 if mark == 1 else 10):
            head = f"# module {number}, version {mark}\n\n\n"
            text = head + "\n\n\n".join(function(number, each) for each in range(FUNCTIONS)) + "\n"
            yield f"M 100644 inline {path_of(number)}\ndata {len(text)}\n{text}\n"


def _git(root: Path, *arguments: str, stdin: bytes | None = None) -> str:
    command = ["git", "-c", "init.defaultBranch=main", "-C", str(root), *arguments]
    done = subprocess.run(command, input=stdin, stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


class SyntheticSite:
    """The sources of one site in one variant, and the edits that the benchmark makes to them.

    :param root: the folder to make; the site's output goes elsewhere.
    :param repository: what :func:`make_repository` made.
    """

    def __init__(self, root: Path, variant: Variant, size: Size, repository: Path) -> None:
        self.root = root
        self.variant = variant
        self.size = size
        self._repository = repository
        self._per_page = size.records // size.pages
        self._edited = size.records // 2
        root.mkdir(parents=True)

    def write(self, commit: str) -> None:
        """Write all sources, pinned to a commit."""
        extensions = {
            Variant.PLAIN: '"myst_parser"',
            Variant.NEEDS: '"myst_parser", "sphinx_needs"',
            Variant.OURS: '"myst_parser", "sphinx_memreport"',
        }[self.variant]
        conf = _CONF.format(extensions=extensions)
        (self.root / "conf.py").write_text(
            conf + _NEED_TYPES if self.variant is Variant.NEEDS else conf
        )
        (self.root / "index.md").write_text(
            "# Site\n\n```{toctree}\n:glob:\n:maxdepth: 1\n\npage*\n```\n"
        )
        for page in range(self.size.pages):
            self._write_page(page)
        if self.variant is Variant.OURS:
            self.pin(commit)

    def pin(self, commit: str) -> None:
        """Pin the only source to a commit."""
        (self.root / "memreport.toml").write_text(
            '[reports.bench]\ndirectory = "."\nsystem = "Bench"\n\n'
            '[reports.bench.sources.SRC-1]\nkind = "git"\n'
            f'repository = "https://example.org/bench"\ncommit = "{commit}"\n'
            f'checkout = "{self._repository}"\n'
        )

    def edit_quote(self, turn: int) -> None:
        """Have one record quote another function of its file."""
        self._write_page(self._edited // self._per_page, function_shift=turn + 1)

    def edit_label(self, turn: int) -> None:
        """Give one record another title."""
        self._write_page(self._edited // self._per_page, title=f"Renamed {turn}")

    def _write_page(self, page: int, title: str = "", function_shift: int = 0) -> None:
        first = page * self._per_page
        parts = [f"# Page {page}\n"]
        for number in range(first, first + self._per_page):
            edited = number == self._edited
            parts.append(
                self._record(
                    number,
                    title if edited and title else f"Record {number}",
                    function_shift if edited else 0,
                )
            )
        (self.root / f"page{page}.md").write_text("\n".join(parts))

    def _record(self, number: int, title: str, shift: int) -> str:
        first, second = (number * 7 + 1) % self.size.records, (number * 13 + 5) % self.size.records
        file = number % _QUOTED_FILES
        quote = function(file, (number // _QUOTED_FILES + shift) % FUNCTIONS)
        if self.variant is Variant.OURS:
            return (
                f":::{{memobject}} {_id(number)} — {title}\n:form: symbolic\n"
                f":substrate: A file, see {_id(first)}.\n\n"
                f"It is kept for as long as {_id(second)} needs it.\n\n"
                f"```{{evidence}} SRC-1 {path_of(file)}\n{quote}\n```\n:::\n"
            )
        code = f"```{{code-block}} python\n{quote}\n```\n"
        if self.variant is Variant.NEEDS:
            return (
                f":::{{entry}} {title}\n:id: {_id(number)}\n:form: symbolic\n"
                f":links: {_id(first)}\n\nA file.\n\n"
                f"It is kept for as long as {{need}}`{_id(second)}` needs it.\n\n{code}:::\n"
            )
        return (
            f"**{_id(number)} — {title}**\n\n:form: symbolic\n"
            f":substrate: A file, see {self._link(first)}.\n\n"
            f"It is kept for as long as {self._link(second)} needs it.\n\n{code}"
        )

    def _link(self, number: int) -> str:
        return f"[{_id(number)}](page{number // self._per_page}.md)"


def _id(number: int) -> str:
    """An ID in letters, as authors write them."""
    letters = ""
    number += 26
    while number:
        number, rest = divmod(number, 26)
        letters = chr(97 + rest) + letters
    return f"MEM-OBJ-r{letters}"
