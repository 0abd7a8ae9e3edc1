"""The words that readers see: every one is in the catalogues, and German pages are German."""

from __future__ import annotations

import gettext
import re
import runpy
from pathlib import Path
from typing import Any

import pytest
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po
from bs4 import BeautifulSoup
from pinned_repo import PinnedRepo
from sitebuilder import TinySite

from sphinx_memreport.sphinx_ext.words import CATALOGUE, LOCALE, SCRIPT_WORDS

ROOT = Path(__file__).parents[1]
TOOL = runpy.run_path(str(ROOT / "tools" / "catalogues.py"))
LANGUAGES = [path.parent.parent.name for path in TOOL["po_files"]()]


def catalogue(language: str) -> Any:
    with (LOCALE / language / "LC_MESSAGES" / f"{CATALOGUE}.po").open("rb") as file:
        return read_po(file, locale=language)


def messages(found: Any) -> dict[Any, Any]:
    return {message.id: message.string for message in found if message.id}


def test_german_is_there() -> None:
    assert "de" in LANGUAGES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_catalogue_has_every_message_and_no_other(language: str) -> None:
    known, wanted = messages(catalogue(language)), messages(TOOL["template"]())
    assert len(wanted) > 200
    assert known.keys() == wanted.keys(), "run python tools/catalogues.py"
    assert TOOL["untranslated"](catalogue(language)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_translation_has_the_places_of_its_message(language: str) -> None:
    def places(text: str) -> list[str]:
        return sorted(re.findall(r"\{\w+\}", text))

    for message, translation in messages(catalogue(language)).items():
        pairs = zip(message, translation, strict=True) if isinstance(message, tuple) else []
        for one, other in pairs or [(message, translation)]:
            assert places(one) == places(other), one


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_compiled_is_what_is_written(language: str) -> None:
    compiled = gettext.translation(CATALOGUE, str(LOCALE), [language])
    for message, translation in messages(catalogue(language)).items():
        if isinstance(message, tuple):
            found: object = tuple(compiled.ngettext(*message, number) for number in (1, 2))
        else:
            found = compiled.gettext(message)
        assert found == translation, "run python tools/catalogues.py"


def test_the_words_of_the_script_are_listed() -> None:
    path = ROOT / "sphinx_memreport" / "sphinx_ext" / "static" / "memreport.js"
    found = extract_from_file("javascript", path, keywords={"_": None})
    assert {message for _line, message, _comments, _context in found} == set(SCRIPT_WORDS)


# --- pages ----------------------------------------------------------------------------------

MEMORY = """\
# Notizen

```{memmember} memory
```

::::{memroute} MEM-RTE-recall — Abruf
:implementation: wired
:guarantee: best effort
:immediate-return: inapplicable — nichts.
:later-readback: inapplicable — nichts.
:delegated-visibility: inapplicable — nichts.
:selection: inapplicable — nichts.
:invalidation: inapplicable — nichts.
:activation: inapplicable — nichts.
:evidence-limits: inapplicable — nichts.

```{evidence} SRC-1 src/jotter/store.py
self.notes.append(note)
```
::::

::::{memabsence} MEM-ABS-expiry — Kein Ablauf
:pattern: expire
:searched: src/**

Siehe MEM-RTE-recall.
::::

```{memrecords}
```

```{memoverview}
```
"""


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    site = TinySite(tmp_path / "site", pinned_repo)
    site.write({"memory.md": MEMORY})
    return site


def texts(page: BeautifulSoup, selector: str) -> list[str]:
    return [" ".join(each.get_text(" ").split()) for each in page.select(selector)]


def test_german_pages(site: TinySite) -> None:
    # a catalogue stays loaded in its process, so this is one of its own
    done = site.run("-D", "language=de", "-q")
    assert done.returncode == 0, done.stderr
    out = site.root / "cache" / "html"
    page = BeautifulSoup((out / "memory.html").read_text(encoding="utf-8"), "html.parser")
    assert texts(page, "#mem-rte-recall .memreport-badge") == ["Route", "Umsetzung: verdrahtet"]
    assert texts(page, ".memreport-evidence .memreport-badge") == ["geprüft"]
    assert "nach Kräften" in texts(page, "#mem-rte-recall + dd dl.memreport-fields > dd")
    assert texts(page, "#mem-rte-recall + dd dl.memreport-relations > dt") == ["Genannt von :"]
    assert texts(page, ".memreport-header dt")[:3] == ["System :", "Teilbericht :", "Quellen :"]
    (search,) = texts(page, ".memreport-search")
    assert search.startswith("Suche nach dem Text expire in SRC-1 ,")
    assert search.endswith("nichts gefunden")
    assert texts(page, ".memreport-records th")[:4] == ["ID", "Bezeichnung", "Art", "Teilbericht"]
    words = page.select_one("script#memreport-words")
    assert words is not None
    assert '"Copy":"Kopieren"' in words.get_text()
    source = next((out / "_memreport").rglob("*.html")).read_text(encoding="utf-8")
    assert "Auszüge aus der Datei" in source
    index = (out / "mem-records.html").read_text(encoding="utf-8")
    assert "Einträge nach Art" in index
    assert "Routen" in index
    # what an author reads stays as it is documented
    site.write({"memory.md": f"{MEMORY}\nMEM-OBJ-nothing\n"})
    done = site.run("-D", "language=de", "-q")
    assert "is declared nowhere in report 'jotter' [memreport.dangling-id]" in done.stderr


def test_english_pages_carry_no_words_for_the_script(site: TinySite) -> None:
    assert "memreport-words" not in site.build().page("memory")


def test_a_language_without_a_catalogue_is_english(site: TinySite) -> None:
    done = site.run("-D", "language=fr", "-q")
    assert done.returncode == 0, done.stderr
    text = (site.root / "cache" / "html" / "memory.html").read_text(encoding="utf-8")
    assert "Cited by" in text
