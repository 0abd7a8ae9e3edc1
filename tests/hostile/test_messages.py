"""Names that are commands to a terminal or to a build server, once they stand in a message."""

from __future__ import annotations

from pathlib import Path

import pinned_repo as repos
import pytest
from cli_project import run_process
from hostile_git import quoting
from pinned_repo import Symlink
from sitebuilder import TinySite

TITLE = "\x1b]0;owned\x07"
COMMAND = "\n::error::owned\r\n::add-mask::x"
NAMES = [
    f"docs/{TITLE}notes.md",
    f"docs/{COMMAND}notes.md",
    "docs/\u202egnp.md",
    "docs/b\udcffd.md",
    "docs/\x9b2Jnotes.md",
]
PAGES = quoting(("docs/notes.md", "Only one file holds this."), ("link", "x"), more="")


@pytest.fixture
def site(tmp_path: Path) -> TinySite:
    tree = dict.fromkeys(NAMES, b"Only one file holds this.\n")
    repo = repos.bare(tmp_path / "repo", {**tree, "link": Symlink(f"a{TITLE}{COMMAND}")})
    site = TinySite(tmp_path / "site", repo)
    site.write(PAGES)
    return site


def is_harmless(said: str) -> bool:
    """Whether there is no control character in it, and no line that is not ours."""
    lines = said.split("\n")
    control = [char for char in said if char != "\n" and (ord(char) < 32 or 127 <= ord(char) < 160)]
    return not control and not any(line.startswith("::add-mask") for line in lines)


def test_in_a_build(site: TinySite) -> None:
    built = site.run()
    assert (built.returncode, built.stderr.count("[memreport.path-missing]")) == (1, 2)
    assert is_harmless(built.stderr)


@pytest.mark.parametrize("form", ["text", "github", "sarif", "json"])
def test_in_a_check(site: TinySite, form: str) -> None:
    checked = run_process("check", "--format", form, cwd=site.source)
    assert checked.returncode == 1
    assert "path-missing" in checked.stdout
    assert is_harmless(checked.stdout + checked.stderr)
