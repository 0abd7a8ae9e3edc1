"""``memrecords``, ``memevidence``, ``memoverview``, ``memgraph`` and the indices (section 3.10)."""

from __future__ import annotations

import re
import shutil
import stat
from pathlib import Path
from xml.etree import ElementTree

import pytest
from bs4 import BeautifulSoup, Tag
from pinned_repo import PinnedRepo
from sitebuilder import Built, TinySite, report_toml

from sphinx_memreport.core.graph import MAX_NODES

ROUTE_FIELDS = "".join(
    f":{name}: Something.\n"
    for name in (
        *("immediate-return", "later-readback", "delegated-visibility", "selection"),
        *("invalidation", "activation", "evidence-limits"),
    )
)
QUOTE = "```{{evidence}} SRC-1 {}\n{}\n```\n"
RANKED = QUOTE.format("src/jotter/recall.py", "return [note for _, note in scored[:limit]]")
SAVED = QUOTE.format("src/jotter/store.py", "self.notes.append(note)")
STALE = QUOTE.format("src/jotter/store.py", "nothing that is there")
MEMORY = f"""\
# Memory

```{{memmember}} memory
```

::::{{memobject}} MEM-OBJ-note — Stored *note*
:tags: x

{SAVED}
::::

::::{{memroute}} MEM-RTE-recall — Recall
:part-of: MEM-CMP-store
:implementation: wired
:operation: uninspected
{ROUTE_FIELDS}
Reads MEM-OBJ-note.

{SAVED}{RANKED}
::::

::::{{memcomponent}} MEM-CMP-store — Store
See RT-RTE-answer.
::::

```{{memsupplied}}
RT-RTE-answer: Answer
```
"""
EPISTEMIC = f"""\
# Epistemic

```{{memmember}} epistemic
```

::::{{memclaim}} EPI-CLM-fast — It is fast
:operation: wired

About MEM-RTE-recall.

{SAVED}
::::
"""
FILES: dict[str, str | bytes | None] = {"memory.md": MEMORY, "epistemic.md": EPISTEMIC}
needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")


def view(directive: str, *options: str) -> dict[str, str | bytes | None]:
    """The records and a document with a view at line 3."""
    lines = "".join(f"{option}\n" for option in options)
    return {**FILES, "view.md": f"# View\n\n```{{{directive}}}\n{lines}```\n"}


def table(built: Built, name: str) -> list[str]:
    """The rows of a table of the view, as text."""
    rows = built.soup("view").select(f".memreport-scroll table.memreport-{name} tr")
    return [" ".join(row.get_text(" ").split()) for row in rows]


def rewritten(built: Built) -> list[str]:
    """What was written besides the index, which has the table of contents."""
    return [name for name in built.written if name != "index"]


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


# --- memrecords -------------------------------------------------------------------------------


def test_list_of_records(site: TinySite) -> None:
    built = site.build(view("memrecords"))
    assert built.problems == []
    assert table(built, "records") == [
        "ID Label Kind Member Status Verified quotes Page",
        "EPI-CLM-fast It is fast Claim epistemic 1/1 Epistemic",
        "MEM-OBJ-note Stored note Operative object memory 1/1 Memory",
        "MEM-RTE-recall Recall Route memory Implementation: wired Operation: uninspected 2/2 "
        "Memory",
        "MEM-CMP-store Store Component memory 0/0 Memory",
    ]
    links = {link.get_text(): link["href"] for link in built.soup("view").select("td a")}
    assert links["MEM-RTE-recall"] == links["Recall"] == "memory.html#mem-rte-recall"
    assert links["Epistemic"] == "epistemic.html"


@pytest.mark.parametrize(
    ("options", "ids"),
    [
        ([":kind: route, CMP"], ["MEM-RTE-recall", "MEM-CMP-store"]),
        ([":member: epistemic"], ["EPI-CLM-fast"]),
        ([":status: uninspected, observed"], ["MEM-RTE-recall"]),
        ([":status: wired", ":kind: claim"], []),  # the operation of a claim is prose
        ([":report: jotter", ":kind: object"], ["MEM-OBJ-note"]),
    ],
)
def test_chosen_records(site: TinySite, options: list[str], ids: list[str]) -> None:
    built = site.build(view("memrecords", *options))
    assert built.problems == []
    assert [row.split()[0] for row in table(built, "records")[1:]] == ids
    assert ("No record" in built.text("view")) == (not ids)


@pytest.mark.parametrize(
    ("directive", "options", "code", "fix"),
    [
        ("memrecords", [":kind: rout"], "invalid-value", "did you mean 'route'?"),
        ("memrecords", [":member: memry"], "invalid-value", "did you mean 'memory'?"),
        ("memrecords", [":status: observd"], "invalid-value", "did you mean 'observed'?"),
        ("memrecords", [":report: joter"], "invalid-value", "did you mean jotter?"),
        ("memsources", [":report: joter"], "invalid-value", "did you mean jotter?"),
        ("memrecords", [":kinds: route"], "swallowed-text", None),
        ("memrecords", ["", "Some text."], "swallowed-text", None),
        ("memevidence jotter", [], "swallowed-text", None),
        ("memoverview", [":report: joter"], "invalid-value", "did you mean jotter?"),
        ("memgraph", [":around: MEM-RTE-recal"], "dangling-id", "did you mean MEM-RTE-recall?"),
        ("memgraph", [":around: MEM-RTE-recall, MEM-OBJ-note"], "invalid-value", None),
        ("memgraph", [":around: MEM-RTE-recall", ":depth: far"], "invalid-value", None),
        ("memgraph", [":depth: 2"], "invalid-value", None),
    ],
)
def test_options(
    site: TinySite, directive: str, options: list[str], code: str, fix: str | None
) -> None:
    name, _, argument = directive.partition(" ")
    text = view(name, *options)
    text["view.md"] = str(text["view.md"]).replace(f"{{{name}}}", f"{{{name}}} {argument}")
    built = site.build(text, builder="dummy")
    assert built.problems == [(code, "view", 3)], built.warnings
    assert fix is None or built.details[0].fix == fix


def test_outside_a_report_all_are_listed(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    site = TinySite(tmp_path / "site")
    site.write({"memreport.toml": "".join(report_toml(pinned_repo, s, directory=s) for s in "ab")})
    record = ":::{memobject} MEM-OBJ-note — Note\n:::\n"
    built = site.build(
        {
            "a/r.md": f"# A\n\n{record}",
            "b/r.md": f"# B\n\n{record}",
            "view.md": "# View\n\n```{memrecords}\n```\n",
        }
    )
    assert table(built, "records")[1:] == [
        "A MEM-OBJ-note Note Operative object 0/0 A",
        "B MEM-OBJ-note Note Operative object 0/0 B",
    ]
    links = [link["href"] for link in built.soup("view").select("td a")]
    assert links[0] == "a/r.html#mem-obj-note"
    assert links[3] == "b/r.html#mem-obj-note"


def test_list_is_rewritten_exactly_when_it_changes(site: TinySite) -> None:
    site.build(view("memrecords", ":kind: object"))
    assert site.build().written == []
    assert rewritten(site.build({"epistemic.md": EPISTEMIC.replace("About", "On")})) == [
        "epistemic"
    ]
    longer = MEMORY.replace("Reads MEM", "It reads MEM")
    assert rewritten(site.build({"memory.md": longer})) == ["memory"]
    relabelled = MEMORY.replace("Stored *note*", "Saved note")
    assert rewritten(site.build({"memory.md": relabelled})) == ["memory", "view"]
    stale = relabelled.replace("self.notes.append(note)", "self.notes.extend(note)", 1)
    built = site.build({"memory.md": stale})
    assert rewritten(built) == ["memory", "view"]
    assert table(built, "records")[1:] == [
        "MEM-OBJ-note Saved note Operative object memory 0/1 Memory"
    ]


# --- memevidence ------------------------------------------------------------------------------


def test_coverage_of_evidence(site: TinySite) -> None:
    built = site.build(
        {
            **view("memevidence"),
            "more.md": "# More\n\n"
            ":::{memobject} MEM-OBJ-path\nSee {memsrc}`src/jotter`.\n:::\n\n"
            "::::{memobject} MEM-OBJ-covered\n::::\n\n"
            f"::::{{memobject}} MEM-OBJ-stale\n{STALE}::::\n\n"
            "::::{memabsence} MEM-ABS-expiry\n:pattern: expire\n:searched: src/**\n::::\n\n"
            "::::{memabsence} MEM-ABS-class\n:pattern: class\n:searched: src/**\n::::\n\n"
            "```{memcoverage}\n- entry: A\n  direct: [bin/jot]\n"
            "  records: [MEM-OBJ-covered]\n```\n",
        }
    )
    assert [code for code, _, _ in built.problems] == ["stale-quote", "refuted-absence"]
    assert table(built, "standing") == [
        "ID Label Rests on Verified quotes Which",
        "MEM-CMP-store Store nothing 0/0",
        "MEM-OBJ-path only a path 0/0 src/jotter",
        "MEM-OBJ-covered only a path 0/0 bin/jot",
        "MEM-OBJ-stale unverified quotes only 0/1",
        "MEM-ABS-class a refuted search 0/0",
        "EPI-CLM-fast It is fast one shared quote 1/1 shared with MEM-OBJ-note , MEM-RTE-recall",
        "MEM-OBJ-note Stored note one shared quote 1/1 shared with EPI-CLM-fast , MEM-RTE-recall",
        "MEM-ABS-expiry a search 0/0",
        "MEM-RTE-recall Recall verified quotes 2/2",
    ]
    assert (
        "9 records, by what they rest on. Nothing: 1; only a path: 2; unverified quotes only: 1; "
        "a refuted search: 1; one shared quote: 2; a search: 1; verified quotes: 1."
    ) in built.text("view")


def test_coverage_of_evidence_is_rewritten_when_a_quote_is_shared_no_more(site: TinySite) -> None:
    site.build(view("memevidence", ":kind: claim"))
    changed = MEMORY.replace(SAVED, RANKED)
    built = site.build({"memory.md": changed})
    assert rewritten(built) == ["memory", "view"]
    assert table(built, "standing")[1:] == ["EPI-CLM-fast It is fast verified quotes 1/1"]


def test_two_sentences_on_one_line_are_two_quotes(site: TinySite) -> None:
    claim = ":::{{memclaim}} MEM-CLM-{} — A\n```{{evidence}} src/jotter/store.py\n{}\n```\n:::\n\n"
    parts = {"one": "self.notes", "two": ".append(note)", "three": "self.notes.append(note)"}
    text = "".join(claim.format(name, quote) for name, quote in parts.items())
    again = claim.format("again", "self.notes.append( note)").replace("( ", "(")
    built = site.build(
        {
            "claims.md": f"# C\n\n{text}{again}",
            "view.md": "# View\n\n```{memevidence}\n```\n",
        }
    )
    shared = [row for row in table(built, "standing") if "shared" in row]
    assert shared == [
        "MEM-CLM-three A one shared quote 1/1 shared with MEM-CLM-again",
        "MEM-CLM-again A one shared quote 1/1 shared with MEM-CLM-three",
    ]


# --- memoverview ------------------------------------------------------------------------------

COVERAGE = "```{memcoverage}\n- entry: A\n  direct: [bin/jot]\n  records: [MEM-RTE-recall]\n```\n"


def overview_fields(built: Built) -> dict[str, str]:
    """The fields below the table, by name."""
    fields = built.soup("view").select_one(".memreport-overview-fields dl")
    assert fields is not None
    texts = [" ".join(part.get_text().split()) for part in fields.find_all(["dt", "dd"])]
    return dict(zip(texts[::2], texts[1::2], strict=True))


def test_overview(site: TinySite) -> None:
    built = site.build({**view("memoverview"), "coverage.md": f"# Coverage\n\n{COVERAGE}"})
    assert built.problems == []
    assert table(built, "overview") == [
        "Kind memory epistemic Total",
        "Components 1 – 1",
        "Operative objects 1 – 1",
        "Routes 1 – 1",
        "Claims – 1 1",
        "Total 3 1 4",
    ]
    assert overview_fields(built) == {
        "Quotes:": "4 of 4 verified",
        "In no coverage table:": "Stored note, Store",
    }
    indices = built.soup("view").select(".memreport-indices a")
    assert [link["href"] for link in indices] == ["mem-records.html", "mem-reports.html"]


def test_overview_without_coverage_and_with_problems(site: TinySite) -> None:
    broken = MEMORY.replace("See RT-RTE-answer", "See RT-RTE-answr")
    built = site.build({**view("memoverview"), "memory.md": broken, "stale.md": f"# S\n\n{STALE}"})
    assert len(built.problems) == 2
    assert overview_fields(built) == {
        "Quotes:": "4 of 5 verified",
        "Problems:": "2 errors on Memory, S",
    }
    mended = site.build({"memory.md": MEMORY})
    assert "view" in mended.written
    assert overview_fields(mended)["Problems:"] == "1 error on S"


def test_overview_is_rewritten_exactly_when_it_changes(site: TinySite) -> None:
    site.build(view("memoverview"))
    assert rewritten(site.build({"epistemic.md": EPISTEMIC.replace("About", "On")})) == [
        "epistemic"
    ]
    more = f"{EPISTEMIC}\n:::{{memclaim}} EPI-CLM-more\n:::\n"
    assert rewritten(site.build({"epistemic.md": more})) == ["epistemic", "view"]


# --- indices and search -----------------------------------------------------------------------


def index_of(built: Built, name: str) -> dict[str, list[tuple[str, str]]]:
    """Text and address of the entries of an index, by heading."""
    found: dict[str, list[tuple[str, str]]] = {}
    heading = ""
    for row in built.soup(name).select("table.indextable tr"):
        text = " ".join(row.get_text(" ").split())
        if "cap" in row.get("class", []):
            heading = text
        elif row.a:
            found.setdefault(heading, []).append((text, str(row.a["href"])))
    return found


def test_indices(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    site = TinySite(tmp_path / "site")
    toml = "".join(report_toml(pinned_repo, s, directory=s) for s in ("a", "b"))
    hostile = "<script>alert(1)</script>"
    site.write({"memreport.toml": toml.replace('system = "A"', f'system = "{hostile}"')})
    built = site.build(
        {
            "a/r.md": f"# A\n\n:::{{memobject}} MEM-OBJ-note — `{hostile}`\n:::\n",
            "b/r.md": "# B\n\n:::{memobject} MEM-OBJ-note — Note\n:::\n"
            ":::{memabsence} MEM-ABS-expiry — No expiry\n:::\n",
            "view.md": "# View\n\n{ref}`mem-records`, {ref}`other <mem-reports>`\n",
        }
    )
    assert built.problems == []
    assert index_of(built, "mem-records") == {
        "Operative objects": [
            (f"MEM-OBJ-note ({hostile}) {hostile}", "a/r.html#mem-obj-note"),
            ("MEM-OBJ-note (B) Note", "b/r.html#mem-obj-note"),
        ],
        "Evidenced absences": [("MEM-ABS-expiry (B) No expiry", "b/r.html#mem-abs-expiry")],
    }
    assert index_of(built, "mem-reports") == {
        "a": [(f"MEM-OBJ-note (Operative object) {hostile}", "a/r.html#mem-obj-note")],
        "b": [
            ("MEM-ABS-expiry (Evidenced absence) No expiry", "b/r.html#mem-abs-expiry"),
            ("MEM-OBJ-note (Operative object) Note", "b/r.html#mem-obj-note"),
        ],
    }
    links = {link.get_text(): link["href"] for link in built.soup("view").select("p a.reference")}
    assert links["Records by kind"] == "mem-records.html"
    assert links["other"] == "mem-reports.html"
    assert built.broken_links() == []
    for name in ("mem-records", "mem-reports"):
        assert hostile not in built.page(name)


def test_indices_can_be_left_out(site: TinySite) -> None:
    built = site.build(view("memoverview"), html_domain_indices=["mem-reports"])
    indices = built.soup("view").select(".memreport-indices a")
    assert [link["href"] for link in indices] == ["mem-reports.html"]
    assert not (built.out / "mem-records.html").exists()


# --- memgraph ---------------------------------------------------------------------------------


def drawing(built: Built) -> Tag:
    """The drawing of the view, which must be well-formed XML."""
    found = re.search(r"<svg.*</svg>", built.page("view"), re.DOTALL)
    assert found is not None
    ElementTree.fromstring(found[0])
    svg = BeautifulSoup(found[0], "html.parser").svg
    assert svg is not None
    return svg


def edges(svg: Tag) -> list[str]:
    return sorted(edge.title.get_text() for edge in svg.select(".memreport-edge") if edge.title)


@needs_dot
def test_graph(site: TinySite) -> None:
    built = site.build(view("memgraph"))
    assert built.problems == []
    svg = drawing(built)
    links = {node["href"]: node.get_text(" ") for node in svg.select("a.memreport-node")}
    assert links == {
        "epistemic.html#epi-clm-fast": "EPI-CLM-fast (Claim) It is fast EPI-CLM-fast",
        "memory.html#mem-cmp-store": "MEM-CMP-store (Component) Store MEM-CMP-store",
        "memory.html#mem-obj-note": "MEM-OBJ-note (Operative object) Stored note MEM-OBJ-note",
        "memory.html#mem-rte-recall": "MEM-RTE-recall (Route) Recall MEM-RTE-recall",
        "memory.html#rt-rte-answer": "RT-RTE-answer (declared outside this site) Answer "
        "RT-RTE-answer",
    }
    assert edges(svg) == [
        "EPI-CLM-fast cites MEM-RTE-recall",
        "MEM-CMP-store cites RT-RTE-answer",
        "MEM-RTE-recall cites MEM-OBJ-note",
        "MEM-RTE-recall part of MEM-CMP-store",
    ]
    assert "Solid arrows: part of; dashed arrows: cites." in built.text("view")
    # colours follow the page around
    assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', str(svg))) == {"none", "currentColor"}
    assert built.broken_links() == []
    assert drawing(site.build(fresh=True)) == svg


@needs_dot
def test_a_wide_drawing_is_turned(site: TinySite) -> None:
    # 60 records on two levels: side by side they would be wider than ten screens
    cards = [f":::{{memobject}} MEM-OBJ-n{n}\nSee MEM-OBJ-n0.\n:::\n" for n in range(1, 60)]
    text = "# Many\n\n:::{memobject} MEM-OBJ-n0\n:::\n" + "\n".join(cards)
    svg = drawing(site.build({"many.md": text, "view.md": "# View\n\n```{memgraph}\n```\n"}))
    width, height = (float(str(svg[name]).removesuffix("pt")) for name in ("width", "height"))
    assert len(svg.select("a.memreport-node")) == 60
    assert width < 600 < height


@needs_dot
def test_around_a_record(site: TinySite) -> None:
    near = drawing(site.build(view("memgraph", ":around: MEM-RTE-recall")))
    assert len(near.select("a.memreport-node")) == 4
    middle = near.select("a.memreport-node-around")
    assert [node["href"] for node in middle] == ["memory.html#mem-rte-recall"]
    far = drawing(site.build(view("memgraph", ":around: MEM-RTE-recall", ":depth: 2")))
    assert len(far.select("a.memreport-node")) == 5
    kinds = view("memgraph", ":around: MEM-RTE-recall", ":depth: 2", ":kind: object")
    assert len(drawing(site.build(kinds)).select("a.memreport-node")) == 2


@needs_dot
def test_hostile_labels(site: TinySite) -> None:
    label = r'x"]; y [URL="javascript:1"] <script>alert(1)</script> \N &lt;b&gt; & "'
    text = f"# M\n\n:::{{memobject}} MEM-OBJ-note — `{label}`\n:::\n"
    built = site.build({"m.md": text, "view.md": "# View\n\n```{memgraph}\n```\n"})
    svg = drawing(built)
    assert len(svg.select("a.memreport-node")) == 1
    assert not svg.find_all("script")
    assert {tag.name for tag in svg.find_all()} == {"title", "g", "a", "polygon", "text"}
    text_lines = " ".join(text.get_text() for text in svg.find_all("text"))
    assert text_lines.startswith('x"]; y [URL="javascript:1"] <sc ript>alert(1)</script>')


def program(path: Path, body: str) -> str:
    """An executable in the place of Graphviz."""
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


LISTED = [
    "It is fast EPI-CLM-fast cites: Recall",
    "Store MEM-CMP-store cites: Answer",
    "Stored note MEM-OBJ-note",
    "Recall MEM-RTE-recall part of: Store cites: Stored note",
    "Answer RT-RTE-answer",
]


@pytest.mark.parametrize(
    "output",
    [
        None,
        "exit 3",
        "echo no svg",
        """cat <<'E'
<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 1 1">
<g transform="url(javascript:alert)"><g class="node"><title>n0</title></g></g></svg>
E""",
    ],
)
def test_list_instead_of_a_drawing(site: TinySite, output: str | None) -> None:
    dot = "/nonexistent/dot" if output is None else program(site.root / "dot", output)
    built = site.build(view("memgraph"), graphviz_dot=dot)
    assert built.problems == []
    assert "Traceback" not in built.warnings
    assert "<svg" not in built.page("view")
    items = built.soup("view").select("ul.memreport-graph-list > li")
    assert [" ".join(item.get_text().split()) for item in items] == LISTED
    links = {link.get_text(): link["href"] for link in items[3].select("a")}
    assert links["Store"] == "memory.html#mem-cmp-store"


def test_only_geometry_is_taken_from_the_drawing(site: TinySite) -> None:
    output = """cat <<'E'
<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1" viewBox="0 0 1 1" onload="alert(1)">
<script>alert(1)</script>
<g class="graph"><g class="node"><title>n0</title>
<a href="javascript:alert(1)"><polygon points="0,0 1,1" onclick="alert(1)"/></a>
<polygon points="0,0 1,1" onclick="alert(1)" style="x"/><image href="x"/><text x="1">a</text>
</g><g class="node"><title>n99</title></g><g class="edge"><title>n0->n4</title></g></g></svg>
E"""
    built = site.build(view("memgraph"), graphviz_dot=program(site.root / "dot", output))
    svg = str(drawing(built))
    assert "alert" not in svg
    assert "image" not in svg
    assert "style" not in svg
    assert svg.count("<a ") == 1


def test_other_builders_get_the_list(site: TinySite) -> None:
    built = site.build(view("memgraph"), builder="text")
    text = (built.out / "view.txt").read_text(encoding="utf-8")
    assert "part of: Store" in text


def many(number: int) -> str:
    """A route and records that each cite the one before."""
    cards = ["# Many\n", ":::{memobject} MEM-OBJ-n0\n:::\n"]
    for index in range(1, number):
        cards.append(f":::{{memobject}} MEM-OBJ-n{index}\nAfter MEM-OBJ-n{index // 8}.\n:::\n")
    return "\n".join(cards)


def test_large_graph_is_listed_and_says_so(site: TinySite) -> None:
    site.write({"many.md": many(MAX_NODES + 1), "view.md": "# View\n\n```{memgraph}\n```\n"})
    built = site.build()
    assert "<svg" not in built.page("view")
    assert f"These {MAX_NODES + 1} records with 60 relations are more than" in built.text("view")
    assert len(built.soup("view").select("ul.memreport-graph-list > li")) == MAX_NODES + 1


@needs_dot
def test_large_neighbourhood_is_walked_less_far(site: TinySite) -> None:
    text = "# View\n\n```{memgraph}\n:around: MEM-OBJ-n0\n:depth: 3\n```\n"
    built = site.build({"many.md": many(80), "view.md": text})
    assert "up to 1 step away; 3 steps would reach 80" in built.text("view")
    assert len(drawing(built).select("a.memreport-node")) == 8


def test_graph_is_rewritten_exactly_when_it_changes(site: TinySite) -> None:
    site.build(view("memgraph", ":around: MEM-OBJ-note"), graphviz_dot="/nonexistent/dot")

    def build(**files: str) -> list[str]:
        texts: dict[str, str | bytes | None] = {f"{name}.md": text for name, text in files.items()}
        return rewritten(site.build(texts, graphviz_dot="/nonexistent/dot"))

    assert build(epistemic=EPISTEMIC.replace("About", "On")) == ["epistemic"]
    cites = EPISTEMIC.replace("About MEM-RTE-recall", "About MEM-OBJ-note")
    assert build(epistemic=cites) == ["epistemic", "memory", "view"]
