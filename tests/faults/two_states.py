"""A site that goes to and fro between two states, and what a clean build of each is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from faulty import Fault, count_steps, run_with_fault, sample, snapshot
from pinned_repo import RECALL, SECOND, PinnedRepo, plain
from sitebuilder import CONF, Built, TinySite, report_toml

from sphinx_memreport.core.problems import Problem

MEMORY = """\
# Memory

```{memmember} memory
```

:::{memobject} MEM-OBJ-note — Stored note
:part-of: MEM-OBJ-store

```{evidence} SRC-1 src/jotter/recall.py
scored.sort(key=lambda pair: pair[0], reverse=True)
```
:::

:::{memobject} MEM-OBJ-store — Store

```{evidence} SRC-1 src/jotter/store.py
self.notes.append(note)
```
:::
"""
#: Not edited, but its page shows what stands in the others.
CITING = (
    "# Citing\n\nSee MEM-OBJ-note and {memsrc}`src/jotter/recall.py`.\n\n```{memrecords}\n```\n"
)
MORE = "# More\n\nSee MEM-OBJ-nota.\n"
EDITED = MEMORY.replace("Stored note", "Kept note").replace("append(note)", "append(notes)")

#: Times of sphinx-needs, which are others in every build.
_TIMES = "schema_violations.json"


class TwoStates:
    """Two states of a site, ``first`` and ``second``, with a clean build of each.

    From one to the other, the text of a record changes that an unchanged document cites, a quote
    becomes stale, the pin moves, and a document with a dangling ID comes and goes.
    """

    def __init__(self, root: Path) -> None:
        changed = {**SECOND, "src/jotter/recall.py": b"# searches\n" + RECALL}
        self.repo = plain(root / "repo", SECOND, changed)
        pins = [PinnedRepo(self.repo.path, (commit,)) for commit in self.repo.commits]
        self.site = TinySite(root / "site")
        report = 'memreport_report = {"json": "problems.json", "sarif": "problems.sarif"}\n'
        self.site.write({"conf.py": CONF + report, "citing.md": CITING})
        self._files: Mapping[str, Mapping[str, str | None]] = {
            "first": {"memory.md": MEMORY, "more.md": None, "memreport.toml": report_toml(pins[0])},
            "second": {
                "memory.md": EDITED,
                "more.md": MORE,
                "memreport.toml": report_toml(pins[1]),
            },
        }
        self._steps: dict[int, dict[str, list[str]]] = {}
        self._clean: dict[str, tuple[Mapping[str, Any], list[Problem]]] = {}
        for state in ("second", "first"):
            self.turn_to(state)
            built = self.site.build(cache=f"clean-{state}")
            self._clean[state] = _output(built.out), built.details
            assert len(built.details) == (2 if state == "second" else 0), built.warnings

    def turn_to(self, state: str) -> None:
        """Write the files that are others in a state."""
        for name, text in self._files[state].items():
            path = self.site.source / name
            if (path.read_text() if path.exists() else None) != text:
                self.site.write({name: text})

    def steps(self, parallel: int) -> Mapping[str, list[str]]:
        """The steps of a build that goes from the other state to each; counted once."""
        if parallel not in self._steps:
            found = self._steps[parallel] = {}
            for state in ("first", "second", "first"):
                self.turn_to(state)
                found[state] = count_steps(partial(self.site.build, parallel=parallel))
        return self._steps[parallel]

    def differences(self, state: str, built: Built) -> list[str]:
        """What a build says or wrote that a clean build does not: names of files, for a start."""
        expected, problems = self._clean[state]
        found = _output(built.out)
        found.pop("more.html" if state == "first" else "", None)  # Sphinx leaves it where it is
        wrong = [name for name in {*expected, *found} if expected.get(name) != found.get(name)]
        if built.details != problems:
            wrong.append(f"problems: {built.problems}")
        if built.status != bool(problems):
            wrong.append(f"status: {built.status}")
        return sorted(wrong)


def _output(out: Path) -> dict[str, Any]:
    """All files of an output folder, the search index in a form that does not tell its history."""
    files: dict[str, Any] = {**snapshot(out)}
    files.pop(_TIMES, None)
    files["searchindex.js"] = _search_index(files["searchindex.js"])
    return files


def _search_index(data: bytes) -> object:
    index = json.loads(data.removeprefix(b"Search.setIndex(").removesuffix(b")"))
    names = index["docnames"]

    def documents(found: int | list[int]) -> list[str]:
        return sorted(names[each] for each in (found if isinstance(found, list) else [found]))

    words = [
        {word: documents(found) for word, found in index[kind].items() if found != []}
        for kind in ("terms", "titleterms")
    ]
    return sorted(zip(names, index["titles"], strict=True)), words


def struck_builds(
    states: TwoStates, fault: Fault, count: int, parallel: int = 1, seed: int = 1
) -> tuple[int, dict[str, object]]:
    """Go to and fro, strike each build at another step, and look at the next build.

    :param count: how many steps in each direction; fewer when a build has fewer.
    :return: how many builds were struck, and what went wrong, by the step.
    """
    build = partial(states.site.build, parallel=parallel)
    steps = states.steps(parallel)
    states.turn_to("first")
    states.site.build()
    chosen = {state: sample(taken, count, seed) for state, taken in steps.items()}
    struck = 0
    wrong: dict[str, object] = {}
    for pair in zip(chosen["second"], chosen["first"], strict=False):
        for state, step in zip(("second", "first"), pair, strict=True):
            states.turn_to(state)
            struck += run_with_fault(build, step, fault) != 0
            if found := states.differences(state, states.site.build()):
                wrong[f"to {state}, {step}: {steps[state][step]}"] = found
    return struck, wrong
