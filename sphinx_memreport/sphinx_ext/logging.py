"""Problems as Sphinx messages, and the parser's own messages as problems."""

from __future__ import annotations

import logging as std_logging
import re
import weakref
from collections.abc import Callable, Iterable
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from docutils import nodes
from docutils.parsers.rst import directives, roles
from sphinx.util import logging

from sphinx_memreport.core.models import Record
from sphinx_memreport.core.nearest import nearest_names
from sphinx_memreport.core.problems import Code, Problem, Severity
from sphinx_memreport.core.vocabulary import RECORD_TYPES
from sphinx_memreport.sphinx_ext.directives.base import source_lines

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from sphinx_memreport.sphinx_ext.domain import MemDomain

logger = logging.getLogger(__name__)


def say(problem: Problem) -> None:
    """Log a problem at its place.

    Errors carry no type, so that ``suppress_warnings`` cannot hide them; warnings are
    ordinary Sphinx warnings of type ``memreport`` (contract, section 4).
    """
    place: Any = (problem.docname, problem.line) if problem.docname is not None else None
    message, location = problem.message, place
    if location is None and problem.path is not None:
        # Sphinx would take a plain string for a document name
        location = nodes.Element()
        location.source, location.line = problem.path, problem.line
    if problem.severity is Severity.ERROR:
        logger.error(
            "%s", f"{message} [memreport.{problem.code}]{problem.addendum}", location=location
        )
    else:
        logger.warning(
            "%s",
            # one line, for Sphinx puts the type at its end
            "; ".join(
                [message, *problem.details, *([f"fix: {problem.fix}"] if problem.fix else [])]
            ),
            location=location,
            type="memreport",
            subtype=str(problem.code),
        )


def say_where_codes_are_explained(problems: Iterable[Problem]) -> None:
    """Name the sections of the documentation that explain the codes of a build."""
    for code in sorted({problem.code for problem in problems}):
        logger.info("memreport.%s: %s", code, code.help_uri)


# --- what the parsers say -----------------------------------------------------------------

_UNKNOWN_DIRECTIVE = re.compile(r"Unknown directive type:? [\"'](?P<name>[^\"']*)[\"']")
_UNKNOWN_ROLE = re.compile(r"Unknown interpreted text role [\"'](?P<name>[^\"']*)[\"']")
_REST_FAILURE = re.compile(r'Error in "(?P<name>[^"]+)" directive:\s*(?P<why>[^\n]*)', re.DOTALL)
_MYST_FAILURE = re.compile(r"Directive '(?P<name>[^']+)':? (?P<why>[^\n]*)")
_MYST_OPTION = re.compile(
    r"'(?P<name>[^']+)': (?=Unknown option|Invalid option|Directive options|Has content)"
)
_MYST_TYPE = re.compile(r" \[(?:myst|ref)\.\w+\]$")
_SUBSTITUTION = re.compile(r"Substitution error:|(?P<circular>circular substitution reference)")
_FOOTNOTE = re.compile(r"Duplicate footnote definition found for label: '(?P<label>.*)'")
_LINK = re.compile(r"Duplicate reference definition: (?P<label>.*)", re.DOTALL)
# nothing is lost by these
_HARMLESS = re.compile(r"is not recommended")

#: Where duplicate definitions of links are kept until it is known where they stand: label and
#: line. The parser counts those in the body of a directive from its first line.
DUPLICATE_LINKS = "memreport-duplicate-links"

_REST_RECORD = re.compile(r"\s*\.\. (?P<directive>mem\w+)::\s+(?P<id>[^\s—–]+)")

_SUBSTITUTE = (
    "define each name in the braces, not by itself, under 'substitutions' of 'myst' in the front "
    "matter; or write the text in its place"
)

#: The loggers through which MyST and docutils say what they could not parse.
_LOGGERS = ("sphinx.myst_parser.warnings_", "sphinx.sphinx.util.docutils")


class ParserMessages(std_logging.Filter):
    """Takes messages about unknown or broken directives in a report's documents as problems.

    The parsers drop such a directive, body and all, with a warning that ``suppress_warnings``
    hides. A filter on their loggers sees each message first, notes it in the facts of the
    document that is being read, and withholds it, so that one mistake is said once.
    """

    def __init__(self, app: Sphinx) -> None:
        super().__init__()
        self._app = weakref.ref(app)

    def install(self) -> Callable[[], None]:
        """Start listening; returns what stops it."""
        for name in _LOGGERS:
            std_logging.getLogger(name).addFilter(self)

        def remove() -> None:
            for name in _LOGGERS:
                std_logging.getLogger(name).removeFilter(self)

        return remove

    def filter(self, record: std_logging.LogRecord) -> bool:
        """Say False for a message that has become a problem."""
        app = self._app()
        docname = app.env.current_document.docname if app and hasattr(app, "env") else ""
        if app is None or not docname:
            return True
        domain = cast("MemDomain", app.env.get_domain("mem"))
        if domain.report_of(docname) is None:
            return True
        return not note_parser_message(domain, docname, record.getMessage(), _line(record))


def note_parser_message(domain: MemDomain, docname: str, message: str, line: int) -> bool:
    """Note what a parser says it could not read; False when it says something else.

    Said twice, by a logger and by a node in the document, it is noted once.
    """
    message = _MYST_TYPE.sub("", message)
    if match := _LINK.fullmatch(message):
        said = cast("set[object]", domain.env.temp_data.setdefault(DUPLICATE_LINKS, set()))
        said.add((match["label"], line))
        return True
    found = _problem(message, domain.own_directives)
    if found is None:
        return False
    code, text, fix = found
    if _SUBSTITUTION.match(message):
        line = _line_of_substitution(source_lines(domain.env), line, message)
    is_new = code is not None and domain.note_once(code, line, text, docname=docname, fix=fix)
    if is_new and code is Code.SWALLOWED_TEXT:
        _declare_anyway(domain, docname, line)
    return True


def _problem(message: str, own: frozenset[str]) -> tuple[Code | None, str, str] | None:
    if match := _UNKNOWN_DIRECTIVE.search(message):
        return _unknown("directive", match["name"], _known_directives(own))
    if match := _UNKNOWN_ROLE.search(message):
        return _unknown("role", match["name"], _known_roles())
    if match := _FOOTNOTE.fullmatch(message):
        text = f"the footnote '[^{match['label']}]:' is dropped: its label is taken"
        return Code.SWALLOWED_TEXT, text, "give it another label, here and where it is cited"
    if match := _SUBSTITUTION.match(message):
        if match["circular"]:  # what follows is a set, in any order
            names = sorted(set(re.findall("'[^']+'", message)))
            message = f"{match['circular']}: {', '.join(names)}"
        text = f"{message}; nothing is shown in its place"
        return Code.SWALLOWED_TEXT, text, _SUBSTITUTE
    match = _REST_FAILURE.search(message) or _MYST_FAILURE.match(message)
    if match:
        text = f"{match['name']}: {match['why'].strip()}"
        return Code.SWALLOWED_TEXT, text, "mend the directive: nothing of it was read"
    match = _MYST_OPTION.match(message)
    if match is None or _HARMLESS.search(message):
        return None
    if match["name"] in own:
        return None, "", ""  # the directive itself says what was lost
    return Code.SWALLOWED_TEXT, message, "put a blank line before a body that begins with ':'"


def _line_of_substitution(lines: list[str], line: int, message: str) -> int:
    """Where a substitution stands that fails, or the text of another one that holds it.

    The parser names the first line of a paragraph, or one too far down for each text of another.
    """
    name = re.search("'([^']+)'", message)
    named = rf"\{{\{{[^{{}}]*\b{re.escape(name[1])}\b" if name else r"\{\{"
    below = takewhile(lambda n: lines[n - 1].strip(), range(max(line, 1), len(lines) + 1))
    places = [*below, *range(min(line, len(lines)), 0, -1)]
    found = (n for pattern in (named, r"\{\{") for n in places if re.search(pattern, lines[n - 1]))
    return next(found, line)


def _unknown(what: str, name: str, known: list[str]) -> tuple[Code, str, str]:
    near = nearest_names(name, known, limit=1)
    fix = f"did you mean {near[0]}?" if near else f"define the {what}, or write it as text"
    return Code.UNKNOWN_DIRECTIVE, f"nothing defines the {what} '{name}'", fix


def _declare_anyway(domain: MemDomain, docname: str, line: int) -> None:
    """Count the record of a broken reST directive as declared: one mistake, one problem."""
    lines = source_lines(domain.env)
    match = _REST_RECORD.match(lines[line - 1]) if line <= len(lines) else None
    kinds = {type.directive: type.kind for type in RECORD_TYPES}
    facts = domain.facts(docname)
    if match and match["directive"] in kinds and facts.report:
        facts.records.append(
            Record(
                report=facts.report,
                id=match["id"],
                kind=kinds[match["directive"]],
                label="",
                docname=docname,
                line=line,
                member=facts.member,
            )
        )


def _known_directives(own: frozenset[str]) -> list[str]:
    # docutils has no public list of what is registered
    tables: Any = directives
    return sorted({*own, *tables._directive_registry, *tables._directives})


def _known_roles() -> list[str]:
    tables: Any = roles
    return sorted({"mem", "memsrc", "memraw", *tables._role_registry, *tables._roles})


def _line(record: std_logging.LogRecord) -> int:
    location = getattr(record, "location", None)
    if isinstance(location, tuple) and isinstance(location[1], int):
        return location[1]
    if isinstance(location, nodes.Node):
        return location.line or 1
    tail = str(location or "").rpartition(":")[2]
    return int(tail) if re.fullmatch("[0-9]{1,9}", tail) else 1
