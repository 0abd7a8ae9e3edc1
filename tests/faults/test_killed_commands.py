"""A command that is killed at any step: files are the old or the new ones, and it can run again."""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest
from cli_project import run
from click.testing import Result
from faulty import CRASHED, Fault, count_steps, disk_full, kill, run_with_fault, snapshot
from pinned_repo import RECALL, SECOND, PinnedRepo, plain
from sitebuilder import TinySite, report_toml

from sphinx_memreport.core.output import PART

#: ``fmt`` breaks the first quote, ``repin`` changes the lines of the second.
MEMORY = """\
# Memory

```{evidence} SRC-1 src/jotter/store.py
class Store: def save(self, note): self.notes.append(note)
```

```{evidence} SRC-1 src/jotter/recall.py
:lines: 2-4

scored.sort(key=lambda pair: pair[0], reverse=True)
```
"""
MEMBER = """\
---
type: types/agentic-system-memory-report.md
source-identity: https://github.com/example/jotter
---

# Jotter memory report

## Shared records

### Claims

none declared in this member
"""
URL = "https://github.com/example/jotter"


ARGUMENTS = {
    "fmt": ["fmt", "--write", "--config", "ROOT/memreport.toml"],
    "lock": ["lock", "--date", "2026-11-30", "--site", "ROOT"],
    "repin": ["repin", "jotter", "SRC-1", "main", "--write", "--site", "ROOT"],
    "new": ["new", "ROOT/new", "--repository", URL, "--commit", "f" * 40],
    "import": ["import", "ROOT/member.txt", "--into", "ROOT/imported", "--commit", "f" * 40],
    "fetch": ["fetch", "--quiet", "--config", "ROOT/memreport.toml"],
}


class Stage:
    """A project on which one command runs again and again, from the same files each time."""

    def __init__(self, folder: Path, command: str) -> None:
        self.site = TinySite(folder)
        self.root = self.site.source
        changed = {**SECOND, "src/jotter/recall.py": b"# searches\n" + RECALL}
        repo = plain(folder / "repo", SECOND, changed)
        toml = report_toml(PinnedRepo(repo.path, repo.commits[:1]))
        if command == "fetch":
            toml = toml.replace(repo.path.as_posix(), "checkout").replace(URL, repo.path.as_uri())
        self.site.write({"memory.md": MEMORY, "memreport.toml": toml, "member.txt": MEMBER})
        self.arguments = [each.replace("ROOT", str(self.root)) for each in ARGUMENTS[command]]
        self.old = self.files()
        self.said = self.run()
        self.new = self.files()
        self.reset()

    def run(self) -> Result:
        """Run the command in this process; a traceback fails the test."""
        result = run(*self.arguments)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.output
        return result

    def run_again(self) -> Result:
        """Run the command; where files are in its way it must name them, and they are removed."""
        again = self.run()
        if "exists already" in again.output:
            left = [
                name for name in self.new.keys() - self.old.keys() if (self.root / name).exists()
            ]
            assert left
            assert all(name in again.output for name in left), again.output
            self.reset()
            again = self.run()
        return again

    def files(self) -> dict[str, bytes]:
        """All files but those that Sphinx keeps between checks; of a repository, its objects."""
        found = snapshot(self.root)
        return {
            name: data
            for name, data in found.items()
            if not name.startswith("_build/") and not name.endswith((".pack", ".idx", ".rev"))
        }

    def reset(self) -> None:
        """Put the old files back."""
        for name in self.files().keys() - self.old.keys():
            (self.root / name).unlink()
        for folder in ("new", "imported", "checkout"):
            shutil.rmtree(self.root / folder, ignore_errors=True)
        self.site.write(self.old)

    def is_between(self) -> bool:
        """Whether every file is the old one or the new one, or is marked as a part."""
        return all(
            data in (self.old.get(name), self.new.get(name)) or PART in name
            for name, data in self.files().items()
        )


@pytest.fixture(params=ARGUMENTS)
def stage(request: pytest.FixtureRequest, tmp_path: Path) -> Stage:
    return Stage(tmp_path, request.param)


def steps_of(stage: Stage, most: int) -> dict[int, str]:
    """Steps at which the command touches files that it is there to write."""
    steps = {
        number: step
        for number, step in enumerate(count_steps(stage.run))
        if step.rpartition(" ")[2].startswith(str(stage.root)) and "_build" not in step
    }
    stage.reset()
    return dict(list(steps.items())[:: -(-len(steps) // most)])


def test_a_command_that_is_killed_leaves_no_half_file_and_can_run_again(stage: Stage) -> None:
    assert stage.said.exit_code == 0, stage.said.output
    assert stage.new != stage.old
    wrong: dict[str, object] = {}
    for number, step in steps_of(stage, 4).items():
        ended = run_with_fault(stage.run, number, kill(signal.SIGKILL))
        between = stage.is_between()
        again = stage.run_again()
        if not between or stage.files() != stage.new or ended != -signal.SIGKILL:
            differing = sorted(dict(stage.files().items() ^ stage.new.items()))
            wrong[step] = ended, between, differing, again.output
        stage.reset()
    assert wrong == {}


@pytest.mark.parametrize("fault", [disk_full, kill(signal.SIGTERM)], ids=["disk-full", "SIGTERM"])
def test_a_command_that_fails_leaves_nothing_behind(stage: Stage, fault: Fault) -> None:
    wrong: dict[str, object] = {}
    for number, step in steps_of(stage, 3).items():
        ended = run_with_fault(lambda: stage.run().exit_code, number, fault)
        litter = [name for name in stage.files() if PART in name]
        between = stage.is_between()
        again = stage.run_again()
        if ended in (0, CRASHED) or not between or litter or stage.files() != stage.new:
            wrong[step] = ended, litter, again.output
        stage.reset()
    assert wrong == {}
