"""Other formats than HTML pages: text, LaTeX, EPUB and a single page keep every word and link."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from pinned_repo import plain as plain_repository
from sitebuilder import TinySite, broken_links

FILES: dict[str, str | bytes | None] = {
    "memory.md": """\
# Memory

```{memmember} memory
```

::::{memobject} MEM-OBJ-note — Stored *note* & 100 % of it
:identity: The class `Note_1` of {memsrc}`src/jotter/store.py`.
:form: natural-language, symbolic
:tags: silent-loss

Text with `code_in_it`, a list and MEM-RTE-recall.

- first thing
- second thing

```{evidence} SRC-1 src/jotter/store.py
:caption: What is kept.

self.notes.append(note)
```

```{evidence} SRC-1 src/jotter/store.py
nothing_of_the_kind
```
::::

:::::{memroute} MEM-RTE-recall — Recall
:part-of: MEM-CMP-store
:implementation: wired
:operation: causally supported
:guarantee: best effort
:counterpart: RT-RTE-answer
:immediate-return: The ranked notes.
:later-readback: Notes reach the next prompt.
:delegated-visibility: inapplicable — nothing is delegated.
:selection: Cosine similarity.
:invalidation: uninspected — no expiry was searched for.
:activation: Placed in the prompt.
:evidence-limits: Static reading of SRC-1.

```{evidence} SRC-1 src/jotter/recall.py
scored.sort(key=lambda pair: pair[0], reverse=True)
return [note for _, note in scored[:limit]]
```
:::::

:::{memcomponent} MEM-CMP-store — Store
:parameters-change: no
:::

:::{memabsence} MEM-ABS-expiry — No expiry
:pattern: expi(re|ry)
:regex:
:searched: src/**, docs/**
:conclusion: Notes stay.
:::

:::{memclaim} MEM-CLM-fast — It is fast
:operation: Claimed by the README.
:source: SRC-1
:::

```{memsupplied}
:member: runtime

RT-RTE-answer: Answer route
RT-OBJ-cache: Cache
```
""",
    "epistemic.md": """\
# Epistemic

```{memmember} epistemic
```

:::{memauthority} EPI-BAP-notes — Notes in the prompt
:consumer: The model.
:channel: The prompt.
:force: Knowledge.
:horizon: One answer.

About {mem}`what is kept <MEM-OBJ-note>`.
:::

:::{memannotation} MEM-RTE-recall
:operation: observed
:activation: Changes the answer.

Seen from here.
:::
""",
    "reconciliation.md": """\
# Reconciliation

```{memmember} reconciliation
```

:::{memamendment} RT-OBJ-cache
:superseded-by: MEM-OBJ-note, MEM-CMP-store

They are one thing.
:::
""",
    "views.md": """\
# Views

```{memrecords}
```

```{memevidence}
```

```{memoverview}
```

```{memgraph}
```

```{memcoverage}
- entry: Recall
  direct: [src/jotter/recall.py]
  supplied: [runtime]
  records: [MEM-RTE-recall]
  prevents: Saying more.
```

```{memprofile}
write_agency:
  assessment: known
  findings:
    - value: automatic
      basis: wired
      records: [MEM-RTE-recall]
      note: On each save.
```

```{memcomparison}
:axes: write_agency, lineage
```
""",
}
DOCUMENTS = [name.removesuffix(".md") for name in FILES]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> TinySite:
    root = tmp_path_factory.mktemp("formats")
    site = TinySite(root / "site", plain_repository(root / "repo"))
    site.write(FILES)
    return site


@pytest.fixture(scope="module")
def blocks(site: TinySite) -> dict[str, dict[str, set[str]]]:
    """The words of each part of ours on the HTML pages, by document and part."""
    built = site.build()
    assert [code for code, _, _ in built.problems] == ["stale-quote"], built.warnings
    found = {docname: words_of_blocks(built.soup(docname)) for docname in DOCUMENTS}
    assert len(found["memory"]) == 10
    assert "verified" in found["memory"]["mem-rte-recall"]
    return found


def words(text: str) -> set[str]:
    return set(re.findall(r"[^\W_]+", text))


def words_of_blocks(page: BeautifulSoup | Tag) -> dict[str, set[str]]:
    # the indices are pages of HTML alone
    for part in page.select(".headerlink, .linenos, .memreport-indices, svg"):
        part.decompose()
    parts = page.select(
        "dl.memreport-record, dl.memreport-supplied-list > dt, dl.memreport-supplied-list > dd, "
        "dl.memreport-header, .memreport-scroll table"
    )
    return {
        str((part.find(id=True) or part).get("id") or f"{part.name} {number}"): words(
            part.get_text(" ")
        )
        for number, part in enumerate(parts)
    }


def lost(blocks: dict[str, set[str]], kept: set[str]) -> dict[str, set[str]]:
    return {name: words - kept for name, words in blocks.items() if words - kept}


@pytest.mark.parametrize("docname", DOCUMENTS)
def test_text_keeps_every_word(
    site: TinySite, blocks: dict[str, dict[str, set[str]]], docname: str
) -> None:
    built = site.build(builder="text")
    kept = words((built.out / f"{docname}.txt").read_text(encoding="utf-8"))
    assert lost(blocks[docname], kept) == {}


# --- tables in tables -----------------------------------------------------------------------

_TABLES = ("memrecords", "memevidence", "memoverview", "memsources", "memprofile", "memcoverage")
_CELL = {
    "memprofile": "write_agency:\n  assessment: absent\n",
    "memcoverage": "- entry: Recall\n  records: [MEM-RTE-recall]\n",
}


def in_cells(*directives: str) -> str:
    """A document with views in the cells of a table."""
    cells = "".join(
        f"* - A{name}\n  - ```{{{name}}}\n"
        + "".join(f"    {line}\n" for line in _CELL.get(name, "").splitlines())
        + "    ```\n"
        for name in directives
    )
    return f"# Cells\n\n````{{list-table}}\n{cells}````\n"


@pytest.fixture(scope="module")
def cells(site: TinySite, tmp_path_factory: pytest.TempPathFactory) -> TinySite:
    """A site with a page of its own, whose views stand in the cells of a table."""
    cells = TinySite(tmp_path_factory.mktemp("cells"))
    cells.write({name: text for name, text in FILES.items() if name != "views.md"})
    toml = (site.source / "memreport.toml").read_bytes()
    cells.write({"memreport.toml": toml, "cells.md": in_cells(*_TABLES)})
    return cells


@pytest.mark.parametrize("builder", ["text", "man", "latex", "texinfo", "epub", "singlehtml"])
def test_a_table_in_a_table_keeps_every_word(cells: TinySite, builder: str) -> None:
    rows = cells.build().soup("cells").select(".memreport-scroll tbody tr")
    assert len({row.find_parent("table") for row in rows}) == 5
    settings = {"project": "Report", "man_pages": [("cells", "cells", "Cells", "Nobody", "1")]}
    built = cells.build(builder=builder, **settings)
    assert [problem for problem in built.problems if problem[1] == "cells"] == []
    if builder in ("text", "man"):  # these know no table in a table
        (page,) = built.out.glob("cells.*")
        kept = words(re.sub(r"\\[&f]?[BIP]?", "", page.read_text("utf-8")))
        assert words(" ".join(row.get_text(" ") for row in rows)) - kept == set()
        assert {"Label", "Verified", "Entry", "Records"} <= kept  # titles of columns


# --- LaTeX ----------------------------------------------------------------------------------

_PYGMENTS = {
    **{"us": "_", "ob": "{", "cb": "}", "bs": "\\", "hy": "-", "sq": "'", "dq": '"', "lt": "<"},
    **{"gt": ">", "sh": "#", "am": "&", "pc": "%", "dl": "$", "ca": "^", "ti": "~", "at": "@"},
}


def plain(latex: str) -> str:
    """The text of a LaTeX document's body, without what is not shown."""
    text = latex[latex.index(r"\begin{document}") :]
    text = re.sub(r"\\PYGZ(\w\w)\{\}", lambda match: _PYGMENTS[match[1]], text)
    text = re.sub(r"\\PYG\{[^}]*\}", "", text)
    text = re.sub(r"\\sphinx(hyphen|dash)\{\}", "-", text)
    # targets, addresses and environments, then the names of commands
    text = re.sub(r"\\(?:label|detokenize|begin|end)\{[^{}]*\}", "", text)
    text = re.sub(r"\\sphinxhref\{[^{}]*\}", "", text)
    text = re.sub(r"\\hyperref\[[^\]]*\]", "", text)
    return re.sub(r"\\[A-Za-z]+\*?", " ", text).replace("\\", "")


@pytest.fixture(scope="module")
def latex(site: TinySite) -> Path:
    documents = [(name, f"{name}.tex", "Report", "Nobody", "howto") for name in DOCUMENTS]
    return site.build(builder="latex", latex_documents=documents).out


@pytest.mark.parametrize("docname", DOCUMENTS)
def test_latex_keeps_every_word(
    latex: Path, blocks: dict[str, dict[str, set[str]]], docname: str
) -> None:
    kept = words(plain((latex / f"{docname}.tex").read_text(encoding="utf-8")))
    assert lost(blocks[docname], kept) == {}


def test_every_link_of_a_latex_document_has_a_target_in_one_of_them(
    site: TinySite,
) -> None:
    whole = [("index", "all.tex", "Report", "Nobody", "howto")]
    text = (site.build(builder="latex", latex_documents=whole).out / "all.tex").read_text("utf-8")
    links = set(re.findall(r"\\hyperref\[\\detokenize\{([^}]*)\}\]", text))
    targets = set(re.findall(r"\\label\{\\detokenize\{([^}]*)\}\}", text))
    assert any(link.endswith(":src-1") for link in links)
    assert links - targets == set()


# --- one file -------------------------------------------------------------------------------


def test_epub_keeps_every_word(site: TinySite, blocks: dict[str, dict[str, set[str]]]) -> None:
    built = site.build(builder="epub", project="Report")
    (book,) = built.out.glob("*.epub")
    with zipfile.ZipFile(book) as archive:
        for docname in DOCUMENTS:
            page = BeautifulSoup(archive.read(f"{docname}.xhtml"), "html.parser")
            assert lost(blocks[docname], words(page.get_text(" "))) == {}


def test_a_single_page_keeps_every_word_and_its_links_land(
    site: TinySite, blocks: dict[str, dict[str, set[str]]]
) -> None:
    built = site.build(builder="singlehtml")
    page = built.soup("index")
    for docname in DOCUMENTS:
        assert lost(blocks[docname], words(page.get_text(" "))) == {}
    assert broken_links(built.out) == []
    hrefs = [str(link["href"]) for link in page.select(".memreport-record a, td a, svg a")]
    assert any(href.endswith(":mem-obj-note") for href in hrefs)
    assert [href for href in hrefs if href.count("#") > 1] == []
