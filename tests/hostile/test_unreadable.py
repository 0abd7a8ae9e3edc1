"""Files with the name of a document that are none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import run as run_command
from pinned_repo import PinnedRepo
from sitebuilder import TinySite


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _latin(path: Path) -> None:
    path.write_bytes("# Café\n".encode("latin-1"))


def _late(path: Path) -> None:
    path.write_bytes(b"# Good\n\ntext\n\xff\n")


def _utf_16(path: Path) -> None:
    path.write_bytes("# Good\n".encode("utf-16"))


@pytest.mark.parametrize(
    ("make", "line", "said"),
    [
        (_pipe, 1, "expected a document, found no regular file"),
        (_latin, 1, "expected UTF-8, found the byte 0xe9"),
        (_late, 4, "expected UTF-8, found the byte 0xff"),
        (_utf_16, 1, "expected UTF-8, found the byte 0xff"),
    ],
)
def test_a_document_that_cannot_be_read_is_named_and_ends_the_build(
    site: TinySite, make: Callable[[Path], None], line: int, said: str
) -> None:
    site.write({"a.md": "# A\n"})
    make(site.source / "bad.md")
    make(site.source / "worse.rst")
    built = site.build()
    assert built.status == 2
    for name in ("bad.md", "worse.rst"):
        assert f"{name}:{line}: ERROR: {said} [memreport.swallowed-text]" in built.warnings


def test_it_is_no_traceback_and_mended_by_the_next_build(site: TinySite) -> None:
    site.write({"a.md": "# A\n", "b.md": "# B\n"})
    assert site.run("-j", "2").returncode == 0
    _latin(site.source / "bad.md")
    done = site.run("-j", "2")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    (site.source / "bad.md").unlink()
    done = site.run("-j", "2")
    assert (done.returncode, done.stderr) == (0, "")


def test_check_names_it_too(site: TinySite) -> None:
    _latin(site.source / "bad.md")
    done = run_command("check", "--site", site.source)
    assert done.exit_code == 2
    assert "bad.md:1: ERROR: expected UTF-8, found the byte 0xe9" in done.stdout


def test_a_byte_order_mark_is_no_fault(site: TinySite) -> None:
    assert site.build({"a.md": "\ufeff# A\n"}).warnings == ""


def test_a_build_that_ended_so_leaves_nothing_to_the_next_in_its_process(site: TinySite) -> None:
    """``check --watch`` checks again and again in one process."""
    _latin(site.source / "bad.md")
    assert site.build().status == 2
    (site.source / "bad.md").unlink()
    built = site.build({"a.md": "# A\n\n```{memobjekt} MEM-OBJ-x\n```\n"})
    assert built.problems == [("unknown-directive", "a", 3)]
