"""``memreport lock``: record what is verified, for builds where the checkouts are not."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection
from pathlib import Path

import click

from sphinx_memreport.cli.checking import (
    Checked,
    check_site,
    find_site,
    problem_line,
    shown,
    site_options,
)
from sphinx_memreport.cli.common import Exit, Failure, counted, say, write_atomic
from sphinx_memreport.config import InvalidConfig
from sphinx_memreport.core.export import Export
from sphinx_memreport.core.lock import LOCK_NAME, Entry, Lock, describe
from sphinx_memreport.core.lock_record import differences, in_the_way, record
from sphinx_memreport.core.models import Status
from sphinx_memreport.lockfile import load_lock, lock_path
from sphinx_memreport.verify import rules_of

#: Differences that are listed.
_SHOWN = 20


@click.command(
    epilog="Exit status: 0 when the lock is written or up to date, 1 when it is not up to date or "
    "something is not verified, 2 when the configuration is refused or Sphinx fails."
)
@click.option("--check", "only_check", is_flag=True, help="Write nothing; compare.")
@click.option(
    "--date",
    metavar="YYYY-MM-DD",
    type=click.DateTime(["%Y-%m-%d"]),
    help="The date of the lock; by default today, in UTC.",
)
@site_options
@click.pass_context
def lock(
    context: click.Context,
    only_check: bool,
    date: datetime.datetime | None,
    site: Path | None,
    cache: Path | None,
    jobs: int,
) -> None:
    """Record the verified quotes, the paths and the searches in memreport.lock.

    The lock lies beside memreport.toml. With memreport_offline = "lock" in conf.py, a site builds
    where a checkout is not there, as on a docs host: what the lock records is shown as verified
    at its date, all else is an error. It is written only when every source is here and nothing
    in them is amiss. When nothing changed, it keeps its date, unless --date names one.

    \b
      memreport lock            write it; commit it with the report
      memreport lock --check    for CI: is it up to date?
    """
    if only_check and date is not None:
        raise click.UsageError("--check does not compare dates; leave out --date")
    # what a lock vouches for is looked up anew, whatever conf.py says
    checked = check_site(find_site(site), cache, jobs, {"memreport_offline": ""})
    if checked.config is None:
        raise Failure("the configuration is refused\n    fix: 'memreport check' says what is wrong")
    amiss = _is_amiss(checked, only_check=only_check)
    if amiss and not only_check:
        context.exit(Exit.PROBLEMS)
    path = lock_path(checked.config)
    old = _old_lock(path)
    today = date or datetime.datetime.now(datetime.UTC)
    export = Export.model_validate_json(checked.export)
    new = record(export, rules_of(checked.config), today.date())
    _say_unverified(export)
    changed = differences(old, new)
    current = old is not None and not changed
    if only_check and (amiss or not current):
        if not current:
            _say_differences(path, changed, new, amiss=amiss)
        context.exit(Exit.PROBLEMS)
    elif old is not None and current and date is None:
        say(f"{shown(path)} is up to date: {_summary(old)}")
    else:
        write_atomic(path, new.to_bytes(), checked.config.root)
        say(f"{shown(path)} written: {_summary(new)}")


def _is_amiss(checked: Checked, *, only_check: bool) -> bool:
    """Say the problems for which no lock is written."""
    problems = in_the_way(checked.problems)
    for problem in problems:
        say(problem_line(checked, problem), err=True)
    if problems:
        what = "cannot be right" if only_check else "was not written"
        say(f"memreport: {LOCK_NAME} {what}: {counted(len(problems), 'problem')} above", err=True)
    return bool(problems)


def _old_lock(path: Path) -> Lock | None:
    """The lock that is there, None when there is none that can be used.

    :raises Failure: when something else is there.
    """
    if path.exists() and not path.is_file():
        raise Failure(f"{shown(path)} is not a regular file\n    fix: move it away")
    try:
        return load_lock(path)
    except InvalidConfig as error:
        say(error.report(), err=True)
        return None


def _say_unverified(export: Export) -> None:
    """Say what is left out although nothing is an error: somebody softened the problem."""
    count = sum(entry.status is not Status.VERIFIED for entry in export.evidence)
    if count:
        quotes = "1 quote is" if count == 1 else f"{count} quotes are"
        say(f"memreport: {quotes} not verified, and so not recorded", err=True)


def _say_differences(path: Path, changed: Collection[Entry], new: Lock, *, amiss: bool) -> None:
    say(f"{shown(path)} is not up to date")
    now = set(new.entries)
    for entry in list(changed)[:_SHOWN]:
        say(f"  {'not recorded' if entry in now else 'no longer so'}: {describe(entry)}")
    if len(changed) > _SHOWN:
        say(f"  and {len(changed) - _SHOWN} more")
    say(f"    fix: {'mend the problems, then: ' if amiss else ''}memreport lock")


def _summary(lock: Lock) -> str:
    counts = Counter(
        {
            "quote": len(lock.quotes),
            "path": len(lock.paths),
            "search": len(lock.searches),
        }
    )
    parts = [f"{number} {_plural(word, number)}" for word, number in counts.items()]
    sources = f"{len(lock.sources)} {_plural('source', len(lock.sources))}"
    return f"{', '.join(parts)} of {sources}, locked on {lock.date}"


def _plural(word: str, number: int) -> str:
    if number == 1:
        return word
    return f"{word}es" if word.endswith("ch") else f"{word}s"
