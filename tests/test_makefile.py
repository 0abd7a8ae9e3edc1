"""``make``: an unfit Python is said, and leaves nothing that is in the way of a fit one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def make(python: Path, venv: Path) -> subprocess.CompletedProcess[str]:
    command = ["make", f"PYTHON={python}", f"VENV={venv}", f"{venv}/installed"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("half_made", [True, False])
def test_a_python_that_is_too_old(tmp_path: Path, half_made: bool) -> None:
    old, venv = script(tmp_path / "old", "exit 1"), tmp_path / "venv"
    if half_made:
        script(venv / "bin/python", "exit 1")
    done = make(old, venv)
    assert done.returncode != 0
    assert f"{old} is not Python 3.11 or later; name one that is: make PYTHON=" in done.stderr
    assert venv.exists() is half_made


def test_an_environment_that_is_of_no_use_is_made_anew(tmp_path: Path) -> None:
    asked, venv = tmp_path / "asked", tmp_path / "venv"
    python = script(tmp_path / "python", f'echo "$@" >> {asked}')
    script(venv / "bin/python", "exit 1")
    make(python, venv)
    assert asked.read_text().splitlines()[-1] == f"-m venv --clear {venv}"


def test_an_environment_that_does_is_kept(tmp_path: Path) -> None:
    old, venv = script(tmp_path / "old", "exit 1"), tmp_path / "venv"
    script(venv / "bin/python", "exit 0")
    assert make(old, venv).returncode == 0
    assert (venv / "installed").exists()
