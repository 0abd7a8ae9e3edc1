"""The values of keys: what each kind of text may hold."""

from __future__ import annotations

import codecs
import re
import shlex
from enum import StrEnum
from pathlib import PurePosixPath, PureWindowsPath
from typing import Annotated

from pydantic import AfterValidator

from sphinx_memreport.config.errors import expected
from sphinx_memreport.core.ids import REPORT_SLUG, SOURCE_ID
from sphinx_memreport.permalinks import repository_error, template_error

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_TEXT_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def _line(value: str) -> str:
    if not value.strip() or _CONTROL.search(value):
        raise expected("one line of text that is not empty")
    return value


def _prose(value: str) -> str:
    if _TEXT_CONTROL.search(value):
        raise expected("text without control characters")
    return value


def _slug(value: str) -> str:
    if not REPORT_SLUG.fullmatch(value):
        raise expected("a slug: a lowercase letter, then lowercase letters, digits and hyphens")
    return value


def _source_id(value: str) -> str:
    if not SOURCE_ID.fullmatch(value):
        raise expected("a source ID: SRC- and a number, as in SRC-1")
    return value


def directory_path(value: str) -> str:
    windows = PureWindowsPath(value)
    if not value or _CONTROL.search(value) or "\\" in value or windows.drive or windows.root:
        raise expected(
            'a directory relative to this file, with /, or "." for the folder of this file'
        )
    directory = PurePosixPath(value)
    if ".." in directory.parts:
        raise expected("a directory inside the folder of this file, without ..")
    return str(directory)


def _commit(value: str) -> str:
    if re.fullmatch(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}", value):
        return value.lower()
    is_name = value.isprintable() and value.strip() and not value.startswith("-")
    name = shlex.quote(f"{value}^{{commit}}") if is_name and len(value) <= 250 else "HEAD"
    raise expected(
        "the full 40 or 64 hexadecimal digits of a commit",
        f"write what this prints in the checkout: git rev-parse {name}",
    )


def _sha256(value: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", value):
        raise expected("the 64 hexadecimal digits of a SHA-256", "sha256sum prints it")
    return value.lower()


def _repository(value: str) -> str:
    wrong = repository_error(value)
    if wrong is not None:
        raise expected(
            f"the URL of a git repository (this one {wrong})",
            "write it as https://host/owner/name; a repository that is nowhere published is "
            "file:///path/to/it",
        )
    return value


def _permalink(value: str) -> str:
    wrong = template_error(value)
    if wrong is not None:
        raise expected(
            f"a template of an https URL (this one {wrong})",
            "as in https://host/owner/name/blob/{commit}/{path}#L{start}-L{end}",
        )
    return value


def _glob(value: str) -> str:
    if not value or _CONTROL.search(value) or value.startswith("/") or ".." in value.split("/"):
        raise expected("a glob relative to the root of the tree, as in src/**")
    return value


def _globs(value: tuple[str, ...]) -> tuple[str, ...]:
    if not value:
        raise expected("at least one glob")
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
        raise expected("the name of a text encoding", fix) from None
    return value


Line = Annotated[str, AfterValidator(_line)]
Prose = Annotated[str, AfterValidator(_prose)]
Slug = Annotated[str, AfterValidator(_slug)]
SourceId = Annotated[str, AfterValidator(_source_id)]
Globs = Annotated[tuple[Annotated[str, AfterValidator(_glob)], ...], AfterValidator(_globs)]
Encoding = Annotated[str, AfterValidator(_encoding)]
Directory = Annotated[str, AfterValidator(directory_path)]
Repository = Annotated[str, AfterValidator(_repository)]
Permalink = Annotated[str, AfterValidator(_permalink)]
Commit = Annotated[str, AfterValidator(_commit)]
Sha256 = Annotated[str, AfterValidator(_sha256)]


class BoundaryKind(StrEnum):
    """How much of a system a report covers."""

    WHOLE_SYSTEM = "whole-system"
    SUBSYSTEM_ONLY = "subsystem-only"
    PARTIAL_LOOP = "complete artifact, partial loop"


class ContractLevel(StrEnum):
    """How much a report is checked for (contract, section 3.9)."""

    CORE = "core"
    STRICT = "strict"
