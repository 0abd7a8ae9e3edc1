"""Pages of quoted files, passages and previews: what they show, and that names cannot hurt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from docutils import nodes
from hypothesis import given
from hypothesis import strategies as st
from pinned_repo import PinnedRepo, bare
from sitebuilder import Built, TinySite

from sphinx_memreport.sphinx_ext.pages import source_page_name

LINES = b"".join(b"line %d\n" % number for number in range(1, 41))
NOTE = """\
````{{memobject}} MEM-OBJ-{name} — {label}
:identity: {identity}

```{{evidence}} {path}
{quote}
```
````

"""

SiteOf = Callable[[dict[str, bytes]], TinySite]


@pytest.fixture
def site_of(tmp_path: Path) -> SiteOf:
    """A site over a repository of the given files."""

    def make(files: dict[str, bytes]) -> TinySite:
        return TinySite(tmp_path / "site", bare(tmp_path / "repo.git", files))

    return make


def record(
    name: str, quote: str, path: str = "lines.txt", label: str = "", identity: str = "A thing."
) -> str:
    label = label or name.title()
    return NOTE.format(name=name, label=label, identity=identity, path=path, quote=quote)


def source_page(built: Built, path: str) -> Any:
    return built.soup(source_page_name("jotter", "SRC-1", path))


def line_numbers(page: Any) -> list[int]:
    return [int(tag["id"][1:]) for tag in page.select(".memreport-line[id]")]


def marked(page: Any) -> list[int]:
    return [int(tag["id"][1:]) for tag in page.select(".memreport-quoted[id]")]


# --- pages of quoted files ------------------------------------------------------------------


def test_overlapping_passages_share_an_excerpt_and_name_all_who_cite_them(site_of: SiteOf) -> None:
    text = (
        record("one", "line 10\nline 11")
        + record("two", "line 11\nline 12")
        + record("three", "line 10\nline 11")
        + record("far", "line 30")
    )
    aside = "```{evidence} lines.txt\n:supports: MEM-OBJ-far\n\nline 31\n```\n"
    bare_quote = "```{evidence} lines.txt\nline 32\n```\n"
    built = site_of({"lines.txt": LINES}).build(
        {"memory.md": "# Memory\n\n" + text + aside + bare_quote}
    )
    assert built.problems == []
    page = source_page(built, "lines.txt")
    assert len(page.select(".memreport-excerpt")) == 2
    assert line_numbers(page) == [*range(6, 17), *range(26, 37)]
    assert marked(page) == [10, 11, 12, 30, 31, 32]
    assert [
        " ".join(item.get_text().split()) for item in page.select(".memreport-cited-at li")
    ] == [
        "Lines 10-11, quoted by One MEM-OBJ-one, Three MEM-OBJ-three",
        "Lines 11-12, quoted by Two MEM-OBJ-two",
        "Line 30, quoted by Far MEM-OBJ-far",
        "Line 31, quoted by Far MEM-OBJ-far",
        "Line 32, quoted by Memory",
    ]
    assert built.broken_links() == []


def test_a_path_without_a_host_leads_to_the_page_of_its_file(
    tmp_path: Path, site_of: SiteOf
) -> None:
    site = site_of({"lines.txt": LINES, "other.txt": LINES})
    config = (site.source / "memreport.toml").read_text()
    config = re.sub('repository = ".*"', f'repository = "{tmp_path.as_uri()}/repo.git"', config)
    cited = "# C\n\n{memsrc}`lines.txt#L10` {memsrc}`lines.txt#L40` {memsrc}`other.txt`\n"
    built = site.build({"memreport.toml": config, "cited.md": cited})
    assert [link["href"] for link in built.soup("cited").select("a:has(> .memreport-path)")] == []
    built = site.build({"memory.md": record("one", "line 10")})
    page = f"{source_page_name('jotter', 'SRC-1', 'lines.txt')}.html"
    assert "cited" in built.written  # it is another document that quotes the file
    assert [link["href"] for link in built.soup("cited").select("a:has(> .memreport-path)")] == [
        f"{page}#L10",
        page,
    ]
    assert built.broken_links() == []


def test_each_line_has_its_own_number_whatever_it_holds(site_of: SiteOf) -> None:
    content = b"\n\n\x0cdef f():\n    '''</script>\n\xd7\xa9\r<b>\n\n'''\n\n\n"
    built = site_of({"odd.py": content}).build({"memory.md": record("odd", "</script>", "odd.py")})
    page = source_page(built, "odd.py")
    shown = {tag["id"]: tag.get_text() for tag in page.select(".memreport-line")}
    assert shown == {
        "L1": "1\n",
        "L2": "2\n",
        "L3": "3⟦U+000C⟧def f():\n",
        "L4": "4    '''</script>\n",
        "L5": "5ש⟦U+000D⟧<b>\n",
        "L6": "6\n",
        "L7": "7'''\n",
        "L8": "8\n",
    }


def test_source_pages_can_be_whole_or_left_out(site_of: SiteOf) -> None:
    site = site_of({"lines.txt": LINES})
    built = site.build({"memory.md": "# Memory\n\n" + record("one", "line 10")})
    folder = built.out / "_memreport"
    assert len(line_numbers(source_page(built, "lines.txt"))) == 9

    whole = site.build(memreport_source_pages="full")
    assert line_numbers(source_page(whole, "lines.txt")) == list(range(1, 41))
    assert marked(source_page(whole, "lines.txt")) == [10]
    assert whole.broken_links() == []

    none = site.build(memreport_source_pages="none", cache="none")
    assert not (none.out / "_memreport").exists()
    assert none.broken_links() == []
    assert "lines.txt line 10" in none.text("memory")
    assert folder.exists()

    # the pages that hold the links are written again when the setting changes
    assert "_memreport/" in built.page("memory")
    assert "_memreport/" not in site.build(memreport_source_pages="none").page("memory")


def test_many_pages_are_the_same_whether_one_process_writes_them_or_three(
    site_of: SiteOf,
) -> None:
    names = [f"part{number}.txt" for number in range(40)]
    site = site_of({name: f"what {name} says\n".encode() for name in names})
    records = [
        record(f"part{letter(n)}", f"what {each} says", each) for n, each in enumerate(names)
    ]
    serial = site.build({"memory.md": "# Memory\n\n" + "".join(records)})
    parallel = site.build(parallel=3, cache="parallel")
    assert serial.problems == parallel.problems == []
    for name in names:
        page = source_page_name("jotter", "SRC-1", name)
        assert f"what {name} says" in serial.text(page)
        assert parallel.page(page) == serial.page(page)
    without = records[:-1]  # and a page that is not due is left alone
    again = site.build(
        {"memory.md": "# Memory\n\n" + "".join(without)}, parallel=3, cache="parallel"
    )
    assert again.broken_links() == []
    assert not (again.out / f"{source_page_name('jotter', 'SRC-1', names[-1])}.html").exists()


def letter(number: int) -> str:
    """A number as letters, as IDs have them."""
    return chr(97 + number // 26) + chr(97 + number % 26)


def test_an_unknown_kind_of_source_pages_is_refused(site_of: SiteOf) -> None:
    built = site_of({"lines.txt": LINES}).build(memreport_source_pages="all")
    assert built.status == 2
    assert "memreport_source_pages: expected one of" in built.warnings


HOSTILE = (
    "quo\"te'.py",
    "<img src=x onerror=alert(1)>.py",
    "</title><script>alert(1)</script>.py",
    "{{ project }}.txt",
    "a",
    "a.html/b",
    "dir/index",
    "dir/index.html",
    "README",
    "readme",
    "con",
    "%2e%2e/%2e%2e/up.txt",
    "..\\..\\up.txt",
    "rtl\u202egnp.txt",
    "/".join(["deep" * 50] * 12),
)


@pytest.mark.parametrize("builder", ["html", "dirhtml"])
def test_no_file_name_reaches_another_page_or_becomes_markup(site_of: SiteOf, builder: str) -> None:
    files = dict.fromkeys(HOSTILE, b"the text\n")
    quotes = "".join(
        record(f"x{chr(97 + number)}", "the text", f"SRC-1 {name}")
        for number, name in enumerate(HOSTILE)
    )
    built = site_of(files).build({"memory.md": "# Memory\n\n" + quotes}, builder)
    assert built.problems == []
    pages = [path for path in (built.out / "_memreport").rglob("*") if path.is_file()]
    assert len(pages) == len(HOSTILE)
    texts = [page.read_text(encoding="utf-8") for page in pages]
    assert sorted(len(re.findall("MEM-OBJ-x.</code>", text)) for text in texts) == [1] * len(pages)
    for text in (page.read_text(encoding="utf-8") for page in built.out.rglob("*.html")):
        assert "<img src=x" not in text
        assert "<script>alert" not in text
    outside = {path.name for path in built.out.parent.iterdir()}
    assert outside == {"doctrees", builder}


@pytest.mark.parametrize("path", ["../up", "/etc/passwd", "..", "caf\udce9.txt", ""])
def test_page_names_stay_in_their_folder(path: str) -> None:
    assert re.fullmatch(
        r"_memreport/jotter/src-1/[a-z0-9][a-z0-9.-]*-[0-9a-f]{16}",
        source_page_name("jotter", "SRC-1", path),
    )


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text("aA./-_ ", max_size=5))
def test_two_paths_never_share_a_page(one: str, other: str) -> None:
    names = {source_page_name("jotter", "SRC-1", path).lower() for path in (one, other)}
    assert len(names) == len({one, other})
    assert all(len(name.rsplit("/")[-1]) < 110 for name in names)


# --- passages on the pages of documents -----------------------------------------------------


def test_a_passage_is_shown_as_the_source_has_it_without_its_common_indentation(
    site_of: SiteOf,
) -> None:
    source = b"def f():\n    if x:\n        return 1\n    return 2\n"
    built = site_of({"f.py": source}).build(
        {"memory.md": "# Memory\n\n" + record("f", "if x:   return 1\n   return 2", "f.py")}
    )
    code = built.soup("memory").select_one(".memreport-evidence pre")
    assert code is not None
    assert code.get_text().splitlines() == ["2if x:", "3    return 1", "4return 2"]


@pytest.mark.parametrize("builder", ["html", "text", "latex"])
def test_a_passage_that_is_a_doctest_keeps_its_flags(site_of: SiteOf, builder: str) -> None:
    session = ">>> size(note)  # doctest: +SKIP\n4"
    built = site_of({"notes.py": session.encode()}).build(
        {"memory.md": f"# Memory\n\n{record('size', session, 'notes.py')}"}, builder=builder
    )
    assert built.problems == []
    (shown,) = [*built.doctree("memory", resolved=True).findall(nodes.literal_block)]
    assert shown.astext() == session
    assert shown.rawsource == session


def test_passages_that_start_at_different_lines_are_numbered_each_by_its_own(
    site_of: SiteOf,
) -> None:
    text = f"# Memory\n\n{record('low', 'line 7')}{record('high', 'line 31')}"
    written = site_of({"lines.txt": LINES}).build(
        {"memory.md": f"{text}```{{code-block}} text\n:linenos:\n\nmine\n```\n"}
    )
    numbers = [tag.text.strip() for tag in written.soup("memory").select(".linenos")]
    assert numbers == ["7", "31", "1"]


def test_hidden_characters_are_shown_in_a_numbered_passage(site_of: SiteOf) -> None:
    built = site_of({"f.py": "x = '\u202eabc'\n".encode()}).build(
        {"memory.md": "# Memory\n\n" + record("f", "x = '\u202eabc'", "f.py")}
    )
    assert built.problems == [("invisible-character", "memory", 6)]
    code = built.soup("memory").select_one(".memreport-evidence pre")
    assert code is not None
    assert code.get_text() == "1x = '⟦U+202E⟧abc'\n"


# --- previews -------------------------------------------------------------------------------


def preview_data(built: Built, docname: str) -> dict[str, list[Any]]:
    script = built.soup(docname).select_one("script#memreport-previews")
    return json.loads(script.get_text()) if script else {}


def test_a_page_holds_previews_of_what_it_links_to(site_of: SiteOf) -> None:
    route = "```{memroute} MEM-RTE-r — Read\n:implementation: wired\n" + "".join(
        f":{name}: inapplicable — no.\n"
        for name in (
            "immediate-return",
            "later-readback",
            "delegated-visibility",
            "selection",
            "invalidation",
            "activation",
            "evidence-limits",
        )
    )
    text = "# Memory\n\nSee RT-OBJ-far.\n\n" + record("one", "line 10") + route
    text += "\nIt reads MEM-OBJ-one.\n```\n"
    other = "# Other\n\n```{memsupplied}\n:member: runtime\n\nRT-OBJ-far: Far\n```\n"
    built = site_of({"lines.txt": LINES}).build({"memory.md": text, "other.md": other})
    assert built.problems == []
    assert preview_data(built, "memory") == {
        "#mem-obj-one": [
            "One",
            "MEM-OBJ-one",
            ["Operative object"],
            "Identity: A thing.",
        ],
        "#mem-rte-r": [
            "Read",
            "MEM-RTE-r",
            ["Route", "Implementation: wired"],
            "Immediate return: inapplicable — no.",
        ],
        "other.html#rt-obj-far": [
            "Far",
            "RT-OBJ-far",
            ["declared in runtime, outside this site"],
            "",
        ],
    }


def test_a_preview_ends_no_script(site_of: SiteOf) -> None:
    label = "Broken</script><script>alert(1)</script>"
    text = "# Memory\n\nSee MEM-OBJ-one.\n\n" + record("one", "line 10", label=label)
    built = site_of({"lines.txt": LINES}).build({"memory.md": text})
    (shown,) = preview_data(built, "memory").values()
    assert shown[0] == label
    assert "<script>alert" not in built.page("memory")


def test_a_page_is_written_again_when_a_preview_in_it_changes(site_of: SiteOf) -> None:
    site = site_of({"lines.txt": LINES})
    here = record("one", "line 10")
    site.build({"memory.md": "# Memory\n\n" + here, "other.md": "# Other\n\nSee MEM-OBJ-one.\n"})
    there = record("one", "line 10", identity="Another thing.")
    built = site.build({"memory.md": "# Memory\n\n" + there})
    assert "other" in built.written
    assert preview_data(built, "other")["memory.html#mem-obj-one"][3] == "Identity: Another thing."


def test_a_record_links_to_itself(pinned_repo: PinnedRepo, tmp_path: Path) -> None:
    text = "# Memory\n\n```{memobject} MEM-OBJ-note — Note\n:identity: x\n\nText.\n```\n"
    built = TinySite(tmp_path / "site", pinned_repo).build({"memory.md": text})
    signature = built.soup("memory").select_one("dt#mem-obj-note")
    assert signature is not None
    link = signature.select_one("a.reference")
    assert link is not None
    assert (link["href"], link.get_text()) == ("#mem-obj-note", "MEM-OBJ-note")
    assert " ".join(signature.get_text(" ").split()).startswith(
        "Note MEM-OBJ-note Operative object"
    )
