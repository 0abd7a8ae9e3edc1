"""Runs Sphinx in this process to learn what a build would say, without writing pages.

The verdicts are the build's own: Sphinx reads the site with the extension, whose builder
``memreport`` stops before the pages, and what it found comes back as the files that the extension
writes for everybody (``memreport_report``, ``memreport.json``).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from sphinx_memreport.cli.common import CONFIG_NAME, Failure, say
from sphinx_memreport.config import GitSource, InvalidConfig, SiteConfig, load_config
from sphinx_memreport.core.exclusive import exclusive
from sphinx_memreport.core.export import EXPORT_NAME
from sphinx_memreport.core.problem_files import ProblemEntry

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError

#: Where the documents that were read are kept between checks, below the folder of ``conf.py``.
CACHE = Path("_build", "memreport-check")
#: Where ``conf.py`` may be below a folder.
_BELOW = (".", "docs", "doc", "docs/source")
_BUILDER = "memreport"
_LOCK = "memreport-check.lock"
_MOST_JOBS = 1000

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Checked(NamedTuple):
    """What a check found out.

    :param problems: those of the whole site, sorted, as the build says them.
    :param config: the configuration; None when it was refused, which is then in ``problems``.
    :param documents: the file of each document, by its name.
    :param included: which documents each further file is a part of.
    :param exclude: patterns of files below the site that are no documents.
    :param export: the content of ``memreport.json``; empty when the configuration was refused.
    """

    site: Path
    problems: list[ProblemEntry]
    config: SiteConfig | None = None
    documents: Mapping[str, Path] = {}
    included: Mapping[Path, frozenset[str]] = {}
    exclude: tuple[str, ...] = ()
    export: bytes = b""


def site_options(function: _Function) -> _Function:
    """Options of commands that run Sphinx: ``site``, ``cache`` and ``jobs``."""
    for option in (
        click.option(
            "-j",
            "--jobs",
            metavar="N",
            default="1",
            callback=_jobs,
            help="Read with N processes; 'auto' for one on each core.",
        ),
        click.option(
            "--cache",
            type=click.Path(path_type=Path, file_okay=False),
            help=f"Where to keep what was read; by default {CACHE.as_posix()} beside conf.py.",
        ),
        click.option(
            "-s",
            "--site",
            type=click.Path(path_type=Path, file_okay=False, exists=True),
            help=f"The folder of conf.py; by default this one or the nearest with {CONFIG_NAME}.",
        ),
    ):
        function = option(function)
    return function


def _jobs(_context: click.Context, _option: click.Parameter, text: str) -> int:
    """Read a number of processes."""
    if text == "auto":
        return os.cpu_count() or 1
    if not re.fullmatch("[0-9]{1,9}", text) or not 0 < int(text) <= _MOST_JOBS:
        raise click.BadParameter(f"expected a number of processes or 'auto', found {text!r}")
    return int(text)


def find_site(site: Path | None, near: Path | None = None) -> Path:
    """The folder of ``conf.py``.

    Running Sphinx executes ``conf.py``, so folders above the repository are not looked into.

    :param site: the folder, when the user named it.
    :param near: a further place to start from, as a document that the user named.
    :raises Failure: when there is no site.
    """
    if site is not None:
        if not (site / "conf.py").is_file():
            raise Failure(f"no conf.py in {site}\n    fix: name the folder that holds it")
        return site
    for start in filter(None, (Path.cwd(), near)):
        for folder in _candidates(start.absolute()):
            if (folder / "conf.py").is_file() and (folder / CONFIG_NAME).is_file():
                return _shortest(folder)
    for name in _BELOW:
        if Path(name, "conf.py").is_file():
            return Path(name)
    raise Failure(
        f"no conf.py with {CONFIG_NAME} beside it here, in docs/, or in a folder above\n"
        "    fix: name the folder of conf.py with --site"
    )


def _candidates(start: Path) -> Iterator[Path]:
    yield from (start / name for name in _BELOW)
    for folder in (start, *start.parents):
        yield folder
        if (folder / ".git").exists():
            return


def _shortest(path: Path) -> Path:
    with contextlib.suppress(ValueError):
        return path.relative_to(Path.cwd())
    return path


def check_site(
    site: Path,
    cache: Path | None = None,
    jobs: int = 1,
    settings: Mapping[str, object] | None = None,
) -> Checked:
    """Read what changed since the last check and verify everything.

    :param site: the folder of ``conf.py``, which is also that of the documents.
    :param cache: where Sphinx keeps what it read.
    :param settings: override those of ``conf.py``.
    :raises Failure: when Sphinx fails, with status 2.
    """
    cache = _prepared(cache or site / CACHE)
    # what another check writes to these files must not be taken for ours
    with exclusive(cache / _LOCK, lambda holder: say(f"waiting for {holder}", err=True)):
        return _check_with(cache, site, jobs, settings or {})


def _check_with(cache: Path, site: Path, jobs: int, settings: Mapping[str, object]) -> Checked:
    out = cache / "out"
    listed, exported = out / "problems.json", out / EXPORT_NAME
    for file in (listed, exported):  # never take what an earlier check found for ours
        file.unlink(missing_ok=True)
    try:
        overrides = {**settings, "memreport_report": {"json": listed.name}}
        app = _run_sphinx(site, out, cache / "doctrees", jobs, overrides)
    except _Refused as refused:
        return Checked(site, refused.problems)
    if not (listed.exists() and exported.exists()):
        raise Failure(f"what was found out could not be written to {out}")
    config_path = Path(app.confdir) / app.config.memreport_config
    return Checked(
        site,
        [ProblemEntry.model_validate(entry) for entry in json.loads(listed.read_bytes())],
        load_config(config_path) if config_path.exists() else SiteConfig(path=config_path),
        _documents(app),
        _included(app),
        (*app.config.exclude_patterns, *app.config.templates_path),
        exported.read_bytes(),
    )


def _prepared(cache: Path) -> Path:
    """The cache folder, made so that git leaves it alone."""
    cache.mkdir(parents=True, exist_ok=True)
    ignore = cache / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    return cache


def _documents(app: Sphinx) -> dict[str, Path]:
    return {name: Path(app.env.doc2path(name)) for name in app.env.found_docs}


def _included(app: Sphinx) -> dict[Path, frozenset[str]]:
    found: dict[Path, set[str]] = {}
    for docname, names in app.env.dependencies.items():
        for name in names:
            found.setdefault(Path(app.srcdir, name).resolve(), set()).add(docname)
    return {path: frozenset(names) for path, names in found.items()}


# --- Sphinx -------------------------------------------------------------------------------


class _Refused(Exception):
    """The extension refused the configuration."""

    def __init__(self, problems: list[ProblemEntry]) -> None:
        self.problems = problems


def _run_sphinx(
    site: Path, out: Path, doctrees: Path, jobs: int, settings: dict[str, object]
) -> Sphinx:
    from sphinx.application import Sphinx
    from sphinx.errors import SphinxError
    from sphinx.util.docutils import docutils_namespace, patch_docutils

    # conf.py may print, and what goes to our standard output may be read by a program
    quiet = contextlib.redirect_stdout(sys.stderr)
    try:
        with quiet, patch_docutils(site), docutils_namespace():
            app = Sphinx(
                site,
                site,
                out,
                doctrees,
                _BUILDER,
                settings,
                status=None,
                warning=StringIO(),
                parallel=jobs,
            )
            app.build()
            return app
    except SystemExit as stop:
        refused = stop.__cause__
        if isinstance(refused, InvalidConfig):
            raise _Refused(_entries(refused, site)) from None
        if isinstance(refused, OSError):  # a full disk and the like
            raise refused from None
        raise Failure(f"Sphinx stopped with status {stop.code}") from None
    except SphinxError as error:
        raise Failure(_explained(error, site)) from None
    except Exception as error:  # an extension of the site may raise anything
        raise Failure(
            f"Sphinx stopped: {type(error).__name__}: {error}\n"
            f"    fix: sphinx-build says more: sphinx-build -b {_BUILDER} -T {site} OUT"
        ) from None


def _entries(refused: InvalidConfig, site: Path) -> list[ProblemEntry]:
    return [
        ProblemEntry.of(problem, Path(os.path.relpath(problem.path or "", site)).as_posix())
        for problem in refused.problems
    ]


def _explained(error: SphinxError, site: Path) -> str:
    """What Sphinx could not do, in a line or two: the traceback of ``conf.py`` is left out."""
    cause = error.__cause__
    if type(error).__name__ == "ConfigError" and cause is not None:
        conf = site / "conf.py"
        frames = traceback.extract_tb(cause.__traceback__)
        lines = [frame.lineno for frame in frames if Path(frame.filename).name == "conf.py"]
        line = f":{lines[-1]}" if lines else ""
        return f"{conf}{line}: {type(cause).__name__}: {cause}"
    text = str(error).strip()
    if f" {_BUILDER} " in f" {text} " and type(error).__name__ == "SphinxError":
        return (
            f"{site / 'conf.py'} does not use the extension\n"
            '    fix: add "sphinx_memreport" to its extensions'
        )
    return f"Sphinx cannot read the site: {text}"


# --- words --------------------------------------------------------------------------------


def localised(problem: ProblemEntry, config: SiteConfig | None) -> ProblemEntry:
    """A problem with the paths of this machine in the commands to type.

    In data, which is the same on every machine, ``<checkout of SRC-1>`` stands for the place of
    a source.
    """
    report = config.reports.get(problem.report or "") if config else None
    if config is None or report is None:
        return problem
    names: dict[str, str] = {}
    for source_id, source in report.sources.items():
        if isinstance(source, GitSource):
            names[f"<checkout of {source_id}>"] = str(config.checkout_path(source))
            names[f"<repository of {source_id}>"] = source.repository
        else:
            names[f"<file of {source_id}>"] = str(config.file_path(source))

    def here(text: str) -> str:
        for name, path in names.items():
            text = text.replace(name, path)
        return text

    return problem.model_copy(
        update={
            "message": here(problem.message),
            "details": tuple(map(here, problem.details)),
            "fix": here(problem.fix),
        }
    )


def problem_line(checked: Checked, problem: ProblemEntry) -> str:
    """A problem as the build says it, with a path that leads to the file from here."""
    problem = localised(problem, checked.config)
    place = ""
    if problem.file is not None:
        line = f":{problem.line}" if problem.line else ""
        place = f"{shown(checked.site / problem.file)}{line}: "
    more = [*problem.details, *([f"fix: {problem.fix}"] if problem.fix else [])]
    addendum = "".join(f"\n    {line}" for line in more)
    level = problem.severity.upper()
    return f"{place}{level}: {problem.message} [memreport.{problem.code}]{addendum}"


def shown(path: Path) -> str:
    """A path as seen from the current folder, where it is below that."""
    absolute = path.absolute().resolve()
    here = Path.cwd().resolve()
    return str(absolute.relative_to(here) if absolute.is_relative_to(here) else absolute)
