"""The TOML of reports and sources, and the settings of conf.py."""

from __future__ import annotations

import json
import os
import pickle
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from sphinx_memreport.config import (
    LOCAL_NAME,
    MAX_BYTES,
    BoundaryKind,
    CaptureSource,
    ContractLevel,
    GitSource,
    InvalidConfig,
    LineIndex,
    Ownership,
    Report,
    ReportFiles,
    Settings,
    SiteConfig,
    check_settings,
    fingerprint,
    layer_of,
    load_config,
)
from sphinx_memreport.core.ids import IdStyle
from sphinx_memreport.core.models import Layer
from sphinx_memreport.core.problems import Code, Problem, Severity

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SHA256 = "a" * 64

GIT = f"""\
[reports.jotter]
directory = "jotter"
system = "Jotter"

[reports.jotter.sources.SRC-1]
kind = "git"
repository = "https://github.com/example/jotter"
commit = "{COMMIT}"
checkout = "../checkouts/jotter"
"""
CAPTURE = f"""
[reports.jotter.sources.SRC-2]
kind = "capture"
identity = "https://example.org/post"
file = "captures/post.html"
sha256 = "{SHA256}"
layer = "reported operation"
"""

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write memreport.toml, and the local file when it is given; return the path of the TOML."""

    def write_files(text: str | bytes, local: str | None = None) -> Path:
        path = tmp_path / "memreport.toml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        if local is not None:
            (tmp_path / LOCAL_NAME).write_text(local, encoding="utf-8")
        return path

    return write_files


def problems_of(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(InvalidConfig) as caught:
        load_config(path)
    problems = caught.value.problems
    assert problems == tuple(sorted(problems, key=Problem.sort_key))
    for problem in problems:
        assert problem.code is Code.INVALID_CONFIG
        assert problem.severity is Severity.ERROR
        assert problem.docname is None
        assert "\n" not in problem.message
    return problems


def only_problem(path: Path) -> Problem:
    problems = problems_of(path)
    assert len(problems) == 1, problems
    assert problems[0].path == str(path)
    return problems[0]


def line_of(text: str, start: str) -> int:
    lines = [number for number, line in enumerate(text.split("\n"), 1) if line.startswith(start)]
    assert len(lines) == 1, f"{start!r} stands on lines {lines}"
    return lines[0]


# --- a good file --------------------------------------------------------------------------


def test_a_whole_file(write: Write) -> None:
    head = GIT.replace(
        'system = "Jotter"\n',
        'system = "Jotter"\nrun-id = "AAS-1"\nboundary-kind = "complete artifact, partial loop"\n'
        'contract = "strict"\nids = "any"\n',
    )
    text = (
        head
        + 'encoding = "latin-1"\n'
        + 'layers = { implementation = ["src/**"], "doctrine/design" = ["README.md", "docs/**"] }\n'
        + 'inspected = """Two\nlines"""\n'
        + 'gaps = "None."\n'
        + 'permalink = "https://code.example/{commit}/{path}#L{start}"\n'
        + CAPTURE
    )
    path = write(text)
    config = load_config(path)
    assert config.path == path
    assert config.root == path.parent
    assert config.files == (path,)
    report = config.reports["jotter"]
    assert (report.slug, report.directory, report.system) == ("jotter", "jotter", "Jotter")
    assert report.run_id == "AAS-1"
    assert report.boundary_kind is BoundaryKind.PARTIAL_LOOP
    assert report.contract is ContractLevel.STRICT
    assert report.ids is IdStyle.ANY
    git, capture = report.sources["SRC-1"], report.sources["SRC-2"]
    assert isinstance(git, GitSource)
    assert git.layers == {
        Layer.IMPLEMENTATION: ("src/**",),
        Layer.DOCTRINE: ("README.md", "docs/**"),
    }
    assert git.inspected == "Two\nlines"
    assert config.checkout_path(git) == path.parent / "../checkouts/jotter"
    assert isinstance(capture, CaptureSource)
    assert capture.layer is Layer.REPORTED
    assert config.file_path(capture) == path.parent / "captures/post.html"


def test_defaults(write: Write) -> None:
    report = load_config(write(GIT + CAPTURE)).reports["jotter"]
    assert (report.run_id, report.boundary_kind) == (None, None)
    assert (report.contract, report.ids) == (ContractLevel.CORE, IdStyle.NAMED)
    git = report.sources["SRC-1"]
    assert isinstance(git, GitSource)
    assert (git.encoding, git.layers, git.permalink) == ("utf-8", {}, None)
    assert (git.inspected, git.gaps) == (None, None)


def test_an_empty_file_has_no_reports(write: Write) -> None:
    assert load_config(write("")).reports == {}


def test_absolute_paths_are_kept(write: Write, tmp_path: Path) -> None:
    text = GIT.replace('"../checkouts/jotter"', json.dumps(str(tmp_path / "elsewhere")))
    config = load_config(write(text))
    source = config.reports["jotter"].sources["SRC-1"]
    assert isinstance(source, GitSource)
    assert config.checkout_path(source) == tmp_path / "elsewhere"


def test_windows_line_ends(write: Write) -> None:
    assert load_config(write(GIT.replace("\n", "\r\n"))).reports["jotter"].system == "Jotter"
    wrong = GIT.replace('system = "Jotter"', "system = 3").replace("\n", "\r\n")
    assert only_problem(write(wrong)).line == 3


def test_hashes_are_lower_case(write: Write) -> None:
    text = (GIT + CAPTURE).replace(COMMIT, COMMIT.upper()).replace(SHA256, SHA256.upper())
    sources = load_config(write(text)).reports["jotter"].sources
    git, capture = sources["SRC-1"], sources["SRC-2"]
    assert isinstance(git, GitSource)
    assert isinstance(capture, CaptureSource)
    assert (git.commit, capture.sha256) == (COMMIT, SHA256)


def test_a_sha256_commit(write: Write) -> None:
    source = load_config(write(GIT.replace(COMMIT, "b" * 64))).reports["jotter"].sources["SRC-1"]
    assert isinstance(source, GitSource)
    assert source.commit == "b" * 64


def test_the_configuration_survives_pickling(write: Write) -> None:
    config = load_config(write(GIT + CAPTURE))
    assert pickle.loads(pickle.dumps(config)) == config


# --- wrong values -------------------------------------------------------------------------

GIT_KEY = "reports.jotter.sources.SRC-1."


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('directory = "jotter"', 'directory = "/jotter"', ["directory", "relative", "/jotter"]),
        ('directory = "jotter"', 'directory = "../jotter"', ["directory", "inside", "../jotter"]),
        ('directory = "jotter"', 'directory = "a/../../b"', ["directory", "inside"]),
        ('directory = "jotter"', 'directory = "C:/jotter"', ["directory", "relative"]),
        ('directory = "jotter"', "directory = 'a\\b'", ["directory", "with /"]),
        ('directory = "jotter"', 'directory = ""', ["directory", '"." for the folder']),
        ('directory = "jotter"', 'directory = "a\\u0000b"', ["directory", "'a\\x00b'"]),
        ('system = "Jotter"', "system = []", ["jotter.system", "a string", "an empty list"]),
        ('system = "Jotter"', "system = 1979-05-27", ["jotter.system", "a string", "a date"]),
        ('system = "Jotter"', 'system = " "', ["jotter.system", "not empty"]),
        ('system = "Jotter"', 'system = "a\\nb"', ["jotter.system", "one line", "'a\\nb'"]),
        ("repository", "repositry", ["repositry", "unknown key", "'repository'"]),
        (f'"{COMMIT}"', "12", [GIT_KEY + "commit", "a string", "the number 12"]),
        (f'"{COMMIT}"', "0x" + "f" * 5000, [GIT_KEY + "commit", "a string", "a number"]),
        (f'"{COMMIT}"', '""', ["40 or 64 hexadecimal", "found ''"]),
        (f'"{COMMIT}"', f'"{COMMIT}0"', ["40 or 64 hexadecimal"]),
        ('"../checkouts/jotter"', '["a"]', [GIT_KEY + "checkout", "a string", "a list"]),
        ('"../checkouts/jotter"', '"a\\u0000"', [GIT_KEY + "checkout", "'a\\x00'"]),
        ('"../checkouts/jotter"', '""', [GIT_KEY + "checkout", "not empty"]),
        ('"https://github.com/example/jotter"', '"javascript:x"', ["repository", "javascript:x"]),
        ('"https://github.com/example/jotter"', '"-x"', ["repository", "'-x'"]),
        ('"https://github.com/example/jotter"', '"../x"', ["repository", "'../x'"]),
        ('"https://github.com/example/jotter"', '"https://u:p@h/o/r"', ["repository", "password"]),
    ],
)
def test_a_wrong_value(write: Write, old: str, new: str, words: list[str]) -> None:
    assert GIT.count(old) == 1
    text = GIT.replace(old, new)
    line = GIT[: GIT.index(old)].count("\n") + 1
    problems = [problem for problem in problems_of(write(text)) if problem.line == line]
    assert len(problems) == 1
    for word in words:
        assert word in problems[0].message
    assert problems[0].report == "jotter"


@pytest.mark.parametrize(
    ("added", "words"),
    [
        ("encoding = 'hex'", ["encoding", "text encoding", "'hex'"]),
        ("encoding = 'rot13'", ["'rot13'"]),
        ("encoding = 'base64'", ["'base64'"]),
        ("encoding = 'idna'", ["'idna'"]),
        ("encoding = 'punycode'", ["'punycode'"]),
        ("encoding = 'unicode_escape'", ["'unicode_escape'"]),
        ("encoding = 'raw-unicode-escape'", ["'raw-unicode-escape'"]),
        ("encoding = 'undefined'", ["'undefined'"]),
        ("encoding = 'no-such-codec'", ["'no-such-codec'"]),
        ("encoding = '../../x'", ["'../../x'"]),
        ("encoding = ''", ["found ''"]),
        ("layers = 'src'", ["layers", "a table", "'src'"]),
        ("layers = { docs = ['a'] }", ["layers.docs", "'doctrine/design'", "'docs'"]),
        ("layers = { implementation = 'src/**' }", ["layers.implementation", "a list of strings"]),
        ("layers = { implementation = [] }", ["layers.implementation", "at least one glob"]),
        ("layers = { implementation = [''] }", ["layers.implementation[0]", "glob", "found ''"]),
        ("layers = { implementation = ['a', 3] }", ["layers.implementation[1]", "the number 3"]),
        ("layers = { implementation = ['/src'] }", ["relative to the root of the tree"]),
        ("layers = { implementation = ['../src'] }", ["relative to the root of the tree"]),
        ("inspected = 'a\tb'\ngaps = \"a\\u0000b\"", ["gaps", "control characters"]),
        ("permalink = '/x/{path}'", ["permalink", "https://"]),
        ("permalink = 'javascript:{path}'", ["permalink", "https://"]),
        ("permalink = 'https://h/{ref}/{path}'", ["permalink", "{ref}", "{commit}"]),
        ("kind2 = 'git'", ["kind2", "unknown key", "'kind'"]),
        ("sha256 = 'x'", ["sha256", "unknown key", "kind 'capture'"]),
    ],
)
def test_a_wrong_addition(write: Write, added: str, words: list[str]) -> None:
    text = GIT + added + "\n"
    problem = only_problem(write(text))
    assert problem.line == text.count("\n")
    assert problem.message.startswith(GIT_KEY)
    assert (problem.report, problem.subject) == ("jotter", "SRC-1")
    for word in words:
        assert word in problem.message


def test_good_encodings_and_globs(write: Write) -> None:
    for encoding in ("UTF-8", "latin-1", "shift_jis", "utf-16", "utf-8-sig", "cp1252"):
        load_config(write(GIT + f"encoding = '{encoding}'\n"))
    load_config(write(GIT + "layers = { implementation = ['src/**', '*.py', 'a b/[x]..y'] }\n"))


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("v1.2", "git rev-parse 'v1.2^{commit}'"),
        ("main", "git rev-parse 'main^{commit}'"),
        ("0123456", "git rev-parse '0123456^{commit}'"),
        ("it's", """git rev-parse 'it'"'"'s^{commit}'"""),
        ("$(touch x)", "git rev-parse '$(touch x)^{commit}'"),
        ("--all", "git rev-parse HEAD"),
        (" ", "git rev-parse HEAD"),
    ],
)
def test_a_pin_that_can_move(write: Write, name: str, command: str) -> None:
    problem = only_problem(write(GIT.replace(COMMIT, name)))
    assert problem.line == line_of(GIT, "commit")
    assert problem.message == (
        "reports.jotter.sources.SRC-1.commit: expected the full 40 or 64 hexadecimal digits "
        f"of a commit, found {name!r}"
    )
    assert problem.fix.endswith(f": {command}")


@pytest.mark.parametrize("key", ["directory", "system"])
def test_a_missing_key_of_a_report(write: Write, key: str) -> None:
    text = "\n".join(line for line in GIT.split("\n") if not line.startswith(key))
    problem = only_problem(write("# head\n" + text))
    assert problem.line == 2
    assert problem.message == f"reports.jotter.{key}: a required key is missing"
    assert problem.fix.startswith(f"add {key} = ")


@pytest.mark.parametrize(
    ("key", "source"),
    [(key, "SRC-1") for key in ("repository", "commit", "checkout")]
    + [(key, "SRC-2") for key in ("identity", "file", "sha256", "layer")],
)
def test_a_missing_key_of_a_source(write: Write, key: str, source: str) -> None:
    whole = GIT + CAPTURE
    text = "\n".join(line for line in whole.split("\n") if not line.startswith(f"{key} "))
    problem = only_problem(write(text))
    assert problem.line == line_of(text, f"[reports.jotter.sources.{source}]")
    assert problem.message == f"reports.jotter.sources.{source}.{key}: a required key is missing"
    assert problem.subject == source


def test_a_missing_key_of_a_report_without_header(write: Write) -> None:
    text = GIT[GIT.index("[reports.jotter.sources") :]
    problems = problems_of(write("\n" + text))
    assert [(problem.line, problem.message.split(":")[0]) for problem in problems] == [
        (2, "reports.jotter.directory"),
        (2, "reports.jotter.system"),
    ]


@pytest.mark.parametrize("kind", ["'gti'", "3", "['git']", "{ a = 1 }", None])
def test_a_wrong_kind_hides_nothing_else(write: Write, kind: str | None) -> None:
    line = "" if kind is None else f"kind = {kind}\n"
    text = (GIT + CAPTURE).replace('kind = "capture"\n', line).replace(SHA256, "short")
    problems = {problem.line: problem.message for problem in problems_of(write(text))}
    header = line_of(text, "[reports.jotter.sources.SRC-2]")
    at = header if kind is None else header + 1
    assert problems.keys() == {at, line_of(text, "sha256")}
    assert "SRC-2.kind: expected 'git' or 'capture', found" in problems[at]


def test_every_wrong_key_at_once(write: Write) -> None:
    text = f"""\
title = "x"
[reports.jotter]
directory = "../out"
sytem = "Jotter"
run_id = "a"
boundary-kind = "whole"
contract = true
ids = "names"
slug = "x"
[reports.jotter.sources.SRC-1]
kind = "git"
repository = "ftp://x/y"
commit = "main"
encoding = "rot13"
[reports.jotter.sources.src-2]
kind = "capture"
identity = "a"
file = "b"
sha256 = "{SHA256}"
layer = "hearsay"
[reports.jotter.sources]
SRC-3 = 3
[reports.Other]
directory = "other"
system = "Other"
sources = "none"
"""
    found = [(problem.line, problem.message.split(":")[0]) for problem in problems_of(write(text))]
    source = "reports.jotter.sources."
    assert found == [
        (1, "title"),
        (2, "reports.jotter.system"),
        (3, "reports.jotter.directory"),
        (4, "reports.jotter.sytem"),
        (5, "reports.jotter.run_id"),
        (6, "reports.jotter.boundary-kind"),
        (7, "reports.jotter.contract"),
        (8, "reports.jotter.ids"),
        (9, "reports.jotter.slug"),
        (10, source + "SRC-1.checkout"),
        (12, source + "SRC-1.repository"),
        (13, source + "SRC-1.commit"),
        (14, source + "SRC-1.encoding"),
        (15, source + "src-2"),
        (20, source + "src-2.layer"),
        (22, source + "SRC-3"),
        (23, "reports.Other"),
        (26, "reports.Other.sources"),
    ]


def test_an_unknown_key_proposes_the_nearest(write: Write) -> None:
    problem = only_problem(write("[reports]\n[report]\n"))
    assert problem.message == "report: unknown key; did you mean 'reports'?"
    assert problem.line == 2
    text = GIT.replace('system = "Jotter"', 'system = "Jotter"\nrun_id = "x"')
    problem = only_problem(write(text))
    assert problem.message == "reports.jotter.run_id: unknown key; did you mean 'run-id'?"
    assert "run-id" in problem.fix
    assert "slug" not in problem.fix


@pytest.mark.parametrize(
    ("text", "line", "start"),
    [
        ("\nreports = 3", 2, "reports: expected a table, found the number 3"),
        ("[[reports]]", 1, "reports: expected a table, found a list"),
        ("[reports]\njotter = 'x'", 2, "reports.jotter: expected a table, found 'x'"),
        ("[[reports.jotter]]", 1, "reports.jotter: expected a table, found a list"),
        ("reports.'a b' = 3", 1, "reports.'a b': expected a table, found the number 3"),
    ],
)
def test_what_is_no_table(write: Write, text: str, line: int, start: str) -> None:
    problem = only_problem(write(text))
    assert problem.line == line
    assert problem.message == start


# --- directories --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"), [("jotter", "jotter"), ("jotter", "./jotter/"), (".", "./")]
)
def test_two_reports_with_one_directory(write: Write, first: str, second: str) -> None:
    text = (
        f'[reports.zeta]\nsystem = "Z"\ndirectory = "{first}"\n'
        f'[reports.alpha]\nsystem = "A"\ndirectory = "{second}"\n'
    )
    problem = only_problem(write(text))
    assert problem.line == 6
    assert problem.report == "alpha"
    assert "'zeta' (line 3)" in problem.message


def site(path: Path, **directories: str) -> SiteConfig:
    reports = {
        slug.replace("_", "-"): Report(
            slug=slug.replace("_", "-"), directory=directory, system=slug
        )
        for slug, directory in directories.items()
    }
    return SiteConfig(path=path, reports=reports)


def owner(ownership: Ownership, docname: str) -> str | None:
    report = ownership.report_of(docname)
    return report.slug if report else None


def test_the_nearest_directory_owns_a_document(tmp_path: Path) -> None:
    config = site(tmp_path / "memreport.toml", jotter="jotter", inner="jotter/inner", deep="a/b/c")
    ownership = Ownership(config, tmp_path)
    assert owner(ownership, "jotter/memory") == "jotter"
    assert owner(ownership, "jotter/more/memory") == "jotter"
    assert owner(ownership, "jotter/inner/memory") == "inner"
    assert owner(ownership, "jotter/inner2/memory") == "jotter"
    assert owner(ownership, "jotter2/memory") is None
    assert owner(ownership, "jotter") is None
    assert owner(ownership, "index") is None
    assert owner(ownership, "a/b/x") is None
    assert owner(ownership, "a/b/c/d/e") == "deep"


def test_a_dot_owns_what_no_other_does(tmp_path: Path) -> None:
    config = site(tmp_path / "memreport.toml", all=".", jotter="jotter")
    ownership = Ownership(config, tmp_path)
    assert owner(ownership, "index") == "all"
    assert owner(ownership, "other/index") == "all"
    assert owner(ownership, "jotter/index") == "jotter"


def test_directories_start_from_the_toml(tmp_path: Path) -> None:
    srcdir = tmp_path / "docs"
    srcdir.mkdir()
    path = srcdir / ".." / "memreport.toml"
    config = site(path, jotter="docs/jotter", stray="jotter")
    ownership = Ownership(config, srcdir)
    assert owner(ownership, "jotter/memory") == "jotter"
    assert owner(ownership, "docs/jotter/memory") is None
    assert owner(Ownership(site(path, all="."), srcdir), "x/y") == "all"
    assert owner(Ownership(site(path, all="docs"), srcdir), "index") == "all"
    below = site(srcdir / "conf" / "memreport.toml", inner="jotter")
    assert owner(Ownership(below, srcdir), "conf/jotter/x") == "inner"


def test_ownership_through_symbolic_links(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "shared").mkdir(parents=True)
    (real / "jotter").symlink_to(real / "shared", target_is_directory=True)
    link = tmp_path / "link"
    link.symlink_to(real, target_is_directory=True)
    config = site(link / "memreport.toml", jotter="jotter")
    assert owner(Ownership(config, real), "jotter/memory") == "jotter"
    assert owner(Ownership(config, real), "shared/memory") is None


# --- the local file -----------------------------------------------------------------------


def test_the_local_file_overrides_places(write: Write, tmp_path: Path) -> None:
    local = (
        "[reports.jotter.sources]\n"
        "SRC-1 = { checkout = '/srv/jotter' }\n"
        "SRC-2.file = 'elsewhere.html'\n"
    )
    path = write(GIT + CAPTURE, local)
    config = load_config(path)
    git, capture = config.reports["jotter"].sources.values()
    assert isinstance(git, GitSource)
    assert isinstance(capture, CaptureSource)
    assert config.checkout_path(git) == Path("/srv/jotter")
    assert config.file_path(capture) == tmp_path / "elsewhere.html"
    assert config.files == (path, tmp_path / LOCAL_NAME)


def test_the_local_file_may_supply_what_is_missing(write: Write) -> None:
    text = "\n".join(line for line in GIT.split("\n") if not line.startswith("checkout"))
    config = load_config(write(text, "reports.jotter.sources.SRC-1.checkout = 'here'"))
    source = config.reports["jotter"].sources["SRC-1"]
    assert isinstance(source, GitSource)
    assert source.checkout == "here"


def test_the_local_file_may_say_nothing_else(write: Write) -> None:
    local = f"""\
title = 1
[reports.jotter]
system = "x"
[reports.joter.sources.SRC-1]
checkout = "a"
[reports.jotter.sources]
SRC-1.commit = "{COMMIT}"
SRC-1.file = "a"
SRC-2.checkout = "a"
SRC-11.checkout = "a"
SRC-1.checkout = 3
[reports.jotter.sources.SRC-2.file]
a = 1
"""
    path = write(GIT + CAPTURE, local)
    problems = problems_of(path)
    assert {problem.path for problem in problems} == {str(path.parent / LOCAL_NAME)}
    source = "reports.jotter.sources."
    assert [(problem.line, problem.message.split(":")[0]) for problem in problems] == [
        (1, "title"),
        (3, "reports.jotter.system"),
        (4, "reports.joter"),
        (7, source + "SRC-1.commit"),
        (8, source + "SRC-1.file"),
        (9, source + "SRC-2.checkout"),
        (10, source + "SRC-11"),
        (11, source + "SRC-1.checkout"),
        (12, source + "SRC-2.file"),
    ]
    assert "did you mean 'jotter'?" in problems[2].message
    assert "not in memreport.toml" in problems[6].message


def test_both_files_are_reported_together(write: Write) -> None:
    path = write(GIT.replace(COMMIT, "v1"), "reports = 3\nx = ")
    assert {(problem.path, problem.line) for problem in problems_of(path)} == {
        (str(path), line_of(GIT, "commit")),
        (str(path.parent / LOCAL_NAME), 2),
    }


def test_a_local_file_that_is_no_file(write: Write, tmp_path: Path) -> None:
    path = write(GIT)
    (tmp_path / LOCAL_NAME).symlink_to("nowhere.toml")
    assert [problem.path for problem in problems_of(path)] == [str(tmp_path / LOCAL_NAME)]


# --- files that cannot be read ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a = 1\nb = ", 2, "not valid TOML"),
        ("a = 1\n\nb ? 2\n", 3, "not valid TOML at column 3"),
        ("a = 1\na = 2\n", 2, "not valid TOML"),
        ("[a]\n[a]\n", 2, "not valid TOML"),
        ("a = '''x\n\n", 1, "not valid TOML"),
        ("a = 2026-02-30\n", 1, "not valid TOML"),
        ("a = " + "9" * 5000, None, "not valid TOML"),
        (b"a = 1\n\xff = 2", 2, "expected UTF-8, found the byte 0xff"),
        (b"a = 1\n# caf\xe9\n", 2, "expected UTF-8, found the byte 0xe9"),
        (b"a = 1\n\x00", 2, "NUL"),
        ("a = 1".encode("utf-16"), 1, "NUL"),
        (b"\xef\xbb\xbf[reports]\n", 1, "byte-order mark"),
        ("a = " + "[" * 20_000, None, "nested too deeply"),
        ("a = " + "{a=" * 20_000, None, "nested too deeply"),
        (b"#" * (MAX_BYTES + 1), None, "larger than"),
    ],
)
def test_a_malformed_file(write: Write, text: str | bytes, line: int | None, words: str) -> None:
    problem = only_problem(write(text))
    assert words in problem.message
    assert len(problem.message) < 400
    assert problem.line == line


def test_a_byte_order_mark_hides_nothing_else(write: Write) -> None:
    text = b"\xef\xbb\xbf" + GIT.replace(COMMIT, "v1").encode()
    assert [problem.line for problem in problems_of(write(text))] == [1, line_of(GIT, "commit")]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    problem = only_problem(tmp_path / "memreport.toml")
    assert "does not exist" in problem.message
    assert problem.line is None


def test_a_directory(tmp_path: Path) -> None:
    assert "found a directory" in only_problem(tmp_path).message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "memreport.toml")
    assert "expected a file" in only_problem(tmp_path / "memreport.toml").message


def test_an_unreadable_file(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    path = write(GIT)
    monkeypatch.setattr(Path, "open", denied)
    assert "cannot be read: Permission denied" in only_problem(path).message


@pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "", ".", "memreport.toml/x"])
def test_an_odd_path(write: Write, name: str) -> None:
    path = write(GIT).parent / name
    assert only_problem(path).line is None


def test_the_exception_says_everything(write: Write) -> None:
    path = write(GIT.replace(COMMIT, "v1"))
    with pytest.raises(InvalidConfig) as caught:
        load_config(path)
    assert str(caught.value).startswith(f"{path}:{line_of(GIT, 'commit')}: reports.jotter.")
    assert "fix: " in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).problems == caught.value.problems


# --- lines --------------------------------------------------------------------------------

LINES = """\
# [not.a.table]
top = 1

[a.b]  # comment ["
text = "x # no comment" # [y]
multi = \"\"\"
[fake]
fake = 1 \\\"""
""\"""
raw = '''
[fake]
'''''
list = [
  "one", # ]
  [1, 2],
  { x = "}" },
]
after.the.list = true
inline = { x = 1, y = { z = [1] } }
"quoted.key" = 1
'literal "key"'.sub = 2
"esc\\u0041pe" = 3
  spaced . key   =   4
empty = ""
date = 1979-05-27 07:32:00

[ "q.t" . c ]
k = '['
[[array]]
one = 1
[[array]]
two = 2
[a]
late = 1
"""


def test_lines_of_keys() -> None:
    tomllib.loads(LINES)
    index = LineIndex(LINES)
    expected: dict[tuple[str, ...], str | int] = {
        ("top",): "top",
        ("a",): "[a]",
        ("a", "b"): "[a.b]",
        ("a", "b", "text"): "text",
        ("a", "b", "multi"): "multi",
        ("a", "b", "raw"): "raw",
        ("a", "b", "list"): "list",
        ("a", "b", "after"): "after",
        ("a", "b", "after", "the", "list"): "after",
        ("a", "b", "inline"): "inline",
        ("a", "b", "inline", "y", "z"): "inline",
        ("a", "b", "quoted.key"): '"quoted.key"',
        ("a", "b", 'literal "key"', "sub"): "'literal",
        ("a", "b", "escApe"): '"esc',
        ("a", "b", "spaced", "key"): "  spaced",
        ("a", "b", "empty"): "empty",
        ("a", "b", "date"): "date",
        ("q.t",): '[ "q.t"',
        ("q.t", "c", "k"): "k =",
        ("array", "one"): "one",
        ("array", "two"): "two",
        ("a", "late"): "late",
        ("a", "b", "unknown"): "[a.b]",
        ("a", "unknown", "deeper"): "[a]",
    }
    found = {key: index.line(key) for key in expected}
    assert found == {key: line_of(LINES, str(start)) for key, start in expected.items()}
    assert index.line(("array",)) == LINES.split("\n").index("[[array]]") + 1
    assert index.line(("a", "b", "list", 2, "x")) == line_of(LINES, "list")
    assert index.line(("fake",)) is None
    assert index.line(()) is None


def test_a_large_value_is_skipped_quickly() -> None:
    text = 'a = """' + 'x\\n""y' * 100_000 + '"""\nb = "' + "\\n" * 100_000 + '"\nc = 1\n'
    tomllib.loads(text)
    assert LineIndex(text).line(("c",)) == 3


KEYS = st.sampled_from(["a", "b-c", "1", '"x.y"', "'['", '"#"', '"q\'"', r'"\""', '"="'])
VALUES = st.sampled_from(
    [
        *("1", "true", "1979-05-27 07:32:00", '""', "''", '"a # b"', "'['", '"\\""', "[]", "{}"),
        *('"""a\n[b]\nc = 1\n"""', "'''\n\n'''", '"""\\""" \n"""', '""""""""', "''''''''"),
        *("[\n1, # ]\n2 ]", "[\n'''\n]\n''', [\n] ]", '{ a = "}", b = [\n1] }', '"""""\n"""""'),
    ]
)
STATEMENT = st.tuples(st.lists(KEYS, min_size=1, max_size=3), VALUES)


@given(
    tables=st.lists(
        st.tuples(st.lists(KEYS, min_size=1, max_size=3), st.lists(STATEMENT, max_size=3)),
        max_size=4,
    ),
    gap=st.sampled_from(["", "\n", "# [x] = ' \"\n", "  \n\n"]),
)
@settings(max_examples=200, deadline=None)
def test_every_key_has_its_line(
    tables: list[tuple[list[str], list[tuple[list[str], str]]]], gap: str
) -> None:
    """Whatever is written between them, a header and a key are found on their own lines."""

    def parts(keys: list[str]) -> tuple[str, ...]:
        return tuple(next(iter(tomllib.loads(f"{key} = 0"))) for key in keys)

    text = ""
    expected: dict[tuple[str | int, ...], int] = {}
    for number, (header, statements) in enumerate(tables):
        table = [f"t{number}", *header]
        text += gap
        expected[parts(table)] = text.count("\n") + 1
        text += f"[{'.'.join(table)}] # ]\n"
        for count, (keys, value) in enumerate(statements):
            named = [f"k{count}", *keys]
            text += gap
            expected[parts(table + named)] = text.count("\n") + 1
            text += f"{' . '.join(named)} = {value} # [\n"
    tomllib.loads(text)
    index = LineIndex(text)
    assert {key: index.line(key) for key in expected} == expected


# --- anything at all ----------------------------------------------------------------------


def load_anything(folder: Path, text: str | bytes, local: str = "") -> None:
    path = folder / "memreport.toml"
    path.write_bytes(text.encode("utf-8", "replace") if isinstance(text, str) else text)
    (folder / LOCAL_NAME).write_bytes(local.encode("utf-8", "replace"))
    try:
        assert isinstance(load_config(path), SiteConfig)
        return
    except InvalidConfig as error:
        said = error
    assert said.problems
    assert all("\n" not in problem.message for problem in said.problems)
    assert all(len(problem.message) < 1000 for problem in said.problems)
    assert str(said)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@given(text=st.text() | st.binary() | st.text('abr.[]{}=," \n\\#\'"1-', max_size=60))
@example("a." * 3000 + "a = 1")
@example("[" + "a." * 3000 + "a]")
@settings(max_examples=300, deadline=None)
def test_random_text(folder: Path, text: str | bytes) -> None:
    load_anything(folder, text)


KEYS_OF_TABLES = [
    *("reports", "jotter", "sources", "SRC-1", "SRC-2", "directory", "system", "run-id", "slug"),
    *("boundary-kind", "contract", "ids", "kind", "repository", "commit", "checkout", "encoding"),
    *("layers", "implementation", "permalink", "identity", "file", "sha256", "layer", "gaps"),
]
WORDS = st.sampled_from(KEYS_OF_TABLES)
SCALARS = (
    WORDS
    | st.text(max_size=8)
    | st.integers()
    | st.floats()
    | st.booleans()
    | st.sampled_from(["git", "capture", COMMIT, ".", "a/b", "utf-8", "https://h/o/r", "\x7f"])
)
TREES = st.recursive(
    SCALARS,
    lambda child: (
        st.lists(child, max_size=3)
        | st.dictionaries(WORDS | st.text(max_size=5), child, max_size=5)
    ),
    max_leaves=20,
)
SITES = st.dictionaries(
    st.sampled_from(["jotter", "b", "C"]),
    st.dictionaries(
        WORDS,
        TREES
        | st.dictionaries(
            st.sampled_from(["SRC-1", "SRC-2", "x"]), st.dictionaries(WORDS, TREES, max_size=9)
        ),
        max_size=6,
    ),
    max_size=3,
)


def toml(value: Any) -> str:
    """Write a value as TOML, tables inline."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(key)} = {toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        return json.dumps(value.encode("utf-8", "replace").decode(), ensure_ascii=False).replace(
            "\x7f", "\\u007f"
        )
    return str(value).lower()


@given(main=SITES, local=SITES | st.none())
@settings(max_examples=60, deadline=None)
def test_random_tables(folder: Path, main: dict[str, Any], local: dict[str, Any] | None) -> None:
    text = f"reports = {toml(main)}"
    assert set(tomllib.loads(text)["reports"]) == set(main)
    load_anything(folder, text, f"reports = {toml(local)}" if local is not None else "")


# --- fingerprints and layers --------------------------------------------------------------


def git_source(**changes: Any) -> GitSource:
    return GitSource.model_validate(
        {
            "kind": "git",
            "repository": "https://github.com/example/jotter",
            "commit": COMMIT,
            "checkout": "x",
            **changes,
        }
    )


def capture_source(**changes: Any) -> CaptureSource:
    return CaptureSource.model_validate(
        {
            "kind": "capture",
            "identity": "a",
            "file": "b",
            "sha256": SHA256,
            "layer": "observed run",
            **changes,
        }
    )


def test_a_fingerprint_is_of_the_pin_alone() -> None:
    base = fingerprint(git_source())
    assert len(base) == 64
    same = git_source(
        checkout="/elsewhere", encoding="UTF8", gaps="many", repository="file:///srv/j"
    )
    assert fingerprint(same) == base
    others = {
        fingerprint(git_source(commit="b" * 40)),
        fingerprint(git_source(commit=SHA256)),
        fingerprint(git_source(encoding="latin-1")),
        fingerprint(capture_source()),
        fingerprint(capture_source(sha256="b" * 64)),
        base,
    }
    assert len(others) == 6
    assert fingerprint(capture_source(file="c", layer="implementation")) in others


def test_the_first_layer_that_matches() -> None:
    source = git_source(layers={"implementation": ["src", "lib"], "doctrine/design": ["src", "x"]})

    def same(glob: str, path: str) -> bool:
        return glob == path

    assert layer_of(source, "src", same) is Layer.IMPLEMENTATION
    assert layer_of(source, "x", same) is Layer.DOCTRINE
    assert layer_of(source, "y", same) is None
    assert layer_of(source, None, same) is None
    assert layer_of(capture_source(), None, same) is Layer.OBSERVED


def test_models_may_be_made_by_field_name() -> None:
    report = Report(slug="a", directory="./b/", system="S", run_id="r")
    assert report.run_id == "r"
    assert report.directory == "b"


# --- settings -----------------------------------------------------------------------------


def test_settings_by_default() -> None:
    assert check_settings({}) == ()
    default = Settings()
    assert (default.config, default.autolink, default.severity) == ("memreport.toml", True, {})
    assert default.report == ReportFiles()
    assert default.severity_of(Code.DANGLING_ID) is Severity.ERROR
    assert default.severity_of(Code.COVERAGE_GAP) is Severity.WARNING
    assert default.severity_of(Code.COVERAGE_GAP, strict=True) is Severity.ERROR


def test_settings_as_written_in_conf_py() -> None:
    values = {
        "config": "../pins.toml",
        "autolink": False,
        "severity": {"dangling-id": "warning", "foreign-commit": "error"},
        "report": {"json": "problems.json", "sarif": "problems.sarif", "github": True},
    }
    assert check_settings(values) == ()
    found = Settings.model_validate(values)
    assert found.severity_of(Code.DANGLING_ID) is Severity.WARNING
    assert found.severity_of(Code.FOREIGN_COMMIT) is Severity.ERROR
    assert (found.report.json_path, found.report.sarif_path, found.report.github) == (
        "problems.json",
        "problems.sarif",
        True,
    )


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"config": 3}, ["memreport_config", "a string", "the number 3"]),
        ({"config": ""}, ["memreport_config", "not empty"]),
        ({"autolink": "no"}, ["memreport_autolink", "True or False", "'no'"]),
        ({"severity": 3}, ["memreport_severity", "a dictionary"]),
        ({"severity": {"danglin-id": "warning"}}, ["'danglin-id'", "did you mean 'dangling-id'?"]),
        ({"severity": {"xyz": "error"}}, ["'xyz'", "the codes are dangling-id, "]),
        ({"severity": {3: "error"}}, ["memreport_severity['3']", "the code of a problem"]),
        ({"severity": {"stale-quote": "off"}}, ["stale-quote", "'error' or 'warning'", "'off'"]),
        ({"severity": {"invalid-config": "warning"}}, ["invalid-config", "cannot be a warning"]),
        ({"report": []}, ["memreport_report", "a dictionary", "an empty list"]),
        ({"report": {"jsn": "x"}}, ["memreport_report['jsn']", "did you mean 'json'?"]),
        ({"report": {"json": None, "sarif": 3}}, ["memreport_report['sarif']", "a string"]),
        ({"report": {"github": 1}}, ["memreport_report['github']", "True or False"]),
        ({"autolnk": True}, ["memreport_autolnk", "did you mean 'autolink'?"]),
    ],
)
def test_wrong_settings(values: dict[str, object], words: list[str]) -> None:
    (problem,) = check_settings(values)
    assert (problem.code, problem.path, problem.line) == (Code.INVALID_CONFIG, "conf.py", None)
    for word in words:
        assert word in f"{problem.message} {problem.fix}"


def test_all_wrong_settings_at_once() -> None:
    wrong = {"config": 3, "autolink": 3, "severity": {"a": "b"}, "report": {"json": 1, "x": 2}}
    assert len(check_settings(wrong)) == 6


@pytest.mark.parametrize("model", [GitSource, CaptureSource, Report, SiteConfig, Settings])
def test_every_field_has_help(model: type[BaseModel]) -> None:
    for name, field in model.model_fields.items():
        assert field.description, name


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        ('contract = "Strict"', "did you mean 'strict'?"),
        ('contract = "sharp"', "write one of these"),
        ('boundary-kind = "subsystem"', "did you mean 'subsystem-only'?"),
        ("contract = strict", "put text in quotes"),
    ],
)
def test_a_value_that_is_nearly_right_says_which_is(tmp_path: Path, key: str, fix: str) -> None:
    path = tmp_path / "memreport.toml"
    path.write_text(f'[reports.a]\ndirectory = "."\nsystem = "A"\n{key}\n')
    with pytest.raises(InvalidConfig) as refused:
        load_config(path)
    (problem,) = refused.value.problems
    assert problem.line == 4
    assert problem.fix.startswith(fix)
