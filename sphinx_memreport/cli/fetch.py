"""``memreport fetch``: brings what is pinned to this machine."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import click

from sphinx_memreport.cli.common import Exit, config_option, load, report_of, report_option, say
from sphinx_memreport.cli.sources import SourceState, State, states
from sphinx_memreport.config import GitSource
from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.gitfetch import Listener, fetch_commit


@click.command()
@config_option
@report_option
@click.option("-q", "--quiet", is_flag=True, help="Say only what went wrong.")
@click.pass_context
def fetch(ctx: click.Context, config_path: Path | None, slug: str | None, *, quiet: bool) -> None:
    """Bring every pinned commit to its checkout path.

    Only what is missing is fetched: each pinned commit with all its files, without history, by
    your own git with your credentials. A checkout that does not exist becomes a bare
    repository, which is enough: no files are checked out. One that exists gets objects and
    keeps its branches, settings and files. To read the files of a pin, ask git for a work tree:

    \b
      git -C CHECKOUT worktree add ../reading COMMIT

    Captures are files of yours; what is missing of them is said. A second run does nothing, and
    an interrupted one leaves nothing half done. The exit status is 3 when something is missing.
    """
    config = load(config_path)
    if slug is not None:
        report_of(config, slug)
    complete = True
    done: set[tuple[Path, str]] = set()
    for each in states(config, slug):
        place = (each.place, each.pin)
        if each.state is State.PRESENT or place in done:
            if not quiet:
                say(f"{each.report} {each.id}  {each.pin[:12]}  {each.place}  is here")
        elif each.can_be_fetched and _fetch(each, quiet=quiet):
            done.add(place)
        else:
            complete = False
            if not each.can_be_fetched:
                say(f"{each.report} {each.id}: {each.message}\n    fix: {each.fix}", err=True)
    if not complete:
        ctx.exit(Exit.UNREACHABLE)


def _fetch(each: SourceState, *, quiet: bool) -> bool:
    assert isinstance(each.source, GitSource)
    source = each.source
    if not quiet:
        say(f"{each.report} {each.id}  {each.pin[:12]}  {each.place}  from {source.repository}")
    try:
        with _folders_taken_back(each.place):
            fetch_commit(each.place, source.repository, source.commit, _listener(quiet=quiet))
    except SourceUnavailable as error:
        message = f"{error.message} [memreport.{error.code}]\n    fix: {error.fix}"
        say(f"{each.report} {each.id}: {message}", err=True)
        return False
    return True


@contextmanager
def _folders_taken_back(place: Path) -> Iterator[None]:
    """Remove the folders above a checkout that were made for it, unless it came to be."""
    missing = [folder for folder in place.absolute().parents if not folder.exists()]
    try:
        yield
    except BaseException:
        with suppress(OSError):  # something else is in it by now
            for folder in missing:
                folder.rmdir()
        raise


def _listener(*, quiet: bool) -> Listener:
    """Sentences go to standard error, and what git shows too where somebody watches."""
    if quiet:
        return Listener()
    watched = sys.stderr.isatty()
    progress = partial(click.echo, nl=False, err=True) if watched else None
    return Listener(partial(say, err=True), progress)
