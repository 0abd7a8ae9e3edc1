"""The example's system, the repository made of it, and the captures of the example report."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLE = Path(__file__).resolve().parent.parent / "example_report"
CONFIG = tomllib.loads((EXAMPLE / "memreport.toml").read_text(encoding="utf-8"))
SOURCES = CONFIG["reports"]["jotter"]["sources"]


def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_checkout", EXAMPLE / "make_checkout.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()
HASHES = [commit.hash for commit in SCRIPT.COMMITS]


def run_script(destination: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", str(EXAMPLE / "make_checkout.py"), str(destination)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def git(repository: Path, *arguments: str) -> str:
    command = ["git", "-C", str(repository), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("number", [1, 2])
def test_the_tests_of_jotter_pass(tmp_path: Path, number: int) -> None:
    for path, content in SCRIPT.tree(number).items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")
    }
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


def test_the_script_makes_the_expected_commits_once(tmp_path: Path) -> None:
    destination = tmp_path / "deep" / "jotter"
    first = run_script(destination)
    assert first.stdout.split() == HASHES, first.stderr
    assert git(destination, "rev-list", "--reverse", "main").split() == HASHES
    assert git(destination, "status", "--short") == ""
    assert list(destination.parent.iterdir()) == [destination]

    (destination / "README.md").write_text("edited", encoding="utf-8")
    assert run_script(destination).stdout.split() == HASHES
    assert (destination / "README.md").read_text(encoding="utf-8") == "edited"


def test_the_hashes_do_not_depend_on_the_machine(tmp_path: Path) -> None:
    config = tmp_path / "gitconfig"
    config.write_text(
        "[core]\n\tautocrlf = true\n\tfileMode = false\n[commit]\n\tgpgSign = true\n"
        "[init]\n\tdefaultBranch = trunk\n[i18n]\n\tcommitEncoding = latin1\n",
        encoding="utf-8",
    )
    done = run_script(
        tmp_path / "jotter",
        GIT_CONFIG_GLOBAL=str(config),
        GIT_DIR=str(tmp_path / "elsewhere"),
        GIT_AUTHOR_DATE="2001-01-01T00:00:00+0300",
        GIT_DEFAULT_HASH="sha256",
        TZ="Asia/Tokyo",
        LC_ALL="C",
    )
    assert done.stdout.split() == HASHES, done.stderr
    assert not (tmp_path / "elsewhere").exists()


def test_the_script_leaves_other_directories_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    done = run_script(tmp_path)
    assert done.returncode == 1
    assert "left alone" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_the_script_replaces_what_it_made_from_other_files(tmp_path: Path) -> None:
    git_dir = tmp_path / "jotter" / ".git"
    git_dir.mkdir(parents=True)
    (git_dir / SCRIPT.MARK).touch()
    assert run_script(tmp_path / "jotter").stdout.split() == HASHES


def test_changed_files_are_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = SCRIPT.COMMITS
    monkeypatch.setattr(SCRIPT, "COMMITS", (first._replace(seconds=0), second))
    with pytest.raises(SCRIPT.CheckoutError, match="expected were"):
        SCRIPT.make_checkout(tmp_path / "jotter")
    assert list(tmp_path.iterdir()) == []


def test_the_report_is_pinned_to_the_first_commit() -> None:
    assert SOURCES["SRC-1"]["commit"] == HASHES[0]


@pytest.mark.parametrize("source", ["SRC-2", "SRC-3"])
def test_the_captures_are_the_registered_ones(source: str) -> None:
    content = (EXAMPLE / SOURCES[source]["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == SOURCES[source]["sha256"]


def test_the_transcript_is_what_jotter_prints() -> None:
    recorder = EXAMPLE / "captures" / "record_session.py"
    done = subprocess.run(
        [sys.executable, "-B", str(recorder)],
        env=os.environ | {"PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == (EXAMPLE / "captures" / "session.txt").read_text(encoding="utf-8")
