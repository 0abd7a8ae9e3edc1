"""What directives that show a card share."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from docutils import nodes
from sphinx import addnodes

from sphinx_memreport.sphinx_ext.directives.base import MemDirective
from sphinx_memreport.sphinx_ext.nodes import Heading, record_card


class CardDirective(MemDirective):
    """Base of the directives of records, and of those about records that stand elsewhere."""

    prose_body = True

    def new_card(
        self,
        heading: Heading,
        title: Sequence[nodes.Node],
        ids: Sequence[str],
        toc_name: str,
        toc_part: str,
    ) -> tuple[record_card, addnodes.desc_content]:
        """A card, and where its content goes.

        :param ids: the anchors of the card, none of which the document has yet.
        :param toc_name: what the card is called in the local table of contents.
        """
        kind = self.name.removeprefix("mem")
        signature = new_signature(heading, title, ids)
        signature["_toc_name"], signature["_toc_parts"] = toc_name, (toc_part,)
        content = addnodes.desc_content()
        card = record_card(
            "",
            signature,
            content,
            domain="mem",
            objtype=kind,
            desctype=kind,
            # "simple" keeps the looks that themes give to the signatures of functions away
            classes=["mem", "simple", "memreport-record", f"memreport-{kind}"],
        )
        self.set_source_info(signature)
        self.set_source_info(card)
        if ids:
            self.state.document.note_explicit_target(signature)
        return card, content


def free_anchors(document: nodes.document, wanted: Sequence[str]) -> list[str]:
    """Those of the wanted anchors that nothing above has; a heading gives its own away.

    A section about one record is easily called like it, and links to the record lead to its card.
    """
    for each in wanted:
        holder = document.ids.get(each)
        if isinstance(holder, nodes.section):
            numbered = (f"{each}-{number}" for number in count(1))
            other = next(name for name in numbered if name not in document.ids)
            holder["ids"][holder["ids"].index(each)] = other
            document.ids[other] = document.ids.pop(each)
            for name, held in document.nameids.items():
                if held == each:
                    document.nameids[name] = other
    return [each for each in wanted if each not in document.ids]


def new_signature(
    heading: Heading, title: Sequence[nodes.Node], ids: Sequence[str]
) -> addnodes.desc_signature:
    """A signature that holds the title; the rest is laid out when the page is written."""
    return addnodes.desc_signature(
        "",
        "",
        *title,
        classes=["memreport-signature"],
        ids=list(ids),
        is_multiline=False,
        memreport_heading=heading,
        # it becomes a name, whose quotation marks stay as they are
        support_smartquotes=False,
    )
