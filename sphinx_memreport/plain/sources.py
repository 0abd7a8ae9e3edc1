"""The sources of imported members: from their register, their front matter and what is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from sphinx_memreport.core.ids import SOURCE_ID
from sphinx_memreport.plain.models import Member, Quote, RegisterEntry, RegisterItem
from sphinx_memreport.plain.writer_toml import Value

_FIRST = "SRC-1"


class Asked(NamedTuple):
    """What the user says of sources, by source ID; the empty ID is the reviewed repository."""

    repository: Mapping[str, str]
    commit: Mapping[str, str]
    checkout: Mapping[str, str]


class Sources:
    """The sources of a report, as they go into its configuration.

    :param default_checkout: where a checkout is to be when none is named.
    """

    def __init__(self, members: Sequence[Member], asked: Asked, default_checkout: str) -> None:
        self.entries = _registered(members)
        if not self.entries or all(entry.kind != "git" for entry in self.entries.values()):
            identity = _said(members, "source-identity")
            boundary = _said(members, "reviewed-boundary")
            if identity or boundary or asked.repository or asked.commit or asked.checkout:
                self.entries.setdefault(
                    _FIRST,
                    RegisterEntry(
                        line=0, id=_FIRST, kind="git", repository=identity, commit=boundary
                    ),
                )
        self._ask(asked, default_checkout)

    def _ask(self, asked: Asked, default_checkout: str) -> None:
        trees = [entry for entry in self.entries.values() if entry.kind == "git"]
        main = trees[0].repository if trees else ""
        self.checkouts: dict[str, str] = {}
        for entry in trees:
            keys = [entry.id, ""] if entry.repository == main else [entry.id]
            changed = {
                "repository": _first(asked.repository, keys) or entry.repository,
                "commit": (_first(asked.commit, keys) or entry.commit).lower(),
            }
            self.entries[entry.id] = entry.model_copy(update=changed)
            self.checkouts[entry.id] = _first(asked.checkout, keys) or default_checkout

    @property
    def pins(self) -> dict[str, str]:
        """Source ID to commit."""
        return {name: entry.commit for name, entry in self.entries.items() if entry.commit}

    def of(self, quote: Quote) -> str:
        """The source that a quotation is from: named, told by its link or commit, or the first."""
        if quote.source:
            return quote.source
        trees = [entry for entry in self.entries.values() if entry.kind == "git"]
        told = [
            entry
            for entry in trees
            if (not quote.repository or _same(entry.repository, quote.repository))
            and (not quote.commit or entry.commit.startswith(quote.commit))
        ]
        listed = [entry for entry in told if any(quote.path in globs for _, globs in entry.layers)]
        return next((entry.id for entry in [*listed, *told, *trees]), _FIRST)

    def is_told(self, quote: Quote) -> bool:
        """Whether :meth:`of` is more than a guess."""
        if quote.source:
            return quote.source in self.entries
        trees = [entry for entry in self.entries.values() if entry.kind == "git"]
        return len({(entry.repository, entry.commit) for entry in trees}) == 1

    def tables(self, checkout_of: Mapping[str, str]) -> dict[str, dict[str, Value]]:
        """The table of each source; those that lack what a table needs are left out."""
        return {
            name: _git(entry, checkout_of[name]) if entry.kind == "git" else _capture(entry)
            for name, entry in self.entries.items()
            if not missing(entry)
        }


def missing(entry: RegisterEntry) -> list[str]:
    """What a source lacks to be one."""
    if entry.kind == "git":
        return [key for key in ("repository", "commit") if not getattr(entry, key)]
    if entry.kind == "capture":
        needed = {"file": entry.file, "sha256": entry.commit, "layer": entry.layers}
        return [key for key, value in needed.items() if not value]
    return ["a known kind"]


def _registered(members: Iterable[Member]) -> dict[str, RegisterEntry]:
    """Registered sources; a second row for one, as for another layer, adds to the first."""
    found: dict[str, RegisterEntry] = {}
    for member in members:
        for item in member.items:
            for row in item.rows if isinstance(item, RegisterItem) else ():
                first = found.get(row.id)
                found[row.id] = row if first is None else _merged(first, row)
    return dict(sorted(found.items(), key=lambda pair: (len(pair[0]), pair[0])))


def _merged(first: RegisterEntry, second: RegisterEntry) -> RegisterEntry:
    more = [*first.more]
    if second.repository != first.repository:
        more.append(second.repository)
    if second.commit != first.commit:
        more.append(second.commit)
    return first.model_copy(
        update={
            "layers": (*first.layers, *second.layers),
            "inspected": _joined(first.inspected, second.inspected),
            "gaps": _joined(first.gaps, second.gaps),
            "more": tuple(dict.fromkeys([*more, *second.more])),
        }
    )


def _joined(first: str, second: str) -> str:
    return first if second == first else f"{first} {second}".strip()


def _said(members: Iterable[Member], key: str) -> str:
    said = (member.front_matter.get(key) for member in members)
    return next((each for each in said if each), "")


def _first(asked: Mapping[str, str], keys: Iterable[str]) -> str:
    return next((asked[key] for key in keys if key in asked), "")


def _same(repository: str, other: str) -> bool:
    return repository.lower().removesuffix(".git").rstrip("/") == other.lower().removesuffix(".git")


def _git(entry: RegisterEntry, checkout: str) -> dict[str, Value]:
    table: dict[str, Value] = {
        "kind": "git",
        "repository": entry.repository,
        "commit": entry.commit,
        "checkout": checkout,
    }
    layers: dict[str, list[str]] = {}
    for name, globs in entry.layers:
        layers.setdefault(name, []).extend(globs)
    if layers:
        table["layers"] = layers
    return table | _prose(entry)


def _capture(entry: RegisterEntry) -> dict[str, Value]:
    return {
        "kind": "capture",
        "identity": entry.repository,
        "file": entry.file,
        "sha256": entry.commit,
        "layer": entry.layers[0][0],
    } | _prose(entry)


def _prose(entry: RegisterEntry) -> dict[str, Value]:
    said = [text for text in (entry.inspected, *entry.more) if text]
    inspected = " ".join(text if text.endswith(".") else f"{text}." for text in said)
    return {key: value for key, value in (("inspected", inspected), ("gaps", entry.gaps)) if value}


def is_source(text: str) -> bool:
    """Whether a text is a source ID."""
    return SOURCE_ID.fullmatch(text) is not None
