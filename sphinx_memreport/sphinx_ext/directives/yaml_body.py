"""What the directives with a YAML body share: reading it, and saying what is wrong where."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, ClassVar, TypeVar

from docutils import nodes

from sphinx_memreport.core.models import ReferenceOrigin
from sphinx_memreport.core.nearest import did_you_mean
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.vocabulary import split_list
from sphinx_memreport.core.yaml_body import WORDS, BodyFault, Items, Table, Text, Value, read_body
from sphinx_memreport.sphinx_ext.directives.base import MemDirective, inert
from sphinx_memreport.sphinx_ext.roles import record_reference

N = TypeVar("N", bound=nodes.Element)


class YamlDirective(MemDirective):
    """Base of the directives with a YAML body. Lines of values are lines of the body, from 1."""

    yaml_block = False
    options_hint = "the body is YAML and begins below the opening line, without '---'"
    #: What the body holds, for the message when it holds nothing.
    body_hint: ClassVar[str]

    def body(self) -> Value | None:
        """The body, or None when there is none that can be read (which is then noted)."""
        if self.argument:
            self.note(
                Code.SWALLOWED_TEXT,
                f"{self.name} takes no argument, found '{self.argument}'",
                fix="move the text into the body",
            )
        try:
            found = read_body(list(self.content))
        except BodyFault as fault:
            self.note_at(fault.line, fault.code, fault.message, fix=fault.fix)
            return None
        if found is None:
            self.note(Code.MISSING_FIELD, f"{self.name} is empty", fix=f"write {self.body_hint}")
        return found

    def note_at(self, line: int, code: Code, message: str, **more: Any) -> None:
        """Note a problem at a line of the body."""
        self.domain.note(
            code, self.document_line(line), f"{self.name}: {message}", docname=self.docname, **more
        )

    # --- reading rows ---------------------------------------------------------------------

    def check_keys(self, row: int, table: Table, known: Collection[str], what: str) -> None:
        """Note every key that is not known."""
        for key in table.values:
            if key not in known:
                self.note_unknown(row, f"unknown key in {what}", key, known)

    def note_unknown(self, row: int, what: str, found: str, known: Collection[str]) -> None:
        """Note a word that is not one of a closed list, with the nearest one that is."""
        self.note_at(
            row,
            Code.INVALID_VALUE,
            f"{what}: '{found}' is not one of {', '.join(known)}",
            fix=did_you_mean(found, known),
        )

    def text(self, row: int, table: Table, key: str) -> str:
        """The text under a key; empty when there is none or it is no text (which is noted)."""
        value = table.values.get(key)
        if value is None or isinstance(value, Text):
            return value.text if value else ""
        self._note_type(row, key, "text", value)
        return ""

    def word(self, row: int, table: Table, key: str, known: Collection[str], what: str) -> str:
        """The text under a key that must be there and one of a closed list."""
        text, value = self.text(row, table, key), table.values.get(key)
        if text and text not in known:
            self.note_unknown(row, f"the {key} of {what}", text, known)
        elif not text and (value is None or isinstance(value, Text)):
            self.note_at(
                row,
                Code.MISSING_FIELD,
                f"{what} needs '{key}'",
                fix=f"add '{key}:' with one of {', '.join(known)}",
            )
        return text

    def texts(self, row: int, table: Table, key: str) -> tuple[str, ...]:
        """The texts under a key; a single text counts as a list of one."""
        value = table.values.get(key)
        items = value.items if isinstance(value, Items) else (value,) if value else ()
        found = []
        for item in items:
            if isinstance(item, Text):
                found.append(item.text)
            else:
                self._note_type(row, key, "a list of texts", item)
        return tuple(text for text in found if text)

    def records(self, row: int, table: Table, key: str = "records") -> tuple[str, ...]:
        """The record IDs under a key; what names a source is noted and left out."""
        found: dict[str, None] = {}
        for record_id in (
            each for text in self.texts(row, table, key) for each in split_list(text)
        ):
            if record_id.startswith("SRC-"):
                self.note_at(
                    row, Code.INVALID_VALUE, f"'{key}': {record_id} is a source, not a record"
                )
            else:
                found[record_id] = None
        return tuple(found)

    def rows(self, value: Value, what: str) -> Iterator[Table]:
        """The mappings of a list; anything else in its place is noted."""
        items = value.items if isinstance(value, Items) else (value,)
        if not isinstance(value, Items):
            self.note_at(
                value.line,
                Code.INVALID_VALUE,
                f"expected a list of {what}s, found {WORDS[type(value)]}",
                fix=f"begin each {what} with '- '",
            )
            return
        for item in items:
            if isinstance(item, Table):
                yield item
            else:
                self.note_at(
                    item.line,
                    Code.INVALID_VALUE,
                    f"a {what} is a mapping (key: value), found {WORDS[type(item)]}",
                    fix=f"write {self.body_hint}",
                )

    def _note_type(self, row: int, key: str, expected: str, found: Value) -> None:
        self.note_at(
            row,
            Code.INVALID_VALUE,
            f"'{key}' must be {expected}, found {WORDS[type(found)]}",
            fix="put the text in quotes" if isinstance(found, Table) else "",
        )

    # --- showing --------------------------------------------------------------------------

    def prose(self, text: str, line: int) -> nodes.paragraph:
        """A text of the body as a paragraph: inline markup, IDs in it are noted at their lines."""
        place = self.document_line(line)
        found, messages = self.parse_inline(text, lineno=place)
        return self.placed(nodes.paragraph("", "", *inert(found), *messages), line)

    def placed(self, node: N, line: int) -> N:
        """Say at which line of the body a node stands."""
        node.source, node.line = self.state.document["source"], self.document_line(line)
        return node

    def link(self, target: str, row: int) -> nodes.Node:
        """A record or source that a row names: a link, noted as a relation at the row's line."""
        shown = nodes.literal("", target, classes=["xref", "mem"])
        reference = record_reference(self.facts.report or "", target, shown, explicit=False)
        reference["memreport_role"] = True
        reference["memreport_origin"] = ReferenceOrigin.RELATION
        reference["memreport_line"] = self.document_line(row)
        return reference
