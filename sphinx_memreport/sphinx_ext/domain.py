"""The ``mem`` domain: the registry as domain data, cross-references and the inventory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from docutils import nodes
from sphinx.domains import Domain, Index, ObjType

from sphinx_memreport.config import Ownership, Report, SiteConfig
from sphinx_memreport.core.ids import anchor, need_id
from sphinx_memreport.core.models import DATA_VERSION
from sphinx_memreport.core.packed import Packed
from sphinx_memreport.core.problems import Code, Problem
from sphinx_memreport.core.registry import DocumentFacts, Registry
from sphinx_memreport.core.resolve import Answers
from sphinx_memreport.core.site import Site, Target, TargetKind
from sphinx_memreport.core.vocabulary import RECORD_TYPES, TYPE_OF_KIND
from sphinx_memreport.sphinx_ext.indices import INDICES
from sphinx_memreport.sphinx_ext.links import internal_link
from sphinx_memreport.sphinx_ext.roles import RecordRole, SourcePathRole
from sphinx_memreport.sphinx_ext.unchanged import Outcome, Shown
from sphinx_memreport.sphinx_ext.words import _, superseded_by, term
from sphinx_memreport.verify import for_good

if TYPE_CHECKING:
    from docutils.nodes import Element
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.builders import Builder
    from sphinx.environment import BuildEnvironment

#: Where the problems that may be said twice are kept while a document is read.
_NOTED_ONCE = "memreport-noted-once"


class MemDomain(Domain):
    """Records and sources of all reports of a site."""

    name = "mem"
    label = "Memory report"
    object_types: ClassVar[dict[str, ObjType]] = {
        **{
            type.directive.removeprefix("mem"): ObjType(type.title, "record")
            for type in RECORD_TYPES
        },
        "supplied": ObjType("Supplied record", "record"),
        "source": ObjType("Source", "record", "source"),
    }
    indices: ClassVar[list[type[Index]]] = [*INDICES]
    roles: ClassVar[dict[str, Any]] = {
        "record": RecordRole(),
        "source": RecordRole(),
        "path": SourcePathRole(),
    }
    initial_data: ClassVar[dict[str, Any]] = {
        "documents": Packed(),  # docname -> DocumentFacts
        "answers": Packed(),  # fingerprint of a source -> Answers
        "reading_keys": {},  # docname -> what its reading depended on
        "outcome": Outcome(),
        "listings": Packed(),  # name -> what lists every record
        "shown": {},  # builder and output folder -> Shown
    }
    data_version = DATA_VERSION

    #: Set for every build by the event handlers; never stored.
    app: Sphinx
    own_directives: frozenset[str]
    config: SiteConfig
    ownership: Ownership
    site: Site
    problems: list[Problem]
    #: The documents whose pages are to be written because of what they show of others.
    due: list[str]

    @property
    def registry(self) -> Registry:
        """The facts of all documents."""
        return Registry(self.documents)

    @property
    def documents(self) -> Packed[DocumentFacts]:
        """The facts of all documents, as they are stored."""
        return cast("Packed[DocumentFacts]", self.data["documents"])

    @property
    def answers(self) -> Packed[Answers]:
        """Verdicts that hold for good, by fingerprint of the source."""
        return cast("Packed[Answers]", self.data["answers"])

    @property
    def reading_keys(self) -> dict[str, str]:
        """What the reading of each document depended on: another key, and it is read again."""
        return cast("dict[str, str]", self.data["reading_keys"])

    @property
    def outcome(self) -> Outcome:
        """What the checks of the last build found."""
        return cast("Outcome", self.data["outcome"])

    @outcome.setter
    def outcome(self, found: Outcome) -> None:
        self.data["outcome"] = found

    @property
    def listings(self) -> Packed[list[Any]]:
        """What lists every record, by name: Sphinx asks for it in every build."""
        return cast("Packed[list[Any]]", self.data["listings"])

    def renew_listings(self) -> None:
        """Make the listings anew, when something has changed."""
        self.listings["objects"] = list(self._objects())
        for index in INDICES:
            self.listings[index.name] = index(self).groups(None)

    @property
    def shown(self) -> Shown:
        """What the pages that this builder wrote into this folder show of other documents."""
        folders = cast("dict[tuple[str, str], Shown]", self.data["shown"])
        return folders.get((self.app.builder.name, str(self.app.outdir)), Shown())

    @shown.setter
    def shown(self, shown: Shown) -> None:
        self.data["shown"][self.app.builder.name, str(self.app.outdir)] = shown

    def keep(self, answers: Mapping[str, Answers]) -> bool:
        """Keep, for later builds, the answers that hold for good; says whether all do."""
        kept = {name: for_good(found) for name, found in answers.items()}
        for name in self.answers.keys() - kept.keys():
            del self.answers[name]
        for name, found in kept.items():
            if self.answers.get(name) != found:
                self.answers[name] = found
        return kept == answers

    def facts(self, docname: str) -> DocumentFacts:
        """The facts of a document that is being read."""
        return self.registry.facts(docname)

    def report_of(self, docname: str) -> Report | None:
        """The report that owns a document."""
        return self.ownership.report_of(docname)

    def note(self, code: Code, line: int, message: str, *, docname: str, **more: Any) -> None:
        """Note a problem of a document that is being read."""
        facts = self.facts(docname)
        problem = Problem(
            code=code, message=message, docname=docname, line=line, report=facts.report, **more
        )
        facts.problems.append(problem)

    def note_once(self, code: Code, line: int, message: str, *, docname: str, **more: Any) -> bool:
        """Note a problem unless it is noted already; says whether it was not."""
        known = cast("set[object]", self.env.temp_data.setdefault(_NOTED_ONCE, set()))
        if (code, line, message) in known:
            return False
        known.add((code, line, message))
        self.note(code, line, message, docname=docname, **more)
        return True

    # --- Sphinx's side --------------------------------------------------------------------

    def clear_doc(self, docname: str) -> None:
        """Forget a document that is read again or removed."""
        self.registry.clear(docname)
        self.reading_keys.pop(docname, None)

    def merge_domaindata(self, docnames: Iterable[str], otherdata: dict[str, Any]) -> None:
        """Take over what a parallel reader read."""
        documents: Packed[DocumentFacts] = otherdata["documents"]
        for docname in docnames:
            if docname in documents:
                self.documents.take(docname, documents)
                self.reading_keys[docname] = otherdata["reading_keys"][docname]

    def resolve_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        typ: str,
        target: str,
        node: pending_xref,
        contnode: Element,
    ) -> nodes.reference | None:
        """Turn a reference into a link; see :meth:`link`."""
        report = node.get("memreport_report", "")
        return cast("nodes.reference", self.link(builder, fromdocname, report, target, contnode))

    def link(
        self, builder: Builder, fromdocname: str, report: str, target: str, shown: Element
    ) -> Element:
        """A link to a record or source; marked text where the ID dangles (never a warning).

        What dangles is said by the checks, with its place and its fix.
        """
        found = self.site.target(report, target)
        if found.kind is TargetKind.NOTHING:
            return _marked(shown, "memreport-dangling", target)
        if found.docname is None:
            return shown
        shown["classes"] += ["mem", f"mem-{found.kind}"]
        if found.superseded_by:
            shown["classes"].append("mem-superseded")
        reference = internal_link(
            builder, fromdocname, found.docname, found.anchor, shown, self._tooltip(found)
        )
        if found.kind is TargetKind.SUPPLIED:
            reference["classes"].append("memreport-supplied")
        return reference

    def resolve_any_xref(
        self,
        env: BuildEnvironment,
        fromdocname: str,
        builder: Builder,
        target: str,
        node: pending_xref,
        contnode: Element,
    ) -> list[tuple[str, nodes.reference]]:
        """Resolve ``{any}`` where it holds an ID of the document's own report."""
        report = self.site.report_of(fromdocname)
        found = self.site.target(report or "", target)
        if found.docname is None:
            return []
        reference = internal_link(
            builder, fromdocname, found.docname, found.anchor, contnode, self._tooltip(found)
        )
        return [("mem:record", cast("nodes.reference", reference))]

    def _tooltip(self, target: Target) -> str:
        name = self._name_of(target)
        return f"{name}; {superseded_by(target)}" if target.superseded_by else name

    def _name_of(self, target: Target) -> str:
        if target.kind is TargetKind.RECORD:
            record = self.site.record(target.report, target.id)
            kind = term(TYPE_OF_KIND[record.kind].title) if record else ""
            return (
                f"{target.id} — {target.label} ({kind})"
                if target.label
                else f"{target.id} ({kind})"
            )
        if target.kind is TargetKind.SUPPLIED:
            return _("{record}, declared in a member outside this site").format(record=target.id)
        return target.id

    def get_type_name(self, type: ObjType, primary: bool = False) -> str:
        """The kind of an object, as search results name it."""
        return term(str(type.lname))

    def get_objects(self) -> Iterable[tuple[str, str, str, str, str, int]]:
        """Records, supplied records and sources, under their qualified IDs."""
        return iter(self.listings.get("objects", ()))

    def _objects(self) -> Iterator[tuple[str, str, str, str, str, int]]:
        for (report, record_id), (record, *_others) in self.site.declarations.items():
            type = TYPE_OF_KIND[record.kind].directive.removeprefix("mem")
            shown = f"{record_id} — {record.label}" if record.label else record_id
            yield need_id(report, record_id), shown, type, record.docname, anchor(record_id), 1
        for (report, record_id), (entry, *_more) in self.site.supplied.items():
            name = need_id(report, record_id)
            yield name, entry.label or record_id, "supplied", entry.docname, anchor(record_id), 2
        for slug, docname in self.site.registers.items():
            rules = self.site.reports.get(slug)
            for source in rules.sources if rules else ():
                name = need_id(slug, source.id)
                yield name, f"{source.id} ({slug})", "source", docname, anchor(source.id), 2


def _marked(contnode: Element, css_class: str, title: str) -> nodes.inline:
    return nodes.inline("", "", contnode, classes=[css_class], reftitle=title)


def mem_domain(env: BuildEnvironment) -> MemDomain:
    """The domain of an environment."""
    return cast("MemDomain", env.get_domain("mem"))
