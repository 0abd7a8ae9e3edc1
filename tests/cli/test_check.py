"""``memreport check``: the verdicts of the build, without its pages."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_project import run
from click.testing import Result
from docs_repo import docs_repository, docs_site
from pinned_repo import PinnedRepo
from problem_examples import read_example
from sitebuilder import TinySite

import sphinx_memreport.cli.check as check_module
from sphinx_memreport.core.problems import Code, Notice

EXAMPLE = Path(__file__).resolve().parents[2] / "example_report"
MEMORY = """\
# Memory

:::{memobject} MEM-OBJ-note — Stored note

See MEM-OBJ-nota.

```{evidence} SRC-1 src/jotter/recall.py
scored.sort(key=lambda pair: pair[1])
```
:::
"""
OTHER = "# Other\n\nSee MEM-OBJ-none and MEM-OBJ-note.\n"
FOUND = [
    ("dangling-id", "memory.md", 5),
    ("stale-quote", "memory.md", 7),
    ("dangling-id", "other.md", 3),
]


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> PinnedRepo:
    return docs_repository(tmp_path_factory.mktemp("docs"))


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    site = TinySite(tmp_path / "site", pinned_repo)
    site.write({"memory.md": MEMORY, "other.md": OTHER})
    return site


def check(site: TinySite, *arguments: str | Path) -> Result:
    result = run("check", "--site", site.source, *arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def found(result: Result) -> list[tuple[str, str, int]]:
    """Code, file and line of each problem of a check with ``--format json``."""
    return [(each["code"], each["file"], each["line"]) for each in json.loads(result.stdout)]


def read_documents(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the documents that Sphinx reads from here on."""
    from sphinx.builders import Builder

    read: list[str] = []
    original = Builder.read_doc

    def read_doc(self: Builder, docname: str, **more: Any) -> None:
        read.append(docname)
        original(self, docname, **more)

    monkeypatch.setattr(Builder, "read_doc", read_doc)
    return read


# --- the verdicts are the build's ---------------------------------------------------------


@pytest.mark.parametrize("code", sorted({*Code, *Notice} - {Code.INVALID_CONFIG}))
def test_a_check_says_what_the_html_build_says(
    code: Code | Notice, repository: PinnedRepo, tmp_path: Path
) -> None:
    example = read_example(code)
    site = docs_site(tmp_path / "site", repository)
    built = site.build(example.files, memreport_report={"json": "problems.json"})
    checked = check(site, "--format", "json")
    assert json.loads(checked.stdout) == built.data("problems.json")
    assert [each["code"] for each in json.loads(checked.stdout)] == [code] * len(example.expected)
    assert checked.exit_code == built.status
    heads = [line for line in check(site).stdout.splitlines() if not line.startswith(" ")]
    assert [line.split(" ")[0].removeprefix(f"{site.source}/") for line in heads] == [
        f"{each['file']}:{each['line']}:" for each in json.loads(checked.stdout)
    ]


def test_a_refused_configuration_is_said_as_problems_too(
    repository: PinnedRepo, tmp_path: Path
) -> None:
    example = read_example(Code.INVALID_CONFIG)
    site = docs_site(tmp_path / "site", repository)
    built = site.build(example.files)
    for _ in range(2):
        checked = check(site, "--format", "json")
        assert checked.exit_code == built.status == 2
        assert found(checked) == built.problems
    assert [each["message"] for each in json.loads(checked.stdout)] == [
        problem.message for problem in built.details
    ]


def test_the_example_report_has_no_problems(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLE, tmp_path / "example", ignore=shutil.ignore_patterns("_build"))
    script = tmp_path / "example" / "make_checkout.py"
    shutil.rmtree(tmp_path / "example" / "checkouts", ignore_errors=True)
    subprocess.run([sys.executable, "-B", str(script)], check=True, capture_output=True)
    site = TinySite.__new__(TinySite)
    site.source = tmp_path / "example"
    checked = check(site, "--format", "json")
    assert (checked.exit_code, json.loads(checked.stdout)) == (0, [])
    site.write({"jotter/memory.md": (EXAMPLE / "jotter/memory.md").read_text() + "\nMEM-OBJ-x\n"})
    site.root = tmp_path
    built = site.build(memreport_report={"json": "problems.json"})
    assert json.loads(check(site, "--format", "json").stdout) == built.data("problems.json") != []


# --- documents ----------------------------------------------------------------------------


def test_all_problems_of_the_site_or_of_what_is_named(site: TinySite) -> None:
    assert found(check(site, "--format", "json")) == FOUND
    only = check(site, "--format", "json", site.source / "other.md")
    assert (only.exit_code, found(only)) == (1, FOUND[2:])
    clean = check(site, "--format", "json", site.source / "index.md")
    assert (clean.exit_code, found(clean)) == (0, [])
    assert found(check(site, "--format", "json", site.source)) == FOUND


def test_problems_of_a_source_are_said_for_every_document(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    shutil.rmtree(pinned_repo.path)
    result = check(site, "--format", "json", site.source / "index.md")
    assert result.exit_code == 1
    assert found(result) == [("checkout-missing", "memreport.toml", 5)]
    # a command to type has the paths of this machine
    assert str(pinned_repo.path) in check(site).stdout


def test_an_included_file_stands_for_the_documents_that_include_it(site: TinySite) -> None:
    site.write(
        {
            "conf.py": (site.source / "conf.py").read_text() + 'exclude_patterns = ["*.inc.md"]\n',
            "part.inc.md": "See MEM-OBJ-part.\n",
            "whole.md": "# Whole\n\n```{include} part.inc.md\n```\n",
        }
    )
    result = check(site, "--format", "json", site.source / "part.inc.md")
    assert [each[:2] for each in found(result)] == [("dangling-id", "whole.md")]


def test_what_is_no_document_is_refused(site: TinySite) -> None:
    site.write({"notes.txt": "x"})
    for name in ("notes.txt", "nothing.md"):
        result = check(site, site.source / name)
        assert (result.exit_code, result.stdout) == (2, "")
        assert f"{name} is no document of the site" in result.stderr
    assert (
        check(site, site.source / "memreport.toml").exit_code == 0
    )  # its problems are always said


def test_the_site_is_found_from_below(site: TinySite, monkeypatch: pytest.MonkeyPatch) -> None:
    site.write({"deep/er/page.md": "# Page\n"})
    monkeypatch.chdir(site.source / "deep" / "er")
    result = run("check")
    assert result.exit_code == 1
    assert result.stdout.startswith(str(site.source / "memory.md") + ":5: ERROR: ")
    monkeypatch.chdir(site.source)
    assert run("check").stdout.startswith("memory.md:5: ERROR: ")


def test_conf_py_above_a_repository_is_not_run(
    site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    (site.source / "other" / ".git").mkdir(parents=True)
    monkeypatch.chdir(site.source / "other")
    result = run("check")
    assert result.exit_code == 2
    assert "--site" in result.stderr


# --- formats ------------------------------------------------------------------------------


def test_text_is_the_line_of_the_build(site: TinySite) -> None:
    result = check(site)
    built = site.build()
    lines = [line for line in built.warnings.splitlines() if "ERROR" in line]
    assert [line for line in result.stdout.splitlines() if "ERROR" in line] == lines
    assert result.stderr == "3 errors (3 documents known)\n"


def test_formats(site: TinySite, tmp_path: Path) -> None:
    sarif = json.loads(check(site, "--format", "sarif").stdout)
    assert [each["ruleId"] for each in sarif["runs"][0]["results"]] == [each[0] for each in FOUND]
    annotations = check(site, "--format", "github").stdout.splitlines()
    assert [line.split(" ")[0] for line in annotations] == ["::error"] * 3
    out = tmp_path / "problems.json"
    result = check(site, "--format", "json", "--output", out)
    assert (result.exit_code, result.stdout) == (1, "")
    assert out.read_text() == check(site, "--format", "json").stdout


def test_conf_py_may_print_and_have_a_report_of_its_own(site: TinySite) -> None:
    conf = (site.source / "conf.py").read_text()
    more = "print('noise')\nmemreport_report = {'json': '../ours.json', 'github': True}\n"
    site.write({"conf.py": conf + more})
    assert found(check(site, "--format", "json")) == FOUND
    assert not list(site.source.rglob("ours.json"))


def test_a_warning_is_no_failure(site: TinySite) -> None:
    site.write({"memory.md": f"# Memory\n\n{'0' * 40}\n", "other.md": None})
    result = check(site)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{site.source}/memory.md:3: WARNING: ")
    assert "[memreport.foreign-commit]" in result.stdout.splitlines()[0]


# --- the cache ----------------------------------------------------------------------------


def test_a_second_check_reads_only_what_changed(
    site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_documents(monkeypatch)
    check(site)
    assert sorted(read) == ["index", "memory", "other"]
    read.clear()
    assert found(check(site, "--format", "json")) == FOUND
    assert read == []
    site.write({"other.md": "# Other\n\nSee MEM-OBJ-note.\n"})
    assert found(check(site, "--format", "json")) == FOUND[:2]
    assert read == ["other"]


def test_a_moved_pin_is_noticed_without_reading(
    site: TinySite, pinned_repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(site)
    read = read_documents(monkeypatch)
    toml = (site.source / "memreport.toml").read_text()
    site.write({"memreport.toml": toml.replace(*reversed(pinned_repo.commits))})
    assert ("path-missing", "memory.md", 7) in found(check(site, "--format", "json"))
    assert read == []


def test_nothing_is_written_but_the_cache(site: TinySite, tmp_path: Path) -> None:
    before = sorted(site.source.rglob("*"))
    check(site, "--cache", tmp_path / "cache")
    assert sorted(site.source.rglob("*")) == before
    check(site)
    new = set(site.source.rglob("*")) - set(before)
    cache = site.source / "_build" / "memreport-check"
    assert {path for path in new if not path.is_relative_to(cache)} == {site.source / "_build"}
    assert (cache / ".gitignore").read_text() == "*\n"
    assert not list(cache.rglob("memory.html"))


def test_processes(site: TinySite) -> None:
    site.write({f"page{number}.md": "# P\n\nMEM-OBJ-x\n" for number in range(8)})
    serial = check(site, "--format", "json")
    parallel = check(site, "--format", "json", "-j", "2", "--cache", site.root / "other")
    assert parallel.stdout == serial.stdout
    assert check(site, "-j", "0").exit_code == 2


# --- when Sphinx fails --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("conf", "said"),
    [
        ("extensions = [", "SyntaxError"),
        ("\nraise ValueError('no luck')\n", "conf.py:2: ValueError: no luck"),
        ("extensions = ['no_such_extension']\n", "no_such_extension"),
        ("extensions = ['myst_parser']\n", "does not use the extension"),
        ("import sys; sys.exit(0)\n", "SystemExit"),
        (
            "extensions = ['myst_parser', 'sphinx_memreport']\n"
            "def setup(app):\n"
            "    app.connect('env-updated', lambda *_: 1 / 0)\n",
            "division by zero",
        ),
    ],
)
def test_a_failure_of_sphinx_is_one_message(site: TinySite, conf: str, said: str) -> None:
    site.write({"conf.py": conf})
    result = check(site, "--format", "json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("memreport: ")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_a_wrong_setting_is_a_problem_of_conf_py(site: TinySite) -> None:
    conf = "extensions = ['myst_parser', 'sphinx_memreport']\nmemreport_severity = {'x': 'y'}\n"
    site.write({"conf.py": conf})
    result = check(site)
    assert result.exit_code == 2
    said = result.stdout + result.stderr
    assert "conf.py: ERROR: " in said
    assert "memreport_severity" in said
    assert "Traceback" not in said


def test_an_earlier_result_is_never_taken_for_this_one(
    site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(site)
    monkeypatch.setattr("sphinx_memreport.sphinx_ext.export._write", lambda *_: False)
    result = check(site)
    assert (result.exit_code, result.stdout) == (2, "")


# --- watching -----------------------------------------------------------------------------


def test_watching_says_what_changed(site: TinySite, monkeypatch: pytest.MonkeyPatch) -> None:
    conf = (site.source / "conf.py").read_text()

    def saves(*_: object) -> Iterator[None]:
        yield
        yield  # saved without a change
        site.write({"other.md": OTHER.replace("MEM-OBJ-none and ", "")})
        yield
        site.write({"memory.md": "\n\n" + MEMORY})  # only the lines change
        yield
        site.write({"conf.py": "extensions = ["})
        yield
        site.write({"conf.py": conf, "other.md": "# Other\n\nSRC-7\n"})
        yield
        raise KeyboardInterrupt

    monkeypatch.setattr(check_module, "_saves", saves)
    result = check(site, "--watch")
    assert result.exit_code == 0
    heads = [line for line in result.stdout.splitlines() if not line.startswith(" ")]
    assert [line.replace(f"{site.source}/", "").split(" ")[0] for line in heads] == [
        "memory.md:5:",
        "memory.md:7:",
        "other.md:3:",
        "mended:",
        "other.md:3:",
    ]
    assert "mended: other.md: MEM-OBJ-none" in result.stdout
    assert "SyntaxError" in result.stderr
    assert [line for line in result.stderr.splitlines() if "error" in line] == [
        "3 errors (3 documents known)",
        "2 errors (3 documents known)",
        "3 errors (3 documents known)",
    ]


def test_watching_is_text(site: TinySite) -> None:
    assert check(site, "--watch", "--format", "json").exit_code == 2


def test_which_files_are_watched(site: TinySite) -> None:
    from watchfiles import Change

    wanted = check_module._Wanted(check_module._Run(site.source, None, 1, ()))
    wanted.exclude(["_build", "**/draft*"])

    def matters(name: str) -> bool:
        return wanted(Change.modified, str(site.source.resolve() / name))

    assert [name for name in ("a.md", "b/c.md", "memreport.toml", "conf.py") if matters(name)] == [
        "a.md",
        "b/c.md",
        "memreport.toml",
        "conf.py",
    ]
    unwanted = (
        "_build/html/a.html",
        "_build/memreport-check/x",
        ".git/HEAD",
        "b/draft1.md",
        "a.swp",
    )
    assert [name for name in unwanted if matters(name)] == []


def test_watching_as_a_process_ends_cleanly(site: TinySite) -> None:
    command = [sys.executable, "-m", "sphinx_memreport.cli", "check", "--watch"]
    process = subprocess.Popen(
        command,
        cwd=site.source,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        assert process.stderr.readline() == "3 errors (3 documents known)\n"
        site.write({"other.md": "# Other\n\nMEM-OBJ-more\n"})
        while "MEM-OBJ-more" not in (line := process.stdout.readline()):
            assert line, "it ended"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "Traceback" not in said
