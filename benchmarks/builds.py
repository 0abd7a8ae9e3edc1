"""Builds of synthetic sites, each in a process of its own, the variants in turn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.sites import Size, SyntheticSite, Variant


class Cost(NamedTuple):
    """What one process, with all that it started, took."""

    wall: float  # seconds
    cpu: float  # seconds
    memory: float  # MiB, of the largest process


#: Costs by step and variant, in the order of the runs.
Costs = dict[str, dict[Variant, list[Cost]]]


def run(command: list[str], status: int = 0) -> Cost:
    """Run a command to its end.

    :raises RuntimeError: when it ends with another status.
    """
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    # without byte code on the disk, imports would be most of a short build
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _pid, ended, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(ended)
    wall = time.perf_counter() - start
    if process.returncode != status:
        raise RuntimeError(f"{command} ended with {process.returncode}:\n{said.decode()}")
    return Cost(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def build(source: Path, out: Path, *options: str) -> Cost:
    """Build a site as HTML."""
    return run([sys.executable, "-m", "sphinx", "-q", *options, str(source), str(out)])


def compare_builds(
    root: Path, repository: Path, commits: tuple[str, str], size: Size, repeats: int
) -> Costs:
    """Every step for every variant, ``repeats`` times, the variants in turn within each step.

    A first run of each warms the disk's and Python's caches and is not counted.
    """
    sites = {
        variant: SyntheticSite(root / variant.name.lower(), variant, size, repository)
        for variant in Variant
    }
    costs: Costs = defaultdict(lambda: defaultdict(list))
    for turn in range(repeats):
        for site in sites.values():
            site.write(commits[0])
        for step, edit, variants in _steps(sites, commits, turn):
            for variant in variants:
                edit(sites[variant])
                out = root / f"{variant.name.lower()}-out"
                if step.startswith("cold"):
                    shutil.rmtree(out, ignore_errors=True)
                options = ("-j", "2") if step.endswith("-j 2") else ()
                costs[step][variant].append(build(sites[variant].root, out, *options))
    return costs


Step = tuple[str, Callable[[SyntheticSite], None], list[Variant]]


def _steps(
    sites: dict[Variant, SyntheticSite], commits: tuple[str, str], turn: int
) -> Iterator[Step]:
    every = list(sites)
    yield "cold, -j 2", lambda _site: None, every
    yield "cold", lambda _site: None, every
    yield "unchanged", lambda _site: None, every
    yield "one quote edited", lambda site: site.edit_quote(turn), every
    yield "one label edited", lambda site: site.edit_label(turn), every
    yield "pin moved", lambda site: site.pin(commits[1]), [Variant.OURS]


def middle(costs: list[Cost], name: str) -> float:
    """The median of one figure."""
    return float(median(getattr(cost, name) for cost in costs))
