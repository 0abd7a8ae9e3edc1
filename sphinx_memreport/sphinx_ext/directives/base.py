"""What all directives share: place, report, options, and noting problems."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, cast

from docutils import nodes
from docutils.parsers.rst import directives
from myst_parser.mocking import MockState
from sphinx.util.docutils import SphinxDirective

from sphinx_memreport.core.models import Reference, ReferenceOrigin
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.registry import DocumentFacts
from sphinx_memreport.sphinx_ext.depth import DEEPEST, is_emphasis_too_deep
from sphinx_memreport.sphinx_ext.directives.options import AnyOption, read_options, said_of_unknown

if TYPE_CHECKING:
    from sphinx.environment import BuildEnvironment

    from sphinx_memreport.sphinx_ext.domain import MemDomain

#: Where the source text of the document that is read is kept.
SOURCE_TEXT = "memreport-source-text"
_SOURCE_LINES = "memreport-source-lines"
#: Where the ID of the record around a nested directive, and the anchor of the annotation on it
#: that stands in between, are kept while they are read.
_CURRENT_RECORD = "memreport-record"
_CURRENT_ANNOTATION = "memreport-annotation"
# what no rule of Markdown, or extension of it, takes for anything else
_WORDS = re.compile(r"[^\W_]+(?:(?:[,;.]? |-)[^\W_]+)*\.?")
# what may stand before the colon of a link's address; other schemes may run something
_SCHEME = re.compile(r"[^/?#]*?:")
#: The node of sphinx-needs that evaluates its text, as Python.
_EVALUATED = "NeedCount"
_HARMLESS_SCHEMES = frozenset({"http:", "https:", "mailto:", "ftp:"})


class MemDirective(SphinxDirective):
    """Base of the directives. A fault never stops the page: it is noted and the rest is shown."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True
    # truthy, or the Markdown parser would not look for options at all
    option_spec = AnyOption(name=directives.unchanged)

    option_names: ClassVar[frozenset[str]] = frozenset()
    #: Whether the body is prose (see :func:`read_options`).
    prose_body: ClassVar[bool] = False
    #: Whether options may stand between ``---`` lines.
    yaml_block: ClassVar[bool] = True
    #: How to write options so that nothing is lost.
    options_hint: ClassVar[str] = "write one option a line, ':name: value'"
    #: Whether the other options count when one is unknown. It may be a misspelt one, so of none
    #: can be said that it is missing (:attr:`misnamed`).
    keeps_known_options: ClassVar[bool] = False
    #: What the argument is, for the message when it is missing; None when it may be.
    argument_hint: ClassVar[str | None] = None

    #: Whether an option is unknown.
    misnamed = False

    def __init__(self, name: str, *others: Any, **named: Any) -> None:
        super().__init__(name.lower(), *others, **named)  # docutils takes any case

    @property
    def domain(self) -> MemDomain:
        """The ``mem`` domain."""
        return cast("MemDomain", self.env.get_domain("mem"))

    @property
    def docname(self) -> str:
        """The document that is being read."""
        return self.env.current_document.docname

    @property
    def facts(self) -> DocumentFacts:
        """The facts of that document."""
        return self.domain.facts(self.docname)

    @property
    def argument(self) -> str:
        """The text behind the directive's name."""
        return self.arguments[0].strip() if self.arguments else ""

    @property
    def current_record(self) -> str | None:
        """The ID of the record that this directive stands in."""
        return cast("str | None", self.env.temp_data.get(_CURRENT_RECORD))

    @property
    def current_annotation(self) -> str | None:
        """The anchor of the annotation on :attr:`current_record` that this directive stands in."""
        return cast("str | None", self.env.temp_data.get(_CURRENT_ANNOTATION))

    def note(self, code: Code, message: str, **more: Any) -> None:
        """Note a problem at the directive's opening line."""
        self.domain.note(code, self.lineno, message, docname=self.docname, **more)

    def inside_report(self) -> bool:
        """Whether a report owns the document; noted when none does."""
        if self.facts.report is not None:
            return True
        self.note(
            Code.OUTSIDE_REPORT,
            f"{self.name} in a document that no report owns",
            fix="move the document below the directory of a report in memreport.toml, "
            "or add a report for its directory",
        )
        return False

    def note_reference(self, target: str, **more: Any) -> None:
        """Note that this directive names an ID, so that it must exist."""
        self.facts.references.append(
            Reference(
                report=self.facts.report or "",
                target=target,
                docname=self.docname,
                line=self.lineno,
                origin=ReferenceOrigin.RELATION,
                **more,
            )
        )

    def parse_options(self, names: Collection[str] | None = None) -> dict[str, str] | None:
        """The options by name, or None when something of them was lost (which is then noted).

        See :attr:`keeps_known_options` for those of which a name alone is wrong.
        """
        known = self.option_names if names is None else names
        parsed = read_options(self, known, yaml_block=self.yaml_block, prose_body=self.prose_body)
        lost = [*self._argument_faults(), *parsed.faults]
        unknown, proposal = said_of_unknown(parsed.unknown, known)
        if lost or unknown:
            self.note(
                Code.SWALLOWED_TEXT,
                f"{self.name}: {'; '.join([*lost, *unknown])}",
                subject=self.current_record,
                fix=(not lost and proposal)
                or (len([*lost, *unknown]) == 1 and parsed.fix)
                or self.options_hint,
            )
        if lost or (unknown and not self.keeps_known_options):
            return None
        self.misnamed = bool(unknown)
        return parsed.values

    def _argument_faults(self) -> Iterator[str]:
        # a dash in place of an ID would make a label of everything
        if self.argument_hint and not self.argument.strip("—–- "):
            yield f"{self.name} needs {self.argument_hint} behind its name"
        elif self.argument_hint and "ID" in self.argument_hint and self.argument[0] in "—–-":
            yield f"{self.name} needs {self.argument_hint} behind its name, before the dash"
        if "\n" in self.argument:
            rest = self.argument.split("\n", 1)[1].strip()
            yield f"'{rest[:60]}' is read as part of the argument: a blank line must stand above it"

    def parse_body(
        self, parent: nodes.Element, record: str | None = None, annotation: str | None = None
    ) -> None:
        """Parse the body into ``parent``, as the inside of a record if one is given.

        :param annotation: the anchor of an annotation, when the body is one on the record.
        """
        data = self.env.temp_data
        outer = self.current_record, self.current_annotation
        self.content_offset -= self._invented_lines()
        if record is not None:
            data[_CURRENT_RECORD], data[_CURRENT_ANNOTATION] = record, annotation
        try:
            parent += self.parse_content_to_nodes()
        finally:
            data[_CURRENT_RECORD], data[_CURRENT_ANNOTATION] = outer

    def _invented_lines(self) -> int:
        """Lines in the body that are not in the source.

        MyST puts an empty line before a body that starts with a nested colon fence, and counts it.
        """
        body = self.block_text.split("\n", 3)[1:3]
        if len(body) < 2 or body[0]:
            return 0
        lines = source_lines(self.env)
        below = lines[self.lineno].strip(" >\t") if self.lineno < len(lines) else ""
        return int(below.startswith(":::") and below in body[1])

    def document_line(self, line: int) -> int:
        """The line of the document at which a line of the body, counted from 1, stands."""
        if isinstance(self.state, MockState):
            return self.lineno + self.content_offset + line
        return self.content_offset + line

    def parse_inline(
        self, text: str, *, lineno: int = -1
    ) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Inline text as nodes; what is too deep to be read is shown as it is written."""
        if not is_emphasis_too_deep(text):  # as YAML may hide it from who looks at the document
            return super().parse_inline(text, lineno=lineno)
        self.domain.note(
            Code.SWALLOWED_TEXT,
            self.lineno if lineno < 0 else lineno,
            f"{self.name}: emphases stand in each other deeper than {DEEPEST} levels",
            docname=self.docname,
            fix="close the emphases around it first",
        )
        return [nodes.Text(text)], []

    def parse_prose(self, text: str) -> list[nodes.Node]:
        """Inline text of an option or label as nodes."""
        if isinstance(self.state, MockState) and _WORDS.fullmatch(text):
            return [nodes.Text(text)]  # as most labels are: a parser for each takes its time
        found, messages = self.parse_inline(text, lineno=self.lineno)
        return [*inert(found), *messages]


def source_lines(env: BuildEnvironment) -> list[str]:
    """The lines of the document that is read, as they are in its file."""
    data = env.temp_data
    if _SOURCE_LINES not in data:
        data[_SOURCE_LINES] = str(data.get(SOURCE_TEXT, "")).split("\n")
    return cast("list[str]", data[_SOURCE_LINES])


def inert(found: list[nodes.Node]) -> list[nodes.Node]:
    """Inline text without raw HTML, and without links that are not to pages or to mail.

    Labels and fields go to many places, other sites' too; none of them may carry a script. What
    looks like markup of the output is shown as text.
    """
    holder = nodes.inline("", "", *found)
    for raw in list(holder.findall(nodes.raw)):
        raw.parent.replace(raw, nodes.Text(raw.astext()))  # a text cannot take over its classes
    for count in [each for each in holder.findall() if type(each).__name__ == _EVALUATED]:
        count.parent.replace(count, nodes.Text(count["reftarget"]))  # type: ignore[index]
    for link in list(holder.findall(nodes.reference)):
        scheme = _SCHEME.match(link.get("refuri", ""))
        if scheme and scheme[0].lower() not in _HARMLESS_SCHEMES:
            link.parent.replace(link, link.children)
    return list(holder.children)
