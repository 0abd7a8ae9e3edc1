"""Single-character edits of the example report: each that changes meaning must be noticed.

    python tests/campaigns/mutations.py [--count 300] [--seed 1] [--pages 20]

Every edit is checked on one cache, as by ``memreport check``, and taken back. Of some, all pages
are built: on the cache, from nothing and with four processes, which must agree, and once more
after the edit was taken back, which must give the first pages. Ends with status 1 and the list
of edits that went unnoticed or were blamed wrongly.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from bs4 import BeautifulSoup  # noqa: E402
from edits import Edit, edits  # noqa: E402 - ours, not a package
from sitebuilder import Built, TinySite  # noqa: E402 - the tests' own helpers

EXAMPLE = HERE.parents[1] / "example_report"


def example(root: Path) -> TinySite:
    """The example report in a folder of its own, with its checkout."""
    site = TinySite(root)
    ignored = shutil.ignore_patterns("_build", "checkouts")
    shutil.copytree(EXAMPLE, site.source, dirs_exist_ok=True, ignore=ignored)
    subprocess.run(
        [sys.executable, "make_checkout.py"], cwd=site.source, check=True, stdout=subprocess.DEVNULL
    )
    return site


def sample(found: list[Edit], count: int, rng: random.Random) -> list[Edit]:
    """Edits of every kind, and of a kind of every operation, in turn."""
    groups: dict[str, dict[str, list[Edit]]] = defaultdict(lambda: defaultdict(list))
    for edit in rng.sample(found, len(found)):
        groups[edit.kind][edit.operation].append(edit)
    queues = [list(_in_turn(list(group.values()))) for group in groups.values()]
    return list(_in_turn(queues))[:count]


def _in_turn(queues: list[list[Edit]]) -> Iterator[Edit]:
    for turn in range(max(map(len, queues))):
        yield from (queue[turn] for queue in queues if turn < len(queue))


@contextmanager
def edited(edit: Edit) -> Iterator[None]:
    """Make an edit, and take it back."""
    original = edit.path.read_bytes()
    lines = original.decode().split("\n")
    lines[edit.line - 1] = edit.new
    edit.path.write_bytes("\n".join(lines).encode())
    try:
        yield
    finally:
        edit.path.write_bytes(original)


def check(site: TinySite) -> Built:
    """Read what changed and verify everything, as ``memreport check`` does."""
    return site.build(builder="memreport")


def objections(edit: Edit, built: Built) -> list[str]:
    """What is wrong with what a build says after an edit."""
    expected, rest = [], []
    document = f"jotter/{edit.path.stem}" if edit.path.suffix == ".md" else "memreport.toml"
    for code, name, line in built.problems:
        here = not edit.lines or (name == document and line in edit.lines)
        (expected if code in edit.codes and here else rest).append(f"{name}:{line} {code}")
    wrong = [each for each in rest if each.rpartition(" ")[2] not in edit.more]
    if edit.codes and not expected:
        wrong.append(f"no {' or '.join(sorted(edit.codes))}")
    if len(expected) > 1 and edit.lines:
        wrong.append(f"said {len(expected)} times")
    if built.status != (1 if edit.codes == frozenset() and edit.more else bool(edit.codes)) and (
        built.status != 2
    ):
        wrong.append(f"status {built.status}")
    return wrong


def pages(built: Built) -> Mapping[str, str]:
    """The body of every page, and the data; the frame of a page is Sphinx's own affair."""
    found = {}
    for path in sorted(built.out.rglob("*.html")):
        body = BeautifulSoup(path.read_bytes(), "html.parser").select_one("[role=main]")
        found[path.relative_to(built.out).as_posix()] = str(body)
    data = built.out / "memreport.json"
    found["memreport.json"] = data.read_text() if data.exists() else ""
    return found


def disagreements(site: TinySite, edit: Edit) -> list[str]:
    """Where builds on the cache, from nothing and in parallel differ, with an edit and after it."""
    first = site.build()
    before = pages(first)
    with edited(edit):
        cached = site.build()
        if cached.status == 2:
            return []  # refused: no pages
        found = pages(cached)
        others = {name: site.build(cache=name, parallel=jobs) for name, jobs in _OTHERS.items()}
    wrong = [
        f"{page}: on the cache and {name}"
        for name, built in others.items()
        for page, content in pages(built).items()
        if found.get(page) != content
    ]
    wrong += [
        f"problems {name}" for name, built in others.items() if built.details != cached.details
    ]
    for name in _OTHERS:
        shutil.rmtree(site.root / name)
    back = site.build()
    wrong += [
        f"{page}: after the edit"
        for page, content in pages(back).items()
        if before.get(page) != content
    ]
    if back.details != first.details:
        wrong.append("problems after the edit")
    return wrong


#: Other folders of a build, and its processes.
_OTHERS = {"from-nothing": 1, "in-parallel": 4}


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300, help="edits that are checked")
    parser.add_argument("--pages", type=int, default=20, help="of which all pages are built")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        site = example(Path(folder) / "site")
        found = list(edits(site.source, rng))
        chosen = sample(found, options.count, rng)
        built = check(site)
        assert (built.problems, built.status) == ([], 0), "the example itself must be clean"
        failures = 0
        for number, edit in enumerate(chosen):
            with edited(edit):
                wrong = objections(edit, check(site))
            if number % max(1, len(chosen) // max(1, options.pages)) == 0 and options.pages:
                wrong += disagreements(site, edit)
            if wrong:
                failures += 1
                print(f"{edit} gave {'; '.join(wrong)}", flush=True)
        print(f"{len(chosen)} of {len(found)} edits, {failures} went wrong")
        print(dict(Counter(edit.kind for edit in chosen)))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
