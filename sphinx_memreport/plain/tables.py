"""Tables of the plain form: the source register, and coverage."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sphinx_memreport.core.ids import SOURCE_ID, MemberName, find_mentions
from sphinx_memreport.core.models import Layer
from sphinx_memreport.plain.inert import Cell
from sphinx_memreport.plain.models import (
    CoverageEntry,
    CoverageItem,
    RegisterEntry,
    RegisterItem,
    Remark,
)

_CODE = re.compile(r"(?<!`)`++\s?([^`]+?)\s?`++")
_URL = re.compile(r"(?:https?|ssh|file)://[^\s`<>()|]+|git@[\w.-]+:[\w./-]+")
_COMMIT = re.compile(r"(?<![0-9a-zA-Z])(?:[0-9a-f]{64}|[0-9a-f]{40})(?![0-9a-zA-Z])")
_LISTED_IDS = re.compile(
    r"`?[A-Z]{2,4}-[A-Z]{2,4}-[\w-]+`?(?:\s*[,;]\s*`?[A-Z]{2,4}-[A-Z]{2,4}-[\w-]+`?)*\s*(?:[.;]\s*|$)"
)
_FILE = re.compile(r"\(file:\s*+`?([^`()]+?)`?\)")
_PATH = re.compile(r"/|\.[A-Za-z0-9]")
_PLAIN_PATH = re.compile(
    r"[\w@.+*-]+(?:/[\w@.+*-]+)*(?:/|\.[A-Za-z0-9]{1,8})|[\w@+-]+\.[A-Za-z]{1,8}"
)
_ROLE = re.compile(r"(?P<role>supplied|searched|search|direct)\b(?:\s+(?:by|in|as))?:?\s*", re.I)
_LAYER = re.compile("(" + "|".join(re.escape(layer) for layer in Layer) + r")\b`?\s*:?")

Read = tuple[RegisterItem | CoverageItem | None, list[Remark]]


def read_table(rows: Sequence[Sequence[Cell]], lines: Sequence[int]) -> Read:
    """A source register or a coverage table; None for every other table.

    :param rows: the cells, the header first.
    :param lines: the line of each row.
    """
    header = [" ".join(cell.text.split()) for cell in rows[0]]
    texts = [[cell.text.strip() for cell in row] for row in rows[1:]]
    if _is_register(header, texts):
        return _register(header, texts, lines[1:])
    if _is_coverage(header):
        return _coverage(header, texts, lines[1:]), []
    return None, []


def _column(header: Sequence[str], *words: str) -> int | None:
    for index, name in enumerate(header):
        if any(re.search(rf"\b{word}", name, re.IGNORECASE) for word in words):
            return index
    return None


# --- coverage -----------------------------------------------------------------------------


def _is_coverage(header: Sequence[str]) -> bool:
    first = bool(header) and re.search(r"\b(?:entry|operation)", header[0], re.IGNORECASE)
    return (
        bool(first)
        and _column(header[1:], "path") is not None
        and _column(header[1:], "coverage", "record") is not None
    )


def _coverage(
    header: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[int]
) -> CoverageItem:
    return CoverageItem(
        line=lines[0] if lines else 0,
        rows=tuple(_coverage_row(header, row, line) for row, line in zip(rows, lines, strict=True)),
    )


def _coverage_row(header: Sequence[str], row: Sequence[str], line: int) -> CoverageEntry:
    paths: dict[str, list[str]] = {"direct": [], "search": [], "supplied": []}
    notes: list[str] = []
    rest: list[str] = []
    open_ends: dict[str, list[str]] = {"unresolved": [], "prevents": []}
    records: list[str] = []
    for name, text in zip(header[1:], row[1:], strict=True):
        for mention in find_mentions(text):
            if not mention.is_source and mention.target not in records:
                records.append(mention.target)
        match _meaning(name):
            case "paths":
                left = _paths(text, paths)
                rest += [f"{name}: {left}."] if left else []
            case "note":
                said = _behind_ids(text)
                notes += [said] if said else []
            case "unresolved" | "prevents" as key:
                open_ends[key] += [text] if text else []
            case _:
                rest += [f"{name}: {text}"] if text else []
    return CoverageEntry(
        line=line,
        entry=row[0] if row else "",
        direct=tuple(paths["direct"]),
        search=tuple(paths["search"]),
        supplied=tuple(paths["supplied"]),
        records=tuple(records),
        unresolved=" ".join(open_ends["unresolved"]),
        prevents=" ".join(open_ends["prevents"]),
        note=" ".join([*notes, *rest]),
    )


def _behind_ids(text: str) -> str:
    """What a cell says behind the IDs that it lists first."""
    listed = _LISTED_IDS.match(text)
    return text[listed.end() :] if listed else text


def _meaning(header: str) -> str:
    name = header.lower()
    if "path" in name:
        return "paths"
    if "coverage" in name or "record" in name or name == "note":
        return "note"
    if "prevent" in name:
        return "prevents"
    if any(word in name for word in ("limit", "gap", "unresolved", "remaining", "open")):
        return "unresolved"
    return ""


def _paths(text: str, found: dict[str, list[str]]) -> str:
    """Take the paths of a cell; what is no list of paths is returned."""
    left: list[str] = []
    for part in " ".join(text.split()).rstrip(".").split(";"):
        part = part.strip()
        role, rest = "direct", part
        if match := _ROLE.match(part):
            role = {"searched": "search"}.get(match["role"].lower(), match["role"].lower())
            rest = part[match.end() :]
        items = [item for item in re.split(r" ?, ?(?:and )?| and ", rest.strip()) if item]
        names = [_path(item, role) for item in items]
        if items and all(names):
            found[role] += [name for name in names if name]
        elif part:
            left.append(part)
    return "; ".join(left)


def _path(text: str, role: str) -> str | None:
    """A path, or None when the text is none."""
    code = _CODE.fullmatch(text)
    if code and not re.search(r"\s", code[1]) and "*" not in code[1]:
        return code[1]
    if role == "supplied" and text.lower() in tuple(MemberName):
        return text.lower()
    return text if _PLAIN_PATH.fullmatch(text) and "*" not in text else None


# --- register -----------------------------------------------------------------------------


class _Columns(NamedTuple):
    id: int
    kind: int | None
    identity: int | None
    revision: int | None
    layer: int | None
    inspected: int | None
    gaps: int | None


def _is_register(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    place = _column(header, "source id", "id", "source")
    return (
        place is not None
        and _column(header, "identity", "location", "repository") is not None
        and _column(header, "revision", "commit", "capture") is not None
        and all(_source(row[place]) for row in rows)
    )


def _source(text: str) -> str | None:
    match = re.fullmatch(r"[*`\[]*(SRC-\d+)[*`\]]*", text.strip())
    return match[1] if match and SOURCE_ID.fullmatch(match[1]) else None


def _register(header: Sequence[str], rows: Sequence[Sequence[str]], lines: Sequence[int]) -> Read:
    columns = _Columns(
        id=_column(header, "source id", "id", "source") or 0,
        kind=_column(header, "kind"),
        identity=_column(header, "identity", "location", "repository"),
        revision=_column(header, "revision", "commit", "capture"),
        layer=_column(header, "layer"),
        inspected=_column(header, "inspected"),
        gaps=_column(header, "gap"),
    )
    entries: list[RegisterEntry] = []
    remarks: list[Remark] = []
    for row, line in zip(rows, lines, strict=True):
        entry = _register_row(header, row, line, columns)
        entries.append(entry)
        if entry.kind == "git" and not entry.commit:
            remarks.append(Remark(line=line, message=f"{entry.id}: no full commit in the register"))
        if entry.kind not in ("git", "capture"):
            remarks.append(Remark(line=line, message=f"{entry.id}: kind '{entry.kind}' is unknown"))
    return RegisterItem(line=lines[0] if lines else 0, rows=tuple(entries)), remarks


def _register_row(
    header: Sequence[str], row: Sequence[str], line: int, columns: _Columns
) -> RegisterEntry:
    def cell(index: int | None) -> str:
        return row[index] if index is not None and index < len(row) else ""

    identity, revision, layer = cell(columns.identity), cell(columns.revision), cell(columns.layer)
    commit = _COMMIT.search(revision)
    kind = cell(columns.kind).strip("`* ").lower() or ("git" if commit else "capture")
    file = _FILE.search(identity) if kind != "git" else None
    if file:
        identity = f"{identity[: file.start()]}{identity[file.end() :]}".strip()
    # where a file is named, the rest is what it was captured from, in whatever words
    url = None if file else _URL.search(identity)
    layers = tuple(_layers(layer))
    known = url[0] if url else identity if kind != "git" else ""
    more = [
        _residue(header, columns.identity, identity, [known]),
        _residue(header, columns.revision, revision, [commit[0] if commit else "", "sha256"]),
        "" if _layers_say_all(layer) else _named(header, columns.layer, layer),
    ]
    for index, (name, text) in enumerate(zip(header, row, strict=False)):
        if index not in columns and text:
            more.append(f"{name}: {text}")
    return RegisterEntry(
        line=line,
        id=_source(cell(columns.id)) or "",
        kind=kind,
        repository=url[0].rstrip(".,;") if url else identity.strip("` ") if kind != "git" else "",
        commit=commit[0].lower() if commit else "",
        file=file[1] if file else "",
        layers=layers,
        inspected=cell(columns.inspected),
        gaps=cell(columns.gaps),
        more=tuple(each for each in more if each),
    )


def _residue(header: Sequence[str], index: int | None, text: str, known: list[str]) -> str:
    """What a cell says besides what is known of it."""
    rest = text
    for each in known:
        if each:
            rest = rest.replace(each, "", 1)
    return _named(header, index, rest) if re.search(r"\w", rest) else ""


def _named(header: Sequence[str], index: int | None, text: str) -> str:
    tidy = re.sub(r"``", "", " ".join(text.split())).strip(" ;,")
    return f"{header[index]}: {tidy}" if index is not None and tidy else ""


def _layers(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Layers with their globs: the paths in code behind each name, or everything."""
    marks = list(_LAYER.finditer(text))
    if not marks:
        return
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=True):
        globs = [
            _glob(code) for code in _CODE.findall(text[mark.end() : end]) if _PATH.search(code)
        ]
        if globs or len(marks) == 1:
            yield mark[1], tuple(globs) or ("**",)


def _layers_say_all(text: str) -> bool:
    """Whether layers hold every word of a cell."""
    rest = _CODE.sub("", _LAYER.sub("", text))
    return not re.search(r"\w", rest)


def _glob(path: str) -> str:
    return f"{path}**" if path.endswith("/") else path
