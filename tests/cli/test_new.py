"""``memreport new`` and the frame of all commands."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from cli_project import Project, run, run_process
from pinned_repo import PinnedRepo

from sphinx_memreport import __version__
from sphinx_memreport.cli import COMMANDS, main
from sphinx_memreport.config import load_config

SHA = "e2f8b9544b0c8724d9008bdf219a8dd2b076bd64"


def new(directory: Path, *more: str, repository: str = "https://github.com/example/jotter") -> str:
    result = run("new", directory, "--repository", repository, "--commit", SHA, *more)
    assert result.exit_code == 0, result.output
    return result.stdout


def files_below(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_new_project_fetches_and_builds_without_any_message(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    site = tmp_path / "site"
    new(site, repository=pinned_repo.path.as_uri())
    assert run_process("fetch", cwd=site).returncode == 0
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", ".", "_build/html"]
    done = subprocess.run(build, cwd=site, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert (site / "_build/html/jotter/memory.html").exists()
    # the example in a comment is not taken for evidence
    formatted = run_process("fmt", cwd=site)
    assert (formatted.returncode, formatted.stdout, formatted.stderr) == (0, "", "")
    checked = run_process("status", cwd=site)
    assert checked.returncode == 0
    assert "present" in checked.stdout


def test_the_foot_of_a_page_names_an_owner_or_none(tmp_path: Path) -> None:
    new(tmp_path / "site")
    settings: dict[str, object] = {}
    text = (tmp_path / "site/conf.py").read_text(encoding="utf-8")
    exec(text, settings)
    assert settings["html_show_copyright"] is False
    exec(text.replace('copyright = ""', 'copyright = "2026, Ada"'), settings)
    assert settings["html_show_copyright"] is True


def test_the_files_of_a_new_project(tmp_path: Path) -> None:
    said = new(tmp_path / "deep/site")
    assert files_below(tmp_path) == [
        "deep/site/.github/workflows/report.yml",
        "deep/site/.gitignore",
        "deep/site/conf.py",
        "deep/site/index.md",
        *(
            f"deep/site/jotter/{member}.md"
            for member in (
                *("boundary", "epistemic", "memory", "overview", "reconciliation", "runtime"),
            )
        ),
        "deep/site/memreport.toml",
        "deep/site/requirements.txt",
    ]
    assert "memreport fetch" in said
    ignored = (tmp_path / "deep/site/.gitignore").read_text()
    assert "/checkouts/\n" in ignored
    assert "/memreport.local.toml\n" in ignored
    source = load_config(tmp_path / "deep/site/memreport.toml").reports["jotter"].sources["SRC-1"]
    assert (source.kind, source.commit, source.checkout) == ("git", SHA, "checkouts/jotter")


@pytest.mark.parametrize(
    ("repository", "slug"),
    [
        ("git@github.com:example/Jot_ter.git", "jot-ter"),
        ("https://example.org/x/9lives/", "report-9lives"),
        ("ssh://git@example.org:2222/~me/jotter.git", "jotter"),
    ],
)
def test_the_slug_comes_from_the_url(tmp_path: Path, repository: str, slug: str) -> None:
    new(tmp_path / "site", repository=repository)
    assert list(load_config(tmp_path / "site/memreport.toml").reports) == [slug]


@pytest.mark.parametrize(
    "system",
    ['"; import os #', "*bold* <b>`x`</b> [l](u)", "$slug ${title}", "back\\slash", "Jötter 😀"],
)
def test_a_name_is_text_wherever_it_stands(tmp_path: Path, system: str) -> None:
    site = tmp_path / "site"
    new(site, "--system", system)
    assert load_config(site / "memreport.toml").reports["jotter"].system == system
    namespace: dict[str, object] = {}
    exec((site / "conf.py").read_text(encoding="utf-8"), namespace)
    assert namespace["project"] == f"The {system} report"
    shown = subprocess.run(
        [sys.executable, "-m", "sphinx", "-b", "text", "-q", ".", "_build"],
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "checkout-missing" in shown.stderr
    assert (site / "_build/index.txt").read_text().startswith(f"The {system} report\n")


HASH = "0123456789abcdef0123456789abcdef01234567"
GIT = {"url": "https://example.org/sphinx-memreport", "vcs_info": {"vcs": "git", "commit_id": HASH}}


@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        (None, f"sphinx-memreport>={__version__}"),
        (GIT, f"sphinx-memreport @ git+https://example.org/sphinx-memreport@{HASH}"),
        ({"url": "https://example.org/x.whl", "archive_info": {}}, "https://example.org/x.whl"),
        ({"url": "file:///home/ada/clone", "dir_info": {}}, f"sphinx-memreport>={__version__}"),
    ],
)
def test_ci_installs_what_was_installed_here_where_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, origin: object, requirement: str
) -> None:
    found = distribution("sphinx-memreport")
    monkeypatch.setattr(type(found), "read_text", lambda *_: origin and json.dumps(origin))
    said = new(tmp_path / "site")
    *comments, line = (tmp_path / "site/requirements.txt").read_text().splitlines()
    assert line.endswith(requirement)
    # a folder of this machine is of no use to others, which is said
    local = "dir_info" in str(origin)
    assert (bool(comments), "Before CI can build it" in said) == (local, local)
    assert "/home/ada" not in "".join(comments)


def test_a_checkout_inside_of_the_project_is_neither_built_nor_committed(tmp_path: Path) -> None:
    site = tmp_path / "site"
    new(site, "--checkout", "vendor/jot ter")
    namespace: dict[str, object] = {}
    exec((site / "conf.py").read_text(), namespace)
    assert "vendor/jot ter" in str(namespace["exclude_patterns"])
    assert "/vendor/jot\\ ter/\n" in (site / ".gitignore").read_text()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--commit", "main"], "--commit: expected the full 40 or 64"),
        (["--repository", "ext::sh -c x"], "--repository: expected the URL of a git repository"),
        (["--repository", "-u/bin/sh"], "--repository: expected the URL"),
        (["--slug", "Jotter"], "--slug: expected a slug"),
        (["--slug", "a.b]\n[x"], "--slug: expected a lowercase letter"),
        (["--slug", "checkouts"], "--slug: 'checkouts' cannot be"),
        (["--system", "two\nlines"], "--system: expected one line"),
    ],
)
def test_a_wrong_value_is_said_and_nothing_is_written(
    tmp_path: Path, options: list[str], said: str
) -> None:
    good = ["--repository", "https://github.com/example/jotter", "--commit", SHA]
    result = run("new", tmp_path / "site", *good, *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/conf.py").write_text("mine")
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    before = files_below(tmp_path)
    arguments = ["--repository", "https://github.com/example/jotter", "--commit", SHA]
    for name in ("full", "file", "link"):
        result = run("new", tmp_path / name, *arguments)
        assert (result.exit_code, "nothing was written" in result.stderr) == (2, True), name
    assert files_below(tmp_path) == before
    (tmp_path / "empty").mkdir()
    assert run("new", tmp_path / "empty", *arguments).exit_code == 0


def test_an_interrupted_new_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sphinx_memreport.cli.new._write", interrupted)
    arguments = ["--repository", "https://github.com/example/jotter", "--commit", SHA]
    result = run("new", tmp_path / "site", *arguments)
    assert (result.exit_code, result.stderr) == (130, "memreport: interrupted\n")
    assert list(tmp_path.iterdir()) == []


# --- the frame --------------------------------------------------------------------------------


def test_help_imports_neither_sphinx_nor_git_nor_a_command() -> None:
    code = (
        "import sys\n"
        "from sphinx_memreport.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        "print(sorted({'sphinx', 'docutils', 'git', 'pydantic'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    listed = [line.split()[0] for line in done.stdout.partition("Commands:")[2].splitlines()[1:-1]]
    assert listed == [name for name, entry in COMMANDS.items() if find_spec(entry.module)]


@pytest.mark.parametrize("name", ["new", "fetch", "status", "quote", "fmt"])
def test_commands_for_pins_and_sources_need_no_sphinx(name: str) -> None:
    code = (
        "import sys\n"
        "for each in ('sphinx', 'docutils', 'myst_parser', 'sphinx_needs'):\n"
        "    sys.modules[each] = None\n"
        "from sphinx_memreport.cli import main\n"
        f"main(['{name}', '--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage:")


def test_the_help_names_the_commands_that_run_sphinx() -> None:
    (said,) = re.findall(r"(.*) run Sphinx", " ".join(str(main.help).split()))
    context = click.Context(main)
    runs_sphinx = {
        name
        for name in main.list_commands(context)
        if any(each.name == "site" for each in main.get_command(context, name).params)  # type: ignore[union-attr]
    }
    assert set(re.findall("'([a-z]+)'", said.rpartition(". ")[2])) == runs_sphinx


def test_an_unknown_command_is_wrong_usage() -> None:
    assert run("fetsh").exit_code == 2


def test_a_command_that_is_not_installed_breaks_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "gone", COMMANDS["new"]._replace(target="gone:gone"))
    result = run("gone")
    assert (result.exit_code, "not part of this installation" in result.stderr) == (2, True)
    assert run("new", "--help").exit_code == 0


def test_a_configuration_is_found_here_in_docs_and_above(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    Project(tmp_path / "project/docs", pinned_repo)
    below = tmp_path / "project/docs/jotter"
    below.mkdir()
    for folder in (tmp_path / "project", tmp_path / "project/docs", below):
        done = run_process("status", "--json", cwd=folder)
        assert done.returncode == 0, done.stderr
    done = run_process("status", cwd=tmp_path)
    assert (done.returncode, "no memreport.toml here" in done.stderr) == (2, True)


def test_a_refused_configuration_is_said_as_the_build_says_it(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    project = Project(tmp_path, pinned_repo, toml='[reports.jotter]\nsystem = 1\ndirectory = "."\n')
    result = project.run("status")
    assert result.exit_code == 2
    assert result.stderr.startswith(
        f"{tmp_path / 'memreport.toml'}:2: ERROR: reports.jotter.system: expected a string, found "
        "the number 1 [memreport.invalid-config]\n"
    )


def test_every_command_is_in_the_reference() -> None:
    page = Path(__file__).parents[2] / "docs/reference/cli.md"
    sections = [line for line in page.read_text("utf-8").splitlines() if line.startswith("## ")]
    installed = [name for name, entry in COMMANDS.items() if find_spec(entry.module)]
    assert sections == [f"## `memreport {name}`" for name in installed]


def test_templates_are_valid_and_shipped(tmp_path: Path) -> None:
    assert main.name
    new(tmp_path / "site")
    tomllib.loads((tmp_path / "site/memreport.toml").read_text(encoding="utf-8"))
