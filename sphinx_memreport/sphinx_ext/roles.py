"""The roles ``mem``, ``memsrc`` and ``memraw`` (contract, section 3.4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from docutils import nodes
from docutils.parsers.rst import roles
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import ReferenceRole, SphinxRole

from sphinx_memreport.core.ids import REPORT_SLUG
from sphinx_memreport.core.models import LineRange
from sphinx_memreport.core.source_paths import split_source_path
from sphinx_memreport.sphinx_ext.nodes import path_reference

if TYPE_CHECKING:
    from sphinx.application import Sphinx

    from sphinx_memreport.sphinx_ext.domain import MemDomain

_QUALIFIED = re.compile(rf"(?:(?P<report>{REPORT_SLUG.pattern}):)?(?P<id>\S+)")


def record_reference(
    report: str, target: str, content: nodes.Element, *, explicit: bool
) -> pending_xref:
    """A reference to a record or source that the domain resolves when all is read.

    ``memreport_*`` attributes tell the reading transform that the reference is yet to be noted,
    and from where.
    """
    return pending_xref(
        "",
        content,
        refdomain="mem",
        reftype="record",
        reftarget=target,
        refexplicit=explicit,
        refwarn=False,
        memreport_report=report,
    )


class RecordRole(ReferenceRole):
    """``{mem}`ID```, ``{mem}`text <ID>```, ``{mem}`report:ID```."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Build the reference; the reading transform notes it."""
        domain = cast("MemDomain", self.env.get_domain("mem"))
        match = _QUALIFIED.fullmatch(self.target.strip())
        own = domain.report_of(self.env.current_document.docname)
        report = (match["report"] if match else None) or (own.slug if own else "")
        target = match["id"] if match else self.target.strip()
        shown_as = nodes.inline if self.has_explicit_title else nodes.literal
        content = shown_as("", self.title, classes=["xref", "mem"])
        reference = record_reference(report, target, content, explicit=self.has_explicit_title)
        reference["memreport_role"] = True
        reference["memreport_written"] = self.target.strip()
        self.set_source_info(reference)
        return [reference], []


class SourcePathRole(ReferenceRole):
    """``{memsrc}`SRC-1:path#L12-L20```: a path that must exist at the pinned commit."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Build the placeholder; the reading transform notes the path."""
        node = path_reference("", self.title, classes=["memreport-path"])
        node["source"], node["path"], node["lines"] = split_source_path(self.target)
        # a path that shows itself is checked as a path; the source ID in it is no mention
        node["memreport_unscanned"] = not self.has_explicit_title
        self.set_source_info(node)
        return [node], []


class RawRole(SphinxRole):
    """``{memraw}`ID```: a mention that is no reference."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Show the text as a literal that is not scanned."""
        return [nodes.literal("", self.text, classes=["memreport-raw"])], []


def line_range(pair: tuple[int, int] | None) -> LineRange | None:
    """A line range from a node's attribute; None when there is none.

    :raises ValueError: when it starts at line 0 or behind its own end.
    """
    if pair is None:
        return None
    if not 1 <= pair[0] <= pair[1]:
        raise ValueError(f"L{pair[0]}-L{pair[1]}")
    return LineRange(start=pair[0], end=pair[1])


def setup_roles(app: Sphinx) -> None:
    """Register the short names of the roles, where no document can give them another meaning.

    The directive ``role`` defines names for all documents that a process reads from then on. The
    names of the standard domain come before those.
    """
    app.add_role_to_domain("std", "mem", RecordRole())
    app.add_role_to_domain("std", "memsrc", SourcePathRole())
    app.add_role_to_domain("std", "memraw", RawRole())
    _OwnRoles(app)


class _OwnRoles:
    """Has what a document defines with ``role`` end with it.

    Otherwise it would depend on the order of reading, and on what is read at all, whether the
    role is there in other documents.
    """

    def __init__(self, app: Sphinx) -> None:
        app.connect("env-before-read-docs", self._remember, 900)
        app.connect("source-read", self._restore, 100)

    def _remember(self, *_event: object) -> None:
        self._roles = dict(known_roles())

    def _restore(self, *_event: object) -> None:
        known = known_roles()
        known.clear()
        known.update(self._roles)


def known_roles() -> dict[str, object]:
    """The roles that docutils knows by name, for all documents."""
    return cast("dict[str, object]", vars(roles)["_roles"])
