"""The settings of ``conf.py``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, StrictBool, ValidationError
from pydantic_core import ErrorDetails

from sphinx_memreport.config.errors import (
    TYPES,
    config_problem,
    found_value,
    keys_of,
    mismatch,
    nearest,
    short,
    unknown_key,
)
from sphinx_memreport.config.models import Table
from sphinx_memreport.config.values import Line
from sphinx_memreport.core.problems import Code, Problem, Severity, default_severity


class ReportFiles(Table):
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


class Settings(Table):
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
            problems.append(config_problem(Path("conf.py"), None, (), message, "remove it"))
    return tuple(sorted(problems, key=Problem.sort_key))


def _setting_problem(error: ErrorDetails) -> Problem:
    name, *rest = (part for part in error["loc"] if part != "[key]")
    where = f"memreport_{name}" + "".join(f"[{short(part)}]" for part in rest)
    known: Iterable[str] = keys_of(ReportFiles) if name == "report" else keys_of(Settings)
    if error["type"] == "extra_forbidden":
        message, fix = unknown_key(where, str(error["loc"][-1]), known)
    elif name == "severity" and error["loc"][-1] == "[key]":
        near = nearest(str(rest[0]), Code)
        message = f"{where}: expected the code of a problem, found {short(rest[0])}"
        fix = f"did you mean {near!r}?" if near else f"the codes are {', '.join(Code)}"
    elif TYPES.get(error["type"]) == "a table":
        message, fix = f"{where}: expected a dictionary, found {found_value(error['input'])}", ""
    else:
        message, fix = mismatch(where, error)
    return config_problem(Path("conf.py"), None, (), message, fix)
