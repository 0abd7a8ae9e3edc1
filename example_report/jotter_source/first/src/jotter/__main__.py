"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from .consolidate import consolidate, longest
from .forget import forget
from .notes import NoteStore, RefusedError
from .prompt import build
from .recall import recall
from .settings import Settings


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is 1 when a note is refused."""
    options = _parser().parse_args(arguments)
    store = NoteStore(options.home)
    settings = Settings.load(options.home)
    if options.command == "add":
        try:
            print(store.add(options.text, options.today).id)
        except RefusedError:
            print("refused: a note with this text was forgotten or merged", file=sys.stderr)
            return 1
    elif options.command == "prompt":
        print(build(store.home, options.text, recall(store, options.text, settings)))
    elif options.command == "list":
        for note in store.notes():
            print(f"{note.id}: {note.uses} uses, {note.source}")
    elif options.command == "consolidate":
        for summary in consolidate(store, longest, options.today):
            print(f"{summary.id} replaces {', '.join(summary.merged)}")
    else:
        for note in forget(store, settings, options.today):
            print(f"{note.id} forgotten")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="jotter", description=__doc__)
    parser.add_argument("--home", type=Path, default=Path.home() / ".jotter")
    parser.add_argument("--today", type=date.fromisoformat, default=date.today())
    commands = parser.add_subparsers(dest="command", required=True)
    for name, purpose in (("add", "write a note"), ("prompt", "print the prompt for a question")):
        commands.add_parser(name, help=purpose).add_argument("text")
    commands.add_parser("list", help="list the notes and their use counts")
    commands.add_parser("consolidate", help="merge near-duplicates, keeping the longest text")
    commands.add_parser("forget", help="bury old notes that were seldom used")
    return parser


if __name__ == "__main__":
    sys.exit(main())
