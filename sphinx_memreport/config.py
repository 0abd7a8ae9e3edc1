"""What a site declares: reports and pinned sources in ``memreport.toml``, settings in ``conf.py``.

Contract, section 2. The TOML is the single place for pins. :func:`load_config` reads it, with
``memreport.local.toml`` beside it, and reports everything wrong in both at once; nothing here
runs git or knows Sphinx, so that every tool reads the same file in the same way.
"""

from __future__ import annotations

import codecs
import difflib
import hashlib
import re
import shlex
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    Tag,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from sphinx_memreport.core.ids import REPORT_SLUG, SOURCE_ID, IdStyle
from sphinx_memreport.core.models import Layer, Model
from sphinx_memreport.core.problems import Code, Problem, Severity, default_severity
from sphinx_memreport.permalinks import repository_error, template_error

#: The file beside the TOML that says where sources are on one machine.
LOCAL_NAME = "memreport.local.toml"
#: The largest file that is read as configuration, in bytes.
MAX_BYTES = 4 * 1024 * 1024

Key = tuple[str | int, ...]


class InvalidConfig(Exception):
    """A configuration that cannot be used.

    :param problems: everything wrong with it, sorted, each of code ``invalid-config`` with the
        file's path and, where there is one, the line.
    """

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=Problem.sort_key))
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(
            f"{problem.path}{f':{problem.line}' if problem.line else ''}: {problem.message}"
            f"{problem.addendum}"
            for problem in self.problems
        )

    def report(self) -> str:
        """The problems as the build and every tool say them, one a line (section 4)."""
        return "\n".join(
            f"{problem.path}{f':{problem.line}' if problem.line else ''}: ERROR: "
            f"{problem.message} [memreport.{problem.code}]{problem.addendum}"
            for problem in self.problems
        )


# --- values -------------------------------------------------------------------------------


def _expected(what: str, fix: str = "") -> PydanticCustomError:
    """The error of a value that is not what was expected, with the words for the author."""
    return PydanticCustomError("expected", "expected {what}", {"what": what, "fix": fix})


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TEXT_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _line(value: str) -> str:
    if not value.strip() or _CONTROL.search(value):
        raise _expected("one line of text that is not empty")
    return value


def _prose(value: str) -> str:
    if _TEXT_CONTROL.search(value):
        raise _expected("text without control characters")
    return value


def _slug(value: str) -> str:
    if not REPORT_SLUG.fullmatch(value):
        raise _expected("a slug: a lowercase letter, then lowercase letters, digits and hyphens")
    return value


def _source_id(value: str) -> str:
    if not SOURCE_ID.fullmatch(value):
        raise _expected("a source ID: SRC- and a number, as in SRC-1")
    return value


def _directory(value: str) -> str:
    windows = PureWindowsPath(value)
    if not value or _CONTROL.search(value) or "\\" in value or windows.drive or windows.root:
        raise _expected(
            'a directory relative to this file, with /, or "." for the folder of this file'
        )
    directory = PurePosixPath(value)
    if ".." in directory.parts:
        raise _expected("a directory inside the folder of this file, without ..")
    return str(directory)


def _commit(value: str) -> str:
    if re.fullmatch(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}", value):
        return value.lower()
    is_name = value.isprintable() and value.strip() and not value.startswith("-")
    name = shlex.quote(f"{value}^{{commit}}") if is_name and len(value) <= 250 else "HEAD"
    raise _expected(
        "the full 40 or 64 hexadecimal digits of a commit",
        f"write what this prints in the checkout: git rev-parse {name}",
    )


def _sha256(value: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", value):
        raise _expected("the 64 hexadecimal digits of a SHA-256", "sha256sum prints it")
    return value.lower()


def _repository(value: str) -> str:
    wrong = repository_error(value)
    if wrong is not None:
        raise _expected(
            f"the URL of a git repository (this one {wrong})",
            "write it as https://host/owner/name; a repository that is nowhere published is "
            "file:///path/to/it",
        )
    return value


def _permalink(value: str) -> str:
    wrong = template_error(value)
    if wrong is not None:
        raise _expected(
            f"a template of an https URL (this one {wrong})",
            "as in https://host/owner/name/blob/{commit}/{path}#L{start}-L{end}",
        )
    return value


def _glob(value: str) -> str:
    if not value or _CONTROL.search(value) or value.startswith("/") or ".." in value.split("/"):
        raise _expected("a glob relative to the root of the tree, as in src/**")
    return value


def _globs(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise _expected("at least one glob")
    return value


# Codecs that Python calls text encodings, but in which no file of text is stored.
_ODD_CODECS = frozenset(
    {"idna", "mbcs", "oem", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"}
)


def _encoding(value: str) -> str:
    fix = "use a name that Python knows, as utf-8, utf-16, latin-1 or shift_jis"
    try:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.:-]{0,39}", value):
            raise LookupError(value)
        if codecs.lookup(value).name.replace("_", "-") in _ODD_CODECS:
            raise LookupError(value)
        "a".encode(value)  # a LookupError for codecs between bytes, such as hex
    except (LookupError, ValueError):
        raise _expected("the name of a text encoding", fix) from None
    return value


Line = Annotated[str, AfterValidator(_line)]
Prose = Annotated[str, AfterValidator(_prose)]
Slug = Annotated[str, AfterValidator(_slug)]
SourceId = Annotated[str, AfterValidator(_source_id)]
Globs = Annotated[tuple[Annotated[str, AfterValidator(_glob)], ...], AfterValidator(_globs)]
Encoding = Annotated[str, AfterValidator(_encoding)]


class BoundaryKind(StrEnum):
    """How much of a system a report covers."""

    WHOLE_SYSTEM = "whole-system"
    SUBSYSTEM_ONLY = "subsystem-only"
    PARTIAL_LOOP = "complete artifact, partial loop"


class ContractLevel(StrEnum):
    """How much a report is checked for (contract, section 3.9)."""

    CORE = "core"
    STRICT = "strict"


# --- models -------------------------------------------------------------------------------


class _Table(Model):
    """A table of the TOML. Python code may use field names, the TOML only the written keys."""

    model_config = ConfigDict(validate_by_name=True, validate_by_alias=True)


class GitSource(_Table):
    """A repository at one frozen commit."""

    kind: Literal["git"] = Field(description='"git": a repository at one commit.')
    repository: Annotated[str, AfterValidator(_repository)] = Field(
        description="URL of the repository: its identity, and the base of permalinks. https, "
        "ssh and file URLs and git@host:owner/name are accepted."
    )
    commit: Annotated[str, AfterValidator(_commit)] = Field(
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
    permalink: Annotated[str, AfterValidator(_permalink)] | None = Field(
        None,
        description="Template of links to lines, for hosts that are not known or to replace "
        "what is known: an https URL with {path} and, as wanted, {commit}, {start}, {end}.",
    )


class CaptureSource(_Table):
    """A frozen file instead of a repository."""

    kind: Literal["capture"] = Field(description='"capture": one frozen file.')
    identity: Line = Field(description="What was captured: a URL or a citation.")
    file: Line = Field(description="The captured file, relative to this file or absolute.")
    sha256: Annotated[str, AfterValidator(_sha256)] = Field(
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


_KINDS: dict[str, type[GitSource] | type[CaptureSource]] = {
    "git": GitSource,
    "capture": CaptureSource,
}


def _kind_of(value: object) -> str:
    """The kind that a source is checked as: without a good ``kind``, the one its keys are of."""
    kind = value.get("kind") if isinstance(value, dict) else getattr(value, "kind", None)
    if isinstance(kind, str) and kind in _KINDS:
        return kind
    keys = set(value) if isinstance(value, dict) else set()
    return max(_KINDS, key=lambda name: len(keys & _keys(_KINDS[name]).keys()))


Source = Annotated[
    Annotated[GitSource, Tag("git")] | Annotated[CaptureSource, Tag("capture")],
    Discriminator(_kind_of),
]


class Report(_Table):
    """One report about one system."""

    slug: Slug = Field(description="Name of the report in references: the key of its table.")
    directory: Annotated[str, AfterValidator(_directory)] = Field(
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


# --- settings of conf.py ------------------------------------------------------------------


class ReportFiles(_Table):
    """Where the problems of a build are written as data."""

    json_path: Line | None = Field(
        None, alias="json", description="Path for JSON, relative to the output directory."
    )
    sarif_path: Line | None = Field(
        None, alias="sarif", description="Path for SARIF 2.1.0, relative to the output directory."
    )
    github: StrictBool = Field(
        False, description="Whether to print annotations for GitHub Actions."
    )


class Settings(_Table):
    """The settings of ``conf.py``; each is named there with ``memreport_`` before it."""

    config: Line = Field(
        "memreport.toml",
        description="The file of reports and sources, relative to conf.py.",
    )
    autolink: StrictBool = Field(
        True, description="Whether IDs in running text are checked and link themselves."
    )
    source_pages: Literal["excerpt", "full", "none"] = Field(
        "excerpt",
        description="What the pages of quoted files show: the passages with a few lines around "
        "them, the whole file, or no such pages at all.",
    )
    offline: Literal["", "lock"] = Field(
        "",
        description='What stands in for a source that is not there: nothing (""), or "lock", '
        "the file memreport.lock.",
    )
    allow_code: StrictBool = Field(
        False,
        description="Whether what documents say may be run as Python: bodies of needtable, filters "
        "that do more than compare, and calls in the substitutions of MyST.",
    )
    severity: Mapping[Code, Severity] = Field(
        default_factory=dict,
        description='Problem code to "error" or "warning": the only way to soften an error.',
    )
    report: ReportFiles = Field(
        default_factory=ReportFiles,
        description='Files for the problems as data: {"json": PATH, "sarif": PATH, '
        '"github": True}.',
    )

    def severity_of(self, code: Code, *, strict: bool = False) -> Severity:
        """How much a problem weighs, as set or else by default.

        :param strict: whether the report concerned is at contract level strict.
        """
        return self.severity.get(code, default_severity(code, strict=strict))


def check_settings(values: Mapping[str, object]) -> tuple[Problem, ...]:
    """Say all that is wrong with settings of ``conf.py``, sorted; empty when they are good.

    :param values: setting names without ``memreport_`` and their values. When nothing is
        wrong, ``Settings.model_validate(values)`` succeeds.
    """
    problems: list[Problem] = []
    try:
        settings = Settings.model_validate(dict(values), by_alias=True, by_name=False)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            problems.append(_setting_problem(detail))
    else:
        if settings.severity.get(Code.INVALID_CONFIG) is Severity.WARNING:
            message = "memreport_severity: 'invalid-config' cannot be a warning"
            problems.append(_problem(Path("conf.py"), None, (), message, "remove it"))
    return tuple(sorted(problems, key=Problem.sort_key))


def _setting_problem(error: ErrorDetails) -> Problem:
    name, *rest = (part for part in error["loc"] if part != "[key]")
    where = f"memreport_{name}" + "".join(f"[{_short(part)}]" for part in rest)
    known: Iterable[str] = _keys(ReportFiles) if name == "report" else _keys(Settings)
    if error["type"] == "extra_forbidden":
        message, fix = _unknown_key(where, str(error["loc"][-1]), known)
    elif name == "severity" and error["loc"][-1] == "[key]":
        near = _nearest(str(rest[0]), Code)
        message = f"{where}: expected the code of a problem, found {_short(rest[0])}"
        fix = f"did you mean {near!r}?" if near else f"the codes are {', '.join(Code)}"
    elif _TYPES.get(error["type"]) == "a table":
        message, fix = f"{where}: expected a dictionary, found {_found(error['input'])}", ""
    else:
        message, fix = _mismatch(where, error)
    return _problem(Path("conf.py"), None, (), message, fix)


# --- reading ------------------------------------------------------------------------------


def load_config(path: Path) -> SiteConfig:
    """Read ``memreport.toml`` and, beside it, ``memreport.local.toml``.

    :param path: the TOML; problems name it as it is given here.
    :return: the reports, with what the local file overrides already in place.
    :raises InvalidConfig: with every problem of both files. No other exception is raised for
        what the files hold or for files that cannot be read.
    """
    problems: list[Problem] = []
    document = _read(path, problems)
    if document is None:
        raise InvalidConfig(problems)
    files = [path]
    places = _Places(document)
    local_path = path.parent / LOCAL_NAME
    if local_path != path and (local_path.is_symlink() or local_path.exists()):
        files.append(local_path)
        local = _read(local_path, problems)
        if local is not None:
            problems += _override(document, local, places)
    reports = _validate(document.data, places, problems)
    if problems:
        raise InvalidConfig(problems)
    source_lines = {
        (slug, source_id): document.lines.line(("reports", slug, "sources", source_id))
        for slug, report in reports.items()
        for source_id in report.sources
    }
    return SiteConfig(
        path=path,
        files=tuple(files),
        reports=reports,
        source_lines=source_lines,
        directory_lines={
            slug: document.lines.line(("reports", slug, "directory")) for slug in reports
        },
    )


class _Document(NamedTuple):
    """A TOML file that was parsed."""

    path: Path
    data: dict[str, Any]
    lines: LineIndex


class _Places:
    """Says in which file and line a key stands, when some are overridden by another file."""

    def __init__(self, document: _Document) -> None:
        self._main = document
        self._overridden: dict[Key, _Document] = {}

    def override(self, key: Key, document: _Document) -> None:
        self._overridden[key] = document

    def of(self, key: Key) -> tuple[Path, int | None]:
        document = self._overridden.get(key, self._main)
        return document.path, document.lines.line(key)


#: The most parts of a dotted key: the parser takes time and memory with their square.
_MOST_PARTS = 50
_PART_OF_KEY = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(
    rf"""(?<![\w"'\\-]){_PART_OF_KEY}(?:[ \t]*+\.[ \t]*+{_PART_OF_KEY}){{{_MOST_PARTS}}}"""
)


def _read(path: Path, problems: list[Problem]) -> _Document | None:
    """Read and parse one file; what is wrong with it is added to ``problems``."""

    def wrong(line: int | None, message: str, fix: str) -> None:
        problems.append(_problem(path, line, (), message, fix))

    data = read_regular_file(path, wrong)
    if data is None:
        return None
    if data.startswith(codecs.BOM_UTF8):
        data = data.removeprefix(codecs.BOM_UTF8)
        wrong(1, "the file starts with a byte-order mark (BOM)", "save it as UTF-8 without BOM")
    nul = data.find(b"\0")
    if nul >= 0:
        wrong(_line_at(data, nul), "the file holds a NUL byte", "save it as UTF-8 text")
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"found the byte 0x{data[error.start]:02x}"
        wrong(_line_at(data, error.start), f"expected UTF-8, {found}", "save the file as UTF-8")
        return None
    if deep := _DEEP_KEY.search(text):
        row = text.count("\n", 0, deep.start()) + 1
        wrong(row, f"a key has more than {_MOST_PARTS} parts", "no key here has more than six")
        return None
    try:
        return _Document(path, tomllib.loads(text), LineIndex(text))
    except RecursionError:
        wrong(None, "lists or tables are nested too deeply", "memreport.toml needs no such depth")
    except ValueError as error:  # TOMLDecodeError, or a number of too many digits
        place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", str(error))
        reason = str(error)[: place.start()] if place else str(error)
        last = text.count("\n", 0, len(text.rstrip())) + 1
        line = int(place[1]) if place and place[1] else last if place else None
        column = f" at column {place[2]}" if place and place[2] else ""
        message = f"not valid TOML{column}: {_printable(reason, 200)}"
        wrong(line, message, "see https://toml.io for the syntax")
    return None


def read_regular_file(
    path: Path,
    wrong: Callable[[int | None, str, str], None],
    limit: int = MAX_BYTES,
    instead: str = "name the TOML file itself",
) -> bytes | None:
    """Read a file that is part of the configuration.

    :param wrong: takes line, message and fix when it cannot be read; None is returned then.
    :param limit: the largest size, in bytes.
    :param instead: the fix when something else is there.
    """
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):  # reading a pipe or a device may never end
            found = "a directory" if stat.S_ISDIR(mode) else "something else"
            wrong(None, f"expected a file, found {found}", instead)
            return None
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except FileNotFoundError:
        wrong(None, "the file does not exist", "create it, or correct its name")
        return None
    except OSError as error:
        wrong(None, f"the file cannot be read: {error.strerror}", "mend its path or permissions")
        return None
    except ValueError:  # a NUL or a lone surrogate in the path
        wrong(None, "the path is not the name of a file", "correct the name")
        return None
    if len(data) > limit:
        wrong(None, f"the file is larger than {limit} bytes", instead)
        return None
    return data


def _line_at(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1


# The tables of memreport.local.toml, level by level, as far as they are the same for all.
_LOCAL_LEVELS = {0: "reports", 2: "sources"}
_LOCAL_KEYS = {"git": "checkout", "capture": "file"}


def _override(document: _Document, local: _Document, places: _Places) -> Iterator[Problem]:
    """Put what the local file says into the data of the main one; yield what it may not say."""

    def visit(key: tuple[str, ...], value: object, main: object) -> Iterator[Problem]:
        if not isinstance(value, dict):
            yield wrong(key, f"{_dotted(key)}: expected a table, found {_found(value)}")
            return
        if not isinstance(main, dict):
            return  # a mistake of the main file, which is said there
        for name, child in value.items():
            here = (*key, name)
            if len(here) == 5:
                expected = _LOCAL_KEYS[_kind_of(main)]
                if name == expected:
                    main[name] = child
                    places.override(here, local)
                else:
                    found = f"found {_short(name)}"
                    yield wrong(here, f"{_dotted(here)}: expected only {expected!r} here, {found}")
            elif len(key) in _LOCAL_LEVELS and name != _LOCAL_LEVELS[len(key)]:
                yield wrong(here, _not_local(here))
            elif name not in main:
                near = _nearest(name, main)
                hint = f"; did you mean {near!r}?" if near else ""
                yield wrong(here, f"{_dotted(here)}: not in {document.path.name}{hint}")
            else:
                yield from visit(here, child, main[name])

    def wrong(key: tuple[str, ...], message: str) -> Problem:
        fix = f"write what is meant for everybody into {document.path.name}"
        return _problem(local.path, local.lines.line(key), key, message, fix)

    return visit((), local.data, document.data)


def _not_local(key: Key) -> str:
    return (
        f"{_dotted(key)}: expected only the checkout or file of a source, as in "
        f"reports.jotter.sources.SRC-1.checkout, found {_short(key[-1])}"
    )


_REPORTS = TypeAdapter(dict[str, Report])


def _validate(data: dict[str, Any], places: _Places, problems: list[Problem]) -> dict[str, Report]:
    """Validate the tables, adding everything wrong to ``problems``."""

    def wrong(key: Key, message: str, fix: str) -> None:
        problems.append(_problem(*places.of(key), key, message, fix))

    for name in data:
        if name != "reports":
            wrong((name,), *_unknown_key(_dotted((name,)), name, ("reports",)))
    tables = data.get("reports", {})
    if not isinstance(tables, dict):
        message = f"reports: expected a table, found {_found(tables)}"
        wrong(("reports",), message, "write a table [reports.slug] for each report")
        return {}
    for slug, table in tables.items():
        if isinstance(table, dict) and "slug" in table:
            key = ("reports", slug, "slug")
            wrong(key, *_unknown_key(_dotted(key), "slug", _keys(Report)))
    for shared in _shared_directories(tables, places):
        wrong(*shared)
    named = {
        slug: {**table, "slug": slug} if isinstance(table, dict) else table
        for slug, table in tables.items()
    }
    try:
        return _REPORTS.validate_python(named, by_alias=True, by_name=False)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            wrong(*_explain(detail))
    return {}


def _shared_directories(tables: dict[str, Any], places: _Places) -> Iterator[tuple[Key, str, str]]:
    """Directories that an earlier report has already."""
    owners: dict[str, str] = {}
    keys: list[Key] = [
        ("reports", slug, "directory") for slug, table in tables.items() if isinstance(table, dict)
    ]
    for key in sorted(keys, key=lambda key: places.of(key)[1] or 0):
        slug = str(key[1])
        try:
            directory = _directory(tables[slug].get("directory", ""))
        except (PydanticCustomError, TypeError):
            continue  # said by the model
        owner = owners.setdefault(directory, slug)
        if owner != slug:
            line = places.of(("reports", owner, "directory"))[1]
            yield (
                key,
                f"{_dotted(key)}: expected a directory of its own, found {_short(directory)}, "
                f"which is that of report {owner!r} (line {line})",
                "a document belongs to one report: give each its own directory",
            )


def _explain(error: ErrorDetails) -> tuple[Key, str, str]:
    """The key, the message and the fix for one error of the tables of reports."""
    loc = list(error["loc"])
    kind = None
    if len(loc) > 3 and loc[1] == "sources" and loc[3] in _KINDS:
        kind = str(loc.pop(3))  # pydantic names the member of the union here
    is_slug = loc[1:] == ["slug"]
    key: Key = ("reports", *(part for part in loc[: 1 if is_slug else None] if part != "[key]"))
    where = _dotted(key)
    if error["type"] == "extra_forbidden":
        name = str(key[-1])
        message, fix = _unknown_key(where, name, _keys(_KINDS[kind] if kind else Report))
        other = next((other for other in _KINDS if name in _keys(_KINDS[other])), None)
        if kind and other:
            message = f"{where}: unknown key of kind {kind!r}; it is one of kind {other!r}"
        return key, message, fix
    if key[-1] == "kind" and len(key) == 5:
        found = "no such key" if error["type"] == "missing" else _found(error["input"])
        message = f"{where}: expected 'git' or 'capture', found {found}"
        return key, message, 'write kind = "git" for a repository, "capture" for a frozen file'
    if error["type"] == "missing":
        name = str(key[-1])
        help_text = _keys(_KINDS[kind] if kind else Report)[name]
        return key, f"{where}: a required key is missing", f"add {name} = …: {help_text}"
    return (key, *_mismatch(where, error))


# --- words --------------------------------------------------------------------------------

_TYPES = {
    "string_type": "a string",
    "bool_type": "True or False",
    "dict_type": "a table",
    "mapping_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "tuple_type": "a list of strings",
}


def _mismatch(where: str, error: ErrorDetails) -> tuple[str, str]:
    """What was expected and what was found, and the fix, for a value of the wrong kind."""
    context = error.get("ctx", {})
    what = context.get("what") or _TYPES.get(error["type"])
    if what is None and "expected" in context:
        what = f"one of {context['expected']}"
    if what is None:
        return f"{where}: {error['msg']}", ""
    return f"{where}: expected {what}, found {_found(error['input'])}", context.get("fix", "")


def _unknown_key(where: str, name: str, known: Iterable[str]) -> tuple[str, str]:
    names = list(known)
    near = _nearest(name, names)
    hint = f"; did you mean {near!r}?" if near else ""
    return f"{where}: unknown key{hint}", f"known here: {', '.join(names)}"


def _keys(model: type[BaseModel]) -> dict[str, str]:
    """The keys that an author may write for a model, and the help on each."""
    fields = model.model_fields.items()
    return {
        field.alias or name: field.description or "" for name, field in fields if name != "slug"
    }


def _nearest(name: str, known: Iterable[str]) -> str | None:
    if len(name) > 100:
        return None
    return next(iter(difflib.get_close_matches(name, [str(each) for each in known], n=1)), None)


def _found(value: object) -> str:
    """A value in few words, as an author of TOML knows it."""
    match value:
        case str():
            return _short(value)
        case bool():
            return str(value).lower()
        case int() if abs(value) < 10**18:
            return f"the number {value}"
        case int() | float():
            return "a number"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case dict():
            return "a table"
        case None:
            return "nothing"
        case _:
            return f"a {type(value).__name__}"


def _short(value: str | int) -> str:
    """A text in quotes, on one line, without the middle of a long one."""
    text = str(value)
    return repr(text if len(text) <= 80 else f"{text[:60]}…{text[-15:]}")


def _printable(text: str, limit: int) -> str:
    line = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
    return line if len(line) <= limit else f"{line[:limit]}…"


def _dotted(key: Key) -> str:
    """A key as TOML writes it; an item of a list in brackets, counted from 0."""
    text = ""
    for part in key:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += ("." if text else "") + (part if _PLAIN.fullmatch(part) else _short(part))
    return text


_PLAIN = re.compile(r"[A-Za-z0-9_-]{1,80}")


def _problem(path: Path, line: int | None, key: Key, message: str, fix: str) -> Problem:
    return Problem(
        code=Code.INVALID_CONFIG,
        message=message,
        path=str(path),
        line=line,
        report=str(key[1]) if len(key) > 1 and key[0] == "reports" else None,
        subject=str(key[3]) if len(key) > 3 and key[2] == "sources" else None,
        fix=fix,
    )


# --- lines --------------------------------------------------------------------------------

# What decides where a statement of TOML ends: strings and comments, which may hold anything,
# brackets, between which lines go on, and line ends. Three quotes end a string, and up to two
# more belong to it.
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*'"
    r"|\#[^\n]*"
    r"|[\[{]|[\]}]|\n\s*+",
    re.DOTALL,
)
_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_KEY = rf"(?P<key>{_PART}(?:[ \t]*\.[ \t]*{_PART})*)"
_HEADER = re.compile(rf"[ \t]*\[\[?[ \t]*{_KEY}[ \t]*\]")
_ASSIGNMENT = re.compile(rf"[ \t]*{_KEY}[ \t]*=")
_DEEPEST = 8  # no key of ours is deeper; keeps absurdly deep keys cheap


class LineIndex:
    """The lines of the keys of a TOML document, which :mod:`tomllib` does not tell.

    :param text: a document that tomllib accepts. Keys inside of inline tables and lists count
        to the line of the key that holds these.
    """

    def __init__(self, text: str) -> None:
        self._written: dict[Key, int] = {}
        self._implied: dict[Key, int] = {}
        table: tuple[str, ...] = ()
        for line, statement in _statements(text):
            header = _HEADER.match(statement)
            if header:
                key = table = _parse_key(header["key"])
            elif assignment := _ASSIGNMENT.match(statement):
                key = (*table, *_parse_key(assignment["key"]))
            else:
                continue
            self._written.setdefault(key, line)
            for length in range(1, min(len(key), _DEEPEST)):
                self._implied.setdefault(key[:length], line)

    def line(self, key: Sequence[str | int]) -> int | None:
        """The line, counted from 1, of a key or else of the nearest key above it.

        A table without a header of its own is where it is first mentioned.
        """
        for length in range(len(key), 0, -1):
            prefix = tuple(key[:length])
            line = self._written.get(prefix, self._implied.get(prefix))
            if line is not None:
                return line
        return None


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """Split a document into headers and assignments, each with its first line."""
    start = depth = 0
    line = 1
    for token in _TOKEN.finditer(text + "\n"):
        first = token[0][0]
        if first in "[{":
            depth += 1
        elif first in "]}":
            depth -= 1
        elif first == "\n" and depth == 0:
            yield line, text[start : token.start()]
            line += text.count("\n", start, token.end())
            start = token.end()


def _parse_key(key: str) -> tuple[str, ...]:
    """The parts of a dotted key; quoted parts are read by tomllib itself."""
    if '"' not in key and "'" not in key:
        return tuple(part.strip() for part in key.split("."))
    parts: list[str] = []
    value: Any = tomllib.loads(f"{key} = 0")
    while isinstance(value, dict):
        ((part, value),) = value.items()
        parts.append(part)
    return tuple(parts)
