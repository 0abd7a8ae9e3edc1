"""Take the pictures of the example report that the README and these pages show.

    python docs/screenshots.py [FOLDER]

Builds the example in a temporary folder and photographs it with Chromium, in light, in dark and
as on a phone. Needs the ``docs`` and ``test`` extras and a Chromium on the path.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "example_report"
FOLDER = HERE / "_static" / "screenshots"
#: Bytes of a picture: readers of the README load them all.
LIMIT = 250_000
FLAGS = ("--no-sandbox", "--disable-gpu", "--hide-scrollbars")


class Shot(NamedTuple):
    """One picture: what of the example it shows, how large, and in which scheme."""

    name: str
    page: str
    width: int
    height: int
    scheme: str
    pointed_at: str | None = None


SHOTS = (
    Shot("light", "jotter/memory.html#mem-obj-note", 1180, 900, "light"),
    Shot(
        "dark",
        "jotter/memory.html#mem-obj-vector-index",
        1180,
        900,
        "dark",
        "#mem-obj-vector-index + dd a[href='#mem-rte-recall']",
    ),
    Shot("phone", "jotter/memory.html#mem-rte-recall", 390, 780, "light"),
)


def main(arguments: list[str]) -> int:
    """Build, photograph, and say how large the pictures became."""
    folder = Path(arguments[0]) if arguments else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        site = build(Path(place))
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for shot in SHOTS:
            page = browser.new_page(
                viewport={"width": shot.width, "height": shot.height},
                color_scheme=shot.scheme,
                reduced_motion="reduce",
            )
            take(page, site, shot, folder / f"{shot.name}.png")
        browser.close()
    sizes = {shot.name: (folder / f"{shot.name}.png").stat().st_size for shot in SHOTS}
    for name, size in sizes.items():
        print(f"{name}.png: {size:,} bytes")
    return int(max(sizes.values()) > LIMIT)


def build(place: Path) -> Path:
    """Build the example below ``place``; its pages are in the folder that is returned."""
    source, site = place / "source", place / "site"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("checkouts", "_build"))
    for command in (
        [source / "make_checkout.py"],
        ["-m", "sphinx", "-q", "-b", "html", source, site],
    ):
        subprocess.run([sys.executable, *command], check=True, stdout=subprocess.DEVNULL)
    return site


def take(opened: Page, site: Path, shot: Shot, picture: Path) -> None:
    """Open a page, point at a reference if the picture shows its preview, and take it."""
    opened.goto(f"{site.as_uri()}/{shot.page}")
    opened.add_style_tag(content=".back-to-top { display: none }")  # comes with scrolling
    # at once where the address leads, without the theme's smooth scrolling
    opened.evaluate("document.querySelector(':target').scrollIntoView({behavior: 'instant'})")
    if shot.pointed_at:
        opened.locator(shot.pointed_at).first.hover()
        opened.locator("[role=tooltip]").wait_for()
    opened.screenshot(path=picture, animations="disabled")
    opened.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
