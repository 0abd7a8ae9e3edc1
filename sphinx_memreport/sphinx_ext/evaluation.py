"""Keeps what documents say from being run as Python, unless ``memreport_allow_code`` is set.

Packages that this one builds on do that. sphinx-needs evaluates the filters of its views,
conditions and variants, and runs the bodies and functions of tables. MyST renders what stands in
double braces with Jinja, which reaches all of Python; a document may switch that on itself. And a
drawing of Sphinx's Graphviz extension, which sphinx-needs loads, names the program to draw it with.

None offers a setting for it. So the names that they call, ``eval`` and its like in one and
``jinja2`` in the other, lead to functions here, which obey expressions that only compare, and
refuse others. What ``conf.py`` holds is code anyway, and obeyed.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import CodeType, ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import jinja2
import minijinja
import re2
from docutils import nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from myst_parser.mdit_to_docutils import base as myst
from myst_parser.warnings_ import MystWarnings
from sphinx.errors import SphinxError
from sphinx.ext.graphviz import graphviz
from sphinx.util import logging
from sphinx_needs import _jinja, filter_common, ubquery

from sphinx_memreport.sphinx_ext.needs import pages_showing_needs

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

logger = logging.getLogger(__name__)

_NEEDS = "sphinx_needs"
_HOW = "if you trust all documents of the site, set memreport_allow_code = True in conf.py"

# What a filter may consist of: names, fields, constants, comparisons, and calls of these, which
# only look at text. sphinx-needs answers nearly all of that without evaluating it, too.
_PLAIN = (
    *(ast.Expression, ast.BoolOp, ast.boolop, ast.UnaryOp, ast.Not, ast.USub, ast.Compare),
    *(ast.cmpop, ast.Name, ast.Attribute, ast.Subscript, ast.Load, ast.Constant),
    *(ast.List, ast.Tuple, ast.Set),
)
_FUNCTIONS = {"search"}
_METHODS = {"startswith", "endswith", "lower", "upper", "strip", "this_doc"}
# Attributes of the nodes of sphinx-needs that are run, and those that are evaluated.
_PROGRAMS = ("filter_code", "filter_func")
_EXPRESSIONS = ("filter", "highlight", "milestone_filter")
_NONE = "False"  # the filter that nothing passes
#: Steps that a template of a need may take: a second or so.
_FUEL = 10_000_000
#: The programs of Graphviz.
_LAYOUTS = ("circo", "dot", "fdp", "neato", "osage", "patchwork", "sfdp", "twopi")


class CodeRefused(SphinxError):
    """What a document says is code, and not obeyed."""

    category = "memreport error"


def setup_evaluation(app: Sphinx) -> None:
    """Connect the handler."""
    # after sphinx-needs has read its TOML file and taken its settings from it
    app.connect("config-inited", _guard, priority=900)


def _guard(app: Sphinx, config: Config) -> None:
    """Stand between these packages and Python, or step aside, for this application."""
    refuse = not config.memreport_allow_code
    guard = _Guard(_texts_of_settings(config))
    if refuse:
        app.connect("doctree-read", guard.refuse_code_of_views)
        app.connect("doctree-read", _refuse_programs)
    for module in _modules_of(_NEEDS):
        for name, function in guard.names_in(module).items():
            if refuse:
                setattr(module, name, function)
            else:
                vars(module).pop(name, None)
    for module in _SEARCHING:
        vars(module)["re"] = _LINEAR if refuse else re
    vars(_jinja)["Environment"] = _limited_templates if refuse else minijinja.Environment
    vars(myst)["jinja2"] = _JINJA if refuse else jinja2
    renderer: Any = myst.DocutilsRenderer
    renderer.render_substitution = _render_some if refuse else _RENDER


def _texts_of_settings(config: Config) -> frozenset[str]:
    """All text in the settings of sphinx-needs, which hold expressions, too."""
    names = (name for name in config.values if name.startswith("needs_"))
    return frozenset(text for name in names for text in _texts(getattr(config, name)))


def _modules_of(package: str) -> list[ModuleType]:
    """The modules of a package that are loaded."""
    return [
        module
        for name, module in sys.modules.items()
        if name == package or name.startswith(f"{package}.")
    ]


def _texts(value: object) -> Iterator[str]:
    """All text in a setting."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, Sequence | set | frozenset):
        for each in value:
            yield from _texts(each)


# --- sphinx-needs ---------------------------------------------------------------------------


@dataclass(frozen=True)
class _Guard:
    """Stands in for functions of Python where sphinx-needs calls them."""

    trusted: frozenset[str]

    def names_in(self, module: ModuleType) -> dict[str, Any]:
        """The functions for a module, by the names that they stand in for."""
        # there, an exception at compiling ends the build, and one at evaluating is a warning
        later = module.__name__ == f"{_NEEDS}.filter_common"
        compiling = self.later if later else self.compile
        return {"eval": self.eval, "exec": self.exec, "compile": compiling}

    def eval(self, source: str | CodeType, *context: dict[str, Any]) -> object:
        """Evaluate what is allowed; compiled code was checked when it was compiled."""
        if isinstance(source, str):
            self._check(source)
        return builtins.eval(source, *context)

    def compile(self, source: str, filename: str, mode: str) -> CodeType:
        """Compile what is allowed."""
        self._check(source)
        code: CodeType = builtins.compile(source, filename, mode)
        return code

    def later(self, source: str, filename: str, mode: str) -> str | CodeType:
        """Leave to :meth:`eval` what is not trusted."""
        return self.compile(source, filename, mode) if source in self.trusted else source

    def exec(self, *_args: object) -> None:
        """Run nothing: what is known to be run was taken out when its document was read."""
        raise CodeRefused(f"sphinx-needs is about to run code of a document: {_HOW}")

    def _check(self, source: str) -> None:
        if why := self._refusal(source):
            raise CodeRefused(why)

    def _refusal(self, source: str) -> str:
        return "" if source in self.trusted else _refusal(source)

    def refuse_code_of_views(self, app: Sphinx, doctree: nodes.document) -> None:
        """Take code out of the views of a document, where it can be said where it stands."""
        if app.env.current_document.docname not in pages_showing_needs(app.env):
            return
        for node in doctree.findall(nodes.Element):
            if not type(node).__module__.startswith(f"{_NEEDS}."):
                continue
            for name in _PROGRAMS:
                if "".join(node.get(name) or ()).strip():
                    what = f"the {name.replace('_', '-')} is Python, which is not run"
                    _warn(node, f"{what}, so nothing is shown: {_HOW}")
                    node[name] = None
                    node["filter"] = _NONE
            for name in _EXPRESSIONS:
                if why := self._refusal(node.get(name) or ""):
                    _warn(node, f"{name}: {why}")
                    node[name] = _NONE


@lru_cache(maxsize=1024)
def _refusal(source: str) -> str:
    """Why an expression is not evaluated; empty when it is."""
    if not source:
        return ""
    try:
        tree = ast.parse(source.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"it is not an expression: {getattr(error, 'msg', error)}"
    for node in ast.walk(tree):
        if not _is_plain(node):
            return f"{_shown(node)!r} is Python beyond comparing, which is not run: {_HOW}"
    return ""


def _is_plain(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in _FUNCTIONS
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in _METHODS
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return not name.startswith("_")
        case _:
            return isinstance(node, _PLAIN)


def _shown(node: ast.AST) -> str:
    try:
        text = ast.unparse(node)
    except RecursionError:
        text = type(node).__name__
    return text if len(text) <= 60 else f"{text[:59]}…"


def _limited_templates(**options: Any) -> minijinja.Environment:
    """What templates of needs are rendered with: it runs nothing, but could do so without end."""
    return minijinja.Environment(**options, fuel=_FUEL)


def _compiled(pattern: str) -> object:
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)


def _found(pattern: str, text: str) -> object:
    return _compiled(pattern).search(text)  # type: ignore[attr-defined]


# Regular expressions of documents take time in proportion to the text, as those of absences do.
_SEARCHING = (filter_common, ubquery)
_LINEAR = SimpleNamespace(
    **(vars(re) | {"compile": _compiled, "search": _found, "error": re2.error})
)


def _warn(node: nodes.Element, message: str) -> None:
    logger.warning(message, type="memreport", subtype="code", location=node)


# --- Graphviz -------------------------------------------------------------------------------


def _refuse_programs(_app: Sphinx, doctree: nodes.document) -> None:
    """Let a drawing name a layout, and not any program: Sphinx runs what stands there."""
    for node in doctree.findall(graphviz):
        layout = node["options"].get("graphviz_dot", "dot")
        if layout not in _LAYOUTS:
            _warn(node, f"layout: {layout!r} is none of {', '.join(_LAYOUTS)}, and not run: {_HOW}")
            del node["options"]["graphviz_dot"]


# --- MyST -----------------------------------------------------------------------------------


#: Filters whose results are about as long as what they are given, and that call nothing.
_FILTERS = (
    "abs capitalize count d default e escape first float int join last length list lower max min "
    "sort string striptags title trim truncate unique upper urlencode wordcount"
).split()
_MOST_SUBSTITUTIONS = 1000  # in one document
_DEEPEST_SUBSTITUTION = 20  # one in the text of another


class _Expressions(ImmutableSandboxedEnvironment):
    """One expression of names, their items, and filters; nothing is called, no attribute is read.

    Jinja's own sandbox is about code alone: with it, methods of Sphinx's objects could be called.
    """

    intercepted_binops = frozenset({"*", "**", "%"})  # which make numbers and texts of any size

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.filters = {name: self.filters[name] for name in _FILTERS}
        self.globals = {}
        self.template_class = _Template

    def from_string(self, source: Any, *args: Any, **options: Any) -> jinja2.Template:
        """:raises SecurityError: when there is a statement or a second expression."""
        match self.parse(source).body:
            case [jinja2.nodes.Output(nodes=[_])]:
                return super().from_string(source, *args, **options)
        raise SecurityError("this is more than one expression")

    def is_safe_attribute(self, _obj: object, _attr: str, _value: object) -> bool:
        return False

    def is_safe_callable(self, _obj: object) -> bool:
        return False

    def call_binop(self, _context: object, operator: str, _left: object, _right: object) -> object:
        raise SecurityError(f"{operator!r} is not allowed")


class _Template(jinja2.Template):
    def render(self, *args: Any, **kwargs: Any) -> str:
        """Render with the name of the document in the place of Sphinx's environment."""
        context = dict(*args, **kwargs)
        if "env" in context:
            context["env"] = {"docname": context["env"].docname}
        return super().render(context)


def _render_some(renderer: myst.DocutilsRenderer, token: Any, inline: bool) -> None:
    """Render a substitution of MyST, unless there are too many or too deep: each may hold more."""
    known = vars(renderer.document)
    number = known["memreport_substitutions"] = known.get("memreport_substitutions", 0) + 1
    fault = ""
    if number > _MOST_SUBSTITUTIONS:
        fault = f"the document has more than {_MOST_SUBSTITUTIONS}"
    elif len(known.get("sub_references", ())) >= _DEEPEST_SUBSTITUTION:
        fault = f"it stands in {_DEEPEST_SUBSTITUTION} others"
    if not fault:
        _RENDER(renderer, token, inline)
    elif number <= _MOST_SUBSTITUTIONS + 1:
        line = myst.token_line(token)
        renderer.create_warning(
            f"Substitution error:{fault}",
            MystWarnings.SUBSTITUTION,
            line=line,
            append_to=renderer.current_node,
        )


_RENDER = myst.DocutilsRenderer.render_substitution
_JINJA = SimpleNamespace(**(vars(jinja2) | {"Environment": _Expressions}))
