"""What a build writes besides pages: ``memreport.json``, and the problems as data."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx_memreport import __version__
from sphinx_memreport.config import CaptureSource, GitSource, Report, Settings, SiteConfig
from sphinx_memreport.core.export import (
    EXPORT_NAME,
    Export,
    LayerEntry,
    ReportEntry,
    SourceEntry,
    export_site,
)
from sphinx_memreport.core.output import write_changed
from sphinx_memreport.core.problem_files import (
    ProblemEntry,
    github_annotations,
    problems_json,
    problems_sarif,
    repository_folder,
)
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.sphinx_ext.domain import mem_domain
from sphinx_memreport.sphinx_ext.logging import say

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config


def export_of(app: Sphinx) -> Export:
    """What the site says, as data."""
    domain = mem_domain(app.env)
    return export_site(
        domain.site,
        [_report_entry(report) for report in domain.config.reports.values()],
        list(_source_entries(domain.config)),
        list(_entries(app, domain.config, domain.problems)),
        _page_addresses(app),
    )


def write_data(app: Sphinx, settings: Settings, export: Export) -> bool:
    """Write the export and the problem files that ``memreport_report`` asks for.

    :return: whether all of them could be written; what could not be is said.
    """
    entries = export.problems
    wanted = settings.report
    files = [("the export", EXPORT_NAME, export.to_bytes())]
    if wanted.json_path is not None:
        files.append(("memreport_report['json']", wanted.json_path, problems_json(entries)))
    if wanted.sarif_path is not None:
        sarif = problems_sarif(entries, __version__)
        files.append(("memreport_report['sarif']", wanted.sarif_path, sarif))
    written = [_write(app, *file) for file in files]
    return all(written)


def data_files(settings: Settings) -> list[str]:
    """The files that :func:`write_data` writes, absolute or relative to the output folder."""
    wanted = settings.report
    return [EXPORT_NAME, *filter(None, (wanted.json_path, wanted.sarif_path))]


def say_on_github(app: Sphinx, settings: Settings) -> None:
    """Print the problems as annotations, if ``memreport_report`` asks for that."""
    if settings.report.github:
        domain = mem_domain(app.env)
        entries = list(_entries(app, domain.config, domain.problems))
        _print(github_annotations(entries, repository_folder(Path(app.srcdir))))


def _write(app: Sphinx, what: str, name: str, data: bytes) -> bool:
    try:
        write_changed(Path(app.outdir) / name, data)
    except (OSError, ValueError) as error:
        reason = (isinstance(error, OSError) and error.strerror) or str(error)
        say(
            Problem(
                code=Code.INVALID_CONFIG,
                message=f"{what}: cannot write {name!r}: {reason}",
                path=str(Path(app.confdir) / "conf.py"),
                fix="name a file that can be written, relative to the output folder or absolute",
            )
        )
        return False
    return True


def _print(text: str) -> None:
    """Print to the standard output, whatever its encoding and however quiet the build is."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()


# --- problems -----------------------------------------------------------------------------


def _entries(
    app: Sphinx, config: SiteConfig, problems: Sequence[Problem]
) -> Iterator[ProblemEntry]:
    srcdir = Path(app.srcdir)
    names = _machine_paths(srcdir, config)
    for problem in problems:
        file = None
        if problem.docname is not None:
            file = app.env.doc2path(problem.docname, base=False).as_posix()
        elif problem.path is not None:
            file = Path(os.path.relpath(problem.path, srcdir)).as_posix()
        yield ProblemEntry.of(_anywhere(problem, names), file)


def _machine_paths(srcdir: Path, config: SiteConfig) -> Mapping[str, str]:
    """Paths of this machine that a message may hold, and what stands in files instead."""
    names: dict[str, str] = {}
    for report in config.reports.values():
        for source_id, source in report.sources.items():
            if isinstance(source, GitSource):
                place, what = config.checkout_path(source), f"<checkout of {source_id}>"
                if _is_local(source.repository):
                    names[source.repository] = f"<repository of {source_id}>"
            else:
                place, what = config.file_path(source), f"<file of {source_id}>"
            names |= {str(place): what, str(place.resolve()): what}
    for root in {config.root, config.root.resolve(), srcdir, srcdir.resolve()}:
        if root.name:  # not the root of everything
            names[f"{root}{os.sep}"] = ""
    return dict(sorted(names.items(), key=lambda item: -len(item[0])))


def _anywhere(problem: Problem, names: Mapping[str, str]) -> Problem:
    """The problem in words that hold on every machine."""

    def reworded(text: str) -> str:
        for path, name in names.items():
            text = text.replace(path, name)
        return text

    return problem.model_copy(
        update={
            "message": reworded(problem.message),
            "details": tuple(map(reworded, problem.details)),
            "fix": reworded(problem.fix),
        }
    )


# --- configuration ------------------------------------------------------------------------


def _report_entry(report: Report) -> ReportEntry:
    return ReportEntry(
        slug=report.slug,
        directory=report.directory,
        system=report.system,
        run_id=report.run_id,
        boundary_kind=report.boundary_kind,
        contract=report.contract,
        ids=report.ids,
    )


def _source_entries(config: SiteConfig) -> Iterator[SourceEntry]:
    for slug, report in config.reports.items():
        for source_id, source in report.sources.items():
            yield _source_entry(slug, source_id, source)


def _source_entry(slug: str, source_id: str, source: GitSource | CaptureSource) -> SourceEntry:
    common: dict[str, Any] = {
        "report": slug,
        "id": source_id,
        "kind": source.kind,
        "encoding": source.encoding,
        "inspected": source.inspected,
        "gaps": source.gaps,
    }
    if isinstance(source, CaptureSource):
        pinned: dict[str, Any] = {
            "identity": source.identity,
            "sha256": source.sha256,
            "layers": (LayerEntry(layer=source.layer),),
        }
    else:
        pinned = {
            "repository": None if _is_local(source.repository) else source.repository,
            "commit": source.commit,
            "layers": tuple(
                LayerEntry(layer=layer, globs=globs) for layer, globs in source.layers.items()
            ),
        }
    return SourceEntry.model_validate(common | pinned)


def _is_local(repository: str) -> bool:
    """Whether the URL of a repository is a place on one machine."""
    return repository.lower().startswith("file:")


# --- the builder --------------------------------------------------------------------------


def _page_addresses(app: Sphinx) -> Callable[[str], str | None]:
    """Says the address of a document's page; None where a builder writes no page for each."""

    def address(docname: str) -> str | None:
        if app.builder.format != "html":
            return None
        uri = app.builder.get_target_uri(docname)
        return None if "#" in uri else uri

    return address


def setup_export(app: Sphinx) -> None:
    """Tell the EPUB builder, which warns of each file that it does not know, of ours."""
    app.connect("config-inited", _exclude_from_epub, 900)


def _exclude_from_epub(app: Sphinx, config: Config) -> None:
    names = [EXPORT_NAME]
    report = config.memreport_report
    if isinstance(report, dict):  # else refused when the settings are validated
        files = (report.get("json"), report.get("sarif"))
        names += [
            os.path.relpath(Path(app.outdir) / file, app.outdir)
            for file in files
            if isinstance(file, str)
        ]
    config.epub_exclude_files = [*config.epub_exclude_files, *names]
