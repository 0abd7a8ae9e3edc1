"""``memcoverage``: rows, the paths and IDs in them, what is wrong with a body (contract, 3.9)."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import TinySite, report_toml

from sphinx_memreport.core.yaml_body import BodyFault, Items, Table, Text, read_body

RECORD = """\
# Records

:::{memobject} MEM-OBJ-note — Stored note
:::

:::{memobject} MEM-OBJ-index — Index
:::
"""


def coverage(body: str) -> dict[str, str]:
    """A document whose body begins at line 4."""
    return {"records.md": RECORD, "cover.md": f"# Cover\n\n```{{memcoverage}}\n{body}```\n"}


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


def with_capture(tmp_path: Path, repo: PinnedRepo) -> TinySite:
    """A site with a git source and a capture."""
    site = TinySite(tmp_path / "site")
    digest = hashlib.sha256(b"A session.\n").hexdigest()
    capture = (
        '[reports.jotter.sources.SRC-2]\nkind = "capture"\nidentity = "a session"\n'
        f'file = "session.txt"\nsha256 = "{digest}"\nlayer = "observed run"\n'
    )
    toml = report_toml(repo, source=capture)
    site.write({"session.txt": b"A session.\n", "memreport.toml": toml})
    return site


# --- the table ------------------------------------------------------------------------------


def test_table_with_links(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    built = with_capture(tmp_path, pinned_repo).build(
        coverage(
            "- entry: Recall, see MEM-OBJ-index\n"
            "  direct: [src/jotter/recall.py, SRC-2]\n"
            "  search: SRC-1:src\n"
            "  supplied: [verification]\n"
            "  records: [MEM-OBJ-note]\n"
            "  unresolved: What a *model* does.\n"
            "  prevents: Any conclusion about MEM-OBJ-note.\n"
            "  note: 'yes: # as it is'\n"
        )
    )
    assert built.problems == []
    table = built.soup("cover").select_one(".memreport-scroll table.memreport-coverage")
    assert table is not None
    cells = [" ".join(cell.get_text().split()) for cell in table.select("td")]
    assert cells == [
        "Recall, see MEM-OBJ-index",
        "src/jotter/recall.py SRC-2 searched SRC-1:src supplied by the verification member",
        "MEM-OBJ-note",
        "Unresolved: What a model does. Prevents: Any conclusion about MEM-OBJ-note. "
        "yes: # as it is",
    ]
    links = {link.get_text(): link["href"] for link in table.select("a")}
    base = f"https://github.com/example/jotter/{{}}/{pinned_repo.commit}/"
    assert links["MEM-OBJ-note"] == "records.html#mem-obj-note"
    assert links["MEM-OBJ-index"] == "records.html#mem-obj-index"
    assert links["src/jotter/recall.py"] == base.format("blob") + "src/jotter/recall.py"
    assert links["SRC-1:src"] == base.format("tree") + "src"
    # an ID in a path is no link inside the link
    assert not table.select("a a")


def test_rows_are_citations(site: TinySite) -> None:
    built = site.build(coverage("- entry: All\n  records: [MEM-OBJ-note]\n"))
    assert built.problems == []
    card = built.soup("records").select_one("dl.memreport-object")
    assert card is not None
    assert "Cited by" in card.get_text()


def test_rest(site: TinySite) -> None:
    body = ".. memcoverage::\n\n   - entry: All\n     records: [MEM-OBJ-note]\n   - note: none\n"
    built = site.build({"records.md": RECORD, "cover.rst": f"Cover\n=====\n\n{body}"})
    assert built.problems == [
        ("coverage-gap", "cover", 8),
        ("missing-field", "cover", 8),
    ]


# --- what is wrong in a row -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        ("- entry: A\n  direct: [src/jotter/recall.py]\n", [("coverage-gap", 4)]),
        ("- entry: A\n  direct:\n  - src\n  unresolved: All of it.\n", []),
        ("- records: [MEM-OBJ-note]\n", [("missing-field", 4)]),
        ("- entry: A\n  records: MEM-OBJ-note\n- entry: B\n  recrods: []\n  unresolved: x\n",
         [("invalid-value", 6)]),
        ("- entry: A\n  direct:\n  - src/jotter/recal.py\n  records: [MEM-OBJ-note]\n",
         [("path-missing", 4)]),
        ("- entry: A\n  supplied: [src/other]\n  records: [MEM-OBJ-note]\n", [("path-missing", 4)]),
        ("- entry: A\n  search: [SRC-7:src]\n  records: [MEM-OBJ-note]\n", [("unknown-source", 4)]),
        ("- entry: A\n  direct: [SRC-1]\n  records: [MEM-OBJ-note]\n", [("path-missing", 4)]),
        ("- entry: A\n  direct: [SRC-9]\n  records: [MEM-OBJ-note]\n", [("unknown-source", 4)]),
        ("- entry: A\n  direct: ['src/jotter/recall.py#L90']\n  records: [MEM-OBJ-note]\n",
         [("range-outside-file", 4)]),
        ("- entry: A\n  records:\n  - MEM-OBJ-note\n  - MEM-OBJ-nte\n", [("dangling-id", 4)]),
        ("- entry: A\n  records: [MEM-OBJ-Note]\n", [("malformed-id", 4)]),
        ("- entry: A\n  records: [SRC-1, MEM-OBJ-note]\n", [("invalid-value", 4)]),
        ("- entry: A\n  unresolved: b\n  note: |\n    See\n    MEM-OBJ-gone.\n",
         [("dangling-id", 8)]),
        ("- entry: {a: b}\n  unresolved: b\n", [("invalid-value", 4)]),
        ("- entry: A\n  direct: [[a]]\n  unresolved: b\n", [("invalid-value", 4)]),
        ("- just text\n", [("invalid-value", 4)]),
        ("entry: A\nrecords: [MEM-OBJ-note]\n", [("invalid-value", 4)]),
        ("", [("missing-field", 3)]),
    ],
)  # fmt: skip
def test_rows(site: TinySite, body: str, problems: list[tuple[str, int]]) -> None:
    built = site.build(coverage(body), builder="dummy")
    assert built.problems == [(code, "cover", line) for code, line in problems], built.warnings


@pytest.mark.parametrize(
    ("body", "code", "line"),
    [
        ("- entry: A\n  note: a: b\n", "invalid-value", 5),
        ("- entry: A\n  entry: B\n", "invalid-value", 4),
        ("- entry: A\n  note: &x b\n", "invalid-value", 4),
        ("- entry: A\n  note: *x\n", "invalid-value", 4),
        ("- entry: A\n  note: !!python/object:os.system x\n", "invalid-value", 4),
        ("- entry: A\n  note: see # 3\n", "swallowed-text", 5),
        ("- entry: A\n- " + "[" * 2000 + "\n", "invalid-value", 5),
        ("- entry: A\n---\n- entry: B\n", "invalid-value", 5),
        ('- entry: "a\\0b"\n', "invalid-value", 4),
        ('- entry: "\\UFFFFFFFF"\n', "invalid-value", 4),
        ("---\n- entry: A\n---\n", "swallowed-text", 3),
    ],
)
def test_bodies_that_are_no_rows(site: TinySite, body: str, code: str, line: int) -> None:
    built = site.build(coverage(body), builder="dummy")
    assert built.problems == [(code, "cover", line)], built.warnings
    assert built.status == 1


def test_argument_is_no_row(site: TinySite) -> None:
    text = "# Cover\n\n```{memcoverage} All of it\n- entry: A\n  unresolved: b\n```\n"
    built = site.build({"cover.md": text}, builder="dummy")
    assert built.problems == [("swallowed-text", "cover", 3)]


def test_unknown_key_names_the_nearest(site: TinySite) -> None:
    built = site.build(coverage("- entry: A\n  unresolvd: b\n  records: [MEM-OBJ-note]\n"))
    assert [problem.fix for problem in built.details] == ["did you mean 'unresolved'?"]


def test_gap_is_an_error_at_level_strict(site: TinySite, pinned_repo: PinnedRepo) -> None:
    body = {"cover.md": "# Cover\n\n```{memcoverage}\n- entry: A\n```\n"}
    assert (site.build(body).problems, site.build().status) == ([("coverage-gap", "cover", 4)], 0)
    site.write({"memreport.toml": report_toml(pinned_repo, keys='contract = "strict"')})
    assert (site.build().problems, site.build().status) == ([("coverage-gap", "cover", 4)], 1)


def test_outside_a_report(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    site = TinySite(tmp_path / "site")
    site.write({"memreport.toml": report_toml(pinned_repo, directory="jotter")})
    built = site.build({"cover.md": "# A\n\n```{memcoverage}\n- entry: A\n```\n"}, builder="dummy")
    assert built.problems == [("no-report", "memreport.toml", 2), ("outside-report", "cover", 3)]


def test_path_needs_its_source_when_several_trees_have_paths(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    site = TinySite(tmp_path / "site")
    one = report_toml(pinned_repo)
    second = one[one.index("[reports.jotter.sources") :].replace("SRC-1", "SRC-2")
    site.write({"memreport.toml": one + second})
    built = site.build(
        coverage(
            "- entry: A\n  direct: [src]\n  unresolved: b\n"
            "- entry: B\n  direct: ['SRC-2:src']\n  unresolved: b\n"
        ),
        builder="dummy",
    )
    assert built.problems == [("unknown-source", "cover", 4)]


# --- reading YAML -----------------------------------------------------------------------------


def test_scalars_are_text_with_lines() -> None:
    assert read_body(["- a: yes", "  b: 1.10", "- ~"]) == Items(
        1,
        (
            Table(1, {"a": Text(1, "yes"), "b": Text(2, "1.10")}, {"a": 1, "b": 2}),
            Text(3, "~"),
        ),
    )
    assert read_body(["# a comment of its own line", ""]) is None


@pytest.mark.parametrize("text", ["[", "{", "'", '"', "&", "*", "!", "%", "@", "`", "? [a]\n: b"])
def test_no_text_raises_anything_else(text: str) -> None:
    with pytest.raises(BodyFault):
        read_body(text.split("\n"))
