"""The record directives: one class for all kinds, declared by the vocabulary."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from docutils import nodes

from sphinx_memreport.core.ids import Kind, anchor, need_id, parse_record_id
from sphinx_memreport.core.models import FieldValue, Record
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.vocabulary import (
    RECORD_TYPES,
    Fault,
    Option,
    OptionType,
    RecordType,
    check_options,
    split_list,
)
from sphinx_memreport.sphinx_ext.directives.cards import CardDirective, free_anchors
from sphinx_memreport.sphinx_ext.needs import add_record_need
from sphinx_memreport.sphinx_ext.nodes import HERE, Heading, record_field, search_report
from sphinx_memreport.sphinx_ext.words import shown_value, term

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# an ID, an optional dash, an optional label
_ARGUMENT = re.compile(
    # a dash before a number is a range, which the checks refuse
    r"(?P<id>[^\s—–]+?(?:[—–]\d+)?)(?:\s*(?:—|–|--)\s*|\s+-\s+|\s+|$)(?P<label>.*)",
    re.DOTALL,
)


class RecordDirective(CardDirective):
    """Declares a record and shows it as a card."""

    type: RecordType
    prose_body = True
    keeps_known_options = True
    argument_hint = "an ID"
    options_hint = (
        "write one option a line (':name: value'), a value with ' #' in quotes, "
        "and a blank line before the body"
    )

    def run(self) -> list[nodes.Node]:
        """Declare the record, check its options, parse its body."""
        values = self.parse_options()
        match = _ARGUMENT.fullmatch(self.argument)
        record_id, label = (match["id"], " ".join(match["label"].split())) if match else ("", "")
        label_nodes = self.parse_prose(label) if label else []
        plain_label = "".join(node.astext() for node in label_nodes)
        if not self.inside_report() or not record_id or not match:
            return [self._card(record_id, label_nodes, plain_label, values or {}, None)]
        self._check(record_id, values)
        record = self._record(record_id, plain_label, values or {})
        self.facts.records.append(record)
        add_record_need(self.env, record)
        return [self._card(record_id, label_nodes, plain_label, values or {}, record)]

    # --- checking -------------------------------------------------------------------------

    def _check(self, record_id: str, values: Mapping[str, str] | None) -> None:
        try:
            kind = parse_record_id(record_id).kind
        except ValueError:
            pass  # said by the checks, which know the report's ID style
        else:
            if kind is not self.type.kind:
                self.note(
                    Code.MALFORMED_ID,
                    f"{record_id}: {self.name} declares {self.type.kind} records, not {kind}",
                    subject=record_id,
                    fix=f"write {record_id.replace(f'-{kind}-', f'-{self.type.kind}-', 1)}, "
                    "or use the directive of that kind",
                )
        if values is None:
            return
        for fault in self.faults(values, partial=False):
            self.note(fault.code, f"{record_id}: {fault.message}", subject=record_id, fix=fault.fix)
        self._check_part_of(record_id, values)

    def faults(self, values: Mapping[str, str], *, partial: bool) -> list[Fault]:
        """What is wrong with the options; see :func:`check_options`."""
        found = check_options(self.type, values, partial=partial)
        return [each for each in found if not (self.misnamed and each.code is Code.MISSING_FIELD)]

    def _check_part_of(self, record_id: str, values: Mapping[str, str]) -> None:
        if values.get("part-of", "").strip() and not self.part_of(values):
            text = values["part-of"].strip()
            self.note(
                Code.INVALID_VALUE,
                f"{record_id}: option 'part-of' takes exactly one record ID, found '{text}'",
                subject=record_id,
            )

    def part_of(self, values: Mapping[str, str]) -> str:
        """The one ID of the option ``part-of``, empty when there is no one ID."""
        text = values.get("part-of", "").strip()
        is_one = len(text.split()) == 1 and "," not in text and not text.startswith("SRC-")
        return text if is_one else ""

    def _record(self, record_id: str, label: str, values: Mapping[str, str]) -> Record:
        part_of = self.part_of(values)
        if part_of and part_of != record_id:
            self.note_reference(part_of, record=record_id, option="part-of")
        return Record(
            report=self.facts.report or "",
            id=record_id,
            kind=self.type.kind,
            label=label,
            docname=self.docname,
            line=self.lineno,
            member=self.facts.member,
            fields=tuple(
                FieldValue(name=option.name, text=option.text(values[option.name]))
                for option in self.type.options
                if option.name in values
            ),
            part_of=part_of or None,
            tags=tuple(split_list(values.get("tags", ""))),
        )

    # --- showing --------------------------------------------------------------------------

    def _card(
        self,
        record_id: str,
        label: list[nodes.Node],
        plain_label: str,
        values: Mapping[str, str],
        record: Record | None,
    ) -> nodes.Node:
        # a duplicate keeps no anchor: links lead to the first declaration
        wanted = [anchor(record.id), need_id(record.report, record.id)] if record else []
        ids = free_anchors(self.state.document, wanted)
        heading = Heading(
            report=record.report if record else "",
            id=record_id,
            link=HERE if anchor(record_id) in ids else "",
            badges=badges(self.type, values),
            declares=record is not None,
        )
        # in the local table of contents a record goes by its label
        card, content = self.new_card(heading, label, ids, plain_label or record_id, record_id)
        fields = self.fields(values)
        if fields:
            content += fields
        if record is None:
            self.parse_body(content)
            return card
        card["memreport_record"] = record_id
        if record.kind is Kind.ABSENCE:
            content += search_report("", number=len(self.facts.records) - 1, annotation=False)
        self.parse_body(content, record_id)
        self.facts.summaries.setdefault(record_id, summary(content))
        return card

    def fields(self, values: Mapping[str, str]) -> nodes.field_list | None:
        """The options as a field list, in the order of the vocabulary."""
        shown = [
            (option, values[option.name])
            for option in self.type.options
            if values.get(option.name, "").strip() and option.type is not OptionType.STATUS
        ]
        if not shown:
            return None
        fields = nodes.field_list(classes=["memreport-fields"])
        for option, text in shown:
            fields += self._field(option, option.text(text))
        return fields

    def _field(self, option: Option, text: str) -> record_field:
        paragraph = nodes.paragraph("", "", *self._value(option, text))
        self.set_source_info(paragraph)
        return record_field(
            "",
            paragraph,
            name=term(option.label),
            memreport_option=option.name,
            memreport_line=self.lineno,
            # part-of is noted as a relation, a pattern and its globs are never scanned
            memreport_unscanned=option.type in (OptionType.VERBATIM, OptionType.WORDS),
            memreport_relation=option.type is OptionType.RECORD,
        )

    def _value(self, option: Option, text: str) -> list[nodes.Node]:
        match option.type:
            case OptionType.VERBATIM:
                return [nodes.literal("", text)]
            case OptionType.PROSE:
                return self.parse_prose(text)
            case _:
                return [nodes.Text(shown_value(option, text))]


def summary(content: nodes.Element) -> str:
    """A record in a sentence, as plain text: its first field of prose, else how its text begins."""
    for child in content.children:
        if isinstance(child, nodes.field_list):
            for each in child.findall(record_field):
                if not each["memreport_unscanned"]:
                    return f"{each['name']}: {each.astext()}"
        elif isinstance(child, nodes.paragraph):
            return child.astext()
    return ""


def badges(type: RecordType, values: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Kind and statuses as words, so that nothing rests on colour alone; each with its class."""
    found = [(term(type.title), "kind")]
    for option in type.options:
        if option.type is OptionType.STATUS and values.get(option.name, "").strip():
            status = values[option.name].strip()
            shown = f"{term(option.label)}: {term(status)}"
            found.append((shown, status.replace(" ", "-")))
    return tuple(found)


def directive_class(record_type: RecordType) -> type[RecordDirective]:
    """The directive class of one kind of record."""
    return type(
        record_type.directive,
        (RecordDirective,),
        {
            "type": record_type,
            "option_names": frozenset(option.name for option in record_type.options),
            "__doc__": f"Declares a record of kind {record_type.kind}.",
        },
    )


def setup_records(app: Sphinx) -> None:
    """Register the record directives."""
    for record_type in RECORD_TYPES:
        app.add_directive(record_type.directive, directive_class(record_type))
