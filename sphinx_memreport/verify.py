"""From configuration and requests to verdicts: opens the pinned sources and asks them.

The one place where configuration, git and the core meet; the build and tools call the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sphinx_memreport.config import (
    CaptureSource,
    ContractLevel,
    GitSource,
    Report,
    SiteConfig,
    fingerprint,
    layer_of,
)
from sphinx_memreport.core.blobs import SingleFile, SourceReader, SourceUnavailable
from sphinx_memreport.core.globs import Glob
from sphinx_memreport.core.lock import Lock, StandIn
from sphinx_memreport.core.models import Finding, Layer, ReportRules, SourceRules
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.resolve import Answers, Requests, missing_requests, resolve
from sphinx_memreport.core.site import Key, Verdicts
from sphinx_memreport.gitstore import open_capture, open_git

# Verdicts on a damaged or partial checkout may change without the pin changing.
_NOT_FOR_GOOD = frozenset({Code.BLOB_MISSING})


def rules_of(config: SiteConfig) -> dict[str, ReportRules]:
    """What the checks must know of each report, by slug."""
    return {slug: _report_rules(config, report) for slug, report in config.reports.items()}


def _report_rules(config: SiteConfig, report: Report) -> ReportRules:
    return ReportRules(
        slug=report.slug,
        ids=report.ids,
        strict=report.contract is ContractLevel.STRICT,
        sources=tuple(
            SourceRules(
                id=source_id,
                kind=source.kind,
                fingerprint=fingerprint(source),
                commit=source.commit if isinstance(source, GitSource) else None,
                sha256=source.sha256 if isinstance(source, CaptureSource) else None,
                line=config.source_lines.get((report.slug, source_id)),
            )
            for source_id, source in report.sources.items()
        ),
    )


@contextmanager
def open_sources(config: SiteConfig, lock: Lock | None = None) -> Iterator[OpenSources]:
    """Open every source of a site; what cannot be read is noted, with the reason.

    :param lock: stands in for sources that are not here; never asked about those that are.
    """
    with ExitStack() as stack:
        yield OpenSources(config, lock, stack)


def _stand_ins(
    config: SiteConfig, unavailable: dict[Key, Finding], lock: Lock
) -> dict[Key, StandIn]:
    """What the lock says of the sources that are not here, which are then not unavailable.

    Of those that it does not record at their pin, that is said.
    """
    rules = rules_of(config)
    found: dict[Key, StandIn] = {}
    for key, finding in list(unavailable.items()):
        slug, source_id = key
        source = rules[slug].source(source_id)
        if source is None or not _is_absent(_place(config, *key)):
            continue
        stand_in = lock.stand_in(slug, source)
        if isinstance(stand_in, StandIn):
            found[key] = stand_in
            del unavailable[key]
        else:
            message = f"{finding.message}, and {stand_in.message}"
            unavailable[key] = stand_in.model_copy(update={"message": message})
    return found


def _place(config: SiteConfig, slug: str, source_id: str) -> Path:
    source = config.reports[slug].sources[source_id]
    if isinstance(source, GitSource):
        return config.checkout_path(source)
    return config.file_path(source)


def _is_absent(place: Path) -> bool:
    """Whether nothing is there; an empty folder is what a submodule leaves that was not fetched.

    What is there and cannot be read is a fault of its own, which no lock covers up.
    """
    try:
        place.stat()
        return place.is_dir() and not any(place.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False


def for_good(answers: Answers) -> Answers:
    """Those of the answers that hold as long as the pin does."""

    def holds(finding: Finding | None) -> bool:
        return finding is None or finding.code not in _NOT_FOR_GOOD

    return Answers(
        {request: found for request, found in answers.quotes.items() if holds(found.finding)},
        {request: found for request, found in answers.paths.items() if holds(found.finding)},
        {path: text for path, text in answers.texts.items() if text is not None},
        {
            request: result
            for request, result in answers.searches.items()
            if not result.lost.count and not result.stopped
        },
    )


class Layers:
    """Says which evidence layer a report gives to a path of one of its sources (section 2)."""

    def __init__(self, config: SiteConfig) -> None:
        self._reports = config.reports
        self._globs: dict[str, Glob] = {}

    def __call__(self, report: str, source_id: str, path: str | None) -> Layer | None:
        """The layer, or None where none is configured."""
        found = self._reports.get(report)
        source = found.sources.get(source_id) if found else None
        return layer_of(source, path, self._matches) if source else None

    def _matches(self, pattern: str, path: str) -> bool:
        if pattern not in self._globs:
            self._globs[pattern] = Glob([pattern])
        return self._globs[pattern].matches(path)


class OpenSources:
    """The sources of a site, opened: readers by fingerprint, and those that cannot be read.

    ``locked`` is what the lock says of those that are not here, which are not ``unavailable``.
    """

    def __init__(self, config: SiteConfig, lock: Lock | None, stack: ExitStack) -> None:
        self._config = config
        self._stack = stack
        self._opened: dict[tuple[str, str], SourceReader | Finding] = {}
        self._readers: dict[str, SourceReader] = {}
        self._encodings: dict[str, str] = {}
        self.unavailable: dict[Key, Finding] = {}
        for slug, source_id, source in _all_sources(config):
            opened = self._open(source)
            if isinstance(opened, Finding):
                self.unavailable[slug, source_id] = opened
            else:
                name = fingerprint(source)
                self._readers.setdefault(name, opened)
                self._encodings[name] = source.encoding
        self.locked = _stand_ins(config, self.unavailable, lock) if lock else {}

    def answer(
        self, requests: Mapping[str, Requests], known: Mapping[str, Answers]
    ) -> dict[str, Answers]:
        """Answer what is not known yet.

        A source that turns out to have gaps becomes unavailable.

        :param requests: by fingerprint of the source.
        :param known: answers of earlier builds, by fingerprint. A pin never changes what it
            names, so they hold for good; whether the source can be read is asked every time.
        """
        answers: dict[str, Answers] = {}
        for name, asked in requests.items():
            found = known.get(name, Answers()).to(asked)
            missing = missing_requests(asked, found)
            reader = self._readers.get(name)
            if reader and missing:
                try:
                    found.update(resolve(missing, reader, self._encodings[name]))
                except SourceUnavailable as error:
                    self._give_up(name, error)
            answers[name] = found
        return answers

    def verdicts(self, answers: Mapping[str, Answers]) -> Verdicts:
        """What is known of the sources, with these answers."""
        return Verdicts(answers, self.unavailable, Layers(self._config), self.locked)

    def _open(self, source: GitSource | CaptureSource) -> SourceReader | Finding:
        if isinstance(source, GitSource):
            key = (str(self._config.checkout_path(source)), source.commit)
        else:
            key = (str(self._config.file_path(source)), source.sha256)
        if key not in self._opened:
            try:
                self._opened[key] = self._open_anew(source)
            except SourceUnavailable as error:
                self._opened[key] = _finding(error)
        return self._opened[key]

    def _give_up(self, name: str, error: SourceUnavailable) -> None:
        """Count the sources of a fingerprint as unavailable: their tree has gaps."""
        for slug, source_id, source in _all_sources(self._config):
            if fingerprint(source) == name:
                self.unavailable.setdefault((slug, source_id), _finding(error))

    def _open_anew(self, source: GitSource | CaptureSource) -> SourceReader:
        return open_source(self._config, source, self._stack)


def open_source(
    config: SiteConfig, source: GitSource | CaptureSource, stack: ExitStack
) -> SourceReader:
    """Open one source.

    :param stack: closes the source at its end.
    :raises SourceUnavailable: when it cannot be read.
    """
    if isinstance(source, CaptureSource):
        return SingleFile(open_capture(config.file_path(source), source.sha256).read())
    place = config.checkout_path(source)
    return stack.enter_context(open_git(place, source.commit, fetch_hint=source.repository))


def _finding(error: SourceUnavailable) -> Finding:
    return Finding(code=error.code, message=error.message, fix=error.fix)


def _all_sources(config: SiteConfig) -> Iterator[tuple[str, str, GitSource | CaptureSource]]:
    for slug, report in config.reports.items():
        for source_id, source in report.sources.items():
            yield slug, source_id, source
