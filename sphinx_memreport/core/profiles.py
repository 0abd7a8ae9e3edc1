"""Profiles: the axes, their values, and what a finding may claim (contract, section 3.10)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sphinx_memreport.core.ids import Kind
from sphinx_memreport.core.models import Annotation, Evidence, Layer, ProfileFinding, Record
from sphinx_memreport.core.site import Site
from sphinx_memreport.core.vocabulary import STATUS_OPTIONS

#: The axes in the order in which they are shown, with the values of each.
AXES: Mapping[str, tuple[str, ...]] = {
    "storage_substrate": (
        *("files", "graph", "in-memory", "kv", "model-weights", "prompt-registry", "rdbms"),
        *("repo", "service-object", "sqlite", "vector"),
    ),
    "representational_form": ("natural-language", "parametric", "symbolic"),
    "lineage": ("authored", "imported", "other-compiled", "trace-extracted"),
    "behavioral_authority": (
        *("enforcement", "instruction", "knowledge", "learning", "ranking", "routing"),
        "validation",
    ),
    "write_agency": ("automatic", "manual"),
    "curation_operations": (
        *("consolidate", "decay", "dedup", "evolve", "invalidate", "promote", "synthesize"),
    ),
    "read_back_direction": ("pull", "push"),
    "read_back_signal": (
        *("coarse", "identifier", "inferred-embedding", "inferred-judgment"),
        "inferred-lexical",
    ),
    "trace_learning": ("no", "yes"),
    "trace_source": ("event-streams", "session-logs", "tool-traces", "trajectories"),
}
ASSESSMENTS = ("known", "partial", "absent", "inapplicable", "uninspected", "not-determinable")
#: Assessments that need findings; the others have none.
ASSESSED = ("known", "partial")
#: What a finding rests on, the weakest first.
BASES = ("claimed", "afforded", "wired", "observed", "causally supported")


def axis_title(name: str) -> str:
    """An axis as readers see it."""
    return name.replace("read_back", "read-back").replace("_", " ").capitalize()


def strongest_basis(site: Site, report: str, finding: ProfileFinding) -> str | None:
    """The strongest basis that the records of a finding allow; the strongest record counts.

    A route allows what its statuses say, those of annotations on it included (``absent``,
    ``inapplicable`` and ``uninspected`` allow nothing). Any other record allows ``wired`` when
    the pinned implementation shows it: when it carries evidence of layer ``implementation``, or
    is an absence whose search the build runs. Otherwise it allows ``claimed``, as does a claim in
    any case, and so does a finding that names no record.

    :return: None when nothing at all is allowed; the strongest of all when it cannot be said,
        since a record is declared outside the site or nowhere, or has a problem of its own.
    """
    if not finding.records:
        return BASES[0]
    allowed: list[str] = []
    for record_id in finding.records:
        record = site.record(report, record_id)
        if record is None or _is_unclear(site, record):
            return BASES[-1]
        allowed.extend(_allowed_by(site, record))
    return max(allowed, key=BASES.index, default=None)


def exceeds(basis: str, allowed: str | None) -> bool:
    """Whether a basis is stronger than what is allowed."""
    return basis in BASES and (allowed is None or BASES.index(basis) > BASES.index(allowed))


def _is_unclear(site: Site, record: Record) -> bool:
    key = record.report, record.id
    stated: list[Record | Annotation | Evidence] = [record, *site.annotations.get(key, [])]
    return any(map(site.is_unclear, [*stated, *site.evidence_of(*key)]))


def _allowed_by(site: Site, record: Record) -> Iterable[str]:
    if record.kind is Kind.ROUTE:
        said: list[Record | Annotation] = [record]
        said += site.annotations.get((record.report, record.id), [])
        statuses = (each.field(name) for each in said for name in STATUS_OPTIONS)
        return [status for status in statuses if status in BASES]
    if record.kind is Kind.CLAIM:
        return ["claimed"]
    searched = record.kind is Kind.ABSENCE and record.field("pattern") and record.field("searched")
    backing = site.evidence_of(record.report, record.id)
    shown = any(site.layer(each) is Layer.IMPLEMENTATION for each in backing)
    return ["wired" if shown or searched else "claimed"]
