"""After one edit, the documents read and written are those that show something of it (issue 6).

One site has everything that a page can show. Each edit states what is read, which pages and which
pages of quoted files are written, and whether ``memreport.json`` changes. That is never at the
cost of truth: the build ends like one that starts from nothing, and taking the edit back ends
like the first build.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from pinned_repo import PinnedRepo
from whole_site import (
    DATA,
    LATER,
    LAYOUT,
    SITE,
    State,
    WholeSite,
    capture,
    page_of,
    state,
    toml,
)


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
        "second record of a passage": Edit(
            memory(QUOTE, f"{RECALL}\n:supports: MEM-CMP-search\n\n{SORTED}"),
            "memory",
            "list behind table",
            (RECALL,),
        ),
        "search that finds": Edit(
            memory(":pattern: decay", ":pattern: notes"), "memory", "overview behind"
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
            f"{VIEWS} overview amended",
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
        # a table of needs may show the lines that they stand at
        "blank line above": Edit(memory("# Memory", "\n# Memory"), "memory", "table"),
        "citation added": Edit(
            changed("jotter/plain.md", "Nothing is", "Not even MEM-CMP-search is"),
            "plain",
            "memory",
        ),
        "citation removed": Edit(
            changed("jotter/cites.md", "MEM-OBJ-note, RT-RTE-far", "RT-RTE-far"), "cites", "memory"
        ),
        "dangling citation": Edit(
            changed("jotter/plain.md", "Nothing is", "Not even MEM-CMP-sarch is"),
            "plain",
            "overview",
        ),
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
        "what is shown nowhere": Edit(
            configured(
                "# Moved.\n" + toml(repo).replace('/jotter"\nlayers', '/jotter/.git"\nlayers')
            ),
            "",
            data=False,
        ),
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
        "document removed": Edit({"jotter/cites.md": None}, "", "memory supplied"),
        "document with records removed": Edit(
            {"jotter/runtime.md": None},
            "",
            f"{VIEWS} overview amended epistemic coverage memory",
            (README, CAPTURE),
        ),
        "register removed": Edit(
            {"jotter/sources.md": None}, "", f"{MEMBERS}", (RECALL, STORE, README, CAPTURE)
        ),
    }


def quoted_pages(state: State) -> set[tuple[str, str]]:
    """The pages of quoted files, by name and content."""
    return {item for item in state.files.items() if item[0].startswith("_memreport/")}


def documents(names: str) -> set[str]:
    """The documents of an edit."""
    return {name[1:] if name.startswith("/") else f"jotter/{name}" for name in names.split()}


NAMES = list(edits(PinnedRepo(Path(), ("", ""))))
#: One edit of each sort; to take back each of the others does the same.
TAKEN_BACK = (
    "stale quote",
    "label",
    "record renamed",
    "citation added",
    "amendment",
    "older commit",
    "capture without its digest",
    "template",
    "whole files",
    "document with records added",
    "document with records removed",
)


@pytest.mark.parametrize("name", NAMES)
def test_an_edit_reads_and_writes_what_shows_something_of_it(whole: WholeSite, name: str) -> None:
    edit, first = edits(whole.repo)[name], whole.first
    built = whole.site.build(edit.files, **edit.settings)
    found = state(built)
    read, written = set(built.read) - {"index"}, set(built.written) - {"index"}
    assert read == documents(edit.read) & built.env.all_docs.keys()
    assert written == read | documents(edit.also)
    changed = {file for file, _text in quoted_pages(found) ^ quoted_pages(first)}
    assert changed == {page_of(path) for path in edit.quoted}
    assert (found.files[DATA] != first.files[DATA]) is edit.data

    clean = whole.clean(**edit.settings)
    assert found.without_pages_of_the_past(clean) == clean


@pytest.mark.parametrize("name", TAKEN_BACK)
def test_an_edit_taken_back_ends_like_the_first_build(whole: WholeSite, name: str) -> None:
    edit, files = edits(whole.repo)[name], whole.files
    whole.site.build(edit.files, **edit.settings)
    whole.site.write(dict.fromkeys(edit.files.keys() - files.keys()))
    back = whole.site.build({file: files[file] for file in edit.files if file in files})
    assert state(back).without_pages_of_the_past(whole.first) == whole.first
