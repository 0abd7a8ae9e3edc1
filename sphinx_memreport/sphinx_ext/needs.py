"""Records as sphinx-needs needs. The only importer of sphinx_needs.

A record is shown by a card of ours, so its need has no node in any doctree: it is data for
needtable, needflow, needpie, needs.json and the rest. Links of sphinx-needs go to the anchor
that is the need ID, so a card's signature carries that ID besides the record's own anchor.

Directives only note records, per document. The needs are made anew in every build, when something
looks at one of them: a page with a view, ``needs.json``, another extension. So they follow from
the notes alone: edits, duplicate IDs and parallel reading cannot leave a stale need behind, neither
the environment nor the chunks of parallel readers carry needs, and a build in which nothing looks
at a need makes none. Where the project has needs or rules of its own, they are made at once, with
those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import chain
from typing import Any, Literal, NamedTuple, cast

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx_needs.api import (
    InvalidNeedException,
    add_field,
    add_need_type,
    generate_need,
    get_need_types,
)
from sphinx_needs.config import NeedsSphinxConfig
from sphinx_needs.data import NeedsMutable, SphinxNeedsData
from sphinx_needs.directives.need import post_process_needs_data
from sphinx_needs.need_item import NeedItem
from sphinx_needs.schema.process import process_schemas
from sphinx_needs.views import NeedsView

from sphinx_memreport.core import ids
from sphinx_memreport.core.ids import Kind
from sphinx_memreport.core.models import Annotation, Record, Supplied
from sphinx_memreport.core.packed import Packed
from sphinx_memreport.sphinx_ext.unchanged import key_of

logger = logging.getLogger(__name__)


class Link(StrEnum):
    """The link types of records; each is stored on the need that the link starts from."""

    PART_OF = "mem_part_of"
    SUPERSEDED_BY = "mem_superseded_by"
    CITES = "mem_cites"
    COUNTERPART = "mem_counterpart"
    ANNOTATES = "mem_annotates"


class _TypeStyle(NamedTuple):
    """How a need type looks: black text is legible on each of the colors."""

    title: str
    color: str
    style: str


_SUPPLIED_TYPE = "mem_supplied"
_ANNOTATION_TYPE = "mem_annotation"
_TYPES = {
    "mem_component": _TypeStyle("Component", "#CFE2F3", "component"),
    "mem_object": _TypeStyle("Operative object", "#D9EAD3", "database"),
    "mem_route": _TypeStyle("Route", "#FFF2CC", "usecase"),
    "mem_claim": _TypeStyle("Claim", "#EAD1DC", "artifact"),
    "mem_absence": _TypeStyle("Evidenced absence", "#E0E0E0", "card"),
    "mem_authority": _TypeStyle("Behavioral-authority path", "#F9CB9C", "hexagon"),
    _SUPPLIED_TYPE: _TypeStyle("Supplied record", "#F5F5F5", "agent"),
    _ANNOTATION_TYPE: _TypeStyle("Annotation", "#FFFFFF", "file"),
}

# Outgoing and incoming title, and a color with a contrast of at least 3 on white and on black.
_LINKS = {
    Link.PART_OF: ("part of", "has parts", "#767676"),
    Link.SUPERSEDED_BY: ("superseded by", "supersedes", "#C2551B"),
    Link.CITES: ("cites", "cited by", "#2F7FB8"),
    Link.COUNTERPART: ("counterpart", "counterpart of", "#8A63B8"),
    Link.ANNOTATES: ("annotates", "annotated by", "#3F8A4E"),
}

_FieldType = Literal["string", "integer", "array"]
_FIELDS: dict[str, tuple[_FieldType, str]] = {
    "mem_report": ("string", "The report that holds the record"),
    "mem_record": ("string", "The record's ID within its report"),
    "mem_kind": ("string", "Component, object, route, claim, absence or authority"),
    "mem_member": ("string", "The member of the report that declares the record"),
    "mem_implementation": ("string", "Implementation status of a route"),
    "mem_operation": ("string", "Operation status of a route"),
    "mem_guarantee": ("string", "Guarantee of a route"),
    "mem_form": ("array", "Representational forms of a component or object"),
    "mem_quotes": ("integer", "How many quotes back the record"),
    "mem_verified": ("integer", "How many of these quotes were verified"),
}
_ROUTE_STATUSES = ("implementation", "operation", "guarantee")

# Well-formed IDs only; sphinx-needs matches at the start, hence the dollar.
_NEED_ID = (
    rf"^{ids.REPORT_SLUG.pattern}:(?:"
    rf"(?:{'|'.join(ids.Prefix)})-(?:{'|'.join(Kind)})"
    rf"-(?:{ids.NAMED.pattern}|{ids.NUMBERED.pattern})"
    r"|[A-Za-z0-9_:-]+:on-[a-z0-9-]+"  # annotations
    r")$"
)

# Settings by which a project checks or changes needs as they are made.
_RULES = (
    "needs_fields",
    "needs_extra_options",
    "needs_global_options",
    "needs_links",
    "needs_extra_links",
    "needs_constraints",
    "needs_schema_definitions",
    "needs_schema_definitions_from_json",
    "needs_warnings",
)

# Files that sphinx-needs writes beside the pages.
_EXTRA_FILES = ("needs.json", "permalink.html", "schema_violations.json")


@dataclass(slots=True)
class _Note:
    """What a directive noted of a record or supplied ID: the need, unless it is a duplicate."""

    id: str
    type: str
    title: str
    docname: str
    line: int
    fields: dict[str, Any]
    tags: list[str] = field(default_factory=list)
    links: dict[Link, list[str]] = field(default_factory=dict)
    content: str = ""
    sections: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, int]:
        """Where it stands, also as a log location."""
        return self.docname, self.line


class Updates(NamedTuple):
    """What is known of needs only after all documents were read, by need ID."""

    values: Mapping[str, Mapping[str, object]]
    links: Mapping[str, Mapping[Link, Sequence[str]]]


# --- setup ----------------------------------------------------------------------------------


def setup_needs(app: Sphinx) -> None:
    """Load sphinx-needs and connect what turns records into needs."""
    app.setup_extension("sphinx_needs")
    # After sphinx-needs has read its TOML file and need types (12), before it uses them (500).
    app.connect("config-inited", _configure, priority=100)
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.connect("doctree-read", _keep_notes)
    app.connect("needs-before-post-processing", _make_needs)
    app.connect("build-finished", _forget_view, priority=10_000)  # after all that look at it
    _validate_only_what_is_there(app)


def _configure(app: Sphinx, config: Config) -> None:
    """Add our need types, fields, link types and IDs to those of the project.

    What the project configures under one of our names wins, so that a site can restyle it. The
    configuration values are the same in each build, so they make no document outdated.
    """
    vars(app)["memreport_needs_have_rules"] = any(getattr(config, name) for name in _RULES)
    present = get_need_types(app)
    vars(app)["memreport_own_need_types"] = [name for name in _TYPES if name not in present]
    for name, style in _TYPES.items():
        if name not in present:
            add_need_type(app, name, style.title, f"{name.upper()}_", style.color, style.style)
    for name, (kind, description) in _FIELDS.items():
        if name not in config.needs_fields:
            _add_field(name, kind, description)
    ours = {
        str(name): {"outgoing": outgoing, "incoming": incoming, "color": color, "style": color}
        for name, (outgoing, incoming, color) in _LINKS.items()
    }
    config.needs_links = ours | config.needs_links
    if config.needs_id_regex:
        config.needs_id_regex = f"{config.needs_id_regex}|{_NEED_ID}"
    # The EPUB builder warns of each file that it does not know.
    config.epub_exclude_files = [*config.epub_exclude_files, *_EXTRA_FILES]


def own_need_types(app: Sphinx) -> list[str]:
    """The types that are not the project's own, after ``config-inited``."""
    return cast("list[str]", vars(app)["memreport_own_need_types"])


def _add_field(name: str, kind: _FieldType, description: str) -> None:
    # Text of authors is data: nothing in it is a dynamic function or a variant.
    options: dict[str, Any] = {"parse_dynamic_functions": False, "parse_variants": False}
    if kind == "string":
        add_field(name, description, schema={"type": "string"}, nullable=True, **options)
    elif kind == "integer":
        add_field(name, description, schema={"type": "integer"}, default=0, **options)
    else:
        schema: Any = {"type": "array", "items": {"type": "string"}}
        add_field(name, description, schema=schema, default=[], **options)


# --- reading --------------------------------------------------------------------------------


def add_record_need(
    env: BuildEnvironment,
    record: Record,
    *,
    links: Mapping[Link, Sequence[str]] | None = None,
    content: str = "",
) -> None:
    """Note a record while its document is read; ``links`` are need IDs by link type.

    An ID that is not well formed makes no need, and of several records with one ID the first
    is the need: the checks report both.
    """
    fields: dict[str, Any] = {"mem_member": str(record.member) if record.member else None}
    if record.kind is Kind.ROUTE:
        fields |= {f"mem_{name}": record.field(name) for name in _ROUTE_STATUSES}
    if form := record.field("form"):
        fields["mem_form"] = [item.strip() for item in form.split(",") if item.strip()]
    need_type = f"mem_{record.kind.name.lower()}"
    note = _add_note(env, record, need_type, record.label, fields)
    note.tags = list(record.tags)
    note.links = _lists(links or {})
    note.content = content


def add_supplied_need(env: BuildEnvironment, supplied: Supplied) -> None:
    """Note an ID that a member outside this site declares, as :func:`add_record_need` does."""
    fields = {"mem_member": supplied.member}
    _add_note(env, supplied, _SUPPLIED_TYPE, supplied.label, fields)


def _add_note(
    env: BuildEnvironment,
    declared: Record | Supplied,
    need_type: str,
    label: str,
    fields: dict[str, Any],
) -> _Note:
    need_id = ids.need_id(declared.report, declared.id)
    # Graphviz refuses an empty title.
    return _add(env, need_id, declared.id, declared, need_type, label or declared.id, fields)


def add_annotation_need(env: BuildEnvironment, annotation: Annotation) -> None:
    """Note an annotation, as a need of its own that is linked to the annotated record."""
    need_id = ids.annotation_need_id(annotation.report, annotation.docname, annotation.anchor)
    title = f"On {annotation.target}"
    fields: dict[str, Any] = {"mem_member": str(annotation.member) if annotation.member else None}
    note = _add(env, need_id, annotation.target, annotation, _ANNOTATION_TYPE, title, fields)
    note.links = {Link.ANNOTATES: [ids.need_id(annotation.report, annotation.target)]}


def _add(
    env: BuildEnvironment,
    need_id: str,
    record_id: str,
    place: Record | Supplied | Annotation,
    need_type: str,
    title: str,
    fields: dict[str, Any],
) -> _Note:
    # Lists and numbers are given even when empty: a default would be deep-copied for each need.
    fields = {
        "mem_report": place.report,
        "mem_record": record_id,
        "mem_form": [],
        "mem_quotes": 0,
        "mem_verified": 0,
        **fields,
    }
    note = _Note(need_id, need_type, title, place.docname, place.line, fields)
    try:
        fields["mem_kind"] = ids.parse_record_id(record_id).kind.name.lower()
    except ValueError:
        return note
    _notes_being_read(env).append(note)
    return note


def _lists(links: Mapping[Link, Sequence[str]]) -> dict[Link, list[str]]:
    return {link: list(targets) for link, targets in links.items()}


def _notes_being_read(env: BuildEnvironment) -> list[_Note]:
    """The notes of the document that is being read."""
    return cast("list[_Note]", env.temp_data.setdefault("memreport_needs", []))


def _notes(env: BuildEnvironment) -> Packed[list[_Note]]:
    """The notes of each document; most builds look at none of them."""
    return cast("Packed[list[_Note]]", vars(env).setdefault("memreport_needs", Packed()))


def _purge(_app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    _notes(env).pop(docname, None)


def _merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    theirs = _notes(other)
    for docname in docnames:
        if docname in theirs:
            _notes(env).take(docname, theirs)


def _keep_notes(app: Sphinx, doctree: nodes.document) -> None:
    """Keep the notes of a document, with the sections that each card stands in.

    sphinx-needs does the same for its own nodes.
    """
    notes = _notes_being_read(app.env)
    if not notes:
        return
    by_id = {note.id: note for note in reversed(notes)}
    for signature in doctree.findall(addnodes.desc_signature):
        for need_id in signature["ids"]:
            if need_id in by_id:
                by_id[need_id].sections = tuple(_section_titles(signature))
    _notes(app.env)[app.env.current_document.docname] = notes


def _section_titles(node: nodes.Node) -> Iterator[str]:
    """The titles of the sections around a node, the innermost first."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, nodes.section):
            yield parent[0].astext()
        parent = parent.parent


# --- after reading --------------------------------------------------------------------------


def update_needs(app: Sphinx, updates: Callable[[], Updates]) -> None:
    """Have fields set, and lists of links replaced, when the needs of this build are made.

    Called at ``env-updated`` in each build. Links to needs that do not exist are left out:
    the checks report them.
    """
    vars(app)["memreport_need_updates"] = updates


def pages_showing_needs(env: BuildEnvironment) -> set[str]:
    """The documents that must be written again when a need anywhere has changed.

    sphinx-needs keeps them itself: every document with one of its directives or roles.
    """
    return set(chain.from_iterable(SphinxNeedsData(env).get_or_create_docs().values()))


def needs_digest(env: BuildEnvironment, updates: Updates) -> str:
    """A digest of all that the needs of records are made from."""
    return key_of(updates, _notes(env).digest())


def _make_needs(app: Sphinx, needs: NeedsMutable) -> None:
    """Make the needs, or leave that for later, when sphinx-needs is about to resolve them."""
    ours = LateNeeds(app)
    # a view of an earlier build of this application would hide what is made in this one
    vars(app.env).pop("_needs_view", None)
    if vars(app).pop("memreport_needs_are_asked_for", False) or _are_needed_now(app, needs):
        needs.update(ours.make(needs))
    else:
        vars(app.env)["_needs_view"] = NeedsView._from_needs(ours)


def _forget_view(app: Sphinx, _exception: Exception | None) -> None:
    """Leave no view in the environment, which one more build of this application would pickle."""
    vars(app.env).pop("_needs_view", None)


def _are_needed_now(app: Sphinx, needs: NeedsMutable) -> bool:
    """Whether what sphinx-needs does right now depends on our needs."""
    data = SphinxNeedsData(app.env)
    hooks = ("needs-before-post-processing", "needs-before-sealing")
    return (
        bool(needs)  # those of the project may link to ours
        or bool(data.get_or_create_extends())
        or vars(app)["memreport_needs_have_rules"]
        or sum(len(app.events.listeners.get(hook, ())) for hook in hooks) > 1
        # once, instead of in each process that writes
        or (app.parallel > 1 and bool(pages_showing_needs(app.env)))
    )


class LateNeeds(Mapping[str, NeedItem]):
    """The needs of all records, which are made when one of them is looked at.

    Their IDs are known before: sphinx-needs asks, for each page, whether there is any.
    """

    def __init__(self, app: Sphinx) -> None:
        self._app = app

    def make(self, others: Mapping[str, NeedItem]) -> dict[str, NeedItem]:
        """The needs, before sphinx-needs resolves them.

        :param others: needs of the project's own, whose IDs are taken.
        """
        known = others.keys() | self._notes.keys()
        updates = vars(self._app).get("memreport_need_updates", lambda: Updates({}, {}))()
        made: dict[str, NeedItem] = {}
        for note in self._notes.values():
            if _is_taken(others.get(note.id)):
                _warn(note, "duplicate_id", f"A need with ID {note.id!r} already exists.")
                continue
            links = note.links | updates.links.get(note.id, {})
            options = note.fields | updates.values.get(note.id, {})
            for name in _LINKS:
                options[name] = [target for target in links.get(name, ()) if target in known]
            try:
                made[note.id] = _make_need(self._app, note, options)
            except InvalidNeedException as error:
                _warn(note, "create_need", f"Need could not be created: {error.message}")
        return made

    @cached_property
    def _notes(self) -> dict[str, _Note]:
        """The first note of each ID, in the order of documents and lines."""
        notes: dict[str, _Note] = {}
        for note in self._all_notes():
            notes.setdefault(note.id, note)
        return notes

    def _all_notes(self) -> Iterator[_Note]:
        notes = _notes(self._app.env)
        for docname in sorted(notes):
            yield from sorted(notes[docname], key=lambda note: note.line)

    @cached_property
    def _resolved(self) -> Mapping[str, NeedItem]:
        """The needs as sphinx-needs resolved them, which it now does once more, with ours."""
        data = SphinxNeedsData(self._app.env)
        view = vars(self._app.env)["_needs_view"]
        data.needs_is_post_processed = False
        vars(self._app)["memreport_needs_are_asked_for"] = True
        post_process_needs_data(self._app)
        vars(self._app.env)["_needs_view"] = view
        return data._env_needs

    def __getitem__(self, need_id: str) -> NeedItem:
        return self._resolved[need_id]

    def __iter__(self) -> Iterator[str]:
        first = next(self._all_notes(), None)
        if first is not None:
            yield first.id
            yield from (need_id for need_id in self._resolved if need_id != first.id)

    def __len__(self) -> int:
        return len(self._resolved)


def _validate_only_what_is_there(app: Sphinx) -> None:
    """Keep sphinx-needs from validating needs that nothing looks at: that would make them.

    Where the project has rules for needs, they are made before and validated as ever.
    """
    for listener in app.events.listeners.get("write-started", ()):
        if listener.handler is process_schemas:
            app.disconnect(listener.id)
            app.connect("write-started", _validate, listener.priority)
            return


def _validate(app: Sphinx, builder: Builder) -> None:
    SphinxNeedsData(app.env).get_needs_view()
    if SphinxNeedsData(app.env)._env_needs:
        process_schemas(app, builder)


def _is_taken(need: NeedItem | None) -> bool:
    """Whether a need of the project's own has the ID; one of an earlier build is ours."""
    return need is not None and not need["is_external"] and need["type"] not in _TYPES


def _warn(note: _Note, subtype: str, message: str) -> None:
    logger.warning(message, type="needs", subtype=subtype, location=note.place)


def _make_need(app: Sphinx, note: _Note, options: Mapping[str, Any]) -> NeedItem:
    """One need with typed values: text that looks like a function or template stays text."""
    return generate_need(
        NeedsSphinxConfig(app.config),
        SphinxNeedsData(app.env).get_schema(),
        note.type,
        note.title,
        id=note.id,
        docname=note.docname,
        lineno=note.line,
        doctype=app.env.doc2path(note.docname).suffix,
        content=note.content,
        sections=note.sections,
        tags=note.tags,
        # A card is always shown: no default of the project applies.
        hide=False,
        collapse=False,
        constraints=[],
        allow_type_coercion=False,
        **options,
    )
