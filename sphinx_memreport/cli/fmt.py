"""``memreport fmt``: quotes get the line breaks and indentation of their source."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import click

from sphinx_memreport.cli.common import (
    Change,
    Exit,
    Failure,
    config_option,
    counted,
    load,
    report_of,
    report_option,
    say,
    say_diff,
    write_changes,
)
from sphinx_memreport.cli.documents import Document, documents
from sphinx_memreport.config import Report, SiteConfig
from sphinx_memreport.core.blobs import SourceReader, SourceUnavailable
from sphinx_memreport.core.blocks import body_lines, laid_out
from sphinx_memreport.core.blockscan import (
    Edit,
    EvidenceBlock,
    Scan,
    apply_edits,
    body_edits,
    quotes_of,
    scan,
)
from sphinx_memreport.core.models import Found, Resolution, Status
from sphinx_memreport.core.quotes import SourceText
from sphinx_memreport.core.resolve import Answers, QuoteRequest, Requests, resolve
from sphinx_memreport.verify import open_source

#: A source of a report: slug and ID.
_Key = tuple[str, str]


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("-w", "--write", is_flag=True, help="Change the files instead of showing a diff.")
@click.option("-q", "--quiet", is_flag=True, help="Do not say what is left alone.")
@report_option
@config_option
@click.pass_context
def fmt(
    ctx: click.Context,
    paths: tuple[Path, ...],
    config_path: Path | None,
    slug: str | None,
    *,
    write: bool,
    quiet: bool,
) -> None:
    """Give each verified quote the line breaks and indentation of its source.

    Quotes that were copied from a rendered page arrive on one line or with another indentation.
    They match, but read badly. Without --write, a diff is printed and nothing is changed; the
    exit status is then 1 when there is something to change.

    Only the bodies of verified quotes are touched, and a fence where it must become longer.
    Quotes that are not verified, and blocks that could be read in another way, are left alone and
    said. All documents are looked at, or those and the folders named:

    \b
      memreport fmt
      memreport fmt jotter/memory.md --write
    """
    config = load(config_path)
    if slug is not None:
        report_of(config, slug)
    read = [(each, scan(each.text, each.syntax)) for each in documents(config, paths, slug)]
    with ExitStack() as stack:
        verdicts = _Verdicts(config, stack)
        verdicts.ask(read)
        outcomes = [_formatted(document, found, verdicts) for document, found in read]
        changed = [outcome for outcome in outcomes if outcome.text != outcome.document.text]
        verdicts.confirm(changed)
    for outcome in outcomes if not quiet else []:
        for line, reason in sorted(outcome.left_alone):
            say(f"{outcome.document.path}:{line}: left alone: {reason}", err=True)
    changes = [
        Change(each.document.path, each.document.data, each.text.encode("utf-8"))
        for each in changed
    ]
    if write:
        write_changes(changes, config.root)
        quotes = counted(sum(each.changed for each in changed), "quote")
        say(f"{quotes} changed in {counted(len(changed), 'file')}")
    else:
        say_diff(*changes)
    if verdicts.unavailable:
        ctx.exit(Exit.UNREACHABLE)
    if changes and not write:
        ctx.exit(Exit.PROBLEMS)


class _Outcome(NamedTuple):
    """A document with its new text, how many quotes changed, and what was left alone."""

    document: Document
    text: str
    changed: int
    left_alone: list[tuple[int, str]]


class _Verdicts:
    """The verdicts on quotes, and the texts of the files they stand in."""

    def __init__(self, config: SiteConfig, stack: ExitStack) -> None:
        self._config = config
        self._stack = stack
        self._readers: dict[_Key, SourceReader] = {}
        self._answers: dict[_Key, Answers] = {}
        #: Sources that cannot be read.
        self.unavailable: dict[_Key, SourceUnavailable] = {}

    def ask(self, read: Iterable[tuple[Document, Scan]]) -> None:
        """Have every quote of some documents resolved; sources out of reach are said once."""
        self._answers = self._resolved(read)
        for (slug, source_id), error in self.unavailable.items():
            say(f"{slug} {source_id}: {error.message}\n    fix: {error.fix}", err=True)

    def on(self, report: Report, block: EvidenceBlock) -> Resolution | None:
        """The verdict on a block; None when its source cannot be told or read."""
        answers = self._answers.get(_key(report, block) or ("", ""))
        return answers.quotes.get(_request(block)) if answers else None

    def text(self, report: Report, block: EvidenceBlock) -> SourceText:
        """The file of a verified block."""
        return SourceText(self._answers[_key(report, block) or ("", "")].texts[block.path] or "")

    def confirm(self, outcomes: Iterable[_Outcome]) -> None:
        """Make sure that what was verified still is.

        :raises Failure: otherwise; nothing must be written then.
        """
        read = [(each.document, scan(each.text, each.document.syntax)) for each in outcomes]
        answers = self._resolved(read)
        for document, found in read:
            before = scan(document.text, document.syntax).blocks
            for old, new in zip(before, found.blocks, strict=True):
                known = self.on(document.report, old)
                if known is None or known.status is not Status.VERIFIED:
                    continue
                now = answers[_key(document.report, new) or ("", "")].quotes[_request(new)]
                if now.status is not Status.VERIFIED or now.lines != known.lines:
                    raise Failure(f"{document.path}:{old.line}: would no longer be verified")

    def _resolved(self, read: Iterable[tuple[Document, Scan]]) -> dict[_Key, Answers]:
        requests: defaultdict[_Key, Requests] = defaultdict(Requests)
        for document, found in read:
            for block in found.blocks:
                key = _key(document.report, block)
                if key is not None and block.quote.strip():
                    requests[key].quotes.add(_request(block))
                    requests[key].texts.add(block.path)
        return {
            key: answers
            for key, asked in requests.items()
            if (answers := self._resolve(key, asked)) is not None
        }

    def _resolve(self, key: _Key, asked: Requests) -> Answers | None:
        source = self._config.reports[key[0]].sources[key[1]]
        if key in self.unavailable:
            return None
        try:
            if key not in self._readers:
                self._readers[key] = open_source(self._config, source, self._stack)
            return resolve(asked, self._readers[key], source.encoding)
        except SourceUnavailable as error:
            self.unavailable[key] = error
            return None


def _key(report: Report, block: EvidenceBlock) -> _Key | None:
    """The source that a block names or leaves out."""
    sources: Mapping[str, object] = report.sources
    if block.source:
        return (report.slug, block.source) if block.source in sources else None
    return (report.slug, next(iter(sources))) if len(sources) == 1 else None


def _request(block: EvidenceBlock) -> QuoteRequest:
    return QuoteRequest(block.path, block.quote, block.lines)


def _formatted(document: Document, found: Scan, verdicts: _Verdicts) -> _Outcome:
    left_alone = [(line, reason) for line, reason in found.skipped]
    wanted: list[_Body] = []
    for block in found.blocks:
        reason = block.trouble or _why_not(verdicts.on(document.report, block))
        if reason:
            left_alone.append((block.line, reason))
        elif body := _body(block, verdicts.text(document.report, block)):
            wanted.append(_Body(block, body_edits(document.text, block, body)))
    accepted = _accepted(document, found, wanted, [])
    reason = "its lines would close a fence around it; give that fence more marks"
    left_alone += [(each.block.line, reason) for each in wanted if each not in accepted]
    return _Outcome(document, _edited(document, accepted), len(accepted), left_alone)


class _Body(NamedTuple):
    """A block that gets another body, and the edits for that."""

    block: EvidenceBlock
    edits: list[Edit]


def _accepted(
    document: Document, found: Scan, wanted: list[_Body], before: list[_Body]
) -> list[_Body]:
    """Those of the wanted bodies, and ``before`` them, with which all evidence is still read.

    A line of a source may mean something to the fences around a block. Halves are tried when
    the whole does not do, so that few bad ones cost little.
    """
    all_of_them = [*before, *wanted]
    after = scan(_edited(document, all_of_them), document.syntax)
    same = list(quotes_of(after)) == list(quotes_of(found))
    if same and len(after.skipped) == len(found.skipped):
        return all_of_them
    if len(wanted) <= 1:
        return before
    half = len(wanted) // 2
    first = _accepted(document, found, wanted[:half], before)
    return _accepted(document, found, wanted[half:], first)


def _edited(document: Document, bodies: Iterable[_Body]) -> str:
    return apply_edits(document.text, [edit for each in bodies for edit in each.edits])


def _why_not(resolution: Resolution | None) -> str:
    if resolution is None:
        return "its source cannot be read, or is not in memreport.toml"
    if resolution.status is Status.VERIFIED:
        return ""
    code = f" (memreport.{resolution.finding.code})" if resolution.finding else ""
    return f"the quote is not verified{code}"


def _body(block: EvidenceBlock, text: SourceText) -> list[str] | None:
    """The lines that a body should have; None when it has them."""
    found = text.locate(block.quote, block.lines)
    assert isinstance(found, Found)
    wanted = body_lines(laid_out(text, found))
    return None if wanted == body_lines(block.quote) else wanted
