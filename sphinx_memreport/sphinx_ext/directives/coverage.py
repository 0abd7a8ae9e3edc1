"""``memcoverage``: what was inspected, and what it left open (contract, section 3.9)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from docutils import nodes

from sphinx_memreport.core.ids import MemberName
from sphinx_memreport.core.models import CoverageRow
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.source_paths import split_source_path
from sphinx_memreport.core.yaml_body import Table, Text
from sphinx_memreport.sphinx_ext.directives.yaml_body import YamlDirective
from sphinx_memreport.sphinx_ext.nodes import path_reference
from sphinx_memreport.sphinx_ext.render.tables import Column, scrolling_table
from sphinx_memreport.sphinx_ext.words import _, term

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_SOURCE = re.compile(r"SRC-\w+")
_NOTHING = Text(0, "")
_KEYS = ("entry", "direct", "search", "supplied", "records", "unresolved", "prevents", "note")


class _Row(NamedTuple):
    """A row as it was read, and the mapping that it comes from."""

    row: CoverageRow
    table: Table


class CoverageDirective(YamlDirective):
    """A table of entry points: what was read of each, and which records came of it."""

    body_hint = "rows as in '- entry: Recall', below it 'direct: [src/recall.py]'"

    def run(self) -> list[nodes.Node]:
        """Note the rows and show them; the paths and IDs in them are noted with the text."""
        if not self.inside_report():
            return []
        body = None if self.parse_options() is None else self.body()
        if body is None:
            self.facts.broken_rows.append(self.lineno)
            return []
        rows = [self._row(table) for table in self.rows(body, "row")]
        self.facts.coverage.extend(each.row for each in rows)
        if not rows:
            return []
        cells = [self._cells(each) for each in rows]
        columns = (
            Column(_("Entry"), 22),
            Column(_("Inspected"), 28),
            Column(_("Records"), 22),
            Column(_("Open, and notes"), 28),
        )
        return [scrolling_table(columns, cells, "coverage")]

    def _row(self, table: Table) -> _Row:
        line = table.line
        problems = len(self.facts.problems)
        self.check_keys(line, table, _KEYS, "a row")
        entry = self.text(line, table, "entry")
        if not entry and isinstance(table.values.get("entry", _NOTHING), Text):
            self.note_at(
                line,
                Code.MISSING_FIELD,
                "a row needs 'entry', the place that it covers",
                fix="begin the row with '- entry: …'",
            )
        row = CoverageRow(
            report=self.facts.report or "",
            docname=self.docname,
            line=self.document_line(line),
            entry=entry,
            direct=self.texts(line, table, "direct"),
            search=self.texts(line, table, "search"),
            supplied=self.texts(line, table, "supplied"),
            records=self.records(line, table),
            unresolved=self.text(line, table, "unresolved"),
            prevents=self.text(line, table, "prevents"),
            note=self.text(line, table, "note"),
        )
        new = self.facts.problems[problems:]
        if any(problem.code is not Code.MISSING_FIELD for problem in new):
            self.facts.broken_rows.append(row.line)
        return _Row(row, table)

    # --- showing --------------------------------------------------------------------------

    def _cells(self, read: _Row) -> list[list[nodes.Node]]:
        row, table = read
        records = [self._line(table.line, self.link(each, table.line)) for each in row.records]
        return [
            self._prose(read, "entry"),
            [
                *self._paths(read, "direct"),
                *self._paths(read, "search", _("searched")),
                *self._paths(read, "supplied", _("supplied by")),
            ],
            [*records],
            [
                *self._prose(read, "unresolved", _("Unresolved")),
                *self._prose(read, "prevents", _("Prevents")),
                *self._prose(read, "note"),
            ],
        ]

    def _prose(self, read: _Row, key: str, title: str = "") -> list[nodes.Node]:
        text: str = getattr(read.row, key)
        if not text:
            return []
        shown = self.prose(text, read.table.lines[key])
        if title:
            shown[0:0] = [nodes.strong("", f"{title}:"), nodes.Text(" ")]
        return [shown]

    def _paths(self, read: _Row, key: str, title: str = "") -> list[nodes.Node]:
        line = read.table.line
        before: list[nodes.Node] = [nodes.Text(f"{title} ")] if title else []
        return [
            self._line(line, *(node.deepcopy() for node in before), self._path(text, line, key))
            for text in getattr(read.row, key)
        ]

    def _line(self, line: int, *content: nodes.Node) -> nodes.paragraph:
        return self.placed(nodes.paragraph("", "", *content), line)

    def _path(self, text: str, line: int, key: str) -> nodes.Node:
        if key == "supplied" and text in tuple(MemberName):
            shown = _("the {member} member").format(member=term(text))
            return nodes.inline("", shown, classes=["memreport-member"])
        if _SOURCE.fullmatch(text):
            return self.link(text, line)
        node = path_reference("", text, classes=["memreport-path"])
        node["source"], node["path"], node["lines"] = split_source_path(text)
        node["memreport_unscanned"] = True
        node["memreport_line"] = self.document_line(line)
        return node


def setup_coverage(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("memcoverage", CoverageDirective)
