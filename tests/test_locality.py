"""After one edit, the documents read and written are those that show something of it (issue 6).

One site has everything that a page can show. Each edit states what is read, which pages and which
pages of quoted files are written, and whether ``memreport.json`` changes. That is never at the
cost of truth: the build ends like one that starts from nothing, and taking the edit back ends
like the first build.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pinned_repo import PinnedRepo, plain
from sitebuilder import Built, TinySite, report_toml

from sphinx_memreport.core.problems import Problem
from sphinx_memreport.sphinx_ext.pages import source_page_name

POST = b"I ran it.\nThe log grew by a line.\n"
LATER = b"I ran it again.\n\nThe log grew by a line.\n"

MEMORY = """\
# Memory

```{memmember} memory
```

:::{memobject} MEM-OBJ-note — Stored note
:tags: core

What MEM-CMP-search searches.

```{evidence} SRC-1 src/jotter/recall.py
scored.sort(key=lambda pair: pair[0], reverse=True)
```
:::

:::{memobject} MEM-OBJ-store — Store
:part-of: MEM-CMP-search

```{evidence} SRC-1 src/jotter/store.py
self.notes.append(note)
```
:::

:::{memroute} MEM-RTE-recall — Recall
:implementation: wired
:operation: uninspected
:immediate-return: The notes.
:later-readback: Kept notes.
:delegated-visibility: inapplicable — nothing is delegated.
:selection: By similarity.
:invalidation: uninspected — no expiry was searched for.
:activation: Text in the prompt.
:evidence-limits: Static reading.

```{evidence} SRC-1 src/jotter/recall.py
return [note for _, note in scored[:limit]]
```
:::

:::{memcomponent} MEM-CMP-search — Search
:::

:::{memabsence} MEM-ABS-decay — No decay
:searched: SRC-1:src/**
:pattern: decay
:::

Some words at the end.
"""
RUNTIME = """\
# Runtime

```{memmember} runtime
```

:::{memcomponent} RT-CMP-agent — Agent

```{evidence} SRC-1 README.md
Jotter keeps notes
```
:::

:::{memobject} RT-OBJ-cache — Cache
:::

:::{memobject} RT-OBJ-log — Log

```{evidence} SRC-2
The log grew by a line.
```
:::
"""
EPISTEMIC = """\
# Epistemic

```{memmember} epistemic
```

:::{memannotation} MEM-RTE-recall
:activation: Never seen, see RT-CMP-agent.
:::
"""
AMENDED = """\
# Amended

```{memmember} reconciliation
```

:::{memamendment} RT-OBJ-cache
:superseded-by: RT-OBJ-log
:::
"""
CITES = """\
# Citing

## Notes

See MEM-OBJ-note, RT-RTE-far and {memsrc}`SRC-1:src/jotter/store.py`.
"""
PROFILE = """\
# Profile

```{memprofile}
storage_substrate:
  assessment: known
  findings:
  - value: files
    basis: wired
    records: [MEM-RTE-recall]
```
"""
COVERAGE = """\
# Coverage

```{memcoverage}
- entry: Recall
  direct: [SRC-1:src/jotter/recall.py]
  records: [MEM-RTE-recall, MEM-CMP-search, MEM-OBJ-note, MEM-OBJ-store, RT-OBJ-log]
- entry: Forgetting
```
"""
PLAIN = "# Plain\n\nNothing is cited here.\n"
TABLE = """\
# Table

```{needtable}
:columns: id, title, tags, mem_verified
:style: table
```
"""
CONF = """\
extensions = ["myst_parser", "sphinx_memreport"]
myst_enable_extensions = ["colon_fence"]
html_theme_path = ["_themes"]
html_theme = "bare"
html_copy_source = False
graphviz_dot = "/nonexistent/dot"
"""
#: A theme without what Sphinx itself shows around a page, such as the title of the next one.
LAYOUT = """\
<!DOCTYPE html><html><head><title>{{ title }}</title>
{% for file in script_files %}{{ js_tag(file) }}{% endfor %}</head>
<body>{% block body %}{{ body }}{% endblock %}</body></html>
"""
THEME: dict[str, str | bytes | None] = {
    "_themes/bare/theme.toml": '[theme]\ninherit = "none"\n[options]\ncolor = "red"\n',
    "_themes/bare/layout.html": LAYOUT,
    **{
        f"_themes/bare/{name}.html": f'{{% extends "layout.html" %}}{{% block body %}}{body}'
        "{% endblock %}"
        for name, body in {
            "page": "{{ body }}",
            "search": "",
            "genindex": "{{ genindexentries|length }}",
            "domainindex": "{{ content|e }}",
        }.items()
    },
}
SITE: dict[str, str | bytes | None] = {
    "conf.py": CONF,
    **THEME,
    "post.txt": POST,
    "outside.md": "# Outside\n\n{mem}`jotter:MEM-OBJ-note`\n",
    "elsewhere.md": "# Elsewhere\n\nNothing.\n",
    "jotter/memory.md": MEMORY,
    "jotter/runtime.md": RUNTIME,
    "jotter/epistemic.md": EPISTEMIC,
    "jotter/amended.md": AMENDED,
    "jotter/supplied.md": "# Supplied\n\n```{memsupplied}\nRT-RTE-far: Far route\n```\n",
    "jotter/cites.md": CITES,
    "jotter/profile.md": PROFILE,
    "jotter/coverage.md": COVERAGE,
    "jotter/plain.md": PLAIN,
    "jotter/sources.md": "# Sources\n\n```{memsources}\n```\n",
    "jotter/list.md": "# List\n\n```{memrecords}\n```\n",
    "jotter/behind.md": "# Behind\n\n```{memevidence}\n```\n",
    "jotter/overview.md": "# Overview\n\n```{memoverview}\n```\n",
    "jotter/comparison.md": "# Comparison\n\n```{memcomparison}\n```\n",
    "jotter/graph.md": "# Graph\n\n```{memgraph}\n```\n",
    "jotter/around.md": "# Around\n\n```{memgraph}\n:around: RT-OBJ-cache\n```\n",
    "jotter/table.md": TABLE,
}


def capture(source_id: str, content: bytes = POST) -> str:
    """The table of a capture."""
    return (
        f'[reports.jotter.sources.{source_id}]\nkind = "capture"\nidentity = "a session"\n'
        f'file = "post.txt"\nsha256 = "{sha256(content).hexdigest()}"\nlayer = "observed run"\n'
    )


def toml(repo: PinnedRepo, *, keys: str = "", git: str = "", source: str = capture("SRC-2")) -> str:
    """The configuration, with further lines in the tables of the report and of SRC-1."""
    layers = git or 'layers = { implementation = ["src/**"] }\n'
    return report_toml(repo, directory="jotter", keys=keys, source=layers + source)


class Edit(NamedTuple):
    """An edit, and what it leads to besides the start page, which holds the toctree.

    ``read`` and ``written`` are documents, a bare name stands for one of the report; ``also`` of
    ``written`` are those that are not read. ``quoted`` are pages of quoted files that are written,
    by path, ``""`` for that of the capture. ``data`` says whether ``memreport.json`` changes.
    """

    files: Mapping[str, str | bytes | None]
    read: str = ""
    also: str = ""
    quoted: tuple[str, ...] = ()
    data: bool = True
    settings: Mapping[str, Any] = {}


RECALL, STORE, README, CAPTURE = "src/jotter/recall.py", "src/jotter/store.py", "README.md", ""
MEMBERS = "memory runtime epistemic amended"
ALL = " ".join(
    name.removesuffix(".md").removeprefix("jotter/") if "/" in name else f"/{name[:-3]}"
    for name in SITE
    if name.endswith(".md")
)


def memory(old: str, new: str) -> dict[str, str | bytes | None]:
    """An edit of the document with most of the records."""
    return changed("jotter/memory.md", old, new)


def changed(name: str, old: str, new: str) -> dict[str, str | bytes | None]:
    """A text of the site with something replaced."""
    text = SITE[name]
    assert isinstance(text, str)
    assert old in text
    return {name: text.replace(old, new, 1)}


SORTED = "scored.sort(key=lambda pair: pair[0], reverse=True)"
QUOTE = f"{RECALL}\n{SORTED}"
#: What shows a record as such: by label, ID and kind.
VIEWS = "list behind graph table"


def edits(repo: PinnedRepo) -> dict[str, Edit]:
    """Every kind of edit, by name."""
    return {
        **_edits_of_evidence(),
        **_edits_of_records(),
        **_edits_of_text(),
        **_edits_of_configuration(repo),
        **_edits_of_documents(),
    }


def _edits_of_evidence() -> dict[str, Edit]:
    return {
        "another passage": Edit(
            memory(SORTED, "def recall(query, notes, limit=5):"), "memory", "", (RECALL,)
        ),
        "another file": Edit(
            memory(QUOTE, f"{STORE}\nclass Store:"), "memory", "", (RECALL, STORE)
        ),
        "stale quote": Edit(
            memory("pair[0]", "pair[1]"), "memory", "list behind overview table", (RECALL,)
        ),
        "passage of another record": Edit(
            memory(SORTED, "return [note for _, note in scored[:limit]]"),
            "memory",
            "behind",
            (RECALL,),
        ),
        # lines of the records below shift, which a table of needs may show
        "caption": Edit(
            memory(QUOTE, f"{RECALL}\n:caption: The order.\n\n{SORTED}"), "memory", "table"
        ),
        "layer": Edit(
            memory(QUOTE, f"{RECALL}\n:layer: observed run\n\n{SORTED}"), "memory", "table"
        ),
        "second record of a passage": Edit(
            memory(QUOTE, f"{RECALL}\n:supports: MEM-CMP-search\n\n{SORTED}"),
            "memory",
            "list behind table",
            (RECALL,),
        ),
        "search": Edit(memory(":pattern: decay", ":pattern: expire"), "memory"),
        "search that finds": Edit(
            memory(":pattern: decay", ":pattern: notes"), "memory", "overview"
        ),
    }


def _edits_of_records() -> dict[str, Edit]:
    return {
        "label": Edit(
            memory("Stored note", "Kept note"),
            "memory",
            f"{VIEWS} cites coverage /outside",
            (RECALL,),
        ),
        "label that nothing shows but views": Edit(
            memory("No decay", "Nothing decays"), "memory", VIEWS
        ),
        "tags": Edit(memory(":tags: core", ":tags: edge"), "memory", "table"),
        "status": Edit(
            memory("operation: uninspected", "operation: afforded"),
            "memory",
            f"{VIEWS} epistemic profile coverage comparison",
        ),
        "part-of": Edit(
            memory(":part-of: MEM-CMP-search", ":part-of: MEM-OBJ-note"),
            "memory",
            "list behind coverage graph table",
        ),
        "first sentence": Edit(
            memory("What MEM-CMP-search searches", "That which MEM-CMP-search searches"),
            "memory",
            "list behind graph cites coverage /outside",
            data=False,
        ),
        "record added": Edit(
            memory(":::{memabsence}", ":::{memobject} MEM-OBJ-index\n:::\n\n:::{memabsence}"),
            "memory",
            f"{VIEWS} overview",
        ),
        "record removed": Edit(
            changed("jotter/runtime.md", ":::{memobject} RT-OBJ-cache — Cache\n:::\n", ""),
            "runtime",
            f"{VIEWS} overview amended around",
        ),
        "record renamed": Edit(
            memory("MEM-OBJ-note", "MEM-OBJ-memo"),
            "memory",
            f"{VIEWS} overview cites coverage /outside",
            (RECALL,),
        ),
        "annotation": Edit(
            changed("jotter/epistemic.md", "Never seen", "Not seen"), "epistemic", "memory"
        ),
        "amendment": Edit(
            changed(
                "jotter/amended.md",
                ":::{memamendment}",
                ":::{memamendment} MEM-OBJ-store\n:superseded-by: MEM-OBJ-note\n:::\n\n"
                ":::{memamendment}",
            ),
            "amended",
            f"memory {VIEWS} coverage",
        ),
        "supplied label": Edit(
            changed("jotter/supplied.md", "Far route", "Distant route"),
            "supplied",
            "cites graph table",
        ),
        "profile": Edit(
            changed("jotter/profile.md", "value: files", "value: sqlite"), "profile", "comparison"
        ),
        "coverage": Edit(
            changed("jotter/coverage.md", "MEM-CMP-search, ", ""),
            "coverage",
            "memory overview behind",
        ),
    }


def _edits_of_text() -> dict[str, Edit]:
    return {
        "prose": Edit(memory("Some words", "More words"), "memory", data=False),
        "prose elsewhere": Edit(
            changed("elsewhere.md", "Nothing.", "More."), "/elsewhere", data=False
        ),
        "blank line above": Edit(memory("# Memory", "\n# Memory"), "memory", "table"),
        "blank line above citations": Edit(
            changed("jotter/cites.md", "# Citing", "\n# Citing"), "cites"
        ),
        "citation added": Edit(
            changed("jotter/plain.md", "Nothing is", "Not even MEM-CMP-search is"),
            "plain",
            "memory",
        ),
        "citation removed": Edit(
            changed("jotter/cites.md", "MEM-OBJ-note, RT-RTE-far", "RT-RTE-far"), "cites", "memory"
        ),
        "citation in a record": Edit(
            changed("jotter/runtime.md", "Agent\n", "Agent\n\nUses MEM-OBJ-store.\n"),
            "runtime",
            "memory list behind graph table epistemic overview",
        ),
        "dangling citation": Edit(
            changed("jotter/plain.md", "Nothing is", "Not even MEM-CMP-sarch is"),
            "plain",
            "overview",
        ),
        "path": Edit(changed("jotter/cites.md", "store.py", "recall.py"), "cites"),
        "title of a document that cites": Edit(
            changed("jotter/cites.md", "# Citing", "# Quoting"), "cites", "memory supplied"
        ),
        "title of a section that cites": Edit(
            changed("jotter/cites.md", "## Notes", "## On notes"),
            "cites",
            "memory supplied",
            data=False,
        ),
        "title of a document with records": Edit(
            memory("# Memory", "# What is kept"), "memory", "list table"
        ),
        "title of a document with annotations": Edit(
            changed("jotter/epistemic.md", "# Epistemic", "# Knowing"), "epistemic", "memory table"
        ),
        "title of a document with problems": Edit(
            changed("jotter/coverage.md", "# Coverage", "# Covered"),
            "coverage",
            "overview memory runtime",
        ),
    }


def _edits_of_configuration(repo: PinnedRepo) -> dict[str, Edit]:
    older = PinnedRepo(repo.path, repo.commits[:-1])
    files = (RECALL, STORE, README)

    def configured(text: str) -> dict[str, str | bytes | None]:
        return {"memreport.toml": text}

    layers = 'layers = { implementation = ["src/**"], "doctrine/design" = ["*.md"] }\n'
    return {
        "system": Edit(
            configured(toml(repo).replace('"Jotter"', '"Notes"')),
            "",
            f"{MEMBERS} comparison",
            (*files, CAPTURE),
        ),
        "run": Edit(configured(toml(repo, keys='run-id = "AAS-1"')), "", MEMBERS),
        "contract": Edit(configured(toml(repo, keys='contract = "strict"')), "", "overview"),
        "layer of a glob": Edit(configured(toml(repo, git=layers)), "", "runtime sources"),
        "gaps of a source": Edit(
            configured(
                toml(repo, git='layers = { implementation = ["src/**"] }\ngaps = "None."\n')
            ),
            "",
            "sources",
        ),
        "another source": Edit(
            configured(toml(repo, source=capture("SRC-2") + capture("SRC-3"))),
            "",
            f"{MEMBERS} sources",
        ),
        "host": Edit(
            configured(toml(repo).replace("example/jotter", "example/notes")),
            "",
            f"{MEMBERS} sources cites coverage",
            files,
        ),
        "place of the checkout": Edit(
            configured(toml(repo).replace(repo.path.as_posix(), f"{repo.path.as_posix()}/.git")),
            "",
            data=False,
        ),
        "comment": Edit(configured("# A comment.\n" + toml(repo)), "", data=False),
        "older commit": Edit(
            configured(toml(older)),
            "",
            f"{MEMBERS} sources cites coverage list behind overview table",
            files,
        ),
        "capture": Edit(
            {"post.txt": LATER, **configured(toml(repo, source=capture("SRC-2", LATER)))},
            "",
            "runtime sources",
            (CAPTURE,),
        ),
        "capture without its digest": Edit(
            {"post.txt": LATER}, "", "runtime sources list behind overview table", (CAPTURE,)
        ),
        "whole files": Edit(
            {}, "", ALL, (*files, CAPTURE), data=False, settings={"memreport_source_pages": "full"}
        ),
        "no pages of files": Edit(
            {}, "", ALL, (*files, CAPTURE), data=False, settings={"memreport_source_pages": "none"}
        ),
        "severity": Edit(
            {}, "", "overview", settings={"memreport_severity": {"coverage-gap": "error"}}
        ),
        "theme option": Edit(
            {},
            "",
            ALL,
            (*files, CAPTURE),
            data=False,
            settings={"html_theme_options": {"color": "blue"}},
        ),
        "template": Edit(
            {"_themes/bare/layout.html": LAYOUT.replace("<body>", "<body>Here: ")},
            "",
            ALL,
            (*files, CAPTURE),
            data=False,
        ),
        "autolink": Edit({}, ALL, "", (), settings={"memreport_autolink": False}),
    }


def _edits_of_documents() -> dict[str, Edit]:
    return {
        "document added": Edit(
            {"jotter/added.md": "# Added\n\nSee MEM-CMP-search.\n"}, "added", "memory"
        ),
        "document with records added": Edit(
            {"jotter/added.md": "# Added\n\n:::{memclaim} MEM-CLM-fast — Fast\n:::\n"},
            "added",
            f"{VIEWS} overview",
        ),
        "document outside added": Edit({"added.md": "# Added\n"}, "/added", data=False),
        "document removed": Edit({"jotter/cites.md": None}, "", "memory supplied"),
        "document with records removed": Edit(
            {"jotter/runtime.md": None},
            "",
            f"{VIEWS} overview amended around epistemic coverage",
            (README, CAPTURE),
        ),
        "document outside removed": Edit({"outside.md": None}, "", "memory"),
        "register removed": Edit(
            {"jotter/sources.md": None}, "", f"{MEMBERS}", (RECALL, STORE, README, CAPTURE)
        ),
        "annotations removed": Edit({"jotter/epistemic.md": None}, "", "memory runtime table"),
        "amendments removed": Edit(
            {"jotter/amended.md": None}, "", "runtime list behind graph around table overview"
        ),
    }


# --- building ---------------------------------------------------------------------------------


class State(NamedTuple):
    """What a build left."""

    files: dict[str, str]
    problems: list[Problem]
    status: int


def state(built: Built, pages: Collection[str] | None = None) -> State:
    """All pages, the data, the problems.

    :param pages: of those that are no pages of quoted files, only these: Sphinx does not remove
        the pages of documents that are gone.
    """
    files = {
        path.relative_to(built.out).as_posix(): path.read_text("utf-8")
        for path in [*built.out.rglob("*.html"), built.out / "memreport.json"]
    }
    *_head, packed = (built.out / "objects.inv").read_bytes().split(b"\n", 4)
    files["objects.inv"] = "\n".join(sorted(zlib.decompress(packed).decode().splitlines()))
    kept = {
        name: text
        for name, text in files.items()
        if pages is None or name in pages or name.startswith("_memreport/")
    }
    return State(kept, built.details, built.status)


def quoted_pages(state: State) -> set[tuple[str, str]]:
    """The pages of quoted files, by name and content."""
    return {item for item in state.files.items() if item[0].startswith("_memreport/")}


def page_of(path: str) -> str:
    """The page of a quoted file, or of the capture."""
    return f"{source_page_name('jotter', 'SRC-1' if path else 'SRC-2', path)}.html"


def documents(names: str) -> set[str]:
    """The documents of an edit."""
    return {name[1:] if name.startswith("/") else f"jotter/{name}" for name in names.split()}


class Started(NamedTuple):
    """The site, built once, and what that left."""

    site: TinySite
    repo: PinnedRepo
    files: dict[str, str | bytes | None]
    first: State


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Started:
    folder = tmp_path_factory.mktemp("locality")
    repo = plain(folder / "jotter")
    site = TinySite(folder / "site")
    files = {**SITE, "memreport.toml": toml(repo)}
    built = site.build(files)
    assert built.problems == [("coverage-gap", "jotter/coverage", 7)]
    assert built.broken_links() == []
    return Started(site, repo, files, state(built))


@pytest.mark.parametrize("name", edits(PinnedRepo(Path(), ("", ""))))
def test_an_edit_reads_and_writes_what_shows_something_of_it(started: Started, name: str) -> None:
    site, first = started.site, started.first
    edit = edits(started.repo)[name]
    built = site.build(edit.files, **edit.settings)
    clean = site.build(cache="clean", **edit.settings)
    expected = state(clean)
    shutil.rmtree(clean.out.parent)
    found = state(built, expected.files)
    assert found == expected

    read, written = set(built.read) - {"index"}, set(built.written) - {"index"}
    assert read == documents(edit.read) & built.env.all_docs.keys()
    assert written == read | documents(edit.also)
    changed = {file for file, _text in quoted_pages(found) ^ quoted_pages(first)}
    assert changed == {page_of(path) for path in edit.quoted}
    data = "memreport.json"
    assert (found.files[data] != first.files[data]) is edit.data

    site.write(dict.fromkeys(edit.files.keys() - started.files.keys()))
    back = site.build({file: started.files[file] for file in edit.files if file in started.files})
    assert state(back, first.files) == first
