"""Run Jotter as it was at the first commit and print what happens: the source of session.txt.

python captures/record_session.py > captures/session.txt
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from make_checkout import COMMITS, tree  # noqa: E402

LONG = (
    "Long story about the port: it was 5432, then it clashed with the test database, "
    "then we asked around, and since the move in May it has been another one."
)


class Session:
    """One store in a temporary directory, and the lines of the transcript."""

    def __init__(self, directory: Path) -> None:
        self.home = directory / "home"
        self.home.mkdir()
        self.code = directory / "jotter"
        for path, content in tree(1).items():
            target = self.code / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)

    def say(self, text: str) -> None:
        """Print a heading."""
        print(f"\n# {text}")

    def jotter(self, *arguments: str) -> None:
        """Run a command and print it with its output."""
        print(f"$ jotter {shlex.join(arguments)}")
        done = subprocess.run(
            [sys.executable, "-m", "jotter", "--home", str(self.home), *arguments],
            env=os.environ | {"PYTHONPATH": str(self.code / "src"), "PYTHONUTF8": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        print(done.stdout, end="")
        if done.returncode:
            print(f"(exit status {done.returncode})")

    def write(self, name: str, text: str) -> None:
        """Write a file of the store by hand, and show it."""
        (self.home / name).write_text(text, encoding="utf-8")
        self.show(name)

    def edit(self, name: str, old: str, new: str) -> None:
        """Edit a file of the store by hand, and show it."""
        content = (self.home / name).read_text(encoding="utf-8")
        print(f"(by hand, in {name}: {old!r} becomes {new!r})")
        self.write(name, content.replace(old, new))

    def show(self, name: str) -> None:
        """Print a file of the store."""
        print(f"$ cat {name}")
        print((self.home / name).read_text(encoding="utf-8"), end="")


def record(session: Session) -> None:
    """The session, scene by scene."""
    print(f"Jotter at commit {COMMITS[0].hash}, an empty store.")

    session.say("Two notes about a port, and a budget that has room for one of them")
    session.write("settings.toml", "budget = 120\n")
    session.jotter("--today", "2026-06-01", "add", "The staging database listens on port 5433.")
    session.jotter("--today", "2026-06-01", "add", LONG)
    session.jotter("prompt", "Tell me the story about the port.")
    session.jotter("list")
    session.jotter("prompt", "How long is the story?")

    session.say("A key that a person adds to the front matter")
    note = "notes/the-staging-database-listens-on.md"
    session.edit(note, "uses: 1\n", "uses: 1\ntags: infrastructure\n")
    session.jotter("prompt", "Which port does the staging database use?")
    session.show(note)

    session.say("A correction by hand that keeps the length of the text")
    session.edit(note, "5433", "5544")
    session.jotter("prompt", "What is 5544?")
    session.jotter("prompt", "What is 5433?")

    session.say("Two notes that contradict each other")
    session.jotter("--today", "2026-06-02", "add", "Deploying on Fridays is allowed.")
    session.jotter("--today", "2026-06-03", "add", "Deploying on Fridays is not allowed.")
    session.jotter("--today", "2026-06-04", "consolidate")
    session.show("notes/deploying-on-fridays-is-not-2.md")
    session.show("tombstones.jsonl")

    session.say("One more note that says the same, shorter than the merged one")
    session.jotter("--today", "2026-06-04", "add", "On Fridays deploying is not allowed")
    session.jotter("--today", "2026-06-04", "consolidate")
    session.jotter("list")

    session.say("A note in Greek")
    session.jotter("--today", "2026-06-05", "add", "Η συνάντηση είναι την Τρίτη.")
    session.jotter("prompt", "Πότε είναι η συνάντηση;")

    session.say("Three months later")
    session.jotter("list")
    session.jotter("--today", "2026-09-04", "forget")
    session.jotter("list")

    session.say("The same text again, and the same text with another full stop")
    session.jotter("--today", "2026-09-04", "add", "Deploying on Fridays is allowed.")
    session.jotter("--today", "2026-09-04", "add", "Deploying on Fridays is allowed!")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        record(Session(Path(directory)))
