"""Which parts of documents, in ``only``, a build leaves out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sphinx import addnodes
from sphinx.util.tags import Tags

from sphinx_memreport.core.registry import Condition, DocumentFacts

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

    from sphinx_memreport.core.registry import Registry


def note_conditions(facts: DocumentFacts, doctree: nodes.document) -> None:
    """Note the directives ``only`` of a document that has been read."""
    for node in doctree.findall(addnodes.only):
        lines = [each.line for each in node.findall() if each.line]
        if lines:
            part = Condition(facts.docname, node["expr"], min(lines), max(lines))
            facts.conditions.append(part)


def left_out(app: Sphinx, registry: Registry) -> list[Condition]:
    """The parts that are not shown. A builder that writes nothing is taken for that of HTML."""
    names = list(app.tags)
    if not app.builder.format:
        names += ["html", "format_html", "builder_html"]
    tags = Tags(names)
    return [part for facts in registry for part in facts.conditions if not _is_met(tags, part)]


def _is_met(tags: Tags, part: Condition) -> bool:
    try:
        return tags.eval_condition(part.expression)
    except Exception:  # Sphinx says so, and shows what stands there
        return True
