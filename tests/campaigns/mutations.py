"""Single-character edits of the example report: each that changes meaning must be noticed.

    python tests/campaigns/mutations.py [--count 300] [--seed 1]

Every edit is built incrementally on one cache. An edit of an ID, a path, a quote, a status or
a pin must fail with one of the codes that fit, at the edited line's directive or on the line
itself; an edit of white space in a quote must change nothing. Ends with status 1 and the list
of edits that went unnoticed or were blamed wrongly.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from sitebuilder import TinySite  # noqa: E402 - the tests' own helpers, not a package

from sphinx_memreport.core.vocabulary import STATUSES  # noqa: E402

EXAMPLE = HERE.parents[1] / "example_report"
_FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})\{evidence\} (?P<argument>.*)$")
_RECORD = re.compile(r"^:{3,}\{mem\w+\} (?P<id>(?:RT|MEM|EPI)-\S+)")
_ID = re.compile(r"(?<![\w/-])(?:RT|MEM|EPI)-[A-Z]{3}-[a-z0-9]+(?:-[a-z0-9]+)*")
_STATUS = re.compile(rf"^:(?:implementation|operation): (?P<value>{'|'.join(STATUSES)})$")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Mutation(NamedTuple):
    """One edit: file, line (from 1), the new line, and the codes of which one must appear."""

    kind: str
    path: Path
    line: int
    text: str
    expected: frozenset[str]


QUOTE = frozenset({"stale-quote", "ambiguous-quote", "swallowed-text", "unclosed-fence"})
REFERENCE = frozenset({"dangling-id", "malformed-id"})
DECLARATION = REFERENCE | {"colliding-id", "duplicate-id", "foreign-prefix", "swallowed-text"}
PATH = frozenset({"path-missing", "unknown-source", "malformed-id", "invalid-value"})
PIN = frozenset({"invalid-config", "commit-missing", "capture-mismatch"})


def edited(text: str, position: int, rng: random.Random) -> str:
    """``text`` with another character at a position."""
    old = text[position]
    return text[:position] + rng.choice([c for c in _LETTERS if c != old]) + text[position + 1 :]


def mutations(path: Path, rng: random.Random) -> Iterator[Mutation]:
    """Every place of a document that may be edited, one edit each."""
    fence = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), start=1):
        if fence:
            if line.strip() == fence:
                fence = ""
            elif not line.startswith(":") and len(line.split()) > 2:
                visible = [i for i, c in enumerate(line) if not c.isspace()]
                yield Mutation("quote", path, number, edited(line, rng.choice(visible), rng), QUOTE)
                spaced = re.sub(r"(\S)( +)(\S)", r"\1\2 \t\3", line, count=1)
                yield Mutation("white space", path, number, spaced, frozenset())
            continue
        opening = _FENCE.match(line)
        if opening:
            fence = opening["fence"]
            where = range(opening.start("argument"), opening.end("argument"))
            place = rng.choice([i for i in where if not line[i].isspace()])
            yield Mutation("path", path, number, edited(line, place, rng), PATH)
        elif match := _STATUS.match(line):
            place = rng.randrange(match.start("value"), match.end("value"))
            wrong = edited(line, place, rng)
            yield Mutation("status", path, number, wrong, frozenset({"invalid-value"}))
        else:
            declared = _RECORD.match(line)
            for match in _ID.finditer(line):
                place = rng.choice([i for i in range(*match.span()) if line[i] != "-"])
                is_declaration = declared is not None and match.start() == declared.start("id")
                kind = "declaration" if is_declaration else "reference"
                codes = DECLARATION if is_declaration else REFERENCE
                yield Mutation(kind, path, number, edited(line, place, rng), codes)


def pins(toml: Path, rng: random.Random) -> Iterator[Mutation]:
    """Edits of commits and hashes."""
    for number, line in enumerate(toml.read_text(encoding="utf-8").split("\n"), start=1):
        match = re.match(r'(?:commit|sha256) = "(?P<hash>[0-9a-f]+)"', line)
        if match:
            place = rng.randrange(match.start("hash"), match.end("hash"))
            yield Mutation("pin", toml, number, edited(line, place, rng), PIN)


def with_edit(mutation: Mutation, build: Callable[[], Counter[str]]) -> Counter[str]:
    """Build with one edit made, and take it back."""
    original = mutation.path.read_bytes()
    lines = original.decode().split("\n")
    lines[mutation.line - 1] = mutation.text
    mutation.path.write_bytes("\n".join(lines).encode())
    try:
        return build()
    finally:
        mutation.path.write_bytes(original)


def is_wrong(mutation: Mutation, codes: Counter[str]) -> bool:
    """Whether an edit went unnoticed, or one that means nothing did not."""
    if not mutation.expected:
        return bool(codes)
    return not mutation.expected & set(codes)


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        site = TinySite(Path(folder) / "site")
        shutil.copytree(EXAMPLE, site.source, dirs_exist_ok=True)
        subprocess.run([sys.executable, "make_checkout.py"], cwd=site.source, check=True)

        def build() -> Counter[str]:
            return Counter(code for code, _, _ in site.build(builder="dummy").problems)

        assert not build(), "the example itself must be clean"
        found = [m for p in sorted(site.source.glob("jotter/*.md")) for m in mutations(p, rng)]
        chosen = rng.sample(found, min(options.count, len(found)))
        chosen += pins(site.source / "memreport.toml", rng)
        failures = []
        for mutation in chosen:
            codes = with_edit(mutation, build)
            if is_wrong(mutation, codes):
                failures.append((mutation, codes))
                place = f"{mutation.path.name}:{mutation.line}"
                print(f"{mutation.kind} {place}: {mutation.text!r} gave {dict(codes)}", flush=True)
        print(f"{len(chosen) - len(failures)} passed, {len(failures)} failed", flush=True)
        print(Counter(mutation.kind for mutation in chosen))
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main())
