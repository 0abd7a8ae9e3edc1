"""The closed list of problem codes, and one problem (contract, section 4)."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict


class Severity(StrEnum):
    """How much a problem weighs: an error fails the build."""

    ERROR = "error"
    WARNING = "warning"


class Code(StrEnum):
    """Every problem code. Each has a section in ``docs/`` and a failing example in ``tests/``."""

    # IDs
    DANGLING_ID = "dangling-id"
    MALFORMED_ID = "malformed-id"
    DUPLICATE_ID = "duplicate-id"
    COLLIDING_ID = "colliding-id"
    FOREIGN_PREFIX = "foreign-prefix"
    OUTSIDE_REPORT = "outside-report"
    WRONG_MEMBER = "wrong-member"
    # Sources
    INVALID_CONFIG = "invalid-config"
    UNKNOWN_SOURCE = "unknown-source"
    CHECKOUT_MISSING = "checkout-missing"
    COMMIT_MISSING = "commit-missing"
    PATH_MISSING = "path-missing"
    BLOB_MISSING = "blob-missing"
    RANGE_OUTSIDE_FILE = "range-outside-file"
    NOT_TEXT = "not-text"
    CAPTURE_MISMATCH = "capture-mismatch"
    # Evidence
    STALE_QUOTE = "stale-quote"
    AMBIGUOUS_QUOTE = "ambiguous-quote"
    EMPTY_QUOTE = "empty-quote"
    # Records
    SWALLOWED_TEXT = "swallowed-text"
    UNCLOSED_FENCE = "unclosed-fence"
    UNKNOWN_DIRECTIVE = "unknown-directive"
    MISSING_FIELD = "missing-field"
    INVALID_VALUE = "invalid-value"
    MISSING_REASON = "missing-reason"
    PART_OF_SELF = "part-of-self"
    PART_OF_CYCLE = "part-of-cycle"
    OWN_ANNOTATION = "own-annotation"
    REFUTED_ABSENCE = "refuted-absence"
    EMPTY_SEARCH = "empty-search"
    # Contract levels
    NO_EVIDENCE = "no-evidence"
    OVERCLAIMED_STATUS = "overclaimed-status"
    UNCOVERED_RECORD = "uncovered-record"
    COVERAGE_GAP = "coverage-gap"
    # Warnings
    FOREIGN_COMMIT = "foreign-commit"
    INVISIBLE_CHARACTER = "invisible-character"


_WARNINGS = frozenset({Code.FOREIGN_COMMIT, Code.INVISIBLE_CHARACTER})


def default_severity(code: Code, *, strict: bool = False) -> Severity:
    """The severity of a code at a contract level, before ``memreport_severity``."""
    if code in _WARNINGS or (code is Code.COVERAGE_GAP and not strict):
        return Severity.WARNING
    return Severity.ERROR


class Place(NamedTuple):
    """Where something stands: a document name (without suffix) and a line counted from 1."""

    docname: str
    line: int


class Problem(BaseModel):
    """One mistake, said to the author.

    ``message`` is one line; ``details`` are further lines (a word diff, a list of
    occurrences); ``fix`` says what to type. ``docname`` is None for a problem of a
    configuration file, whose ``path`` is then given. ``subject`` is the record or source
    concerned, if any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    code: Code
    message: str
    docname: str | None = None
    path: str | None = None
    line: int | None = None
    report: str | None = None
    subject: str | None = None
    details: tuple[str, ...] = ()
    fix: str = ""
    severity: Severity = Severity.ERROR

    def sort_key(self) -> tuple[str, int, str, str, str]:
        """Problems are listed by place, then code, then text."""
        place = self.docname if self.docname is not None else self.path or ""
        return (place, self.line or 0, self.code, self.subject or "", self.message)

    @property
    def addendum(self) -> str:
        """Details and fix as indented lines, empty when there are none."""
        lines = [*self.details, *([f"fix: {self.fix}"] if self.fix else [])]
        return "".join(f"\n    {line}" for line in lines)
