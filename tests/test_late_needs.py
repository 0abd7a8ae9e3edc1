"""Needs are made when something looks at one: that must show in nothing but the time it takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import CONF, Built, TinySite

from sphinx_memreport.sphinx_ext import needs as late

MEMORY = """\
# Memory

```{memmember} memory
```

## Stored things

:::{memobject} MEM-OBJ-note — Stored *note*
:tags: core, durable
:form: natural-language, symbolic
:counterpart: RT-RTE-answer

```{evidence} SRC-1 src/jotter/recall.py
scored.sort(key=lambda pair: pair[0], reverse=True)
```

```{evidence} SRC-1 src/jotter/store.py
self.notes.append(nothing)
```
:::

:::{memobject} MEM-OBJ-store
:part-of: MEM-CMP-search
:::

:::{memcomponent} MEM-CMP-search — Search

Reads MEM-OBJ-note.
:::

```{memsupplied}
RT-RTE-answer: Answer
RT-OBJ-cache: Cache
```
"""
RUNTIME = """\
# Runtime

```{memmember} runtime
```

:::{memannotation} MEM-OBJ-note
:identity: See RT-RTE-answer.
:::
"""
AMENDED = """\
# Amended

```{memmember} reconciliation
```

:::{memamendment} RT-OBJ-cache
:superseded-by: MEM-OBJ-store
:::
"""
VIEWS = """\
# Views

```{needtable}
:columns: id, title, tags, mem_kind, mem_member, mem_part_of, mem_part_of_back, mem_cites_back
:style: table
```

```{needlist}
:types: mem_object
```

```{needflow}
:engine: graphviz
:show_link_names:
```

See {need}`jotter:MEM-OBJ-note` and {need}`jotter:MEM-OBJ-nothing`.
There are {need_count}`mem_verified < mem_quotes` to look at.
"""
RECORDS = {"memory.md": MEMORY, "runtime.md": RUNTIME, "amended.md": AMENDED}
NEEDS = 6  # four of the records, one of the annotation, and RT-OBJ-cache
NOTE, STORE, SEARCH = (f"jotter:MEM-{name}" for name in ("OBJ-note", "OBJ-store", "CMP-search"))

#: Has all needs made as soon as sphinx-needs resolves its own.
AT_ONCE = (
    CONF + 'setup = lambda app: app.connect("needs-before-sealing", lambda app, needs: None)\n'
)
OWN = """\
# Own

```{req} A requirement
:id: R_001
:mem_cites: jotter:MEM-OBJ-note
```

```{req} Another one
:id: R_002
:links: R_001, jotter:MEM-CMP-search
```
"""


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    site = TinySite(tmp_path / "site", pinned_repo)
    site.write(RECORDS)
    return site


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The IDs of the needs that were made, as they are made."""
    ids: list[str] = []
    original = late.generate_need

    def counted(*arguments: Any, **options: Any) -> Any:
        ids.append(options["id"])
        return original(*arguments, **options)

    monkeypatch.setattr(late, "generate_need", counted)
    return ids


def needs(built: Built) -> dict[str, dict[str, Any]]:
    """The needs in ``needs.json``."""
    (version,) = built.data("needs.json")["versions"].values()
    found: dict[str, dict[str, Any]] = version["needs"]
    return found


#: IDs that sphinx-needs draws anew for each page.
RANDOM = re.compile(rb"SNCB-\w+")


def written(built: Built) -> Mapping[str, bytes]:
    """Pages and drawings."""
    kinds = (".html", ".svg", ".png", ".map")
    files = (path for path in built.out.rglob("*") if path.suffix in kinds)
    return {
        path.relative_to(built.out).as_posix(): RANDOM.sub(b"", path.read_bytes())
        for path in files
        if "_static" not in path.parts
    }


# --- late or at once ------------------------------------------------------------------------

SETTINGS: dict[str, dict[str, Any]] = {
    "serial": {"needs_build_json": True, "needs_build_json_per_id": True},
    "parallel": {"needs_build_json": True, "parallel": 2},
    "unresolved": {"needs_build_json": True, "needs_include_needs": True, "nitpicky": True},
}


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_needs_made_late_are_those_made_at_once(
    site: TinySite, made: list[str], settings: dict[str, Any]
) -> None:
    # enough documents for several processes
    more = {f"more{n}.md": f"# More {n}\n\n{{need}}`{STORE}`\n" for n in range(4)}
    first = site.build({"views.md": VIEWS, **more}, **settings)
    assert sorted(made) == sorted(set(made))
    assert len(made) == NEEDS
    once = site.build({"conf.py": AT_ONCE}, cache="once", **settings | {"parallel": 1})
    assert once.warnings == first.warnings
    assert "MEM-OBJ-nothing" in first.warnings
    assert written(once) == written(first)
    assert (first.out / "views.html").read_text().count("jotter:MEM-OBJ-note") > 3
    assert needs(once) == needs(first)
    assert len(needs(first)) == NEEDS


def test_the_builder_of_needs_makes_them(site: TinySite, made: list[str]) -> None:
    built = site.build(builder="needs")
    assert len(made) == len(needs(built)) == NEEDS
    assert needs(built)[NOTE]["tags"] == ["core", "durable"]
    assert needs(built)[STORE]["mem_part_of"] == [SEARCH]
    assert needs(built)[SEARCH]["mem_part_of_back"] == [STORE]
    assert needs(built)[NOTE]["mem_annotates_back"] == ["jotter:runtime:on-mem-obj-note"]
    once = site.build({"conf.py": AT_ONCE}, "needs", cache="once")
    assert needs(once) == needs(built)


def test_needs_that_nothing_looks_at_are_not_made(site: TinySite, made: list[str]) -> None:
    site.build()
    site.build({"memory.md": MEMORY.replace("Stored", "Kept")})
    site.build(parallel=2)
    site.build(builder="text")
    assert made == []
    # not even where a page with a view is not written
    site.build({"views.md": VIEWS})
    assert len(made) == NEEDS
    made.clear()
    site.build({"other.md": "# Other\n"})
    assert made == []


def test_pages_with_views_follow_what_no_page_of_ours_shows(site: TinySite) -> None:
    site.build({"views.md": VIEWS})
    for old, new in (
        ("core, durable", "edge"),
        (" — Search", " — Index"),
        ("# Memory", "\n# Memory"),
    ):
        built = site.build({"memory.md": (site.source / "memory.md").read_text().replace(old, new)})
        assert set(built.written) - {"index"} == {"memory", "views"}
        assert written(built)["views.html"] == written(site.build(cache="clean"))["views.html"]
    # words that are part of no need
    built = site.build({"runtime.md": RUNTIME.replace("identity: See", "identity: Compare")})
    assert set(built.written) - {"index"} == {"memory", "runtime"}


# --- others who look ------------------------------------------------------------------------

LOOKS = """
from pathlib import Path
from sphinx_needs.api import get_needs_view

def setup(app):
    app.connect("build-finished", look)

def look(app, exception):
    view = get_needs_view(app)
    seen = [f"{n['id']} {n['mem_cites_back']} {n['mem_verified']}" for n in view.values()]
    filtered = list(view.filter_types(["mem_object"]))
    Path(app.outdir, "seen.txt").write_text(repr((sorted(seen), sorted(filtered), len(view))))
"""


@pytest.mark.parametrize("parallel", [1, 2])
def test_an_extension_that_looks_at_the_end_sees_all(
    site: TinySite, made: list[str], parallel: int
) -> None:
    # enough documents for several processes
    site.write({f"more{n}.md": f"# More {n}\n" for n in range(6)})
    for _ in range(2):
        made.clear()
        built = site.build({"conf.py": CONF + LOOKS}, parallel=parallel)
        seen, filtered, number = eval((built.out / "seen.txt").read_text())  # what LOOKS wrote
        assert len(made) == len(seen) == number == NEEDS
        assert f"{NOTE} ['{SEARCH}'] 1" in seen
        assert filtered == [NOTE, STORE]
    assert built.read == []


def test_warnings_of_the_project_look_at_all(site: TinySite) -> None:
    rules = {
        "needs_warnings": {"unverified": "mem_verified < mem_quotes"},
        "needs_warnings_always_warn": True,
    }
    for _ in range(2):
        built = site.build(**rules)
        assert f"unverified: failed\n\t\tfailed needs: 1 ({NOTE})" in built.warnings
    mended = site.build({"memory.md": MEMORY.replace("append(nothing)", "append(note)")}, **rules)
    assert "failed" not in mended.warnings


def rules() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Settings by which a project has a say in needs, and what they lead to."""
    yield "field", {"needs_fields": {"rank": {"default": "low", "nullable": True}}}, ""
    yield "missing", {"needs_fields": {"must": {"nullable": False}}}, "Need could not be created"
    unverified = {"all": {"check_0": "mem_quotes == mem_verified", "severity": "LOW"}}
    yield "constraint", {"needs_constraints": unverified}, ""
    schema = {
        "$defs": {},
        "schemas": [
            {
                "id": "labelled",
                "select": {"properties": {"type": {"const": "mem_object"}}},
                "validate": {"local": {"properties": {"title": {"minLength": 12}}}},
            }
        ],
    }
    yield "schema", {"needs_schema_definitions": schema}, "title"


@pytest.mark.parametrize(
    ("settings", "said"), [each[1:] for each in rules()], ids=[each[0] for each in rules()]
)
def test_rules_of_the_project_see_all(site: TinySite, settings: dict[str, Any], said: str) -> None:
    settings |= {"needs_build_json": True}
    built = site.build(**settings)
    once = site.build({"conf.py": AT_ONCE}, cache="once", **settings)
    assert built.warnings == once.warnings
    assert said in built.warnings
    assert needs(built) == needs(once)
    if "rank" in settings.get("needs_fields", {}):
        assert needs(built)[NOTE]["rank"] == "low"


def test_needs_of_the_project_and_ours_show_each_other(site: TinySite, made: list[str]) -> None:
    settings: dict[str, Any] = {"needs_build_json": True, "parallel": 2}
    more = {f"more{n}.md": f"# More {n}\n\n{{need}}`{STORE}`\n" for n in range(6)}
    built = site.build({**more, "own.md": OWN, "views.md": VIEWS}, **settings)
    assert len(made) == NEEDS
    assert needs(built)["R_002"]["links"] == [SEARCH, "R_001"]
    assert needs(built)[SEARCH]["links_back"] == ["R_002"]
    assert needs(built)[NOTE]["mem_cites_back"] == [SEARCH, "R_001"]
    for docname in ("views", "own", "more1"):
        assert 'href="memory.html#jotter:MEM-' in built.page(docname)
    once = site.build({"conf.py": AT_ONCE}, cache="once", needs_build_json=True)
    assert written(built) == written(once)
    assert needs(built) == needs(once)
    # a label of ours on their pages
    edited = site.build(
        {"conf.py": CONF, "memory.md": MEMORY.replace("Stored", "Kept")}, **settings
    )
    clean = site.build(cache="clean", needs_build_json=True)
    # Sphinx leaves drawings of the past where they are
    assert {**written(edited), **written(clean)} == written(edited)
    assert needs(edited) == needs(clean)
