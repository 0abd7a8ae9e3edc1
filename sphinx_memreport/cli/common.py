"""What commands share: finding and loading ``memreport.toml``, and options of the same name.

Import from here: the modules behind it (exits, output, files) are split by what they do.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sphinx_memreport.cli.exits import Exit, Failure
from sphinx_memreport.cli.files import write_atomic, write_changes
from sphinx_memreport.cli.output import (
    Change,
    counted,
    diff,
    say,
    say_bytes,
    say_diff,
    say_json,
    visible,
)
from sphinx_memreport.config import CaptureSource, GitSource, Report, SiteConfig, load_config

__all__ = [
    "Change",
    "Exit",
    "Failure",
    "config_option",
    "counted",
    "diff",
    "find_config",
    "json_option",
    "load",
    "report_of",
    "report_option",
    "say",
    "say_bytes",
    "say_diff",
    "say_json",
    "source_of",
    "visible",
    "write_atomic",
    "write_changes",
]

#: The name of the file that commands look for.
CONFIG_NAME = "memreport.toml"
#: Where it may be below the folder in which a command runs.
_BELOW = (".", "docs", "doc", "docs/source")

_Function = TypeVar("_Function", bound=Callable[..., Any])


def config_option(function: _Function) -> _Function:
    """``-c``/``--config``: passes ``config_path``, a path or None; see :func:`load`."""
    return click.option(
        "-c",
        "--config",
        "config_path",
        type=click.Path(path_type=Path),
        help=f"The configuration; by default {CONFIG_NAME} here, in docs/, or in a folder above.",
    )(function)


def json_option(function: _Function) -> _Function:
    """``--json``: passes ``as_json``."""
    return click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")(
        function
    )


def report_option(function: _Function) -> _Function:
    """``-r``/``--report``: passes ``slug``, or None; see :func:`report_of`."""
    return click.option(
        "-r", "--report", "slug", metavar="SLUG", help="The report; not needed when there is one."
    )(function)


def find_config(start: Path | None = None) -> Path:
    """The nearest ``memreport.toml``: in a folder, in its docs, then in the folders above.

    :raises Failure: when there is none.
    """
    start = start or Path.cwd()
    folders = [start / name for name in _BELOW] + list(start.absolute().parents)
    for folder in folders:
        if (folder / CONFIG_NAME).is_file():
            return folder / CONFIG_NAME
    raise Failure(
        f"no {CONFIG_NAME} here, in docs/, or in a folder above\n"
        "    fix: name it with --config, or start a report with 'memreport new'"
    )


def load(config_path: Path | None) -> SiteConfig:
    """The configuration that a command is about.

    :param config_path: what ``--config`` named: the file, or the folder that holds it.
    :raises Failure: when none is named and none is found.
    :raises InvalidConfig: which ends the command with status 2 and the lines of the build.
    """
    if config_path is None:
        return load_config(_shortest(find_config()))
    if config_path.is_dir():
        config_path = config_path / CONFIG_NAME
    return load_config(config_path)


def report_of(config: SiteConfig, slug: str | None) -> Report:
    """The report of that name, or the only one.

    :raises Failure: when there is no such report, or several and none is named.
    """
    names = ", ".join(config.reports) or "none"
    if slug is not None:
        if slug not in config.reports:
            raise Failure(f"no report {slug!r} in {config.path}; it has: {names}")
        return config.reports[slug]
    if len(config.reports) != 1:
        raise Failure(f"name the report with --report; {config.path} has: {names}")
    return next(iter(config.reports.values()))


def source_of(report: Report, source_id: str | None) -> tuple[str, GitSource | CaptureSource]:
    """The ID and the source of that ID, or of the only source.

    :raises Failure: when there is no such source, or several and none is named.
    """
    names = ", ".join(report.sources) or "none"
    if source_id:
        if source_id not in report.sources:
            raise Failure(f"report {report.slug!r} has no source {source_id}; it has: {names}")
        return source_id, report.sources[source_id]
    if len(report.sources) != 1:
        raise Failure(f"name the source first; report {report.slug!r} has: {names}")
    return next(iter(report.sources.items()))


def _shortest(path: Path) -> Path:
    """A path as a person would write it here."""
    try:
        return path.absolute().relative_to(Path.cwd())
    except ValueError:
        return path
