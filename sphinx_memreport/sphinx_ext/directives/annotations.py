"""``memannotation`` and ``memamendment``: on records that others declare (section 3.7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

from sphinx_memreport.core.ids import Kind, annotation_need_id, parse_record_id
from sphinx_memreport.core.models import Amendment, Annotation, FieldValue
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.vocabulary import (
    RECORD_TYPES,
    TYPE_OF_KIND,
    split_list,
)
from sphinx_memreport.sphinx_ext.directives.cards import CardDirective
from sphinx_memreport.sphinx_ext.directives.records import RecordDirective, badges
from sphinx_memreport.sphinx_ext.needs import add_annotation_need
from sphinx_memreport.sphinx_ext.nodes import (
    RECORD,
    Heading,
    record_card,
    record_field,
    search_report,
)
from sphinx_memreport.sphinx_ext.render.page import field
from sphinx_memreport.sphinx_ext.roles import record_reference
from sphinx_memreport.sphinx_ext.words import _

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_ALL_OPTIONS = frozenset(option.name for type in RECORD_TYPES for option in type.options)


class AboutRecord(CardDirective):
    """Base of the directives whose argument is the ID of a record that stands elsewhere."""

    argument_hint = "the ID of a record"
    options_hint = RecordDirective.options_hint

    def target(self) -> str:
        """The ID as written; empty when it can name no record, which is then noted."""
        written, _, rest = self.argument.partition(" ")
        if rest.strip():
            self.note(
                Code.SWALLOWED_TEXT,
                f"{self.name} takes an ID alone; found '{rest.strip()}' behind it",
                fix="leave it out: the label is that of the record",
            )
        report, colon, target = written.rpartition(":")
        fault = ""
        if colon and report != self.facts.report:
            fault = f"{written}: {self.name} is about records of its own report"
        elif target.startswith("SRC-"):
            fault = f"{target} is a source, not a record"
        if fault:
            self.note(Code.MALFORMED_ID, fault, subject=target, fix="name a record of this report")
        return "" if fault else target

    def new_anchor(self, name: str) -> str:
        """A free anchor on this page: the name, with a number where it is taken."""
        first = nodes.make_id(name)
        found, number = first, 1
        while found in self.state.document.ids:
            number += 1
            found = f"{first}-{number}"
        return found

    def card(
        self, title: str, target: str, badges: Sequence[tuple[str, str]], ids: Sequence[str]
    ) -> tuple[record_card, addnodes.desc_content]:
        """A card titled with a link to the record, and where its content goes.

        :param ids: anchors of the card; none where the reference to the record does not count,
            and so is no link either.
        """
        heading = Heading(
            report=self.facts.report or "",
            id=target,
            link=RECORD if ids else "",
            badges=tuple(badges),
            declares=False,
        )
        name = f"{title} {target}"
        return self.new_card(heading, [nodes.Text(title)], ids, name, name)


class AnnotationDirective(AboutRecord, RecordDirective):
    """Adds fields and prose of another analyst to a record, and shows them as a card.

    What stands in it (evidence, mentions) is the annotation's, not the record's own.
    """

    def run(self) -> list[nodes.Node]:
        """Note the annotation, check its options as those of the record, parse its body."""
        kind = _kind(self.argument.partition(" ")[0].rpartition(":")[2])
        # of an ID that is none, no option can be said to be wrong
        self.type = TYPE_OF_KIND[kind or Kind.CLAIM]
        names = {option.name for option in self.type.options} if kind else _ALL_OPTIONS
        values = self.parse_options(names) if self.inside_report() else None
        target = self.target() if values is not None else ""
        if kind is None or values is None or not target:
            if target:
                self.note_reference(target)
            return [self._plain_card()]
        self._check_annotation(target, values)
        fields = self.fields(values)
        annotation = self._annotation(target, kind, values, fields)
        return [self._shown(annotation, values, fields)]

    def _plain_card(self) -> nodes.Node:
        """What cannot be counted as an annotation is shown all the same."""
        card, content = self.card(_("On"), self.argument, [(_("Annotation"), "kind")], [])
        self.parse_body(content)
        return card

    def _check_annotation(self, target: str, values: Mapping[str, str]) -> None:
        for fault in self.faults(values, partial=True):
            message = f"annotation on {target}: {fault.message}"
            self.note(fault.code, message, subject=target, fix=fault.fix)
        self._check_part_of(target, values)
        if self.part_of(values) == target:
            self.note(
                Code.PART_OF_SELF,
                f"annotation on {target}: option 'part-of': {target} cannot be a part of itself",
                subject=target,
                fix="name the record that contains it, or remove the option",
            )

    def _annotation(
        self,
        target: str,
        kind: Kind,
        values: Mapping[str, str],
        fields: nodes.field_list | None,
    ) -> Annotation:
        """Note the annotation; its prose is kept as plain text, for the page of the record."""
        anchor = self.new_anchor(f"on-{target}")
        plain = {
            field["memreport_option"]: field.astext()
            for field in (fields.findall(record_field) if fields else ())
        }
        annotation = Annotation(
            report=self.facts.report or "",
            target=target,
            kind=kind,
            docname=self.docname,
            line=self.lineno,
            anchor=anchor,
            member=self.facts.member,
            fields=tuple(
                FieldValue(
                    name=option.name,
                    text=plain.get(option.name, option.text(values[option.name])),
                )
                for option in self.type.options
                if option.name in values
            ),
        )
        self.facts.annotations.append(annotation)
        add_annotation_need(self.env, annotation)
        self.note_reference(target, record=target, annotation=anchor)
        part_of = self.part_of(values)
        if part_of and part_of != target:
            self.note_reference(part_of, record=target, annotation=anchor, option="part-of")
        return annotation

    def _shown(
        self, annotation: Annotation, values: Mapping[str, str], fields: nodes.field_list | None
    ) -> nodes.Node:
        statuses = badges(self.type, values)[1:]
        need = annotation_need_id(annotation.report, annotation.docname, annotation.anchor)
        card, content = self.card(
            _("On"),
            annotation.target,
            [(_("Annotation"), "kind"), *statuses],
            [annotation.anchor, need],
        )
        card["memreport_record"] = annotation.target
        card["memreport_annotation"] = annotation.anchor
        if fields:
            content += fields
        if annotation.kind is Kind.ABSENCE:
            number = len(self.facts.annotations) - 1
            content += search_report("", number=number, annotation=True)
        self.parse_body(content, annotation.target, annotation.anchor)
        return card


def _kind(target: str) -> Kind | None:
    """The kind of a well-formed ID."""
    try:
        return parse_record_id(target).kind
    except ValueError:
        return None


class AmendmentDirective(AboutRecord):
    """Says which records supersede a record; the reconciliation member alone may."""

    option_names = frozenset({"superseded-by"})

    def run(self) -> list[nodes.Node]:
        """Note the amendment; the cards of the records show it."""
        values = self.parse_options() if self.inside_report() else None
        target = self.target() if values is not None else ""
        successors = tuple(dict.fromkeys(split_list((values or {}).get("superseded-by", ""))))
        anchor = self.new_anchor(f"amendment-{target}") if target else None
        card, content = self.card(
            _("Amendment of"),
            target or self.argument,
            [(_("Amendment"), "kind")],
            [anchor] if anchor else [],
        )
        card["memreport_section"] = anchor
        if anchor:
            self._note_amendment(target, successors, anchor)
        if successors:
            content += self._field(successors)
        self.parse_body(content)
        return [card]

    def _note_amendment(self, target: str, successors: tuple[str, ...], anchor: str) -> None:
        if not successors:
            self.note(
                Code.MISSING_FIELD,
                "memamendment needs the option 'superseded-by'",
                subject=target,
                fix="add a line ':superseded-by: ID, ID'",
            )
        self.note_reference(target, section=anchor)
        for successor in successors:
            if successor != target:
                self.note_reference(successor, section=anchor, option="superseded-by")
        self.facts.amendments.append(
            Amendment(
                report=self.facts.report or "",
                target=target,
                docname=self.docname,
                line=self.lineno,
                anchor=anchor,
                superseded_by=successors,
            )
        )

    def _field(self, successors: Sequence[str]) -> nodes.field_list:
        report = self.facts.report or ""
        links = [
            record_reference(report, each, nodes.inline("", each), explicit=False)
            for each in successors
        ]
        shown = field(_("Superseded by"), links)
        shown["memreport_unscanned"] = True
        return nodes.field_list("", shown, classes=["memreport-fields"])


def setup_annotations(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("memannotation", AnnotationDirective)
    app.add_directive("memamendment", AmendmentDirective)
