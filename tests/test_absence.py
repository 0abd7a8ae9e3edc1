"""``memabsence``: a negative that the build checks (contract, section 3.6)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest
from pinned_repo import PinnedRepo, object_file
from sitebuilder import Built, TinySite, report_toml

from sphinx_memreport import verify
from sphinx_memreport.core.blobs import SourceReader
from sphinx_memreport.core.resolve import Answers, Requests

POST = b"I looked.\nThere was nothing.\n"


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


def absence(searched: str, pattern: str, *flags: str, name: str = "x") -> str:
    options = [f":searched: {searched}", f":pattern: {pattern}", *(f":{flag}:" for flag in flags)]
    return "\n".join([f":::{{memabsence}} MEM-ABS-{name}", *options, "", "Text.", ":::", ""])


def with_post(site: TinySite, repo: PinnedRepo, digest: str = sha256(POST).hexdigest()) -> None:
    """Give the report a capture as SRC-2 and the repository a second time, as SRC-3."""
    again = report_toml(repo).partition("SRC-1]")[2]
    capture = (
        '[reports.jotter.sources.SRC-2]\nkind = "capture"\nidentity = "urn:post"\n'
        f'file = "post.txt"\nsha256 = "{digest}"\nlayer = "reported operation"\n'
        f"[reports.jotter.sources.SRC-3]{again}"
    )
    site.write({"post.txt": POST, "memreport.toml": report_toml(repo, source=capture)})


def searches(built: Built, docname: str = "memory") -> list[str]:
    """What the page says of each search."""
    return [
        " ".join(box.get_text().split()) for box in built.soup(docname).select(".memreport-search")
    ]


# --- nothing found --------------------------------------------------------------------------


def test_found_nothing(site: TinySite, pinned_repo: PinnedRepo) -> None:
    text = absence("src/**, assets/**, docs/*, vendor/**", "^cron|sched$", "regex")
    built = site.build({"memory.md": f"# Memory\n\n{text}"})
    assert built.problems == []
    assert built.status == 0
    assert searches(built) == [
        "Search for the regular expression ^cron|sched$ in 8 files (2 binary) of SRC-1 that match "
        f"src/**, assets/**, docs/*, vendor/** @ {pinned_repo.commit[:10]} nothing found "
        "Binary: assets/logo.bin, docs/latin1.txt. "
        "Not searched: assets/model.bin: a Git LFS pointer, docs/inside: a symbolic link, "
        "docs/outside: a symbolic link, vendor/engine: a submodule."
    ]


def test_the_state_of_the_work_tree_does_not_matter(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    (pinned_repo.path / "src/jotter/recall.py").write_text("cron")
    (pinned_repo.path / "src/untracked.py").write_text("cron")
    built = site.build({"memory.md": f"# Memory\n\n{absence('src/**', 'cron')}"}, "dummy")
    assert built.problems == []


def test_several_sources_and_a_capture(site: TinySite, pinned_repo: PinnedRepo) -> None:
    with_post(site, pinned_repo)
    text = absence("SRC-3:src/**, SRC-1:bin/*, SRC-2", "encrypt")
    built = site.build({"memory.md": f"# Memory\n\n{text}"})
    assert built.problems == []
    commit = pinned_repo.commit[:10]
    assert searches(built) == [
        f"Search for the text encrypt in 2 files of SRC-3 that match src/** @ {commit} "
        "nothing found",
        f"Search for the text encrypt in 1 file of SRC-1 that match bin/* @ {commit} nothing found",
        "Search for the text encrypt in SRC-2 nothing found",
    ]


def test_without_a_search_nothing_is_claimed_of_one(site: TinySite) -> None:
    built = site.build({"memory.md": "# Memory\n\n:::{memabsence} MEM-ABS-x\nText.\n:::\n"})
    assert built.problems == []
    assert searches(built) == []


# --- refuted --------------------------------------------------------------------------------


def test_hits_are_named_with_path_line_and_text(site: TinySite, pinned_repo: PinnedRepo) -> None:
    built = site.build({"memory.md": f"# Memory\n\n{absence('src/**', 'scored')}"})
    assert built.problems == [("refuted-absence", "memory", 3)]
    assert built.status == 1
    (problem,) = built.details
    assert problem.subject == "MEM-ABS-x"
    assert problem.message == "the pattern 'scored' occurs in 3 lines of SRC-1"
    assert problem.details[0] == (
        "src/jotter/recall.py:2: scored = [(similarity(query, note), note) for note in notes]"
    )
    assert len(problem.details) == 3
    (said,) = searches(built)
    assert "refuted src/jotter/recall.py line 2 @" in said
    assert built.soup("memory").select(
        f'a[href="https://github.com/example/jotter/blob/{pinned_repo.commit}'
        '/src/jotter/recall.py#L4"]'
    )


def test_a_capture_is_named_by_its_source(site: TinySite, pinned_repo: PinnedRepo) -> None:
    with_post(site, pinned_repo)
    built = site.build({"memory.md": f"# Memory\n\n{absence('SRC-2', 'nothing')}"}, "dummy")
    assert built.problems == [("refuted-absence", "memory", 3)]
    assert built.details[0].details == ("SRC-2:2: There was nothing.",)


def test_the_blanks_of_a_quoted_pattern_count(site: TinySite) -> None:
    text = absence("src/**", '"scored  ="', name="one") + absence("src/**", '" ="', name="two")
    built = site.build({"memory.md": f"# Memory\n\n{text}"}, "dummy")
    assert built.problems == [("refuted-absence", "memory", 9)]
    block = ":::{memabsence} MEM-ABS-x\n---\nsearched: src/**\npattern: |\n  scored =\n---\n:::\n"
    built = site.build({"memory.md": f"# Memory\n\n{block}"}, "dummy")
    assert built.problems == [("refuted-absence", "memory", 3)]


def test_an_annotation_may_search_as_well(site: TinySite) -> None:
    runtime = ":::{memabsence} RT-ABS-x\nText.\n:::\n"
    note = absence("src/**", "scored").replace("memabsence} MEM", "memannotation} RT")
    built = site.build(
        {
            "runtime.md": f"# Runtime\n\n```{{memmember}} runtime\n```\n\n{runtime}",
            "memory.md": f"# Memory\n\n```{{memmember}} memory\n```\n\n{note}",
        }
    )
    assert built.problems == [("refuted-absence", "memory", 6)]
    assert "refuted" in searches(built)[0]


# --- a text that looks like an expression ---------------------------------------------------


def test_a_text_that_would_be_found_as_an_expression_is_warned_of(site: TinySite) -> None:
    text = absence("src/**", "json|def|import") + absence("src/**", "cron|sched", name="other")
    for _ in range(2):  # what was found out is kept
        built = site.build({"memory.md": f"# Memory\n\n{text}"})
        assert (built.problems, built.status) == ([("literal-pattern", "memory", 3)], 0)
    (problem,) = built.details
    assert problem.details == ("src/jotter/recall.py:1: def recall(query, notes, limit=5):",)
    assert "add the flag ':regex:'" in problem.fix
    assert r"write ':pattern: json\|def\|import' with it" in problem.fix
    literal, other = searches(built)
    assert "proves nothing" in literal
    assert "add the flag ':regex:'" in literal
    assert other.endswith("nothing found")
    # the first fix refutes the absence, the second one settles it
    regex = absence("src/**", "json|def|import", "regex")
    built = site.build({"memory.md": f"# Memory\n\n{regex}"}, "dummy")
    assert built.problems == [("refuted-absence", "memory", 3)]
    meant = absence("src/**", r"json\|def\|import", "regex")
    assert site.build({"memory.md": f"# Memory\n\n{meant}"}, "dummy").problems == []


# --- searches that prove nothing ------------------------------------------------------------

CASES: list[tuple[str, list[str]]] = [
    (absence("scr/**", "cron"), ["empty-search"]),
    (absence("src/**, scr/**", "cron"), ["empty-search"]),
    (absence("docs/inside", "cron"), ["empty-search"]),
    (absence("../jotter/src/**", "cron"), ["empty-search"]),
    (absence("/src/**", "cron"), ["empty-search"]),
    (absence("src/[", "cron"), ["empty-search"]),
    (absence("SRC-9:src/**", "cron"), ["unknown-source"]),
    (absence("SRC-1", "cron"), ["invalid-value"]),
    (absence("src/**", "(cron", "regex"), ["invalid-value"]),
    (absence("src/**", "cron(?=x)", "regex"), ["invalid-value"]),
    (absence("src/**", "x*", "regex"), ["invalid-value"]),
    (absence("src/**", "(cron"), []),
    (absence("src/**", "(a|aa)+$b", "regex"), []),
    (":::{memabsence} MEM-ABS-x\n:searched: src/**\n:::\n", ["missing-field"]),
    (":::{memabsence} MEM-ABS-x\n:pattern: cron\n:::\n", ["missing-field"]),
    (":::{memabsence} MEM-ABS-x\n:pattern: cron\n:searched:\n:::\n", ["missing-field"]),
    (":::{memabsence} MEM-ABS-x\n:regex:\n:::\n", ["missing-field"]),
    (absence("src/**", "cron").replace(":pattern", ":regex: yes\n:pattern"), ["invalid-value"]),
]


def test_problems_are_said_once_at_the_opening_line(site: TinySite) -> None:
    pages = {
        f"case{n:02}": f"# Case\n\n{text.replace('ABS-x', f'ABS-x{n}')}"
        for n, (text, _) in enumerate(CASES)
    }
    built = site.build({f"{name}.md": text for name, text in pages.items()}, "dummy")
    expected = zip(pages, (codes for _, codes in CASES), strict=True)
    assert built.problems == [(code, name, 3) for name, codes in expected for code in codes]
    assert "no file of SRC-1 matches scr/**" in built.details[1].message
    assert all("'searched'" in problem.message for problem in built.details[:8])


def test_a_glob_must_name_its_source_when_there_are_several(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    with_post(site, pinned_repo)
    text = absence("src/**", "cron", name="one") + absence("SRC-2:*", "cron", name="two")
    built = site.build({"memory.md": f"# Memory\n\n{text}"}, "dummy")
    assert built.problems == [("unknown-source", "memory", 3), ("invalid-value", "memory", 9)]


def test_a_lost_blob_leaves_the_search_open(site: TinySite, pinned_repo: PinnedRepo) -> None:
    lost = object_file(pinned_repo, "src/jotter/recall.py")
    data = lost.read_bytes()
    lost.unlink()
    built = site.build({"memory.md": f"# Memory\n\n{absence('src/**', 'cron')}"})
    assert built.problems == [("blob-missing", "memory", 3)]
    assert built.details[0].details[0].startswith("src/jotter/recall.py: object ")
    (said,) = searches(built)
    assert "in 1 file of SRC-1" in said
    assert "proves nothing" in said
    assert "nothing found" not in said
    # once it is there, the same site passes
    lost.write_bytes(data)
    mended = site.build()
    assert (mended.problems, mended.read) == ([], [])
    assert "in 2 files of SRC-1" in searches(mended)[0]


def test_a_lost_directory_makes_the_source_unavailable(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    object_file(pinned_repo, "docs").unlink()
    built = site.build({"memory.md": f"# Memory\n\n{absence('src/**', 'cron')}"})
    assert built.problems == [("commit-missing", "memreport.toml", 5)]
    assert ["unverified" in said for said in searches(built)] == [True]


def test_an_unavailable_source_is_never_a_pass(site: TinySite, pinned_repo: PinnedRepo) -> None:
    toml = report_toml(pinned_repo)
    text = f"# Memory\n\n{absence('src/**', 'cron')}"
    good = site.build({"memory.md": text, "memreport.toml": toml})
    assert good.problems == []
    gone = site.build({"memreport.toml": toml.replace("/jotter", "/gone")})
    assert [code for code, *_ in gone.problems] == ["checkout-missing"]
    assert gone.status == 1
    (said,) = searches(gone)
    assert said.startswith("Search for the text cron in the files of SRC-1 that match src/**")
    assert said.endswith("unverified")


# --- builds ---------------------------------------------------------------------------------


def test_a_search_is_run_once_for_a_pin(
    site: TinySite, pinned_repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def counted(requests: Requests, reader: SourceReader, encoding: str) -> Answers:
        asked.append(len(requests.searches))
        return resolve(requests, reader, encoding)

    resolve = verify.resolve
    monkeypatch.setattr(verify, "resolve", counted)
    files = {"memory.md": f"# Memory\n\n{absence('src/**', 'cron')}", "alone.md": "# Alone\n"}
    first = site.build(files)
    again = site.build()
    assert (asked, again.written, again.problems) == ([1], [], [])
    # another pattern is another search
    changed = site.build({"memory.md": files["memory.md"].replace("cron", "scored")})
    assert asked == [1, 1]
    assert changed.problems == [("refuted-absence", "memory", 3)]
    # another pin as well, and only the page that shows it is written
    old = report_toml(pinned_repo).replace(pinned_repo.commit, pinned_repo.commits[0])
    moved = site.build({"memreport.toml": old, "memory.md": files["memory.md"]})
    assert asked == [1, 1, 1]
    assert "alone" not in moved.written
    assert searches(moved)[0].split(" @ ")[0] == searches(first)[0].split(" @ ")[0]


def test_a_moved_pin_rewrites_the_page_of_the_search(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    text = f"# Memory\n\n{absence('src/jotter/search.py', 'cron')}"
    old = report_toml(pinned_repo).replace(pinned_repo.commit, pinned_repo.commits[0])
    files = {"memreport.toml": old, "memory.md": text, "alone.md": "# Alone\n"}
    assert site.build(files).problems == []
    built = site.build({"memreport.toml": report_toml(pinned_repo)})
    assert built.problems == [("empty-search", "memory", 3)]
    # index has the toctree of what changed
    assert (built.read, sorted(built.written)) == ([], ["index", "memory"])


@pytest.mark.parametrize("parallel", [1, 2])
def test_parallel_reading_finds_the_same(site: TinySite, parallel: int) -> None:
    names: Sequence[str] = [f"page{n}" for n in range(6)]
    files = {
        f"{name}.md": f"# {name}\n\n{absence('src/**', 'scored', name=name)}" for name in names
    }
    built = site.build(files, "dummy", parallel=parallel)
    assert built.problems == [("refuted-absence", name, 3) for name in names]
