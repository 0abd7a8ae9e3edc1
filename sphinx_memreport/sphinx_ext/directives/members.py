"""``memmember`` and ``memsupplied``: what a document is, and what it takes from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx import addnodes

from sphinx_memreport.core.export import ForeignRecord
from sphinx_memreport.core.ids import MemberName, anchor, need_id
from sphinx_memreport.core.models import Supplied
from sphinx_memreport.core.nearest import did_you_mean
from sphinx_memreport.core.problems import Code
from sphinx_memreport.sphinx_ext.directives.base import MemDirective
from sphinx_memreport.sphinx_ext.directives.cards import free_anchors, new_signature
from sphinx_memreport.sphinx_ext.directives.other_site import (
    FILE_OPTIONS,
    NotSupplied,
    label_of,
    records_by_name,
    records_of_other_site,
)
from sphinx_memreport.sphinx_ext.needs import add_supplied_need
from sphinx_memreport.sphinx_ext.nodes import Heading, member_header, record_card
from sphinx_memreport.sphinx_ext.words import origin

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_ENTRY = re.compile(
    r"(?P<id>[^\s:<]+)\s*(?::\s*(?P<label>.*?))?\s*(?:<(?P<url>[^<>]*)>)?\s*", re.DOTALL
)
_WEB = re.compile(r"https?://[^\s\"'<>]+")


class MemberDirective(MemDirective):
    """Says which member of the report a document is, and shows the report's header."""

    argument_hint = "the name of a member"

    def run(self) -> list[nodes.Node]:
        """Note the member; its header is filled when all is read."""
        if not self.inside_report() or self.parse_options() is None:
            return []
        facts = self.facts
        name = self.argument
        if name not in tuple(MemberName):
            self.note(
                Code.INVALID_VALUE,
                f"memmember must name one of {', '.join(MemberName)}; found '{name}'",
                fix=did_you_mean(name, tuple(MemberName)),
            )
            return []
        if facts.member is not None:
            self.note(
                Code.INVALID_VALUE,
                f"memmember stands twice in this document, first at line {facts.member_line}",
                fix="remove one of the two",
            )
            return []
        if facts.records:
            self.note(
                Code.INVALID_VALUE,
                f"memmember stands below the record {facts.records[0].id}",
                fix="move it above the first record",
            )
        if any(line.strip() for line in self.content):
            self.note(Code.SWALLOWED_TEXT, "memmember takes no body", fix="move the text below it")
        facts.member = MemberName(name)
        facts.member_line = self.lineno
        header = member_header("", report=facts.report, member=name)
        self.set_source_info(header)
        return [header]


class SuppliedDirective(MemDirective):
    """Lists IDs that a member outside this site declares, one a line."""

    optional_arguments = 0
    option_names = frozenset({"member", *FILE_OPTIONS})

    def run(self) -> list[nodes.Node]:
        """Note the entries and show each as a target that is visibly external."""
        if not self.inside_report():
            return []
        values = self.parse_options() or {}
        member = self._member(values)
        entries = record_card(
            "",
            domain="mem",
            objtype="supplied",
            desctype="supplied",
            classes=["mem", "memreport-supplied-list"],
        )
        for offset, line in enumerate(self.content):
            if line.strip():
                entries += self._entry(line.strip(), self.document_line(offset + 1), member)
        for record, url in self._from_other_site(values):
            entry = Supplied(
                report=self.facts.report or "",
                id=record.id,
                docname=self.docname,
                line=self.lineno,
                label=label_of(record),
                url=url,
                member=record.member or member,
            )
            entries += self._noted(entry)
        return [entries] if entries.children else []

    def _from_other_site(
        self, values: Mapping[str, str]
    ) -> Sequence[tuple[ForeignRecord, str | None]]:
        """Records, with their addresses, of the file that the option ``from`` names."""
        try:
            return records_of_other_site(
                self.env, values, self.facts.report or "", self.domain.config.root
            )
        except NotSupplied as error:
            self.note(Code.INVALID_VALUE, f"memsupplied: {error.message}", fix=error.fix)
            return records_by_name(values)

    def _member(self, values: Mapping[str, str]) -> str | None:
        member = values.get("member", "").strip()
        if member and member not in tuple(MemberName):
            self.note(
                Code.INVALID_VALUE,
                f"memsupplied: option 'member' must name one of {', '.join(MemberName)}; "
                f"found '{member}'",
            )
        return member or None

    def _entry(self, text: str, line: int, member: str | None) -> list[nodes.Node]:
        text = " ".join(text.split())  # runs of blanks would make the pattern slow
        match = _ENTRY.fullmatch(text)
        if match is None:
            self.domain.note(
                Code.INVALID_VALUE,
                line,
                f"memsupplied: an entry is 'ID', 'ID: label' or either with a '<URL>'; "
                f"found '{text}'",
                docname=self.docname,
            )
            return []
        url = match["url"]
        if url is not None and not _WEB.fullmatch(url.strip()):
            self.domain.note(
                Code.INVALID_VALUE,
                line,
                f"memsupplied: the URL of an entry starts with https://; found '{url}'",
                docname=self.docname,
                subject=match["id"],
            )
            url = None
        entry = Supplied(
            report=self.facts.report or "",
            id=match["id"],
            docname=self.docname,
            line=line,
            label=(match["label"] or "").strip(),
            url=url.strip() if url else None,
            member=member,
        )
        return self._noted(entry)

    def _noted(self, entry: Supplied) -> list[nodes.Node]:
        self.facts.supplied.append(entry)
        add_supplied_need(self.env, entry)
        return self._shown(entry)

    def _shown(self, entry: Supplied) -> list[nodes.Node]:
        document = self.state.document
        ids = [anchor(entry.id), need_id(entry.report, entry.id)]
        heading = Heading(
            report=entry.report,
            id=entry.id,
            link=entry.url or "",
            badges=((origin(entry), "external"),),
            declares=True,
        )
        title = [nodes.Text(entry.label)] if entry.label else []
        signature = new_signature(heading, title, free_anchors(document, ids))
        signature["_toc_name"] = ""
        document.note_explicit_target(signature)
        signature.line, signature.source = entry.line, document["source"]
        return [signature, addnodes.desc_content()]


def setup_members(app: Sphinx) -> None:
    """Register the directives."""
    app.add_directive("memmember", MemberDirective)
    app.add_directive("memsupplied", SuppliedDirective)
