"""Directives that show report text; ``tests/`` builds what they show.

``memreport-example`` shows report text that ``tests/test_docs.py`` builds:

- ``file``: its path in the site; ``jotter/memory.md`` when left out.
- ``given``: IDs that the text cites and another page is taken to declare.
- ``group``: snippets of a page with the same group are one site.
- ``hidden``: a file that the group needs and that readers need not see.
- ``problems``: what the build must say, ``CODE LINE`` each, separated by commas; nothing else.

``problem-example`` shows the failing example of a problem code in ``tests/problems/`` and what
the build says of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sphinx_memreport.core.problems import Code, Notice, Severity, default_severity

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata

logger = logging.getLogger(__name__)

PROBLEMS = Path(__file__).parents[2] / "tests" / "problems"
_EXPECT = re.compile(r"^(?:%|#) expect: .*\n", re.MULTILINE)
# Pygments knows Markdown, but not the fences of MyST
_LEXERS = {".rst": "rst", ".toml": "toml", ".py": "python"}


class Example(SphinxDirective):
    """Report text that is built by the tests."""

    has_content = True
    option_spec = {  # noqa: RUF012
        "file": directives.unchanged,
        "given": directives.unchanged,
        "group": directives.unchanged,
        "hidden": directives.flag,
        "problems": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """The text, named by its file where that is given, and what the build says of it."""
        if "hidden" in self.options:
            return []
        file = self.options.get("file", "")
        text = "\n".join(self.content)
        shown = listing(
            text, file or "memory.md", caption=file, numbered="problems" in self.options
        )
        self.set_source_info(shown)
        return [shown, *self._outcome()]

    def _outcome(self) -> list[nodes.Node]:
        if "problems" not in self.options:
            return []
        found = [problem.split() for problem in self.options["problems"].split(",")]
        said = " and ".join(f"[{code}](#problem-{code}) at line {line}" for code, line in found)
        return [
            nodes.container(
                "",
                *self.parse_text_to_nodes(f"The build says {said}."),
                classes=["snippet-outcome"],
            )
        ]


class ProblemExample(SphinxDirective):
    """The failing example of a problem code, and what the build says of it."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The severity, the files with line numbers, and the message."""
        name = self.arguments[0]
        code = Notice(name) if name in tuple(Notice) else Code(name)
        found: list[nodes.Node] = [nodes.paragraph("", self._severity(code))]
        folder = PROBLEMS / code
        files = sorted(folder.rglob("*.*")) if folder.is_dir() else [PROBLEMS / f"{code}.md"]
        for file in files:
            self.env.note_dependency(file)
            name = file.relative_to(folder).as_posix() if folder.is_dir() else "jotter/memory.md"
            text = _EXPECT.sub("", file.read_text(encoding="utf-8")).rstrip("\n")
            found.append(listing(text, name, caption=name, numbered=True))
        said = PROBLEMS / f"{code}.txt"
        self.env.note_dependency(said)
        if not said.exists():
            logger.warning("the example has not been built", location=self.get_location())
            return found
        text = said.read_text(encoding="utf-8").rstrip("\n")
        said_block = listing(text, "", "What the build says")
        said_block["classes"].append("said")
        return [*found, said_block]

    def _severity(self, code: Code | Notice) -> str:
        core, strict = default_severity(code), default_severity(code, strict=True)
        if code is Code.INVALID_CONFIG:
            return "An error that ends the build at once, with exit status 2. No page is written."
        if core is not strict:
            return f"A {core} at contract level core, an {strict} at level strict."
        return "An error." if core is Severity.ERROR else "A warning."


def listing(text: str, name: str, caption: str = "", *, numbered: bool = False) -> nodes.Element:
    """A literal block, highlighted as the file of that name, below its caption."""
    block = nodes.literal_block(text, text, language=_LEXERS.get(Path(name).suffix, "text"))
    block["linenos"] = numbered
    if not caption:
        return block
    line = nodes.caption(
        "", "", nodes.literal("", caption) if "." in caption else nodes.Text(caption)
    )
    return nodes.container("", line, block, literal_block=True, classes=["literal-block-wrapper"])


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the directives."""
    app.add_directive("memreport-example", Example)
    app.add_directive("problem-example", ProblemExample)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
