"""What each record directive takes: its kind, options, and closed lists of values.

The single declaration from which options are checked, shown and documented
(contract, section 3.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from sphinx_memreport.core.ids import Kind, MemberName, Prefix
from sphinx_memreport.core.nearest import did_you_mean
from sphinx_memreport.core.problems import Code


class OptionType(StrEnum):
    """How the text of an option is read."""

    PROSE = "prose"  # MyST inline text, scanned for IDs
    WORDS = "words"  # a comma-separated list
    FORMS = "forms"  # a comma-separated list of representational forms
    STATUS = "status"
    GUARANTEE = "guarantee"
    RECORD = "record"  # exactly one record ID
    FLAG = "flag"
    VERBATIM = "verbatim"  # a pattern or globs: never scanned, never parsed


class Option(NamedTuple):
    """One option of a record directive. ``reasoned`` demands a reason after a bare verdict."""

    name: str
    label: str
    help: str
    type: OptionType = OptionType.PROSE
    required: bool = False
    reasoned: bool = False

    def text(self, written: str) -> str:
        """A value without blanks at its ends, which in a pattern are part of it."""
        return written.strip("\n" if self.type is OptionType.VERBATIM else None)


class RecordType(NamedTuple):
    """A kind of record and the directive that declares it."""

    directive: str
    kind: Kind
    title: str
    plural: str
    options: tuple[Option, ...]

    def option(self, name: str) -> Option | None:
        """The option of that name, or None."""
        return next((option for option in self.options if option.name == name), None)


FORMS = ("natural-language", "symbolic", "distributed-parametric")
STATUSES = (
    "absent",
    "inapplicable",
    "uninspected",
    "claimed",
    "afforded",
    "wired",
    "observed",
    "causally supported",
)
GUARANTEES = (
    "invariant",
    "protocol",
    "policy",
    "best effort",
    "deployment guarantee",
    "no claimed guarantee",
)
STATUS_OPTIONS = ("implementation", "operation")

_COMMON = (
    Option("part-of", "Part of", "The one record that this one is a part of.", OptionType.RECORD),
    Option("counterpart", "Counterpart", "The record of another member about the same thing."),
    Option("tags", "Tags", "Words to filter by.", OptionType.WORDS),
)
_WHAT_IT_IS = (
    Option("identity", "Identity", "What the source calls it and where it lives."),
    Option("form", "Form", "Its representational forms.", OptionType.FORMS),
    Option("substrate", "Substrate", "What holds it: files, a database, weights."),
)


def _route_field(name: str, label: str, help: str) -> Option:
    return Option(name, label, help, required=True, reasoned=True)


RECORD_TYPES = (
    RecordType(
        "memcomponent",
        Kind.COMPONENT,
        "Component",
        "Components",
        (
            *_WHAT_IT_IS,
            Option("parameters-change", "Parameters change", "Whether use changes its weights."),
            Option("version-pinned", "Version pinned", "Which version is fixed, and where."),
            Option("mutable-endpoint", "Mutable endpoint", "Whether another party can change it."),
            *_COMMON,
        ),
    ),
    RecordType(
        "memobject",
        Kind.OBJECT,
        "Operative object",
        "Operative objects",
        (
            *_WHAT_IT_IS,
            Option("lineage", "Lineage", "What it is made from, and by whom."),
            Option("consumers", "Consumers", "Who reads it later."),
            Option("authority", "Authority", "What force it has on its consumers."),
            *_COMMON,
        ),
    ),
    RecordType(
        "memroute",
        Kind.ROUTE,
        "Route",
        "Routes",
        (
            Option(
                "implementation",
                "Implementation",
                "What the source establishes.",
                OptionType.STATUS,
            ),
            Option("operation", "Operation", "What a run establishes.", OptionType.STATUS),
            _route_field("immediate-return", "Immediate return", "What the caller gets back."),
            _route_field("later-readback", "Later read-back", "What comes back later."),
            _route_field(
                "delegated-visibility", "Delegated visibility", "What a delegate sees of it."
            ),
            _route_field("selection", "Selection", "What decides what is taken."),
            _route_field("invalidation", "Invalidation", "What expires or withdraws it."),
            _route_field("activation", "Activation", "What effect it has when it is read."),
            _route_field("evidence-limits", "Evidence limits", "What was not established."),
            Option("owner", "Owner", "Who starts and controls it."),
            Option("progression", "Progression", "The steps from start to end."),
            Option("guarantee", "Guarantee", "How strong its promise is.", OptionType.GUARANTEE),
            *_COMMON,
        ),
    ),
    RecordType(
        "memclaim",
        Kind.CLAIM,
        "Claim",
        "Claims",
        (
            Option("operation", "Operation", "What is claimed."),
            Option("source", "Source", "Who claims it, and where."),
            *_COMMON,
        ),
    ),
    RecordType(
        "memabsence",
        Kind.ABSENCE,
        "Evidenced absence",
        "Evidenced absences",
        (
            Option("searched", "Searched", "Globs over the pinned tree.", OptionType.VERBATIM),
            Option("pattern", "Pattern", "What must not occur there.", OptionType.VERBATIM),
            Option("regex", "Regular expression", "Read the pattern as one.", OptionType.FLAG),
            Option("conclusion", "Conclusion", "What follows from the absence."),
            *_COMMON,
        ),
    ),
    RecordType(
        "memauthority",
        Kind.AUTHORITY,
        "Behavioral-authority path",
        "Behavioral-authority paths",
        (
            Option("consumer", "Consumer", "Who acts on it.", required=True),
            Option("channel", "Channel", "How it reaches the consumer.", required=True),
            Option("force", "Force", "Whether it is knowledge, instruction …", required=True),
            Option("horizon", "Horizon", "How long it holds.", required=True),
            *_COMMON,
        ),
    ),
)

#: The directives whose body is parsed like the document around it.
CONTAINERS = frozenset(type.directive for type in RECORD_TYPES) | {"memannotation", "memamendment"}
#: The views: what they show is made from the rest of the site (contract, section 3.10).
VIEWS = frozenset(
    {"memsources", "memrecords", "memevidence", "memoverview", "memcomparison", "memgraph"}
)
#: All directives of ours.
OWN_DIRECTIVES = (
    CONTAINERS | VIEWS | {"evidence", "memmember", "memsupplied", "memcoverage", "memprofile"}
)

TYPE_OF_KIND: Mapping[Kind, RecordType] = {type.kind: type for type in RECORD_TYPES}

#: Members that declare only records of their own prefix (contract, section 3.5).
PREFIX_OF_MEMBER: Mapping[MemberName, Prefix] = {
    MemberName.RUNTIME: Prefix.RUNTIME,
    MemberName.MEMORY: Prefix.MEMORY,
    MemberName.EPISTEMIC: Prefix.EPISTEMIC,
}

_VERDICT = re.compile(r"(inapplicable|uninspected)\b(.*)", re.IGNORECASE | re.DOTALL)
_REASON = re.compile(r"(?:\s*(?:—|–|--)\s*|\s+-\s+)\S")


class Fault(NamedTuple):
    """What is wrong with one option: a code, one line for the author, and a fix."""

    code: Code
    message: str
    fix: str = ""


def split_list(text: str) -> list[str]:
    """The items of a comma-separated list, without blanks at their ends."""
    return [item.strip() for item in text.split(",") if item.strip()]


def check_options(type: RecordType, options: Mapping[str, str], *, partial: bool) -> list[Fault]:
    """Check the options of a record directive against its declaration.

    :param options: option name to text; names that the type does not know are not looked at.
    :param partial: whether required options may be left out (annotations).
    """
    faults: list[Fault] = []
    if not partial:
        faults.extend(_missing(type, options))
    for option in type.options:
        if option.name in options:
            faults.extend(_check_value(option, options[option.name].strip()))
    if type.kind is Kind.ABSENCE:
        faults.extend(_half_a_search(options))
    return faults


def _half_a_search(options: Mapping[str, str]) -> Iterable[Fault]:
    """``pattern`` and ``searched`` go together (contract, section 3.6)."""
    missing = [name for name in ("pattern", "searched") if not options.get(name, "").strip()]
    if missing and options.keys() & {"pattern", "searched", "regex"}:
        names = "', '".join(missing)
        yield Fault(
            Code.MISSING_FIELD,
            f"a search needs 'pattern' and 'searched'; missing here: '{names}'",
            f"add a line ':{missing[0]}: …'",
        )


def _missing(type: RecordType, options: Mapping[str, str]) -> Iterable[Fault]:
    for option in type.options:
        if option.required and not options.get(option.name, "").strip():
            reason = ", or 'inapplicable — why', or 'uninspected — why'" if option.reasoned else ""
            yield Fault(
                Code.MISSING_FIELD,
                f"{type.directive} needs the option '{option.name}'",
                f"add a line ':{option.name}: …'{reason}",
            )
    if type.kind is Kind.ROUTE and not any(
        options.get(name, "").strip() for name in STATUS_OPTIONS
    ):
        yield Fault(
            Code.MISSING_FIELD,
            "memroute needs the option 'implementation' or 'operation'",
            "add a line ':implementation: wired' (or another status)",
        )


def _check_value(option: Option, text: str) -> Iterable[Fault]:
    match option.type:
        case OptionType.FORMS:
            yield from _not_among(option, split_list(text), FORMS)
        case OptionType.STATUS:
            yield from _not_among(option, [text] if text else [], STATUSES)
        case OptionType.GUARANTEE:
            yield from _not_among(option, [text] if text else [], GUARANTEES)
        case OptionType.FLAG if text:
            yield Fault(
                Code.INVALID_VALUE,
                f"option '{option.name}' is a flag and takes no value, found '{text}'",
                f"write ':{option.name}:' alone",
            )
        case _ if option.reasoned:
            yield from _without_reason(option, text)


def _not_among(option: Option, values: Iterable[str], allowed: tuple[str, ...]) -> Iterable[Fault]:
    for value in values:
        if value not in allowed:
            yield Fault(
                Code.INVALID_VALUE,
                f"option '{option.name}' must be one of {', '.join(allowed)}; found '{value}'",
                did_you_mean(value, allowed),
            )


def _without_reason(option: Option, text: str) -> Iterable[Fault]:
    verdict = _VERDICT.match(text)
    if verdict and not _REASON.match(verdict[2]):
        word = verdict[1].lower()
        yield Fault(
            Code.MISSING_REASON,
            f"option '{option.name}' says '{word}' without a dash and a reason",
            f"write ':{option.name}: {word} — why'",
        )
