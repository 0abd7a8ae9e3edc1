"""What must hold for any text at all, of every parser that reads what authors write.

``test_fuzz.py`` tries each property with a few texts, always the same; the campaign
(``tests/campaigns/fuzz.py``) with as many as there is time for. What a campaign finds is kept
beside its property, as an example.
"""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections import Counter
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import yaml
from hypothesis import assume, example, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from pinned_repo import RECALL, STORE, PinnedRepo, plain
from sitebuilder import TinySite

from sphinx_memreport.cli.documents import Document
from sphinx_memreport.cli.fmt import _formatted
from sphinx_memreport.config import InvalidConfig, Report, SiteConfig, load_config
from sphinx_memreport.core import pin_edits
from sphinx_memreport.core.blocks import body_lines, evidence_block
from sphinx_memreport.core.blockscan import (
    _RANGE,
    apply_edits,
    body_edits,
    quotes_of,
    scan,
    split_lines,
)
from sphinx_memreport.core.characters import printable_line
from sphinx_memreport.core.globs import Glob
from sphinx_memreport.core.ids import (
    IdStyle,
    Kind,
    Prefix,
    check_id,
    find_mentions,
    parse_record_id,
)
from sphinx_memreport.core.inline import code_ends, code_span, titled
from sphinx_memreport.core.models import (
    Ambiguous,
    Found,
    LineRange,
    Missing,
    ReportRules,
    Resolution,
    SourceRules,
    Status,
)
from sphinx_memreport.core.nearest import nearest_names, nearest_passage, nearest_path, word_diff
from sphinx_memreport.core.quotes import SourceText, normalise
from sphinx_memreport.core.search import Search, SearchedFile, plan
from sphinx_memreport.core.source_paths import split_source_path
from sphinx_memreport.core.vocabulary import OWN_DIRECTIVES
from sphinx_memreport.core.yaml_body import BodyFault, Items, Table, Text, Value, read_body
from sphinx_memreport.plain.attribution import parse_attribution
from sphinx_memreport.plain.fields import read_fields
from sphinx_memreport.plain.inert import commonmark
from sphinx_memreport.plain.models import RegisterItem
from sphinx_memreport.plain.myst_reader import front_matter, read_blocks
from sphinx_memreport.plain.reader import NotReadable, decode, read_member
from sphinx_memreport.plain.writer_myst import MystWriter
from sphinx_memreport.plain.writer_plain import Source, write_members
from sphinx_memreport.sphinx_ext.depth import first_too_deep, shown_as_text
from sphinx_memreport.sphinx_ext.directives.evidence import _LINES
from sphinx_memreport.sphinx_ext.directives.options import _tokenized

Check = Callable[..., None]


class Property(NamedTuple):
    """A property, the texts that it is tried with, and those that once broke it."""

    check: Check
    strategies: tuple[SearchStrategy[Any], ...]
    examples: tuple[tuple[Any, ...], ...]
    #: How many times as slow as the others it is.
    cost: int

    def run(self, how: settings, with_seed: int | None = None) -> None:
        """Try it; raises what the property raises for the smallest text that breaks it."""
        test = given(*self.strategies)(self.check)
        for each in self.examples:
            test = example(*each)(test)
        if with_seed is not None:
            test = seed(with_seed)(test)
        how(test)()


PROPERTIES: dict[str, Property] = {}


def holds_for(
    *strategies: SearchStrategy[Any], examples: tuple[tuple[Any, ...], ...] = (), cost: int = 1
) -> Callable[[Check], Check]:
    """Register a property."""

    def register(check: Check) -> Check:
        PROPERTIES[check.__name__] = Property(check, strategies, examples, cost)
        return check

    return register


# --- texts ----------------------------------------------------------------------------------

ANY = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
ODD = st.sampled_from("\0\x1b\r\n\t\f\v\x85\u2028\u200b\u202e\ufeff\u0301\ud800é😀─`:~|<>[](){}\\#")


def soup(*pieces: str, size: int = 12, between: str = "") -> SearchStrategy[str]:
    """Texts made of pieces, of odd characters, and of anything."""
    piece = st.one_of(st.sampled_from(pieces), st.sampled_from(pieces), ODD, ANY)
    return st.lists(piece, max_size=size).map(between.join)


def edited(base: str, pieces: SearchStrategy[str]) -> SearchStrategy[str]:
    """A sound text with a few edits, which leads further into a parser than any other."""
    place = st.tuples(st.integers(0, len(base)), st.sampled_from([0, 0, 1, 2, 10, 60]), pieces)

    def apply(edits: list[tuple[int, int, str]]) -> str:
        text = base
        for start, length, new in sorted(edits, reverse=True):
            text = text[:start] + new + text[start + length :]
        return text

    return st.lists(place, min_size=1, max_size=4).map(apply)


ID_SOUP = soup(
    *("MEM", "RT", "EPI", "SRC", "OBJ", "RTE", "CLM", "-", "–", "\u2010", "—", "..", "1", "12"),
    *("note", "Note", "МЕМ", "a", "b1", "_", "/", ":", ".md", " ", "https://", "jotter:", "\u200b"),
)
MARKDOWN = soup(
    *("```", "````", ":::", "::::", "~~~", "{evidence}", "{memobject}", "{note}", "SRC-1", " "),
    *("README.md", "\n", "\n", "\n\n", "> ", "- ", "    ", "\t", "---", ":lines: 2", ":lang: x"),
    *(":caption: 'a # b'", ".. evidence::", ".. note::", "   ", "# T", "x", "<!--", "-->", "%"),
    *("{memsrc}`", "{mem}`", "`", "<b>", "MEM-OBJ-note", "SRC-1:README.md#L1", ">`", "|a|b|"),
    size=30,
)
YAML = soup(
    *("- ", "a", "b: ", ": ", "\n", "\n  ", "\n    ", "[", "]", "{", "}", ", ", "'", '"', "|", ">"),
    *("&a", "*a", "!!str", "!x", "# c", " # c", "---", "...", "? ", "<<", "~", "1.10", "%YAML 1.1"),
    *("\\", "\\u0000", "\\U00110000", "entry", "records", "direct", "- entry: x\n"),
    size=20,
)
MEMBER = soup(
    *("#### MEM-OBJ-note — Note", "#### On RT-RTE-a — A", "## Shared records", "# J memory report"),
    *("\n", "\n\n", "\n\n", "- ", "> ", "> --- `a.py:3`", "--- `a`", "- Selection: a. Effect: b."),
    *("Part of: RT-OBJ-x", "Amendment: MEM-OBJ-a is superseded by MEM-OBJ-b", "| a | b |", "|---|"),
    *(
        "| Entry | Paths | Records |\n|---|---|---|\n| a | `b.py` | MEM-OBJ-note |\n",
        "---\n",
        "k: v",
    ),
    *("```{include} /etc/passwd\n", "{ref}`x`", "<img src=x>", "[l](a.md#mem-obj-note)"),
    *("$$", "%"),
    *("---\nmemory-comparison:\n  axes:\n    lineage: {assessment: known}\n---\n", "[^1]", "(x)="),
    *(":::{note}", ":::", "![", "]:", "+++", "\\", "&lt;", "* * *", "    code", "qwx", " zzkq "),
    size=24,
)
TOML = soup(
    *("[reports.jotter]\n", "[", "]", "[[", "]]", "reports", "jotter", "sources", ".", " = ", "="),
    *('directory = "."\n', 'system = "J"\n', "[reports.jotter.sources.SRC-1]\n", 'kind = "git"\n'),
    *(f'commit = "{"a" * 40}"\n', 'checkout = "x"\n', 'repository = "https://h.org/o/r"\n', "\n"),
    *(
        '"',
        "'",
        '"""',
        "'''",
        "{",
        "}",
        ",",
        "#",
        "\\",
        "1",
        "true",
        "1979-05-27",
        "inf",
        "0x",
        "-",
    ),
    size=20,
)
PATTERN = soup(
    *(
        "a",
        "b",
        ".",
        "*",
        "+",
        "?",
        "(",
        ")",
        "[",
        "]",
        "|",
        "{2}",
        "{1000}",
        "^",
        "$",
        "\\b",
        "\\",
    ),
    *("(?i)", "(?:", "\\p{L}", "[^a]", "[a-b]", "x{2,1}", "(?P<n>"),
    size=8,
)
GLOB = soup("*", "**", "/", "?", "[", "]", "!", "a", "b", ".", "\\", "-", "[[:alpha:]]", size=10)
PAGE = soup(
    *(
        "# M\n\n",
        "\n",
        "\n\n",
        "MEM-OBJ-note",
        "SRC-1",
        "SRC-9",
        "```",
        ":::",
        "::::",
        "text",
        "- ",
    ),
    *("```{memobject} MEM-OBJ-note — Note\n", ":identity: x\n", ":form: symbolic\n", ":part-of: "),
    *(
        "```{evidence} SRC-1 README.md\n# Jotter\n```\n",
        "```{evidence} ",
        ":lines: 1-2\n",
        "{mem}`",
    ),
    *("```{memcoverage}\n- entry: x\n  records: [MEM-OBJ-note]\n```\n", "```{memprofile}\n", "`"),
    *("```{memroute} RT-RTE-a\n", ":::{memabsence} EPI-ABS-x\n:pattern: x\n:searched: '**'\n", "|"),
    *("```{memannotation} MEM-OBJ-note\n", "```{memmember} memory\n```\n", "```{memgraph}\n```\n"),
    *(
        "```{memsupplied}\nRT-OBJ-x: X\n```\n",
        "```{memamendment} MEM-OBJ-note\n",
        "```{memrecords}",
    ),
    *("{memsrc}`README.md#L1-L2`", "<img src=x onerror=alert(1) data-hx=1>", "{ref}`x`", "> ", "%"),
    size=25,
)


SOUND_PAGE = """\
```{memmember} memory
```

See RT-RTE-answer, {mem}`the note <MEM-OBJ-note>`, SRC-1 and {memsrc}`SRC-1:README.md#L1-L2`.

::::{memobject} MEM-OBJ-note — Stored *note*
:identity: class `Note`, see MEM-RTE-recall
:form: natural-language, symbolic
:part-of: MEM-CMP-store
:tags: a, b

> A quotation, and
- a list

```{evidence} SRC-1 README.md
:lines: 1-3
:caption: "It says: # Jotter"

# Jotter
Notes.
```
::::

:::{memroute} MEM-RTE-recall — Recall
---
implementation: wired
operation: uninspected
immediate-return: The ranked notes.
later-readback: |
  Notes of
  earlier runs.
delegated-visibility: inapplicable — nothing is delegated.
selection: Similarity over MEM-OBJ-note.
invalidation: uninspected — no expiry was searched for.
activation: Text.
evidence-limits: Static reading.
---
Text.
:::

```{memcomponent} MEM-CMP-store
```

```{memabsence} MEM-ABS-lock — No lock
:searched: src/**, SRC-1:*.py
:pattern: '(Lock|flock)\\('
:regex:
```

```{memannotation} RT-RTE-answer
:operation: observed
```

```{memsupplied}
:member: runtime

RT-RTE-answer: Answer route <https://example.org/>
```

```{memcoverage}
- entry: Save a note
  direct: [src/recall.py, "SRC-1:README.md#L1"]
  supplied: runtime
  records: [MEM-OBJ-note, MEM-RTE-recall]
  note: 'Read: in part.'
- {entry: Other, unresolved: "Who?"}
```

```{memprofile}
storage_substrate:
  assessment: known
  findings:
    - {value: files, basis: wired, records: [MEM-OBJ-note]}
write_agency: {assessment: uninspected, note: x}
```

```{memgraph}
:around: MEM-OBJ-note
:depth: 2
```

```{memrecords}
:kind: object, route
```
"""
SOUND_MEMBER = """\
---
type: types/memory.md
run-id: R-1
memory-comparison:
  axes:
    write_agency:
      assessment: known
      values: [manual]
      evidence: {manual: {basis: wired, records: [MEM-OBJ-note]}}
---

# Jotter memory report

## Boundary

| Entry point | Paths | Coverage | Limit |
|---|---|---|---|
| Add \\| drop | `src/a.py`; supplied `src/b.py` | MEM-OBJ-note, RT-RTE-answer. Read. | No |

| Source ID | Kind | Identity | Revision | Layer |
|---|---|---|---|---|
| SRC-1 | git | https://e.org/j (`x`) | abababababababababababababababababababab | observed run |

#### MEM-OBJ-note — Stored `note`

A note, see [the answer](runtime.md#rt-rte-answer). Selection: all. Effect: none.

Part of: RT-OBJ-store

- Source-native identity: class `Note` # not a comment
- Further: a bullet that is no field.

> def save(note):
>     return 1
> --- `src/a.py:3-4` @ `abababa`, as read

#### On RT-RTE-answer — Annotation

Amendment: RT-RTE-answer is superseded by MEM-OBJ-note and MEM-OBJ-other. So it is.

```python
x = {evidence}
```
"""
SOUND_TOML = f"""\
[reports.jotter]
directory = "."
system = 'Jotter'
ids = "any"

[reports.jotter.sources.SRC-1]
kind = "git"
repository = "https://example.org/o/r"
commit = "{"a" * 40}"
checkout = "../x"
layers = {{ implementation = ["src/**"], "doctrine/design" = ["*.md"] }}
inspected = \"\"\"
All of it.\"\"\"
reports.more.directory = "more"
"""


# --- IDs, paths, ranges ---------------------------------------------------------------------


@holds_for(ID_SOUP, st.sampled_from(list(IdStyle)))
def any_text_is_scanned_and_judged(text: str, style: IdStyle) -> None:
    position = 0
    for mention in find_mentions(text):
        assert position <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end].endswith(mention.target)
        assert mention.target == "" or not mention.target[-1].isspace()
        position = mention.end
    fault = check_id(text, style)
    assert fault != ""
    if fault is None and not text.startswith("SRC-"):
        assert str(parse_record_id(text, style)) == text


@holds_for(
    st.sampled_from(list(Prefix)),
    st.sampled_from(list(Kind)),
    st.from_regex(r"[a-z][a-z0-9]{0,5}(-[a-z][a-z0-9]{0,5}){0,2}", fullmatch=True),
    st.sampled_from(
        ["", " ", "(", "`", "\u200b", "\u202e", "é", "-", "_", "/", ".", "–", "\u0301"]
    ),
)
def an_id_is_found_whole_or_not_at_all(prefix: str, kind: str, name: str, behind: str) -> None:
    written = f"{prefix}-{kind}-{name}"
    assert check_id(written) is None
    found = [mention.target for mention in find_mentions(f"({written}{behind}x)")]
    assert found in ([written], [f"{written}{behind}x"], [])
    if found == [written]:
        assert not behind or behind not in "\u200b\u202e\u0301é"


@holds_for(soup("SRC-1", ":", "a/b.py", "#", "L", "1", "12", "-", " ", size=8))
def any_path_is_split(text: str) -> None:
    source, path, lines = split_source_path(text)
    assert (source == "") or re.fullmatch(r"SRC-\w+", source)
    assert lines is None or all(0 <= number < 10**12 for number in lines)
    if source and lines is not None and path:
        again = split_source_path(f"{source}:{path}#L{lines[0]}-L{lines[1]}")
        assert again == (source, path, lines)


@holds_for(soup("1", "0", "-", "–", " ", "12", "999999999", "L", "\n", size=6))
def all_read_a_range_alike(text: str) -> None:
    one, other = _LINES.fullmatch(text), _RANGE.fullmatch(text)
    assert (one and one.groups()) == (other and other.groups())
    if one:
        LineRange(start=int(one[1]), end=int(one[2] or one[1]))


# --- quotes ---------------------------------------------------------------------------------


def plain_locate(text: str, quote: str) -> list[tuple[int, int]]:
    """Where a quote stands in a text, character by character."""
    kept: list[tuple[str, int]] = []
    for index, char in enumerate(text):
        if not char.isspace():
            kept.append((char, index))
        elif kept and kept[-1][0] != " ":
            kept.append((" ", index))
    needle = normalise(quote)
    letters = [char for char, _ in kept]
    return [
        (kept[at][1], kept[at + len(needle) - 1][1] + 1)
        for at in range(len(kept) - len(needle) + 1)
        if letters[at : at + len(needle)] == list(needle)
    ]


SPACED = st.text("ab \n\r\t\f\u2028\u3000x", max_size=40)


@holds_for(
    SPACED, st.text("ab \n\t\u3000", min_size=1, max_size=8), st.integers(1, 5), st.integers(0, 4)
)
def a_quote_is_located_as_a_slow_search_does(text: str, quote: str, first: int, more: int) -> None:
    assume(quote.strip())
    source = SourceText(text)
    within = LineRange(start=first, end=first + more)
    found = plain_locate(text, quote)
    inside = [
        place
        for place in found
        if within.start <= text.count("\n", 0, place[0]) + 1
        and text.count("\n", 0, place[1] - 1) + 1 <= within.end
    ]
    for limit, expected in ((None, found), (within, inside)):
        match source.locate(quote, limit):
            case Found(start=start, end=end):
                assert [(start, end)] == expected
            case Ambiguous(occurrences=many):
                assert len(many) == len(expected) > 1
            case Missing(elsewhere=elsewhere):
                assert expected == []
                assert len(elsewhere) == (len(found) if limit else 0)


@holds_for(ANY, ANY)
def what_counts_as_white_space_is_one_space(text: str, other: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
    assert (once == normalise(other)) == (text.split() == other.split())


@holds_for(st.one_of(SPACED, MARKDOWN, ANY), st.one_of(MARKDOWN, ANY), cost=2)
def the_nearest_is_found_for_anything(text: str, quote: str) -> None:
    source = SourceText(text)
    if quote.strip():
        near = nearest_passage(quote, source)
        assert near is None or 1 <= near.lines.start <= near.lines.end <= source.line_count
    word_diff(quote, text)
    names = [text[:20], quote[:20], "MEM-OBJ-note"]
    assert set(nearest_names(quote[:30], names)) <= set(names)
    path = nearest_path(quote[:30], names)
    assert path is None or path in names


@holds_for(st.one_of(ANY, MARKDOWN, soup("\x1b[31m", "\n", "::error::", "a")))
def a_line_that_is_printed_holds_nothing_that_is_obeyed(text: str) -> None:
    line = printable_line(text)
    assert not re.search(
        r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", line
    )
    assert len(line.splitlines()) <= 1
    assert printable_line(line) == line or len(text) > 150


# --- bodies and options ---------------------------------------------------------------------


def body_or_fault(text: str) -> Value | BodyFault | None:
    try:
        return read_body(text.split("\n"))
    except BodyFault as fault:
        return fault


def as_plain(value: Value | None) -> Any:
    match value:
        case Text(_, text):
            return text
        case Items(_, items):
            return [as_plain(each) for each in items]
        case Table(_, values):
            return {key: as_plain(each) for key, each in values.items()}
    return None


def stripped(value: Any) -> Any:
    match value:
        case list():
            return [stripped(each) for each in value]
        case dict():
            return {key.strip(): stripped(each) for key, each in value.items()}
    return value.strip()


@holds_for(YAML, examples=(("? \r\r- ",), ("'\r'",), ("a:\u2028- b",)))
def a_yaml_body_is_what_yaml_reads_or_a_fault(text: str) -> None:
    found = body_or_fault(text)
    if isinstance(found, BodyFault):
        assert 1 <= found.line <= text.count("\n") + 2
        return
    one_line = re.sub("[\r\x85\u2028\u2029]", " ", text)  # ends lines in YAML alone
    expected = yaml.load(one_line + "\n", yaml.BaseLoader)
    assert (as_plain(found) or None) == (stripped(expected or "") or None)


SCALAR = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
DATA = st.recursive(
    SCALAR, lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(
        SCALAR, inner, min_size=1, max_size=3
    ), max_leaves=8
)  # fmt: skip


@holds_for(DATA, st.booleans())
def data_that_is_written_is_read_back(data: Any, flow: bool) -> None:
    assume(not isinstance(data, str) or data.strip())
    text = yaml.safe_dump(data, default_style='"', default_flow_style=flow, allow_unicode=False)
    found = body_or_fault(text.removesuffix("\n"))
    if isinstance(found, BodyFault):
        assert "twice" in found.message  # keys that are the same without blanks
        return
    assert as_plain(found) == stripped(data)


@holds_for(
    st.lists(
        soup(":", "lines", "caption", " ", "12", "'", '"', "#", " #", "\\", "|", ">", "&a"),
        max_size=4,
    )
)
def any_option_block_is_read_or_faulted(block: list[str]) -> None:
    lines = [line.replace("\n", " ") for line in block]
    parsed = _tokenized(lines, {"lines", "caption"})
    assert all(isinstance(value, str) for value in parsed.values.values())
    assert set(parsed.values) <= {"lines", "caption"} or parsed.unknown or parsed.faults


@holds_for(
    ANY,
    st.lists(st.one_of(MARKDOWN, ANY), min_size=1, max_size=5),
    st.sampled_from(["myst", "rest"]),
    examples=(("", ["\0"], "myst"),),
)
def a_block_that_is_written_is_read_back(caption: str, lines: list[str], syntax: Any) -> None:
    quote = "\n".join(lines)
    try:
        block = evidence_block("SRC-1", "a b.py", quote, caption=caption, syntax=syntax)
    except ValueError:
        return
    (found,) = scan(block, syntax).blocks
    assert found.trouble == ""
    assert normalise(found.quote) == normalise("\n".join(body_lines(quote)))
    assert (found.option("caption") or "") == " ".join(caption.split())


# --- documents ------------------------------------------------------------------------------


@holds_for(
    st.one_of(edited(SOUND_PAGE, MARKDOWN), MARKDOWN), st.sampled_from(["myst", "rest"]), cost=2
)
def any_document_is_scanned(text: str, syntax: Any) -> None:
    found = scan(text, syntax)
    lines = split_lines(text)
    assert "".join(line + end for line, end in lines) == text
    assert apply_edits(text, []) == text
    for block in found.blocks:
        assert 1 <= block.line <= block.end <= len(lines)
        assert block.line < block.body_start or block.trouble
        assert block.body_start <= block.body_end <= len(lines) + 1
        assert lines[block.line - 1][0][block.argument_column :].startswith(block.argument)
        if not block.trouble and body_lines(block.quote):
            new = apply_edits(text, body_edits(text, block, body_lines(block.quote)))
            again = scan(new, syntax)
            assert Counter(quotes_of(again)) == Counter(quotes_of(found))
    for skipped in found.skipped:
        assert 1 <= skipped.line <= len(lines)
    pin_edits.Document(text, syntax, "SRC-1").edited([])
    assert first_too_deep(text, markdown=syntax == "myst") is None
    assert text.split("\n")[0] in shown_as_text("m", text, markdown=True)


class _Sure:
    """Verdicts of a source that is one text; all that stands in it once is verified."""

    def __init__(self, text: str) -> None:
        self._text = SourceText(text)

    def on(self, _report: Report, block: Any) -> Resolution | None:
        if not block.quote.strip():
            return None
        found = self._text.locate(block.quote, block.lines)
        if not isinstance(found, Found):
            return Resolution(status=Status.STALE)
        return Resolution(status=Status.VERIFIED, lines=found.lines)

    def text(self, _report: Report, _block: Any) -> SourceText:
        return self._text


PASSAGE = st.tuples(st.integers(0, 30), st.integers(1, 12), st.sampled_from([" ", "\n", "\n  "]))


@holds_for(
    soup(*"abc", "\n", "  ", "\t", "```", ":::", ":x: y", "---", "```{evidence} x", size=15),
    st.lists(PASSAGE, min_size=1, max_size=3),
    st.sampled_from(["", "> ", "- ", "  "]),
    st.sampled_from(["```", "````", ":::"]),
)  # fmt: skip
def formatting_changes_white_space_alone_and_only_once(
    source: str, places: list[tuple[int, int, str]], prefix: str, fence: str
) -> None:
    words = source.split()
    blocks = []
    for start, length, space in places:
        quote = space.join(words[start : start + length])
        lines = [f"{fence}{{evidence}} SRC-1 a.py", *quote.split("\n"), fence]
        blocks.append("\n".join(prefix + line for line in lines))
    text = "# T\n\n" + "\n\n".join(blocks) + "\n"
    verdicts: Any = _Sure(source)

    def formatted(text: str) -> Any:
        document = Document(Path("m.md"), REPORT, "myst", text.encode("utf-8", "replace"), text)
        return _formatted(document, scan(text, "myst"), verdicts)

    once = formatted(text)
    assert list(quotes_of(scan(once.text, "myst"))) == list(quotes_of(scan(text, "myst")))
    assert formatted(once.text).text == once.text


@holds_for(soup("`", "``", "a", " ", "<", ">", "\\", "{mem}`", size=10))
def inline_code_is_where_commonmark_finds_it(text: str) -> None:
    line = " ".join(text.split()).replace("\0", "")
    span = code_span(line)
    ends = code_ends(line)
    tokens = commonmark().parseInline(line)[0].children or []
    starts_with_code = bool(tokens) and tokens[0].type == "code_inline"
    assert (span is not None) == starts_with_code
    if span is not None:
        content = span[0]
        if content.startswith(" ") and content.endswith(" ") and content.strip():
            content = content[1:-1]
        assert content == tokens[0].content
        assert ends[0] == span[1]
    target = titled(line)
    assert target is None or line[target.start - 1] == "<"


# --- the plain form -------------------------------------------------------------------------

REPORT = Report.model_validate(
    {
        "slug": "jotter",
        "directory": ".",
        "system": "Jotter",
        "sources": {
            "SRC-1": {
                "kind": "git",
                "repository": "https://github.com/example/jotter",
                "commit": "ab" * 20,
                "checkout": "x",
            }
        },
    }
)
# words that are no part of the structure, nor of what becomes configuration
_WORD = re.compile(r"(?<![a-z0-9])[bdfgjkqvwxz]{3,}(?![a-z0-9])")
# the names of columns say what a table is; the words in them are not kept
_HEADER = re.compile(r"^.*\n(?=.*\|\s*:?-)", re.MULTILINE)


@holds_for(st.one_of(edited(SOUND_MEMBER, MEMBER), MEMBER, st.binary(max_size=60)), cost=4)
def any_member_becomes_a_document_in_which_nothing_runs(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    try:
        member = read_member("memory.md", decode(data))
    except NotReadable:
        return
    writer = MystWriter([member], lambda quote: quote.source or "SRC-1", {"SRC-1": "ab" * 20})
    document = writer.document(member)
    for block in read_blocks(document):
        assert block.name in {"", *OWN_DIRECTIVES, "code-block"}, block
    assert "onerror" not in document
    registers = [item for item in member.items if isinstance(item, RegisterItem)]
    written = Counter(_WORD.findall(f"{document} {registers}"))  # sources go to memreport.toml
    read = Counter(_WORD.findall(_HEADER.sub("", decode(data))))
    assert not read - written
    (plain_form,) = write_members(REPORT, [Source(PurePosixPath("memory.md"), document)])
    assert isinstance(plain_form.text, str)


@holds_for(st.one_of(edited(SOUND_PAGE, MARKDOWN), MARKDOWN, MEMBER), cost=4)
def any_document_is_exported(text: str) -> None:
    clean = text.replace("\r", "\n")
    (written,) = write_members(REPORT, [Source(PurePosixPath("m.md"), clean)])
    for remark in written.lost:
        assert remark.line >= 1
    front_matter(clean)
    read_member("m.md", written.text)


@holds_for(
    st.one_of(
        soup("---", "—", " ", "`", "a/b.py", ":", "3-4", "@", "abcdef1", "[", "](", ")", "SRC-1"),
        ANY,
    )
)
def any_attribution_and_field_is_read(line: str) -> None:
    one_line = " ".join(line.split("\n"))
    found = parse_attribution(one_line)
    assert found is None or found.lines is None or found.lines.start >= 1
    for kind in Kind:
        pieces = read_fields(kind, f"Selection: {line}", bullet=False) or []
        assert all(isinstance(piece.text, str) for piece in pieces)


# --- configuration, globs, searches ---------------------------------------------------------


def config_or_refusal(path: Path) -> SiteConfig | InvalidConfig:
    try:
        return load_config(path)
    except InvalidConfig as refused:
        return refused


@holds_for(st.one_of(edited(SOUND_TOML, TOML), TOML, st.binary(max_size=40)))
def any_configuration_is_read_or_refused(text: str | bytes) -> None:
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memreport.toml"
        path.write_bytes(data)
        config = config_or_refusal(path)
        if isinstance(config, InvalidConfig):
            assert config.problems
            for problem in config.problems:
                assert problem.line is None or 1 <= problem.line <= data.count(b"\n") + 1
                assert problem.message == printable_line(problem.message)
            return
        read = tomllib.loads(data.decode()).get("reports", {})
        assert list(config.reports) == list(read)


def slow_glob(pattern: str, path: str) -> bool:
    """``*`` and ``**`` by their definition, for patterns of these and plain letters."""
    parts, names = pattern.split("/"), path.split("/")

    def match(at: int, name: int) -> bool:
        if at == len(parts):
            return name == len(names)
        if parts[at] == "**":
            if at == len(parts) - 1:
                return name < len(names)
            return any(match(at + 1, later) for later in range(name, len(names) + 1))
        if name == len(names):
            return False
        expression = re.escape(parts[at]).replace(r"\*", ".*").replace(r"\?", ".")
        if not re.fullmatch(expression, names[name]):
            return False
        # a plain path that names a directory matches what lies below
        return match(at + 1, name + 1)

    below = not re.search(r"[*?]", pattern) and path.startswith(f"{pattern}/")
    return below or match(0, 0)


@holds_for(st.lists(GLOB, max_size=3), ANY)
def any_glob_is_compared_with_any_path(globs: list[str], path: str) -> None:
    found = Glob(globs).matches(path)
    assert found == any(Glob([glob]).matches(path) for glob in globs)


PART = st.sampled_from(["a", "b", "ab", "*", "a*", "*b", "?", "a?"])
NAMES = st.lists(st.sampled_from(["a", "b", "ab", "abb"]), min_size=1, max_size=4)


@holds_for(st.lists(PART | st.just("**"), min_size=1, max_size=4), NAMES)
def a_glob_matches_as_its_definition_says(parts: list[str], names: list[str]) -> None:
    pattern, path = "/".join(parts), "/".join(names)
    assert Glob([pattern]).matches(path) == slow_glob(pattern, path)


RULES = ReportRules(
    slug="jotter",
    sources=(
        SourceRules(id="SRC-1", kind="git", fingerprint="x"),
        SourceRules(id="SRC-2", kind="capture", fingerprint="y"),
    ),
)


@holds_for(
    soup("**", "src/", ",", "SRC-1:", "SRC-2", "SRC-", " ", size=6), PATTERN, st.booleans(),
    st.binary(max_size=40),
)  # fmt: skip
def any_search_is_planned_and_run(searched: str, pattern: str, regex: bool, data: bytes) -> None:
    planned = plan(RULES, searched, pattern, regex=regex)
    for fault in planned.faults:
        assert fault.message == printable_line(fault.message)
    for each in planned.searches:
        assume(each.request.pattern)
        search = Search(each.request)
        search.look_into("a.txt", SearchedFile(data, "utf-8"))
        result = search.result()
        assert result.hit_count >= len(result.hits)
        if not regex and pattern and pattern.encode("utf-8", "surrogatepass") in data:
            assert result.hit_count > 0


# --- whole pages ----------------------------------------------------------------------------

_SITES: dict[str, tuple[TinySite, PinnedRepo]] = {}


def _site() -> TinySite:
    """One site for all texts: a build of it is quick, for only one document changes."""
    if "site" not in _SITES:
        folder = Path(tempfile.mkdtemp(prefix="memreport-fuzz-"))
        tree = {"README.md": b"# Jotter\n\nNotes.\n", "src/recall.py": RECALL, "s.py": STORE}
        repo = plain(folder / "jotter", tree)
        _SITES["site"] = TinySite(folder / "site", repo), repo
    return _SITES["site"][0]


@holds_for(st.one_of(edited(SOUND_PAGE, PAGE), PAGE), cost=40)
def any_page_is_built_and_every_problem_has_its_line(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode()
    built = _site().build({"m.md": f"# M\n\n{clean}\n"})
    lines = clean.count("\n") + 5
    for problem in built.details:
        assert problem.docname in ("m", None)
        assert problem.line is None or 1 <= problem.line <= lines, problem
        assert problem.message == printable_line(problem.message)
    assert built.status == int(any(str(p.severity) == "error" for p in built.details))
    assert built.data("memreport.json")["schema_version"] == 1


@holds_for(st.just(SOUND_PAGE), cost=120)
def the_sound_page_is_sound(text: str) -> None:
    built = _site().build({"m.md": f"# M\n\n{text}\n"})
    assert built.problems == []
