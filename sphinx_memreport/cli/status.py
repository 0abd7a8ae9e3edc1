"""``memreport status``: the pins, what is on this machine, and what mends the rest."""

from __future__ import annotations

from pathlib import Path

import click

from sphinx_memreport.cli.common import (
    Exit,
    config_option,
    json_option,
    load,
    report_of,
    report_option,
    say,
    say_json,
)
from sphinx_memreport.cli.sources import SourceState, State, states
from sphinx_memreport.config import GitSource


@click.command()
@config_option
@report_option
@json_option
@click.pass_context
def status(
    ctx: click.Context, config_path: Path | None, slug: str | None, *, as_json: bool
) -> None:
    """Show every pin, what is on this machine, and what mends the rest.

    Nothing is fetched or changed. The exit status is 3 when something is missing.
    """
    config = load(config_path)
    if slug is not None:
        report_of(config, slug)
    found = list(states(config, slug))
    if as_json:
        say_json({"sources": [_data(each) for each in found]})
    elif not found:
        say(f"{config.path} names no source")
    for each in [] if as_json else found:
        _say(each)
    if any(each.state is not State.PRESENT for each in found):
        ctx.exit(Exit.UNREACHABLE)


def _say(each: SourceState) -> None:
    say(f"{each.report} {each.id}  {each.pin[:12]}  {each.place}  {each.state}")
    if each.state is not State.PRESENT:
        say(f"    {each.message}")
        say(f"    fix: {each.fix}")


def _data(each: SourceState) -> dict[str, object]:
    is_git = isinstance(each.source, GitSource)
    return {
        "report": each.report,
        "source": each.id,
        "kind": each.source.kind,
        "identity": each.source.repository
        if isinstance(each.source, GitSource)
        else each.source.identity,
        "commit" if is_git else "sha256": each.pin,
        "checkout" if is_git else "file": str(each.place),
        "state": str(each.state),
        "message": each.message or None,
        "fix": each.fix or None,
    }
