"""What a page shows of other documents and of sources, as a digest.

When it changes, the page is written again; when it does not, it is left alone. Everything
that the post-transforms take from the site must be in here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from sphinx_memreport.core.registry import DocumentFacts

if TYPE_CHECKING:
    from sphinx_memreport.sphinx_ext.domain import MemDomain


def digest(domain: MemDomain, facts: DocumentFacts) -> str:
    """The digest of one page."""
    sink = hashlib.blake2b(digest_size=16)
    for value in _shown(domain, facts):
        sink.update(repr(value).encode("utf-8", "surrogatepass"))
        sink.update(b"\0")
    return sink.hexdigest()


def _shown(domain: MemDomain, facts: DocumentFacts) -> Iterator[object]:
    site = domain.site
    for reference in facts.references:
        yield site.target(reference.report, reference.target)
    for evidence in facts.evidence:
        resolution = site.resolution(evidence)
        yield resolution.status, resolution.lines, resolution.passage, resolution.finding
        source = site.source_of(evidence)
        if source:
            yield domain.config.reports[evidence.report].sources[source.id]
            yield site.target(evidence.report, source.id)
    for path in facts.paths:
        yield site.path_verdict(path)
        source = site.source_of(path)
        if source:
            yield domain.config.reports[path.report].sources[source.id]
    for declared in facts.declared_keys():
        yield site.cited_by(*declared)
        yield [(part.id, part.label) for part in site.parts.get(declared, [])]
    for slug in {*facts.source_registers, *([facts.report] if facts.member else [])}:
        yield domain.config.reports.get(slug or "")
        yield site.registers.get(slug or "") == facts.docname
        yield sorted(item for item in site.verdicts.unavailable.items() if item[0][0] == slug)
