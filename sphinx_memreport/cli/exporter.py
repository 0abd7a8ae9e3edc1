"""``memreport export``: the documents of a report as plain-Markdown members."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import click

from sphinx_memreport.cli.common import (
    Exit,
    Failure,
    config_option,
    json_option,
    load,
    report_of,
    say,
    say_json,
)
from sphinx_memreport.cli.documents import Document, documents
from sphinx_memreport.cli.newfiles import write_new
from sphinx_memreport.plain.models import Remark
from sphinx_memreport.plain.writer_plain import Source, Written, lost_settings, write_members


@click.command()
@click.argument("report", required=False, metavar="[REPORT]")
@click.option(
    "--into", required=True, metavar="DIR", type=click.Path(path_type=Path),
    help="The folder of the members; nothing in it is overwritten.",
)  # fmt: skip
@config_option
@json_option
def export(report: str | None, into: Path, config_path: Path | None, as_json: bool) -> None:
    """Write a report as plain-Markdown members.

    Each Markdown document of REPORT becomes a file of DIR: records as '#### ID — Label', their
    options as '- Label: value', evidence as quotations with an attribution. What the plain form
    has no place for is listed: views, some options of evidence, directives of others, the files
    of captures. Documents in reStructuredText are not written.

    \b
    memreport export jotter --into members

    Exit status 1: written, but something has no place in the plain form.
    """
    config = load(config_path)
    chosen = report_of(config, report)
    root = config.root / chosen.directory
    found = list(documents(config, slug=chosen.slug))
    sources = [
        Source(PurePosixPath(_relative(document, root)), document.text)
        for document in found
        if document.syntax == "myst"
    ]
    if not sources:
        raise Failure(f"report {chosen.slug!r} has no Markdown documents in {root}")
    sources = [_normalised(source) for source in sources]
    written = write_members(chosen, sources)
    lost = [(config.path.name, remark) for remark in lost_settings(chosen, sources)]
    lost += [(str(each.path), remark) for each in written for remark in each.lost]
    lost += [
        (_relative(document, root), Remark(line=1, message="reStructuredText is not written"))
        for document in found
        if document.syntax != "myst"
    ]
    texts = {str(each.path): each.text for each in written if each.text}
    write_new(into, texts)
    _tell(into, written, lost, as_json)
    raise SystemExit(Exit.PROBLEMS if lost else Exit.OK)


def _relative(document: Document, root: Path) -> str:
    return document.path.relative_to(root).as_posix()  # a link stands for what it leads to


def _normalised(source: Source) -> Source:
    text = source.text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return Source(source.path, text)


def _tell(
    into: Path, written: Sequence[Written], lost: Sequence[tuple[str, Remark]], as_json: bool
) -> None:
    names = [str(each.path) for each in written if each.text]
    if as_json:
        told = [{"file": name, **remark.model_dump()} for name, remark in lost]
        say_json({"into": str(into), "members": names, "lost": told})
        return
    for name, remark in lost:
        shown = f": {remark.text}" if remark.text else ""
        say(f"{name}:{remark.line}: {remark.message}{shown}", err=True)
    say(f"written to {into}: {', '.join(names)}")
