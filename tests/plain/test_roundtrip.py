"""Nothing is lost and nothing comes alive on the way from plain Markdown to MyST and back."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from sphinx_memreport.config import CaptureSource, Report
from sphinx_memreport.core.ids import MemberName
from sphinx_memreport.core.models import Layer
from sphinx_memreport.core.quotes import normalise
from sphinx_memreport.core.vocabulary import OWN_DIRECTIVES
from sphinx_memreport.plain.inert import Inert, Links, commonmark
from sphinx_memreport.plain.models import CoverageItem, Member, RegisterItem
from sphinx_memreport.plain.reader import decode, read_member
from sphinx_memreport.plain.writer_myst import MystWriter, cited_ids, supplied
from sphinx_memreport.plain.writer_plain import Source, Written, write_members

REPORT = Report.model_validate(
    {
        "slug": "jotter",
        "directory": "jotter",
        "system": "Jotter",
        "run-id": "R-1",
        "sources": {
            "SRC-1": {
                "kind": "git",
                "repository": "https://github.com/example/jotter",
                "commit": "ab" * 20,
                "checkout": "x",
                "layers": {"implementation": ["src/**"]},
                "inspected": "All of it.",
            }
        },
    }
)
#: Words of the plain form that become names of options and directives.
STRUCTURE = frozenset(
    "amendment and claimed conclusion coverage effect endpoints entry expiry horizon is limit "
    "memory native read back or path paths point predicate source status strength storage "
    "substrate".split()
)


def myst(members: list[Member]) -> dict[str, str]:
    writer = MystWriter(members, lambda quote: quote.source or "SRC-1", {"SRC-1": "ab" * 20})
    return {member.name: writer.document(member) for member in members}


def plain(documents: dict[str, str]) -> dict[str, str]:
    sources = [Source(PurePosixPath(name), text) for name, text in documents.items()]
    return {str(each.path): each.text for each in write_members(REPORT, sources)}


def read(text: str, name: str = "memory.md") -> Member:
    return read_member(name, decode(text.encode()))


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"[^\W_]+", text.lower()))


def essence(member: Member) -> tuple[object, ...]:
    """Records, fields, quotations and references of a member."""
    records = [
        (item.id, item.annotation, item.label, {field.option: field.text for field in item.fields})
        for item in member.records
    ]
    quotes = [(q.path, q.lines, normalise(q.text), q.remark) for q in member.quotes]
    return records, quotes, sorted(set(cited_ids(member))), member.profile


WHOLE = """\
---
type: types/agentic-system-memory-report.md
description: "What Jotter keeps"
run-id: R-1
---

# Jotter memory report

## Boundary

| Entry point | Paths | Coverage | Limit |
|---|---|---|---|
| Add \\| drop | `src/a.py`; supplied `src/b.py` | MEM-OBJ-note, RT-RTE-answer. Read. | Not run |

## Shared records

### Operative objects

#### MEM-OBJ-note — Stored `note`

A note, see [the answer](runtime.md#rt-rte-answer) and RT-RTE-answer.

Part of: RT-OBJ-store

- Source-native identity: class `Note` # not a comment
- Storage substrate: "files", [and more]: *all*
- Further: a bullet that is no field.

> def save(note):
>     return "```"
> --- `src/a.py:3-4`

> two
> --- `src/b.py` — the caption.

##### Details

Consumer: nobody.

### Behavioral-authority paths

#### MEM-BAP-advice — Advice

Consumer: the model. Channel: a message. Force: advice. Horizon: one call.

## Annotations

#### On RT-RTE-answer — annotation

- operation conclusion status: uninspected
- Invalidation or expiry: none.

Prose of the annotation.

#### On RT-OBJ-store — What it stores

Text &lt;here&gt;.
"""
RUNTIME = "# Runtime\n\n#### RT-RTE-answer — Answer\n\n- Owner: the caller\n\n#### RT-OBJ-store\n"
RECONCILIATION = """\
# Reconciliation

Amendment: RT-OBJ-store is superseded by MEM-OBJ-note, since it is wrong.

After it, text.
"""


def test_a_whole_report_comes_back_with_every_record_field_quotation_and_reference() -> None:
    members = [
        read(WHOLE),
        read(RUNTIME, "runtime.md"),
        read(RECONCILIATION, "reconciliation.md"),
    ]
    once = plain(myst(members))
    again = {name: read(text, name) for name, text in once.items()}
    for member in members:
        assert essence(again[member.name]) == essence(member)
        assert again[member.name].member is member.member
    # a second round changes nothing more
    assert plain(myst(list(again.values()))) == once


def test_the_words_of_a_whole_report_are_all_there() -> None:
    written = myst([read(WHOLE), read(RUNTIME, "runtime.md")])["memory.md"]
    of_the_link = {"md", "runtime", "rt", "rte", "answer"}
    assert set(words(WHOLE) - words(written)) <= STRUCTURE | of_the_link
    assert written.count("{mem}`the answer <RT-RTE-answer>`") == 1


def test_the_profile_comes_back() -> None:
    text = (
        "---\nrun-id: R-1\nmemory-comparison:\n  scope: 'What: counts'\n  axes:\n"
        "    write_agency:\n      assessment: known\n      values: [manual]\n      evidence:\n"
        "        manual: {basis: wired, records: [MEM-RTE-add], note: 'By: hand'}\n"
        "      records: [MEM-RTE-add, MEM-OBJ-note]\n      note: All.\n---\n\n# Profile\n\nWhy.\n"
    )
    member = read(text, "memory-profile.md")
    assert member.profile is not None
    again = read(plain(myst([member]))["memory-profile.md"], "memory-profile.md")
    assert again.profile is not None
    assert again.profile.scope == "What: counts"
    assert again.profile.axes == member.profile.axes
    assert again.member is MemberName.PROFILE


def test_a_document_of_our_own_becomes_a_member_and_what_has_no_place_is_named() -> None:
    document = (
        "# Memory\n\n```{memmember} memory\n```\n\n```{memsources}\n```\n\n"
        ":::{memabsence} MEM-ABS-lock — No lock\n:searched: src/**\n:pattern: Lock(\n:regex:\n\n"
        "Nothing locks, see {mem}`MEM-ABS-lock` and {memsrc}`SRC-1:src/a.py#L3-L4`.\n\n"
        "```{evidence} src/a.py\n:layer: implementation\n:caption: All of it.\n\nx = 1\n```\n"
        ":::\n\n"
        "```{memrecords}\n```\n\n:::{note}\nKept.\n:::\n"
    )
    (written,) = write_members(REPORT, [Source(PurePosixPath("memory.md"), document)])
    again = read(written.text)
    (record,) = again.records
    assert {field.option: field.text for field in record.fields} == {
        "searched": "src/**",
        "pattern": "Lock(",
        "regex": "",
    }
    assert [(q.path, q.text, q.remark) for q in again.quotes] == [
        ("src/a.py", "x = 1", "All of it.")
    ]
    assert "see MEM-ABS-lock and SRC-1 `src/a.py:3-4`." in written.text
    assert "| SRC-1 | git | `https://github.com/example/jotter` |" in written.text
    assert (again.member, again.front_matter.get("run-id")) == (MemberName.MEMORY, "R-1")
    assert [(remark.line, remark.message) for remark in written.lost] == [
        (14, "memsrc: paths in the text (1) are not checked any more"),
        (16, "evidence: the plain form has no 'layer'"),
        (24, "the plain form has no memrecords"),
        (27, "no heading divides it from MEM-ABS-lock: it becomes part of that"),
        (27, "the directive 'note' is not ours; kept as it is"),
    ]


def exported(text: str, name: str = "memory.md") -> Written:
    (written,) = write_members(REPORT, [Source(PurePosixPath(name), text)])
    return written


@pytest.mark.parametrize("name", sorted(OWN_DIRECTIVES))
def test_every_directive_of_ours_is_known_to_the_export(name: str) -> None:
    bodies = {
        "memcoverage": "- entry: a",
        "memprofile": "write_agency:\n  assessment: absent",
    }
    written = exported(f"# A\n\n```{{{name}}} MEM-OBJ-x\n{bodies.get(name, '')}\n```\n")
    assert "not ours" not in " ".join(remark.message for remark in written.lost)
    assert f"{{{name}}}" not in written.text


@pytest.mark.parametrize("name", ["block", "inline", "record", "role", "yaml"])
def test_a_directive_of_others_is_kept_whatever_its_name(name: str) -> None:
    written = exported(f"# A\n\n```{{{name}}} x\ny\n```\n")
    assert [remark.message for remark in written.lost] == [
        f"the directive '{name}' is not ours; kept as it is"
    ]
    assert f"```{{{name}}} x\ny\n```" in written.text


def test_comments_stay_comments() -> None:
    document = (
        "# A\n\n% Of MEM-OBJ-nothing:\n%\n% :::{memobject} X\n\n:::{memclaim} MEM-CLM-a — A\n"
        "% Inside.\n\nText.\n:::\n"
    )
    written = exported(document)
    assert written.lost == ()
    assert "<!--\nOf MEM-OBJ-nothing:\n\n:::{memobject} X\n-->" in written.text
    member = read(written.text)
    assert cited_ids(member) == ["MEM-CLM-a"]
    back = myst([member])["memory.md"]
    assert "\n\n% Of MEM-OBJ-nothing:\n%\n% :::{memobject} X\n\n" in back
    assert "\n\n% Inside.\n\nText.\n" in back
    assert plain({"memory.md": back})["memory.md"] == written.text


def test_what_a_comment_or_a_role_loses_is_named() -> None:
    document = "# A\n\n% a --> b\n\nSee {memraw}`MEM-OBJ-x`,\n{mem:record}`MEM-OBJ-y` {ref}`z`.\n"
    written = exported(document)
    assert [(remark.line, remark.message, remark.text) for remark in written.lost] == [
        (3, "a comment that holds '-->' is not written", "a --> b"),
        (5, "memraw: without it, the ID is a citation", "MEM-OBJ-x"),
        (5, "the role 'ref' is not ours; kept as it is", "{ref}`z`"),
    ]
    assert written.text.endswith("See `MEM-OBJ-x`,\nMEM-OBJ-y {ref}`z`.\n")


def test_supplied_ids_come_back_with_member_label_and_address() -> None:
    directive = (
        "```{memsupplied}\n:member: verification\n\nRT-RTE-two: Two writers <https://x.org/#a>\n"
        "RT-RTE-three\n```\n"
    )
    document = f"# A\n\n```{{memmember}} memory\n```\n\n{directive}\nRT-RTE-two and MEM-OBJ-x.\n"
    written = exported(document)
    member = read(written.text)
    assert [each.id for each in supplied([member])] == ["MEM-OBJ-x"]
    assert directive.removesuffix("\n") in myst([member])["memory.md"]
    # one of them is declared after all: the list is text
    other = read("# B\n\n#### RT-RTE-two — Two\n", "runtime.md")
    assert "memsupplied" not in myst([member, other])["memory.md"]


def test_a_list_that_is_not_one_of_supplied_ids_stays_text() -> None:
    for text in (
        "Supplied by the verification member:\n\n- RT-RTE-two: see *there*\n- Not an ID",
        "Supplied by the weather member:\n\n- RT-RTE-two",
        "Further:\n\n- RT-RTE-two",
        "Supplied from elsewhere:",
    ):
        assert "memsupplied" not in myst([read(f"# A\n\n{text}\n")])["memory.md"], text


def test_the_register_comes_back() -> None:
    identities = ["urn:example:a:b", "A talk, see https://example.org/a (slides)"]
    report = REPORT.model_copy(
        update={
            "sources": {
                f"SRC-{number}": CaptureSource(
                    kind="capture",
                    identity=identity,
                    file=f"captures/{number}.txt",
                    sha256="0" * 64,
                    layer=Layer.OBSERVED,
                    inspected="All.",
                )
                for number, identity in enumerate(identities, 1)
            }
        }
    )
    document = (
        "# A\n\n```{memsources}\n```\n\n```{evidence} SRC-2\n:lines: 3-4\n:caption: Said.\n\n"
        "x\n```\n"
    )
    (written,) = write_members(report, [Source(PurePosixPath("memory.md"), document)])
    member = read(written.text)
    (rows,) = [item.rows for item in member.items if isinstance(item, RegisterItem)]
    assert [(row.repository, row.file, row.inspected, row.more) for row in rows] == [
        (identity, f"captures/{number}.txt", "All.", ())
        for number, identity in enumerate(identities, 1)
    ]
    (quote,) = member.quotes
    assert (quote.source, str(quote.lines), quote.remark) == ("SRC-2", "3-4", "Said.")


def test_the_records_of_a_coverage_row_keep_their_order() -> None:
    document = (
        "# A\n\n```{memcoverage}\n- entry: a\n  records: [MEM-OBJ-b, MEM-OBJ-a]\n"
        "  note: Of MEM-OBJ-b.\n- entry: b\n  records: [MEM-OBJ-a]\n  unresolved: MEM-OBJ-c\n```\n"
    )
    written = exported(document)
    (rows,) = [item.rows for item in read(written.text).items if isinstance(item, CoverageItem)]
    assert rows[0].records == ("MEM-OBJ-b", "MEM-OBJ-a")
    assert [(remark.message, remark.text) for remark in written.lost] == [
        ("memcoverage: cited, it becomes a record of the row", "MEM-OBJ-c")
    ]


# --- properties ---------------------------------------------------------------------------

# nothing that the structure is made of
WORD = st.text("bcdfghjkqvwxzäßж0123456789", min_size=2, max_size=6)
MARK = st.sampled_from(
    ["*", "`", "``", "<b>", "&lt;", "[", "](", ")", "#", " #", '"', "'", "{ref}`", "{", "}", "|",
     "\\", "$", "$$", "!", "![", "<!--", "-->", "%", ":", ";", "—", "\t", "[^1]", "<https://q.x>"]
)  # fmt: skip
SENTENCE = st.lists(st.one_of(WORD, WORD, WORD, MARK), min_size=1, max_size=9).map(" ".join)
OPENING = st.sampled_from(
    ["", "- ", "> ", "    ", "1. ", "# ", "## ", "```{include} /etc/passwd\n", "```\n",
     "~~~{eval-rst}\n", ":::{note}\n", ":::", "(target)=\n", "% ", "+++ ", "<div>\n",
     "| a | b |\n|---|---|\n| ", "[ref]: ", "---\n", ":owner: ", "- ```{include} x\n  ",
     "> :::{note}\n> ", "\x0c", "\u2028```{include} x\n"]
)  # fmt: skip
BLOCK = st.tuples(OPENING, SENTENCE).map("".join)
BODY = st.lists(BLOCK, max_size=4).map("\n\n".join)
FIELD = st.tuples(
    st.sampled_from(
        ["Owner", "Later read-back", "Selection predicate", "Invalidation or expiry", "Guarantee"]
    ),
    SENTENCE,
).map(lambda pair: f"- {pair[0]}: {pair[1]}")
QUOTE = st.lists(SENTENCE, min_size=1, max_size=3).map(
    lambda lines: "\n".join([*(f"> {line}" for line in lines), "> --- `zq/bd.fg:3`"])
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    parts = ["# Titel", draw(BODY)]
    for number in range(draw(st.integers(0, 2))):
        parts += [f"#### MEM-RTE-rec{'bdf'[number]} — {draw(SENTENCE)}".replace("\n", " ")]
        parts += ["Part of: RT-RTE-whole", draw(BODY)]
        parts += draw(st.lists(FIELD, max_size=3, unique_by=lambda line: line.split(":")[0]))
        parts += draw(st.lists(QUOTE, max_size=2))
    return "\n\n".join(part for part in parts if part) + "\n"


@given(texts())
@settings(max_examples=300, deadline=None)
def test_every_word_is_in_the_document(text: str) -> None:
    member = read(text)
    written = myst([member])["memory.md"]
    assert set(words(text) - words(written)) <= STRUCTURE


@given(texts())
@example("#### MEM-RTE-a — A\n\n---\n<!--\n\n---\n00\n\n> -->\n> 00\n> --- `a/b.c:3`\n")
@settings(max_examples=200, deadline=None)
def test_records_fields_and_quotations_come_back(text: str) -> None:
    member = read(text)
    again = read(plain(myst([member]))["memory.md"])
    ours, theirs = essence(again), essence(member)
    assert [(each[0], sorted(each[3])) for each in ours[0]] == [  # type: ignore[attr-defined]
        (each[0], sorted(each[3]))
        for each in theirs[0]  # type: ignore[attr-defined]
    ]
    assert ours[1] == theirs[1]


MYST = create_md_parser(MdParserConfig(enable_extensions={"colon_fence"}), RendererHTML)
ALIVE = frozenset(
    "colon_fence myst_role myst_target myst_line_comment myst_block_break html_block html_inline "
    "image footnote_ref footnote_reference_open front_matter".split()
)


def alive(text: str) -> list[str]:
    """What MyST would do something with."""
    found = []
    for block in MYST.parse("\n" + text):
        for token in [block, *(block.children or [])]:
            directive = token.type == "fence" and token.info.strip().startswith("{")
            link = token.type == "link_open" and not str(token.attrGet("href")).startswith(
                ("http://", "https://", "mailto:", "#")
            )
            if token.type in ALIVE or directive or link:
                found.append(token.type)
    return found


@given(st.lists(BLOCK, max_size=5).map("\n".join))
@settings(max_examples=400, deadline=None)
def test_nothing_comes_alive(text: str) -> None:
    clean = decode(text.encode())
    written = Inert().block(clean)
    assert alive(written) == []
    assert set(words(clean) - words(written)) == set()


@given(SENTENCE)
@settings(max_examples=300, deadline=None)
def test_nothing_comes_alive_in_one_line(text: str) -> None:
    written = Inert().inline(text)
    assert alive(f"x {written}") == []
    assert words(written) == words(text)


@pytest.mark.parametrize(
    "text",
    [
        "plain *prose* with `code` and [a link](https://example.org/x \"t\") <https://example.org>",
        "- a list\n  - nested `x|y`\n\n  more\n\n1. and\n2. numbers",
        "| a | b |\n|:--|--:|\n| `x \\| y` | *z* |",
        "> a quotation\n> of two lines\n\n---\n\n    code {role}`x`",
        "```python\nx = '{ref}`y`'\n```",
        "a < b, c &amp; d, 2 * 3 * 4, snake_case_name, \\*escaped\\*",
    ],
)  # fmt: skip
def test_harmless_markdown_shows_as_before(text: str) -> None:
    written = Inert().block(text)
    assert MYST.render(written) == commonmark().render(text)


def test_links_to_records_become_references_and_other_files_stay_text() -> None:
    inert = Inert(Links({"runtime.md"}, {"RT-RTE-answer"}))
    assert inert.inline("[a](runtime.md#rt-rte-answer)") == "{mem}`a <RT-RTE-answer>`"
    assert inert.inline("[RT-RTE-answer](#rt-rte-answer)") == "{mem}`RT-RTE-answer`"
    assert inert.inline("[a](runtime.md) [b](../x.md)") == "[a](runtime.md) [b\\](../x.md)"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("{ref}`x` and `{ref}`", "\\{ref}`x` and `{ref}`"),
        ("<b>x</b> < 3", "\\<b>x\\</b> < 3"),
        ("![i](x.png)", "\\![i\\](x.png)"),
        ("% x", "\\% x"),
        ("(target)=", "\\(target)="),
        (":::{note}\nx\n:::", "\\:::{note}\nx\n\\:::"),
        ("- ```{note}\n  x\n  ```", "- ```text {note}\n  x\n  ```"),
        ("```{note}\nx\n```", "```text {note}\nx\n```"),
        ("<div>\n</div>", "```text\n<div>\n</div>\n```"),
        ("[r]: /etc/passwd", "```text\n[r]: /etc/passwd\n```"),
    ],
)
def test_what_is_active_is_escaped_where_it_stands(text: str, written: str) -> None:
    assert Inert().block(text) == written


def test_the_note_of_an_axis_is_no_list_of_records() -> None:
    axis = "write_agency:\n  assessment: absent\n  note: None of it.\n"
    written = exported(f"# A\n\n```{{memprofile}}\n{axis}```\n")
    profile = read(written.text).profile
    assert profile is not None
    assert [(each.note, each.records) for each in profile.axes] == [("None of it.", ())]
