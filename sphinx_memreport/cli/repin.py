"""``memreport repin``: move a pin, and say what that does to the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from sphinx_memreport.cli.checking import Checked, check_site, find_site, site_options
from sphinx_memreport.cli.common import (
    Exit,
    Failure,
    diff,
    json_option,
    say,
    say_diff,
    say_json,
    write_changes,
)
from sphinx_memreport.cli.moving import Item, Move
from sphinx_memreport.core.repin import Change


@click.command(
    epilog="Exit status: 0 when nothing is left to do, 1 when something is edited or gone, 2 when "
    "the configuration is refused or Sphinx fails, 3 when a commit is not in the checkout."
)
@click.argument("slug", metavar="REPORT")
@click.argument("source_id", metavar="SRC-N")
@click.argument("commit", metavar="COMMIT")
@click.option("--write", is_flag=True, help="Apply the diff instead of printing it.")
@json_option
@site_options
@click.pass_context
def repin(
    context: click.Context,
    slug: str,
    source_id: str,
    commit: str,
    write: bool,
    as_json: bool,
    site: Path | None,
    cache: Path | None,
    jobs: int,
) -> None:
    """Move the pin of a source to another commit of its checkout.

    Every quote, path and search of the report is looked up at both commits: it is unchanged,
    moved (to other lines), renamed (its file was), edited or gone. What is safe is a diff: the
    pin, ranges of lines, renamed paths. What is edited or gone is left to you, with the records
    that rest on it; after --write, 'memreport check' reports the same, but for edited lines
    that a path without a quote points at.

    COMMIT is a hash, a tag or a branch of the checkout. This brings new ones to any checkout, that
    of 'memreport fetch' included; URL is 'repository' of memreport.toml:

    \b
      git -C CHECKOUT fetch --tags URL '+refs/heads/*:refs/remotes/origin/*'

    \b
      memreport repin jotter SRC-1 v1.4.0            what would happen
      memreport repin jotter SRC-1 v1.4.0 --write    do what is safe
    """
    checked = check_site(find_site(site), cache, jobs)
    if checked.config is None:
        raise Failure("the configuration is refused\n    fix: 'memreport check' says what is wrong")
    move = Move(checked, slug, source_id, commit)
    if write:
        write_changes(move.changes, checked.site)
    if as_json:
        say_json(_data(move, checked, written=write))
    else:
        for line in _lines(move, checked):
            say(line)
        if write:
            say("written: " + ", ".join(_shown(change.path) for change in move.changes))
        else:
            say_diff(*move.changes)
    context.exit(Exit.OK if move.is_settled else Exit.PROBLEMS)


# --- as text ------------------------------------------------------------------------------


def _lines(move: Move, checked: Checked) -> Iterator[str]:
    named = "" if move.name == move.commit else f" ({move.name})"
    yield f"{move.report.slug} {move.source_id}: {move.source.commit} -> {move.commit}{named}"
    counts = Counter(item.fate.change for item in move.items)
    yield ", ".join(f"{counts[change]} {change}" for change in Change)
    for change in Change:
        items = [item for item in move.items if item.fate.change is change]
        if change is Change.UNCHANGED:
            items = [item for item in items if item.fate.note]
        if items:
            yield f"\n{change}:"
        for item in items:
            yield from _item_lines(item, checked)
    yield from _resting_lines(move)
    if mentions := move.mentions():
        yield "\nthe text names the old commit, which a check warns of:"
        yield from (f"  {_place(checked, *mention)}" for mention in mentions)
    yield ""


def _item_lines(item: Item, checked: Checked) -> Iterator[str]:
    fate = item.fate
    what = "searched in " if item.kind == "search" else ""
    before = f":{fate.before}" if fate.before else ""
    after = f":{fate.lines}" if fate.lines else ""
    now = f" -> {fate.path}{after}" if (fate.path, after) != (item.path, before) and after else ""
    if not after and fate.path != item.path:
        now = f" -> {fate.path}"
    yield f"  {_place(checked, item.docname, item.line)}: {what}{item.path}{before}{now}"
    if fate.finding:
        yield f"      {fate.finding.message}"
        yield from (f"      {detail}" for detail in fate.finding.details)
    if fate.note:
        yield f"      {fate.note}"
    if item.removed:
        yield f"      {item.removed}"
    if item.left:
        yield f"      not edited: {item.left}"


def _resting_lines(move: Move) -> Iterator[str]:
    resting = move.resting()
    if resting:
        yield "\nrecords that rest on what is edited or gone:"
    for record, citing in resting.items():
        yield f"  {record}" + (f", cited by {', '.join(citing)}" if citing else "")


def _place(checked: Checked, docname: str, line: int) -> str:
    return f"{_shown(checked.documents[docname])}:{line}"


def _shown(path: Path) -> str:
    absolute, here = path.resolve(), Path.cwd().resolve()
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)


# --- as data ------------------------------------------------------------------------------


def _data(move: Move, checked: Checked, *, written: bool) -> dict[str, Any]:
    return {
        "report": move.report.slug,
        "source": move.source_id,
        "old": move.source.commit,
        "new": move.commit,
        "items": [
            item.model_dump(mode="json")
            | {"file": _shown(checked.documents[item.docname]), "needs_edit": item.needs_edit}
            for item in move.items
        ],
        "resting": {record: list(citing) for record, citing in move.resting().items()},
        "mentions": [mention._asdict() for mention in move.mentions()],
        "diff": b"".join(map(diff, move.changes)).decode("utf-8", "surrogateescape"),
        "written": written,
    }
