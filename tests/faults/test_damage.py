"""What a build finds damaged of an earlier one: it is right all the same."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from sitebuilder import CONF, TinySite
from two_states import TwoStates

from sphinx_memreport.sphinx_ext.domain import MemDomain


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def emptied(path: Path) -> None:
    os.truncate(path, 0)


def garbled(path: Path) -> None:
    path.write_bytes(b"\x80\x05garbage\xff" * 50)


def altered(path: Path) -> None:
    """Change words and keep the form: it can still be loaded."""
    data = path.read_bytes()
    changed = re.sub(rb"[nN]ote|[jJ]otter", lambda word: word[0][::-1], data)
    path.write_bytes(changed if changed != data else data.swapcase())


def removed(path: Path) -> None:
    path.unlink()


Damage = Callable[[Path], None]
ALL: tuple[Damage, ...] = (truncated, emptied, garbled, altered, removed)
#: Files of an earlier build, and what happens to them.
DAMAGES: dict[str, tuple[Damage, ...]] = {
    "doctrees/environment.pickle": ALL,
    "doctrees/citing.doctree": ALL[:4],  # taken as it is, for its document is not edited
    "doctrees/memory.doctree": (altered,),
    "doctrees/memreport-build.json": (truncated,),
    "doctrees/memreport-build.lock": (garbled,),
    "doctrees/memreport-written.json": (altered, removed),
    "html/.buildinfo": (truncated, altered),
    "html/memreport.json": (truncated,),
    "html/problems.json": (altered,),
    "html/_memreport/jotter/src-1/*recall*": (truncated,),
}


def test_a_damaged_file_of_an_earlier_build(states: TwoStates) -> None:
    wrong = {}
    states.turn_to("first")
    states.site.build()
    pairs = [(pattern, damage) for pattern, damages in DAMAGES.items() for damage in damages]
    for turn, (pattern, damage) in enumerate(pairs):
        (file,) = (states.site.root / "cache").glob(pattern)
        damage(file)
        state = ("second", "first")[turn % 2]
        states.turn_to(state)
        if found := states.differences(state, states.site.build()):
            wrong[pattern, damage.__name__] = found
    assert wrong == {}


def test_a_damaged_source_page_is_written_again_though_nothing_changed(states: TwoStates) -> None:
    states.turn_to("first")
    states.site.build()
    for damage in ALL:
        for page in (states.site.root / "cache/html/_memreport").rglob("*.html"):
            damage(page)
        built = states.site.build()
        assert (damage, states.differences("first", built)) == (damage, [])
        assert built.read == []


def test_environments_of_another_version_are_not_used(
    states: TwoStates, monkeypatch: pytest.MonkeyPatch
) -> None:
    states.turn_to("first")
    states.site.build()
    assert states.site.build().read == []
    monkeypatch.setattr(MemDomain, "data_version", MemDomain.data_version + 1)
    built = states.site.build()
    assert built.read == ["citing", "index", "memory"]
    assert states.differences("first", built) == []


def test_a_copied_cache_is_used(states: TwoStates) -> None:
    states.turn_to("first")
    states.site.build()
    cache = states.site.root / "cache"
    shutil.copytree(cache / "doctrees", cache / "copy", copy_function=shutil.copyfile)
    shutil.rmtree(cache / "doctrees")
    (cache / "copy").rename(cache / "doctrees")
    built = states.site.build()
    assert (built.read, built.written) == ([], [])
    assert states.differences("first", built) == []


SAVE_MEANWHILE = """
def setup(app):
    def save(app, doctree):
        if "Old" in doctree.astext():
            (app.srcdir / "memory.md").write_text("# New")
    app.connect("doctree-read", save)
"""


def test_what_is_saved_while_its_document_is_read_is_read_by_the_next_build(tmp_path: Path) -> None:
    site = TinySite(tmp_path / "site")
    first = site.build({"conf.py": CONF + SAVE_MEANWHILE, "memory.md": "# Old"})
    assert "Old" in first.text("memory")
    second = site.build()
    assert second.read == ["memory"]
    assert "New" in second.text("memory")
    assert site.build().read == []
