"""The built example in headless Chromium: what a reader sees and does.

Every page is served from this machine. Playwright's clock stands in for waiting. In each theme one
page is looked at that has one of everything, the gallery; the whole example in its own theme.
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
from pinned_repo import plain
from sitebuilder import TinySite, broken_links, report_toml

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
#: What axe finds fault with in the themes themselves: their navigation, footers and highlighting,
#: and, in sphinx_rtd_theme, links and code in any text.
OF_THE_THEME: dict[str, list[str]] = {
    "alabaster": [".footer", ".highlight"],
    "sphinx_book_theme": ["summary"],
    "sphinx_rtd_theme": [
        *(".wy-side-nav-search", ".wy-breadcrumbs", "footer"),
        *("p > code", ".std-ref"),
    ],
}
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
GALLERY = "gallery/index.html"
PHONE = {"width": 360, "height": 740}
REFERENCE = "#mem-obj-note + dd a:has(> .mem-record)"
#: Rows of a table that are shown.
ROWS = "tbody tr:not([hidden])"
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
    add_gallery(source)

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
        command += [] if theme == "furo" else [source / "gallery" / "index.md"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (out / GALLERY).exists(), done.stderr
        return out

    return build


def add_gallery(source: Path) -> None:
    """Add a report whose one page has one of everything."""
    config = source / "memreport.toml"
    text = config.read_text(encoding="utf-8")
    pin = next(line for line in text.splitlines() if line.startswith("commit = "))
    config.write_text(
        f'{text}\n[reports.gallery]\ndirectory = "gallery"\nsystem = "Gallery"\n'
        '[reports.gallery.sources.SRC-1]\nkind = "git"\ncheckout = "checkouts/jotter"\n'
        f'repository = "https://github.com/example/jotter"\n{pin}\n'
        'layers = { implementation = ["src/**"] }\n',
        encoding="utf-8",
    )
    (source / "gallery").mkdir()
    (source / "gallery" / "index.md").write_text(GALLERY_PAGE, encoding="utf-8")


GALLERY_PAGE = """\
---
orphan: true
---

# Gallery

```{memmember} memory
```

Some prose about MEM-OBJ-note and {memsrc}`src/jotter/notes.py`; MEM-OBJ-nothing is nowhere.

::::{memobject} MEM-OBJ-note — Note
:identity: The class `Note`, see MEM-RTE-recall.
:form: natural-language, symbolic
:tags: silent-loss

```{evidence} src/jotter/notes.py
:caption: All that is ever written, one line after the other, as it stands in the file.

head = [f"created: {self.created}", f"source: {self.source}", f"uses: {self.uses}"]
```

```{evidence} src/jotter/notes.py
head = [f"create: {self.created}", f"source: {self.source}"]
```
::::

:::{memroute} MEM-RTE-recall — Recall
:implementation: wired
:operation: uninspected
:part-of: MEM-CMP-store
:immediate-return: The ranked notes, as one text block.
:later-readback: Notes saved by earlier runs reach the next prompt.
:delegated-visibility: inapplicable — nothing is delegated.
:selection: The use count of MEM-OBJ-old and the words of MEM-OBJ-note.
:invalidation: uninspected — no expiry was searched for.
:activation: Text is placed in the prompt; its effect is unobserved.
:evidence-limits: Static reading of SRC-1 only.

- a list
- with RT-RTE-answer
:::

:::{memcomponent} MEM-CMP-store — Store
:::

:::{memobject} MEM-OBJ-old — Old note
:::

:::{memabsence} MEM-ABS-encryption — Encryption
:pattern: fernet
:searched: src/**
:::

:::{memannotation} RT-RTE-answer
:operation: observed

Seen from here.
:::

```{memsupplied}
:member: runtime

RT-RTE-answer: Answer
```

```{memsources}
```

```{memoverview}
```

```{memrecords}
```

```{memevidence}
```

```{memgraph}
```

```{memcoverage}
- entry: Recall
  direct: [src/jotter/recall.py]
  records: [MEM-RTE-recall]
  unresolved: What a long note does.
```

```{memprofile}
write_agency:
  assessment: known
  findings:
    - value: automatic
      basis: wired
      records: [MEM-RTE-recall]
```

```{memcomparison}
:reports: jotter, gallery
```
"""


@pytest.fixture(scope="session")
def made(example: Example) -> str:
    """A page with 200 records, one with two, and a drawing of 60 records that cite each other.

    :return: the folder of the pages below the address.
    """
    root = example("furo").parent / "made"
    repo = plain(root.parent.parent / "repo")
    site = TinySite(root, repo)
    site.write({"memreport.toml": "".join(report_toml(repo, s, directory=s) for s in ("a", "b"))})
    quote = "```{evidence} src/jotter/store.py\nself.notes.append(note)\n```\n"
    card = "::::{{memobject}} MEM-OBJ-n{0} — Record\n{1}::::\n\n"
    names = ["".join(chr(97 + int(digit)) for digit in str(number)) for number in range(202)]
    cards = [card.format(name, quote) for name in names]
    kinds = (("component", "CMP"), ("object", "OBJ"), ("claim", "CLM"), ("absence", "ABS"))
    drawn = [f"MEM-{kinds[number % 4][1]}-{names[number]}" for number in range(60)]
    graph = [
        f":::{{mem{kinds[number % 4][0]}}} {each} — A label as long and WIDE as MM {number}\n"
        f"See {drawn[number // 4]} and {drawn[(number * 7) % 60]}.\n:::\n\n"
        for number, each in enumerate(drawn)
    ]
    text = "# Page\n\n"
    built = site.build(
        {
            "a/many.md": text + "".join(cards[:200]),
            "a/few.md": text + "".join(cards[200:]),
            "b/drawn.md": text + "".join(graph),
            "b/graph.md": "# Graph\n\n```{memgraph}\n```\n",
            "b/near.md": f"# Graph\n\n```{{memgraph}}\n:around: {drawn[0]}\n```\n",
        },
    )
    assert built.problems == []
    return built.out.relative_to(root.parent).as_posix()


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
        if theme in THEMES:
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
        page.on(
            "requestfailed",
            # what a page that is left no longer waits for is not missing: that would be a 404
            lambda sent: (
                complaints.append(f"{path}: no {sent.url}")
                if sent.failure != "net::ERR_ABORTED"
                else None
            ),
        )
        page.goto(f"{base or address}/{theme}/{path}")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert complaints == []


def pages_of(out: Path) -> list[str]:
    """The pages that have content of ours."""
    patterns = (
        "index.html",
        "mem-*.html",
        "jotter/*.html",
        "gallery/*.html",
        "_memreport/**/*.html",
    )
    own = [path for pattern in patterns for path in out.glob(pattern)]
    return sorted(path.relative_to(out).as_posix() for path in own)


# --- links ----------------------------------------------------------------------------------


def test_every_internal_link_lands(example: Example) -> None:
    assert broken_links(example("furo")) == []


@pytest.mark.parametrize("size", [PHONE, {"width": 1280, "height": 800}], ids=["phone", "desk"])
@pytest.mark.parametrize("theme", THEMES)
def test_a_deep_link_shows_the_head_of_the_card(
    look: Look, theme: str, size: dict[str, int]
) -> None:
    page = look(f"{GALLERY}#mem-rte-recall", theme, viewport=size, reduced_motion="reduce")
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
    page.locator("[id='evidence.1'] .code-block-caption a", has_text="lines").click()
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
    page = look(GALLERY, theme, **clipboard)
    block = page.locator("[id='evidence.1']")
    assert block.locator("button:visible").count() == 1
    block.get_by_role("button", name="Copy the passage").click()
    sync_api.expect(page.locator("body > [role=status]")).to_have_text("Passage copied")
    assert page.evaluate("navigator.clipboard.readText()") == (
        'head = [f"created: {self.created}", f"source: {self.source}", f"uses: {self.uses}"]'
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


def test_links_in_views_have_previews(look: Look) -> None:
    page = look(GALLERY)
    tooltip = page.locator(TOOLTIP)
    for link, shown in (
        (".memreport-records td a[href='#mem-rte-recall']", "Implementation: wired"),
        (".memreport-standing td a[href='#mem-obj-note']", "MEM-OBJ-note"),
        (".memreport-graph a[href$='#mem-rte-recall']", "Implementation: wired"),
        (".memreport-coverage td a[href='#mem-rte-recall']", "MEM-RTE-recall"),
        (".memreport-profile td a[href='#mem-rte-recall']", "MEM-RTE-recall"),
        (".memreport-comparison td a[href^='../jotter/memory']", "MEM-OBJ-note"),
    ):
        page.locator(link).first.hover()
        sync_api.expect(tooltip).to_contain_text(shown)
        page.keyboard.press("Escape")
        sync_api.expect(tooltip).to_have_count(0)
        page.mouse.move(1, 1)


# --- finding a record -----------------------------------------------------------------------


@pytest.mark.parametrize("query", ["note", "MEM-OBJ-note"])
def test_search_finds_a_record_by_label_and_id(look: Look, query: str) -> None:
    page = look(f"search.html?q={query}")
    hit = page.locator("#search-results a[href*='jotter/memory.html#mem-obj-note']")
    sync_api.expect(hit.first).to_contain_text("MEM-OBJ-note — Note")
    sync_api.expect(hit.first.locator("xpath=..")).to_contain_text("Operative object")


def test_the_indices_lead_to_every_record(look: Look) -> None:
    page = look("jotter/index.html")
    page.get_by_role("link", name="Records by kind").click()
    assert page.locator("h1").inner_text().startswith("Records by kind")
    page.locator("a", has_text="MEM-OBJ-tombstone").click()
    assert page.url.endswith("/jotter/memory.html#mem-obj-tombstone")


# --- tables ---------------------------------------------------------------------------------


def first_cells(page: Any, table: str) -> list[str]:
    return [
        text.strip() for text in page.locator(f"{table} {ROWS} td:first-child").all_inner_texts()
    ]


def test_a_list_of_records_is_filtered(look: Look) -> None:
    page = look(GALLERY)
    controls = page.locator(".memreport-controls").first
    count = controls.get_by_role("status")
    sync_api.expect(count).to_have_text("5 of 5 rows")
    controls.get_by_label("Filter").fill("note old")
    assert first_cells(page, ".memreport-records") == ["MEM-OBJ-old"]
    sync_api.expect(count).to_have_text("1 of 5 rows")
    controls.get_by_label("Filter").fill("")
    controls.get_by_label("Kind").select_option(label="Operative object")
    assert first_cells(page, ".memreport-records") == ["MEM-OBJ-note", "MEM-OBJ-old"]
    controls.get_by_label("Status").select_option(label="Operation: uninspected")
    sync_api.expect(count).to_have_text("0 of 5 rows")
    controls.get_by_label("Kind").select_option(label="all")
    assert first_cells(page, ".memreport-records") == ["MEM-RTE-recall"]


def test_a_list_of_records_is_sorted_by_keyboard(look: Look) -> None:
    page = look(GALLERY)
    table = page.locator(".memreport-records")
    before = first_cells(page, ".memreport-records")
    head = table.get_by_role("columnheader", name="Label")
    head.get_by_role("button").focus()
    orders = [head.get_attribute("aria-sort")]
    found = []
    for key in ("Enter", "Space", "Enter"):
        page.keyboard.press(key)
        orders.append(head.get_attribute("aria-sort"))
        found.append(first_cells(page, ".memreport-records"))
    assert orders == [None, "ascending", "descending", None]
    labels = ["ABS-encryption", "OBJ-note", "OBJ-old", "RTE-recall", "CMP-store"]
    assert found[0] == [f"MEM-{each}" for each in labels]
    assert found[1:] == [found[0][::-1], before]


def test_a_comparison_is_filtered_by_value(look: Look) -> None:
    page = look(GALLERY)
    controls = page.locator(".memreport-controls").last
    assert first_cells(page, ".memreport-comparison") == ["Jotter", "Gallery"]
    value = controls.get_by_label("Value")
    groups = value.locator("optgroup").evaluate_all("all => all.map((each) => each.label)")
    assert "Write agency" in groups
    value.locator("optgroup[label='Write agency'] option", has_text="manual")
    value.select_option(label="manual")
    assert first_cells(page, ".memreport-comparison") == ["Jotter"]


#: Blocks that scroll: their class, whether they are wider than they show, and the hint they have.
SCROLLING = """() => [...document.querySelectorAll(".memreport-scroll")].map((block) => [
    block.querySelector("table")?.className.split(" ")[0] ?? "graph",
    block.scrollWidth > block.clientWidth + 1,
    block.dataset.more,
    getComputedStyle(block).maskImage !== "none",
])"""


@pytest.mark.parametrize("theme", THEMES)
def test_what_is_cut_shows_that_it_goes_on_and_the_rest_fits(look: Look, theme: str) -> None:
    page = look(GALLERY, theme, viewport={"width": 1280, "height": 800})
    page.evaluate(TWO_FRAMES)
    fitting = {name for name, wide, *_ in page.evaluate(SCROLLING) if not wide}
    assert {"memreport-overview", "memreport-coverage"} <= fitting
    assert "memreport-records" in fitting or theme not in ("furo", "alabaster")
    page.set_viewport_size(PHONE)
    page.evaluate(TWO_FRAMES)
    found = {name: hint for name, *hint in page.evaluate(SCROLLING)}
    assert found["memreport-coverage"] == [False, "", False]  # each row is a block there
    assert found["memreport-records"] == [True, "end", True]
    assert all(wide == (more == "end") == hinted for wide, more, hinted in found.values())
    # one box scrolls, not one within another
    assert (
        page.evaluate(
            """() => [...document.querySelectorAll(".memreport-scroll div")]
            .filter((each) => ["auto", "scroll"].includes(getComputedStyle(each).overflowX))
            .map((each) => each.className)"""
        )
        == []
    )
    block = page.locator(".memreport-scroll:has(.memreport-records)")
    block.evaluate("block => (block.scrollLeft = block.scrollWidth)")
    sync_api.expect(block).to_have_attribute("data-more", "start")


def test_no_id_and_no_source_is_broken_in_a_table(look: Look) -> None:
    for width in (360, 1280):
        page = look(GALLERY, viewport={"width": width, "height": 800})
        broken = page.evaluate(
            """() => [...document.querySelectorAll(
                ".memreport-scroll td :is(.memreport-cited-id, code.mem, .memreport-unbroken)")]
                .filter((id) => new Set([...id.getClientRects()].map((r) => r.top)).size > 1)
                .map((id) => id.textContent)"""
        )
        assert broken == []


def test_tables_are_plain_without_scripts(look: Look) -> None:
    page = look(GALLERY, java_script_enabled=False)
    assert page.locator(f".memreport-records {ROWS}").count() == 5
    assert page.locator(".memreport-records button, .memreport-controls").count() == 0


# --- drawings -------------------------------------------------------------------------------

OVERLAPS = """() => {
    const box = (node) => node.getBoundingClientRect();
    const texts = [...document.querySelectorAll(".memreport-graph text")].map(
        (node) => [node.textContent, box(node), box(node.closest("a").querySelector("polygon"))]);
    const apart = (a, b) => a.right <= b.left + 0.5 || b.right <= a.left + 0.5
        || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
    const inside = (a, b) => a.left >= b.left && a.right <= b.right
        && a.top >= b.top - 0.5 && a.bottom <= b.bottom + 0.5;
    const wrong = [];
    texts.forEach(([text, at, frame], index) => {
        if (!inside(at, frame)) wrong.push(`${text} leaves its frame`);
        for (const [other, place] of texts.slice(index + 1)) {
            if (!apart(at, place)) wrong.push(`${text} lies over ${other}`);
        }
    });
    return [texts.length, wrong];
}"""
#: The lowest contrast of texts and lines in the drawings, by what they are.
CONTRASTS = """() => {
    const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const paint = (color, alpha = 1) => {
        canvas.globalAlpha = alpha;
        canvas.fillStyle = color;
        canvas.fillRect(0, 0, 1, 1);
    };
    const luminance = () => {
        const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((c) => linear(c / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (node) => {
        paint("white");
        const above = [];
        for (let each = node; each; each = each.parentElement) above.unshift(each);
        above.forEach((each) => paint(getComputedStyle(each).backgroundColor));
    };
    const ratio = (node, color, opacity, frame) => {
        ground(node);
        if (frame) paint(getComputedStyle(frame).fill);
        const below = luminance();
        paint(color, opacity);
        const [high, low] = [below, luminance()].sort((a, b) => b - a);
        return (high + 0.05) / (low + 0.05);
    };
    const lowest = (selector, of) =>
        Math.min(...[...document.querySelectorAll(`.memreport-graph ${selector}`)].map(of));
    const style = (node) => getComputedStyle(node);
    return {
        texts: lowest("text", (node) => ratio(node, style(node).fill, style(node).opacity,
            node.closest("a").querySelector("polygon"))),
        lines: lowest(".memreport-edge path", (node) => ratio(
            node, style(node).stroke, style(node.closest("g")).opacity)),
    };
}"""


def test_the_legend_shows_each_box_as_it_is_drawn(look: Look) -> None:
    page = look(GALLERY)
    boxes, legend = page.evaluate(
        """() => {
            const colours = (selector, property, shape) => Object.fromEntries(
                [...document.querySelectorAll(selector)].map((each) => [
                    [...each.classList].find((name) => /^memreport-node-(?!around)/.test(name)),
                    getComputedStyle(shape ? each.querySelector(shape) : each)[property],
                ]));
            return [
                colours(".memreport-node", "fill", "polygon"),
                colours(".memreport-swatch", "backgroundColor"),
            ];
        }"""
    )
    assert legend == boxes
    assert len(legend) == 5
    shown = page.locator(".memreport-graph-note:has(.memreport-swatch)").inner_text()
    assert shown.endswith("Evidenced absence, declared outside this site")


def test_no_text_of_a_large_drawing_overlaps(look: Look, made: str) -> None:
    page = look("b/graph.html", made)
    nodes = page.locator(".memreport-graph a.memreport-node")
    assert nodes.count() == 60
    number, wrong = page.evaluate(OVERLAPS)
    assert number > 120
    assert wrong == []


def test_every_node_of_a_drawing_is_reached_by_keyboard(look: Look, made: str) -> None:
    page = look("b/near.html", made)
    nodes = page.locator(".memreport-graph a.memreport-node")
    number = nodes.count()
    assert number > 3
    nodes.first.focus()
    reached = []
    for _ in range(number):
        reached.append(page.evaluate("document.activeElement.getAttribute('href')"))
        page.keyboard.press("Tab")
    assert len(set(reached)) == number
    assert all(href.startswith("drawn.html#mem-") for href in reached)


# --- long pages -----------------------------------------------------------------------------

COUNT_LISTENERS = """
    window.listeners = 0;
    const add = EventTarget.prototype.addEventListener;
    EventTarget.prototype.addEventListener = function (...given) {
        if (new Error().stack.includes("memreport.js")) window.listeners += 1;
        return add.apply(this, given);
    };
"""


def test_a_page_with_200_records_costs_no_more_listeners_and_layouts(look: Look, made: str) -> None:
    page = look("a/few.html", made)
    page.add_init_script(COUNT_LISTENERS)
    protocol = page.context.new_cdp_session(page)
    protocol.send("Performance.enable")
    found = []
    for path, number in (("a/few.html", 2), ("a/many.html", 200)):
        page.goto(f"{page.url.split(made)[0]}{made}/{path}")
        page.wait_for_load_state("networkidle")
        assert page.locator(".memreport-copy").count() == number
        metrics = {
            each["name"]: each["value"]
            for each in protocol.send("Performance.getMetrics")["metrics"]
        }
        found.append((page.evaluate("window.listeners"), metrics["LayoutCount"]))
    (few, _), (many, layouts) = found
    assert few == many > 0
    assert layouts < 20


# --- any reader, any screen -----------------------------------------------------------------


@pytest.mark.parametrize("theme", THEMES)
def test_no_page_scrolls_sideways_on_a_phone(example: Example, look: Look, theme: str) -> None:
    paths = pages_of(example(theme))
    if theme != "furo":
        paths = [path for path in paths if path.startswith(("gallery", "mem-")) or is_source(path)]
    assert len(paths) >= 4
    page = look(GALLERY, theme, viewport=PHONE)
    wide = []
    for path in paths:
        page.goto(f"{page.url.split(theme)[0]}{theme}/{path}")
        width = page.evaluate("document.documentElement.scrollWidth")
        wide += [(path, width)] if width > PHONE["width"] else []
    assert wide == []


@pytest.mark.parametrize("theme", ["furo", "alabaster"])
def test_the_head_of_a_card_has_no_empty_line(look: Look, theme: str) -> None:
    page = look(GALLERY, theme, viewport=PHONE)
    room = page.evaluate(
        """() => [...document.querySelectorAll(".memreport-record > dt")].map((head) => {
            const shown = [...head.children].filter((each) => !each.matches(".headerlink"));
            const lowest = Math.max(...shown.map((each) => each.getBoundingClientRect().bottom));
            return head.getBoundingClientRect().bottom - lowest;
        })"""
    )
    assert len(room) >= 5
    assert max(room) < 20


@pytest.mark.parametrize("theme", THEMES)
def test_a_record_in_a_table_of_contents_looks_like_its_link(look: Look, theme: str) -> None:
    page = look(GALLERY, theme, viewport=PHONE)
    link, name = page.evaluate(
        """() => {
            const bar = document.querySelector(".sphinxsidebar, nav, .sidebar-tree, aside");
            bar.insertAdjacentHTML("beforeend",
                '<ul><li><a href="#mem-obj-x"><code class="literal">A name</code></a></ul>');
            const link = bar.querySelector("a[href='#mem-obj-x']");
            const looks = ({ color, fontFamily, fontWeight, fontSize }) =>
                [color, fontFamily, fontWeight, fontSize];
            return [link, link.firstChild].map((each) => looks(getComputedStyle(each)));
        }"""
    )
    assert link == name


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


def is_source(path: str) -> bool:
    """Whether a page is that of the file which the gallery quotes."""
    return path.startswith("_memreport/gallery")


@pytest.mark.parametrize(("theme", "scheme"), SCHEMES)
def test_axe_finds_nothing_serious(example: Example, look: Look, theme: str, scheme: str) -> None:
    page = look(GALLERY, theme, color_scheme=scheme, reduced_motion="reduce")
    drawn = page.evaluate(CONTRASTS)  # which axe does not measure
    assert drawn["texts"] >= 4.5
    assert drawn["lines"] >= 3
    found = findings(page, theme)
    source = next(path for path in pages_of(example(theme)) if is_source(path))
    page.goto(f"{page.url.split(theme)[0]}{theme}/{source}")
    assert found + findings(page, theme) == []


def findings(page: Any, theme: str) -> list[tuple[str, str]]:
    """Serious and critical violations on a page, but for those of the theme: rule and element."""
    excluded = [each for each in OF_THE_THEME.get(theme, []) if page.locator(each).count()]
    page.evaluate(axe_module.Axe().axe_script)
    page.evaluate(TWO_FRAMES)  # what our script does after a layout is done
    violations = page.evaluate(
        "async context => (await axe.run(context, {preload: false})).violations",
        {"exclude": excluded} if excluded else {"include": ["html"]},
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
