"""``evidence``: a verbatim passage and where it stands (contract, section 3.3)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from docutils import nodes

from sphinx_memreport.core.characters import invisible_characters
from sphinx_memreport.core.ids import SOURCE_ID
from sphinx_memreport.core.models import Evidence, Layer, LineRange
from sphinx_memreport.core.nearest import did_you_mean
from sphinx_memreport.core.problems import Code
from sphinx_memreport.core.vocabulary import split_list
from sphinx_memreport.sphinx_ext.directives.base import MemDirective
from sphinx_memreport.sphinx_ext.nodes import evidence_block
from sphinx_memreport.sphinx_ext.passages import evidence_anchor

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LINES = re.compile(r"([1-9][0-9]{0,8})(?:\s*[-–]\s*([1-9][0-9]{0,8}))?")


class EvidenceDirective(MemDirective):
    """A passage that must stand in a source, word for word."""

    option_names = frozenset({"lines", "layer", "lang", "caption", "supports", "name"})
    yaml_block = False
    argument_hint = "a source and a path"
    options_hint = (
        "put a blank line before a passage that begins with ':' or '---'; "
        "write options one a line, ':lines: 12-20'"
    )

    def run(self) -> list[nodes.Node]:
        """Note the evidence; its block is filled when its source has been read."""
        if self.facts.report is None:
            # inside a record, the record has said so already
            if self.current_record is None:
                self.inside_report()
            return [nodes.literal_block("", "\n".join(self.content))]
        values = self.parse_options()
        quote = "\n".join(self.content)
        if values is None:
            # it counts as evidence all the same: one mistake, one problem
            self.facts.evidence.append(self._evidence({}, ""))
            return [nodes.literal_block("", quote)]
        evidence = self._evidence(values, quote)
        self._check_text(evidence)
        self.facts.evidence.append(evidence)
        block = evidence_block("", number=evidence.number, lang=values.get("lang", "").strip())
        block["memreport_heading"] = self.argument
        self.set_source_info(block)
        if caption := values.get("caption", "").strip():
            paragraph = nodes.paragraph("", "", *self.parse_prose(caption))
            self.set_source_info(paragraph)
            block += nodes.container(
                "", paragraph, memreport_option="caption", memreport_line=self.lineno
            )
        self.options.pop("name", None)
        if name := values.get("name", "").strip():
            block["names"].append(nodes.fully_normalize_name(name))
            self.state.document.note_explicit_target(block, block)
        return [block]

    def _evidence(self, values: Mapping[str, str], quote: str) -> Evidence:
        source, path = self._source_and_path()
        return Evidence(
            report=self.facts.report or "",
            docname=self.docname,
            line=self.lineno,
            number=len(self.facts.evidence),
            source=source,
            path=path or None,
            quote=quote,
            lines=self._lines(values),
            layer=self._layer(values),
            lang=values.get("lang", "").strip() or None,
            caption=values.get("caption", "").strip() or None,
            record=self.current_record,
            annotation=self.current_annotation,
            supports=self._supports(values),
        )

    def _source_and_path(self) -> tuple[str, str]:
        first, _, rest = self.argument.replace("\t", " ").partition(" ")
        if SOURCE_ID.fullmatch(first) or first.startswith("SRC-"):
            return first, rest.strip()
        return "", self.argument

    def _lines(self, values: Mapping[str, str]) -> LineRange | None:
        if "lines" not in values:
            return None
        text = values["lines"].strip()
        match = _LINES.fullmatch(text)
        if match and int(match[2] or match[1]) >= int(match[1]):
            return LineRange(start=int(match[1]), end=int(match[2] or match[1]))
        numbers = re.findall(r"[1-9][0-9]*", text)[:2]
        self.note(
            Code.INVALID_VALUE,
            f"option 'lines' must be a line or a range from 1 on, as in 12 or 12-20; "
            f"found '{text}'",
            subject=self.current_record,
            fix=f"write '{'-'.join(numbers)}'" if numbers else "",
        )
        return None

    def _layer(self, values: Mapping[str, str]) -> Layer | None:
        if "layer" not in values:
            return None
        text = values["layer"].strip()
        if text in tuple(Layer):
            return Layer(text)
        self.note(
            Code.INVALID_VALUE,
            f"option 'layer' must be one of {', '.join(Layer)}; found '{text}'",
            subject=self.current_record,
            fix=did_you_mean(text, tuple(Layer)),
        )
        return None

    def _supports(self, values: Mapping[str, str]) -> tuple[str, ...]:
        supported = tuple(split_list(values.get("supports", "")))
        for target in supported:
            self.note_reference(
                target,
                record=self.current_record,
                annotation=self.current_annotation,
                option="supports",
                # outside of records, the evidence itself is what cites
                section=None if self.current_record else evidence_anchor(len(self.facts.evidence)),
            )
        return supported

    def _check_text(self, evidence: Evidence) -> None:
        if not evidence.quote.strip():
            self.note(
                Code.EMPTY_QUOTE,
                "the evidence holds no passage",
                subject=evidence.record or evidence.source or None,
                fix="copy the passage into the body",
            )
            return
        hidden = invisible_characters(evidence.quote)
        if hidden:
            names = ", ".join(dict.fromkeys(name for _, name in hidden))
            self.note(
                Code.INVISIBLE_CHARACTER,
                f"the quote holds characters that cannot be seen or change direction: {names}",
                subject=evidence.record or evidence.source or None,
                fix="check that the source really has them; the page shows them marked",
            )


def _label_named(app: Sphinx, doctree: nodes.document) -> None:
    """Make the role ``ref`` know named evidence, by the source and path that it is headed with.

    Sphinx itself knows a title of figures, tables and sections only. It has seen the document
    before, and said which names occur twice.
    """
    std = app.env.domains.standard_domain
    for block in doctree.findall(evidence_block):
        for name in block["names"]:
            place = app.env.current_document.docname, block["ids"][0]
            std.labels[name] = (*place, block["memreport_heading"])


def setup_evidence(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("evidence", EvidenceDirective)
    app.connect("doctree-read", _label_named)
