"""``memprofile`` and ``memcomparison`` (contract, section 3.10)."""

from __future__ import annotations

from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import TinySite, report_toml
from test_contract_levels import COVERED, EVIDENCE, WHAT_IT_IS, card, route, strict_site

RECORDS = "# Records\n\n" + "\n".join(
    (
        card("memobject", "MEM-OBJ-note — Note", WHAT_IT_IS, EVIDENCE),
        card("memobject", "MEM-OBJ-plan — Plan", WHAT_IT_IS,
             "```{evidence} SRC-1 README.md\nJotter keeps notes\n```"),
        card("memclaim", "MEM-CLM-fast — Fast", ":source: README.\n", EVIDENCE),
        card("memabsence", "MEM-ABS-decay — Decay", ":pattern: expire\n:searched: SRC-1:src/**\n"),
        route(":implementation: afforded\n:operation: uninspected"),
        "```{memsupplied}\nRT-RTE-answer\n```\n",
    )
) + COVERED % "MEM-OBJ-note, MEM-OBJ-plan, MEM-RTE-recall"  # fmt: skip


def profile(body: str) -> dict[str, str]:
    """A document whose body begins at line 4."""
    return {"records.md": RECORDS, "index.md": f"# Profile\n\n```{{memprofile}}\n{body}```\n"}


def finding(value: str, basis: str, records: str, axis: str = "storage_substrate") -> str:
    """An axis with one finding, at the third line."""
    return (
        f"{axis}:\n  assessment: known\n  findings:\n"
        f"  - value: {value}\n    basis: {basis}\n    records: [{records}]\n"
    )


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return strict_site(tmp_path, pinned_repo)


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ("storage_substrat:\n  assessment: absent\n", [("invalid-value", 4)]),
        ("lineage:\n  assessment: knwon\n", [("invalid-value", 4)]),
        ("lineage: known\n", [("invalid-value", 4)]),
        ("lineage:\n  note: None.\n", [("missing-field", 4)]),
        ("lineage:\n  assessment: known\n", [("missing-field", 4)]),
        ("lineage:\n  assessment: partial\n  findings: []\n", [("missing-field", 4)]),
        ("lineage:\n  assessment: absent\n  findings: []\n", []),
        ("trace_source:\n  assessment: absent\nlineage:\n  assessment: absent\n  findings:\n"
         "  - value: authored\n    basis: claimed\n", [("invalid-value", 6)]),
        (finding("yes", "wired", "MEM-OBJ-note", "trace_learning"), []),
        (finding("true", "wired", "MEM-OBJ-note", "trace_learning"), [("invalid-value", 7)]),
        (finding("files", "wierd", "MEM-OBJ-note"), [("invalid-value", 7)]),
        (finding("files", "claimed", "MEM-OBJ-nothing"), [("dangling-id", 7)]),
        (finding("files", "claimed", "SRC-1"), [("invalid-value", 7)]),
        ("lineage:\n  assessment: known\n  findings:\n  - basis: claimed\n  - value: authored\n",
         [("missing-field", 7), ("missing-field", 8)]),
        ("lineage:\n  assessment: known\n  findings: authored\n", [("invalid-value", 6)]),
        ("lineage:\n  assessment: known\n  findings:\n  - authored\n", [("invalid-value", 7)]),
        ("lineage:\n  assessment: absent\n  notes: x\n", [("invalid-value", 4)]),
        ("lineage:\n  assessment: absent\n  note: |\n   See\n   MEM-OBJ-gone.\n",
         [("dangling-id", 8)]),
        ("lineage:\n  assessment: absent\nlineage:\n  note: b\n", [("invalid-value", 6)]),
        ("- lineage\n", [("invalid-value", 4)]),
        ("", [("missing-field", 3)]),
    ],
)  # fmt: skip
def test_rules(site: TinySite, body: str, problems: list[tuple[str, int]]) -> None:
    built = site.build(profile(body), builder="dummy")
    assert built.problems == [(code, "index", line) for code, line in problems], built.warnings


@pytest.mark.parametrize(
    ("records", "strongest"),
    [
        ("MEM-OBJ-note", "wired"),  # evidence of layer implementation
        ("MEM-OBJ-plan", "claimed"),  # evidence of the design only
        ("MEM-OBJ-plan, MEM-OBJ-note", "wired"),  # the strongest counts
        ("MEM-CLM-fast", "claimed"),  # whatever a claim quotes, it is claimed
        ("MEM-ABS-decay", "wired"),  # the build runs the search
        ("MEM-RTE-recall", "afforded"),  # what its statuses say
        ("MEM-RTE-recall, RT-RTE-answer", "causally supported"),  # declared elsewhere
        ("", "claimed"),
    ],
)
def test_basis_rests_on_its_records(
    tmp_path: Path, pinned_repo: PinnedRepo, records: str, strongest: str
) -> None:
    bases = ("claimed", "afforded", "wired", "observed", "causally supported")
    rows = [f"  - value: files\n    basis: {basis}\n    records: [{records}]\n" for basis in bases]
    body = "storage_substrate:\n  assessment: known\n  findings:\n" + "".join(rows)
    site = strict_site(tmp_path / "strict", pinned_repo)
    built = site.build(profile(body), builder="dummy")
    beyond = range(bases.index(strongest) + 1, len(bases))
    assert built.problems == [("overclaimed-status", "index", 7 + 3 * row) for row in beyond]
    core = strict_site(tmp_path / "core", pinned_repo, "core")
    assert core.build(profile(body), builder="dummy").problems == []


def test_route_that_is_absent_allows_nothing(site: TinySite) -> None:
    files = profile(finding("files", "claimed", "MEM-RTE-recall"))
    files["records.md"] = files["records.md"].replace(": afforded", ": absent")
    assert site.build(files, builder="dummy").problems == [("overclaimed-status", "index", 7)]


def test_one_profile_for_a_report(site: TinySite) -> None:
    axis = "lineage:\n  assessment: absent\n"
    files = profile(axis) | {"second.md": f"# Second\n\n```{{memprofile}}\n{axis}```\n"}
    built = site.build(files, builder="dummy")
    assert built.problems == [("invalid-value", "second", 3)]
    assert "index:3" in built.details[0].message


def test_near_names_are_proposed(site: TinySite) -> None:
    built = site.build(profile(finding("file", "wird", "MEM-OBJ-note")), builder="dummy")
    assert [problem.fix for problem in built.details] == [
        "did you mean 'wired'?",
        "did you mean 'files'?",
    ]


def test_profile_as_a_table(site: TinySite) -> None:
    body = finding("files", "wired", "MEM-OBJ-note") + (
        "    note: One *file* a note.\n"
        "lineage:\n  assessment: uninspected\n  note: See MEM-OBJ-plan.\n"
    )
    built = site.build(profile(body))
    assert built.problems == []
    table = built.soup("index").select_one(".memreport-scroll table.memreport-profile")
    assert table is not None
    rows = [" ".join(row.get_text(" ").split()) for row in table.select("tbody tr")]
    assert rows[:3] == [
        "Storage substrate known files wired MEM-OBJ-note One file a note.",
        "Representational form not assessed",
        "Lineage uninspected See MEM-OBJ-plan .",
    ]
    assert len(rows) == 10
    links = [(link.get_text(), link["href"]) for link in table.select("a")]
    assert links == [
        ("MEM-OBJ-note", "records.html#mem-obj-note"),
        ("MEM-OBJ-plan", "records.html#mem-obj-plan"),
    ]


# --- comparison -------------------------------------------------------------------------------


def two_reports(tmp_path: Path, repo: PinnedRepo) -> TinySite:
    """Reports a and b with a profile each, c without one."""
    site = TinySite(tmp_path / "site")
    toml = "".join(report_toml(repo, slug, directory=slug) for slug in "abc")
    site.write({"memreport.toml": toml, "c/index.md": "# C\n"})
    for slug in "ab":
        name = f"MEM-OBJ-{slug}"
        records = f"{name}, MEM-OBJ-more"
        body = finding("files" if slug == "a" else "vector", "wired", records)
        site.write(
            {
                f"{slug}/profile.md": f"# P\n\n```{{memprofile}}\n{body}```\n",
                f"{slug}/records.md": f"# R\n\n:::{{memobject}} {name} — The one\n:::\n\n"
                ":::{memobject} MEM-OBJ-more\n:::\n",
            }
        )
    return site


def test_comparison(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    site = two_reports(tmp_path, pinned_repo)
    text = "# Compare\n\n```{memcomparison}\n:axes: storage_substrate, lineage\n```\n"
    built = site.build({"compare.md": text})
    assert built.problems == []
    table = built.soup("compare").select_one(".memreport-scroll table.memreport-comparison")
    assert table is not None
    rows = [" ".join(row.get_text(" ").split()) for row in table.select("tr")]
    assert rows == [
        "System Storage substrate Lineage",
        "A files wired also MEM-OBJ-more not assessed",
        "B vector wired also MEM-OBJ-more not assessed",
    ]
    links = {link.get_text(): link["href"] for link in table.select("a")}
    assert links["files"] == "a/records.html#mem-obj-a"
    assert links["vector"] == "b/records.html#mem-obj-b"
    assert links["A"] == "a/profile.html#memreport-profile"
    assert "Without a profile: C." in built.text("compare")
    assert built.broken_links() == []


def test_comparison_is_rewritten_exactly_when_it_changes(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    site = two_reports(tmp_path, pinned_repo)
    site.build({"compare.md": "# Compare\n\n```{memcomparison}\n:reports: a\n```\n"})
    profile = (site.source / "a/profile.md").read_text(encoding="utf-8")
    other = (site.source / "b/profile.md").read_text(encoding="utf-8")

    def written(name: str, text: str) -> list[str]:
        """What is written besides the index, which has the table of contents."""
        return [each for each in site.build({name: text}).written if each != "index"]

    assert site.build().written == []
    longer = profile.replace("# P\n", "# P\n\nA line.\n")
    assert written("a/profile.md", longer) == ["a/profile"]
    assert written("a/profile.md", longer.replace("files", "sqlite")) == ["a/profile", "compare"]
    assert written("b/profile.md", other.replace("vector", "kv")) == ["b/profile"]


def test_options_of_a_comparison(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    site = two_reports(tmp_path, pinned_repo)
    text = "# C\n\n```{memcomparison}\n:reports: a, bb\n:axes: lineag\n```\n"
    built = site.build({"compare.md": text}, builder="dummy")
    assert built.problems == [("invalid-value", "compare", 3), ("invalid-value", "compare", 3)]
    assert {problem.fix for problem in built.details} == {
        "did you mean 'lineage'?",
        "did you mean b?",
    }
