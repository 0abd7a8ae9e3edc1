"""Nothing that an author wrote goes unchecked in silence: what parsers lose is an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from pinned_repo import SECOND, PinnedRepo, plain
from sitebuilder import TinySite

AWKWARD = {
    **SECOND,
    "style.css": b":root { color: red }\n",
    "post.md": b"---\ntitle: x\n---\n\n::: note\n```\ncode\n```\n",
}


@pytest.fixture
def site(tmp_path: Path) -> TinySite:
    return TinySite(tmp_path / "site", plain(tmp_path / "repo", SECOND, AWKWARD))


def record(options: str, body: str = "\nBody.\n") -> str:
    return f"# M\n\n:::{{memobject}} MEM-OBJ-note — Note\n{options}{body}:::\n\nMEM-OBJ-note.\n"


LOST = {
    "a comment cuts a value": record(":identity: The class # Note\n"),
    "an unknown option": record(":identitty: The class\n"),
    "a repeated option": record(":identity: One\n:identity: Two\n"),
    "an indented rest": record(":identity: One\n  and the rest\n"),
    "a rest in the next line": record(":identity: One\nand the rest\n"),
    "options below a blank line": record("\n:identity: One\n"),
    "a quote that is never closed": record(':identity: "One\n'),
    "no colon": record(":identity\n"),
    "an open option block": record("---\nidentity: One\n"),
    "no argument": "# M\n\n:::{memobject}\n:identity: One\n:::\n",
    "evidence without argument": "# M\n\n```{evidence}\nscored\n```\n",
    "a passage like an option": "# M\n\n```{evidence} style.css\n:root { color: red }\n```\n",
    "a passage like an option block": "# M\n\n```{evidence} post.md\n---\ntitle: x\n---\n```\n",
    "a member with a body": "# M\n\n```{memmember} memory\nlost\n```\n",
}


@pytest.mark.parametrize("what", LOST)
def test_what_the_option_parser_takes_is_said_once_at_the_opening_line(
    site: TinySite, what: str
) -> None:
    built = site.build({"memory.md": LOST[what]})
    assert built.problems == [("swallowed-text", "memory", 3)]
    assert built.warnings.count("\n") == len(built.details[0].addendum.splitlines())


def test_an_unknown_option_of_a_record_hides_no_other_mistake(site: TinySite) -> None:
    options = ":substrat: Files\n:form: symbolick\n:authority: uninspected\n"
    built = site.build({"memory.md": record(options)})
    assert built.problems == [("invalid-value", "memory", 3), ("swallowed-text", "memory", 3)]
    assert built.details[0].fix == "did you mean 'symbolic'?"
    assert built.details[1].fix == "did you mean 'substrate'?"


def test_of_a_record_with_an_unknown_option_nothing_is_said_to_be_missing(site: TinySite) -> None:
    route = "# M\n\n:::{memroute} MEM-RTE-x\n:selektion: All.\n:operation: wird\n:::\n"
    absence = "# M\n\n:::{memabsence} MEM-ABS-x\n:serached: src/**\n:pattern: x\n:::\n"
    strict = site.source / "memreport.toml"
    strict.write_text(strict.read_text().replace("system =", 'contract = "strict"\nsystem ='))
    built = site.build({"memory.md": route, "other.md": absence}, "dummy")
    assert built.problems == [
        ("invalid-value", "memory", 3),
        ("no-evidence", "memory", 3),
        ("swallowed-text", "memory", 3),
        ("uncovered-record", "memory", 3),
        ("swallowed-text", "other", 3),
    ]


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        ("MEM-OBJ-Foo", "write MEM-OBJ-foo"),
        ("mem-obj-old_note", "write MEM-OBJ-old-note"),
        ("MEM-OBJ-a-b-c-d", "write a name of at most three words"),
        ("note", "write a prefix, a kind and a name, as in MEM-OBJ-note"),
    ],
)
def test_a_malformed_id_comes_with_what_to_write(site: TinySite, written: str, fix: str) -> None:
    built = site.build({"memory.md": f"# M\n\n:::{{memobject}} {written}\n:::\n"}, "dummy")
    assert built.problems == [("malformed-id", "memory", 3)]
    assert built.details[0].fix == fix
    assert "fix: " in built.warnings


KEPT = {
    "a hash in quotes": record(':identity: "The class # Note"\n'),
    "an option block": record("---\nidentity: |\n  One\n  and the rest\n---\n"),
    "no options": record("", "Body at once.\n"),
    "a fence below options": record(":identity: One\n", "```{evidence} README.md\n# Jotter\n```\n"),
    "a colon in the body": record(":identity: One\n", "\n:not an option\n"),
    "a guarded passage": "# M\n\n```{evidence} style.css\n\n:root { color: red }\n```\n",
    "a guarded block": "# M\n\n```{evidence} post.md\n\n---\ntitle: x\n---\n```\n",
    "fences in a passage": "# M\n\n````{evidence} post.md\n::: note\n```\ncode\n```\n````\n",
    "colons in a passage": "# M\n\n::::{evidence} post.md\n\n::: note\n::::\n",
}


@pytest.mark.parametrize("what", KEPT)
def test_what_is_not_lost_is_not_complained_about(site: TinySite, what: str) -> None:
    built = site.build({"memory.md": KEPT[what]})
    assert (built.problems, built.warnings) == ([], "")


OPEN = {
    "a code block": ("# M\n\nText.\n\n```python\nx = 1\n\nMEM-OBJ-lost\n", [5]),
    "a fence in a record": (record("", "\n```python\nx = 1\n\n"), [5]),
    "a record": ("# M\n\n:::{memobject} MEM-OBJ-note — Note\n\nBody.\n", [3]),
    "a passage that closes its record": (
        "# M\n\n:::{memobject} MEM-OBJ-note — Note\n\n```{evidence} post.md\n"
        "::: note\n:::\ncode\n```\n:::\n\nMore.\n",
        [5],
    ),
    "a fence in a list": ("# M\n\n- item\n\n  ```python\n  x = 1\n\nMore.\n", [5]),
}


@pytest.mark.parametrize("what", OPEN)
def test_an_open_fence_is_said_at_its_opening_line(site: TinySite, what: str) -> None:
    text, lines = OPEN[what]
    built = site.build({"memory.md": text})
    found = [line for code, _, line in built.problems if code == "unclosed-fence"]
    assert found == lines


def test_closed_fences_of_every_kind_are_fine(site: TinySite) -> None:
    built = site.build(
        {
            "memory.md": "# M\n\n> ```python\n> x\n> ```\n\n- a\n\n  ~~~\n  x\n  ~~~\n\n"
            "::::{note}\n:::{tip}\nx\n:::\n::::\n\n1. ```\n   y\n   ```\n\n````\n```\n````\n"
        }
    )
    assert (built.problems, built.warnings) == ([], "")


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("```{evidnce} README.md\n# Jotter\n```", "evidence"),
        (":::{memobjct} MEM-OBJ-x\n:::", "memobject"),
        ("{memm}`MEM-OBJ-x`", "mem"),
        (":::{note}\n```{evidense} README.md\nx\n```\n:::", "evidence"),
    ],
)
@pytest.mark.parametrize("suppressed", [[], ["myst", "docutils"]])
def test_an_unknown_directive_or_role_names_the_nearest(
    site: TinySite, text: str, near: str, suppressed: list[str]
) -> None:
    built = site.build({"memory.md": f"# M\n\n{text}\n"}, suppress_warnings=suppressed)
    assert [code for code, _, _ in built.problems] == ["unknown-directive"]
    assert built.details[0].fix == f"did you mean {near}?"
    assert built.status == 1


def test_outside_a_report_the_parser_speaks_for_itself(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    from sitebuilder import report_toml

    site = TinySite(tmp_path / "site")
    site.write({"memreport.toml": report_toml(pinned_repo, directory="jotter")})
    site.write({"jotter/memory.md": "# M\n"})
    built = site.build({"free.md": "# Free\n\n{nothing}`x`\n\nMEM-OBJ-nothing, SRC-9.\n"})
    assert built.problems == []
    assert "Unknown interpreted text role" in built.warnings


REST_LOST = {
    "a repeated option": ".. memobject:: MEM-OBJ-note — Note\n   :tags: a\n   :tags: b",
    "an unknown option": ".. memobject:: MEM-OBJ-note — Note\n   :frm: symbolic",
    "a broken option block": ".. memobject:: MEM-OBJ-note — Note\n   :form: symbolic\n   broken",
}


@pytest.mark.parametrize("what", REST_LOST)
def test_a_broken_rest_directive_still_declares_its_record(site: TinySite, what: str) -> None:
    text = f"M\n=\n\n{REST_LOST[what]}\n\n   Body.\n\nMEM-OBJ-note is cited.\n"
    built = site.build({"memory.rst": text})
    assert built.problems == [("swallowed-text", "memory", 4)]


MISREAD = {
    "no space behind the name": ("```{evidence}SRC-1 README.md\nzzz\n```", "unknown-directive", 3),
    "spaces in the braces": ("```{ evidence } README.md\nzzz\n```", "unknown-directive", 3),
    "no braces": ("```evidence README.md\nzzz\n```", "unknown-directive", 3),
    "an open brace": ("```{evidence README.md\nzzz\n```", "unknown-directive", 3),
    "two colons": ("::{evidence} README.md\nzzz\n::", "unknown-directive", 3),
    "no braces around a record": (":::memobject MEM-OBJ-x\n:::", "unknown-directive", 3),
    "indented too far": (
        "Text:\n\n    ```{evidence} README.md\n    zzz\n    ```",
        "unknown-directive",
        5,
    ),
    "below HTML": ("<br>\n```{evidence} README.md\nzzz\n```", "swallowed-text", 4),
    "an open comment": ("<!-- more\n\nMEM-OBJ-gone\n", "swallowed-text", 3),
    "cells beyond the header": ("| a | b |\n|---|---|\n| 1 | 2 | lost |", "swallowed-text", 5),
    "an admonition without a title": (":::{admonition}\nMEM-OBJ-gone\n:::", "swallowed-text", 3),
    "an option that is text": (":::{note}\n:lost: text\n:::", "swallowed-text", 4),
    "no ID before the dash": (":::{memobject} — Note\n:::", "swallowed-text", 3),
    "a fence in an admonition": (
        "::::{note}\n```text\ncode\n\nMEM-OBJ-x\n::::",
        "unclosed-fence",
        4,
    ),
    "a fence in a definition": ("Term\n:   ```text\n    code\n\nEnd.", "unclosed-fence", 4),
    "a capital and an open brace": ("```{Evidence README.md\nzzz\n```", "unknown-directive", 3),
    "a capital and spaces": ("```{ Evidence } README.md\nzzz\n```", "unknown-directive", 3),
    "a capital behind tildes": ("~~~ {EVIDENCE\nzzz\n~~~", "unknown-directive", 3),
    "a capital, no braces": (":::MemObject MEM-OBJ-x\n:::", "unknown-directive", 3),
    "a hyphen in the name": ("```mem-object MEM-OBJ-x\n```", "unknown-directive", 3),
    "braces in braces": ("```{{evidence}} README.md\nzzz\n```", "unknown-directive", 3),
    "one brace too many": ("```{evidence}} README.md\nzzz\n```", "unknown-directive", 3),
    "braces in braces, colons": (":::{{memobject}} MEM-OBJ-x\n:::", "unknown-directive", 3),
    "a fence in a division": (":::: box\n```text\ncode\n\n::::", "unclosed-fence", 4),
    "a comment in a row": (
        "```{memcoverage}\n- entry: x\n  unresolved: y\n  note: #5 is wrong\n```",
        "swallowed-text",
        6,
    ),
}


@pytest.mark.parametrize("what", MISREAD)
def test_what_is_read_as_something_else_is_said_once(site: TinySite, what: str) -> None:
    text, code, line = MISREAD[what]
    extensions = ["colon_fence", "deflist"]
    built = site.build({"memory.md": f"# M\n\n{text}\n"}, myst_enable_extensions=extensions)
    assert built.problems == [(code, "memory", line)]


@pytest.mark.parametrize("opening", ["memobject} MEM-OBJ-a", "note}"])
def test_a_body_that_begins_with_a_rule_is_not_dropped_in_silence(
    site: TinySite, opening: str
) -> None:
    body = "---\n\nWhat MEM-OBJ-typo says.\n\n---\n\nMore.\n"
    built = site.build({"m.md": f"# M\n\n:::{{{opening}\n\n{body}:::\n"})
    assert built.problems == [("swallowed-text", "m", 5)]
    built = site.build({"m.md": f"# M\n\n:::{{{opening}\n\nText.\n\n{body}:::\n"})
    assert built.problems == [("dangling-id", "m", 9)]
    built = site.build({"m.md": f"# M\n\n:::{{{opening}\n\n{body.replace('---', '***')}:::\n"})
    assert built.problems == [("dangling-id", "m", 7)]


def test_no_setting_of_the_parser_hides_what_it_lost(site: TinySite) -> None:
    site.write(
        {
            "docutils.conf": "[general]\nreport_level: 5\n",
            "rest.rst": "R\n=\n\n.. evidnce:: README.md\n\n   zzz\n\n:memm:`x`\n",
            "myst.md": "# M\n\n```{evidnce} README.md\nzzz\n```\n\n{memm}`x`\n",
        }
    )
    conf = (site.source / "conf.py").read_text()
    site.write({"conf.py": f"import logging\n{conf}logging.disable(logging.CRITICAL)\n"})
    run = site.run("-Q")
    assert run.returncode == 1


REST_MISREAD = {
    "one colon": (".. evidence: README.md\n\n   zzz", "unknown-directive", 4),
    "options in the body": (".. memobject:: MEM-OBJ-x\n\n   :form: symbolic", "swallowed-text", 4),
    "a capital": (".. Evidence: SRC-1 README.md", "unknown-directive", 4),
    "no space": (".. evidence:SRC-1 README.md", "unknown-directive", 4),
    "two colons and no space": (".. evidence::README.md\n\n   zzz", "unknown-directive", 4),
    "no colon": (".. EVIDENCE SRC-1 README.md\n\n   zzz", "unknown-directive", 4),
    "no colon, a path": (".. evidence notes/README.md", "unknown-directive", 4),
    "no colon and no argument": (".. Evidence\n\n   zzz", "unknown-directive", 4),
    "a path with a space": (".. Evidence: my notes.md\n\n   zzz", "unknown-directive", 4),
    "options below": (".. evidence: my notes.md\n   :lines: 3\n\n   zzz", "unknown-directive", 4),
    "wide colons": (".. evidence：： README.md\n\n   zzz", "unknown-directive", 4),
    "braces": (".. {evidence} SRC-1 README.md", "unknown-directive", 4),
    "a hyphen in the name": (".. mem-object: MEM-OBJ-x", "unknown-directive", 4),
    "a space in the name": (".. mem object:: MEM-OBJ-x\n\n   Body.", "unknown-directive", 4),
    "a record without colon": (".. MemObject MEM-OBJ-x", "unknown-directive", 4),
    "in a list": ("- item\n\n  .. Evidence: SRC-1 README.md\n\n     zzz", "unknown-directive", 6),
    "in a record": (
        ".. memobject:: MEM-OBJ-x\n\n   Text.\n\n   .. evidence:SRC-1 README.md\n\n      zzz",
        "unknown-directive",
        8,
    ),
    "no blank line": (".. memobject:: MEM-OBJ-x — X\n   The body.", "swallowed-text", 4),
    "a passage in the argument": (".. evidence:: README.md\n   # Jotter", "swallowed-text", 4),
}


@pytest.mark.parametrize("what", REST_MISREAD)
def test_slips_in_rest_are_said_once(site: TinySite, what: str) -> None:
    text, code, line = REST_MISREAD[what]
    built = site.build({"memory.rst": f"M\n=\n\n{text}\n"})
    assert built.problems == [(code, "memory", line)]


@pytest.mark.parametrize(
    "comment",
    [
        ".. evidence that we still need",
        ".. evidence that we still need\n   is on its way\n\n   from SRC-1",
        ".. Evidence: we still need some",
        ".. evidence, as in SRC-1, is thin",
        ".. evidence-based: SRC-1",
        ".. mem objects are files",
        ".. mem object names to come",
        ".. a note on evidence: SRC-1 README.md",
    ],
)
def test_a_comment_that_begins_with_a_word_of_ours_is_one(site: TinySite, comment: str) -> None:
    built = site.build({"memory.rst": f"M\n=\n\n{comment}\n"})
    assert (built.problems, built.warnings) == ([], "")


def test_equal_comments_are_said_at_the_line_of_each(site: TinySite) -> None:
    slip = ".. Evidence: SRC-1 README.md\n\n"
    text = f"M\n=\n\n{slip}- item\n\n  {slip}Text.\n\n- item\n\n  {slip}"
    found = [("unknown-directive", "memory", line) for line in (4, 8, 14)]
    assert site.build({"memory.rst": text}).problems == found


def test_raw_markup_in_labels_and_fields_is_shown_as_text(site: TinySite) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    text = f":::{{memobject}} MEM-OBJ-x — {evil}\n:identity: {evil}\n:::\n"
    built = site.build({"memory.md": f"# M\n\n{text}\n\nMEM-OBJ-x\n"})
    body = built.soup("memory").select_one("[role=main]")
    assert body is not None
    assert not body.select("script:not([type='application/json']), img")
    assert "<script>alert(1)</script>" in body.get_text()


@pytest.mark.parametrize(
    ("directory", "fix"),
    [
        ("nothere", "write a document in it, or name the folder that holds some, such as memory"),
        ("Memory", 'did you mean directory = "memory"?'),
    ],
)
def test_a_report_without_documents_is_warned_of_first(
    tmp_path: Path, pinned_repo: PinnedRepo, directory: str, fix: str
) -> None:
    from sitebuilder import report_toml

    site = TinySite(tmp_path / "site2")
    toml = report_toml(pinned_repo, directory=directory)
    text = "# X\n\n:::{memobject} MEM-OBJ-x\n:::\n"
    files = {"memreport.toml": toml, "memory/x.md": text}
    built = site.build(files, memreport_report={"json": "problems.json"})
    # what follows from it comes behind it, in files as well, whatever the names
    found = [("no-report", "memreport.toml", 2), ("outside-report", "memory/x", 3)]
    assert built.problems == found
    assert built.details[0].fix == fix
    data = built.data("problems.json")
    assert [each["code"] for each in data] == [code for code, *_ in found]
    assert data[0]["severity"] == "warning"
    assert f"memreport.toml:2: WARNING: the directory '{directory}' of report" in built.warnings


@pytest.mark.parametrize("toml", [None, "# nothing\n"])
def test_ids_on_a_site_without_reports_are_warned_of(tmp_path: Path, toml: str | None) -> None:
    site = TinySite(tmp_path / "site2")
    if toml is not None:
        site.write({"memreport.toml": toml})
    for _ in range(2):
        built = site.build({"memory.md": "# X\n\nMEM-OBJ-typo\n"})
        assert "IDs in the documents are not checked; fix: " in built.warnings
        assert built.problems == [("no-report", "memreport.toml", None)]
    assert site.build({"memory.md": "# X\n"}).warnings == ""


def test_a_bad_configuration_ends_with_status_2_and_no_traceback(site: TinySite) -> None:
    site.write({"memreport.toml": "[reports.jotter]\ndirectory = 3\nsytem = 'x'\n[[["})
    run = site.run()
    assert run.returncode == 2
    assert "memreport.toml:4: ERROR: " in run.stderr
    assert "Traceback" not in run.stderr + run.stdout
    assert not list((site.root / "cache/html").glob("*.html"))


def test_an_added_report_makes_its_references_read_again(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    from sitebuilder import report_toml

    site = TinySite(tmp_path / "site2")
    one = report_toml(pinned_repo, "jotter", directory="jotter")
    text = ":::{memobject} MEM-OBJ-note\n:::\n\nSee other:MEM-OBJ-note.\n"
    assert site.build({"memreport.toml": one, "jotter/m.md": f"# M\n\n{text}"}).problems == []
    both = one + report_toml(pinned_repo, "other", directory="other")
    changed = {"memreport.toml": both, "other/m.md": "# O\n"}
    assert site.build(changed).problems == [("dangling-id", "jotter/m", 6)]
    assert site.build({"memreport.toml": one, "other/m.md": None}).problems == []


# --- what the settings of a document and the depth of its blocks take along ----------------

WRONG = "WRONG QUOTE"
COLONS = f":::{{evidence}} SRC-1 style.css\n{WRONG}\n:::\n"
TICKS = f"```{{evidence}} SRC-1 style.css\n{WRONG}\n```\n"


@pytest.mark.parametrize(
    ("setting", "body"),
    [
        ("enable_extensions: []", COLONS),
        ("disable_syntax: [fence]", TICKS),
        ("commonmark_only: true", TICKS),
        ("gfm_only: true", TICKS),
    ],
)
def test_front_matter_turns_no_check_off(site: TinySite, setting: str, body: str) -> None:
    built = site.build({"memory.md": f"---\nmyst:\n  {setting}\n---\n# M\n\n{body}"})
    codes = {(code, docname) for code, docname, _line in built.problems}
    assert codes in ({("unknown-directive", "memory")}, {("stale-quote", "memory")})
    assert built.status == 1


@pytest.mark.parametrize("mark", ["- ", "> ", "* ", ">"])
def test_what_stands_too_deep_is_not_dropped_in_silence(site: TinySite, mark: str) -> None:
    shallow = site.build({"memory.md": f"# M\n\n{mark * 8}MEM-OBJ-nota\n"})
    assert shallow.problems == [("dangling-id", "memory", 3)]
    deep = site.build({"memory.md": f"# M\n\n{mark * 25}MEM-OBJ-nota\n"})
    assert deep.problems == [("swallowed-text", "memory", 3)]


def test_a_deep_list_on_many_lines(site: TinySite) -> None:
    items = "".join(f"{'  ' * level}- level {level}\n" for level in range(12))
    built = site.build({"memory.md": f"# M\n\n{items}{'  ' * 12}MEM-OBJ-nota\n"})
    assert ("swallowed-text", "memory", 12) in built.problems


def test_marks_in_marks_end_no_build(site: TinySite) -> None:
    for marks in ("*" * 800, "_" * 800, "**" * 2000):
        built = site.build({"memory.md": f"# M\n\n{marks}MEM-OBJ-nota{marks}\n"})
        assert built.problems == [("swallowed-text", "memory", 3)]
    assert site.build({"memory.md": f"# M\n\n{'*' * 900}\n\n{'_' * 900}\n"}).problems == []


def test_a_role_for_raw_text_in_fields_is_shown_as_text(site: TinySite) -> None:
    roles = ".. role:: html(raw)\n   :format: html\n\n"
    card = (
        ".. memobject:: MEM-OBJ-note — Label :html:`<b>l</b>`\n   :form: symbolic\n"
        "   :substrate: x :html:`<b>y</b>`\n"
    )
    built = site.build({"memory.rst": f"M\n=\n\n{roles}{card}"})
    assert built.status == 0
    assert "x <b>y</b>" in built.text("memory")
    assert not built.soup("memory").select(".memreport-fields b")


def _front_matter(setting: str) -> str:
    return f"---\nmyst:\n  {setting}\n---\n# M\n\n"


ROLES = (
    "{memsrc}`nowhere.py` and\n{mem}`jotter:MEM-OBJ-x`\n\n"
    ":::{memobject} MEM-OBJ-x\n:identity: {memsrc}`nowhere.py`\n\n- {memsrc}`nowhere.py`\n:::\n"
)


@pytest.mark.parametrize(
    ("setting", "lines"),
    [
        ("disable_syntax: [myst_role]", [7, 8, 10, 13]),
        ("commonmark_only: true", [7, 8, 10, 11, 13]),
    ],
)
def test_roles_that_a_setting_makes_text_are_said_where_they_stand(
    site: TinySite, setting: str, lines: list[int]
) -> None:
    built = site.build({"m.md": _front_matter(setting) + ROLES})
    found = [each for each in built.details if each.code == "unknown-directive"]
    assert [each.line for each in found] == lines
    assert all(setting.partition(":")[0] in each.fix for each in found)


def test_roles_need_no_code_spans(site: TinySite) -> None:
    built = site.build({"m.md": _front_matter("disable_syntax: [backticks]") + ROLES})
    assert built.problems == [("path-missing", "m", line) for line in (7, 10, 13)]


@pytest.mark.parametrize(
    ("rule", "body"),
    [("fence", TICKS), ("colon_fence", COLONS), ("colon_fence", f"Text.\n{COLONS}")],
)
def test_a_rule_that_is_turned_off_is_named(site: TinySite, rule: str, body: str) -> None:
    built = site.build({"memory.md": _front_matter(f"disable_syntax: [{rule}]") + body})
    line = 7 + body.startswith("Text.")
    assert built.problems == [("unknown-directive", "memory", line)]
    fix = f"take {rule} out of disable_syntax in the front matter, or conf.py"
    assert built.details[0].fix == fix


@pytest.mark.parametrize("rule", ["block", "inline"])
def test_a_document_without_any_text_is_said(site: TinySite, rule: str) -> None:
    text = _front_matter(f"disable_syntax: [{rule}]") + "MEM-OBJ-nota\n"
    assert site.build({"m.md": text}).problems == [("swallowed-text", "m", 3)]
    built = site.build({"m.md": "# M\n\nMEM-OBJ-nota\n"}, "dummy", myst_disable_syntax=[rule])
    assert ("swallowed-text", "m", 1) in built.problems


@pytest.mark.parametrize("where", ["front matter", "conf.py"])
@pytest.mark.parametrize(("quote", "code"), [("# Jotter", None), (WRONG, "stale-quote")])
def test_fences_that_a_setting_makes_directives_are_no_slips(
    site: TinySite, where: str, quote: str, code: str | None
) -> None:
    names = ["evidence", "memobject"]
    head = _front_matter(f"fence_as_directive: {names}") if where == "front matter" else "# M\n\n"
    text = f"{head}````memobject MEM-OBJ-x\n\n```evidence SRC-1 README.md\n{quote}\n```\n````\n"
    settings = {"myst_fence_as_directive": names} if where == "conf.py" else {}
    built = site.build({"m.md": text}, **settings)
    line = text[: text.index("```evidence")].count("\n") + 1
    assert built.problems == ([(code, "m", line)] if code else [])
    inner = text.replace(quote, f"{quote}\n```\n\n~~~{{evidence\nzzz\n~~~\n\n```text")
    assert ("unknown-directive", "m", line + 4) in site.build({"m.md": inner}, **settings).problems


# --- what is on no page: definitions, footnotes, substitutions --------------------------------

UNUSED = {
    "a word": ("[Caveat]: unverified\n", [3]),
    "an ID": ("[MEM-OBJ-gone]: superseded\n\nText.\n", [3]),
    "two, with titles": ("Text.\n\n[a]: b 'MEM-OBJ-x'\n[c]: <d>\n(MEM-OBJ-x)\n", [5, 6]),
    "over several lines": ("[one\ntwo]:\n  three\n  'four\n  five'\n", [3]),
    "in a quotation": ("> Text.\n>\n> [Caveat]: unverified\n", [5]),
    "in lists": ("- one\n\n  [a]: unverified\n\n1. [b]: unverified\n", [5, 7]),
    "in a footnote": ("Text[^1].\n\n[^1]: [Caveat]: unverified\n", [5]),
    "in a division": (":::\n[Caveat]: unverified\n:::\n", [4]),
    "in a record": (":::{memobject} MEM-OBJ-x\n:form: symbolic\n\n[a]: b\n:::\n", [6]),
    "deeper": ("::::{note}\nText.\n\n:::{tip}\n> [a]: b\n:::\n::::\n", [7]),
    "only its text is there": ("See Caveat, \\[Caveat] and `[Caveat]`.\n\n[Caveat]: b\n", [5]),
    "asked for above the body": ("See [a], [b].\n\n[b]: #c\n\n:::{note}\n[a]: b\n:::\n", [8]),
    "asked for in an option": (
        "[b]\n\n[b]: #c\n\n:::{memobject} MEM-OBJ-x\n:identity: [a]\n\n[a]: b\n:::\n",
        [10],
    ),
    "asked for in code": ("```text\n[a]\n```\n\n[a]: b\n", [7]),
    "defined again": ("[a], [b]\n\n[a]: #x\n[b]: #y\n[A]: #z\n", [7]),
    "defined again in a body": ("[a]: #x\n\n[a]\n\n:::{note}\nText.\n\n[a]: #y\n:::\n", [10]),
    "defined again, not used": ("[a]: b\n[a]: c\n", [3, 4]),
}


@pytest.mark.parametrize("suppressed", [[], ["myst"]])
@pytest.mark.parametrize("what", UNUSED)
def test_a_definition_that_no_link_uses_is_said(
    site: TinySite, what: str, suppressed: list[str]
) -> None:
    text, lines = UNUSED[what]
    built = site.build({"m.md": f"# M\n\n{text}"}, suppress_warnings=suppressed)
    assert built.problems == [("swallowed-text", "m", line) for line in lines]
    assert "Duplicate" not in built.warnings


def test_what_the_fix_for_a_definition_says_mends_it(site: TinySite) -> None:
    built = site.build({"m.md": "# M\n\n[MEM-OBJ-gone]: superseded\n"})
    fix = built.details[0].fix
    assert r"\[MEM-OBJ-gone]:" in fix
    built = site.build({"m.md": "# M\n\n\\[MEM-OBJ-gone]: superseded\n"})
    assert built.problems == [("dangling-id", "m", 3)]


USED = {
    "in full": "[the paper][p] is there.\n\n[p]: https://example.org\n",
    "collapsed": "[p][] is there.\n\n[P]: https://example.org\n",
    "by its label": "**[p]** is there.\n\n[p]: https://example.org\n",
    "as an image": "![p]\n\n[p]: https://example.org/x.png\n",
    "in a heading": "## On [p]\n\nText.\n\n[p]: https://example.org\n",
    "in a table": "| a |\n|---|\n| [p] |\n\n[p]: https://example.org\n",
    "in a footnote": "Text[^1].\n\n[^1]: See [p].\n\n[p]: https://example.org\n",
    "in a record": ":::{memobject} MEM-OBJ-x\nSee [p].\n:::\n\n[p]: https://example.org\n",
    "in an option": ":::{memobject} MEM-OBJ-x\n:identity: [p]\n:::\n\n[p]: https://example.org\n",
    "in a label": ":::{memobject} MEM-OBJ-x — On [p]\n:::\n\n[p]: https://example.org\n",
    "in a row": "```{memcoverage}\n- entry: x\n  unresolved: '[p]'\n```\n\n[p]: https://example.org\n",
    "in another directive": "```{list-table}\n* - [p]\n```\n\n[p]: https://example.org\n",
    "below it": ":::{note}\n[p]: https://example.org\n\nSee [p].\n:::\n",
    "in a substitution": "{{ paper }}\n\n[p]: https://example.org\n",
    "as a comment": "[//]: # (a remark)\n[//]: # (another)\n\nText.\n\n[comment]: <> (x)\n",
    "evidence": "```{evidence} style.css\n\n:root { color: red }\n```\n\nText [x]: no link.\n",
}


@pytest.mark.parametrize("what", USED)
def test_a_definition_that_is_used_is_fine(site: TinySite, what: str) -> None:
    built = site.build(
        {"m.md": f"# M\n\n{USED[what]}"},
        "dummy",
        myst_enable_extensions=["colon_fence", "substitution"],
        myst_substitutions={"paper": "see [p]"},
    )
    assert (built.problems, built.warnings) == ([], "")


def test_a_definition_of_an_included_file_is_not_dropped_in_silence(site: TinySite) -> None:
    site.write({"links.txt": "[p]: https://example.org/2\n"})
    text = "# M\n\n[p]\n\n[p]: https://example.org\n\n```{include} links.txt\n```\n"
    built = site.build({"m.md": text}, suppress_warnings=["myst"])
    assert [code for code, *_ in built.problems] == ["swallowed-text"]


@pytest.mark.parametrize("suppressed", [[], ["ref", "myst"]])
def test_a_second_footnote_of_a_label_is_not_dropped_in_silence(
    site: TinySite, suppressed: list[str]
) -> None:
    notes = "[^1]: First.\n\n[^1]: Second: MEM-OBJ-nota\n\n:::{note}\nText.\n\n[^1]: Third.\n:::\n"
    built = site.build({"m.md": f"# M\n\nText[^1].\n\n{notes}"}, suppress_warnings=suppressed)
    assert built.problems == [("swallowed-text", "m", 7), ("swallowed-text", "m", 12)]
    assert "Duplicate" not in built.warnings


def test_ids_that_the_documentation_excepts_are_not_checked(site: TinySite) -> None:
    text = (
        "```{toctree}\n:caption: MEM-OBJ-a\n\nz\n```\n\n```{index} single: MEM-OBJ-b\n```\n\n"
        "{index}`MEM-OBJ-c <single: MEM-OBJ-d>` {abbr}`MEM-OBJ-e (MEM-OBJ-f)`\n"
    )
    built = site.build({"z.md": "# Z\n", "m.md": f"# M\n\n{text}"}, "dummy")
    assert [each.message.split()[0] for each in built.details] == ["MEM-OBJ-c", "MEM-OBJ-e"]


SUBSTITUTIONS = {
    "undefined": ("Text\nand {{ gone }}.", 12),
    "undefined, a block": ("{{ gone }}", 11),
    "in a record": (":::{memobject} MEM-OBJ-x\n:form: symbolic\n\n{{ gone }}\n:::", 14),
    "in a list": ("- one\n- {{ gone }}", 12),
    "no expression": ("Text.\n\n{{ a b }}", 13),
    "failing": ("Text.\n\n> {{ 1 / 0 }}", 13),
    "in a circle": ("Text.\n\n{{ one }}", 13),
    "in the text of another": ("Text.\n\n{{ broken }}", 7),
}


@pytest.mark.parametrize("suppressed", [[], ["myst"]])
@pytest.mark.parametrize("what", SUBSTITUTIONS)
def test_a_failing_substitution_is_said(site: TinySite, what: str, suppressed: list[str]) -> None:
    text, line = SUBSTITUTIONS[what]
    matter = (
        "---\nmyst:\n  enable_extensions: [substitution, colon_fence]\n  substitutions:\n"
        "    one: x {{ two }}\n    two: y {{ one }}\n    broken: z {{ missing }}\n---\n"
    )
    built = site.build({"m.md": f"{matter}# M\n\n{text}\n"}, suppress_warnings=suppressed)
    assert built.problems == [("swallowed-text", "m", line)]
    assert built.warnings.count("ERROR") == 1
    assert "WARNING" not in built.warnings


def test_what_is_lost_is_said_by_every_build(site: TinySite) -> None:
    pages = {f"u{n}.md": f"# U\n\n{text}" for n, (text, _) in enumerate(UNUSED.values())}
    pages |= {
        f"r{n}.rst": f"R\n=\n\n{text}\n" for n, (text, *_) in enumerate(REST_MISREAD.values())
    }
    pages |= {"s.md": "# S\n\n{{ a }} {{ gone }}\n", "t.md": _front_matter("x: y") + "{{ b }}\n"}
    settings = {
        "myst_enable_extensions": ["colon_fence", "substitution"],
        "myst_substitutions": {"a": "{{ b }}", "b": "{{ a }}"},
    }
    first = site.build(pages, "dummy", **settings)
    again = site.build({}, "dummy", **settings)
    parallel = site.build({}, "dummy", parallel=2, cache="parallel", **settings)
    assert len(first.problems) > len(pages)
    assert again.read == []
    assert first.details == again.details == parallel.details


@pytest.mark.parametrize(
    ("options", "said", "fix"),
    [
        (
            ":identity:A list\n:form: symbolic\n",
            "a space is missing",
            "write ':identity: A…'",
        ),
        (
            ":substrate: Memory\n:identity:A list\n:form: symbolic\n",
            "a space is missing",
            "write ':identity: A…'",
        ),
        (
            ':identity: "Every" list\n:form: symbolic\n',
            "goes on behind its closing quotation mark",
            "put the whole value between ' and '",
        ),
        (":identity: A\n:identity: B\n", "is given twice", "remove one of the two"),
        (":notes: A\n", "is unknown here", "remove it, or write one of the known ones"),
        (":identty: A\n", "is unknown here", "did you mean 'identity'?"),
    ],
)
def test_an_option_that_cannot_be_read_says_what_to_write(
    site: TinySite, options: str, said: str, fix: str
) -> None:
    built = site.build({"m.md": f"# M\n\n:::{{memobject}} MEM-OBJ-note\n{options}:::\n"})
    assert built.problems == [("swallowed-text", "m", 3)]
    assert said in built.details[0].message
    assert built.details[0].fix == fix


@pytest.mark.parametrize("directive", ["mem_object", "MEM_ROUTE", "mem_supplied", "mem_annotation"])
def test_the_type_of_a_need_declares_nothing(site: TinySite, directive: str) -> None:
    files = {
        "m.md": f"# M\n\n:::{{{directive}}} MEM-OBJ-note — N\n:identity: I\n\nText\n:::\n",
        "r.rst": f"R\n=\n\n.. {directive}:: MEM-OBJ-rest R\n\n   Text\n",
    }
    built = site.build(files)
    assert built.problems == [("unknown-directive", "m", 3), ("unknown-directive", "r", 4)]
    assert built.details[0].fix == f"write {directive.lower().replace('_', '')}"
    assert "Text" in built.text("m")


@pytest.mark.parametrize(
    "text",
    [
        "<!--\n```{note}\nnot yet\n```\n-->",
        "<!--\n\n:::{note}\nnot yet\n:::\n\n-->",
        "<pre>\n```{note}\nshown\n```\n</pre>",
        "<!-- {mem}`MEM-OBJ-x` -->",
    ],
)
def test_a_directive_that_is_commented_out_is_no_problem(site: TinySite, text: str) -> None:
    assert site.build({"m.md": f"# M\n\n{text}\n\nText.\n"}).problems == []


@pytest.mark.parametrize("text", ["<!--\n```{note}\n", "<div>\n```{note}\nnot read\n```\n</div>"])
def test_other_html_still_is(site: TinySite, text: str) -> None:
    assert site.build({"m.md": f"# M\n\n{text}\n\nText.\n"}).problems


def test_a_definition_may_be_for_an_included_file(site: TinySite) -> None:
    files = {
        "m.md": "# M\n\n```{include} part.txt\n```\n\n[doc]: https://example.org/doc\n",
        "part.txt": "See [the text][doc].\n",
    }
    built = site.build(files)
    assert built.problems == []
    assert built.soup("m").select("a[href='https://example.org/doc']")


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("[a]\n\n[a]: https://x\n[a]: https://x\n", False),
        ("[a]\n\n[a]: https://x\n[A]: https://y\n", True),
    ],
)
def test_a_definition_that_says_the_same_again_loses_nothing(
    site: TinySite, text: str, lost: bool
) -> None:
    expected = [("swallowed-text", "m", 6)] if lost else []
    assert site.build({"m.md": f"# M\n\n{text}"}).problems == expected


def test_a_part_with_a_definition_may_be_included_twice(site: TinySite) -> None:
    include = "```{include} part.txt\n```\n\n"
    files = {"m.md": f"# M\n\n{include}{include}", "part.txt": "See [x].\n\n[x]: https://x\n"}
    assert site.build(files).problems == []
    other = site.build({"m.md": f"{files['m.md']}\n[x]: https://y\n"})
    assert [code for code, *_ in other.problems] == ["swallowed-text"]
