"""A build that is killed at any step: the next one ends like a clean build."""

from __future__ import annotations

import shutil
import signal
from functools import partial
from pathlib import Path

import pytest
from faulty import count_steps, kill, run_with_fault
from two_states import TwoStates, struck_builds


@pytest.mark.parametrize(
    ("number", "count", "parallel"),
    [
        (signal.SIGKILL, 4, 1),
        (signal.SIGINT, 2, 1),
        (signal.SIGTERM, 2, 1),
        (signal.SIGKILL, 2, 4),
    ],
    ids=["SIGKILL", "SIGINT", "SIGTERM", "SIGKILL-j4"],
)
def test_the_next_build_is_like_a_clean_one(
    states: TwoStates, number: int, count: int, parallel: int
) -> None:
    assert struck_builds(states, kill(number), count, parallel, seed=number) == (2 * count, {})


#: What Sphinx or we would go on with, though it is half written or not yet.
AWKWARD = [
    r"write .*/\.buildinfo",
    r"write .*/citing\.doctree",
    r"write .*/citing\.html",
    r"write .*/_memreport/.*recall",
    "write-started",
    "before .*/memreport-build.json",
    "build-finished",
]


def test_the_next_build_does_not_go_on_with_what_is_half_done(states: TwoStates) -> None:
    states.turn_to("second")
    states.site.build()
    wrong = {}
    for turn, step in enumerate(AWKWARD):
        state = ("first", "second")[turn % 2]
        states.turn_to(state)
        (states.site.source / "citing.md").touch()
        if step == AWKWARD[3]:
            shutil.rmtree(states.site.root / "cache/html/_memreport")
        ended = run_with_fault(states.site.build, step, kill(signal.SIGKILL))
        found = states.differences(state, states.site.build())
        if found or ended != -signal.SIGKILL:
            wrong[step] = ended, found
    assert wrong == {}


def test_every_file_that_is_written_is_a_step(states: TwoStates) -> None:
    states.turn_to("second")
    steps = count_steps(partial(states.site.build, cache="steps"))
    names = {Path(step.rpartition(" ")[2]).name for step in steps}
    assert names >= {
        *("memory.doctree", "environment.pickle", "memreport-build.json", ".buildinfo"),
        *("memory.html", "citing.html", "objects.inv", "search.html"),
        *("searchindex.js", "memreport.json", "problems.json", "problems.sarif"),
    }
