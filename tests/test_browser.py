"""The built example in headless Chromium: what a reader sees and does.

Every page is served from this machine. Playwright's clock stands in for waiting.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sitebuilder import broken_links

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe_module = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)

EXAMPLE = Path(__file__).parent.parent / "example_report"
STATIC = EXAMPLE.parent / "sphinx_memreport" / "sphinx_ext" / "static"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
THEMES = ("furo", "alabaster", "pydata_sphinx_theme", "sphinx_book_theme", "sphinx_rtd_theme")
#: Each theme in light, and those that have a dark scheme in dark.
SCHEMES = [
    *((theme, "light") for theme in THEMES),
    *((theme, "dark") for theme in ("furo", "pydata_sphinx_theme", "sphinx_book_theme")),
]
#: One of each thing that is ours; all others are alike, and axe takes its time.
OURS = (
    ".memreport-header",
    ".memreport-record:has(> #mem-obj-note)",
    ".memreport-record:has(> #mem-rte-recall)",
    ".memreport-file-about",
    ".memreport-excerpt:nth-of-type(1)",
)
PHONE = {"width": 360, "height": 740}
REFERENCE = "#mem-obj-note + dd a:has(> .mem-record)"
TOOLTIP = "[role=tooltip]"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
]

#: The output folder of the example in a theme.
Example = Callable[[str], Path]
#: Opens a page of it: ``look("jotter/memory.html", theme="furo", …)``, options of the context.
Look = Callable[..., Any]


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    """Builds the example once for each theme that is asked for, sphinx-copybutton with it."""
    root = tmp_path_factory.mktemp("example")
    source = root / "source"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("checkouts", "_build"))
    subprocess.run([sys.executable, source / "make_checkout.py"], check=True, capture_output=True)

    @cache
    def build(theme: str) -> Path:
        out = root / "out" / theme
        settings = (
            f"html_theme={theme}",
            "html_context.default_mode=auto",
            "extensions=myst_parser,sphinx_memreport,sphinx_copybutton",
        )
        command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", root / "doctrees"]
        command += [part for setting in settings for part in ("-D", setting)]
        command += [source, out]
        # the whole of it in the example's own theme; elsewhere a page will do
        command += [] if theme == "furo" else [source / "jotter" / "memory.md"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (out / "jotter/memory.html").exists(), done.stderr
        return out

    return build


@pytest.fixture(scope="session")
def address(example: Example) -> Iterator[str]:
    """Serves the output folders of all themes."""
    handler = partial(_Quiet, directory=str(example("furo").parent))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


class _Quiet(SimpleHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/favicon.ico":  # browsers ask for it unasked
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def look(browser: Any, example: Example, address: str) -> Iterator[Look]:
    """Opens pages; what they say on the console, or cannot load, fails the test at its end."""
    contexts = []
    complaints: list[str] = []

    def open_page(path: str, theme: str = "furo", *, base: str = "", **options: Any) -> Any:
        example(theme)
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(f"{path}: {error}"))
        page.on(
            "console",
            lambda said: (
                complaints.append(f"{said.location['url']}: {said.text}")
                if said.type == "error"
                else None
            ),
        )
        page.on("requestfailed", lambda sent: complaints.append(f"{path}: no {sent.url}"))
        page.goto(f"{base or address}/{theme}/{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def pages_of(out: Path) -> list[str]:
    """The pages that have content of ours."""
    own = [*out.glob("index.html"), *out.glob("jotter/*.html"), *out.glob("_memreport/**/*.html")]
    return sorted(path.relative_to(out).as_posix() for path in own)


# --- links ----------------------------------------------------------------------------------


def test_every_internal_link_lands(example: Example) -> None:
    assert broken_links(example("furo")) == []


@pytest.mark.parametrize("size", [PHONE, {"width": 1280, "height": 800}], ids=["phone", "desk"])
@pytest.mark.parametrize("theme", THEMES)
def test_a_deep_link_shows_the_head_of_the_card(
    look: Look, theme: str, size: dict[str, int]
) -> None:
    page = look("jotter/memory.html#mem-rte-recall", theme, viewport=size, reduced_motion="reduce")
    # nothing, such as a header that stays in place, lies over the label
    page.wait_for_function(
        """() => {
            const label = document.querySelector("#mem-rte-recall .descname");
            const { left, top, bottom } = label.getBoundingClientRect();
            const hit = (y) => label.contains(document.elementFromPoint(left + 3, y));
            return top >= 0 && bottom <= innerHeight && hit(top + 3) && hit(bottom - 3);
        }""",
        timeout=5000,
    )
    card = page.locator(".memreport-record:has(> #mem-rte-recall)")
    assert card.evaluate("card => getComputedStyle(card).outlineStyle") == "solid"


def test_a_quote_leads_to_its_line_and_from_there_to_the_record(look: Look) -> None:
    page = look("jotter/memory.html")
    page.locator("#evidence-1 .code-block-caption a", has_text="lines").click()
    line = page.locator(".memreport-line:target")
    assert "memreport-quoted" in line.get_attribute("class")
    assert line.inner_text().startswith(line.get_attribute("id")[1:])
    page.locator(".memreport-cited-at a", has_text="Note").first.click()
    assert page.url.endswith("/jotter/memory.html#mem-obj-note")


# --- copying --------------------------------------------------------------------------------


@pytest.fixture
def clipboard() -> dict[str, Any]:
    return {"permissions": ["clipboard-read", "clipboard-write"]}


@pytest.mark.parametrize("theme", ["furo", "alabaster"])
def test_a_passage_is_copied_without_its_line_numbers(
    look: Look, clipboard: dict[str, Any], theme: str
) -> None:
    page = look("jotter/memory.html", theme, **clipboard)
    block = page.locator("#evidence-2")
    assert block.locator("button:visible").count() == 1
    block.get_by_role("button", name="Copy the passage").click()
    sync_api.expect(page.get_by_role("status")).to_have_text("Passage copied")
    assert page.evaluate("navigator.clipboard.readText()") == (
        "Front matter that Jotter does not know belongs to the person who wrote\n"
        "it and is left alone."
    )


def test_the_id_of_a_record_copies_the_link_to_it(look: Look, clipboard: dict[str, Any]) -> None:
    page = look("jotter/memory.html", **clipboard)
    page.locator("#mem-obj-tombstone a.reference").focus()
    page.keyboard.press("Enter")
    sync_api.expect(page.get_by_role("status")).to_have_text("Link copied")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    assert page.url.endswith("/jotter/memory.html#mem-obj-tombstone")


# --- previews -------------------------------------------------------------------------------


def test_a_preview_opens_by_pointer_after_a_while_and_closes(look: Look) -> None:
    page = look("jotter/memory.html")
    page.clock.install()
    link = page.locator(REFERENCE).first
    tooltip = page.locator(TOOLTIP)
    link.scroll_into_view_if_needed()
    before = page.evaluate("[document.documentElement.scrollHeight, scrollX, scrollY]")

    link.hover()
    page.clock.run_for(100)
    assert tooltip.count() == 0
    page.clock.run_for(400)
    assert tooltip.locator("strong").inner_text() == "Recall"
    assert tooltip.locator(".memreport-id").inner_text() == "MEM-RTE-recall"
    assert "Implementation: wired" in tooltip.inner_text()
    assert page.evaluate("[document.documentElement.scrollHeight, scrollX, scrollY]") == before

    tooltip.hover()  # the pointer can move onto it
    page.clock.run_for(1000)
    assert tooltip.count() == 1
    page.keyboard.press("Escape")
    assert tooltip.count() == 0

    link.hover()
    page.clock.run_for(500)
    assert tooltip.count() == 1
    page.mouse.move(1, 1)
    page.clock.run_for(500)
    assert tooltip.count() == 0


def test_a_preview_opens_by_keyboard_and_describes_its_link(look: Look) -> None:
    page = look("jotter/memory.html")
    link = page.locator(REFERENCE).first
    tooltip = page.locator(TOOLTIP)
    link.focus()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert link.evaluate("link => link === document.activeElement")
    assert link.get_attribute("aria-describedby") == tooltip.get_attribute("id")
    assert "MEM-RTE-recall" in tooltip.inner_text()
    page.keyboard.press("Escape")
    assert tooltip.count() == 0
    assert link.get_attribute("aria-describedby") is None
    assert link.evaluate("link => link === document.activeElement")


def test_touch_opens_no_preview(look: Look) -> None:
    page = look("jotter/memory.html", viewport=PHONE, has_touch=True)
    page.clock.install()
    link = page.locator(REFERENCE).first
    for pointer, previews in (("touch", 0), ("mouse", 1)):
        link.dispatch_event("pointerover", {"pointerType": pointer, "bubbles": True})
        page.clock.run_for(1000)  # a long press
        assert page.locator(TOOLTIP).count() == previews
    link.tap()
    assert page.url.endswith("#mem-rte-recall")
    assert page.locator(TOOLTIP).count() == 0


def test_previews_work_on_pages_that_are_opened_from_a_disk(example: Example, look: Look) -> None:
    page = look("jotter/memory.html", base=example("furo").parent.as_uri())
    link = page.locator("#mem-obj-note + dd a[href^='epistemic.html']").first
    link.hover()
    sync_api.expect(page.locator(TOOLTIP)).to_contain_text("EPI-BAP-recalled-notes")


# --- any reader, any screen -----------------------------------------------------------------


@pytest.mark.parametrize("theme", THEMES)
def test_no_page_scrolls_sideways_on_a_phone(example: Example, look: Look, theme: str) -> None:
    paths = pages_of(example(theme))
    if theme != "furo":
        paths = [next(path for path in paths if "notes.py" in path)]
    page = look("jotter/memory.html", theme, viewport=PHONE)
    wide = []
    for path in ["jotter/memory.html", *paths]:
        page.goto(f"{page.url.split(theme)[0]}{theme}/{path}")
        width = page.evaluate("document.documentElement.scrollWidth")
        wide += [(path, width)] if width > PHONE["width"] else []
    assert wide == []


def test_everything_can_be_read_without_scripts(look: Look) -> None:
    def content(page: Any) -> list[str]:
        texts: list[str] = page.evaluate(
            """() => [...document.querySelectorAll("article .memreport-record > *")]
                .map((part) => part.innerText.replaceAll("Copy", "").replaceAll(/\\s+/g, " "))"""
        )
        return texts

    plain = content(look("jotter/memory.html", java_script_enabled=False))
    assert plain == content(look("jotter/memory.html"))
    assert len(plain) > 20
    assert any("verified" in text for text in plain)


@pytest.mark.parametrize(("theme", "scheme"), SCHEMES)
def test_axe_finds_nothing_serious(example: Example, look: Look, theme: str, scheme: str) -> None:
    page = look("jotter/memory.html", theme, color_scheme=scheme)
    found = findings(page, theme)
    source = next(path for path in pages_of(example(theme)) if "notes.py" in path)
    page.goto(f"{page.url.split(theme)[0]}{theme}/{source}")
    assert found + findings(page, theme) == []


def findings(page: Any, theme: str) -> list[tuple[str, str]]:
    """Serious and critical violations in what is ours: rule and element."""
    present = [selector for selector in OURS if page.locator(selector).count()]
    # the highlighting style of alabaster is below 4.5 wherever it is used
    context = {"include": present, "exclude": [".highlight"] if theme == "alabaster" else []}
    page.evaluate(axe_module.Axe().axe_script)
    violations = page.evaluate(
        "async context => (await axe.run(context, {preload: false})).violations",
        context,
    )
    return [
        (violation["id"], node["html"])
        for violation in violations
        if violation["impact"] in ("serious", "critical")
        for node in violation["nodes"]
    ]


def test_styles_and_scripts_stay_small() -> None:
    sizes = [path.stat().st_size for path in STATIC.iterdir()]
    assert len(sizes) >= 2
    assert sum(sizes) <= 30_000
    text = "".join(path.read_text(encoding="utf-8") for path in STATIC.iterdir())
    assert "http" not in text
