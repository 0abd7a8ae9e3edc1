"""While a document is read: every ID in its text is noted, and linked where it can be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

from sphinx_memreport.core.ids import Mention, anchor, find_mentions
from sphinx_memreport.core.models import (
    CommitMention,
    LineRange,
    PathReference,
    Reference,
    ReferenceOrigin,
)
from sphinx_memreport.core.problems import Code
from sphinx_memreport.sphinx_ext.depth import is_markdown
from sphinx_memreport.sphinx_ext.directives.base import source_lines
from sphinx_memreport.sphinx_ext.nodes import PLACEHOLDERS, path_reference
from sphinx_memreport.sphinx_ext.roles import line_range, record_reference

if TYPE_CHECKING:
    from sphinx_memreport.core.registry import DocumentFacts
    from sphinx_memreport.sphinx_ext.domain import MemDomain

_COMMIT = re.compile(r"(?<![\w/-])(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40})(?![\w-])")

# A role of ours as the other markup writes it, or with a space before its text.
_SLIP_IN_TEXT = re.compile(r"\{(?P<name>mem(?:src|raw)?)\}`(?P<shown>[^`\n]+)`", re.IGNORECASE)
_SLIP_BEFORE = re.compile(
    r"(?<![\w:{]):(?P<rest>mem(?:src|raw)?):\s*$|\{(?P<myst>mem(?:src|raw)?)\}\s+$", re.IGNORECASE
)
_END_OF_SLIP = (":", " ", "\n")
_IN_BACKTICKS = (nodes.literal, nodes.title_reference)

_UNSCANNED = (
    nodes.literal_block,
    nodes.doctest_block,
    nodes.comment,
    nodes.raw,
    nodes.math,
    nodes.math_block,
    nodes.system_message,
    nodes.problematic,
    nodes.substitution_definition,
    nodes.target,
    nodes.docinfo,
    nodes.meta,
    addnodes.toctree,
    addnodes.index,
    addnodes.productionlist,
)
_TEXT_AND_PLACEHOLDERS: tuple[type[nodes.Node], ...] = (nodes.Text, *PLACEHOLDERS)
_ROLES = (path_reference, addnodes.pending_xref)
_LINKS = (
    nodes.reference,
    addnodes.pending_xref,
    addnodes.download_reference,
    addnodes.number_reference,
    path_reference,
)


class _Context:
    """What stands around a text: its record, option and section, and the line it is said at."""

    def __init__(self, document: nodes.document) -> None:
        self.document = document
        self.record: str | None = None
        self.annotation: str | None = None
        self.option: str | None = None
        self.option_line: int | None = None
        self.section: str | None = None
        self.section_title = ""
        self.line: int = 1
        self.link: nodes.Element | None = None
        self.unscanned = False
        self.relation = False

    @classmethod
    def of(cls, node: nodes.Node) -> _Context:
        """Read the context off the ancestors of a node, the nearest first."""
        found = cls(cast("nodes.document", node.document))
        line: int | None = None
        ancestor: nodes.Node | None = node
        while ancestor is not None:
            if isinstance(ancestor, nodes.Element):
                found._look_at(ancestor)
                if line is None and not isinstance(ancestor, nodes.Inline):
                    line = ancestor.line
            ancestor = ancestor.parent
        found.line = line or 1
        return found

    def _look_at(self, element: nodes.Element) -> None:
        if isinstance(element, _UNSCANNED) or element.get("memreport_unscanned"):
            self.unscanned = True
        if isinstance(element, nodes.literal) and "memreport-raw" in element["classes"]:
            self.unscanned = True
        if element.get("memreport_relation"):
            self.relation = True
        if isinstance(element, _LINKS) and self.link is None:
            self.link = element
        if self.option is None and "memreport_option" in element:
            self.option = element["memreport_option"]
            self.option_line = element["memreport_line"]
        if isinstance(element, addnodes.desc) and self.record is None:
            self.record = element.get("memreport_record")
            self.annotation = element.get("memreport_annotation")
            self.section = self.section or element.get("memreport_section")
        if isinstance(element, nodes.section) and self.section is None and element["ids"]:
            top = isinstance(element.parent, nodes.document)
            self.section = None if top else element["ids"][0]
            self.section_title = "" if top else element[0].astext()


class NoteMentions(SphinxTransform):
    """Notes references, paths and commit hashes in a report's document; links bare IDs."""

    # after smart quotes and substitutions, before Sphinx collects titles and labels
    default_priority = 820

    def apply(self, **_kwargs: object) -> None:
        """Walk over the document once."""
        self.domain = cast("MemDomain", self.env.get_domain("mem"))
        docname = self.env.current_document.docname
        report = self.domain.report_of(docname)
        self.facts: DocumentFacts = self.domain.facts(docname)
        self.lines = _LineFinder(source_lines(self.env))
        self.report = report.slug if report else ""
        scanned = report is not None and self.config.memreport_autolink
        # one walk in the order of the text, so that the lines of equal IDs come out right
        above = nodes.Text("")
        for node in list(self.document.findall(_is_of_interest)):
            if isinstance(node, nodes.Text):
                if report is not None:
                    self._note_slips(node, above)
                above = node
                if scanned:
                    self._scan(node)
                continue
            element = cast("nodes.Element", node)
            if isinstance(element, PLACEHOLDERS):
                element["memreport_docname"] = docname  # it may be copied into another one
            if isinstance(element, _ROLES):
                self._note_role(element)

    # --- roles ----------------------------------------------------------------------------

    def _note_role(self, node: nodes.Element) -> None:
        if node.get("intersphinx"):
            # an external role: the inventory of the other site has the ID as it was written
            node["reftarget"] = node["memreport_written"]
            return
        context = _Context.of(node)
        if isinstance(node, path_reference):
            node["number"] = len(self.facts.paths)
            line = node.get("memreport_line") or self._line(context, node["path"])
            self.facts.paths.append(
                PathReference(
                    report=self.facts.report or "",
                    source=node["source"],
                    path=node["path"],
                    docname=self.facts.docname,
                    line=line,
                    lines=self._line_range(node, line),
                    record=context.record,
                )
            )
        else:
            origin = node.get("memreport_origin", ReferenceOrigin.ROLE)
            line = node.get("memreport_line")
            self._note(node["memreport_report"], node["reftarget"], context, origin, line)

    def _line_range(self, node: path_reference, line: int) -> LineRange | None:
        try:
            return line_range(node["lines"])
        except ValueError as error:
            self.domain.note(
                Code.RANGE_OUTSIDE_FILE,
                line,
                f"the range {error} of {node['path']} starts at line 0 or behind its own end",
                docname=self.facts.docname,
                fix="write it as #L12-L20, from line 1 on",
            )
            return None

    def _note_slips(self, text: nodes.Text, above: nodes.Text) -> None:
        """Note roles in the spelling of the other markup, or with a space: they stay text.

        :param above: the text before this one: the end of a line may be a text of its own.
        """
        if isinstance(text.parent, nodes.literal):
            return
        if "}`" in text:
            for slip in _SLIP_IN_TEXT.finditer(text):
                self._note_slip(text, slip[0], slip["name"], slip["shown"])
        if text[-1:] not in _END_OF_SLIP:
            return
        is_end = not text.strip() and above.parent is text.parent
        before = _SLIP_BEFORE.search(f"{above}{text}" if is_end else text)
        behind = _node_behind(text) if before else None
        if before and isinstance(behind, _IN_BACKTICKS):
            role = before["rest"] or before["myst"]
            self._note_slip(text, before[0].strip(), role, behind.astext())

    def _note_slip(self, text: nodes.Text, written: str, name: str, shown: str) -> None:
        context = _Context.of(text)
        if context.unscanned:  # as in a block of code that shows how to write a role
            return
        markdown = is_markdown(self.app, self.facts.docname)
        role = f"{{{name.lower()}}}" if markdown else f":{name.lower()}:"
        self.domain.note(
            Code.UNKNOWN_DIRECTIVE,
            self._line(context, written),
            f"'{written}' is no role here: it is text, and nothing of it is checked",
            docname=self.facts.docname,
            fix=f"write {role}`{shown}`, without a space",
        )

    # --- bare IDs -------------------------------------------------------------------------

    def _scan(self, text: nodes.Text) -> None:
        content = str(text)
        commits = list(_COMMIT.finditer(content)) if len(content) >= 40 else []
        if "-" not in content and not commits:
            return
        mentions = list(find_mentions(content))
        if not mentions and not commits:
            return
        context = _Context.of(text)
        if context.unscanned or self._is_address(context.link, content):
            return
        for commit in commits:
            self.facts.commits.append(
                CommitMention(
                    report=self.report,
                    commit=commit[0].lower(),
                    docname=self.facts.docname,
                    line=self._line(context, commit[0]),
                )
            )
        if self._is_own_title(context.link):
            return
        if not context.relation:  # a relation is noted by its directive
            for mention in mentions:
                self._note(self._report(mention), mention.target, context, ReferenceOrigin.BARE)
        if mentions and context.link is None:
            self._link(text, content, mentions)

    def _is_address(self, link: nodes.Element | None, content: str) -> bool:
        """Whether a link shows its own address, which is a URL and not prose."""
        address = link.get("refuri", "") if link is not None else ""
        return bool(address) and address.partition(":")[2].lstrip("/") in (
            content.strip(),
            content.strip().partition(":")[2].lstrip("/"),
        )

    def _is_own_title(self, link: nodes.Element | None) -> bool:
        """Whether a text is the ID that a role shows of itself, or is of another site."""
        if link is None or not link.get("memreport_role"):
            return False
        return not link["refexplicit"] or bool(link.get("intersphinx"))

    def _report(self, mention: Mention) -> str:
        qualified = mention.report and mention.report in self.domain.config.reports
        return mention.report if qualified and mention.report else self.report

    def _link(self, text: nodes.Text, content: str, mentions: list[Mention]) -> None:
        parts: list[nodes.Node] = []
        position = 0
        for mention in mentions:
            if mention.start > position:
                parts.append(nodes.Text(content[position : mention.start]))
            shown = nodes.inline("", content[mention.start : mention.end])
            reference = record_reference(
                self._report(mention), mention.target, shown, explicit=False
            )
            parts.append(reference)
            position = mention.end
        if position < len(content):
            parts.append(nodes.Text(content[position:]))
        text.parent.replace(text, parts)

    # --- noting ---------------------------------------------------------------------------

    def _note(
        self,
        report: str,
        target: str,
        context: _Context,
        origin: ReferenceOrigin,
        line: int | None = None,
    ) -> None:
        if context.section is not None:
            self.facts.sections[context.section] = context.section_title
        self.facts.references.append(
            Reference(
                report=report,
                target=target,
                docname=self.facts.docname,
                line=line or self._line(context, target),
                origin=origin,
                record=context.record,
                annotation=context.annotation,
                option=context.option,
                section=context.section if context.record is None else anchor(context.record),
            )
        )

    def _line(self, context: _Context, token: str) -> int:
        if context.option and context.option_line:
            return context.option_line
        return self.lines.find(token, context.line)


class _LineFinder:
    """Finds the line of a token below the first line of its block.

    A block knows where it starts; which of its lines holds the token stands in the source text.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._block = 0
        self._behind = (0, 0)
        self._next: dict[str, tuple[int, int]] = {}

    def find(self, token: str, block: int) -> int:
        """The line of the next occurrence of ``token`` in the block that starts at ``block``.

        Tokens come in the order of the text, so each is sought behind the one before it; one
        that is not there (a text that stands elsewhere, as in a footnote) from the start.
        """
        if block != self._block:
            self._block, self._behind, self._next = block, (block, 0), {}
        start = self._next.get(token, (block, 0))
        found = self._seek(token, max(start, self._behind)) or self._seek(token, start)
        if found is None:
            return start[0]
        self._behind = self._next[token] = found
        return found[0]

    def _seek(self, token: str, start: tuple[int, int]) -> tuple[int, int] | None:
        """Line and end of the first occurrence from a line and column on, in one paragraph."""
        line, column = start
        for number in range(line, min(len(self._lines), line + 400) + 1):
            text = self._lines[number - 1]
            found = text.find(token, column if number == line else 0)
            if found >= 0:
                return number, found + len(token)
            if not text.strip() and number > self._block:
                break
        return None


def _node_behind(text: nodes.Text) -> nodes.Node | None:
    # equal texts are equal nodes to docutils
    siblings = iter(text.parent.children)
    next(each for each in siblings if each is text)
    return next(siblings, None)


def _is_of_interest(node: nodes.Node) -> bool:
    """Text, placeholders, and references by role."""
    return isinstance(node, _TEXT_AND_PLACEHOLDERS) or (
        isinstance(node, addnodes.pending_xref) and bool(node.get("memreport_role"))
    )
