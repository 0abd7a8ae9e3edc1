"""The gate, and builds that must end like a clean serial one (contract, section 4)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from pinned_repo import FIRST, SECOND, PinnedRepo, plain
from sitebuilder import Built, TinySite, report_toml

from sphinx_memreport.sphinx_ext.directives import base

RECALL = "scored.sort(key=lambda pair: pair[0], reverse=True)"

MEMORY = f"""\
# Memory

```{{memmember}} memory
```

:::{{memobject}} MEM-OBJ-note — Stored note
:part-of: MEM-OBJ-store

What {{mem}}`MEM-CMP-search` searches.

```{{evidence}} SRC-1 src/jotter/recall.py
{RECALL}
```
:::

:::{{memobject}} MEM-OBJ-store — Store
:::

:::{{memcomponent}} MEM-CMP-search — Search
:::
"""
OTHER = "# Other\n\nSee MEM-OBJ-note.\n"
ALONE = "# Alone\n\nNothing is cited here.\n"
SITE = {"memory.md": MEMORY, "other.md": OTHER, "alone.md": ALONE}
BROKEN = {
    **SITE,
    "memory.md": MEMORY.replace("pair[0]", "pair[1]"),
    "other.md": "# Other\n\nSee MEM-OBJ-nota and\nSRC-4.\n\n{evidnce}`x`\n",
}
PROBLEMS = [
    ("stale-quote", "memory", 11),
    ("dangling-id", "other", 3),
    ("unknown-source", "other", 4),
    ("unknown-directive", "other", 6),
]


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


def pages(built: Built) -> Mapping[str, str]:
    """The body of every page; the frame around it, such as "next", is Sphinx's own affair."""
    found = {}
    for path in sorted(built.out.rglob("*.html")):
        body = BeautifulSoup(path.read_bytes(), "html.parser").select_one("[role=main]")
        found[path.relative_to(built.out).as_posix()] = str(body)
    return found


def test_clean_build_says_nothing(site: TinySite) -> None:
    built = site.build(SITE, nitpicky=True)
    assert built.problems == []
    assert built.warnings == ""
    assert built.status == 0
    assert built.broken_links() == []


@pytest.mark.parametrize("jobs", ["1", "4"])
def test_every_problem_is_said_and_fails_the_build_again_and_again(
    site: TinySite, jobs: str
) -> None:
    site.write(BROKEN)
    first = site.run("-j", jobs)
    second = site.run("-j", jobs)
    for run in (first, second):
        assert run.returncode == 1
        said = [line for line in run.stderr.splitlines() if ": ERROR: " in line]
        assert [line.split("/source/")[-1].split(": ERROR")[0] for line in said] == [
            "memory.md:11",
            "other.md:3",
            "other.md:4",
            "other.md:6",
        ]
        assert [line.rsplit(" ", 1)[-1] for line in said] == [
            f"[memreport.{code}]" for code, _, _ in PROBLEMS
        ]
        assert "Traceback" not in run.stderr
    assert first.stderr == second.stderr
    assert "0 added, 0 changed, 0 removed" in second.stdout
    assert "MEM-OBJ-nota" in (site.root / "cache/html/other.html").read_text()


def test_plain_words_are_shown_as_the_parser_would_show_them(
    site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("Stored note", "1. Ein Wort; drei, vier-fünf. MEM-CMP-search.", "Tom's _note_", "a--b")
    records = [
        f":::{{memobject}} MEM-OBJ-x{'abcd'[number]} — {each}\n:identity: {each}\n:::\n"
        for number, each in enumerate(words)
    ]
    files = {**SITE, "words.md": "\n".join(["# Words\n", *records])}
    extensions = ["colon_fence", "smartquotes", "replacements", "strikethrough", "tasklist"]
    quick = site.build(files, myst_enable_extensions=extensions)
    monkeypatch.setattr(base, "_WORDS", re.compile(r"(?!)"))
    parsed = site.build(cache="parsed", myst_enable_extensions=extensions)
    assert quick.problems == parsed.problems == []
    assert "vier-fünf. MEM-CMP-search." in quick.text("words")
    assert pages(quick) == pages(parsed)
    assert quick.data("memreport.json") == parsed.data("memreport.json")


def test_nothing_hides_an_error(site: TinySite) -> None:
    built = site.build(
        BROKEN,
        suppress_warnings=["memreport", "memreport.*", "myst", "docutils", "ref", "app"],
        show_warning_types=False,
    )
    assert built.problems == PROBLEMS
    assert built.status == 1
    assert built.warnings.count("ERROR:") == len(PROBLEMS)


def test_memreport_severity_softens_an_error(site: TinySite) -> None:
    built = site.build(
        {**SITE, "other.md": "# Other\n\nSee MEM-OBJ-nota.\n"},
        memreport_severity={"dangling-id": "warning"},
    )
    assert built.problems == [("dangling-id", "other", 3)]
    assert "WARNING: " in built.warnings
    assert built.status == 0


def test_parallel_builds_say_and_write_what_a_serial_one_does(site: TinySite) -> None:
    many = {f"more{n}.md": f"# More {n}\n\nMEM-OBJ-note and MEM-OBJ-x{n}.\n" for n in range(8)}
    serial = site.build({**BROKEN, **many}, cache="serial")
    parallel = site.build(parallel=4, cache="parallel")
    assert parallel.details == serial.details
    assert len(serial.details) == len(PROBLEMS) + 8
    assert pages(parallel) == pages(serial)


EDITS: dict[str, Mapping[str, str | None]] = {
    "quote mended": {"memory.md": MEMORY},
    "quote broken": {"memory.md": MEMORY.replace("reverse=True", "reverse=False")},
    "label changed": {"memory.md": MEMORY.replace("Stored note", "Kept note")},
    "record renamed": {"memory.md": MEMORY.replace("MEM-OBJ-note", "MEM-OBJ-memo")},
    "record moved": {
        "memory.md": MEMORY.replace(":::{memcomponent} MEM-CMP-search — Search\n:::\n", ""),
        "alone.md": ALONE + "\n:::{memcomponent} MEM-CMP-search — Search\n:::\n",
    },
    "document renamed": {"other.md": None, "renamed.md": OTHER},
    "document removed": {"memory.md": None},
    "document added": {"added.md": "# Added\n\nMEM-OBJ-store and MEM-OBJ-gone.\n"},
    "problem fixed": {"other.md": OTHER},
}


@pytest.mark.parametrize("edit", EDITS, ids=lambda name: name.replace(" ", "-"))
def test_an_incremental_build_ends_like_a_fresh_one(site: TinySite, edit: str) -> None:
    site.build(BROKEN)
    incremental = site.build(EDITS[edit])
    fresh = site.build(cache="fresh")
    assert incremental.details == fresh.details
    assert incremental.status == fresh.status
    expected = pages(fresh)
    # Sphinx leaves the pages of removed documents where they are
    found = {name: body for name, body in pages(incremental).items() if name in expected}
    assert found == expected


@pytest.mark.parametrize(
    ("edit", "read", "also_written"),
    [
        ({"alone.md": ALONE + "\nMore.\n"}, {"alone"}, set()),
        ({"memory.md": MEMORY.replace("Stored note", "Kept note")}, {"memory"}, {"other"}),
        ({"other.md": ALONE}, {"other"}, {"memory"}),
        ({"memory.md": MEMORY.replace("pair[0]", "pair[1]")}, {"memory"}, set()),
    ],
    ids=["unrelated", "label", "citation", "quote"],
)
def test_only_pages_that_show_a_change_are_written_again(
    site: TinySite, edit: Mapping[str, str], read: set[str], also_written: set[str]
) -> None:
    site.build(SITE)
    built = site.build(edit)
    assert set(built.read) == read
    # the start page holds the table of contents, so Sphinx itself writes it again
    assert set(built.written) - {"index"} == read | also_written


def test_an_unchanged_build_reads_and_writes_nothing(site: TinySite) -> None:
    first = site.build(BROKEN)
    second = site.build()
    assert (second.read, second.written) == ([], [])
    assert second.details == first.details
    assert second.status == 1


def test_another_builder_on_the_same_doctrees_leaves_no_page_stale(site: TinySite) -> None:
    site.build(SITE)
    site.build({"memory.md": MEMORY.replace("Stored note", "Kept note")}, builder="text")
    site.build()
    fresh = site.build(cache="fresh")
    assert pages(site.build()) == pages(fresh)


# --- pins and checkouts -------------------------------------------------------------------


def test_a_moved_pin_rewrites_the_pages_that_rest_on_it(tmp_path: Path) -> None:
    moved = {**SECOND, "src/jotter/recall.py": b"# nothing is left\n"}
    repo = plain(tmp_path / "repo", SECOND, moved)
    site = TinySite(tmp_path / "site")
    old = report_toml(PinnedRepo(repo.path, (*repo.commits[:-1], repo.commits[-2])))
    assert site.build({**SITE, "memreport.toml": old}).problems == []
    built = site.build({"memreport.toml": report_toml(repo)})
    assert built.problems == [("stale-quote", "memory", 11)]
    assert built.status == 1
    assert built.read == []
    assert set(built.written) - {"index"} == {"memory"}
    assert "stale" in built.text("memory")
    back = site.build({"memreport.toml": old})
    assert (back.problems, back.read, set(back.written) - {"index"}) == ([], [], {"memory"})


def test_a_checkout_that_vanishes_is_one_error_and_its_quotes_are_unverified(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    assert site.build(SITE).status == 0
    hidden = pinned_repo.path.rename(pinned_repo.path.with_name("hidden"))
    for _ in range(2):
        built = site.build()
        assert [code for code, _, _ in built.problems] == ["checkout-missing"]
        assert built.problems[0][1:] == ("memreport.toml", 5)
        assert built.status == 1
        assert "unverified" in built.text("memory")
        assert built.details[0].fix == "memreport fetch"
    hidden.rename(pinned_repo.path)
    built = site.build()
    assert (built.problems, built.status) == ([], 0)
    assert "unverified" not in built.text("memory")


def test_a_commit_that_vanishes_is_one_error(site: TinySite, pinned_repo: PinnedRepo) -> None:
    assert site.build(SITE).status == 0
    shutil.rmtree(pinned_repo.path)
    plain(pinned_repo.path, FIRST)
    built = site.build()
    assert [code for code, _, _ in built.problems] == ["commit-missing"]
    assert built.status == 1
    assert built.read == []


def test_the_work_tree_plays_no_part(site: TinySite, pinned_repo: PinnedRepo) -> None:
    site.build(SITE)
    (pinned_repo.path / "src/jotter/recall.py").write_text("changed\n")
    (pinned_repo.path / "src/jotter/store.py").unlink()
    built = site.build(cache="fresh")
    assert (built.problems, built.status) == ([], 0)


def test_each_blob_is_read_once(site: TinySite, monkeypatch: pytest.MonkeyPatch) -> None:
    from sphinx_memreport import gitstore

    asked: list[str] = []
    original = gitstore.GitSource.blobs

    def counted(self: gitstore.GitSource, paths: list[str]):  # type: ignore[no-untyped-def]
        for path, blob in original(self, paths):
            asked.append(path)
            yield path, blob

    monkeypatch.setattr(gitstore.GitSource, "blobs", counted)
    quote = "```{evidence} src/jotter/recall.py\nscored.sort(key\n```\n"
    site.build({**BROKEN, "more.md": f"# More\n\n{quote}\n{quote}"})
    assert asked.count("src/jotter/recall.py") == 1
    assert len(asked) == len(set(asked))
    asked.clear()
    site.build()
    assert asked == []


# --- files that time does not tell apart ----------------------------------------------------


def test_a_text_that_is_replaced_by_an_older_one_is_read(site: TinySite) -> None:
    first = site.build(SITE)
    path = site.source / "memory.md"
    older = path.read_text().replace("MEM-OBJ-note", "MEM-OBJ-nota", 1)
    path.write_text(older)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    built = site.build()
    assert built.read == ["memory"]
    assert built.problems == site.build(cache="clean").problems != first.problems


INCLUDES = {
    "md": "# Page\n\n```{include} part.inc\n```\n",
    "rst": "Page\n====\n\n.. include:: part.inc\n",
}


@pytest.mark.parametrize("kind", INCLUDES)
@pytest.mark.parametrize("parallel", [1, 2])
def test_a_part_that_is_replaced_by_an_older_one_is_read(
    site: TinySite, kind: str, parallel: int
) -> None:
    parts = {"part.inc": "Good.\n", "older.inc": "MEM-OBJ-nota.\n"}
    more = {f"more{n}.md": "# More\n" for n in range(6)}  # fewer are never read in parallel
    site.write(SITE | parts)
    os.utime(site.source / "older.inc", (1_000_000_000, 1_000_000_000))
    first = site.build({f"page.{kind}": INCLUDES[kind], **more}, parallel=parallel)
    assert site.build(parallel=parallel).read == []
    (site.source / "older.inc").rename(site.source / "part.inc")
    built = site.build(parallel=parallel)
    assert built.read == ["page"]
    assert built.problems == site.build(cache="clean").problems != first.problems


def test_an_older_output_folder_in_the_place_of_the_newer_one_is_made_new(site: TinySite) -> None:
    out = site.build(SITE).out
    old = shutil.copytree(out, site.root / "old")
    text = (site.source / "memory.md").read_text()
    site.build({"memory.md": text.replace("Stored note", "Renamed note")})
    shutil.rmtree(out)
    shutil.copytree(old, out)
    built, clean = site.build(), site.build(cache="clean")
    assert pages(built) == pages(clean)
    assert site.build().written == []


@pytest.mark.parametrize("between", ["dummy", "linkcheck", "text"])
def test_another_builder_in_the_same_folder_hides_no_change(site: TinySite, between: str) -> None:
    out = site.build(SITE).out
    text = (site.source / "memory.md").read_text()
    site.write({"memory.md": text.replace("Stored note", "Renamed note")})
    doctrees = site.root / "cache" / "doctrees"
    command = [sys.executable, "-m", "sphinx", "-q", "-b", between, "-d", str(doctrees)]
    subprocess.run([*command, str(site.source), str(out)], check=False, capture_output=True)
    built, clean = site.build(), site.build(cache="clean")
    assert pages(built) == pages(clean)
