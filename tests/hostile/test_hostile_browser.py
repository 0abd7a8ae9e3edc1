"""A page made of markup in a real browser: nothing of it runs, not in previews either."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import TinySite
from test_hostile_pages import MARKUP, page_of_markup

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]


def test_no_script_of_an_author_runs(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    cites = "# Cites\n\nSee MEM-OBJ-xb, MEM-RTE-xc and MEM-CLM-xd.\n\n```{memrecords}\n```\n"
    built = TinySite(tmp_path / "site", pinned_repo).build(
        {"m.md": page_of_markup(), "cites.md": cites}
    )
    ran: list[str] = []
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            page = browser.new_page()
            page.on("dialog", lambda dialog: (ran.append(dialog.message), dialog.dismiss()))
            page.on("pageerror", lambda error: ran.append(str(error)))
            for name in ("m", "cites"):
                page.goto((built.out / f"{name}.html").as_uri())
                assert page.locator("[data-hx]").count() == 0
                assert page.locator("[onerror]").count() == 0
            page.locator("p a[href$='#mem-obj-xb']").first.hover()
            tooltip = page.locator("[role=tooltip]")
            tooltip.wait_for()
            assert MARKUP[:30] in (tooltip.text_content() or "")
            assert page.locator("[data-hx], [onerror]").count() == 0
        finally:
            browser.close()
    assert ran == []
