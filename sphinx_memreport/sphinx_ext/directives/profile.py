"""``memprofile``: a report on the ten axes (contract, section 3.10)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes

from sphinx_memreport.core.models import Profile, ProfileAxis, ProfileFinding
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.profiles import ASSESSED, ASSESSMENTS, AXES, BASES, axis_title
from sphinx_memreport.core.yaml_body import WORDS, Items, Table, Text, Value
from sphinx_memreport.sphinx_ext.directives.yaml_body import YamlDirective
from sphinx_memreport.sphinx_ext.render.page import badge
from sphinx_memreport.sphinx_ext.render.tables import Column, scrolling_table
from sphinx_memreport.sphinx_ext.words import _, term

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: The anchor of a profile on its page.
PROFILE_ANCHOR = "memreport-profile"

_AXIS_KEYS = ("assessment", "findings", "note")
_FINDING_KEYS = ("value", "basis", "records", "note")


class ProfileDirective(YamlDirective):
    """Says on each axis what was found, on which basis, and which records show it."""

    body_hint = "axes as in 'write_agency:', below it 'assessment: uninspected'"

    def run(self) -> list[nodes.Node]:
        """Note the profile and show it; the IDs in it are noted with the text."""
        if not self.inside_report() or self.parse_options() is None:
            return []
        body = self.body()
        if body is None:
            return []
        if not isinstance(body, Table):
            self.note_at(
                body.line,
                Code.INVALID_VALUE,
                f"expected a mapping of axes, found {WORDS[type(body)]}",
                fix=f"write {self.body_hint}",
            )
            return []
        tables = dict(self._axes(body))
        axes = {name: self._axis(body.lines[name], name, table) for name, table in tables.items()}
        self.facts.profiles.append(
            Profile(
                report=self.facts.report or "",
                docname=self.docname,
                line=self.lineno,
                axes=tuple(axes[name] for name in AXES if name in axes),
            )
        )
        return self._shown(tables, axes)

    # --- reading --------------------------------------------------------------------------

    def _axes(self, body: Table) -> list[tuple[str, Table]]:
        found = []
        for name, value in body.values.items():
            line = body.lines[name]
            if name not in AXES:
                self.note_unknown(line, "unknown axis", name, tuple(AXES))
            elif isinstance(value, Table):
                found.append((name, value))
            else:
                self.note_at(
                    line,
                    Code.INVALID_VALUE,
                    f"{name} must be a mapping with 'assessment', found {WORDS[type(value)]}",
                    fix=f"write '{name}:' and below it, indented, 'assessment: known'",
                )
        return found

    def _axis(self, line: int, name: str, table: Table) -> ProfileAxis:
        self.check_keys(line, table, _AXIS_KEYS, name)
        assessment = self.word(line, table, "assessment", ASSESSMENTS, name)
        value = table.values.get("findings")
        self._check_number(line, name, assessment, value)
        findings = [self._finding(name, row) for row in self._findings(value)]
        return ProfileAxis(
            line=self.document_line(line),
            name=name,
            assessment=assessment,
            findings=tuple(findings),
            note=self.text(line, table, "note"),
        )

    def _check_number(self, line: int, name: str, assessment: str, findings: Value | None) -> None:
        some = isinstance(findings, Items) and bool(findings.items)
        if assessment in ASSESSED and (findings is None or _is_empty(findings)):
            self.note_at(
                line,
                Code.MISSING_FIELD,
                f"{name} is assessed as '{assessment}' and needs findings",
                fix="add 'findings:' with a list of values, or assess the axis otherwise",
            )
        elif assessment in ASSESSMENTS and assessment not in ASSESSED and some:
            self.note_at(
                line,
                Code.INVALID_VALUE,
                f"{name} is assessed as '{assessment}' and can have no findings",
                fix="remove the findings, or write 'assessment: known' or 'assessment: partial'",
            )

    def _findings(self, value: Value | None) -> list[Table]:
        if value is None or _is_empty(value):
            return []
        return list(self.rows(value, "finding"))

    def _finding(self, axis: str, row: Table) -> ProfileFinding:
        line = row.line
        self.check_keys(line, row, _FINDING_KEYS, f"a finding of {axis}")
        return ProfileFinding(
            line=self.document_line(line),
            value=self.word(line, row, "value", AXES[axis], f"a finding of {axis}"),
            basis=self.word(line, row, "basis", BASES, f"a finding of {axis}"),
            records=self.records(line, row),
            note=self.text(line, row, "note"),
        )

    # --- showing --------------------------------------------------------------------------

    def _shown(self, tables: dict[str, Table], axes: dict[str, ProfileAxis]) -> list[nodes.Node]:
        rows = []
        for name in AXES:
            cells: list[list[nodes.Node]] = [[nodes.strong("", term(axis_title(name)))]]
            if name in axes:
                rows.append([*cells, *self._cells(tables[name], axes[name])])
            else:
                rows.append([*cells, [badge(_("not assessed"), "assessment")], []])
        columns = (Column(_("Axis"), 20), Column(_("Assessment"), 14), Column(_("Findings"), 66))
        shown = scrolling_table(columns, rows, "profile")
        if PROFILE_ANCHOR in self.state.document.ids:
            return [shown]
        # an element of its own: LaTeX sets no label for the IDs of any other
        target = nodes.target("", "", ids=[PROFILE_ANCHOR])
        self.state.document.note_explicit_target(target)
        return [target, shown]

    def _cells(self, table: Table, axis: ProfileAxis) -> list[list[nodes.Node]]:
        value = table.values.get("findings")
        items = value.items if isinstance(value, Items) else ()
        rows = [item for item in items if isinstance(item, Table)]
        findings: list[nodes.Node] = []
        for row, finding in zip(rows, axis.findings, strict=True):
            findings.append(self._shown_finding(row.line, finding))
            if finding.note:
                findings.append(self.prose(finding.note, row.lines["note"]))
        if axis.note:
            findings.append(self.prose(axis.note, table.lines["note"]))
        return [[badge(term(axis.assessment), "assessment")], findings]

    def _shown_finding(self, line: int, finding: ProfileFinding) -> nodes.paragraph:
        shown = nodes.paragraph("", "", nodes.strong("", finding.value), nodes.Text(" "))
        if finding.basis in BASES:
            shown += badge(term(finding.basis), finding.basis.replace(" ", "-"))
        for index, record_id in enumerate(finding.records):
            shown += nodes.Text(" " if index == 0 else ", ")
            shown += self.link(record_id, line)
        return self.placed(shown, line)


def _is_empty(value: Value) -> bool:
    return (isinstance(value, Text) and not value.text) or (
        isinstance(value, Items) and not value.items
    )


def setup_profile(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("memprofile", ProfileDirective)
