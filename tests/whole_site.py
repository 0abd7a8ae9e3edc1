"""One site that has everything a page can show, and what a build leaves of it."""

from __future__ import annotations

import shutil
import zlib
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

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
#: A theme without what Sphinx itself shows a page, such as the title of the next one.
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


DATA = "memreport.json"


class State(NamedTuple):
    """What a build left: all pages, the data, the inventory, the problems."""

    files: dict[str, str]
    problems: list[Problem]
    status: int

    def without_pages_of_the_past(self, other: State) -> State:
        """Without pages that another state does not have: Sphinx leaves those of documents.

        Pages of quoted files are ours to remove.
        """
        kept = {
            name: text
            for name, text in self.files.items()
            if name in other.files or name.startswith("_memreport/")
        }
        return self._replace(files=kept)


def state(built: Built) -> State:
    """The state after a build."""
    pages = [*built.out.rglob("*.html"), built.out / DATA]
    files = {path.relative_to(built.out).as_posix(): path.read_text("utf-8") for path in pages}
    *_head, packed = (built.out / "objects.inv").read_bytes().split(b"\n", 4)
    files["objects.inv"] = "\n".join(sorted(zlib.decompress(packed).decode().splitlines()))
    return State(files, built.details, built.status)


def page_of(path: str) -> str:
    """The page of a quoted file, or of the capture."""
    return f"{source_page_name('jotter', 'SRC-1' if path else 'SRC-2', path)}.html"


class WholeSite:
    """The site after its first build, to which it can be brought back."""

    def __init__(self, folder: Path) -> None:
        self.repo = plain(folder / "jotter")
        self.site = TinySite(folder / "site")
        self.files = {**SITE, "memreport.toml": toml(self.repo)}
        built = self.site.build(self.files)
        assert built.problems == [("coverage-gap", "jotter/coverage", 7)]
        assert built.broken_links() == []
        self.first = state(built)
        shutil.copytree(self.site.source, folder / "source")
        shutil.copytree(self.site.root / "cache", folder / "cache")

    def restore(self) -> None:
        """Bring back all files, with their times."""
        for name in ("source", "cache"):
            shutil.rmtree(self.site.root / name)
            shutil.copytree(self.site.root.parent / name, self.site.root / name)

    def clean(self, **settings: Any) -> State:
        """What a build from nothing leaves."""
        built = self.site.build(cache="clean", **settings)
        found = state(built)
        shutil.rmtree(built.out.parent)
        return found
