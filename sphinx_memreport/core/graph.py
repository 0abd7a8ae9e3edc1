"""Records and their relations as a graph, whole or around one record (contract, section 3.10)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple

from sphinx_memreport.core.ids import Kind
from sphinx_memreport.core.models import View
from sphinx_memreport.core.site import Key, Site, Target, TargetKind
from sphinx_memreport.core.views import shown_reports

#: More records than this are not drawn: nobody could read it, and it takes long.
MAX_NODES = 60
#: Nor are more relations.
MAX_EDGES = 180


class Relation(StrEnum):
    """How one record is related to another; of several relations the first one counts."""

    PART_OF = "part of"
    SUPERSEDED_BY = "superseded by"
    COUNTERPART = "counterpart"
    CITES = "cites"


class Node(NamedTuple):
    """A record, declared or supplied; ``kind`` is None for one that is supplied."""

    key: Key
    target: Target
    kind: Kind | None
    superseded: bool


class Edge(NamedTuple):
    """A relation between two nodes, by their index."""

    start: int
    end: int
    relation: Relation


class Graph(NamedTuple):
    """Nodes by report and ID, edges in the order of their nodes.

    ``depth`` is what is shown around a record, ``asked_depth`` what the author asked for, and
    ``total`` how many records that would have been. A graph that is not ``drawable`` is a list.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    around: Key | None
    depth: int
    asked_depth: int
    total: int

    @property
    def drawable(self) -> bool:
        """Whether it is small enough to be drawn."""
        return len(self.nodes) <= MAX_NODES and len(self.edges) <= MAX_EDGES


_RELATION_OF_OPTION = {
    "part-of": Relation.PART_OF,
    "counterpart": Relation.COUNTERPART,
}


def record_graph(site: Site, view: View) -> Graph:
    """The records that a view asks for and every relation between them.

    Around a record, the neighbourhood is walked over every relation, in both directions, before
    kinds are chosen. When it is too large to be drawn, it is walked less far.
    """
    relations = _relations(site)
    if view.around is None:
        reports = shown_reports(site, view)
        known = {key for key in (*site.declarations, *site.supplied) if key[0] in reports}
        chosen = _of_kinds(site, known, view.kinds)
        return _graph(site, chosen, relations, None, (0, 0, len(chosen)))
    start = (view.report, view.around)
    if site.target(*start).kind not in (TargetKind.RECORD, TargetKind.SUPPLIED):
        return Graph((), (), start, view.depth, view.depth, 0)
    circles = list(_circles(start, relations, view.depth))
    sizes = [{start, *_of_kinds(site, circle, view.kinds)} for circle in circles]
    fitting = [
        _graph(site, chosen, relations, start, (depth, view.depth, len(sizes[-1])))
        for depth, chosen in enumerate(sizes)
    ]
    drawable = [graph for graph in fitting[1:] if graph.drawable]
    return drawable[-1] if drawable else fitting[-1]


def _relations(site: Site) -> dict[tuple[Key, Key], Relation]:
    """The relation of each pair of records that has one."""
    found: dict[tuple[Key, Key], Relation] = {}
    order = list(Relation)
    for start, end, relation in _stated(site):
        if start != end and all(
            key in site.declarations or key in site.supplied for key in (start, end)
        ):
            found[start, end] = min(relation, found.get((start, end), relation), key=order.index)
    return found


def _stated(site: Site) -> Iterator[tuple[Key, Key, Relation]]:
    """Every relation that is stated. What stands in an annotation is not the record's word."""
    for references in site.references.values():
        for reference in references:
            if reference.record and reference.annotation is None:
                start = (site.report_of(reference.docname) or "", reference.record)
                relation = _RELATION_OF_OPTION.get(reference.option or "", Relation.CITES)
                yield start, (reference.report, reference.target), relation
    for report, record_id in site.amendments:
        for successor in site.successors(report, record_id):
            yield (report, record_id), (report, successor), Relation.SUPERSEDED_BY


def _of_kinds(site: Site, keys: Iterable[Key], kinds: tuple[Kind, ...]) -> set[Key]:
    return {key for key in keys if not kinds or _kind(site, key) in kinds}


def _kind(site: Site, key: Key) -> Kind | None:
    record = site.record(*key)
    return record.kind if record else None


def _circles(start: Key, relations: Iterable[tuple[Key, Key]], depth: int) -> Iterator[set[Key]]:
    """What is reached from ``start`` in no, one, two … steps."""
    neighbours: dict[Key, set[Key]] = defaultdict(set)
    for one, other in relations:
        neighbours[one].add(other)
        neighbours[other].add(one)
    reached = {start}
    yield set(reached)
    for _ in range(depth):
        reached |= {other for key in reached for other in neighbours[key]}
        yield set(reached)


def _graph(
    site: Site,
    chosen: set[Key],
    relations: dict[tuple[Key, Key], Relation],
    around: Key | None,
    numbers: tuple[int, int, int],
) -> Graph:
    keys = sorted(chosen)
    index = {key: number for number, key in enumerate(keys)}
    edges = sorted(
        Edge(index[start], index[end], relation)
        for (start, end), relation in relations.items()
        if start in index and end in index
    )
    shown = tuple(
        Node(key, site.target(*key), _kind(site, key), key in site.amendments) for key in keys
    )
    return Graph(shown, tuple(edges), around, *numbers)
