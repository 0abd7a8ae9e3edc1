"""Reading plain-Markdown members, in the forms that they are written in."""

from __future__ import annotations

import pytest

from sphinx_memreport.core.ids import MemberName
from sphinx_memreport.core.models import LineRange
from sphinx_memreport.plain.models import (
    AmendmentItem,
    CoverageItem,
    Member,
    Quote,
    RecordItem,
    RegisterItem,
    Text,
)
from sphinx_memreport.plain.reader import MAX_BYTES, NotReadable, decode, read_member
from sphinx_memreport.plain.writer_myst import supplied


def read(text: str, name: str = "memory.md") -> Member:
    return read_member(name, text)


def record(text: str, heading: str = "#### MEM-RTE-recall — Recall of notes") -> RecordItem:
    member = read(f"# M\n\n{heading}\n\n{text}\n")
    (found,) = member.records
    return found


def fields(found: RecordItem) -> dict[str, str]:
    return {field.option: field.text for field in found.fields}


def prose(found: RecordItem) -> list[str]:
    return [part.text for part in found.body if isinstance(part, Text)]


def said(member: Member) -> list[tuple[int, str]]:
    return [(remark.line, remark.message) for remark in member.remarks]


# --- records ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("#### MEM-OBJ-note — The note", ("MEM-OBJ-note", "The note", False)),
        ("#### MEM-OBJ-note -- The note", ("MEM-OBJ-note", "The note", False)),
        ("#### `MEM-OBJ-note` – The `note`", ("MEM-OBJ-note", "The `note`", False)),
        ("#### MEM-OBJ-note", ("MEM-OBJ-note", "", False)),
        ("#### MEM-OBJ-3 — Numbered", ("MEM-OBJ-3", "Numbered", False)),
        ("#### On RT-OBJ-note — annotation", ("RT-OBJ-note", "annotation", True)),
        ("#### On [RT-OBJ-note](runtime.md#rt-obj-note)", ("RT-OBJ-note", "", True)),
        ("#### MEM-OBJ-Not_An-id — Bad", ("MEM-OBJ-Not_An-id", "Bad", False)),
    ],
)  # fmt: skip
def test_headings_of_records(heading: str, expected: tuple[str, str, bool]) -> None:
    found = record("Text.", heading)
    assert (found.id, found.label, found.annotation) == expected


def test_a_heading_that_only_looks_like_a_record_is_said_and_kept() -> None:
    member = read("# M\n\n#### RTE-1 — Without a prefix\n\nText.\n")
    assert member.records == []
    assert said(member) == [(3, "a heading that declares no record")]


def test_fields_as_bullets_with_the_labels_that_people_write() -> None:
    found = record(
        "What it is.\n\n"
        "- implementation conclusion status: wired\n"
        "- operation conclusion status: uninspected\n"
        "- Immediate return: The notes.\n"
        "- Later read-back: Notes of\n  earlier runs.\n"
        "- Delegated visibility: inapplicable — nobody is asked.\n"
        "- Selection predicate: By `score`, see MEM-OBJ-note.\n"
        "- Invalidation or expiry: uninspected — not looked for.\n"
        "- Activation or effect: Text in a prompt.\n"
        "- Evidence limits: Read only.\n"
        "- Decision roles: Nobody decides.\n"
    )
    assert fields(found) == {
        "implementation": "wired",
        "operation": "uninspected",
        "immediate-return": "The notes.",
        "later-readback": "Notes of earlier runs.",
        "delegated-visibility": "inapplicable — nobody is asked.",
        "selection": "By `score`, see MEM-OBJ-note.",
        "invalidation": "uninspected — not looked for.",
        "activation": "Text in a prompt.",
        "evidence-limits": "Read only.",
    }
    assert prose(found) == ["What it is.", "- Decision roles: Nobody decides."]


def test_fields_inside_one_paragraph() -> None:
    found = record(
        "Consumer: the model. Channel: a system message; always. Evidence: SRC-1 `a.py`. "
        "Force: advice. Horizon: one call.",
        "#### RT-BAP-advice — Advice",
    )
    assert fields(found) == {
        "consumer": "the model.",
        "channel": "a system message; always.",
        "force": "advice.",
        "horizon": "one call.",
    }
    assert prose(found) == ["Evidence: SRC-1 `a.py`."]


def test_bold_labels_one_after_the_other_in_a_bullet() -> None:
    found = record(
        "- **Consumer.** The model. **Channel.** A tool. **Force:** none.\n- **Horizon:** A day.",
        "#### RT-BAP-advice — Advice",
    )
    assert fields(found) == {
        "consumer": "The model.",
        "channel": "A tool.",
        "force": "none.",
        "horizon": "A day.",
    }


def test_prose_that_happens_to_hold_a_label_stays_prose() -> None:
    text = "The route is plain. Owner: nobody knows. It ends there."
    found = record(text)
    assert (fields(found), prose(found)) == ({}, [text])


@pytest.mark.parametrize("place", ["{part}\n\n{text}", "{text}\n\n{part}", "{part}\n{text}"])
def test_part_of_before_or_after_the_opening_prose(place: str) -> None:
    found = record(place.format(part="Part of: RT-RTE-answer", text="The opening prose."))
    assert fields(found) == {"part-of": "RT-RTE-answer"}
    assert prose(found) == ["The opening prose."]


def test_part_of_the_text_is_no_field() -> None:
    found = record("Part of the text.\n\n- Part of the list")
    assert fields(found) == {}


def test_statuses_lose_their_marks_but_wrong_ones_are_kept_for_the_build() -> None:
    found = record("- Implementation conclusion status: `wired`.\n- Operation status: rather wired")
    assert fields(found) == {"implementation": "wired", "operation": "rather wired"}


def test_a_form_is_taken_when_it_is_a_list_of_forms_and_stays_prose_when_it_says_more() -> None:
    head = "#### MEM-OBJ-note — Note"
    assert fields(record("- Representational form: natural-language, symbolic.", head)) == {
        "form": "natural-language, symbolic"
    }
    more = "- Representational form: natural-language text in a file"
    assert (fields(record(more, head)), prose(record(more, head))) == ({}, [more])


def test_a_field_given_twice_stays_in_the_text_and_is_said() -> None:
    member = read("# M\n\n#### MEM-RTE-a\n\n- Owner: one\n- Owner: two\n")
    (found,) = member.records
    assert fields(found) == {"owner": "one"}
    assert prose(found) == ["- Owner: two"]
    assert said(member) == [(6, "MEM-RTE-a: 'owner' is given twice")]


def test_a_required_field_without_text_is_kept_for_the_build() -> None:
    assert fields(record("- Later read-back:\n- Owner:")) == {"later-readback": ""}


def test_none_declared_is_text() -> None:
    member = read("# M\n\n### Claims\n\nnone declared in this member\n")
    assert member.records == []
    assert member.remarks == ()


# --- quotations ---------------------------------------------------------------------------

COMMIT = "c0ffee" * 6 + "c0ff"


@pytest.mark.parametrize(
    ("attribution", "path", "lines", "source", "commit"),
    [
        ("`src/a.py`", "src/a.py", None, None, None),
        ("`src/a.py:12-20`", "src/a.py", (12, 20), None, None),
        ("`src/a b.py`:7", "src/a b.py", (7, 7), None, None),
        (f"`src/a.py:3-3` @ `{COMMIT}`", "src/a.py", (3, 3), None, COMMIT),
        ("SRC-2 `src/a.py`", "src/a.py", None, "SRC-2", None),
        ("[SRC-2: `src/a.py`]", "src/a.py", None, "SRC-2", None),
        ("src/a.py:12", "src/a.py", (12, 12), None, None),
        ("SRC-3", "", None, "SRC-3", None),
        (
            f"[a.py](https://github.com/o/r/blob/{COMMIT}/src/a%20b.py#L12-L20)",
            "src/a b.py", (12, 20), None, COMMIT,
        ),
        (f"<https://gitlab.com/o/g/r/-/blob/{COMMIT}/a.py#L3>", "a.py", (3, 3), None, COMMIT),
    ],
)  # fmt: skip
def test_attributions(
    attribution: str,
    path: str,
    lines: tuple[int, int] | None,
    source: str | None,
    commit: str | None,
) -> None:
    member = read(f"# M\n\n> return  notes\n>   # all\n> --- {attribution}\n")
    (quote,) = member.quotes
    expected = LineRange(start=lines[0], end=lines[1]) if lines else None
    assert quote.text == "return  notes\n  # all"
    assert (quote.path, quote.lines, quote.source, quote.commit) == (path, expected, source, commit)
    assert member.remarks == ()


def test_what_an_attribution_says_besides_is_kept() -> None:
    (quote,) = read("# M\n\n> a\n> --- `a.py` — the only writer.\n").quotes
    assert quote.remark == "the only writer."


def test_several_quotations_in_a_row_and_in_one_blockquote() -> None:
    text = "> one\n> --- `a.py`\n\n> two\n> --- `b.py`\n>\n> three\n> --- `c.py`"
    found = record(text)
    assert [(q.text, q.path) for q in found.body if isinstance(q, Quote)] == [
        ("one", "a.py"),
        ("two", "b.py"),
        ("three", "c.py"),
    ]


def test_text_right_below_an_attribution_is_no_part_of_the_quotation() -> None:
    found = record("> one\n> --- `a.py`\nand then")
    quote, text = found.body
    assert isinstance(quote, Quote)
    assert (quote.text, isinstance(text, Text) and text.text) == ("one", "and then")


def test_a_quotation_in_a_bullet_is_lifted_out_of_it() -> None:
    found = record("- Evidence: it says\n\n  > one\n  > --- `a.py`\n\n- Further: more")
    assert [type(part).__name__ for part in found.body] == ["Text", "Quote", "Text"]
    assert [quote.text for quote in found.body if isinstance(quote, Quote)] == ["one"]


def test_a_quotation_without_an_attribution_is_said_and_kept() -> None:
    member = read("# M\n\n> who said this\n")
    assert member.quotes == []
    assert said(member) == [(3, "a quotation without an attribution")]
    assert [item.text for item in member.items if isinstance(item, Text)] == ["> who said this"]


# --- the rest of a member -----------------------------------------------------------------


def test_amendments_also_over_two_lines() -> None:
    member = read(
        "# M\n\nAmendment: RT-OBJ-old\nis superseded by MEM-OBJ-new and EPI-OBJ-newer, for a "
        "reason.\n\nAmendment: RT-OBJ-old has another value.\n",
        "reconciliation.md",
    )
    (amendment,) = (item for item in member.items if isinstance(item, AmendmentItem))
    assert amendment.target == "RT-OBJ-old"
    assert amendment.successors == ("MEM-OBJ-new", "EPI-OBJ-newer")
    assert amendment.text == "for a reason."
    assert said(member) == [(6, "an amendment that does not say what supersedes what")]


def test_coverage_tables_with_headers_of_all_kinds() -> None:
    member = read(
        "# M\n\n"
        "| Entry point / operation | Paths (SRC-1) | Coverage and limit |\n|---|---|---|\n"
        "| Add | a.py, `b c`; src/d.py; supplied `e.py`; searched lib/ "
        "| MEM-OBJ-note, RT-RTE-add. Read. |\n"
        "| Drop | searches of all kinds | Nothing. |\n\n"
        "| Operation | Source path | Coverage | Scope limit | Conclusion prevented |\n"
        "|---|---|---|---|---|\n"
        "| Keep | `x.py` and `y.py` | RT-RTE-keep | Not run. | That it works. |\n"
    )  # fmt: skip
    first, second = (item for item in member.items if isinstance(item, CoverageItem))
    add, drop = first.rows
    assert (add.line, add.direct, add.supplied, add.search) == (
        5,
        ("src/d.py",),
        ("e.py",),
        ("lib/",),
    )
    assert add.records == ("MEM-OBJ-note", "RT-RTE-add")
    assert add.note == "Read. Paths (SRC-1): a.py, `b c`."
    assert drop.note == "Nothing. Paths (SRC-1): searches of all kinds."
    (keep,) = second.rows
    assert (keep.direct, keep.records) == (("x.py", "y.py"), ("RT-RTE-keep",))
    assert (keep.unresolved, keep.prevents, keep.note) == ("Not run.", "That it works.", "")


def test_the_source_register() -> None:
    member = read(
        "# M\n\n"
        "| Source ID | Kind | Identity/location | Revision or capture | Evidence layer "
        "| Inspected scope | Citation anchors | Access gaps |\n"
        "|---|---|---|---|---|---|---|---|\n"
        f"| SRC-1 | git | `https://github.com/example/jotter` (root: `/x`) | `{COMMIT}` "
        "| implementation: `a.py`, `lib/`; doctrine/design: `README.md` | All. | `a.py` | None. |\n"
        "| SRC-2 | git | https://github.com/example/other | main | implementation | Some. | | |\n"
    )  # fmt: skip
    (register,) = (item for item in member.items if isinstance(item, RegisterItem))
    first, second = register.rows
    assert (first.repository, first.commit) == ("https://github.com/example/jotter", COMMIT)
    assert first.layers == (
        ("implementation", ("a.py", "lib/**")),
        ("doctrine/design", ("README.md",)),
    )
    assert (first.inspected, first.gaps) == ("All.", "None.")
    assert first.more == ("Identity/location: (root: `/x`)", "Citation anchors: `a.py`")
    assert second.layers == (("implementation", ("**",)),)
    assert said(member) == [(6, "SRC-2: no full commit in the register")]


@pytest.mark.parametrize(
    ("name", "type", "expected"),
    [
        ("x.md", "a/types/agentic-system-runtime-report.md", MemberName.RUNTIME),
        ("x.md", "agent-memory-analysis-report.md", MemberName.MEMORY),
        ("x.md", "a/agentic-system-memory-profile.md", MemberName.PROFILE),
        ("x.md", "agentic-system-analysis-overview.md", MemberName.OVERVIEW),
        ("epistemic.md", "", MemberName.EPISTEMIC),
        ("x.md", "", None),
    ],
)
def test_which_member_a_file_is(name: str, type: str, expected: MemberName | None) -> None:
    member = read(f"---\ntype: {type}\n---\n\n# Title\n", name)
    assert member.member is expected
    assert len(member.remarks) == (expected is None)


def test_a_table_with_a_row_that_is_too_long_stays_a_table() -> None:
    table = "| Entry | Path | Coverage |\n|---|---|---|\n| Add | `a.py` | Read. | surplus |"
    member = read(f"# M\n\n{table}\n")
    assert [item.text for item in member.items if isinstance(item, Text)] == [table]
    assert said(member) == [(3, "a table with a row longer than its header")]


PROFILE = """\
---
run-id: R-1
memory-comparison:
  scope: "What counts."
  axes:
    write_agency:
      assessment: known
      values: [automatic, manual]
      evidence:
        automatic:
          basis: wired
          records: [MEM-RTE-add]
          note: "By itself."
      records: [MEM-RTE-add, MEM-OBJ-note]
      note: "Both."
    trace_learning:
      assessment: known
      values: ["yes"]
# a comment
system: Jotter
---

# Jotter memory profile
"""


def test_the_profile_of_the_front_matter() -> None:
    member = read(PROFILE, "memory-profile.md")
    assert member.profile is not None
    agency, learning = member.profile.axes
    assert [(f.value, f.basis, f.records, f.note) for f in agency.findings] == [
        ("automatic", "wired", ("MEM-RTE-add",), "By itself."),
        ("manual", "", (), ""),
    ]
    assert (agency.records, agency.note) == (("MEM-RTE-add", "MEM-OBJ-note"), "Both.")
    assert [finding.value for finding in learning.findings] == ["yes"]
    assert member.front_matter.text == "run-id: R-1\n# a comment\nsystem: Jotter"
    assert member.front_matter.get("system") == "Jotter"


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("a: &x b\nc: *x", 2),
        ("a: b\na: c", 3),
        ("memory-comparison:\n  axes:\n    nonsense: {}", 4),
        ("memory-comparison:\n  extra: 1", 3),
        ("- a list", 2),
    ],
)
def test_front_matter_that_is_not_understood_is_said_and_kept(front: str, line: int) -> None:
    member = read(f"---\n{front}\n---\n\n# M\n")
    assert [remark.line for remark in member.remarks] == [line]
    assert member.front_matter.text == front
    assert member.profile is None


def test_ids_declared_nowhere_are_supplied_unless_they_stand_in_code_or_quotations() -> None:
    member = read(
        "# M\n\nSee RT-RTE-answer and `RT-OBJ-key`, not RT-OBJ-Bad.\n\n"
        "```\nRT-OBJ-code\n```\n\n> RT-OBJ-quoted\n> --- `a.py`\n\n"
        "#### MEM-OBJ-note — Note\n\nPart of: RT-OBJ-store\n\n"
        "#### On RT-RTE-answer — How it answers\n\nText.\n"
    )
    assert [(entry.id, entry.label) for entry in supplied([member])] == [
        ("RT-RTE-answer", "How it answers"),
        ("RT-OBJ-key", ""),
        ("RT-OBJ-store", ""),
    ]


# --- files --------------------------------------------------------------------------------


def test_files_are_utf8_of_a_bearable_size() -> None:
    assert decode("\ufeffa\r\nb\rc\x0cd\u2028e".encode()) == "a\nb\nc d e"
    with pytest.raises(NotReadable, match="line 2 is not UTF-8"):
        decode(b"a\n\xff")
    with pytest.raises(NotReadable, match="at most"):
        decode(b"a" * (MAX_BYTES + 1))


def test_control_characters_are_replaced_and_said() -> None:
    member = read("# M\n\nbell \x07 and nul \x00\n")
    assert said(member) == [(3, "control characters were replaced by U+FFFD")]
    assert [i.text for i in member.items if isinstance(i, Text)] == ["bell \ufffd and nul \ufffd"]
