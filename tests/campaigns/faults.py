"""Builds that are killed, or meet a full disk, at every step: the next must be like a clean one.

    python tests/campaigns/faults.py [--signal SIGKILL] [--jobs 1] [--every 1]

Goes to and fro between two states of a small site, and strikes each build at another step. Ends
with status 1 and what differed. The test suite runs a few of these steps.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "faults")]

from faulty import disk_full, kill  # noqa: E402 - the tests' own helpers, not a package
from two_states import TwoStates, struck_builds  # noqa: E402


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--signal", default="SIGKILL", help="or SIGINT, SIGTERM, ENOSPC")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000, help="steps in each direction")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    fault = disk_full if options.signal == "ENOSPC" else kill(signal.Signals[options.signal])
    with tempfile.TemporaryDirectory() as folder:
        states = TwoStates(Path(folder))
        struck, wrong = struck_builds(states, fault, options.count, options.jobs, options.seed)
    for step, found in wrong.items():
        print(f"{step}: {found}")
    print(f"{struck} steps, {len(wrong)} went wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
