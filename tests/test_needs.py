"""Records as sphinx-needs needs. This module is also the extension that the test sites load."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective, docutils_namespace, patch_docutils

from sphinx_memreport.core.ids import Kind, MemberName, anchor, need_id
from sphinx_memreport.core.models import FieldValue, Record, Supplied
from sphinx_memreport.sphinx_ext.needs import (
    Link,
    Updates,
    add_record_need,
    add_supplied_need,
    pages_showing_needs,
    setup_needs,
    update_needs,
)

REPORT = "jotter"
STATUSES = ("implementation", "operation", "guarantee", "form")

# --- the extension --------------------------------------------------------------------------


class FakeRecord(SphinxDirective):
    """A record directive without checks: its ID and label, a card, a need."""

    required_arguments = 2
    final_argument_whitespace = True
    has_content = True
    option_spec = dict.fromkeys((*STATUSES, "part-of", "tags"), directives.unchanged)

    def run(self) -> list[nodes.Node]:
        record_id, label = self.arguments
        part_of = self.options.get("part-of")
        record = Record(
            report=REPORT,
            id=record_id,
            kind=Kind(record_id.split("-")[1]),
            label=label,
            docname=self.env.docname,
            line=self.lineno,
            member=MemberName.MEMORY,
            fields=tuple(
                FieldValue(name=name, text=self.options[name])
                for name in STATUSES
                if name in self.options
            ),
            part_of=part_of,
            tags=tuple(self.options.get("tags", "").split()),
        )
        links = {Link.PART_OF: [need_id(REPORT, part_of)]} if part_of else {}
        add_record_need(self.env, record, links=links, content="\n".join(self.content))
        return [card(record_id, label)]


class FakeSupplied(SphinxDirective):
    """An ID from outside the site."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        (record_id,) = self.arguments
        supplied = Supplied(report=REPORT, id=record_id, docname=self.env.docname, line=self.lineno)
        add_supplied_need(self.env, supplied)
        return [card(record_id, record_id)]


def card(record_id: str, label: str) -> addnodes.desc:
    """A card as the real directives make it: two anchors on its signature."""
    signature = addnodes.desc_signature(label, "", addnodes.desc_name(label, label))
    signature["ids"] = [anchor(record_id), need_id(REPORT, record_id)]
    return addnodes.desc("", signature, addnodes.desc_content(), domain="mem", objtype="record")


def setup(app: Sphinx) -> dict[str, Any]:
    setup_needs(app)
    app.add_config_value("test_values", {}, "")
    app.add_config_value("test_links", {}, "")
    app.add_directive("record", FakeRecord)
    app.add_directive("supplied", FakeSupplied)
    app.connect("env-updated", on_env_updated)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def on_env_updated(app: Sphinx, _env: BuildEnvironment) -> list[str]:
    update_needs(app, lambda: Updates(app.config.test_values, app.config.test_links))
    return []


# --- building -------------------------------------------------------------------------------


class Built(NamedTuple):
    """What one build read, said and wrote."""

    read: list[str]
    written: list[str]
    warnings: str
    out: Path
    showing: set[str]

    def needs(self) -> dict[str, dict[str, Any]]:
        """The needs in ``needs.json``."""
        versions = json.loads((self.out / "needs.json").read_text())["versions"]
        needs: dict[str, dict[str, Any]] = versions[""]["needs"]
        return needs

    def hrefs(self, page: str) -> set[str]:
        """The targets of the links in a page's body that lead to needs."""
        return set(re.findall(r'href="([^"]*#jotter:[^"]*)"', (self.out / page).read_text()))


Build = Callable[..., Built]

MEMORY = """\
Memory
======

Stored things
-------------

.. record:: MEM-OBJ-note Stored note
   :form: natural-language, symbolic
   :tags: core durable

   Notes are rows.

.. record:: MEM-RTE-recall Prompt-time recall
   :part-of: MEM-CMP-store
   :implementation: wired
   :operation: uninspected
"""
PARTS = """\
Parts
=====

.. record:: MEM-CMP-store The store
.. supplied:: RT-RTE-answer
"""
INDEX = """\
Start
=====

.. toctree::

   memory
   parts

.. needtable::
   :filter: mem_report == "jotter"
   :columns: id, title, mem_part_of, mem_part_of_back, mem_operation, mem_verified
   :style: table

.. needlist::
   :types: mem_object

See :need:`jotter:MEM-OBJ-note`. There are :need_count:`type.startswith('mem_')` needs.
"""
PAGES = {"index": INDEX, "memory": MEMORY, "parts": PARTS}
NOTE, RECALL, STORE = (f"jotter:MEM-{name}" for name in ("OBJ-note", "RTE-recall", "CMP-store"))
ANSWER = "jotter:RT-RTE-answer"


@pytest.fixture
def build(tmp_path: Path) -> Iterator[Build]:
    """Write pages and build the site; pages of earlier calls stay, None removes one."""
    source = tmp_path / "source"
    source.mkdir()
    (source / "conf.py").touch()

    def run(
        pages: Mapping[str, str | None],
        builder: str = "html",
        *,
        parallel: int = 1,
        cache: str = "cache",
        **settings: Any,
    ) -> Built:
        for name, text in pages.items():
            path = source / f"{name}.rst"
            if text is None:
                path.unlink()
            else:
                path.write_text(text)
        settings = {
            "extensions": [__name__],
            "needs_build_json": True,
            "needs_json_remove_defaults": False,
            "nitpicky": True,
            "html_theme": "basic",
        } | settings
        read: list[str] = []
        written: list[str] = []
        warnings = StringIO()
        out = tmp_path / f"{cache}-{builder}"
        with patch_docutils(source), docutils_namespace():
            app = Sphinx(
                source,
                source,
                out,
                tmp_path / cache,
                builder,
                settings,
                status=None,
                warning=warnings,
                parallel=parallel,
            )
            app.connect("env-before-read-docs", lambda _app, _env, names: read.extend(names), 999)
            app.connect("doctree-resolved", lambda _app, _tree, name: written.append(name))
            app.build()
            showing = pages_showing_needs(app.env)
        return Built(read, written, warnings.getvalue(), out, showing)

    return run  # type: ignore[return-value]


# --- tests ----------------------------------------------------------------------------------


def test_records_are_needs_with_typed_fields(build: Build) -> None:
    built = build(PAGES, test_values={NOTE: {"mem_quotes": 3, "mem_verified": 2}})
    assert not built.warnings
    needs = built.needs()
    assert set(needs) == {NOTE, RECALL, STORE, ANSWER}
    note = needs[NOTE]
    assert (note["type"], note["title"]) == ("mem_object", "Stored note")
    assert (note["docname"], note["lineno"]) == ("memory", 7)
    assert note["section_name"] == "Stored things"
    assert note["sections"] == ["Stored things", "Memory"]
    assert note["tags"] == ["core", "durable"]
    assert note["content"] == "Notes are rows."
    assert note["mem_form"] == ["natural-language", "symbolic"]
    assert (note["mem_record"], note["mem_kind"]) == ("MEM-OBJ-note", "object")
    assert (note["mem_member"], note["mem_operation"]) == ("memory", None)
    assert (note["mem_quotes"], note["mem_verified"]) == (3, 2)
    assert needs[RECALL]["mem_operation"] == "uninspected"
    assert needs[RECALL]["mem_part_of"] == [STORE]
    assert needs[STORE]["mem_part_of_back"] == [RECALL]
    assert needs[ANSWER]["type"] == "mem_supplied"


def test_views_link_to_the_cards(build: Build) -> None:
    built = build(PAGES)
    page = (built.out / "index.html").read_text()
    assert "There are 4 needs" in page
    assert built.hrefs("index.html") == {
        f"memory.html#{NOTE}",
        f"memory.html#{RECALL}",
        f"parts.html#{STORE}",
        f"parts.html#{ANSWER}",
    }
    for href in built.hrefs("index.html"):
        target, _, fragment = href.partition("#")
        assert f'id="{fragment}"' in (built.out / target).read_text()
    assert built.showing == {"index"}


FLOW = """\
Flow
====

.. needflow::
   :engine: graphviz
   :filter: "jotter" in mem_report
   :show_link_names:
"""
PIE = """\
Pie
===

.. needpie:: Routes by operation
   :labels: uninspected, observed

   type == 'mem_route' and mem_operation == 'uninspected'
   type == 'mem_route' and mem_operation == 'observed'
"""


def test_needflow(build: Build) -> None:
    built = build({**PAGES, "flow": f":orphan:\n\n{FLOW}"}, graphviz_output_format="svg")
    assert not built.warnings
    (drawing,) = (built.out / "_images").glob("needflow-*.svg")
    assert f'memory.html#{NOTE}"' in drawing.read_text()
    assert "part of" in drawing.read_text()
    assert built.showing == {"index", "flow"}


def test_needpie(build: Build) -> None:
    pytest.importorskip("matplotlib")
    built = build({**PAGES, "pie": f":orphan:\n\n{PIE}"})
    assert not built.warnings
    assert list((built.out / "_images").glob("need_pie*"))
    assert built.showing == {"index", "pie"}


@pytest.mark.parametrize(
    "builder", ["dirhtml", "singlehtml", "epub", "latex", "text", "gettext", "needs"]
)
def test_builders_are_silent(build: Build, builder: str) -> None:
    # The option makes sphinx-needs itself fail under gettext.
    settings = {"needs_build_json": builder != "gettext", "version": "1", "copyright": "none"}
    for _ in range(2):
        assert not build(PAGES, builder, **settings).warnings


AWKWARD = 'a [[x]] "q" <b> {{ c }} <<d>> <{e}>; f | g, h & \\ `i`_ *'


def test_text_is_data(build: Build) -> None:
    page = f"A\n=\n\n.. record:: MEM-RTE-odd {AWKWARD}\n   :guarantee: {AWKWARD}\n"
    page += "\n   [[copy('id')]] {{ id }}\n"
    built = build(
        {**PAGES, "memory": page, "index": INDEX.replace("OBJ-note", "RTE-odd") + FLOW[10:]},
        graphviz_output_format="svg",
    )
    assert not built.warnings
    need = built.needs()["jotter:MEM-RTE-odd"]
    assert (need["title"], need["mem_guarantee"]) == (AWKWARD, AWKWARD)
    assert need["content"] == "[[copy('id')]] {{ id }}"


def test_second_build_reads_nothing_and_says_the_same(build: Build) -> None:
    assert build(PAGES).read == ["index", "memory", "parts"]
    values = {NOTE: {"mem_verified": 1}}
    again = build({}, test_values=values)
    assert not again.read
    assert not again.written
    assert not again.warnings
    assert again.needs()[NOTE]["mem_verified"] == 1
    assert again.needs()[STORE]["mem_part_of_back"] == [RECALL]


def test_final_links_replace_and_dangling_ones_are_left_out(build: Build) -> None:
    links = {
        RECALL: {Link.PART_OF: [], Link.CITES: [NOTE, "jotter:MEM-OBJ-nothing"]},
        "jotter:MEM-OBJ-nothing": {Link.CITES: [NOTE]},
    }
    built = build(PAGES, test_links=links)
    assert not built.warnings
    assert built.needs()[RECALL]["mem_part_of"] == []
    assert built.needs()[RECALL]["mem_cites"] == [NOTE]
    assert built.needs()[NOTE]["mem_cites_back"] == [RECALL]


def test_removed_record_and_page_are_gone(build: Build) -> None:
    build(PAGES)
    index = INDEX.replace("   parts\n", "").replace(":need:`jotter:MEM-OBJ-note`", "")
    built = build({"index": index, "memory": "Memory\n======\n", "parts": None})
    assert not built.warnings
    assert built.needs() == {}


@pytest.mark.parametrize("parallel", [1, 2])
def test_the_first_of_several_records_with_one_id_is_the_need(build: Build, parallel: int) -> None:
    twin = "Twin\n====\n\n.. record:: MEM-OBJ-note Twin note\n.. record:: MEM-OBJ-note Third\n"
    # Enough pages for parallel reading to start.
    others = {f"other{number}": ":orphan:\n\nO\n=\n" for number in range(5)}
    pages = {**PAGES, **others, "zeta": f":orphan:\n\n{twin}"}
    built = build(pages, parallel=parallel)
    assert not built.warnings
    assert built.needs()[NOTE]["title"] == "Stored note"
    edited = build({"memory": "Memory\n======\n"}, parallel=parallel)
    assert edited.needs()[NOTE]["title"] == "Twin note"


def test_parallel_equals_serial(build: Build) -> None:
    numbers = range(12)
    pages = {
        f"page{n}": f":orphan:\n\nP\n=\n\n.. record:: MEM-OBJ-{n + 1} Note {n}\n"
        f"   :part-of: MEM-CMP-store\n"
        for n in numbers
    }
    serial = build({**PAGES, **pages}, cache="serial")
    parallel = build({}, cache="parallel", parallel=2)
    assert not serial.warnings
    assert not parallel.warnings
    assert serial.showing == parallel.showing == {"index"}

    assert serial.needs() == parallel.needs()
    assert (serial.out / "index.html").read_text() == (parallel.out / "index.html").read_text()


OWN = """\
:orphan:

Own
===

.. story:: A story
   :id: US-1
   :mem_cites: jotter:MEM-OBJ-note
   :blocks: US-1
"""


def test_what_the_project_configures_stays(build: Build) -> None:
    settings: dict[str, Any] = {
        "needs_types": [
            {"directive": "story", "title": "Story", "prefix": "US-"},
            {"directive": "mem_object", "title": "Memory", "prefix": "M-"},
        ],
        "needs_links": {
            "blocks": {"outgoing": "blocks", "incoming": "blocked by"},
            "mem_cites": {"outgoing": "quotes", "incoming": "quoted by"},
        },
        "needs_fields": {"mem_kind": {"nullable": True}, "rank": {"default": "low"}},
        "needs_id_regex": "^US-[0-9]+$",
    }
    built = build({**PAGES, "own": OWN}, **settings)
    assert not built.warnings
    needs = built.needs()
    assert needs["US-1"]["mem_cites"] == [NOTE]
    assert needs[NOTE]["mem_cites_back"] == ["US-1"]
    assert needs[NOTE]["type_name"] == "Memory"
    assert needs[NOTE]["rank"] == "low"
    assert needs[NOTE]["mem_kind"] == "object"
    assert "own" in built.showing
    wrong = build({"own": OWN.replace("US-1", "REQ1")}, **settings)
    assert wrong.read == ["own"]
    assert "does not match" in wrong.warnings


def test_refused_and_taken_needs_are_said(build: Build) -> None:
    own = ":orphan:\n\nOwn\n===\n\n.. req:: Mine\n   :id: jotter:MEM-OBJ-note\n"
    taken = build({**PAGES, "own": own})
    assert "memory.rst:7: WARNING: A need with ID 'jotter:MEM-OBJ-note' already" in taken.warnings
    assert taken.needs()[NOTE]["title"] == "Mine"
    refused = build({"own": None}, needs_fields={"must": {"nullable": False}})
    assert "memory.rst:7: WARNING: Need could not be created:" in refused.warnings


def test_malformed_id_makes_no_need(build: Build) -> None:
    page = PARTS.replace("answer", "No.Good") + ".. record:: MEM-OBJ-No_Good Odd\n"
    built = build({**PAGES, "parts": page})
    assert not built.warnings
    assert set(built.needs()) == {NOTE, RECALL, STORE}
