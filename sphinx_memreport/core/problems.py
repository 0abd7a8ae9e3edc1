"""The closed list of problem codes, and one problem (contract, section 4)."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict

from sphinx_memreport.core.characters import printable_line

#: Where the documentation of this project stands; links in problem files start from here.
DOCS_URL = "https://sphinx-memreport.readthedocs.io/en/stable/"


class Severity(StrEnum):
    """How much a problem weighs: an error fails the build."""

    ERROR = "error"
    WARNING = "warning"


class _Explained(StrEnum):
    """Names that have a section in ``docs/reference/problems.md``."""

    @property
    def summary(self) -> str:
        """What a problem of this name is, in one sentence."""
        return _SUMMARIES[self]

    @property
    def anchor(self) -> str:
        """The anchor of its section."""
        return f"problem-{self}"

    @property
    def help_uri(self) -> str:
        """The address of that section."""
        return f"{DOCS_URL}reference/problems.html#{self.anchor}"


class Code(_Explained):
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
    UNVERIFIED_QUOTE = "unverified-quote"
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


class Notice(_Explained):
    """Warnings outside the closed list: what may be meant so, but checks less than it seems.

    They are always warnings: ``memreport_severity`` takes codes alone.
    """

    NO_REPORT = "no-report"
    LITERAL_PATTERN = "literal-pattern"


_SUMMARIES: dict[str, str] = {
    Code.DANGLING_ID: "An ID is cited that nothing declares or supplies.",
    Code.MALFORMED_ID: "An ID does not follow the grammar of IDs, or is of another kind.",
    Code.DUPLICATE_ID: "An ID is declared more than once in a report.",
    Code.COLLIDING_ID: "An ID begins with the whole of another ID.",
    Code.FOREIGN_PREFIX: "A member declares a record with the prefix of another analyst.",
    Code.OUTSIDE_REPORT: "A directive stands in a document that no report owns.",
    Code.WRONG_MEMBER: "A directive stands in a member that may not use it.",
    Code.INVALID_CONFIG: "A configuration file or setting cannot be used as it is.",
    Code.UNKNOWN_SOURCE: "A source is named that the report does not have.",
    Code.CHECKOUT_MISSING: "The checkout or captured file of a source cannot be read.",
    Code.COMMIT_MISSING: "The checkout of a source lacks the pinned commit.",
    Code.PATH_MISSING: "A path does not exist as a file at the pinned commit.",
    Code.BLOB_MISSING: "The content of a file is not in the checkout.",
    Code.RANGE_OUTSIDE_FILE: "A range of lines does not lie inside the file.",
    Code.NOT_TEXT: "A quoted file is not text in the encoding of its source.",
    Code.CAPTURE_MISMATCH: "A captured file does not have the pinned SHA-256.",
    Code.STALE_QUOTE: "A quote does not occur in the file that it names.",
    Code.AMBIGUOUS_QUOTE: "A quote occurs more than once where it is sought.",
    Code.EMPTY_QUOTE: "A piece of evidence quotes nothing.",
    Code.UNVERIFIED_QUOTE: "What is cited is not in the lock that stands in for its source.",
    Code.SWALLOWED_TEXT: "The parser would have lost something that an author wrote.",
    Code.UNCLOSED_FENCE: "A fence is never closed, or is closed by a line inside of it.",
    Code.UNKNOWN_DIRECTIVE: "A directive or role is used that nothing defines.",
    Code.MISSING_FIELD: "A required option or field is missing.",
    Code.INVALID_VALUE: "A value is not one of those allowed in its place.",
    Code.MISSING_REASON: "A field is called inapplicable or uninspected without a reason.",
    Code.PART_OF_SELF: "A record is a part of itself.",
    Code.PART_OF_CYCLE: "Records are parts of one another in a circle.",
    Code.OWN_ANNOTATION: "A member annotates a record that it declares itself.",
    Code.REFUTED_ABSENCE: "A search that should find nothing found something.",
    Code.EMPTY_SEARCH: "A search looks into no file, so it proves nothing.",
    Code.NO_EVIDENCE: "A record that must carry evidence has none.",
    Code.OVERCLAIMED_STATUS: "A status claims more than the evidence of its layer shows.",
    Code.UNCOVERED_RECORD: "No row of the coverage table cites a record.",
    Code.COVERAGE_GAP: "A row of the coverage table names neither records nor what is unresolved.",
    Code.FOREIGN_COMMIT: "A full commit hash is none of the report's pins.",
    Code.INVISIBLE_CHARACTER: "A quote holds invisible or direction-changing characters.",
    Notice.NO_REPORT: "A report has no document, or IDs stand on a site without reports.",
    Notice.LITERAL_PATTERN: "A text that is searched letter by letter looks like an expression.",
}


_WARNINGS = frozenset({Code.FOREIGN_COMMIT, Code.INVISIBLE_CHARACTER})


def default_severity(code: Code | Notice, *, strict: bool = False) -> Severity:
    """The severity of a code at a contract level, before ``memreport_severity``."""
    if isinstance(code, Notice) or code in _WARNINGS or (code is Code.COVERAGE_GAP and not strict):
        return Severity.WARNING
    return Severity.ERROR


class Place(NamedTuple):
    """Where something stands: a document name (without suffix) and a line counted from 1."""

    docname: str
    line: int


#: A line of a message. It may quote what anybody wrote, so nothing in it is obeyed anywhere.
MessageLine = Annotated[str, AfterValidator(printable_line)]


class Problem(BaseModel):
    """One mistake, said to the author.

    ``message`` is one line; ``details`` are further lines (a word diff, a list of
    occurrences); ``fix`` says what to type. ``docname`` is None for a problem of a
    configuration file, whose ``path`` is then given. ``subject`` is the record or source
    concerned, if any.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    code: Code | Notice
    message: MessageLine
    docname: str | None = None
    path: str | None = None
    line: int | None = None
    report: str | None = None
    subject: MessageLine | None = None
    details: tuple[MessageLine, ...] = ()
    fix: MessageLine = ""
    severity: Severity = Severity.ERROR

    def sort_key(self) -> tuple[bool, str, int, str, str, str]:
        """Problems are listed by place, then code, then text.

        Those of configuration and sources come first: others may follow from them.
        """
        of_document = self.docname is not None
        place = self.docname if self.docname is not None else self.path or ""
        return (of_document, place, self.line or 0, self.code, self.subject or "", self.message)

    @property
    def addendum(self) -> str:
        """Details and fix as indented lines, empty when there are none."""
        lines = [*self.details, *([f"fix: {self.fix}"] if self.fix else [])]
        return "".join(f"\n    {line}" for line in lines)
