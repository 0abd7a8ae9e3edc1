"""Where a misnamed file or directory turns all checks off: that is said, and what it may mean."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from sphinx_memreport.config import Report
from sphinx_memreport.core.nearest import nearest_names
from sphinx_memreport.core.problems import Notice, Problem, Severity

if TYPE_CHECKING:
    from sphinx_memreport.sphinx_ext.domain import MemDomain


def unchecked(domain: MemDomain, srcdir: Path) -> Iterator[Problem]:
    """Reports that own no document, and IDs on a site without reports.

    :param srcdir: the folder that document names are relative to.
    """
    config = domain.config
    owned = {facts.report for facts in domain.registry}
    for report in config.reports.values():
        if report.slug not in owned:
            yield Problem(
                code=Notice.NO_REPORT,
                severity=Severity.WARNING,
                message=f"the directory '{report.directory}' of report '{report.slug}' holds no "
                "document: nothing of it is checked",
                path=str(config.path),
                line=config.directory_lines.get(report.slug),
                report=report.slug,
                fix=_directory(domain, srcdir, report),
            )
    if any(facts.cites_in_vain for facts in domain.registry):
        what = "declares no report" if config.files else "does not exist"
        yield Problem(
            code=Notice.NO_REPORT,
            severity=Severity.WARNING,
            message=f"{config.path.name} {what}: IDs in the documents are not checked",
            path=str(config.path),
            fix="add a table [reports.slug] with the directory of the documents"
            if config.files
            else "create it beside conf.py, or name it with memreport_config",
        )


def _directory(domain: MemDomain, srcdir: Path, report: Report) -> str:
    folders = _folders_without_report(domain, srcdir)
    near = nearest_names(report.directory, folders, limit=1)
    if near:
        return f'did you mean directory = "{near[0]}"?'
    found = f", such as {', '.join(sorted(folders)[:3])}" if folders else ""
    return f"write a document in it, or name the folder that holds some{found}"


def _folders_without_report(domain: MemDomain, srcdir: Path) -> set[str]:
    """Folders of documents that no report owns, relative to the configuration."""
    below = PurePosixPath(Path(os.path.relpath(srcdir, domain.config.root)).as_posix())
    folders = {
        str(below / folder)
        for facts in domain.registry
        if facts.report is None
        for folder in PurePosixPath(facts.docname).parents
    }
    return {folder for folder in folders if folder != "." and not folder.startswith("..")}
