"""The words of the plain form: labels of fields, names of members, columns of tables."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sphinx_memreport.core.ids import Kind, MemberName
from sphinx_memreport.core.vocabulary import RECORD_TYPES, TYPE_OF_KIND, Option, OptionType

#: The label that an option is written with; the vocabulary's own one where it is not listed.
_WRITTEN = {
    "identity": "Source-native identity",
    "form": "Representational form",
    "substrate": "Storage substrate",
    "parameters-change": "Parameters change during operation",
    "version-pinned": "Exact version pinned",
    "mutable-endpoint": "Mutable endpoint may resolve to another model",
    "implementation": "implementation conclusion status",
    "operation": "operation conclusion status",
    "selection": "Selection predicate",
    "invalidation": "Invalidation or expiry",
    "activation": "Activation or effect",
    "progression": "Endpoints and progression",
    "guarantee": "Guarantee strength",
    "consumers": "Memory consumers",
    "authority": "Behavioral authority",
    "searched": "Searched globs",
    "conclusion": "Conclusion supported",
}
_CLAIMED_OPERATION = "Claimed operation"
#: Further labels that mean an option, in lower case.
_ALSO = {
    "identity": ("identity",),
    "form": ("form", "representational forms"),
    "substrate": ("substrate", "storage"),
    "parameters-change": ("parameters change",),
    "version-pinned": ("version pinned",),
    "mutable-endpoint": ("mutable endpoint", "mutable endpoint may resolve differently"),
    "implementation": ("implementation status", "implementation"),
    "operation": ("operation status", "operational conclusion status"),
    "later-readback": ("later readback", "later read back"),
    "selection": ("selection",),
    "invalidation": ("invalidation", "expiry"),
    "activation": ("activation", "effect"),
    "evidence-limits": ("evidence limit",),
    "progression": ("progression", "endpoints/progression", "endpoints, progression"),
    "guarantee": ("guarantee",),
    "consumers": ("consumers",),
    "authority": ("authority",),
    "conclusion": ("conclusion", "conclusion supported or prevented"),
    "source": ("claim source",),
}
_CLAIM_ALSO = ("claim", "claimed operation or warrant")

_SUPPLIED_BY = re.compile(r"Supplied (?:by the (?P<member>[a-z]+) member|from elsewhere):")

_MEMBER_WORDS = (
    (MemberName.PROFILE, ("memory-profile", "profile")),
    (MemberName.RECONCILIATION, ("reconciliation",)),
    (MemberName.OVERVIEW, ("overview",)),
    (MemberName.VERIFICATION, ("verification",)),
    (MemberName.SYNTHESIS, ("synthesis",)),
    (MemberName.RUNTIME, ("runtime",)),
    (MemberName.EPISTEMIC, ("epistemic",)),
    (MemberName.BOUNDARY, ("boundary",)),
    (MemberName.MEMORY, ("memory",)),
)


def written_label(kind: Kind, option: Option) -> str:
    """The label that an option of a kind of record has in the plain form."""
    if kind is Kind.CLAIM and option.name == "operation":
        return _CLAIMED_OPERATION
    return _WRITTEN.get(option.name, option.label)


def option_for(kind: Kind, label: str) -> Option | None:
    """The option that a label means in a record of a kind, or None."""
    return _OPTIONS[kind].get(_plain(label))


def supplied_by(member: str) -> str:
    """The line above a list of IDs that a member outside of the report declares."""
    return f"Supplied by the {member} member:" if member else "Supplied from elsewhere:"


def supplier(line: str) -> MemberName | str | None:
    """The member that such a line names, or nothing; None when it is no such line."""
    match = _SUPPLIED_BY.fullmatch(line)
    if match is None:
        return None
    name = match["member"] or ""
    return name if name in ("", *MemberName) else None


def member_from(text: str) -> MemberName | None:
    """The member that a type, a file name or a title speaks of, or None."""
    words = re.sub(r"[\s_]+", "-", text.rsplit("/", 1)[-1].lower())
    for member, names in _MEMBER_WORDS:
        if any(re.search(rf"(?<![a-z]){name}(?![a-z])", words) for name in names):
            return member
    return None


def _plain(label: str) -> str:
    return " ".join(label.lower().replace("`", "").split()).rstrip(".:")


def _labels(kind: Kind) -> Mapping[str, Option]:
    found: dict[str, Option] = {}
    for option in TYPE_OF_KIND[kind].options:
        names = [written_label(kind, option), *_ALSO.get(option.name, ())]
        if kind is Kind.CLAIM and option.name == "operation":
            names = [_CLAIMED_OPERATION, *_CLAIM_ALSO]
        if option.type is not OptionType.VERBATIM:
            names.append(option.label)
        for name in names:
            found.setdefault(_plain(name), option)
    return found


_OPTIONS = {type.kind: _labels(type.kind) for type in RECORD_TYPES}
