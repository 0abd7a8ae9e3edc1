"""Relations between records: parts and what contains them."""

from __future__ import annotations

from collections.abc import Iterator

from sphinx_memreport.core.checks.place import at_record
from sphinx_memreport.core.models import Record
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.site import Key, Site


def part_of(site: Site) -> Iterator[Problem]:
    in_a_cycle: set[Key] = set()
    for (report, record_id), (record, *_) in site.declarations.items():
        if record.part_of == record_id:
            yield at_record(
                record,
                Code.PART_OF_SELF,
                f"option 'part-of': {record_id} cannot be a part of itself",
                "name the record that contains it, or remove the option",
            )
        elif (report, record_id) not in in_a_cycle:
            chain = _cycle(site, record)
            if chain:
                in_a_cycle |= {(report, name) for name in chain}
                yield at_record(
                    record,
                    Code.PART_OF_CYCLE,
                    f"option 'part-of': a cycle, {' → '.join([*chain, chain[0]])}",
                    "remove one of these part-of options",
                )


def _cycle(site: Site, start: Record) -> list[str]:
    """The chain of ``part-of`` from a record back to itself, or nothing."""
    chain = [start.id]
    record: Record | None = start
    while record and record.part_of:
        if record.part_of == start.id:
            return chain if len(chain) > 1 else []
        if record.part_of in chain:
            return []
        chain.append(record.part_of)
        record = site.record(start.report, record.part_of)
    return []
