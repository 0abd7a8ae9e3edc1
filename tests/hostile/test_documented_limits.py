"""The page about safety names the limits that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from sphinx_memreport.gitstore import limits

PAGE = Path(__file__).resolve().parents[2] / "docs/explanation/safety.md"
MIB = 1024 * 1024


@pytest.mark.parametrize(
    ("what", "limit"),
    [
        ("one file", f"{limits.MAX_BYTES // MIB} MiB"),
        ("all files", f"{limits.MAX_TOTAL_BYTES // MIB // 1024} GiB"),
        ("one directory", f"{limits.MAX_TREE_BYTES // MIB} MiB"),
        ("the pinned commit", f"{limits.MAX_COMMIT_BYTES // MIB} MiB"),
        ("names in the whole", f"{limits.MAX_NAMES:,}, or {limits.MAX_PATH_BYTES // MIB} MiB"),
        ("objects that git cannot", f"{limits.MAX_FAILURES:,}"),
        ("time that git", f"{limits.PATIENCE:g} seconds"),
        ("memory that git", limits.GIT_ALLOCATION.replace("m", " MiB")),
        ("repositories", f"{limits.MAX_LENDERS}, and {limits.MAX_ALTERNATES_DEPTH} deep"),
        ("a capture", f"{limits.MAX_BYTES // MIB} MiB"),
    ],
)
def test_the_page_names_what_holds(what: str, limit: str) -> None:
    (row,) = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith(f"| {what}")]
    assert row.split("|")[2].strip() == limit
