"""``memamendment``: records that others supersede (contract, section 3.7)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import Built, TinySite

RECORDS = """\
# Memory

```{memmember} memory
```

```{memsupplied}
RT-OBJ-log: Log
```

:::{memobject} MEM-OBJ-old — Old note
:counterpart: MEM-OBJ-note, RT-OBJ-log
:::

:::{memobject} MEM-OBJ-note — Note
:::

:::{memobject} MEM-OBJ-other — Other
:::
"""
AMENDED = """\
# Reconciliation

```{memmember} reconciliation
```

:::{memamendment} MEM-OBJ-old
:superseded-by: MEM-OBJ-note, MEM-OBJ-other

Both hold parts of what it was. Compare RT-OBJ-log.
:::

:::{memamendment} RT-OBJ-log
:superseded-by: MEM-OBJ-other
:::
"""
CITING = "# Citing\n\nSee MEM-OBJ-old.\n"
ALONE = "# Alone\n\nNothing.\n"
SITE = {"memory.md": RECORDS, "amended.md": AMENDED, "citing.md": CITING, "alone.md": ALONE}


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


def card(built: Built, anchor: str) -> str:
    """The text of a record's card."""
    signature = built.soup("memory").select_one(f"#{anchor}")
    assert signature is not None
    assert signature.parent is not None
    return " ".join(signature.parent.get_text().split())


def test_what_a_reader_gets(site: TinySite) -> None:
    built = site.build(SITE, needs_build_json=True)
    assert built.problems == []
    assert built.broken_links() == []
    old = built.soup("memory").select_one(".memreport-superseded")
    assert old is not None
    (standing,) = old.select(".memreport-standing")
    assert " ".join(standing.get_text().split()) == (
        "superseded by Note (MEM-OBJ-note), Other (MEM-OBJ-other), see the amendment"
    )
    assert [a["href"] for a in standing.select("a")] == [
        "#mem-obj-note",
        "#mem-obj-other",
        "amended.html#amendment-mem-obj-old",
    ]
    assert "Supersedes: Old note (MEM-OBJ-old)" in card(built, "mem-obj-note")
    assert "Supersedes: Old note (MEM-OBJ-old), Log (RT-OBJ-log)" in card(built, "mem-obj-other")
    # a supplied entry is marked as well
    assert "superseded by Other (MEM-OBJ-other)" in card(built, "rt-obj-log")
    # and so is each reference
    (link,) = built.soup("citing").select("[role=main] a[title*=superseded]")
    assert link["title"] == (
        "MEM-OBJ-old — Old note (Operative object); superseded by MEM-OBJ-note, MEM-OBJ-other"
    )
    assert link.select(".mem-superseded")
    needs = built.data("needs.json")["versions"][""]["needs"]
    successors = ["jotter:MEM-OBJ-note", "jotter:MEM-OBJ-other"]
    assert needs["jotter:MEM-OBJ-old"]["mem_superseded_by"] == successors
    assert needs["jotter:RT-OBJ-log"]["mem_superseded_by"] == ["jotter:MEM-OBJ-other"]
    assert needs["jotter:MEM-OBJ-note"]["mem_superseded_by_back"] == ["jotter:MEM-OBJ-old"]
    assert needs["jotter:MEM-OBJ-old"]["mem_counterpart"] == [
        "jotter:MEM-OBJ-note",
        "jotter:RT-OBJ-log",
    ]
    assert needs["jotter:RT-OBJ-log"]["mem_counterpart_back"] == ["jotter:MEM-OBJ-old"]


HEAD = "# Amended\n\n```{memmember} reconciliation\n```\n\n"
#: Text of a document whose amendment opens in line 6; the codes it must give there.
CASES: list[tuple[str, list[str]]] = [
    (HEAD + ":::{memamendment} MEM-OBJ-old\n:superseded-by: MEM-OBJ-gone\n:::", ["dangling-id"]),
    (HEAD + ":::{memamendment} MEM-OBJ-gone\n:superseded-by: MEM-OBJ-note\n:::", ["dangling-id"]),
    (HEAD + ":::{memamendment} MEM-OBJ\n:superseded-by: MEM-OBJ-note\n:::", ["malformed-id"]),
    (HEAD + ":::{memamendment} SRC-1\n:superseded-by: MEM-OBJ-note\n:::", ["malformed-id"]),
    (HEAD + ":::{memamendment} MEM-OBJ-old\n:superseded-by: MEM-OBJ\n:::", ["malformed-id"]),
    (HEAD + ":::{memamendment} MEM-OBJ-old\n:superseded-by: SRC-1\n:::", ["invalid-value"]),
    (HEAD + ":::{memamendment} MEM-OBJ-old\n:superseded-by: SRC-9\n:::", ["unknown-source"]),
    (HEAD + ":::{memamendment} MEM-OBJ-old\n:superseded-by: MEM-OBJ-old\n:::", ["invalid-value"]),
    (HEAD + ":::{memamendment} MEM-OBJ-old\n\nNo successor.\n:::", ["missing-field"]),
    (HEAD + ":::{memamendment} MEM-OBJ-old\n:superseded-by: ,\n:::", ["missing-field"]),
    (HEAD + ":::{memamendment} MEM-OBJ-old\n:superceded-by: MEM-OBJ-note\n:::", ["swallowed-text"]),
    (HEAD + ":::{memamendment}\n:superseded-by: MEM-OBJ-note\n:::", ["swallowed-text"]),
    (
        "# A\n\n```{memmember} runtime\n```\n\n"
        ":::{memamendment} MEM-OBJ-old\n:superseded-by: MEM-OBJ-note\n:::",
        ["wrong-member"],
    ),
    (
        "# A\n\n\n\n\n:::{memamendment} MEM-OBJ-old\n:superseded-by: MEM-OBJ-note\n:::",
        ["wrong-member"],
    ),
]


def test_problems_are_said_once_at_the_opening_line(site: TinySite) -> None:
    pages = {f"case{n:02}": f"{text}\n" for n, (text, _) in enumerate(CASES)}
    built = site.build({"memory.md": RECORDS} | {f"{n}.md": t for n, t in pages.items()}, "dummy")
    expected = zip(pages, (codes for _, codes in CASES), strict=True)
    assert built.problems == [(code, name, 6) for name, codes in expected for code in codes]
    assert built.details[0].message.startswith("option 'superseded-by': MEM-OBJ-gone")


def test_a_cycle_is_said_once(site: TinySite) -> None:
    pairs = [("old", "note, other"), ("other", "old"), ("note", "note")]
    amendments = "".join(
        f"\n:::{{memamendment}} MEM-OBJ-{one}\n:superseded-by: "
        f"{', '.join(f'MEM-OBJ-{each}' for each in others.split(', '))}\n:::\n"
        for one, others in pairs
    )
    built = site.build({"memory.md": RECORDS, "amended.md": HEAD + amendments}, "dummy")
    assert built.problems == [("invalid-value", "amended", 7), ("invalid-value", "amended", 15)]
    assert "a cycle, MEM-OBJ-old → MEM-OBJ-other → MEM-OBJ-old" in built.details[0].message
    assert "MEM-OBJ-note cannot supersede itself" in built.details[1].message


def test_an_amendment_rewrites_what_shows_it(site: TinySite) -> None:
    site.build({**SITE, "amended.md": AMENDED.partition(":::")[0]})
    built = site.build({"amended.md": AMENDED})
    # index has the toctree of what was edited
    assert sorted(built.written) == ["amended", "citing", "index", "memory"]
    clean = site.build(cache="clean")
    parallel = site.build(cache="parallel", parallel=2)
    for name in ("memory", "amended", "citing"):
        assert built.page(name) == clean.page(name) == parallel.page(name)
    removed = site.build({"amended.md": AMENDED.partition(":::")[0]})
    assert sorted(removed.written) == ["amended", "citing", "index", "memory"]
    assert "superseded" not in removed.text("memory")


@pytest.mark.parametrize("directive", ["memamendment", "memannotation"])
def test_what_does_not_count_links_to_nothing(site: TinySite, directive: str) -> None:
    lost = f":::{{{directive}}} MEM-OBJ-other\n:superseded-by: MEM-OBJ-note\ntext at once\n:::\n"
    files = {**SITE, "amended.md": f"# R\n\n```{{memmember}} reconciliation\n```\n\n{lost}"}
    assert "swallowed-text" in [code for code, *_ in site.build(files).problems]
    gone = RECORDS.replace(":::{memobject} MEM-OBJ-other — Other\n:::\n", "")
    cached = site.build({"memory.md": gone})
    assert cached.broken_links() == []
    assert cached.page("amended") == site.build(cache="clean").page("amended")
