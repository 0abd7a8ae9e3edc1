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
        ("MEM-OBJ-a-b-c-d", "write a prefix, a kind and a name, as in MEM-OBJ-note"),
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
    "no blank line": (".. memobject:: MEM-OBJ-x — X\n   The body.", "swallowed-text", 4),
    "a passage in the argument": (".. evidence:: README.md\n   # Jotter", "swallowed-text", 4),
}


@pytest.mark.parametrize("what", REST_MISREAD)
def test_slips_in_rest_are_said_once(site: TinySite, what: str) -> None:
    text, code, line = REST_MISREAD[what]
    built = site.build({"memory.rst": f"M\n=\n\n{text}\n"})
    assert built.problems == [(code, "memory", line)]


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
