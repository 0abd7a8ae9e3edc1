"""``memreport check``: all problems of a site, without its pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sphinx_memreport import __version__
from sphinx_memreport.cli.checking import (
    CACHE,
    Checked,
    check_site,
    find_site,
    problem_line,
    site_options,
)
from sphinx_memreport.cli.common import Exit, Failure, counted, say, say_bytes, write_atomic
from sphinx_memreport.core.problem_files import (
    ProblemEntry,
    github_annotations,
    problems_json,
    problems_sarif,
    repository_folder,
)
from sphinx_memreport.core.problems import Severity

if TYPE_CHECKING:
    from watchfiles import Change

#: Milliseconds after which the watcher counts as started.
_STARTED = 300


@click.command(
    epilog="Exit status: 0 without errors, 1 with errors, 2 when the configuration is refused or "
    "Sphinx fails."
)
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(["text", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="Lines as of a build, JSON, SARIF 2.1.0, or annotations of GitHub Actions.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write to a file instead of the standard output.",
)
@click.option("-w", "--watch", is_flag=True, help="Check again when a file is saved.")
@site_options
@click.pass_context
def check(
    context: click.Context,
    paths: tuple[Path, ...],
    form: str,
    output: Path | None,
    watch: bool,
    site: Path | None,
    cache: Path | None,
    jobs: int,
) -> None:
    """Say all problems of the site, or those of the documents and folders named.

    The verdicts are those of the build: Sphinx reads the site (and runs its conf.py), but no page
    is written. A second check reads only what changed. Problems of the configuration and of
    sources concern every document and are always said.

    \b
      memreport check
      memreport check jotter/memory.md
      memreport check --format sarif --output problems.sarif
      memreport check --watch
    """
    near = paths[0].parent if paths else None
    run = _Run(find_site(site, near), cache, jobs, paths)
    if watch:
        if form != "text" or output is not None:
            raise click.UsageError("--watch prints text; leave out --format and --output")
        _watch(run)
        return
    checked, problems = run.check()
    data = _formatted(checked, problems, form)
    if output is None:
        say_bytes(data)
    else:
        write_atomic(output, data)
    if form == "text":
        say(_summary(checked, problems), err=True)
    context.exit(_status(checked, problems))


class _Run:
    """A check that can be run again and again, of some documents or all."""

    def __init__(self, site: Path, cache: Path | None, jobs: int, paths: Sequence[Path]) -> None:
        self.site = site
        self._cache = cache
        self._jobs = jobs
        self._paths = paths

    @property
    def cache(self) -> Path:
        """Where Sphinx keeps what it read."""
        return self._cache or self.site / CACHE

    def check(self) -> tuple[Checked, list[ProblemEntry]]:
        """What was found out, and the problems of the documents that are asked for."""
        checked = check_site(self.site, self._cache, self._jobs)
        if not self._paths or checked.config is None:
            return checked, checked.problems
        names = {name for path in self._paths for name in _documents(checked, path)}
        return checked, [each for each in checked.problems if each.docname in (None, *names)]


def _documents(checked: Checked, path: Path) -> Iterable[str]:
    """The documents that a path names: one, all below a folder, or those that include a file.

    :raises Failure: when it is nothing of the site.
    """
    place = path.resolve()
    found = {
        name
        for name, file in checked.documents.items()
        if place in (file, file.resolve()) or place in (*file.parents, *file.resolve().parents)
    }
    found |= checked.included.get(place, frozenset())
    files = checked.config.files if checked.config else ()
    if not found and place not in {file.resolve() for file in files}:
        missing = "" if path.exists() else ": there is no such file"
        raise Failure(
            f"{path} is no document of the site {checked.site}{missing}\n"
            "    fix: name a document or a folder that holds some"
        )
    return found


# --- saying -------------------------------------------------------------------------------


def _status(checked: Checked, problems: Iterable[ProblemEntry]) -> Exit:
    if checked.config is None:
        return Exit.USAGE
    failed = any(problem.severity is Severity.ERROR for problem in problems)
    return Exit.PROBLEMS if failed else Exit.OK


def _formatted(checked: Checked, problems: Sequence[ProblemEntry], form: str) -> bytes:
    match form:
        case "json":
            return problems_json(problems)
        case "sarif":
            return problems_sarif(problems, __version__)
        case "github":
            text = github_annotations(problems, repository_folder(checked.site))
        case _:
            text = "".join(f"{problem_line(checked, problem)}\n" for problem in problems)
    return text.encode("utf-8", "backslashreplace")


def _summary(checked: Checked, problems: Sequence[ProblemEntry]) -> str:
    errors = sum(problem.severity is Severity.ERROR for problem in problems)
    documents = counted(len(checked.documents), "document") if checked.config else ""
    found = [
        counted(number, word)
        for number, word in ((errors, "error"), (len(problems) - errors, "warning"))
        if number
    ]
    return f"{', '.join(found) or 'no problems'}" + (f" ({documents} known)" if documents else "")


# --- watching -----------------------------------------------------------------------------


def _watch(run: _Run) -> None:
    """Check again after each save, and say what is new and what is mended, until Ctrl-C."""
    said: Counter[str] | None = None
    wanted = _Wanted(run)
    try:
        for _ in _saves(run.site, wanted):
            try:
                checked, problems = run.check()
            except Failure as failure:  # conf.py may be half written
                failure.show()
                continue
            wanted.exclude(checked.exclude)
            said = _say_changes(checked, problems, said)
    except KeyboardInterrupt:
        say(err=True)


def _say_changes(
    checked: Checked, problems: Sequence[ProblemEntry], said: Counter[str] | None
) -> Counter[str]:
    """Print what changed; a problem that only moved to another line did not."""
    before, now = said or Counter(), Counter(map(_identity, problems))
    fresh = now - before
    for problem in problems:
        if fresh[_identity(problem)] > 0:
            fresh[_identity(problem)] -= 1
            say(problem_line(checked, problem))
    for identity in (before - now).elements():
        say(f"mended: {identity.splitlines()[0]}")
    if now != said:
        say(_summary(checked, problems), err=True)
    return now


def _identity(problem: ProblemEntry) -> str:
    place = f"{problem.file}: " if problem.file else ""
    return f"{place}{problem.message} [memreport.{problem.code}]\n{problem.details}"


class _Wanted:
    """Says which saved files make another check worth while."""

    def __init__(self, run: _Run) -> None:
        from watchfiles import DefaultFilter

        self._site = run.site.resolve()
        self._cache = run.cache.resolve()
        self._by_default = DefaultFilter()  # leaves out .git, swap files and the like
        self.exclude(())

    def exclude(self, patterns: Iterable[str]) -> None:
        """Leave out what Sphinx does not take for documents."""
        from sphinx.util.matching import Matcher

        self._excluded = Matcher(list(patterns))

    def __call__(self, change: Change, path: str) -> bool:
        """Whether a file may change what a check says."""
        file = Path(path)
        if file.is_relative_to(self._cache) or not self._by_default(change, path):
            return False
        if not file.is_relative_to(self._site):
            return True
        name = file.relative_to(self._site)
        return not any(self._excluded(each.as_posix()) for each in (name, *name.parents))


def _saves(site: Path, wanted: Callable[[Change, str], bool]) -> Iterator[None]:
    """Yield once the files are watched, and after every save that may matter."""
    from watchfiles import watch

    started = False
    for changed in watch(
        site.resolve(), watch_filter=wanted, rust_timeout=_STARTED, yield_on_timeout=True
    ):
        if changed or not started:
            started = True
            yield
