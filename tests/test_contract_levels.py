"""The two contract levels and the layers that evidence is of (contract, sections 2 and 3.9)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import TinySite, report_toml

CAPTURE = b"The run returned five notes.\nAnd the control none.\n"
EVIDENCE = """
```{evidence} SRC-1 src/jotter/recall.py
return [note for _, note in scored[:limit]]
```
"""
ROUTE_FIELDS = "".join(
    f":{name}: Something.\n"
    for name in (
        *("immediate-return", "later-readback", "delegated-visibility", "selection"),
        *("invalidation", "activation", "evidence-limits"),
    )
)
COVERED = "\n```{memcoverage}\n- entry: All\n  records: [%s]\n```\n"


def strict_site(tmp_path: Path, repo: PinnedRepo, level: str = "strict") -> TinySite:
    """A report with layers for its tree, and a capture of an observed run."""
    site = TinySite(tmp_path / "site")
    source = (
        'layers = { implementation = ["src/**"], "doctrine/design" = ["*.md", "src/**"] }\n'
        '[reports.jotter.sources.SRC-2]\nkind = "capture"\nidentity = "a run"\n'
        f'file = "run.txt"\nsha256 = "{hashlib.sha256(CAPTURE).hexdigest()}"\n'
        'layer = "observed run"\n'
    )
    toml = report_toml(repo, keys=f'contract = "{level}"', source=source)
    site.write({"run.txt": CAPTURE, "memreport.toml": toml})
    return site


def card(directive: str, argument: str, options: str = "", body: str = "") -> str:
    return f"::::{{{directive}}} {argument}\n{options}\n{body}\n::::\n"


def route(status: str, body: str = EVIDENCE) -> str:
    return card("memroute", "MEM-RTE-recall — Recall", f"{status}\n{ROUTE_FIELDS}", body)


def document(*cards: str, covered: str = "") -> dict[str, str]:
    """Cards from line 3 on, and a coverage table in a document of its own."""
    files = {"memory.md": "# Memory\n\n" + "\n".join(cards)}
    if covered:
        files["cover.md"] = "# Cover\n" + COVERED % covered
    return files


WHAT_IT_IS = ":identity: A list.\n:form: symbolic\n:substrate: Memory.\n"


@pytest.mark.parametrize(
    ("cards", "covered", "codes"),
    [
        (card("memobject", "MEM-OBJ-note", WHAT_IT_IS, EVIDENCE), "MEM-OBJ-note", []),
        (card("memcomponent", "MEM-CMP-store", ":form: symbolic\n", EVIDENCE), "MEM-CMP-store",
         ["missing-field", "missing-field"]),
        (card("memobject", "MEM-OBJ-note", WHAT_IT_IS), "MEM-OBJ-note", ["no-evidence"]),
        (card("memobject", "MEM-OBJ-note", WHAT_IT_IS, EVIDENCE), "", ["uncovered-record"]),
        (card("memclaim", "MEM-CLM-fast", ":operation: It is fast.\n"), "", ["missing-field"]),
        (card("memclaim", "MEM-CLM-fast", ":source: The README.\n"), "", []),
        (card("memabsence", "MEM-ABS-expiry", ":pattern: expire\n:searched: src/**\n"), "", []),
        (route(":implementation: wired", ""), "MEM-RTE-recall", ["no-evidence"]),
        (route(":operation: observed"), "MEM-RTE-recall", ["overclaimed-status"]),
        # one mistake is one problem: without any evidence, that is it
        (route(":operation: observed", ""), "MEM-RTE-recall", ["no-evidence"]),
        # lost options are not missing as well
        (card("memobject", "MEM-OBJ-note", ":form: symbolic # cut\n", EVIDENCE), "MEM-OBJ-note",
         ["swallowed-text"]),
    ],
)  # fmt: skip
def test_what_strict_adds(
    tmp_path: Path, pinned_repo: PinnedRepo, cards: str, covered: str, codes: list[str]
) -> None:
    files = document(cards, covered=covered)
    strict = strict_site(tmp_path / "strict", pinned_repo).build(files, builder="dummy")
    assert strict.problems == [(code, "memory", 3) for code in codes], strict.warnings
    core = strict_site(tmp_path / "core", pinned_repo, "core").build(files, builder="dummy")
    kept = [code for code in codes if code == "swallowed-text"]
    assert [code for code, _, _ in core.problems] == kept


@pytest.mark.parametrize(
    ("status", "evidence", "codes"),
    [
        (":operation: observed", "SRC-2\nThe run returned five notes.", []),
        (":operation: observed", "SRC-1 README.md\nJotter keeps notes", ["overclaimed-status"]),
        (":operation: observed", "SRC-1 README.md\n:layer: observed run\n\nJotter keeps notes", []),
        (":implementation: observed", "SRC-1 README.md\nJotter keeps notes",
         ["overclaimed-status"]),
        (":operation: causally supported", "SRC-2\nThe run returned five notes.",
         ["overclaimed-status"]),
        (":operation: causally supported",
         "SRC-2\n:layer: causal experiment\n\nAnd the control none.", []),
        (":operation: observed", "SRC-2\n:layer: causal experiment\n\nAnd the control none.", []),
        (":operation: observed",
         "SRC-2\n:layer: reported operation\n\nThe run returned five notes.",
         ["overclaimed-status"]),
    ],
)  # fmt: skip
def test_overclaimed_statuses(
    tmp_path: Path, pinned_repo: PinnedRepo, status: str, evidence: str, codes: list[str]
) -> None:
    body = f"```{{evidence}} {evidence}\n```\n"
    built = strict_site(tmp_path, pinned_repo).build(
        document(route(status, body), covered="MEM-RTE-recall"), builder="dummy"
    )
    assert built.problems == [(code, "memory", 3) for code in codes], built.warnings


def test_supporting_evidence_counts(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    files = document(route(":operation: observed", ""), covered="MEM-RTE-recall")
    files["session.md"] = (
        "# Session\n\n```{evidence} SRC-2\n:supports: MEM-RTE-recall\n\n"
        "The run returned five notes.\n```\n"
    )
    assert strict_site(tmp_path, pinned_repo).build(files, builder="dummy").problems == []


@pytest.mark.parametrize(
    ("evidence", "problems"),
    [
        ("", [("overclaimed-status", "run", 6)]),
        ("```{evidence} SRC-2\nThe run returned five notes.\n```\n", []),
    ],
)
def test_status_of_an_annotation(
    tmp_path: Path, pinned_repo: PinnedRepo, evidence: str, problems: list[tuple[str, str, int]]
) -> None:
    files = document(route(":operation: uninspected"), covered="MEM-RTE-recall")
    note = card("memannotation", "MEM-RTE-recall", ":operation: observed\n", evidence)
    files["run.md"] = f"# Run\n\n```{{memmember}} epistemic\n```\n\n{note}"
    built = strict_site(tmp_path, pinned_repo).build(files, builder="dummy")
    assert built.problems == problems, built.warnings


def test_layer_is_shown_and_a_change_of_it_rewrites_the_page(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    site = strict_site(tmp_path, pinned_repo, "core")
    session = "```{evidence} SRC-2\nThe run returned five notes.\n```\n"
    readme = "```{evidence} SRC-1 README.md\nJotter keeps notes\n```\n"
    built = site.build(document(EVIDENCE, session, readme) | {"other.md": "# Other\n"})

    def layers() -> list[str]:
        found = built.soup("memory").select(".memreport-evidence .memreport-badge-layer")
        return [badge.get_text() for badge in found]

    # src/** is in two layers: the first one counts
    assert layers() == ["implementation", "observed run", "doctrine/design"]
    toml = (site.source / "memreport.toml").read_text(encoding="utf-8")
    built = site.build({"memreport.toml": toml.replace('"observed run"', '"reported operation"')})
    assert built.written == ["index", "memory"]  # the index has the table of contents
    assert layers() == ["implementation", "reported operation", "doctrine/design"]


def test_messages_say_what_to_type(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    built = strict_site(tmp_path, pinned_repo).build(
        document(route(":operation: observed")), builder="dummy"
    )
    overclaimed, uncovered = built.details
    assert "'observed run'" in overclaimed.message
    assert ":layer: observed run" in overclaimed.fix
    assert (uncovered.subject, "memcoverage" in uncovered.fix) == ("MEM-RTE-recall", True)


@pytest.mark.parametrize(
    "table",
    [
        "- entry: A\n  records: [MEM-OBJ-note\n",
        "- entry: A\n  recrods: [MEM-OBJ-note]\n",
        ":x: y\n",
    ],
    ids=["YAML", "a key", "an option"],
)
def test_a_coverage_table_that_cannot_be_read_is_all_that_is_said(
    tmp_path: Path, pinned_repo: PinnedRepo, table: str
) -> None:
    site = TinySite(tmp_path / "site")
    site.write({"memreport.toml": report_toml(pinned_repo, keys='contract = "strict"')})
    record = card("memobject", "MEM-OBJ-note", WHAT_IT_IS, EVIDENCE)
    built = site.build(
        {"m.md": f"# M\n\n{record}", "c.md": f"# C\n\n```{{memcoverage}}\n{table}```\n"}
    )
    assert [docname for _, docname, _ in built.problems] == ["c"]
