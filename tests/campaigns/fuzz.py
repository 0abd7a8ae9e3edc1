"""Every property of the parsers with as many texts as there is time for.

    python tests/campaigns/fuzz.py [--minutes 10] [--seed 1] [--only NAME]

The properties are those of ``tests/hostile/properties.py``, where what was found is kept as an
example. Round after round each is tried with new texts; the same seed gives the same texts in
the same order. Ends with status 1 and the smallest text that broke each property.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path

from hypothesis import HealthCheck, settings

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "hostile")]

from properties import PROPERTIES  # noqa: E402 - the tests' own helpers, not a package

#: Texts of a round; of a slow property fewer.
ROUND = 400


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="the name of one property")
    options = parser.parse_args()
    names = [name for name in PROPERTIES if options.only in (None, name)]
    tried = len(names)
    end = time.monotonic() + options.minutes * 60
    broken: dict[str, str] = {}
    rounds = 0
    while names and time.monotonic() < end:
        for name in [each for each in names if each not in broken]:
            if time.monotonic() >= end:
                break
            how = settings(
                max_examples=max(5, ROUND // PROPERTIES[name].cost),
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            try:
                PROPERTIES[name].run(how, options.seed * 1_000_003 + rounds)
            except Exception as error:
                notes = "\n".join(getattr(error, "__notes__", []))
                broken[name] = f"{traceback.format_exc(limit=-3)}{notes}"
                print(f"{name}, round {rounds}:\n{broken[name]}", flush=True)
        rounds += 1
        names = [name for name in names if name not in broken]
    print(f"{rounds} rounds of {tried} properties, {len(broken)} broken", flush=True)
    return bool(broken)


if __name__ == "__main__":
    sys.exit(main())
