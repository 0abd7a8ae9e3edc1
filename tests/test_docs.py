"""The documentation is true: it builds, its links land, and its snippets do what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from docs_repo import docs_repository, docs_site
from markdown_it import MarkdownIt
from pinned_repo import FIRST, SECOND, PinnedRepo, plain
from sitebuilder import Found, TinySite, broken_links

from sphinx_memreport.cli import COMMANDS
from sphinx_memreport.config import check_settings, load_config
from sphinx_memreport.core.problems import Code, Notice
from sphinx_memreport.sphinx_ext.directives import OWN_DIRECTIVES

DOCS = Path(__file__).parents[1] / "docs"
DOCUMENT = "jotter/memory.md"

# --- snippets -------------------------------------------------------------------------------

_INFO = re.compile(r"\{memreport-example\}")
_OPTION = re.compile(r":(?P<name>[a-z]+):\s*(?P<value>.*)")


@dataclass
class Snippet:
    """The files of one group of ``memreport-example`` on a page, and what they must give."""

    page: str
    line: int
    files: dict[str, str] = field(default_factory=dict)
    given: list[str] = field(default_factory=list)
    problems: list[Found] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def snippets() -> Iterator[Snippet]:
    """Every group of snippets in the documentation."""
    for path in sorted(DOCS.rglob("*.md")):
        page = path.relative_to(DOCS).as_posix()
        groups: dict[str, Snippet] = {}
        for token in MarkdownIt("commonmark").parse(path.read_text(encoding="utf-8")):
            if token.type == "fence" and _INFO.match(token.info) and token.map:
                _add(groups, page, token.map[0] + 1, token.content)
        yield from groups.values()


def _add(groups: dict[str, Snippet], page: str, line: int, content: str) -> None:
    options, text = _options(content)
    name = options.get("group", f"line {line}")
    snippet = groups.setdefault(name, Snippet(page, line))
    file = options.get("file", DOCUMENT)
    assert file not in snippet.files, f"{page}:{line}: {file} stands twice in group {name}"
    snippet.files[file] = text
    snippet.given += [each.strip() for each in options.get("given", "").split(",") if each]
    for problem in filter(None, options.get("problems", "").split(",")):
        code, number = problem.split()
        snippet.problems.append((code, file.rpartition(".")[0], int(number)))


def _options(content: str) -> tuple[dict[str, str], str]:
    lines = content.split("\n")
    options: dict[str, str] = {}
    while lines and (match := _OPTION.fullmatch(lines[0])):
        options[match["name"]] = match["value"]
        del lines[0]
    if options:
        assert not lines[0], f"a blank line is missing below the options, above {lines[0]!r}"
    return options, "\n".join(lines).strip("\n") + "\n"


ALL = list(snippets())


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> PinnedRepo:
    return docs_repository(tmp_path_factory.mktemp("docs"))


def site_of(snippet: Snippet, root: Path, repository: PinnedRepo) -> TinySite:
    """The site of a snippet; its files below ``checkouts/NAME`` become a repository."""
    site = docs_site(root, repository)
    trees: dict[str, dict[str, bytes]] = {}
    for name, text in snippet.files.items():
        match = re.fullmatch(r"(?P<checkout>checkouts/[^/]+)/(?P<path>.*)", name)
        if match:
            trees.setdefault(match["checkout"], {})[match["path"]] = text.encode()
        else:
            site.write({name: text})
    for checkout, tree in trees.items():
        plain(site.source / checkout, tree)
    if snippet.given:
        entries = "\n".join(snippet.given)
        site.write({"jotter/given.md": f"# Given\n\n```{{memsupplied}}\n{entries}\n```\n"})
    return site


def test_there_are_snippets() -> None:
    assert len(ALL) > 30


@pytest.mark.parametrize("snippet", ALL, ids=str)
def test_snippet(snippet: Snippet, tmp_path: Path, repository: PinnedRepo) -> None:
    if not any(name.endswith((".md", ".rst")) for name in snippet.files):
        assert not list(_wrong_settings(snippet, tmp_path))
        return
    built = site_of(snippet, tmp_path / "site", repository).build(builder="dummy")
    assert built.problems == snippet.problems, built.warnings
    if not snippet.problems:
        assert not built.warnings


def _wrong_settings(snippet: Snippet, folder: Path) -> Iterator[object]:
    """What is wrong with configuration that is shown alone: it is read, nothing is opened."""
    for name, text in snippet.files.items():
        (folder / name).write_text(text, encoding="utf-8")
        if name == "conf.py":
            values: dict[str, object] = {}
            exec(compile(text, name, "exec"), values)
            prefix = "memreport_"
            yield from check_settings(
                {key.removeprefix(prefix): values[key] for key in values if key.startswith(prefix)}
            )
    if "memreport.toml" in snippet.files:
        load_config(folder / "memreport.toml")


# --- the tutorial ---------------------------------------------------------------------------


def test_the_tutorial_shows_what_the_build_says(tmp_path: Path, repository: PinnedRepo) -> None:
    text = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    first = next(snippet for snippet in ALL if snippet.page == "tutorial.md")
    site = site_of(first, tmp_path / "site", repository)
    memory = first.files["pocket/memory.md"]
    diffs = re.findall(r"\n```\{code-block\} diff\n-(.*)\n\+(.*)\n```\n", text)
    assert len(diffs) == 2
    for before, after in diffs:
        assert memory.count(before) == 1
        built = site.build({"pocket/memory.md": memory.replace(before, after)})
        assert built.status == 1
        said = built.warnings.replace(site.source.as_posix(), "/home/ada/notebook").strip()
        assert said in text
    built = site.build({"pocket/memory.md": memory})
    assert built.status == 0
    assert "verified" in built.text("pocket/memory")


# --- commands -------------------------------------------------------------------------------


class Shell:
    """Runs the commands of ``console`` blocks one after the other, as a reader types them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.status = 0
        scripts = Path(sys.executable).parent
        path = f"{scripts}{os.pathsep}{os.environ['PATH']}"
        # Sphinx colors what it says where CI is set
        self._environment = os.environ | {"PATH": path, "NO_COLOR": "1"}

    def run(self, block: str) -> None:
        """Run a block; what it shows below a command must be what the command says."""
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            said = self._run(re.sub(r"\s{2,}#.*", "", command))
            assert expected.strip() in said, (command, said)

    def _run(self, command: str) -> str:
        if command.startswith("cd "):
            self.folder = (self.folder / command.removeprefix("cd ")).resolve()
            return ""
        if command == "echo $?":
            return str(self.status)
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        self.status = done.returncode
        return (done.stdout + done.stderr).replace(f"{self.folder}/", "")


def fences(text: str, info: str) -> list[str]:
    """The fenced blocks of a Markdown text with that word behind the fence."""
    tokens = MarkdownIt("commonmark").parse(text)
    return [token.content for token in tokens if token.type == "fence" and token.info == info]


def test_the_first_report_of_the_readme(tmp_path: Path) -> None:
    text = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    text = text.partition("## A first report")[2].partition("## Documentation")[0]
    start, quote, build, failing = fences(text, "console")
    clone = tmp_path / "sphinx-memreport"
    checkout = clone / "example_report/checkouts/jotter"
    script = DOCS.parent / "example_report/make_checkout.py"
    subprocess.run([sys.executable, "-B", str(script), str(checkout)], check=True)
    shell = Shell(clone)
    shell.run(start.replace("$ . .venv/bin/activate\n", ""))
    assert shell.status == 0
    (toml,) = fences(text, "toml")
    shown = re.sub(r"\s+#.*", "", toml).replace("/home/ada/", f"{tmp_path}/").splitlines()
    assert set(shown) <= set((shell.folder / "memreport.toml").read_text().splitlines())
    shell.run(quote)
    (memory,) = fences(text, "markdown")
    (shell.folder / "jotter/memory.md").write_text(memory)
    shell.run(build)
    assert shell.status == 0
    assert "verified" in (shell.folder / "_build/html/jotter/memory.html").read_text()
    wrong = memory.replace("self.created", "self.create").replace("-note.\n", "-nota.\n")
    (shell.folder / "jotter/memory.md").write_text(wrong)
    shell.run(failing)
    assert shell.status == 1


def test_the_quotes_of_the_how_to_are_there(tmp_path: Path, repository: PinnedRepo) -> None:
    shell = Shell(docs_site(tmp_path / "site", repository).source)
    (block,) = fences((DOCS / "how-to/evidence.md").read_text(encoding="utf-8"), "console")
    for command in block.splitlines():
        shell.run(f"{command}\n")
        assert shell.status == 0


@pytest.mark.parametrize("fetched", [True, False])
def test_the_commands_for_a_moved_pin_do_for_every_checkout(tmp_path: Path, fetched: bool) -> None:
    """A checkout of ``memreport fetch`` and a clone."""
    origin = plain(tmp_path / "origin", FIRST, SECOND, SECOND | {"new.md": b"# New\n"})
    pinned = origin.commits[1]
    site = tmp_path / "site"
    command = f"memreport new site --repository {origin.path.as_uri()} --slug jotter"
    shell = Shell(tmp_path)
    shell.run(f"$ {command} --commit {pinned}\n$ cd site\n")
    clone = f"git clone -q {origin.path} checkouts/jotter"
    shell.run("$ memreport fetch\n" if fetched else f"$ {clone}\n")
    text = (DOCS / "how-to/moving-a-pin.md").read_text(encoding="utf-8")
    for block in fences(text, "console"):
        shell.run(block.replace("https://github.com/example/jotter", origin.path.as_uri()))
        assert shell.status == 0, block
    moved = origin.git("rev-parse", "HEAD")
    assert f'commit = "{moved}"' in (site / "memreport.toml").read_text()
    assert ("--unshallow" in text, "+refs/heads/*:refs/remotes/origin/*" in text) == (True, True)
    unshallow = f"fetch --unshallow {origin.path.as_uri()} '+refs/heads/*:refs/remotes/origin/*'"
    if fetched:
        shell.run(f"$ git -C checkouts/jotter {unshallow}\n")
        assert shell.status == 0
        shell.run(f"$ memreport repin jotter SRC-1 {origin.commits[0]}\njotter SRC-1: {moved}")


# --- the site -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("docs") / "html"
    command = [sys.executable, "-m", "sphinx", "--no-color", "-q", "-W", "-n", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(out.parent / "doctrees"), str(DOCS), str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out


def test_links_land(html: Path) -> None:
    assert broken_links(html) == []


def test_every_code_has_a_section_with_its_example(html: Path) -> None:
    page = (html / "reference" / "problems.html").read_text(encoding="utf-8")
    assert {code for code in [*Code, *Notice] if f'id="{code.anchor}"' not in page} == set()
    source = (DOCS / "reference" / "problems.md").read_text(encoding="utf-8")
    sections = re.findall(
        r"^\(problem-(.*)\)=\n### (.*)\n(?:(?!#).*\n)*?```\{problem-example\} (.*)\n```$",
        source,
        re.MULTILINE,
    )
    assert sorted([*Code, *Notice]) == sorted(anchor for anchor, _, _ in sections)
    for anchor, title, example in sections:
        assert title == f"`{anchor}`"
        assert example == anchor


def test_the_reference_of_commands_says_something_in_every_row(html: Path) -> None:
    page = BeautifulSoup((html / "reference/cli.html").read_text(encoding="utf-8"), "html.parser")
    rows = [[cell.get_text(strip=True) for cell in row.select("td")] for row in page.select("tr")]
    assert [row for row in rows if row and not all(row)] == []
    assert rows.count(["-h,--help", "Show this message and exit."]) == len(COMMANDS)


def test_every_directive_has_a_section(html: Path) -> None:
    page = (html / "reference" / "directives.html").read_text(encoding="utf-8")
    assert {name for name in OWN_DIRECTIVES if f'id="directive-{name}"' not in page} == set()
