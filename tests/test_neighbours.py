"""Other extensions on the same site, and builders that few use."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest
from pinned_repo import PinnedRepo, bare
from sitebuilder import TinySite

SORTED = "scored.sort(key=lambda pair: pair[0], reverse=True)"
KEPT = "self.notes.append(note)"
STORE = f"```{{evidence}} SRC-1 src/jotter/store.py\n{KEPT}\n```\n"
RECALL = f"```{{evidence}} SRC-1 src/jotter/recall.py\n{SORTED}\n```\n"
CARD = ":::{{memobject}} MEM-OBJ-note — {label}\n{body}:::\n"


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


@pytest.mark.parametrize("builder", ["html", "text", "latex"])
@pytest.mark.parametrize("own", ["", RECALL], ids=["with nothing", "with other evidence"])
def test_evidence_that_another_extension_copies_stays_what_it_is(
    site: TinySite, builder: str, own: str
) -> None:
    copied = f"````{{todo}}\n{STORE}\n{{memsrc}}`src/jotter/store.py`\n````\n"
    built = site.build(
        {
            "a.md": f"# A\n\n{copied}",
            "b.md": f"# B\n\n{own}\n{{memsrc}}`README.md`\n\n```{{todolist}}\n```\n",
        },
        builder=builder,
        extensions=["myst_parser", "sphinx_memreport", "sphinx.ext.todo"],
        todo_include_todos=True,
    )
    assert built.problems == []
    if builder == "html":
        passages = [tag.get_text() for tag in built.soup("b").select(".memreport-evidence pre")]
        assert [KEPT in each for each in passages] == [*([False] if own else []), True]
        assert built.broken_links() == []


@pytest.mark.parametrize("builder", ["html", "dirhtml", "singlehtml", "text", "epub", "latex"])
def test_a_path_in_a_heading_is_shown_in_tables_of_contents(site: TinySite, builder: str) -> None:
    built = site.build(
        {
            "index.md": "# Start\n\n```{toctree}\na\n```\n",
            "a.md": "# A {memsrc}`src/jotter/store.py`\n\n## B {memsrc}`README.md`\n",
        },
        builder=builder,
    )
    assert built.problems == []
    if builder == "html":
        assert "A src/jotter/store.py" in built.text("index")


def test_views_in_any_case_follow_an_edit(site: TinySite) -> None:
    views = "MemRecords MemEvidence MemOverview MemGraph".split()
    files = {
        "m.md": "# M\n\n" + CARD.format(label="Old", body=STORE),
        "v.md": "# V\n\n" + "".join(f"```{{{each}}}\n```\n\n" for each in views),
    }
    site.build(files)
    edited = {"m.md": "# M\n\n" + CARD.format(label="New", body="")}
    cached = site.build(edited)
    assert cached.page("v") == site.build(cache="clean").page("v")
    assert "New" in cached.text("v")


def test_a_record_in_capitals_loses_no_text_in_silence(site: TinySite) -> None:
    built = site.build(
        {"m.md": "# M\n\n:::{MEMOBJECT} MEM-OBJ-up\n:identity: I\n\n---\nGONE\n---\n:::\n"}
    )
    assert [code for code, *_ in built.problems] == ["swallowed-text"]
    assert built.soup("m").select(".memreport-object")


@pytest.mark.parametrize("mark", ["1. ", "1) ", "1. - ", "> ", "- "])
def test_text_too_deep_in_lists_is_not_lost_in_silence(site: TinySite, mark: str) -> None:
    built = site.build({"m.md": f"# M\n\n{mark * 24}MEM-OBJ-gone\n"})
    assert built.problems != []
    assert {code for code, *_ in built.problems} <= {"swallowed-text", "dangling-id"}


def test_epub_shows_nodes_of_other_extensions(site: TinySite) -> None:
    built = site.build(
        {"a.md": "# A\n\n```{todo}\nRemember this.\n```\n"},
        builder="epub",
        project="Notes",
        extensions=["myst_parser", "sphinx_memreport", "sphinx.ext.todo"],
        todo_include_todos=True,
    )
    (book,) = built.out.glob("*.epub")
    with zipfile.ZipFile(book) as archive:
        assert b"Remember this." in archive.read("a.xhtml")


@pytest.mark.parametrize("builder", ["json", "pickle"])
def test_pages_as_data_can_be_written(site: TinySite, builder: str) -> None:
    built = site.build({"m.md": "# M\n\n" + CARD.format(label="Note", body=STORE)}, builder=builder)
    assert built.problems == []
    assert built.status == 0
    assert (
        built.out / ("globalcontext.json" if builder == "json" else "globalcontext.pickle")
    ).exists()


def test_a_form_feed_in_a_passage_leaves_xml_well_formed(tmp_path: Path) -> None:
    source = b"int a;\n\x0cint b;\nint c; \x0c int d;\n"
    site = TinySite(tmp_path / "site", bare(tmp_path / "repo.git", {"ff.c": source}))
    quote = "```{evidence} SRC-1 ff.c\nint b;\nint c; int d;\n```\n"
    built = site.build({"q.md": f"# Q\n\n{quote}"}, builder="xml")
    assert built.problems == []
    shown = ElementTree.parse(built.out / "q.xml").find(".//literal_block")
    assert shown is not None
    assert "⟦U+000C⟧" in (shown.text or "")


@pytest.mark.parametrize("option", ["label", "identity", "caption"])
def test_what_sphinx_needs_would_evaluate_is_text_in_what_a_record_shows(
    site: TinySite, tmp_path: Path, option: str
) -> None:
    target = tmp_path / "made"
    role = f"{{need_count}}`__import__('pathlib').Path({str(target)!r}).write_text('x')`"
    body = f":identity: {role}\n" if option == "identity" else ""
    caption = f":caption: {role}\n" if option == "caption" else ""
    evidence = STORE.replace("store.py\n", f"store.py\n{caption}")
    built = site.build(
        {
            "m.md": "# M\n\n"
            + CARD.format(label=role if option == "label" else "Note", body=f"{body}\n{evidence}")
        }
    )
    assert not target.exists()
    assert "write_text" in built.text("m")
