"""The words that readers see, in the language of the site.

Messages to authors (problems, their fixes, the console) stay English: they are looked up by
their codes. The catalogues are in ``locale/``; ``tools/catalogues.py`` keeps them in step.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.locale import get_translation, get_translator

from sphinx_memreport.config import BoundaryKind
from sphinx_memreport.core.graph import Relation
from sphinx_memreport.core.ids import MemberName
from sphinx_memreport.core.models import Layer, LineRange, Supplied
from sphinx_memreport.core.profiles import ASSESSMENTS, AXES, BASES, axis_title
from sphinx_memreport.core.site import Target
from sphinx_memreport.core.views import Standing
from sphinx_memreport.core.vocabulary import (
    GUARANTEES,
    RECORD_TYPES,
    STATUSES,
    Option,
    OptionType,
)

if TYPE_CHECKING:
    from sphinx.application import Sphinx

CATALOGUE = "sphinx_memreport"
LOCALE = Path(__file__).parent.parent / "locale"
#: What ``memreport.js`` says.
SCRIPT_WORDS = (
    "Copy",
    "Copy the passage",
    "Copied",
    "Not copied",
    "Passage copied",
    "The passage could not be copied",
    "Link copied",
    "Filter",
    "Value",
    "all",
    "{shown} of {all} rows",
)
_SLOT = re.compile(r"\{(\w+)\}")
_TRANSLATED_VALUES = (OptionType.STATUS, OptionType.GUARANTEE)

#: Translates a message; before an application has started, as late as it is shown.
_ = get_translation(CATALOGUE)


def term(word: str) -> str:
    """A word of :func:`terms`, translated; any other word as it is."""
    return get_translator(CATALOGUE).gettext(word) if word else ""


def counted(one: str, many: str, number: int) -> str:
    """A phrase with ``{number}`` in it, in the form for that number."""
    return get_translator(CATALOGUE).ngettext(one, many, number).format(number=f"{number:,}")


def capitalized(text: str) -> str:
    """A text with a capital at its start; the rest stays, since nouns have capitals somewhere."""
    return text[:1].upper() + text[1:]


def sentence(template: str, **parts: str | nodes.Node | Sequence[nodes.Node]) -> list[nodes.Node]:
    """A translated sentence with nodes in the places that it names, ``{like} this``."""
    found: list[nodes.Node] = []
    for index, piece in enumerate(_SLOT.split(template)):
        part = parts[piece] if index % 2 else piece
        if isinstance(part, str):
            found += [nodes.Text(part)] if part else []
        else:
            found += [part] if isinstance(part, nodes.Node) else part
    return found


def origin(entry: Supplied) -> str:
    """Where a supplied ID is declared."""
    if not entry.member:
        return _("external")
    return _("declared in {member}, outside this site").format(member=term(entry.member))


def superseded_by(target: Target) -> str:
    """What supersedes a record."""
    return _("superseded by {records}").format(records=", ".join(target.superseded_by))


def line_numbers(lines: LineRange) -> str:
    """A range of lines in words."""
    unit = _("line {lines}") if lines.start == lines.end else _("lines {lines}")
    return unit.format(lines=lines)


def listed(items: Sequence[nodes.Node]) -> list[nodes.Node]:
    """Items with commas between them."""
    found: list[nodes.Node] = []
    for index, item in enumerate(items):
        found += [nodes.Text(", ")] if index else []
        found.append(item)
    return found


def shown_value(option: Option, text: str) -> str:
    """The value of an option as it is shown: words of closed lists of prose are translated."""
    return term(text) if option.type in _TRANSLATED_VALUES else text


def terms() -> Iterator[str]:
    """The words of the core that pages show, for the catalogues.

    Forms and the values of axes are not among them: they are identifiers, which look alike in all
    languages.
    """
    for type in RECORD_TYPES:
        yield type.title
        yield type.plural
        yield from (option.label for option in type.options)
    yield from map(axis_title, AXES)
    yield from ("Supplied record", "Source")  # objects of the domain that are no records
    yield from SCRIPT_WORDS
    lists = (STATUSES, GUARANTEES, ASSESSMENTS, BASES)
    enumerations = (Layer, MemberName, BoundaryKind, Relation, Standing)
    yield from map(str, chain(*lists, *enumerations))


def script_words() -> dict[str, str]:
    """The words of ``memreport.js``, English to translated; empty where they are the same."""
    words = {word: term(word) for word in SCRIPT_WORDS}
    return {word: shown for word, shown in words.items() if word != shown}


def setup_words(app: Sphinx) -> None:
    """Load the catalogue of the site's language, if there is one."""
    app.add_message_catalog(CATALOGUE, str(LOCALE))
