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


@pytest.mark.parametrize(
    ("name", "shown", "said"),
    [
        (b"bad\xff.md", "bad\\udcff.md", "the byte 0xff, which is not UTF-8"),
        (b"d\xe9p/a.md", "d\\udce9p/a.md", "the byte 0xe9, which is not UTF-8"),
        (b"a\x1b]0;x\x07.md", "a⟦U+001B⟧]0;x⟦U+0007⟧.md", "U+001B, which is not printed"),
        (b"a\t.rst", "a\t.rst", "U+0009, which is not printed"),
        ("a\u202etxt.md".encode(), "a⟦U+202E⟧txt.md", "U+202E, which is not printed"),
        ("a\x9b31m.md".encode(), "a⟦U+009B⟧31m.md", "U+009B, which is not printed"),
    ],
)
def test_a_name_that_cannot_be_printed_ends_the_build(
    site: TinySite, name: bytes, shown: str, said: str
) -> None:
    path = site.source / os.fsdecode(name)
    path.parent.mkdir(exist_ok=True)
    path.write_text("# A\n\nMEM-OBJ-x\n", encoding="utf-8")
    built = site.build({"b.md": "# B\n"})
    assert built.status == 2
    assert len(built.details) == 1
    assert f"{shown}:1: ERROR: the name of the document holds" in built.warnings
    assert said in built.warnings
    checked = run_command("check", "--site", site.source)
    assert (checked.exit_code, said in checked.stdout) == (2, True)
    assert "\x1b" not in built.warnings + checked.output
    path.unlink()
    assert site.build().problems == []


@pytest.mark.parametrize("name", ["ünïcode", "日本", "می\u200cخواهم", "a b", "👩\u200d🔬"])
def test_names_in_any_language_are_read(site: TinySite, name: str) -> None:
    assert site.build({f"{name}.md": "# A\n"}).warnings == ""


def test_a_document_that_is_too_large_is_not_read(site: TinySite) -> None:
    with (site.source / "a.md").open("wb") as file:
        file.truncate(10**12)  # which takes no place
    built = site.build()
    assert (built.status, built.problems) == (2, [("swallowed-text", "a.md", 1)])
    assert "larger than 67108864 bytes" in built.warnings


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
