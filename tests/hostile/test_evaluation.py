"""What documents say is not run as Python, wherever sphinx-needs and MyST would run it."""

from __future__ import annotations

import ast
import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import Built, TinySite

RECORDS = (
    "# M\n\n:::{memobject} MEM-OBJ-note — Note\n:identity: I\n:::\n\n"
    ":::{memcomponent} MEM-CMP-recall — Recall\n:::\n"
)
#: Marks a file, as Python and as an expression.
CALL = "__import__('pathlib').Path({path!r}).write_text('x')"
HIDDEN = (
    "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == '_wrap_close'][0]"
    ".__init__.__globals__['system']('echo > {path}')"
)

#: Places where documents have code, with the text that runs a call there, and what is said.
NEEDS = {
    "filter": ("```{{needtable}}\n:filter: {call}\n```\n", "not run"),
    "hidden in a filter": ("```{{needlist}}\n:filter: {hidden}\n```\n", "not run"),
    "behind and": ("```{{needlist}}\n:filter: type == 'mem_object' and {call}\n```\n", "not run"),
    "body": ("```{{needtable}}\nresults = needs\n{call}\n```\n", "the filter-code is Python"),
    "body of a list": (
        "```{{needlist}}\nresults = needs\n{call}\n```\n",
        "the filter-code is Python",
    ),
    "body of a flow": (
        "```{{needflow}}\nresults = needs\n{call}\n```\n",
        "the filter-code is Python",
    ),
    "function": ("```{{needtable}}\n:filter-func: marker.run\n```\n", "the filter-func is Python"),
    "count": ("A {{need_count}}`{call}` b.\n", "not run"),
    "ratio": ("A {{need_count}}`True ? {call}` b.\n", "not run"),
    "condition": ("```{{if}} {hidden}\nText\n```\n", "not run"),
    "condition behind a name": ("```{{if}} var.a == 2 or {hidden}\nText\n```\n", "not run"),
    "highlight": ("```{{needflow}}\n:highlight: {call}\n```\n", "not run"),
    "extend": ('```{{needextend}} "{call}"\n:status: x\n```\n', "not run"),
    "links": (
        "```{{claim}} T\n:id: CLAIM_1\n:links: [[links_from_filter({text!r})]]\n```\n",
        "not run",
    ),
    "variant": ("```{{claim}} T\n:id: CLAIM_1\n:status: <<[{call}]: a, b>>\n```\n", "not run"),
}
MYST = {
    "call": "cycler.__init__.__globals__.os.system('echo > {path}')",
    "method of the environment": "env.srcdir.joinpath({path!r}).write_text('x')",
    "function behind a filter": "(env|attr('srcdir')).joinpath({path!r}).touch()",
    "class of a text": "''.__class__.__mro__[1].__subclasses__()|length",
    "hidden in a format": "'{{0.__class__.__base__}}'.format(env)",
    "change of the environment": "env.all_docs.clear()",
    "text of a document that calls": "((env.titles['v'].children|first).children|first).findall("
    "env.app.extensions['sphinx.builders.html'].module.os.system)|list",
    "a secret": "env.app.extensions['sphinx.builders.html'].module.os.environ['PATH']",
    "an item that is an attribute": "env['app']",
    "text of another document": "(env.titles['m'].children|first)|string",
    "a number without end": "9**9**9**9",
    "a text without end": "'a' * 999999999999",
    "a padded text": "'a'.ljust(999999999999)",
    "a formatted number": "'%999999999999d' % 1",
    "a centred text": "'x'|center(999999999999)",
    "an indented text": "'ab'|indent(999999999999, true)|length",
    "a batch": "[1]|batch(999999999999, 1)|first|length",
    "a rounded number": "1.5|round(999999999, 'ceil')",
    "a formatting filter": "'%999999999999d'|format(1)",
    "a method that is mapped": "[env]|map(attribute='app')|list",
}
SWITCHED_ON = "---\nmyst:\n  enable_extensions: [substitution]\n  substitutions: {a: word}\n---\n"
SETTINGS = {
    "needs_flow_engine": "graphviz",
    "needs_variant_data": {"a": 1},
    "needs_types": [
        {"directive": "claim", "title": "C", "prefix": "C", "color": "#fff", "style": "node"}
    ],
    "needs_fields": {"status": {"nullable": True, "parse_variants": True}},
}


@pytest.fixture
def site(
    tmp_path: Path, pinned_repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TinySite]:
    """A site beside a module ``marker`` that any filter function could be in."""
    site = TinySite(tmp_path / "site", pinned_repo)
    path = str(tmp_path / "made")
    (tmp_path / "marker.py").write_text(
        f"def run(needs, results):\n    {CALL.format(path=path)}\n    results.extend(needs)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield site
    sys.modules.pop("marker", None)


def _with_code(site: TinySite, page: str, *, allow: bool = False) -> tuple[Built, bool]:
    """Build a page with ``{call}`` in it; whether the call was made."""
    made = site.root.parent / "made"
    call = CALL.format(path=str(made))
    hidden = HIDDEN.format(path=str(made))
    text = page.format(call=call, hidden=hidden, text=call, path=str(made))
    settings = SETTINGS | ({"memreport_allow_code": True} if allow else {})
    built = site.build({"m.md": RECORDS, "v.md": text}, **settings)
    return built, made.exists()


@pytest.mark.parametrize(("page", "said"), NEEDS.values(), ids=NEEDS)
def test_code_for_sphinx_needs_is_not_run(site: TinySite, page: str, said: str) -> None:
    built, made = _with_code(site, f"# V\n\n{page}")
    assert not made
    assert said in built.warnings
    assert "v.md:3" in built.warnings
    assert "memreport_allow_code" in built.warnings
    assert "Traceback" not in built.warnings
    assert "jotter:MEM-OBJ-note" not in built.text("v")


@pytest.mark.parametrize(("page", "_said"), NEEDS.values(), ids=NEEDS)
def test_all_of_it_is_run_where_documents_are_trusted(
    site: TinySite, page: str, _said: str
) -> None:
    """So the test before tells where code could run, and not where it could not anyway."""
    _built, made = _with_code(site, f"# V\n\n{page}", allow=True)
    assert made


@pytest.mark.parametrize("expression", MYST.values(), ids=MYST)
def test_expressions_of_myst_only_read(site: TinySite, expression: str) -> None:
    matter = SWITCHED_ON.replace("{", "{{").replace("}", "}}")
    built, made = _with_code(site, f"{matter}# V\n\n{{{{{{{{ {expression} }}}}}}}}\n")
    assert not made
    assert "v.md:8: " in built.warnings
    assert "Substitution error:" in built.warnings
    assert sorted(built.env.all_docs) == ["index", "m", "v"]


def test_expressions_of_myst_that_only_read_are_obeyed(site: TinySite) -> None:
    built = site.build(
        {
            "v.md": f"{SWITCHED_ON}# V\n\n{{{{ a }}}} {{{{ a|upper }}}} {{{{ a|title }}}} "
            "{{ env.docname }}.\n"
        }
    )
    assert "word WORD Word v." in built.text("v")
    assert built.warnings == ""


def test_expressions_of_myst_are_run_where_documents_are_trusted(site: TinySite) -> None:
    page = (
        SWITCHED_ON.replace("{", "{{").replace("}", "}}") + "# V\n\n{{{{ " + MYST["call"] + " }}}}"
    )
    assert _with_code(site, page, allow=True)[1]


@pytest.mark.parametrize(
    "substitutions",
    [
        {f"k{n}": f"{{{{ k{n + 1} }}}} {{{{ k{n + 1} }}}}" for n in range(15)} | {"k15": "x"},
        {f"k{n}": f"> {{{{ k{n + 1} }}}}" for n in range(300)} | {"k300": "x"},
    ],
    ids=["many", "deep"],
)
def test_substitutions_in_each_other_have_limits(
    site: TinySite, substitutions: dict[str, str]
) -> None:
    matter = {"myst": {"enable_extensions": ["substitution"], "substitutions": substitutions}}
    built = site.build({"v.md": f"---\n{json.dumps(matter)}\n---\n# V\n\n{{{{ k0 }}}}\n"})
    assert built.app is not None
    assert built.warnings.count("Substitution error:") == 1


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("type == 'mem_object'", ["note"]),
        ("type != 'mem_object' and mem_report == 'jotter'", ["recall"]),
        ("search('^Rec', title)", ["recall"]),
        ("not (mem_quotes > 0) and id.endswith('note')", ["note"]),
        ("title.lower() == 'note'", ["note"]),
        ("current_need['title'] == 'Recall'", ["recall"]),
        ("c.this_doc()", []),
        ("title in ['Note', 'Recall']", ["note", "recall"]),
    ],
)
def test_filters_that_compare_are_obeyed(site: TinySite, wanted: str, found: list[str]) -> None:
    built = site.build(
        {
            "m.md": RECORDS,
            "v.md": f"# V\n\n```{{needtable}}\n:filter: {wanted}\n:columns: id\n```\n",
        }
    )
    assert built.warnings == ""
    shown = built.text("v")
    assert [name for name in ("note", "recall") if f"-{name}" in shown] == found


@pytest.mark.parametrize(
    "page",
    [
        "```{needtable}\n:filter: type == (\n```\n",
        "{need_count}`type == (`\n",
        "```{needlist}\n:filter: a b\n```\n",
        "```{needlist}\n:filter: " + "(" * 500 + "type" + ")" * 500 + "\n```\n",
    ],
)
def test_a_filter_that_is_no_expression_is_said_at_its_line(site: TinySite, page: str) -> None:
    built = site.build({"m.md": RECORDS, "v.md": f"# V\n\n{page}"})
    assert built.app is not None
    assert "v.md:3: WARNING: " in built.warnings
    assert "it is not an expression" in built.warnings


@pytest.mark.parametrize(
    "page",
    [
        "```{needtable}\n:filter: search('(a|a)+$', title)\n```\n",
        "```{needlist}\n:filter: search('(a|a)+$', title) and current_need['title']\n```\n",
        "{need_count}`search('(a|a)+$', title)`\n",
    ],
)
def test_searches_take_no_exponential_time(site: TinySite, page: str) -> None:
    """With Python's regular expressions this would not end."""
    record = f":::{{memobject}} MEM-OBJ-long — {'a' * 100}!\n:identity: I\n:::\n"
    built = site.build({"m.md": f"# M\n\n{record}", "v.md": f"# V\n\n{page}"})
    assert built.warnings == ""
    assert "MEM-OBJ-long" not in built.text("v")


def test_a_pattern_that_is_none_is_said(site: TinySite) -> None:
    page = "```{needtable}\n:filter: search('(', title)\n```\n"
    built = site.build({"m.md": RECORDS, "v.md": f"# V\n\n{page}"})
    assert "v.md:3: WARNING: Filter" in built.warnings
    assert "missing )" in built.warnings


def test_what_the_configuration_says_is_obeyed(site: TinySite) -> None:
    built = site.build(
        {"m.md": RECORDS, "v.md": "# V\n\n```{needlist}\n```\n"},
        needs_warnings={"many": "len([each for each in needs if each['title']]) > 1"},
        needs_warnings_always_warn=True,
    )
    assert "many" in built.warnings
    assert "not run" not in built.warnings


def test_the_setting_changes_what_a_cached_page_shows(site: TinySite) -> None:
    files = {"m.md": RECORDS, "v.md": "# V\n\n```{needtable}\nresults = needs\n```\n"}
    shown = [
        "jotter:MEM-OBJ-note" in site.build(files, memreport_allow_code=allow).text("v")
        for allow in (False, True, False)
    ]
    assert shown == [False, True, False]


def test_each_module_of_sphinx_needs_that_evaluates_is_watched(site: TinySite) -> None:
    site.build({"m.md": RECORDS})
    spec = importlib.util.find_spec("sphinx_needs")
    assert spec is not None
    assert spec.submodule_search_locations
    root = Path(spec.submodule_search_locations[0])
    evaluating = set()
    for path in root.rglob("*.py"):
        name = ".".join((root.name, *path.relative_to(root).with_suffix("").parts))
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id="eval" | "exec" | "compile" as function)):
                    evaluating.add((name.removesuffix(".__init__"), function))
                case ast.Attribute(value=ast.Name(id="builtins"), attr="eval" | "exec"):
                    pytest.fail(f"{name} evaluates in a way that is not watched")
    assert evaluating
    for name, function in evaluating:
        assert (
            vars(sys.modules[name])[function].__module__ == "sphinx_memreport.sphinx_ext.evaluation"
        )


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("v.md", "# V\n\n```{{graphviz}}\n:graphviz_dot: {program}\ndigraph {{ a -> b }}\n```\n"),
        ("v.md", "# V\n\n```{{graphviz}}\n:layout: ./made.sh\ndigraph {{ a -> b }}\n```\n"),
        ("v.rst", "V\n=\n\n.. digraph:: foo\n   :layout: {program}\n\n   a -> b\n"),
        ("v.rst", "V\n=\n\n.. graph:: foo\n   :graphviz_dot: {program}\n\n   a -- b\n"),
    ],
)
@pytest.mark.parametrize("builder", ["html", "latex", "text"])
def test_a_drawing_names_no_program(site: TinySite, name: str, page: str, builder: str) -> None:
    made, program = site.root.parent / "made", site.source / "made.sh"
    program.write_text(f"#!/bin/sh\necho > {made}\n")
    program.chmod(0o755)
    built = site.build({name: page.format(program=program)}, builder=builder)
    assert not made.exists()
    assert "is none of circo, dot" in built.warnings
    if builder == "html":
        site.build(cache="trusting", memreport_allow_code=True)
        assert made.exists()


def test_a_drawing_names_a_layout(site: TinySite) -> None:
    drawing = "```{graphviz}\n:layout: neato\n\ngraph { a -- b }\n```\n"
    assert "none of" not in site.build({"v.md": f"# V\n\n{drawing}"}).warnings


@pytest.mark.parametrize("terms", [400, 900, 3000])
def test_a_filter_of_any_length_is_said(site: TinySite, terms: int) -> None:
    page = f"# V\n\n```{{needlist}}\n:filter: {'+'.join(['a'] * terms)}\n```\n"
    built = site.build({"m.md": RECORDS, "v.md": page})
    assert built.app is not None
    assert "v.md:3: WARNING: filter: " in built.warnings


def test_a_template_of_a_need_comes_to_an_end(site: TinySite) -> None:
    loops = "{% for i in range(90000) %}" * 3 + "{% endfor %}" * 3
    need = "```{claim} T\n:id: CLAIM_1\n:jinja_content:\n\n%s\n```\n"
    built = site.build({"v.md": "# V\n\n" + need % loops}, **SETTINGS)
    assert built.app is not None
    assert "ran out of fuel" in built.warnings
    small = "{% for i in range(3) %}n{{ i }} {% endfor %}"
    built = site.build({"v.md": "# V\n\n" + need % small}, cache="small", **SETTINGS)
    assert "n0 n1 n2" in built.text("v")
