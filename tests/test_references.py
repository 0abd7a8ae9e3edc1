"""References: roles, bare IDs, where they stand, and what they resolve to (contract, 3.4)."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from pinned_repo import PinnedRepo
from sitebuilder import TinySite, report_toml

from sphinx_memreport.sphinx_ext.domain import mem_domain

DECLARED = ":::{memobject} MEM-OBJ-note — Stored note\n:::\n"


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    return TinySite(tmp_path / "site", pinned_repo)


PLACES = {
    "a paragraph": ("One\nMEM-OBJ-gone\nthree.", 4),
    "emphasis": ("Some *text\nwith MEM-OBJ-gone* in it.", 4),
    "a code span": ("See `MEM-OBJ-gone`.", 3),
    "a heading": ("## About MEM-OBJ-gone", 3),
    "a table": ("| a | b |\n|---|---|\n| x | y |\n| z | MEM-OBJ-gone |", 6),
    "a list": ("- one\n- two\n  MEM-OBJ-gone", 5),
    "a quotation": ("> one\n> MEM-OBJ-gone", 4),
    "a link's text": ("[see MEM-OBJ-gone](https://example.org)", 3),
    "an admonition": (":::{note}\nOne\nMEM-OBJ-gone\n:::", 5),
    "a figure's caption": ("```{figure} x.png\n\nMEM-OBJ-gone\n```", 5),
    "a footnote": ("Text[^1].\n\n[^1]: MEM-OBJ-gone", 5),
    "an option": (":::{memobject} MEM-OBJ-x — X\n:identity: MEM-OBJ-gone\n:::", 3),
    "a label": (":::{memobject} MEM-OBJ-x — About MEM-OBJ-gone\n:::", 3),
    "a record's body": (":::{memobject} MEM-OBJ-x — X\n\nOne\nMEM-OBJ-gone\n:::", 6),
    "a caption of evidence": ("```{evidence} README.md\n:caption: MEM-OBJ-gone\n# Jotter\n```", 3),
    "a role": ("One\n{mem}`MEM-OBJ-gone`", 4),
    "a role with a text": ("{mem}`the note <MEM-OBJ-gone>`", 3),
    "part-of": (":::{memobject} MEM-OBJ-x — X\n:part-of: MEM-OBJ-gone\n:::", 3),
    "supports": ("```{evidence} README.md\n:supports: MEM-OBJ-gone\n# Jotter\n```", 3),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_dangling_id_is_found_wherever_it_stands(site: TinySite, place: str) -> None:
    text, line = PLACES[place]
    built = site.build(
        {"memory.md": f"# M\n\n{text}\n", "x.png": b"", "note.md": f"# N\n\n{DECLARED}"}
    )
    assert built.problems == [("dangling-id", "memory", line)]


UNSCANNED = {
    "a code block": "```\nMEM-OBJ-gone\n```",
    "an indented block": "Text:\n\n    MEM-OBJ-gone",
    "evidence": "```{evidence} README.md\n# Jotter\n```",
    "a URL": "<https://example.org/?MEM-OBJ-gone> and https://example.org/MEM-OBJ-gone",
    "mathematics": "{math}`MEM-OBJ-gone`",
    "a literal mention": "{memraw}`MEM-OBJ-gone`",
    "a path": "notes/MEM-OBJ-gone and MEM-OBJ-gone/notes and MEM-OBJ-gone.md",
    "a longer word": "XMEM-OBJ-gone, a-MEM-OBJ-gone, MEM-OBJ-gone_x",
    "a comment": "% MEM-OBJ-gone",
}


@pytest.mark.parametrize("what", UNSCANNED)
def test_what_is_no_reference_is_left_alone(site: TinySite, what: str) -> None:
    built = site.build({"memory.md": f"# M\n\n{UNSCANNED[what]}\n"})
    assert (built.problems, built.warnings) == ([], "")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("MEM-OBJ-nota", "dangling-id"),
        ("MEM-OBJ-one-two-three-four", "malformed-id"),
        ("MEM-OBJ-Note", "malformed-id"),
        ("MEN-OBJ-note", "malformed-id"),
        ("MEM-OJB-note", "malformed-id"),
        ("MEM-OBJ-3", "malformed-id"),
        ("SRC-2", "unknown-source"),
        ("SRC-1–3", "malformed-id"),
        ("SRC-1-3", "malformed-id"),
        ("SRC-x", "malformed-id"),
    ],
)
def test_a_typo_is_a_problem(site: TinySite, text: str, code: str) -> None:
    built = site.build({"memory.md": f"# M\n\n{DECLARED}\nSee {text}.\n"})
    assert built.problems == [(code, "memory", 6)]


def test_a_role_links_with_its_text_and_a_bare_id_links_itself(site: TinySite) -> None:
    text = "MEM-OBJ-note, {mem}`MEM-OBJ-note`, {mem}`the note <MEM-OBJ-note>`, `MEM-OBJ-note`."
    built = site.build({"memory.md": f"# M\n\n{text}\n", "note.md": f"# N\n\n{DECLARED}"})
    links = built.soup("memory").select("[role=main] a[href='note.html#mem-obj-note']")
    assert [link.get_text() for link in links] == [
        "MEM-OBJ-note",
        "MEM-OBJ-note",
        "the note",
        "MEM-OBJ-note",
    ]
    assert built.broken_links() == []


def test_a_dangling_id_proposes_the_near_one_and_the_other_report(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    site = TinySite(tmp_path / "site")
    toml = report_toml(pinned_repo, "jotter", directory="jotter")
    toml += report_toml(pinned_repo, "diary", directory="diary")
    built = site.build(
        {
            "memreport.toml": toml,
            "jotter/memory.md": f"# M\n\n{DECLARED}",
            "diary/memory.md": "# D\n\n:::{memobject} MEM-OBJ-page — Page\n:::\n\n"
            "MEM-OBJ-pge and MEM-OBJ-note, but {mem}`jotter:MEM-OBJ-note`.\n",
            "free.md": "# Free\n\n{mem}`diary:MEM-OBJ-page` and {mem}`MEM-OBJ-page`.\n",
        }
    )
    assert built.problems == [
        ("dangling-id", "diary/memory", 6),
        ("dangling-id", "diary/memory", 6),
        ("dangling-id", "free", 3),
    ]
    other, near, outside = built.details
    assert "{mem}`jotter:MEM-OBJ-note`" in other.fix
    assert "did you mean MEM-OBJ-page?" in near.fix
    assert "{mem}`diary:MEM-OBJ-page`" in outside.fix
    assert built.soup("free").select_one("a[href='diary/memory.html#mem-obj-page']")


def test_records_know_who_cites_them(site: TinySite) -> None:
    citing = ":::{memclaim} MEM-CLM-fast — It is fast\n\nBecause of MEM-OBJ-note.\n:::\n"
    built = site.build(
        {
            "note.md": f"# N\n\n{DECLARED}\nMEM-OBJ-note itself.\n",
            "memory.md": f"# Memory\n\n{citing}\n## Why\n\nMEM-OBJ-note.\n",
        }
    )
    card = built.soup("note").select_one("dl.memreport-object")
    assert card is not None
    links = {link.get_text(): link["href"] for link in card.select(".memreport-relations a")}
    assert links == {
        "It is fast": "memory.html#mem-clm-fast",
        "Memory: Why": "memory.html#why",
        "N": "#",
    } or links == {
        "It is fast": "memory.html#mem-clm-fast",
        "Memory: Why": "memory.html#why",
        "N": "",
    }


def test_evidence_of_its_own_that_supports_a_record_is_what_cites_it(site: TinySite) -> None:
    aside = "```{evidence} README.md\n:supports: MEM-OBJ-note\n\n# Jotter\n```\n"
    built = site.build({"note.md": f"# N\n\n{DECLARED}\n{aside}", "two.md": f"# Two\n\n{aside}"})
    links = built.soup("note").select(".memreport-relations a")
    assert [(link.get_text(), link["href"]) for link in links] == [
        ("N", "#evidence.1"),
        ("Two", "two.html#evidence.1"),
    ]
    (supported,) = built.soup("two").select(".memreport-evidence .memreport-supports a")
    assert supported["href"] == "note.html#mem-obj-note"
    assert "Supports Stored note (MEM-OBJ-note)" in built.text("two")
    assert built.broken_links() == []


def test_records_stand_in_the_local_table_of_contents(site: TinySite) -> None:
    built = site.build({"note.md": f"# N\n\n## Objects\n\n{DECLARED}"})
    toc = built.env.tocs["note"]
    anchors = [
        reference["anchorname"]
        for reference in toc.findall()
        if "anchorname" in getattr(reference, "attributes", {})
    ]
    assert "#mem-obj-note" in anchors
    assert "Stored note" in toc.astext()


@pytest.mark.parametrize(
    ("path", "codes"),
    [
        ("SRC-1:src/jotter/recall.py", []),
        ("src/jotter/recall.py", []),
        ("src/jotter", []),
        ("src/jotter/recall.py#L1-L4", []),
        ("src/jotter/recall.py#L2", []),
        ("the code <src/jotter/recall.py>", []),
        ("src/jotter/recall.py#L4-L5", ["range-outside-file"]),
        ("src/jotter/recall.py#L0", ["range-outside-file"]),
        ("src/jotter/recall.py#L3-L1", ["range-outside-file"]),
        ("src/jotter/recal.py", ["path-missing"]),
        ("../secret", ["path-missing"]),
        ("/etc/passwd", ["path-missing"]),
        ("SRC-2:src/jotter/recall.py", ["unknown-source"]),
    ],
)
def test_a_path_must_exist(site: TinySite, path: str, codes: list[str]) -> None:
    built = site.build({"memory.md": f"# M\n\nOne\n{{memsrc}}`{path}`.\n"})
    assert built.problems == [(code, "memory", 4) for code in codes]


def test_a_full_commit_hash_must_be_a_pin(site: TinySite, pinned_repo: PinnedRepo) -> None:
    text = f"# M\n\nAt {pinned_repo.commit}, not\n{'1' * 40}.\n"
    built = site.build({"memory.md": text})
    assert built.problems == [("foreign-commit", "memory", 4)]
    assert built.status == 0
    assert "[memreport.foreign-commit]" in built.warnings


def test_autolink_off_leaves_bare_ids_alone_and_roles_checked(site: TinySite) -> None:
    text = "# M\n\nMEM-OBJ-gone and {mem}`MEM-OBJ-lost`.\n"
    built = site.build({"memory.md": text}, memreport_autolink=False)
    assert built.problems == [("dangling-id", "memory", 3)]
    assert "MEM-OBJ-lost" in built.details[0].message


NAMED = "```{evidence} README.md\n:name: the-head\n\n# Jotter\n```\n"


def test_a_label_above_evidence_leads_to_it(site: TinySite) -> None:
    labelled = "(the-line)=\n```{evidence} README.md\n# Jotter\n```\n"
    built = site.build({"one.md": f"# One\n\n{labelled}\nSee {{ref}}`the-line`.\n"})
    assert built.warnings == ""
    assert "See README.md" in built.text("one")
    assert built.broken_links() == []


def test_a_name_of_evidence_is_known_to_ref_and_no_duplicate(site: TinySite) -> None:
    built = site.build({"one.md": f"# One\n\n{NAMED}\nSee {{ref}}`the-head`.\n"})
    assert built.warnings == ""
    assert "See README.md" in built.text("one")
    twice = site.build({"two.md": f"# Two\n\n{NAMED}"})
    assert twice.warnings.count("duplicate label the-head") == 1


# --- anchors that others could have ---------------------------------------------------------

HEADINGS = """\
# M

## MEM-OBJ-note

## Evidence 1

[Up](#mem-obj-note), [evidence](#evidence-1)

:::{memobject} MEM-OBJ-note — Note
:identity: I
:::

## SRC-1

```{evidence} SRC-1 src/jotter/store.py
:name: cited
self.notes.append(note)
```

See MEM-OBJ-note and {ref}`quote <cited>`.
"""


def test_headings_leave_records_and_evidence_their_anchors(site: TinySite) -> None:
    built = site.build({"m.md": HEADINGS}, myst_heading_anchors=2)
    assert built.problems == []
    page = built.soup("m")
    found = [str(tag["id"]) for tag in page.select("[id]")]
    assert len(found) == len(set(found))
    card = page.find(id="mem-obj-note")
    assert card is not None
    assert "memreport-signature" in card["class"]
    evidence = page.select_one(".memreport-evidence")
    assert evidence is not None
    assert "evidence-1" not in [evidence.get("id"), *[tag["id"] for tag in evidence.select("[id]")]]
    assert page.select("section#evidence-1")
    assert built.broken_links() == []
    contents = [str(link["href"]) for link in page.select(".sphinxsidebar .toctree-l2 a, nav a")]
    assert contents[:1] == ["#mem-obj-note-1"]


def test_one_page_of_all_documents_leads_to_the_right_one(site: TinySite) -> None:
    """Two reports may have a record of one ID, and each page has evidence."""
    toml = (site.source / "memreport.toml").read_text()
    other = toml.replace("jotter", "other").replace('directory = "."', 'directory = "b ö"')
    page = (
        "# {name}\n\n:::{{memobject}} MEM-OBJ-note — {name}\n:identity: I\n\n"
        "```{{evidence}} SRC-1 src/jotter/store.py\n{quote}\n```\n:::\n\n"
        "## Text {name}\n\nSee MEM-OBJ-note.\n\n```{{memevidence}}\n```\n"
    )
    built = site.build(
        {
            "memreport.toml": toml + other,
            "a.md": page.format(name="A", quote="self.notes.append(note)"),
            "b ö/x.md": page.format(name="B", quote="self.notes.append(note)"),
        },
        builder="singlehtml",
    )
    soup = built.soup("index")
    for name, docname in (("A", "a"), ("B", "b ö/x")):
        headings = [each for each in soup.select("h2, h3, h4") if f"Text {name}" in each.get_text()]
        section = headings[0].find_parent("section")
        assert section is not None
        links = [str(link["href"])[1:] for link in section.select("p a, td a")]
        assert len(links) > 1
        assert [link for link in links if not link.startswith(f"{quote(docname)}:")] == []
        assert [len(soup.find_all(id=link)) for link in links] == [1] * len(links)
        target = soup.find(id=f"{quote(docname)}:mem-obj-note")
        assert target is not None
        assert f"{name} MEM-OBJ-note" in target.find_parent("dt").get_text()


# --- roles that documents define ------------------------------------------------------------

REDEFINED = {
    "a.rst": "A\n=\n\n.. role:: memsrc(emphasis)\n\n.. role:: mem(raw)\n   :format: html\n",
    "a.md": "# A\n\n```{role} memsrc(emphasis)\n```\n\n```{role} mem(emphasis)\n```\n",
    "b.md": "# B\n\n````{eval-rst}\n.. role:: mem(emphasis)\n.. role:: memsrc(emphasis)\n````\n",
}
USED = "\nSee {memsrc}`SRC-1:src/not/there.py` and {mem}`MEM-OBJ-nota`.\n"


@pytest.mark.parametrize("parallel", [1, 2])
@pytest.mark.parametrize("name", REDEFINED)
def test_no_document_gives_our_roles_another_meaning(
    site: TinySite, name: str, parallel: int
) -> None:
    defining = REDEFINED[name] + (USED if name.endswith(".md") else "")
    files = {
        name: defining,
        "c.md": f"# C\n{USED}",
        "d.md": "# D\n",
        "e.md": "# E\n",
        "f.md": "# F\n",
    }
    built = site.build(files, parallel=parallel)
    assert {(code, docname) for code, docname, _ in built.problems} >= {
        ("dangling-id", "c"),
        ("path-missing", "c"),
    }
    assert len(built.problems) == 2 * (1 + name.endswith(".md"))


def test_a_role_ends_with_the_document_that_defines_it(site: TinySite) -> None:
    files = {
        "a.rst": "A\n=\n\n.. role:: foo(emphasis)\n\nA :foo:`x`.\n",
        "b.md": "# B\n\nB {foo}`y`.\n",
    }
    built = site.build(files)
    assert [(code, docname) for code, docname, _ in built.problems] == [("unknown-directive", "b")]
    again = site.build({"b.md": f"{files['b.md']}\n"})
    assert again.problems == built.problems


def test_roles_of_the_configuration_hold_for_all(site: TinySite) -> None:
    built = site.build(
        {"a.rst": "A\n=\n\n:foo:`x`\n", "b.rst": "B\n=\n\n:foo:`y` :ours:`README.md`\n"},
        rst_prolog=".. role:: foo(emphasis)\n.. role:: ours(memsrc)\n",
    )
    assert built.problems == []
    assert "y" in built.text("b")


def test_links_of_markdown_reach_records_and_are_no_citations(site: TinySite) -> None:
    text = "[up](#mem-obj-note) [](#mem-obj-note)\n"
    files = {
        "m.md": f"# M\n\n{text}\n{DECLARED}",
        "sub/n.md": "# N\n\n[there](../m.md#mem-obj-note) [](../m.md#mem-obj-note)\n",
        "r.rst": "R\n=\n\n.. memobject:: MEM-OBJ-rest R\n   :identity: I\n",
        "o.md": "# O\n\n[there](r.rst#mem-obj-rest)\n",
    }
    built = site.build(files)
    assert built.warnings == ""
    links = [(a.get_text(), a["href"]) for a in built.soup("sub/n").select("p a.reference")]
    assert links == [(text, "../m.html#mem-obj-note") for text in ("there", "MEM-OBJ-note")]
    links = [(a.get_text(), a["href"]) for a in built.soup("m").select("p a.reference")]
    assert links == [(text, "#mem-obj-note") for text in ("up", "MEM-OBJ-note")]
    assert built.soup("o").select("a[href='r.html#mem-obj-rest']")
    assert mem_domain(built.env).site.cited_by("jotter", "MEM-OBJ-note") == []
    wrong = site.build({"sub/n.md": "# N\n\n[there](../m.md#mem-obj-nota)\n"})
    assert "local id not found in doc 'm': 'mem-obj-nota'" in wrong.warnings


# --- what a mistake proposes ----------------------------------------------------------------

ALONE = "# R\n\n```{{memmember}} runtime\n```\n\n:::{{memcomponent}} {declared} — C\n:::\n"


@pytest.mark.parametrize("declared", ["MEM-CMP-check", "RT-CMP-check-in-the-library"])
def test_an_id_that_must_change_itself_is_not_proposed(site: TinySite, declared: str) -> None:
    text = ALONE.format(declared=declared) + "\nSee RT-CMP-check and RT-CMP-check-in-the.\n"
    built = site.build({"r.md": text})
    assert {str(each.code) for each in built.details} & {"foreign-prefix", "malformed-id"}
    dangling = [each for each in built.details if str(each.code) == "dangling-id"]
    assert len(dangling) == 2
    assert [each.fix for each in dangling if declared in each.fix] == []


@pytest.mark.parametrize(
    ("argument", "code", "fix"),
    [
        ("SRC-1:README.md", "unknown-source", "SRC-1 README.md"),
        ("SRC-1, README.md", "unknown-source", "SRC-1 README.md"),
        ("SRC-1: a b.md", "unknown-source", "SRC-1 a b.md"),
        (
            "SRC-1 README.md:4",
            "path-missing",
            "README.md alone, and its lines as an option: ':lines: 4'",
        ),
        ("README.md:4-7", "path-missing", "':lines: 4-7'"),
        ("README.md#L4-L7", "path-missing", "':lines: 4-7'"),
        ("README.md 4-7", "path-missing", "':lines: 4-7'"),
    ],
)
def test_evidence_in_another_spelling_says_how_to_write_it(
    site: TinySite, argument: str, code: str, fix: str
) -> None:
    built = site.build({"m.md": f"# M\n\n```{{evidence}} {argument}\n# Jotter\n```\n"})
    assert built.problems == [(code, "m", 3)]
    assert built.details[0].fix.endswith(fix)


# --- what a builder leaves out --------------------------------------------------------------

HIDDEN = (
    "# A\n\n~~~{only} %s\n"
    ":::{memobject} MEM-OBJ-hidden — Hidden\nIt cites itself: MEM-OBJ-hidden.\n:::\n\n"
    "Beside it: MEM-OBJ-hidden.\n~~~\n\nAfter it.\n"
)


@pytest.mark.parametrize(
    ("expression", "builder", "dangles"),
    [
        ("latex", "html", True),
        ("latex", "latex", False),
        ("html", "latex", True),
        ("html", "html", False),
        ("html", "memreport", False),
        ("latex", "memreport", True),
        ("not html", "dirhtml", True),
        ("latex or html", "html", False),
        ("ours", "html", False),
        ("not ours", "html", True),
    ],
)
def test_what_stands_in_only_is_not_there_for_other_builders(
    site: TinySite, expression: str, builder: str, dangles: bool
) -> None:
    conf = (site.source / "conf.py").read_text()
    files = {"conf.py": f"{conf}tags.add('ours')\n", "a.md": HIDDEN % expression}
    built = site.build({**files, "b.md": "# B\n\nSee MEM-OBJ-hidden.\n"}, builder=builder)
    assert built.problems == ([("dangling-id", "b", 3)] if dangles else [])
    if dangles:
        assert f"only:: {expression}" in built.details[0].message
    if built.app and builder == "html" and not dangles:
        assert built.broken_links() == []


def test_builders_in_turn_each_leave_out_their_own(site: TinySite) -> None:
    files = {"a.rst": "A\n=\n\n.. only:: latex\n\n   .. memobject:: MEM-OBJ-hidden H\n\n      X\n"}
    files["b.md"] = "# B\n\nMEM-OBJ-hidden.\n"
    for builder, found in (("html", 1), ("latex", 0), ("html", 1), ("text", 1), ("latex", 0)):
        assert len(site.build(files, builder=builder).problems) == found


# --- roles in another spelling --------------------------------------------------------------


SLIPS = ("{%s} `x`", ":%s: `x`", "a {%s}\n`x`")


@pytest.mark.parametrize("autolink", [True, False])
@pytest.mark.parametrize("name", ["m.md", "m.rst"])
def test_a_role_that_stays_text_is_said(site: TinySite, name: str, autolink: bool) -> None:
    markdown = name.endswith("md")
    text, expected, fixes = "# M\n" if markdown else "M\n=\n", [], []
    for role in ("mem", "memsrc", "memraw", "MemSrc"):
        for form in (*SLIPS, ":%s:`x`" if markdown else "{%s}`x`"):
            text += f"\nText and\n{form % role} more.\n"
            expected.append(("unknown-directive", "m", text.count("\n") - form.count("\n")))
            right = f"{{{role.lower()}}}" if markdown else f":{role.lower()}:"
            fixes.append(f"write {right}`x`, without a space")
    built = site.build({name: text}, memreport_autolink=autolink)
    assert built.problems == expected
    assert [each.fix for each in built.details] == fixes


@pytest.mark.parametrize(
    "text",
    [
        "`` {memsrc}`x` `` and `:mem:` `x`.",
        "In memory: `x`, and {mem}.",
        "The role `memsrc` `x`; a:mem: `y`.",
        "```\n:memsrc:`x`\n```",
    ],
)
def test_what_is_no_slip_of_a_role(site: TinySite, text: str) -> None:
    assert site.build({"m.md": f"# M\n\n{text}\n"}).problems == []


SHOWN_ROLES = [
    "```md\nWrite {mem}`MEM-OBJ-x` or :mem: `y`.\n```\n",
    "Text:\n\n    {mem}`MEM-OBJ-x` to cite\n",
    "% {mem}`MEM-OBJ-x`\n",
    "<!-- {mem}`MEM-OBJ-x` -->\n",
    "```{code-block} markdown\n{memsrc}`README.md`\n```\n",
    "````{eval-rst}\n.. code-block:: md\n\n   {mem}`MEM-OBJ-x`\n\n.. {mem}`MEM-OBJ-x`\n````\n",
]


def test_roles_in_code_and_comments_are_shown_and_no_slips(site: TinySite) -> None:
    built = site.build(
        {
            "m.md": "# M\n\n" + "\n".join(SHOWN_ROLES),
            "r.rst": "R\n=\n\nText::\n\n   {mem}`MEM-OBJ-x`\n\n.. {mem}`MEM-OBJ-x`\n",
        }
    )
    assert built.problems == []


@pytest.mark.parametrize(("digits", "found"), [(40, 1), (64, 0), (32, 0)])
def test_a_hash_of_another_length_than_any_pin_is_no_commit(
    site: TinySite, digits: int, found: int
) -> None:
    built = site.build({"m.md": f"# M\n\nThe file {'ab' * (digits // 2)} is meant.\n"})
    assert [code for code, *_ in built.problems] == ["foreign-commit"] * found
