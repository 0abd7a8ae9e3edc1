"""``memannotation``: another analyst's fields and text on a record (contract, section 3.7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import Built, TinySite, report_toml

RUNTIME = """\
# Runtime

```{memmember} runtime
```

:::{memroute} RT-RTE-answer — Answer
:implementation: wired
:immediate-return: Text.
:later-readback: None.
:delegated-visibility: None.
:selection: All.
:invalidation: None.
:activation: None.
:evidence-limits: None.
:::

:::{memobject} RT-OBJ-cache
:::
"""
MEMORY = """\
# Memory

```{memmember} memory
```

```{memsupplied}
RT-OBJ-log: Log
```

:::{memobject} MEM-OBJ-note — Note
:::

::::{memannotation} RT-RTE-answer
:operation: observed
:later-readback: Reaches *later* prompts over MEM-OBJ-note.

Nothing marks it, and {memsrc}`src/jotter/recall.py` reads it.

:::{evidence} src/jotter/recall.py
return [note for _, note in scored[:limit]]
:::
::::

:::{memannotation} RT-OBJ-log
Kept for a day.
:::
"""
ALONE = "# Alone\n\nNothing.\n"
SITE = {"runtime.md": RUNTIME, "memory.md": MEMORY, "alone.md": ALONE}


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


def annotating(site: TinySite, annotation: str, member: str | None = "memory") -> Built:
    head = f"```{{memmember}} {member}\n```\n" if member else "\n\n"
    files = {"runtime.md": RUNTIME, "notes.md": f"# Notes\n\n{head}\n{annotation}\n:::\n"}
    return site.build(files, "dummy")


# --- what a reader gets ---------------------------------------------------------------------


def test_the_record_shows_its_annotations_and_links_to_them(site: TinySite) -> None:
    built = site.build(SITE)
    assert built.problems == []
    assert built.status == 0
    (shown,) = built.soup("runtime").select(".memreport-annotations")
    assert " ".join(shown.get_text().split()) == (
        "memory member Operation: observed "
        "Later read-back: Reaches later prompts over MEM-OBJ-note."
    )
    assert [link["href"] for link in shown.select("a")] == [
        "memory.html#on-rt-rte-answer",
        "memory.html#mem-obj-note",
    ]
    assert built.broken_links() == []


def test_the_annotation_is_a_card_of_its_own(site: TinySite) -> None:
    soup = site.build(SITE).soup("memory")
    signature = soup.select_one("#on-rt-rte-answer")
    assert signature is not None
    assert " ".join(signature.get_text().split()).startswith(
        "On RT-RTE-answer Annotation Operation: observed"
    )
    link = signature.select_one("a.internal")
    assert link is not None
    assert link["href"] == "runtime.html#rt-rte-answer"
    card = signature.parent
    assert card is not None
    assert "Nothing marks it" in card.get_text()
    assert [a.get_text() for a in soup.select("nav.contents a, .sphinxsidebar a")].count(
        "On RT-RTE-answer"
    ) == 1


def test_what_an_annotation_cites_is_followed_on_the_page_of_the_record(site: TinySite) -> None:
    site.build(SITE)
    renamed = MEMORY.replace("MEM-OBJ-note —", "MEM-OBJ-note — Renamed", 1)
    assert renamed != MEMORY
    cached = site.build({"memory.md": renamed})
    assert cached.page("runtime") == site.build(cache="clean").page("runtime")
    assert "Renamed" in cached.page("runtime")


def test_a_mention_that_is_no_reference_is_no_link_on_the_record(site: TinySite) -> None:
    memory = MEMORY.replace("over MEM-OBJ-note.", "over {memraw}`MEM-OBJ-note`.")
    built = site.build({**SITE, "memory.md": memory})
    (shown,) = built.soup("runtime").select(".memreport-annotations")
    assert len(shown.select("a")) == 1


def test_a_supplied_entry_shows_its_annotation(site: TinySite) -> None:
    soup = site.build(SITE).soup("memory")
    (entry,) = soup.select(".memreport-supplied-list")
    link = entry.select(".memreport-annotations a")[0]
    assert link["href"] == "#on-rt-obj-log"


def test_several_annotations_of_one_record_on_a_page(site: TinySite) -> None:
    again = "\n:::{memannotation} RT-RTE-answer\nAgain.\n:::\n"
    built = site.build({**SITE, "memory.md": MEMORY + again})
    assert built.problems == []
    (shown,) = built.soup("runtime").select(".memreport-annotations")
    links = [a["href"] for a in shown.select("a[href*='#on-']")]
    assert links == ["memory.html#on-rt-rte-answer", "memory.html#on-rt-rte-answer-2"]
    assert built.broken_links() == []


def test_what_stands_in_an_annotation_is_not_the_records_own(site: TinySite) -> None:
    built = site.build(SITE)
    (citing,) = (
        dd for dd in built.soup("memory").select("#mem-obj-note ~ dd .memreport-relations > dd")
    )
    assert citing.get_text(strip=True) == "annotation on RT-RTE-answer"
    assert citing.a is not None
    assert citing.a["href"] == "#on-rt-rte-answer"
    (evidence,) = built.env.domains["mem"].site.evidence()  # type: ignore[attr-defined]
    assert (evidence.record, evidence.annotation) == ("RT-RTE-answer", "on-rt-rte-answer")
    assert built.env.domains["mem"].site.evidence_of("jotter", "RT-RTE-answer") == []  # type: ignore[attr-defined]
    (page,) = built.out.glob("_memreport/**/*recall*.html")
    assert "#on-rt-rte-answer" in page.read_text()
    # the record does not say of itself that it is cited
    assert "Cited by" not in built.text("runtime")


def test_annotations_are_needs_that_are_linked_to_the_record(site: TinySite) -> None:
    built = site.build(SITE, needs_build_json=True)
    needs = built.data("needs.json")["versions"][""]["needs"]
    own = "jotter:memory:on-rt-rte-answer"
    assert needs[own]["title"] == "On RT-RTE-answer"
    assert needs[own]["mem_annotates"] == ["jotter:RT-RTE-answer"]
    assert needs[own]["mem_cites"] == ["jotter:MEM-OBJ-note"]
    assert needs["jotter:RT-RTE-answer"]["mem_annotates_back"] == [own]
    assert needs["jotter:RT-RTE-answer"]["mem_cites"] == []
    assert 'id="jotter:memory:on-rt-rte-answer"' in built.page("memory")


# --- problems -------------------------------------------------------------------------------


CASES: list[tuple[str, list[str]]] = [
    (":::{memannotation} RT-RTE-answer\n:selection: uninspected — later", []),
    (":::{memannotation} RT-RTE-answer", []),
    (":::{memannotation} jotter:RT-RTE-answer\n:owner: A caller.", []),
    (":::{memannotation} RT-RTE-answer\n:selection: uninspected", ["missing-reason"]),
    (":::{memannotation} RT-RTE-answer\n:operation: often", ["invalid-value"]),
    (":::{memannotation} RT-RTE-answer\n:identity: x", ["swallowed-text"]),
    (":::{memannotation} RT-RTE-answer\n:part-of: RT-RTE-answer", ["part-of-self"]),
    (":::{memannotation} RT-RTE-answer\n:part-of: a b", ["invalid-value"]),
    (":::{memannotation} RT-RTE-answer\n:part-of: RT-OBJ-gone", ["dangling-id"]),
    (":::{memannotation} RT-RTE-answer\n:owner: By RT-OBJ-gone.", ["dangling-id"]),
    (":::{memannotation} RT-RTE-answer — Answer", ["swallowed-text"]),
    (":::{memannotation} RT-RTE-gone\n:owner: A caller.", ["dangling-id"]),
    (":::{memannotation} RT-RTE\n:owner: A caller.", ["malformed-id"]),
    (":::{memannotation} SRC-1", ["malformed-id"]),
    (":::{memannotation} other:RT-RTE-answer", ["malformed-id"]),
    (":::{memannotation}\n:owner: A caller.", ["swallowed-text"]),
]


def test_problems_are_said_once_at_the_opening_line(site: TinySite) -> None:
    head = "# Notes\n\n```{memmember} memory\n```\n\n"
    pages = {f"case{n:02}": head + f"{text}\n:::\n" for n, (text, _) in enumerate(CASES)}
    built = site.build({"runtime.md": RUNTIME} | {f"{n}.md": t for n, t in pages.items()}, "dummy")
    expected = zip(pages, (codes for _, codes in CASES), strict=True)
    assert built.problems == [(code, name, 6) for name, codes in expected for code in codes]


@pytest.mark.parametrize("member", ["memory", "reconciliation", None])
def test_of_another_member(site: TinySite, member: str | None) -> None:
    assert annotating(site, ":::{memannotation} RT-OBJ-cache", member).problems == []


def test_of_the_same_member_in_another_document(site: TinySite) -> None:
    built = annotating(site, ":::{memannotation} RT-OBJ-cache", "runtime")
    assert built.problems == [("own-annotation", "notes", 6)]
    assert "the runtime member itself, at runtime:17" in built.details[0].message


def test_without_members_a_document_is_one(site: TinySite) -> None:
    record = "# A\n\n:::{memobject} RT-OBJ-cache\n:::\n"
    note = "\n:::{memannotation} RT-OBJ-cache\n:::\n"
    built = site.build({"a.md": record + note, "b.md": "# B\n" + note}, "dummy")
    assert built.problems == [("own-annotation", "a", 6)]


def test_outside_a_report(site: TinySite, pinned_repo: PinnedRepo) -> None:
    site.write({"memreport.toml": report_toml(pinned_repo, directory="jotter")})
    built = site.build({"a.md": "# A\n\n:::{memannotation} RT-OBJ-cache\nText.\n:::\n"}, "dummy")
    assert built.problems == [("no-report", "memreport.toml", 2), ("outside-report", "a", 3)]


def test_a_fence_left_open_in_an_annotation(site: TinySite) -> None:
    annotation = ":::{memannotation} RT-OBJ-cache\n\n```{evidence} README.md\nJotter keeps notes"
    assert [code for code, *_ in annotating(site, annotation).problems] == ["unclosed-fence"]


# --- builds ---------------------------------------------------------------------------------


def test_an_edit_rewrites_the_page_of_the_record_and_nothing_else(site: TinySite) -> None:
    site.build(SITE)
    edited = MEMORY.replace("*later* prompts", "no prompt")
    built = site.build({"memory.md": edited})
    assert sorted(built.written) == ["index", "memory", "runtime"]  # index has their toctree
    assert "Reaches no prompt over MEM-OBJ-note." in built.text("runtime")
    # its text and its line are not shown on the page of the record
    moved = edited.replace("# Memory\n", "# Memory\n\nMore.\n").replace(
        "Nothing marks", "What marks"
    )
    assert sorted(site.build({"memory.md": moved}).written) == ["index", "memory"]


def test_removal_rewrites_the_page_of_the_record_and_nothing_else(site: TinySite) -> None:
    site.build(SITE)
    built = site.build({"memory.md": MEMORY.partition("::::{memannotation}")[0]})
    assert sorted(built.written) == ["index", "memory", "runtime"]  # index has their toctree
    assert "Annotation" not in built.text("runtime")
    assert site.build(SITE).page("runtime") == site.build(cache="clean").page("runtime")


def test_parallel_reading_ends_the_same(site: TinySite) -> None:
    serial = site.build(SITE)
    parallel = site.build(parallel=2, cache="parallel")
    for name in ("runtime", "memory", "alone"):
        assert parallel.page(name) == serial.page(name)
    assert parallel.problems == serial.problems == []
