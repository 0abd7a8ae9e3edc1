"""The problems of a build as data: JSON, SARIF 2.1.0 and GitHub annotations (section 4)."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from pydantic import Field

from sphinx_memreport.core.models import Model
from sphinx_memreport.core.output import json_bytes
from sphinx_memreport.core.problems import (
    DOCS_URL,
    Code,
    Notice,
    Problem,
    Severity,
    default_severity,
)

SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
#: What relative addresses in SARIF start from.
_SRCDIR = "SRCDIR"
_RULES: list[Code | Notice] = [*Code, *Notice]


class ProblemEntry(Model):
    """A problem, as files tell it."""

    code: Code | Notice
    severity: Severity
    message: str
    details: tuple[str, ...] = Field(description="Further lines: a word diff, occurrences …")
    fix: str = Field(description="What to type; empty when that cannot be said.")
    docname: str | None = Field(description="Name of the document, without suffix.")
    file: str | None = Field(description="The file, relative to the source folder of the site.")
    line: int | None = Field(description="Line of the file, counted from 1.")
    report: str | None
    subject: str | None = Field(description="ID of the record or source concerned.")
    help: str = Field(description="Address of the page about the code.")

    @classmethod
    def of(cls, problem: Problem, file: str | None) -> ProblemEntry:
        """The entry of a problem that stands in ``file``."""
        return cls(
            code=problem.code,
            severity=problem.severity,
            message=problem.message,
            details=problem.details,
            fix=problem.fix,
            docname=problem.docname,
            file=file,
            line=problem.line,
            report=problem.report,
            subject=problem.subject,
            help=problem.code.help_uri,
        )

    def sort_key(self) -> tuple[bool, str, int, str, str, str]:
        """As of :class:`Problem`, by file, whatever machine the site is on."""
        place = (self.docname is not None, self.file or "", self.line or 0)
        return (*place, self.code, self.subject or "", self.message)

    @property
    def text(self) -> str:
        """Message, details and fix, as lines."""
        return "\n".join([self.message, *self.details, *([f"fix: {self.fix}"] if self.fix else [])])


def problems_json(entries: Iterable[ProblemEntry]) -> bytes:
    """The problems as a JSON list, of the form of ``problems`` in ``memreport.json``."""
    return json_bytes([entry.model_dump(mode="json") for entry in entries])


# --- SARIF --------------------------------------------------------------------------------


def problems_sarif(entries: Iterable[ProblemEntry], version: str) -> bytes:
    """The problems as a SARIF log of one run; every code is a rule.

    :param version: that of this package.
    """
    driver = {
        "name": "sphinx-memreport",
        "version": version,
        "informationUri": DOCS_URL,
        "rules": [_rule(code) for code in _RULES],
    }
    source_folder = "The folder of conf.py's documents"
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_SRCDIR: {"description": {"text": source_folder}}},
        "results": [_result(entry) for entry in entries],
    }
    return json_bytes({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def _rule(code: Code | Notice) -> dict[str, Any]:
    return {
        "id": code,
        "shortDescription": {"text": code.summary},
        "help": {"text": f"{code.summary} How to mend it: {code.help_uri}"},
        "helpUri": code.help_uri,
        "defaultConfiguration": {"level": default_severity(code)},
    }


def _result(entry: ProblemEntry) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if entry.file is not None:
        location["physicalLocation"] = _physical(entry.file, entry.line)
    if entry.subject:
        location["logicalLocations"] = [_logical(entry.subject, entry.report)]
    return {
        "ruleId": entry.code,
        "ruleIndex": _RULES.index(entry.code),
        "level": entry.severity,
        "message": {"text": _sarif_message(entry.text)},
        "locations": [location] if location else [],
    }


def _physical(file: str, line: int | None) -> dict[str, Any]:
    address = quote(file.encode("utf-8", "surrogatepass"), safe="/")
    place: dict[str, Any] = {"artifactLocation": {"uri": address, "uriBaseId": _SRCDIR}}
    if line is not None and line > 0:
        place["region"] = {"startLine": line}
    return place


def _logical(subject: str, report: str | None) -> dict[str, Any]:
    return {
        "name": subject,
        "fullyQualifiedName": f"{report}:{subject}" if report else subject,
        "kind": "source" if subject.startswith("SRC-") else "record",
    }


def _sarif_message(text: str) -> str:
    """A text in which braces are no placeholders (section 3.11.5 of the standard)."""
    return text.replace("{", "{{").replace("}", "}}")


# --- GitHub -------------------------------------------------------------------------------


def github_annotations(entries: Sequence[ProblemEntry], folder: str = "") -> str:
    """The problems as workflow commands of GitHub Actions, one a line.

    :param folder: the source folder, relative to the root of the repository.
    """
    return "".join(f"{_annotation(entry, folder)}\n" for entry in entries)


def repository_folder(srcdir: Path) -> str:
    """The source folder as GitHub sees it, from the root of the repository."""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    folder = srcdir.resolve()
    return folder.relative_to(root).as_posix() if folder.is_relative_to(root) else ""


def _annotation(entry: ProblemEntry, folder: str) -> str:
    properties: dict[str, object] = {"title": f"memreport.{entry.code}"}
    if entry.file is not None:
        place = {"file": posixpath.normpath(posixpath.join(folder, entry.file))}
        properties = {**place, **({"line": entry.line} if entry.line else {}), **properties}
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{entry.severity} {listed}::{_data(entry.text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
