"""``memreport fetch`` and ``memreport status``."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from cli_project import Project, run_process
from pinned_repo import (
    COMMITS,
    PinnedRepo,
    bare,
    borrowing,
    partial,
    plain,
    sha256,
    shallow,
    worktree,
)

from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.gitfetch import fetch_commit, whole


def toml(repository: str, commit: str, checkout: str = "checkouts/jotter", more: str = "") -> str:
    return (
        '[reports.jotter]\ndirectory = "."\nsystem = "Jotter"\n'
        f'[reports.jotter.sources.SRC-1]\nkind = "git"\nrepository = "{repository}"\n'
        f'commit = "{commit}"\ncheckout = "{checkout}"\n{more}'
    )


@pytest.fixture
def origin(tmp_path: Path) -> PinnedRepo:
    return bare(tmp_path / "origin")


@pytest.fixture
def project(tmp_path: Path, origin: PinnedRepo) -> Project:
    return Project(tmp_path / "p", origin, toml(origin.path.as_uri(), origin.commit))


def everything(folder: Path, *, objects: bool = True) -> dict[str, bytes]:
    """Every file below a folder, perhaps without the objects of its repository."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (objects or "objects" not in path.parts)
    }


def test_a_missing_checkout_becomes_a_bare_repository_with_the_whole_commit(
    project: Project, origin: PinnedRepo
) -> None:
    assert project.run("status").exit_code == 3
    fetched = project.run("fetch")
    assert (fetched.exit_code, fetched.stderr) == (0, "")
    checkout = project.root / "checkouts/jotter"
    assert whole(checkout, origin.commit) is None
    assert whole(checkout, origin.commits[0]) is not None  # no history
    assert sorted(each.name for each in checkout.parent.iterdir()) == ["jotter"]
    assert not (checkout / "hooks").exists()
    assert project.run("status").exit_code == 0


def test_a_second_run_changes_nothing(project: Project) -> None:
    project.run("fetch")
    before = everything(project.root)
    again = project.run("fetch")
    assert (again.exit_code, again.stdout.rstrip().endswith("is here")) == (0, True)
    assert everything(project.root) == before


def test_two_pins_in_one_checkout(tmp_path: Path, origin: PinnedRepo) -> None:
    second = (
        f'[reports.jotter.sources.SRC-2]\nkind = "git"\nrepository = "{origin.path.as_uri()}"\n'
        f'commit = "{origin.commits[0]}"\ncheckout = "checkouts/jotter"\n'
    )
    project = Project(
        tmp_path / "p", origin, toml(origin.path.as_uri(), origin.commit, more=second)
    )
    assert project.run("fetch").exit_code == 0
    checkout = project.root / "checkouts/jotter"
    assert [whole(checkout, commit) for commit in origin.commits] == [None, None]


@pytest.mark.parametrize("make", [shallow, worktree, borrowing, partial], ids=lambda f: f.__name__)
def test_a_repository_that_is_there_gets_objects_and_keeps_the_rest(
    tmp_path: Path, origin: PinnedRepo, make: object
) -> None:
    checkout = make(tmp_path / "mine")  # type: ignore[operator]
    commit = origin.commit if make is partial else origin.commits[0]
    before = everything(tmp_path / "mine", objects=False)
    fetch_commit(checkout.path, origin.path.as_uri(), commit)
    assert whole(checkout.path, commit) is None
    assert everything(tmp_path / "mine", objects=False) == before


def test_what_was_fetched_into_a_repository_outlives_its_housekeeping(
    tmp_path: Path, origin: PinnedRepo
) -> None:
    other = {"a.txt": b"a\n"}
    mine = plain(tmp_path / "mine", other)
    fetch_commit(mine.path, origin.path.as_uri(), origin.commit)
    mine.git("gc", "--quiet", "--prune=now")
    assert whole(mine.path, origin.commit) is None


def test_hooks_and_settings_of_a_checkout_are_not_run(tmp_path: Path, origin: PinnedRepo) -> None:
    mine = plain(tmp_path / "mine", {"a.txt": b"a\n"})
    mark = tmp_path / "ran"
    hooks = mine.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-checkout", "post-merge", "pre-auto-gc"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    mine.git("config", "core.fsmonitor", f"touch {mark}")
    mine.git("config", "core.alternateRefsCommand", f"touch {mark}")
    mine.git("config", "uploadpack.packObjectsHook", f"touch {mark}")
    mine.git("config", f"url.ext::touch% {mark}.insteadOf", "file:")
    fetch_commit(mine.path, origin.path.as_uri(), origin.commit)
    assert not mark.exists()


def test_sha256(tmp_path: Path) -> None:
    origin = sha256(tmp_path / "origin")
    fetch_commit(tmp_path / "mine", origin.path.as_uri(), origin.commit)
    assert whole(tmp_path / "mine", origin.commit) is None


def test_a_server_that_gives_no_commit_by_its_hash_is_asked_for_everything(
    project: Project, origin: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the old protocol refuses what no branch or tag points to
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.version")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "0")
    project.write({"memreport.toml": toml(origin.path.as_uri(), origin.commits[0])})
    fetched = project.run("fetch")
    assert fetched.exit_code == 0, fetched.stderr
    assert "fetching all branches and tags" in fetched.stderr
    assert whole(project.root / "checkouts/jotter", origin.commits[0]) is None


@pytest.mark.parametrize(
    ("commit", "url", "said"),
    [
        ("1" * 40, None, "no branch or tag of it holds it"),
        (COMMITS[0], "file:///nowhere/at/all", "cannot fetch from file:///nowhere/at/all"),
    ],
)
def test_what_cannot_be_had_is_said_and_leaves_nothing(
    tmp_path: Path, origin: PinnedRepo, commit: str, url: str | None, said: str
) -> None:
    project = Project(tmp_path / "p", origin, toml(url or origin.path.as_uri(), commit))
    result = project.run("fetch")
    assert result.exit_code == 3
    assert said in result.stderr
    assert "[memreport.commit-missing]" in result.stderr
    assert "Traceback" not in result.stderr
    assert [each.name for each in project.root.iterdir()] == ["memreport.toml"]


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% x",
        "ext::sh",
        "-u./payload",
        "--upload-pack=./payload",
        "ssh://-oProxyCommand=x/y",
        "fd::17",
        "git://example.org/x",
        "file://host/$(touch x)`y`",
    ],
)
def test_hostile_urls_run_nothing(tmp_path: Path, url: str) -> None:
    with pytest.raises(SourceUnavailable):
        fetch_commit(tmp_path / "mine", url, COMMITS[0])
    assert not (tmp_path / "mine").exists()
    assert list(tmp_path.iterdir()) == []


def test_a_rewritten_url_cannot_run_a_command(
    tmp_path: Path, origin: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "ran"
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", f"url.ext::touch {mark} #.insteadOf")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "file:")
    with pytest.raises(SourceUnavailable, match="cannot fetch"):
        fetch_commit(tmp_path / "mine", origin.path.as_uri(), origin.commit)
    assert not mark.exists()


def test_the_variables_of_a_surrounding_git_lead_nowhere(
    tmp_path: Path, origin: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    around = plain(tmp_path / "around", {"a.txt": b"a\n"})
    before = everything(around.path)
    monkeypatch.setenv("GIT_DIR", str(around.path / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(around.path / ".git/objects"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(around.path / ".git/index"))
    fetch_commit(tmp_path / "mine", origin.path.as_uri(), origin.commit)
    assert everything(around.path) == before
    assert whole(tmp_path / "mine", origin.commit) is None


def test_a_folder_that_is_no_repository_is_left_alone(project: Project) -> None:
    """Even inside of the repository of the report, which git would find from there."""
    subprocess.run(["git", "init", "-q", project.root], check=True)
    project.write({"checkouts/jotter/notes.txt": "mine"})
    before = everything(project.root)
    result = project.run("fetch")
    assert (result.exit_code, "move" in result.stderr) == (3, True)
    assert everything(project.root) == before


def test_an_empty_folder_and_a_link(project: Project, origin: PinnedRepo) -> None:
    (project.root / "checkouts/jotter").mkdir(parents=True)
    assert project.run("fetch").exit_code == 0
    (project.root / "elsewhere").symlink_to(project.root / "nowhere")
    project.write({"memreport.toml": toml(origin.path.as_uri(), origin.commit, "elsewhere")})
    result = project.run("fetch")
    assert (result.exit_code, "leads nowhere" in result.stderr) == (3, True)


def test_interrupted_while_git_works_nothing_is_left(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGINT arrives when git has begun; a git that waits stands in for a slow one."""
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    real = subprocess.run(["which", "git"], capture_output=True, text=True, check=True).stdout
    fifo = tmp_path / "begun"
    os.mkfifo(fifo)
    slow.write_text(
        f'#!/bin/sh\ncase " $* " in *" fetch "*) echo > {fifo}; exec sleep 60;; esac\n'
        f'exec {real.strip()} "$@"\n'
    )
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    process = subprocess.Popen(
        [sys.executable, "-m", "sphinx_memreport.cli", "fetch"],
        cwd=project.root,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    fifo.read_text()  # waits until git has begun
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert (process.returncode, said) == (130, "memreport: interrupted\n")
    assert [each.name for each in project.root.iterdir()] == ["memreport.toml"]


# --- status -----------------------------------------------------------------------------------


def test_status_tells_every_state(tmp_path: Path, origin: PinnedRepo) -> None:
    digest = hashlib.sha256(b"post\n").hexdigest()
    sources = {
        "present": (str(origin.path), origin.commit),
        "commit missing": (str(origin.path), "1" * 40),
        "missing": ("gone", origin.commit),
        "not a repository": ("folder", origin.commit),
        "incomplete": (str(partial(tmp_path / "partial").path), origin.commit),
    }
    text = '[reports.jotter]\ndirectory = "."\nsystem = "Jotter"\n'
    for number, (checkout, commit) in enumerate(sources.values(), 1):
        text += (
            f'[reports.jotter.sources.SRC-{number}]\nkind = "git"\ncheckout = "{checkout}"\n'
            f'repository = "{origin.path.as_uri()}"\ncommit = "{commit}"\n'
        )
    for number, file in enumerate(["post.txt", "other.txt", "none.txt"], len(sources) + 1):
        text += (
            f'[reports.jotter.sources.SRC-{number}]\nkind = "capture"\nidentity = "post"\n'
            f'file = "{file}"\nsha256 = "{digest}"\nlayer = "reported operation"\n'
        )
    project = Project(tmp_path / "p", origin, text)
    project.write({"post.txt": "post\n", "other.txt": "other\n", "folder/x": ""})
    result = project.run("status", "--json")
    assert result.exit_code == 3
    found = json.loads(result.stdout)["sources"]
    assert [each["state"] for each in found] == [*sources, "present", "mismatch", "missing"]
    assert [bool(each["fix"]) for each in found] == [each["state"] != "present" for each in found]
    shown = project.run("status")
    assert shown.exit_code == 3
    assert shown.stdout.count("fix: memreport fetch") == 3
    fetched = project.run("fetch")
    assert fetched.exit_code == 3
    after = json.loads(project.run("status", "--json").stdout)["sources"]
    assert [each["state"] for each in after] == [
        *("present", "commit missing", "present", "not a repository", "present"),
        *("present", "mismatch", "missing"),
    ]


def test_status_of_one_report(project: Project) -> None:
    assert project.run("status", "--report", "nobody").exit_code == 2
    assert project.run("status", "--report", "jotter").exit_code == 3


def test_fetch_from_the_command_line(project: Project) -> None:
    done = run_process("fetch", "--quiet", cwd=project.root)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
