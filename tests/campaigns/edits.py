"""Single-character edits of the example report, and what each of them must lead to.

What is expected follows from the place and the kind of an edit, the contract, and a plain search
of ours through the pinned files; the code under test is not asked.
"""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

#: The statuses of section 3.2, and the grammar of section 3.1.
STATUSES = "absent|inapplicable|uninspected|claimed|afforded|wired|observed|causally supported"
ID = re.compile(
    r"(?:RT|MEM|EPI)-(?:CMP|OBJ|RTE|CLM|ABS|BAP)-[a-z][a-z0-9]*(?:-[a-z][a-z0-9]*){0,2}"
)

_MENTION = re.compile(rf"(?<![\w/-]){ID.pattern}(?![\w/-])")
_SOURCE = re.compile(r"(?<![\w/-])SRC-[1-9](?![\w/:-])")
_RECORD = re.compile(r":{3,}\{mem\w+\} (?P<id>\S+)")
_SUPPLIED = re.compile(rf"(?P<id>{ID.pattern})(?=: )")
_DIRECTIVE = re.compile(r"(?P<fence>`{3,}|:{3,})\{(?P<name>\w+)\}(?: (?P<argument>.*))?$")
_EVIDENCE = re.compile(r"(?P<source>SRC-\d)(?: (?P<path>.*))?$")
_OPTION = re.compile(r":(?P<name>[a-z-]+): ?(?P<value>.*)$")
_STATUS = re.compile(rf":(?:implementation|operation): (?P<value>{STATUSES})$")
_PATH_ROLE = re.compile(
    r"\{memsrc\}`(?:[^`<]*<)?(?:SRC-1:)(?P<path>[^`#>]+)(?:#L(?P<start>\d+)-L(?P<end>\d+))?"
)
_PIN = re.compile(r'(?P<name>commit|sha256) = "(?P<hash>[0-9a-f]+)"')

_HOMOGLYPHS = str.maketrans("aceopxyABCEHKMOPTX0", "асеорхуАВСЕНКМОРТХО")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class Edit(NamedTuple):
    """One edit of one line, and what must be said after it.

    :param codes: of which exactly one problem is expected; none: nothing may be said.
    :param lines: where in the document, or in memreport.toml, that may be; empty: anywhere.
    :param more: codes of what else may follow from the edit.
    """

    kind: str
    operation: str
    path: Path
    line: int
    new: str
    codes: frozenset[str]
    lines: frozenset[int] = frozenset()
    more: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return f"{self.kind}, {self.operation}, {self.path.name}:{self.line}: {self.new!r}"


# --- operations ---------------------------------------------------------------------------


def _replaced(text: str, at: int, rng: random.Random) -> str:
    alike = "0123456789" if text[at].isdigit() else _LETTERS
    if text[at].isupper():
        alike = alike.upper()
    return text[:at] + rng.choice(alike.replace(text[at], "")) + text[at + 1 :]


def _inserted(text: str, at: int, rng: random.Random) -> str:
    return text[:at] + rng.choice(_LETTERS) + text[at:]


OPERATIONS: Mapping[str, Callable[[str, int, random.Random], str]] = {
    "replaced": _replaced,
    "inserted": _inserted,
    "deleted": lambda text, at, _: text[:at] + text[at + 1 :],
    "transposed": lambda text, at, _: text[:at] + text[at : at + 2][::-1] + text[at + 2 :],
    "other case": lambda text, at, _: text[:at] + text[at].swapcase() + text[at + 1 :],
    "homoglyph": lambda text, at, _: text[:at] + text[at].translate(_HOMOGLYPHS) + text[at + 1 :],
}

#: Edits of the white space of a quote, by a match of ``(\S)( +)(\S)``; none means anything.
WHITE_SPACE: Mapping[str, str] = {
    "doubled": r"\1\2 \3",
    "a tab": r"\1\t\3",
    "a new line": "\\1\n\\3",
    "a new line and blanks": "\\1\n        \\3",
    "a no-break space": "\\1\N{NO-BREAK SPACE}\\3",
}


def _variants(
    text: str, span: tuple[int, int], rng: random.Random, but: str = ""
) -> Iterator[tuple[str, str]]:
    """Each operation at some visible place of a span of a line: its name and the new line.

    :param but: characters that are left alone.
    """
    places = [at for at in range(*span) if not text[at].isspace() and text[at] not in but]
    for name, operation in OPERATIONS.items():
        shuffled = rng.sample(places, len(places))
        if name == "transposed":
            shuffled = [at for at in shuffled if at + 1 in places]
        changed = (operation(text, at, rng) for at in shuffled)
        new = next((each for each in changed if each != text), None)
        if new is not None:
            yield name, new


# --- what is true -------------------------------------------------------------------------


class Pinned:
    """The files at the pins of the example, read with plain git, and a plain search in them."""

    def __init__(self, root: Path) -> None:
        self._root = root
        toml = (root / "memreport.toml").read_text(encoding="utf-8")
        commit = re.search(r'commit = "(\w+)"', toml)
        assert commit
        self._commit = commit[1]
        self._captures = dict(
            zip(("SRC-2", "SRC-3"), re.findall(r'file = "(.*)"', toml), strict=True)
        )
        listed = self._git("ls-tree", "-r", "--name-only", self._commit)
        self.files = listed.split("\n")[:-1]
        self.folders = {str(parent) for file in self.files for parent in Path(file).parents}

    def text(self, source: str, path: str | None) -> str:
        """The text of a file of SRC-1, or of a capture."""
        if source in self._captures:
            return (self._root / self._captures[source]).read_text(encoding="utf-8")
        return self._git("show", f"{self._commit}:{path}")

    def code_of(self, source: str, path: str | None, quote: str, lines: str = "") -> str:
        """What is wrong with a quote; nothing when it occurs once (section 3.3)."""
        text = self.text(source, path)
        if lines:
            if not re.fullmatch("[1-9][0-9]*(-[1-9][0-9]*)?", lines):
                return "invalid-value"
            start, end = (int(each) for each in (lines.split("-") * 2)[:2])
            if end < start:
                return "invalid-value"
            all_lines = text.removesuffix("\n").split("\n")
            if end > len(all_lines):
                return "range-outside-file"
            text = "\n".join(all_lines[start - 1 : end])
        words = " ".join(quote.split())
        found = re.findall(f"(?={re.escape(words)})", " ".join(text.split()))
        return {0: "stale-quote", 1: ""}.get(len(found), "ambiguous-quote")

    def lines_of(self, source: str, path: str | None, quote: str) -> tuple[int, int]:
        """The first and the last line of a quote that occurs once."""
        lines = self.text(source, path).removesuffix("\n").split("\n")
        words = " ".join(quote.split())
        end = next(
            n for n in range(len(lines) + 1) if words in " ".join("\n".join(lines[:n]).split())
        )
        start = max(n for n in range(end) if words in " ".join("\n".join(lines[n:end]).split()))
        return start + 1, end

    def _git(self, *arguments: str) -> str:
        command = ["git", "-C", str(self._root / "checkouts/jotter"), *arguments]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode()


# --- where to edit ------------------------------------------------------------------------


class _Quote(NamedTuple):
    """An evidence block: the numbers of its lines count from 1."""

    opening: int
    source: str
    path: str | None
    options: dict[str, tuple[int, str]]
    body: dict[int, str]

    def code_with(self, pinned: Pinned, number: int, line: str) -> str:
        """What is wrong with it when one line of its body is another."""
        return self.code(pinned, body={**self.body, number: line})

    def code(
        self, pinned: Pinned, body: dict[int, str] | None = None, lines: str | None = None
    ) -> str:
        """What is wrong with it, with another body or range of lines."""
        quote = "\n".join((body or self.body).values())
        within = self.options.get("lines", (0, ""))[1] if lines is None else lines
        return pinned.code_of(self.source, self.path, quote, within)


def edits(root: Path, rng: random.Random) -> Iterator[Edit]:
    """Edits of everything in the example that bears meaning, and some of what does not."""
    pinned = Pinned(root)
    documents = {path: _Document(path) for path in sorted(root.glob("jotter/*.md"))}
    known = {match[0] for each in documents.values() for match in each.mentions()}
    for document in documents.values():
        for quote in document.quotes():
            yield from _edits_of_quote(document, quote, pinned, rng)
        yield from _edits_of_ids(document, known, rng)
        yield from _edits_of_paths(document, pinned, rng)
        yield from _edits_of_statuses(document, rng)
    yield from _edits_of_pins(root / "memreport.toml", rng)
    yield from _edits_of_captures(root, rng)


class _Document:
    """The lines of a document, and its blocks."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.read_text(encoding="utf-8").split("\n")
        self._quotes = list(self._read_quotes())
        self.quoted = {number for each in self._quotes for number in each.body}

    def quotes(self) -> list[_Quote]:
        """Its evidence, as it stands there."""
        return self._quotes

    def prose(self) -> Iterator[tuple[int, str]]:
        """The lines that are no part of a quote."""
        for number, line in enumerate(self.lines, start=1):
            if number not in self.quoted:
                yield number, line

    def mentions(self) -> Iterator[re.Match[str]]:
        """Every ID outside of quotes."""
        for _, line in self.prose():
            yield from _MENTION.finditer(line)

    def places(self, number: int) -> frozenset[int]:
        """The lines at which something in a line may be said to be.

        That is the line itself, the opening line of the directive that it is an option of, or the
        first line of a row that it is a part of.
        """
        found = {number}
        while _OPTION.match(self.lines[number - 1]):
            number -= 1
            found.add(number)
        while self.lines[number - 1].startswith("  "):
            number -= 1
            if self.lines[number - 1].lstrip().startswith("- "):
                found.add(number)
        return frozenset(found)

    def _read_quotes(self) -> Iterator[_Quote]:
        numbered = iter(enumerate(self.lines, start=1))
        for number, line in numbered:
            opening = _DIRECTIVE.match(line)
            if opening is None or opening["name"] != "evidence":
                continue
            argument = _EVIDENCE.match(opening["argument"])
            assert argument, line
            options: dict[str, tuple[int, str]] = {}
            body: dict[int, str] = {}
            for inner, text in numbered:
                if text == opening["fence"]:
                    break
                option = _OPTION.match(text)
                if option and not body:
                    options[option["name"]] = inner, option["value"]
                else:
                    body[inner] = text
            yield _Quote(number, argument["source"], argument["path"], options, body)


def _edits_of_quote(
    document: _Document, quote: _Quote, pinned: Pinned, rng: random.Random
) -> Iterator[Edit]:
    path, at = document.path, frozenset({quote.opening})
    assert quote.code(pinned) == "", (path, quote.opening)
    first = min(number for number, line in quote.body.items() if line.strip())
    for number, line in quote.body.items():
        if not line.strip():
            continue
        for operation, new in _variants(line, (0, len(line)), rng):
            if number == first and new.lstrip().startswith((":", "-")):
                continue  # might be taken for an option, which is another mistake
            code = quote.code_with(pinned, number, new)
            yield Edit("quote", operation, path, number, new, _codes(code), at)
        for operation, spaced in WHITE_SPACE.items():
            new = re.sub(r"(\S)( +)(\S)", spaced, line, count=1)
            if new != line and not re.search(r"\n\s*[:`-]", new):
                yield Edit("white space", operation, path, number, new, frozenset())
        yield Edit("white space", "at the end", path, number, f"{line}  ", frozenset())
    yield from _edits_of_lines(document, quote, pinned, rng)


def _edits_of_lines(
    document: _Document, quote: _Quote, pinned: Pinned, rng: random.Random
) -> Iterator[Edit]:
    """Ranges of lines that are off by one, or have a wrong character."""
    path, at = document.path, frozenset({quote.opening})
    text = "\n".join(quote.body.values())
    if "lines" in quote.options:
        number, value = quote.options["lines"]
        for operation, new in _variants(value, (0, len(value)), rng):
            codes = _codes(quote.code(pinned, lines=new))
            yield Edit("lines", operation, path, number, f":lines: {new}", codes, at)
        return
    start, end = pinned.lines_of(quote.source, quote.path, text)
    opening = document.lines[quote.opening - 1]
    for first, last in ((start, end), (start + 1, end), (start, end - 1), (start - 1, end + 1)):
        lines = str(first) if first == last else f"{first}-{last}"
        codes = _codes(quote.code(pinned, lines=lines))
        new = f"{opening}\n:lines: {lines}"
        operation = f"from {first - start:+} to {last - end:+}"
        yield Edit("lines", operation, path, quote.opening, new, codes, at)


def _codes(code: str) -> frozenset[str]:
    return frozenset({code} if code else ())


def _edits_of_ids(document: _Document, known: set[str], rng: random.Random) -> Iterator[Edit]:
    path = document.path
    for number, line in document.prose():
        declared = _RECORD.match(line) or _SUPPLIED.match(line)
        at = document.places(number)
        for match in _MENTION.finditer(line):
            is_declaration = declared is not None and match.start() == declared.start("id")
            # without its hyphens it has the shape of an ID no more, and is text (section 3.4)
            for operation, new in _variants(line, match.span(), rng, but="-"):
                end = match.end() + len(new) - len(line)
                token = new[match.start() : end]
                if token in known:
                    continue  # it names another record now, and nothing can be wrong with that
                if token.endswith(match[0]) and not is_declaration:
                    continue  # a longer word before it, which is text
                if is_declaration:
                    yield _declaration(operation, path, number, new, token)
                else:
                    codes = frozenset({"dangling-id"} if ID.fullmatch(token) else _NO_ID)
                    more = frozenset({"uncovered-record", "no-evidence"})
                    yield Edit("reference", operation, path, number, new, codes, at, more)
        for match in _SOURCE.finditer(line):
            if _DIRECTIVE.match(line):
                continue
            for operation, new in _variants(line, (match.end() - 1, match.end()), rng):
                codes = frozenset({"unknown-source", "malformed-id"})
                named = new[match.start() : match.end() + len(new) - len(line)]
                if named not in ("SRC-1", "SRC-2", "SRC-3", "SRC-"):
                    yield Edit("source", operation, path, number, new, codes, at)


_NO_ID = frozenset({"malformed-id", "dangling-id"})
#: What follows for those that cite a record whose ID is another now.
_CITING = frozenset({"dangling-id", "uncovered-record"})


def _declaration(operation: str, path: Path, number: int, new: str, token: str) -> Edit:
    """An edited declaration: a bad ID is said there, a good one leaves its citations dangling."""
    if ID.fullmatch(token):
        more = frozenset({"dangling-id", "uncovered-record", "colliding-id"})
        return Edit(
            "declaration", operation, path, number, new, frozenset({"dangling-id"}), more=more
        )
    codes, at = frozenset({"malformed-id", "missing-field"}), frozenset({number})
    return Edit("declaration", operation, path, number, new, codes, at, _CITING)


def _edits_of_paths(document: _Document, pinned: Pinned, rng: random.Random) -> Iterator[Edit]:
    path = document.path
    missing = frozenset({"path-missing"})
    for quote in document.quotes():
        line = document.lines[quote.opening - 1]
        at = frozenset({quote.opening})
        if quote.path:
            span = line.index(quote.path), len(line)
            for operation, new in _variants(line, span, rng):
                yield Edit("path", operation, path, quote.opening, new, missing, at)
        where = line.index(quote.source)
        for operation, new in _variants(line, (where, where + len(quote.source)), rng):
            named = new[where:].split(" ")[0]
            if named not in ("SRC-1", "SRC-2", "SRC-3"):
                codes = frozenset({"unknown-source", "malformed-id", "invalid-value"})
                yield Edit("source", operation, path, quote.opening, new, codes, at)
    for number, line in document.prose():
        for match in _PATH_ROLE.finditer(line):
            at = document.places(number)
            for operation, new in _variants(line, match.span("path"), rng):
                yield Edit("path", operation, path, number, new, missing, at)
            if match["start"]:
                yield from _edits_of_ranges(document, number, match, pinned, at)


def _edits_of_ranges(
    document: _Document, number: int, match: re.Match[str], pinned: Pinned, at: frozenset[int]
) -> Iterator[Edit]:
    line = document.lines[number - 1]
    count = pinned.text("SRC-1", match["path"]).count("\n")
    for start, end in ((1, count), (1, count + 1), (0, 1), (9, 8)):
        new = f"{line[: match.start('start')]}{start}-L{end}{line[match.end('end') :]}"
        codes = {
            (1, count + 1): {"range-outside-file"},
            (0, 1): {"invalid-value", "range-outside-file"},
            (9, 8): {"invalid-value", "range-outside-file"},
        }.get((start, end), set())
        yield Edit("range", f"L{start}-L{end}", document.path, number, new, frozenset(codes), at)


def _edits_of_statuses(document: _Document, rng: random.Random) -> Iterator[Edit]:
    for number, line in document.prose():
        if match := _STATUS.match(line):
            at = document.places(number)
            for operation, new in _variants(line, match.span("value"), rng):
                codes = frozenset({"invalid-value"})
                yield Edit("status", operation, document.path, number, new, codes, at)


def _edits_of_pins(toml: Path, rng: random.Random) -> Iterator[Edit]:
    table = 0
    for number, line in enumerate(toml.read_text(encoding="utf-8").split("\n"), start=1):
        table = number if line.startswith("[") else table
        if not (match := _PIN.match(line)):
            continue
        lost = "commit-missing" if match["name"] == "commit" else "capture-mismatch"
        for operation, new in _variants(line, match.span("hash"), rng):
            pin = new[match.start("hash") : new.rindex('"')]
            if pin.lower() == match["hash"]:
                codes: frozenset[str] = frozenset()  # hex digits are the same in either case
            elif re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", pin) and len(pin) == len(match["hash"]):
                codes = frozenset({lost})
            else:
                codes = frozenset({"invalid-config"})
            yield Edit("pin", operation, toml, number, new, codes, frozenset({number, table}))


def _edits_of_captures(root: Path, rng: random.Random) -> Iterator[Edit]:
    """A capture is frozen: not even its white space may change."""
    toml = (root / "memreport.toml").read_text(encoding="utf-8").split("\n")
    codes = frozenset({"capture-mismatch"})
    for number, line in enumerate(toml, start=1):
        if match := re.match(r'file = "(?P<file>.*)"', line):
            table = max(n for n in range(1, number) if toml[n - 1].startswith("["))
            path, at = root / match["file"], frozenset({table, number, number + 1})
            lines = path.read_text(encoding="utf-8").split("\n")
            for where in rng.sample(
                [n for n, text in enumerate(lines, start=1) if text.strip()], 8
            ):
                text = lines[where - 1]
                for operation, new in _variants(text, (0, len(text)), rng):
                    yield Edit("capture", operation, path, where, new, codes, at)
                yield Edit("capture", "a blank", path, where, f"{text} ", codes, at)
