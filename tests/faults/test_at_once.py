"""Two at once: they take turns, and nobody writes over what he has not seen."""

from __future__ import annotations

import fcntl
import os
import signal
from functools import partial
from pathlib import Path

import pytest
from cli_project import Project, run
from faulty import Gate, ended, in_child, run_with_fault, start
from pinned_repo import PinnedRepo
from two_states import TwoStates

from sphinx_memreport.cli import checking
from sphinx_memreport.core.exclusive import exclusive, exclusive_folders, is_held
from sphinx_memreport.sphinx_ext.kept import KeptBuild


def paused(action: object, step: str, reached: Gate, go_on: Gate) -> int:
    """Start it in a process that stops at a step, says so, and waits."""

    def pause(_path: str) -> None:
        reached.open()
        go_on.wait()

    return start(partial(run_with_fault, action, step, pause))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "step", ["write .*/memory.doctree", "write .*/environment", "write .*/citing.html"]
)
def test_a_build_waits_for_the_one_that_is_running(
    states: TwoStates, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """The first read an older text than the second, and would write its page last."""
    states.turn_to("second")
    states.site.build()
    states.turn_to("first")
    reached, go_on, waiting = Gate(), Gate(), Gate()
    first = paused(states.site.build, step, reached, go_on)
    reached.wait()
    states.turn_to("second")
    monkeypatch.setattr(KeptBuild, "_say_waiting", waiting.open)
    second = start(states.site.build)
    waiting.wait()
    go_on.open()
    assert (ended(first), ended(second)) == (0, 0)
    built = states.site.build()
    assert states.differences("second", built) == []
    assert (built.read, built.written) == ([], [])


def test_two_checks_at_once_each_tell_of_their_own(
    tmp_path: Path, pinned_repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path / "p", pinned_repo)
    text = "# {}\n\n{}\n"
    conf = 'extensions = ["myst_parser", "sphinx_memreport"]\n'
    project.write({"conf.py": conf, "index.md": text.format("Old", "MEM-OBJ-none")})

    def check() -> int:
        found = checking.check_site(project.root).problems
        return len(found)

    reached, go_on, waiting = Gate(), Gate(), Gate()
    first = paused(check, "after .*/problems.json", reached, go_on)
    reached.wait()
    project.write({"index.md": text.format("New", "MEM-OBJ-none\nMEM-OBJ-nobody")})
    monkeypatch.setattr(checking, "say", waiting.open)
    second = start(check)
    waiting.wait()
    go_on.open()
    assert (ended(first), ended(second)) == (1, 2)


ONE_LINE = """\
# Memory

```{evidence} SRC-1 src/jotter/store.py
class Store: def save(self, note): self.notes.append(note)
```
"""


def fmt(project: Project) -> int:
    return run("fmt", "--write", "--config", project.root / "memreport.toml").exit_code


def test_a_command_does_not_write_over_what_another_wrote_meanwhile(
    tmp_path: Path, pinned_repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project(tmp_path / "p", pinned_repo)
    project.write({"memory.md": ONE_LINE})
    reached, go_on, waiting = Gate(), Gate(), Gate()
    first = paused(partial(fmt, project), "before .*/memory.md", reached, go_on)
    reached.wait()
    flock = fcntl.flock

    def locking(handle: int, how: int) -> None:
        waiting.open()
        flock(handle, how)

    monkeypatch.setattr(fcntl, "flock", locking)
    second = start(partial(fmt, project))
    waiting.wait()
    go_on.open()
    assert (ended(first), ended(second)) == (0, 2)
    assert "save(self, note):\n" in (project.root / "memory.md").read_text()
    assert fmt(project) == 0


def test_a_command_does_not_write_over_what_the_author_saved_meanwhile(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    project = Project(tmp_path / "p", pinned_repo)
    project.write({"memory.md": ONE_LINE})

    def save(_path: str) -> None:
        project.write({"memory.md": "# Saved\n"})

    assert run_with_fault(partial(fmt, project), "write .*memreport-part", save) == 2
    assert sorted(each.name for each in project.root.iterdir()) == ["memory.md", "memreport.toml"]
    assert (project.root / "memory.md").read_text() == "# Saved\n"


# --- locks --------------------------------------------------------------------------------


def never(holder: str) -> None:
    pytest.fail(f"waits for {holder}")


def test_a_process_waits_for_a_lock_and_learns_who_has_it(tmp_path: Path) -> None:
    waiting = Gate()
    heard = tmp_path / "heard"

    def hold() -> None:
        def noted(holder: str) -> None:
            heard.write_text(holder)
            waiting.open()

        with exclusive(tmp_path / "lock", noted):
            assert heard.read_text() == f"process {os.getppid()}"

    with exclusive(tmp_path / "lock", never):
        other = start(hold)
        waiting.wait()
    assert ended(other) == 0


def test_a_process_does_not_wait_for_itself(tmp_path: Path) -> None:
    with exclusive(tmp_path / "lock", never):
        for _ in range(2):
            with exclusive(tmp_path / "lock", never):
                pass
    with exclusive(tmp_path / "lock", never):
        pass


def test_what_a_killed_process_has_forked_keeps_its_lock(tmp_path: Path) -> None:
    """As the processes of a parallel build do, which go on writing for a while."""
    go_on, waiting = Gate(), Gate()

    def hold() -> None:
        with exclusive(tmp_path / "lock", never):
            start(go_on.wait)  # an orphan soon
            os.kill(os.getpid(), signal.SIGKILL)

    assert in_child(hold) == -signal.SIGKILL

    def waits(_holder: str) -> None:
        go_on.open()
        waiting.open()

    with exclusive(tmp_path / "lock", waits):
        waiting.wait()


def test_a_folder_is_held_as_long_as_its_process_lives(tmp_path: Path) -> None:
    assert not is_held(tmp_path)
    with exclusive_folders([tmp_path]):
        assert is_held(tmp_path)
    assert not is_held(tmp_path)
    assert list(tmp_path.iterdir()) == []
