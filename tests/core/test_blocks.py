"""Blocks that are written are read back: the writer, the scanner, and the build agree."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent, indent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pinned_repo import PinnedRepo
from sitebuilder import TinySite

from sphinx_memreport.core.blocks import body_lines, evidence_block, laid_out
from sphinx_memreport.core.blockscan import (
    Edit,
    apply_edits,
    body_edits,
    quotes_of,
    scan,
)
from sphinx_memreport.core.models import Found, LineRange
from sphinx_memreport.core.quotes import SourceText, normalise
from sphinx_memreport.sphinx_ext.domain import mem_domain

LINES = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "```",
                "````",
                "~~~",
                ":::",
                "::::{note}",
                "---",
                ":root {",
                ": x",
                "",
                "\t tab",
                "> q",
            ]
        ),
        st.sampled_from(
            ["    indented", "- ```{evidence} SRC-1 x", "$$", "% c", "+++", "a\fb", "x\r"]
        ),
        st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0\n"), max_size=12),
    ),
    min_size=1,
    max_size=6,
)
CAPTIONS = st.one_of(st.none(), st.text(alphabet=" :#'\"\\-[]{}|>&*!%@`aé\u200d", max_size=12))


@settings(max_examples=400, deadline=None)
@given(LINES, CAPTIONS, st.sampled_from(["myst", "rest"]), st.sampled_from(["", "- ", "> "]))
@example([":root {"], None, "myst", "")
@example(["---"], "a # b", "myst", "- ")
def test_a_block_is_read_back_wherever_it_stands(lines, caption, syntax, nesting) -> None:  # type: ignore[no-untyped-def]
    quote = "\n".join(lines)
    if not body_lines(quote):
        with pytest.raises(ValueError, match="white space"):
            evidence_block("SRC-1", "a b.py", quote)
        return
    block = evidence_block(
        "SRC-1",
        "src/a b.py",
        quote,
        lines=LineRange(start=2, end=9),
        caption=caption,
        layer="implementation",
        supports=["MEM-OBJ-note", "MEM-OBJ-other"],
        syntax=syntax,
    )
    if syntax == "rest":
        nesting = ""
    inner = nesting if nesting == "> " else " " * len(nesting)
    text = "Before.\n\n" + nesting + indent(block, inner, lambda _: True).removeprefix(inner)
    text += "\nAfter.\n"
    found = scan(text, syntax)
    assert found.skipped == []
    (read,) = found.blocks
    assert normalise(read.quote) == normalise(quote)
    assert (read.source, read.path, read.line) == ("SRC-1", "src/a b.py", 3)
    assert read.lines == LineRange(start=2, end=9)
    assert read.option("caption") == (" ".join((caption or "").split()) or None)
    assert read.option("supports") == "MEM-OBJ-note, MEM-OBJ-other"
    column = text.split("\n")[2][read.argument_column :]
    assert column.startswith("SRC-1 src/a b.py")


@pytest.mark.parametrize("path", [" a", "a ", "a\nb", "a\x1bb", "caf\udce9"])
def test_a_path_that_cannot_be_written_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="the path"):
        evidence_block("SRC-1", path, "x")


def test_a_path_with_a_backtick_and_a_path_like_a_source() -> None:
    assert scan(evidence_block("SRC-1", "a`b", "x ~~~"), "myst").blocks[0].path == "a`b"
    with pytest.raises(ValueError, match="looks like a source"):
        evidence_block("", "SRC-1.txt", "x")


# --- layout -----------------------------------------------------------------------------------

SOURCE = "class A:\n    def f(self):\n        x = g(\n            1,\n        )\n\n\treturn x\r\n"


@pytest.mark.parametrize(
    ("quote", "laid"),
    [
        ("def f(self): x = g(", "def f(self):\n    x = g("),
        ("g( 1, )", "g(\n    1,\n)"),
        ("class A: def f(self):", "class A:\n    def f(self):"),
        ("return x", "return x"),
    ],
)
def test_a_passage_has_the_lines_of_its_source(quote: str, laid: str) -> None:
    source = SourceText(SOURCE)
    found = source.locate(quote)
    assert isinstance(found, Found)
    assert laid_out(source, found) == laid


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab \t\n\r\f:`~-", min_size=1, max_size=60), st.data())
def test_a_laid_out_passage_is_the_same_passage(text: str, data: st.DataObject) -> None:
    source = SourceText(text)
    words = source.normalised.split(" ")
    start = data.draw(st.integers(0, len(words) - 1))
    quote = " ".join(words[start : data.draw(st.integers(start + 1, len(words)))])
    found = source.locate(quote) if quote else None
    if isinstance(found, Found):
        again = source.locate("\n".join(body_lines(laid_out(source, found))))
        assert again == found


# --- the scanner and the build ----------------------------------------------------------------

MARKDOWN = {
    "plain": "# T\n\n```{evidence} SRC-1 README.md\nJotter keeps\n```\n",
    "colons": "# T\n\n::::{evidence} README.md\n:lines: 3\n\n:::\nx\n::::\n",
    "record": """\
        ---
        orphan: true
        ---
        # T

        ::::{memobject} MEM-OBJ-note — Note
        :substrate: A list.

        Text.

        :::{note}
        ```{evidence} SRC-1 src/jotter/store.py
        :caption: "One: # two"
        :lines: 3

        self.notes.append(note)
        ```
        :::
        ::::

        :::{memclaim} MEM-CLM-x
        ---
        operation: Keeps
        ---
        ~~~{evidence} SRC-1 README.md
        Jotter keeps
        ~~~
        :::
        """,
    "starts": "# T\n\n::::{memclaim} MEM-CLM-y\n:::{evidence} SRC-1 README.md\nkeeps\n:::\n::::\n",
    "nested": """\
        # T

        - item

          ```{evidence} SRC-1 README.md
          Jotter
            keeps
          ```

        1. > quoted
           >
           > ```{evidence} SRC-1 README.md
           > recalls
           >
           > them
           > ```

        - ```{evidence} SRC-1 README.md
          notes
          ```
        """,
    "literal": """\
        # T

        ````markdown
        ```{evidence} SRC-1 README.md
        not evidence
        ```
        ````

            ```{evidence} SRC-1 README.md
            nor this
            ```

        ````{code-block} markdown
        ```{evidence} SRC-1 README.md
        nor this
        ```
        ````

        % ```{evidence} SRC-1 README.md
        % nor this
        % ```
        """,
    "indented": "# T\n\n  ```{evidence} SRC-1 README.md\n  Jotter\n   keeps\n  ```\n",
    "crlf": "# T\r\n\r\n```{evidence} SRC-1 README.md\r\nJotter\r\nkeeps\r\n```\r\n",
    "bom": "\ufeff```{evidence} SRC-1 README.md\nJotter\n```",
}
REST = """\
T
=

.. evidence:: SRC-1 README.md

   Jotter
   \tkeeps
     notes

.. evidence:: SRC-1 README.md

   Jotter
     keeps

.. memobject:: MEM-OBJ-note — Note
   :substrate: A list.

   Text.

   .. evidence:: src/jotter/store.py
      :lines: 3
      :caption: One: # two

      self.notes.append(note)

   * item

     .. evidence:: SRC-1 README.md

        ``:::``

As text::

   .. evidence:: SRC-1 README.md

      not evidence

.. code-block:: rst

   .. evidence:: SRC-1 README.md

      nor this

..
   .. evidence:: SRC-1 README.md

      nor this

.. note::

   .. evidence:: SRC-1 README.md

      recalls
"""


def test_the_scanner_sees_what_the_build_sees(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    site = TinySite(tmp_path, pinned_repo)
    documents = {f"{name}.md": dedent(text) for name, text in MARKDOWN.items()}
    documents["rest.rst"] = REST
    site.write({name: text.encode() for name, text in documents.items()})
    built = site.build(builder="dummy")
    count = 0
    for name, text in documents.items():
        docname = name.partition(".")[0]
        facts = mem_domain(built.env).facts(docname)
        theirs = sorted(
            (e.line, e.source, e.path, normalise(e.quote), e.lines) for e in facts.evidence
        )
        found = scan(text, "rest" if name.endswith("rst") else "myst")
        ours = [(b.line, b.source, b.path, normalise(b.quote), b.lines) for b in found.blocks]
        assert ours == theirs, name
        assert {b.trouble for b in found.blocks} <= {""}, name
        count += len(ours)
    assert count == 16


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("```{evidence} SRC-1 a\nx\n", "its fence is never closed"),
        ("```{evidence} SRC-1 a\n---\nx\n```\n", "its first line '---' is read as options"),
        ("```{evidence} SRC-1 a\n:root {\n```\n", "its option ':root {' cannot be read"),
        ("```{evidence} SRC-1 a\n:lines: 1\n:lines: 2\n\nx\n```\n", "'lines' is given twice"),
        ("```{evidence} SRC-1 a\n:lines: one\n\nx\n```\n", "is not a range"),
        ("```{evidence} SRC-1 a\n:caption: a # b\n\nx\n```\n", "cannot be read"),
        ("```{evidence} SRC-1 a\n```\n", "it holds no passage"),
        ("  ```{evidence} SRC-1 a\n  x\ny\n  ```\n", "indented less than its fence"),
        ("- x\n\n  ```{evidence} SRC-1 a\n\tx\n  ```\n", "tabs stand in the indentation"),
    ],
)
def test_a_block_that_is_not_sure_says_why(text: str, trouble: str) -> None:
    assert trouble in scan(text, "myst").blocks[0].trouble


def test_tabs_in_restructuredtext_may_not_be_cut_in_two() -> None:
    found = scan("* x\n\n  .. evidence:: a\n\n\tx\n", "rest")
    assert [block.trouble for block in found.blocks] == [
        "tabs stand in the indentation of its lines"
    ]


def test_what_looks_like_evidence_and_is_left_out_is_said() -> None:
    inner = "```{evidence} SRC-1 a\nx\n```\n"
    found = scan(f"````{{tabs}}\n{inner}````\n\n<div>\n{inner}</div>\n", "myst")
    assert found.blocks == []
    assert found.skipped == [
        (2, "it is not known how 'tabs' reads its body"),
        (8, "it is not read as a directive there"),
    ]
    rest = scan(
        "text\n.. evidence:: a\n\n   x\n\n* .. evidence:: a\n\n.. tabs::\n\n   .. evidence:: a\n",
        "rest",
    )
    assert rest.blocks == []
    assert [line for line, _ in rest.skipped] == [2, 6, 10]


# --- edits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_an_edit_touches_nothing_else(ending: str, last: str) -> None:
    text = ending.join(["\ufeffa\t", "> ```{evidence} x", ">", "> one two", "> ```"]) + last
    (block,) = scan(text, "myst").blocks
    new = apply_edits(text, body_edits(text, block, ["one", "", "  two"]))
    assert (
        new
        == ending.join(["\ufeffa\t", "> ```{evidence} x", ">", "> one", ">", ">   two", "> ```"])
        + last
    )


def test_a_fence_grows_when_it_must() -> None:
    text = "- ```{evidence} x\n  a ``` b\n  ```\n"
    (block,) = scan(text, "myst").blocks
    new = apply_edits(text, body_edits(text, block, ["a", "```", "b"]))
    assert new == "- ````{evidence} x\n  a\n  ```\n  b\n  ````\n"
    assert list(quotes_of(scan(new, "myst"))) == list(quotes_of(scan(text, "myst")))


def test_a_blank_line_comes_where_options_would_begin() -> None:
    text = "```{evidence} x\n  --- a\n```\n"
    (block,) = scan(text, "myst").blocks
    new = apply_edits(text, body_edits(text, block, ["--- a"]))
    assert new == "```{evidence} x\n\n--- a\n```\n"


@given(st.lists(st.sampled_from(["a", "", "b"]), min_size=1, max_size=8), st.data())
def test_edits_of_lines(lines: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(1, len(lines)))
    end = data.draw(st.integers(start, len(lines)))
    new = tuple(data.draw(st.lists(st.just("new"), max_size=2)))
    text = "".join(f"{line}\n" for line in lines)
    expected = [*lines[: start - 1], *new, *lines[end - 1 :]]
    assert apply_edits(text, [Edit(start, end, new)]) == "".join(f"{x}\n" for x in expected)
