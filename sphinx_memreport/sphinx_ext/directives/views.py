"""Views: directives that show what other documents declare (contract, section 3.10)."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from docutils import nodes

from sphinx_memreport.core.ids import Kind, MemberName
from sphinx_memreport.core.models import Reference, ReferenceOrigin, View
from sphinx_memreport.core.nearest import did_you_mean
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.profiles import AXES
from sphinx_memreport.core.vocabulary import STATUSES, TYPE_OF_KIND, split_list
from sphinx_memreport.sphinx_ext.directives.base import MemDirective
from sphinx_memreport.sphinx_ext.nodes import (
    evidence_overview,
    profile_comparison,
    record_graph,
    record_list,
    report_overview,
    source_register,
)

if TYPE_CHECKING:
    from sphinx.application import Sphinx

#: Kinds by the names that authors know them by.
KINDS: Mapping[str, Kind] = {
    **{type.directive.removeprefix("mem"): kind for kind, type in TYPE_OF_KIND.items()},
    **{str(kind): kind for kind in TYPE_OF_KIND},
}
_QUALIFIED = re.compile(r"(?:(?P<report>[a-z][a-z0-9-]*):)?(?P<id>\S+)")
_DEPTH = re.compile(r"[1-9]")


class ViewDirective(MemDirective):
    """Base of the views: options are checked, a placeholder is left, the body is empty."""

    placeholder: ClassVar[type[nodes.Element]]

    def run(self) -> list[nodes.Node]:
        """Note what is asked for; it is shown when all is read."""
        values = self.parse_options()
        if values is None:
            return []
        self.check_empty()
        shown = self.placeholder("", number=len(self.facts.views))
        self.facts.views.append(self.view(values))
        self.set_source_info(shown)
        return [shown]

    def view(self, values: Mapping[str, str]) -> View:
        """What the options ask for. Without ``report`` it is the report of the document, if any."""
        reports = split_list(values.get("report", ""))
        if not reports and self.facts.report:
            reports = [self.facts.report]
        kinds = self._words(values, "kind", KINDS)
        return View(
            directive=self.name,
            docname=self.docname,
            line=self.lineno,
            reports=tuple(reports),
            kinds=tuple(dict.fromkeys(KINDS[each] for each in kinds)),
            members=tuple(map(MemberName, self._words(values, "member", tuple(MemberName)))),
            statuses=tuple(self._words(values, "status", STATUSES)),
            **self.more(values),
        )

    def more(self, values: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002 - for subclasses
        """Further fields of the view."""
        return {}

    def check_empty(self) -> None:
        """Note text where a view has none."""
        body = " ".join(line.strip() for line in self.content if line.strip())
        if self.argument or body:
            self.note(
                Code.SWALLOWED_TEXT,
                f"{self.name} takes no argument and no body, found "
                f"'{(self.argument or body)[:60]}'",
                fix="write what to show as options, ':name: value', and other text below",
            )

    def _words(self, values: Mapping[str, str], option: str, known: Collection[str]) -> list[str]:
        """The words of an option that are of a closed list; any other is noted."""
        words = split_list(values.get(option, ""))
        for word in words:
            if word not in known:
                self.note(
                    Code.INVALID_VALUE,
                    f"{self.name}: option '{option}' must be one or more of {', '.join(known)}; "
                    f"found '{word}'",
                    fix=did_you_mean(word, known),
                )
        return [word for word in words if word in known]


class SourcesDirective(ViewDirective):
    """The source register of a report, from ``memreport.toml``."""

    option_names = frozenset({"report"})

    def run(self) -> list[nodes.Node]:
        """Show the register of the named report, else of the document's own."""
        values = self.parse_options()
        if values is None:
            return []
        self.check_empty()
        slug = values.get("report", "").strip() or self.facts.report
        if slug is None:
            self.inside_report()
            return []
        self.facts.views.append(self.view({"report": slug}))
        self.facts.source_registers.append(slug)
        return [source_register("", report=slug)]


class RecordsDirective(ViewDirective):
    """A list of records, with what each claims and how many of its quotes were verified."""

    option_names = frozenset({"report", "kind", "member", "status"})
    placeholder = record_list


class EvidenceOverviewDirective(ViewDirective):
    """What stands behind each record: verified quotes, a shared one, only a path, nothing."""

    option_names = frozenset({"report", "kind", "member", "status"})
    placeholder = evidence_overview


class OverviewDirective(ViewDirective):
    """Reports at a glance: records by kind and member, quotes, what is uncovered, problems."""

    option_names = frozenset({"report"})
    placeholder = report_overview


class ComparisonDirective(ViewDirective):
    """The profiles of several reports, systems as rows and axes as columns."""

    option_names = frozenset({"reports", "axes"})
    placeholder = profile_comparison

    def view(self, values: Mapping[str, str]) -> View:
        """A comparison is of all reports unless it names some."""
        reports = tuple(dict.fromkeys(split_list(values.get("reports", ""))))
        return super().view(values).model_copy(update={"reports": reports})

    def more(self, values: Mapping[str, str]) -> dict[str, Any]:
        """The axes."""
        return {"axes": tuple(self._words(values, "axes", tuple(AXES)))}


class GraphDirective(ViewDirective):
    """Records and their relations, all of a report or those around one record."""

    option_names = frozenset({"report", "around", "depth", "kind"})
    placeholder = record_graph

    def more(self, values: Mapping[str, str]) -> dict[str, Any]:
        """The record in the middle, which is a reference, and how far to go from it."""
        return {**self._around(values), "depth": self._depth(values)}

    def _around(self, values: Mapping[str, str]) -> dict[str, str]:
        match = _QUALIFIED.fullmatch(values.get("around", "").strip())
        if "around" not in values:
            return {}
        if match is None:
            self.note(Code.INVALID_VALUE, f"{self.name}: option 'around' takes exactly one ID")
            return {}
        named = split_list(values.get("report", ""))
        report = match["report"] or (named[0] if len(named) == 1 else self.facts.report) or ""
        self.facts.references.append(
            Reference(
                report=report,
                target=match["id"],
                docname=self.docname,
                line=self.lineno,
                origin=ReferenceOrigin.OPTION,
                record=self.current_record,
                option="around",
            )
        )
        return {"report": report, "around": match["id"]}

    def _depth(self, values: Mapping[str, str]) -> int:
        text = values.get("depth", "").strip()
        if "depth" not in values:
            return 1
        if "around" not in values:
            self.note(
                Code.INVALID_VALUE,
                f"{self.name}: option 'depth' needs the option 'around'",
                fix="add a line ':around: MEM-RTE-…', or remove the depth",
            )
        elif not _DEPTH.fullmatch(text):
            self.note(
                Code.INVALID_VALUE,
                f"{self.name}: option 'depth' must be a number from 1 to 9; found '{text}'",
            )
        return int(text) if _DEPTH.fullmatch(text) else 1


def setup_views(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("memsources", SourcesDirective)
    app.add_directive("memrecords", RecordsDirective)
    app.add_directive("memevidence", EvidenceOverviewDirective)
    app.add_directive("memoverview", OverviewDirective)
    app.add_directive("memcomparison", ComparisonDirective)
    app.add_directive("memgraph", GraphDirective)
