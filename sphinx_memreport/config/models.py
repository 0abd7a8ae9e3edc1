"""What ``memreport.toml`` declares: reports and their pinned sources (contract, section 2)."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import ConfigDict, Discriminator, Field, Tag

from sphinx_memreport.config.errors import keys_of
from sphinx_memreport.config.values import (
    BoundaryKind,
    Commit,
    ContractLevel,
    Directory,
    Encoding,
    Globs,
    Line,
    Permalink,
    Prose,
    Repository,
    Sha256,
    Slug,
    SourceId,
)
from sphinx_memreport.core.ids import IdStyle
from sphinx_memreport.core.models import Layer, Model


class Table(Model):
    """A table of the TOML. Python code may use field names, the TOML only the written keys."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)


class GitSource(Table):
    """A repository at one frozen commit."""

    kind: Literal["git"] = Field(description='"git": a repository at one commit.')
    repository: Repository = Field(
        description="URL of the repository: its identity, and the base of permalinks. https, "
        "ssh and file URLs and git@host:owner/name are accepted."
    )
    commit: Commit = Field(
        description="The full 40 or 64 hexadecimal digits of the commit that is the pin. "
        "An abbreviated hash, a tag or a branch is refused."
    )
    checkout: Line = Field(
        description="Work tree or bare repository that holds the commit, relative to this "
        "file or absolute. Its work tree is never read."
    )
    encoding: Encoding = Field("utf-8", description="Encoding of the files of the tree.")
    layers: Mapping[Layer, Globs] = Field(
        default_factory=dict,
        description="Evidence layer to globs (git's :(glob)); the first layer with a glob that "
        "matches a path is the layer of evidence from it.",
    )
    inspected: Prose | None = Field(
        None, description="What was inspected, as prose for the source register."
    )
    gaps: Prose | None = Field(
        None, description="What could not be inspected, and which conclusion each gap prevents."
    )
    permalink: Permalink | None = Field(
        None,
        description="Template of links to lines, for hosts that are not known or to replace "
        "what is known: an https URL with {path} and, as wanted, {commit}, {start}, {end}.",
    )


class CaptureSource(Table):
    """A frozen file instead of a repository."""

    kind: Literal["capture"] = Field(description='"capture": one frozen file.')
    identity: Line = Field(description="What was captured: a URL or a citation.")
    file: Line = Field(description="The captured file, relative to this file or absolute.")
    sha256: Sha256 = Field(
        description="The 64 hexadecimal digits of the SHA-256 of the file: the pin."
    )
    encoding: Encoding = Field("utf-8", description="Encoding of the file.")
    layer: Layer = Field(description="Evidence layer of all evidence from the file.")
    inspected: Prose | None = Field(
        None, description="What was inspected, as prose for the source register."
    )
    gaps: Prose | None = Field(
        None, description="What could not be inspected, and which conclusion each gap prevents."
    )


KINDS: dict[str, type[GitSource] | type[CaptureSource]] = {
    "git": GitSource,
    "capture": CaptureSource,
}


def kind_of(value: object) -> str:
    """The kind that a source is checked as: without a good ``kind``, the one its keys are of."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    if isinstance(kind, str) and kind in KINDS:
        return kind
    keys = set(value) if isinstance(value, dict) else set()
    return max(KINDS, key=lambda name: len(keys & keys_of(KINDS[name]).keys()))


Source = Annotated[
    Annotated[GitSource, Tag("git")] | Annotated[CaptureSource, Tag("capture")],
    Discriminator(kind_of),
]


class Report(Table):
    """One report about one system."""

    slug: Slug = Field(description="Name of the report in references: the key of its table.")
    directory: Directory = Field(
        description="Directory relative to this file; the documents below it belong to the "
        'report. "." is the folder of this file. Of nested directories the nearest owns a document.'
    )
    system: Line = Field(description="Name of the system that the report is about.")
    run_id: Line | None = Field(None, alias="run-id", description="Identifier of the analysis run.")
    boundary_kind: BoundaryKind | None = Field(
        None, alias="boundary-kind", description="How much of the system the report covers."
    )
    contract: ContractLevel = Field(
        ContractLevel.CORE, description="How much is checked: core, or strict, which adds rules."
    )
    ids: IdStyle = Field(
        IdStyle.NAMED, description="Form of the names in record IDs: named, numbered or any."
    )
    sources: Mapping[SourceId, Source] = Field(
        default_factory=dict, description="The pinned sources, by source ID."
    )


class SiteConfig(Model):
    """All reports of a site, as read from one TOML file."""

    path: Path = Field(description="The TOML file, as it was named to load_config.")
    files: tuple[Path, ...] = Field(
        (), description="All files that were read: the TOML and, if there is one, the local one."
    )
    reports: Mapping[str, Report] = Field(
        default_factory=dict, description="The reports, by slug, in the order of the file."
    )
    source_lines: Mapping[tuple[str, str], int | None] = Field(
        default_factory=dict,
        description="The line of each source's table when the TOML was read, by report and ID.",
    )
    directory_lines: Mapping[str, int | None] = Field(
        default_factory=dict, description="The line of each report's directory, by report."
    )

    @property
    def root(self) -> Path:
        """The folder of the TOML, which relative paths start from."""
        return self.path.parent

    def checkout_path(self, source: GitSource) -> Path:
        """Where the repository of a source is on this machine; it need not exist."""
        return self.root / source.checkout

    def file_path(self, source: CaptureSource) -> Path:
        """Where the file of a capture is on this machine; it need not exist."""
        return self.root / source.file


class Ownership:
    """Which report a document belongs to: the one with the nearest directory (section 2).

    :param config: the reports; their directories are relative to the TOML.
    :param srcdir: the folder that document names are relative to. The TOML may be elsewhere.
    """

    def __init__(self, config: SiteConfig, srcdir: Path) -> None:
        # Only the two roots are resolved: a directory of documents may be a symbolic link.
        root = config.root.resolve()
        self._srcdir = srcdir.resolve()
        self._reports = {root / report.directory: report for report in config.reports.values()}

    def report_of(self, docname: str) -> Report | None:
        """The report that owns a document, named without suffix and with ``/``, or None."""
        for parent in (self._srcdir / docname).parents:
            if parent in self._reports:
                return self._reports[parent]
        return None


def fingerprint(source: GitSource | CaptureSource) -> str:
    """A hash, in hexadecimal, of all that decides a verdict about a source.

    Two sources of the same fingerprint give the same verdicts wherever they are on a machine,
    so that a result may be kept under it.
    """
    pin = source.commit if isinstance(source, GitSource) else source.sha256
    encoding = codecs.lookup(source.encoding).name
    return hashlib.sha256("\0".join((source.kind, pin, encoding)).encode()).hexdigest()


def layer_of(
    source: GitSource | CaptureSource, path: str | None, matches: Callable[[str, str], bool]
) -> Layer | None:
    """The evidence layer that a source gives to a path.

    :param path: path in the tree; None for a capture.
    :param matches: says whether a glob (first) matches a path (second), as git's ``:(glob)``.
    :return: the first layer, in the order of the file, of which a glob matches; else None.
    """
    if isinstance(source, CaptureSource):
        return source.layer
    if path is None:
        return None
    for layer, globs in source.layers.items():
        if any(matches(glob, path) for glob in globs):
            return layer
    return None
