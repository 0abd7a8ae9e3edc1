"""Directives that make the reference out of the package, so that the two cannot drift.

- ``directive-options NAME``: the options of a directive. Those of records are described by the
  vocabulary; of others the body describes each, ``name: text``, and must name exactly those
  that the directive takes.
- ``model-fields MODULE:NAME``: the fields of a pydantic model; the body may say more of a field.
  ``prefix`` stands before each name, ``without`` leaves fields out, ``output`` says that people
  read the fields and do not write them.
- ``values NAME``: a closed list of values, with what the body says of each.
- ``need-fields``: the fields and link types that records have as needs.
- ``profile-axes``: the axes of a profile and their values.
- ``command-help NAME``: usage, help and options of a command.
- ``build-events``: the table of events in the docstring of ``sphinx_ext/events.py``.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum
from inspect import cleandoc
from textwrap import dedent
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin

import click
from docutils import nodes
from docutils.parsers.rst import directives
from pydantic import BaseModel
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sphinx_memreport.cli import main as memreport
from sphinx_memreport.core import vocabulary
from sphinx_memreport.core.ids import Kind, MemberName, Prefix
from sphinx_memreport.core.models import Layer, Status
from sphinx_memreport.core.profiles import ASSESSMENTS, AXES, BASES
from sphinx_memreport.core.vocabulary import RECORD_TYPES, Option, OptionType
from sphinx_memreport.sphinx_ext import events, needs
from sphinx_memreport.sphinx_ext.directives import setup_directives

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

#: Closed lists by the name that ``values`` knows them by.
LISTS: dict[str, Iterable[str]] = {
    "forms": vocabulary.FORMS,
    "statuses": vocabulary.STATUSES,
    "guarantees": vocabulary.GUARANTEES,
    "layers": Layer,
    "members": MemberName,
    "prefixes": Prefix,
    "kinds": Kind,
    "evidence-statuses": Status,
    "assessments": ASSESSMENTS,
    "bases": BASES,
}


class _Recorder:
    """Stands in for the application and notes which directives are registered."""

    def __init__(self) -> None:
        self.directives: dict[str, Any] = {}

    def add_directive(self, name: str, cls: Any, **_kwargs: Any) -> None:
        self.directives[name] = cls

    def __getattr__(self, _name: str) -> Any:
        return lambda *_args, **_kwargs: None


def own_directives() -> dict[str, Any]:
    """Every directive of the extension, by name."""
    recorder = _Recorder()
    setup_directives(recorder)  # type: ignore[arg-type]
    return recorder.directives


class _Generated(SphinxDirective):
    """Base: a table, and descriptions in the body, ``name: text``."""

    required_arguments = 1
    has_content = True

    def described(self) -> dict[str, str]:
        """The body as descriptions by name; a line without a colon goes on with the last one."""
        found: dict[str, str] = {}
        name = ""
        for line in self.content:
            head, colon, text = line.partition(": ")
            if colon and not line.startswith(" "):
                name = head
                found[name] = text.strip()
            elif name:
                found[name] += f" {line.strip()}"
        return found

    def wrong(self, message: str) -> None:
        """Warn, which fails the build of the documentation."""
        logger.warning(message, location=self.get_location())

    def must_agree(self, described: Iterable[str], known: Iterable[str]) -> None:
        """Warn of names that only one side has."""
        for name in sorted(set(known) - set(described)):
            self.wrong(f"{self.arguments[0]}: {name} is not described")
        for name in sorted(set(described) - set(known)):
            self.wrong(f"{self.arguments[0]}: {name} does not exist")

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> nodes.table:
        """A table whose cells are Markdown."""
        group = nodes.tgroup(cols=len(head))
        group += [nodes.colspec(colwidth=1) for _ in head]
        group += nodes.thead("", self._row(head))
        group += nodes.tbody("", *(self._row(row) for row in rows))
        return nodes.table("", group, classes=["reference-table", "colwidths-auto"])

    def _row(self, cells: Sequence[str]) -> nodes.row:
        return nodes.row("", *(nodes.entry("", *self.parse_text_to_nodes(cell)) for cell in cells))


class DirectiveOptions(_Generated):
    """The options of a directive."""

    def run(self) -> list[nodes.Node]:
        """A table of names, what they take and what they are."""
        name = self.arguments[0]
        record_type = next((each for each in RECORD_TYPES if each.directive == name), None)
        if record_type is not None:
            rows = [(_option(o), _VALUES[o.type], _help(o)) for o in record_type.options]
            return [self.table(("Option", "Takes", "What it says"), rows)]
        described = self.described()
        directive = own_directives().get(name)
        if directive is None:
            self.wrong(f"no directive is named {name}")
        else:
            self.must_agree(described, directive.option_names)
        if not described:
            return [nodes.paragraph("", "It takes no options.")]
        return [self.table(("Option", "What it says"), _pairs(described))]


_VALUES = {
    OptionType.PROSE: "inline text",
    OptionType.WORDS: "words, separated by commas",
    OptionType.FORMS: "[forms](#values-forms), separated by commas",
    OptionType.STATUS: "one [status](#values-statuses)",
    OptionType.GUARANTEE: "one [guarantee](#values-guarantees)",
    OptionType.RECORD: "one record ID",
    OptionType.FLAG: "nothing",
    OptionType.VERBATIM: "plain text",
}


def _option(option: Option) -> str:
    return f"`{option.name}`" + (" (required)" if option.required else "")


def _help(option: Option) -> str:
    reason = " May be `inapplicable — why` or `uninspected — why`." if option.reasoned else ""
    return option.help + reason


def _pairs(described: dict[str, str]) -> list[tuple[str, str]]:
    return [(f"`{name}`", text) for name, text in described.items()]


class Values(_Generated):
    """A closed list of values."""

    def run(self) -> list[nodes.Node]:
        """A table of the values and what they mean."""
        described = self.described()
        known = [str(value) for value in LISTS[self.arguments[0]]]
        self.must_agree(described, known)
        rows = [(f"`{value}`", described.get(value, "")) for value in known]
        return [self.table(("Value", "Meaning"), rows)]


class NeedFields(_Generated):
    """Fields and links of records as needs."""

    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        """A table of names, types and meanings."""
        fields = [(f"`{name}`", kind, help) for name, (kind, help) in needs._FIELDS.items()]
        links = [
            (f"`{name}`, `{name}_back`", "links", f"{outgoing.capitalize()}; {incoming}")
            for name, (outgoing, incoming, _color) in needs._LINKS.items()
        ]
        return [self.table(("Field", "Type", "Meaning"), [*fields, *links])]


class ProfileAxes(_Generated):
    """The axes of a profile."""

    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        """A table of axes and their values."""
        rows = [(f"`{axis}`", ", ".join(f"`{each}`" for each in AXES[axis])) for axis in AXES]
        return [self.table(("Axis", "Values"), rows)]


class BuildEvents(_Generated):
    """The events of a build, in their order."""

    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        """A table of events and what happens at each."""
        _, border, rest = (events.__doc__ or "").partition("===")
        rows: list[list[str]] = []
        for line in f"{border}{rest}".splitlines():
            name, text = line[:19].strip(), line[19:].strip()
            if line.startswith("===") or not line:
                continue
            if name:
                rows.append([name if name.startswith("(") else f"`{name}`", text])
            else:
                rows[-1][1] += f" {text}"
        if not rows:
            self.wrong("the docstring of events.py has no table")
        return [self.table(("Event", "What happens"), rows)]


class ModelFields(_Generated):
    """The fields of a pydantic model, as a person writes or reads them."""

    option_spec = {  # noqa: RUF012
        "prefix": directives.unchanged,
        "without": directives.unchanged,
        "output": directives.flag,
    }

    def run(self) -> list[nodes.Node]:
        """A table of names, types, defaults and descriptions."""
        module, _, name = self.arguments[0].partition(":")
        model: type[BaseModel] = getattr(importlib.import_module(module), name)
        more = self.described()
        rows = []
        for field_name, field in model.model_fields.items():
            key = field.alias or field_name
            if key in self.options.get("without", "").split():
                continue
            text = " ".join(part for part in (field.description, more.pop(key, "")) if part)
            if not text:
                self.wrong(f"{name}.{key} is not described")
            shown = f"`{self.options.get('prefix', '')}{key}`"
            rows.append((shown, *self._form(field), text))
        for key in more:
            self.wrong(f"{name}.{key} does not exist")
        head = ("Type",) if "output" in self.options else ("Type", "Default")
        return [self.table(("Key", *head, "Meaning"), rows)]

    def _form(self, field: FieldInfo) -> tuple[str, ...]:
        if "output" not in self.options:
            return _type(field.annotation), _default(field)
        null = " or null" if type(None) in get_args(field.annotation) else ""
        return (f"{_type(field.annotation)}{null}".replace("table", "object"),)


class CommandHelp(_Generated):
    """What ``memreport NAME --help`` says, as text and a table."""

    has_content = False

    def run(self) -> list[nodes.Node]:
        """Usage, the paragraphs of the help, and a table of the options."""
        name = self.arguments[0]
        context = click.Context(memreport, info_name="memreport", **memreport.context_settings)
        command = memreport.get_command(context, name)
        if command is None:
            self.wrong(f"no command is named {name}")
            return []
        context = click.Context(command, parent=context, info_name=name)
        usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
        found: list[nodes.Node] = [nodes.literal_block(usage, usage)]
        for text in (command.help or "", command.epilog or ""):
            found += [_help_paragraph(part) for part in cleandoc(text).split("\n\n") if part]
        records = (each.get_help_record(context) for each in command.get_params(context))
        rows = [(f"`{record[0]}`", record[1]) for record in records if record and record[1]]
        return [*found, self.table(("Option", "What it does"), rows)]


def _help_paragraph(text: str) -> nodes.Element:
    """A paragraph of a command's help; what must not be wrapped stays as it is."""
    if text.startswith("\b\n"):
        lines = dedent(text.removeprefix("\b\n"))
        return nodes.literal_block(lines, lines)
    return nodes.paragraph("", " ".join(text.split()))


def _type(annotation: Any) -> str:
    """A type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" if value else "empty" for value in arguments)
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return "one of " + ", ".join(f"`{value}`" for value in annotation)
    if arguments and all(
        isinstance(each, type) and issubclass(each, StrEnum) for each in arguments
    ):
        return "one of " + ", ".join(f"`{value}`" for each in arguments for value in each)
    if annotation in _WORDS:
        return _WORDS[annotation]
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return "table"
    name = getattr(origin, "__name__", str(origin))
    if name in ("Mapping", "dict"):
        return "table"
    if name in ("tuple", "list"):
        return f"list of {_type(arguments[0])}s"
    if type(None) in arguments:  # optional
        return _type(next(each for each in arguments if each is not type(None)))
    if hasattr(annotation, "__metadata__") and arguments:  # Annotated
        return _type(arguments[0])
    return "object"


_WORDS: dict[Any, str] = {
    str: "string",
    bool: "true or false",
    int: "integer",
    float: "number",
    date: "date, as `YYYY-MM-DD`",
}


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "*required*"
    default = field.get_default(call_default_factory=True)
    if default is None or isinstance(default, BaseModel) or default in ((), {}, ""):
        return "—"
    return f"`{default}`"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    app.add_directive("build-events", BuildEvents)
    app.add_directive("command-help", CommandHelp)
    app.add_directive("directive-options", DirectiveOptions)
    app.add_directive("model-fields", ModelFields)
    app.add_directive("need-fields", NeedFields)
    app.add_directive("profile-axes", ProfileAxes)
    app.add_directive("values", Values)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
