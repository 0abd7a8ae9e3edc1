"""The command: see ``python -m benchmarks --help``."""

from __future__ import annotations

import datetime
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from benchmarks import report
from benchmarks.builds import build, compare_builds, run
from benchmarks.parts import compare_parts, real_quotes, synthetic_quotes
from benchmarks.sites import Size, SyntheticSite, Variant, make_repository

_PAGES = {500: 20, 1_000: 40, 3_000: 100, 10_000: 200}


@click.command()
@click.option("--records", multiple=True, type=int, default=(500, 3_000, 10_000), show_default=True)
@click.option("--repeats", default=3, show_default=True, help="Runs of each step.")
@click.option(
    "--repository",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A real repository, whose HEAD is quoted, too.",
)
@click.option("--save", type=click.Path(path_type=Path), help="Write the tables into this file.")
def main(
    records: tuple[int, ...], repeats: int, repository: Path | None, save: Path | None
) -> None:
    """Build synthetic sites with and without us, in turn, and print medians and ratios.

    At 10,000 records one repeat takes some ten minutes.
    """
    tables = [_machine()]
    with tempfile.TemporaryDirectory(prefix="memreport-bench-") as folder:
        root = Path(folder)
        commits = make_repository(root / "repository")
        for count in records:
            size = Size(count, _PAGES.get(count, max(1, count // 50)))
            place = root / str(count)
            place.mkdir()
            costs = compare_builds(place, root / "repository", commits, size, repeats)
            tables.append(report.builds(size, costs))
            tables.append(_checking(place, size, root / "repository", commits[0], repeats))
            shutil.rmtree(place)
            click.echo("\n\n".join(tables[-2:]))
        asked = synthetic_quotes(10_000, 1_000)
        parts = compare_parts(root / "repository", commits[0], asked, max(5, repeats))
        tables.append(report.parts("the synthetic repository", parts))
    if repository:
        head = ["git", "-C", str(repository), "rev-parse", "HEAD"]
        commit = subprocess.run(head, stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        asked = real_quotes(repository, commit, 10_000, 1_000)
        parts = compare_parts(repository, commit, asked, max(5, repeats))
        tables.append(report.parts(repository.resolve().name, parts))
    text = "\n\n".join(tables) + "\n"
    click.echo(text)
    if save:
        report.save(save, text)


def _checking(root: Path, size: Size, repository: Path, commit: str, repeats: int) -> str:
    """``memreport check`` against the cold build, and the part of that which is checking."""
    site = SyntheticSite(root / "checked", Variant.OURS, size, repository)
    site.write(commit)
    plain = SyntheticSite(root / "read", Variant.PLAIN, size, repository)
    plain.write(commit)
    builds, checks, reads, shares = [], [], [], []
    for _ in range(repeats):
        out = root / "checked-out"
        shutil.rmtree(out, ignore_errors=True)
        builds.append(build(site.root, out))
        cache = root / "checked-cache"
        shutil.rmtree(cache, ignore_errors=True)
        command = [sys.executable, "-m", "sphinx_memreport.cli", "check", "--site", str(site.root)]
        checks.append(run([*command, "--cache", str(cache)]))
        reading = ("-E", "-b", "reading", "-D", "extensions=myst_parser,benchmarks.reading")
        reads.append(build(plain.root, root / "read-out", *reading))
        shutil.rmtree(out)
        timed = [sys.executable, "-m", "benchmarks.checking", str(site.root), str(out)]
        said = json.loads(subprocess.run(timed, stdout=subprocess.PIPE, check=True).stdout)
        shares.append(said["checking"] / (said["all"] - said["checking"]))
    return report.checking(builds, checks, reads, shares)


def _machine() -> str:
    today = datetime.date.today().isoformat()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"Measured on {today}: {os.cpu_count()} cores, {memory:.0f} GiB of memory."


if __name__ == "__main__":
    main()
