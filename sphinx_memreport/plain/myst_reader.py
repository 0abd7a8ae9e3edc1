"""MyST documents as blocks: directives with their options and bodies, and everything else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import yaml
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.directives import is_option_line
from myst_parser.parsers.mdit import create_md_parser
from myst_parser.parsers.options import TokenizeError, options_to_items

_NAME = re.compile(r"\{(?P<name>[^}\s]+)\}\s*(?P<argument>.*)", re.DOTALL)
# Lists and mappings in front matter; ours need few.
_DEEPEST = 50


class Block(NamedTuple):
    """A block of a document; its line is counted from 1.

    ``kind`` is the type of the parser's token. Of a directive, ``name`` is set, and ``readable``
    says whether its options could be read.
    """

    kind: str
    line: int
    text: str
    name: str = ""
    argument: str = ""
    options: tuple[tuple[str, str], ...] = ()
    body: str = ""
    body_line: int = 0
    readable: bool = True

    def option(self, name: str) -> str:
        """An option's value, empty when it is not given."""
        return dict(self.options).get(name, "")


def read_blocks(text: str, first_line: int = 1) -> Iterator[Block]:
    """The blocks of the top level of a document, or of a directive's body.

    :param first_line: the line that the text begins at.
    """
    lines = text.split("\n")
    at = 0
    for token in _parser(nested=first_line > 1).parse(text):
        if token.level or token.nesting < 0 or token.map is None:
            continue
        start, end = token.map
        if any(line.strip() for line in lines[at:start]):  # link definitions
            yield Block("text", first_line + at, "\n".join(lines[at:start]).strip("\n"))
        at = max(at, end)
        raw = "\n".join(lines[start:end]).strip("\n")
        match = _NAME.fullmatch(token.info.strip()) if "fence" in token.type else None
        if match is None:
            yield Block(token.type, first_line + start, token.content if token.hidden else raw)
        else:
            yield _directive(match, token.content, raw, first_line + start)
    if any(line.strip() for line in lines[at:]):
        yield Block("text", first_line + at, "\n".join(lines[at:]).strip("\n"))


def front_matter(text: str) -> dict[str, object]:
    """The front matter of a document as plain data; empty when there is none that can be read."""
    first = next(iter(read_blocks(text)), None)
    if first is None or first.kind != "front_matter":
        return {}
    try:
        if not _is_harmless(first.text):
            return {}
        data = yaml.load(first.text, Loader=yaml.BaseLoader)  # makes strings and nothing else
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _is_harmless(text: str) -> bool:
    """Whether YAML has no aliases and little depth; no more of it is read than tells that.

    :raises yaml.YAMLError: when it is no YAML.
    """
    depth = 0
    for event in yaml.parse(text, Loader=yaml.BaseLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
            return False
    return True


@cache
def _parser(*, nested: bool) -> MarkdownIt:
    parser = create_md_parser(MdParserConfig(enable_extensions={"colon_fence"}), RendererHTML)
    parser.core.ruler.enableOnly(["normalize", "block"])
    if nested:  # only a document has front matter
        parser.disable("front_matter")
    return parser


def _directive(match: re.Match[str], content: str, raw: str, line: int) -> Block:
    lines = content.removesuffix("\n").split("\n") if content else []
    options, count, readable = _options(lines)
    body = lines[count:]
    if body and not body[0].strip():
        body, count = body[1:], count + 1
    return Block(
        kind="directive",
        line=line,
        text=raw,
        name=match["name"],
        argument=match["argument"].strip(),
        options=options,
        body="\n".join(body),
        body_line=line + 1 + count,
        readable=readable,
    )


def _options(lines: list[str]) -> tuple[tuple[tuple[str, str], ...], int, bool]:
    """Options, how many lines they take, and whether they could be read."""
    if lines and lines[0].startswith("---"):
        end = next((i for i, each in enumerate(lines[1:], 1) if each.startswith("---")), None)
        if end is None:
            return (), 0, False
        written, count = lines[1:end], end + 1
    else:
        count = next((i for i, each in enumerate(lines) if not is_option_line(each)), len(lines))
        written = [each.lstrip()[1:] for each in lines[:count]]
    try:
        items, _ = options_to_items("\n".join(written))
    except TokenizeError:
        return (), count, False
    return tuple(items), count, True
