"""A folder with memreport.toml for tests of commands, and a runner for them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from click.testing import CliRunner, Result
from pinned_repo import PinnedRepo
from sitebuilder import report_toml

from sphinx_memreport.cli import main


class Project:
    """A project below ``root`` whose only report, ``jotter``, owns all documents.

    ``SRC-1`` is the repository. Commands run with ``--config``, so no test changes the folder of
    this process.
    """

    def __init__(self, root: Path, repo: PinnedRepo, toml: str | None = None) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        self.write({"memreport.toml": report_toml(repo) if toml is None else toml})

    def write(self, files: Mapping[str, str | bytes]) -> None:
        """Write files, by path below the root."""
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def run(self, command: str, *arguments: str | Path) -> Result:
        """Run a command in this process; a traceback fails the test."""
        options = ["--config", str(self.root / "memreport.toml")]
        result = run(command, *arguments, *options)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.output
        return result


def run(*arguments: str | Path) -> Result:
    """Run ``memreport`` in this process."""
    return CliRunner().invoke(main, [str(each) for each in arguments], prog_name="memreport")


def run_process(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``memreport`` as a user does."""
    command = [sys.executable, "-m", "sphinx_memreport.cli", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
