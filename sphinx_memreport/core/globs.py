"""Patterns for paths, with the meaning of git's ``:(glob)`` pathspecs."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from sphinx_memreport.core.blobs import path_bytes


class Glob:
    """Patterns with the meaning of git's ``:(glob)`` pathspecs; a path matches any of them.

    ``*``, ``?`` and ``[…]`` do not cross ``/``; ``**/``, ``/**/`` and ``/**`` do. A pattern that
    names a directory matches what lies below it; one that is absolute or leaves the tree matches
    nothing. The rules are those of git's wildmatch.c and pathspec.c, bytes and not characters
    included. All patterns run as one automaton, in time proportional to the path.
    """

    def __init__(self, patterns: Iterable[str]) -> None:
        self._names: set[bytes] = set()
        below: list[bytes] = []
        self._nodes: list[_Node] = []
        self._accepting: set[int] = set()
        self._states: dict[frozenset[int], _State] = {}
        starts: list[int] = []
        for pattern in patterns:
            text = _normalise(pattern)
            if text is None:
                continue
            # git compares a pattern as plain text before it takes it for a wildcard.
            self._names.add(text)
            below.append(text if text.endswith(b"/") or not text else text + b"/")
            with contextlib.suppress(IndexError, KeyError):  # malformed: matches nothing
                nodes = list(_compile(text))
                starts.append(len(self._nodes))
                self._nodes += nodes
                self._accepting.add(len(self._nodes) - 1)
        self._below = tuple(below)
        self._start = self._state(starts)

    def matches(self, path: str) -> bool:
        """Whether the path of a file matches."""
        try:
            text = path_bytes(path)
        except UnicodeEncodeError:  # no name in git
            return False
        if text in self._names or text.startswith(self._below):
            return True
        state = self._start
        for byte in text:
            state = state[byte]
        return state.accepting

    def _state(self, indices: Iterable[int]) -> _State:
        nodes: set[int] = set()
        pending = list(indices)
        while pending:
            index = pending.pop()
            if index not in nodes:
                nodes.add(index)
                pending += [index + jump for jump in self._nodes[index].jumps]
        key = frozenset(nodes)
        if key not in self._states:
            if len(self._states) >= 4096:  # keeps memory bounded, whatever the patterns
                self._states.clear()
            self._states[key] = _State(self, key)
        return self._states[key]


class _Node(NamedTuple):
    """One place in a pattern: the bytes it takes, and how far one of them leads.

    ``jumps`` lead on without a byte.
    """

    takes: frozenset[int] = frozenset()
    advance: int = 1
    jumps: tuple[int, ...] = ()


class _State(dict[int, "_State"]):
    """A set of places in the patterns; maps a byte to the next one, worked out when needed."""

    def __init__(self, glob: Glob, nodes: frozenset[int]) -> None:
        super().__init__()
        self._glob = glob
        self._indices = nodes
        self.accepting = not glob._accepting.isdisjoint(nodes)

    def __missing__(self, byte: int) -> _State:
        nodes = self._glob._nodes
        self[byte] = self._glob._state(
            index + nodes[index].advance for index in self._indices if byte in nodes[index].takes
        )
        return self[byte]


def _bytes_where(test: str) -> frozenset[int]:
    return frozenset(byte for byte in range(128) if re.fullmatch(test, chr(byte)))


_SLASH, _BACKSLASH, _STAR = b"/\\*"
_ANY = frozenset(range(256))
_NO_SLASH = _ANY - {_SLASH}
_CLASSES = {
    b"alnum": _bytes_where("[0-9A-Za-z]"),
    b"alpha": _bytes_where("[A-Za-z]"),
    b"blank": _bytes_where("[ \t]"),
    b"cntrl": _bytes_where("[\x00-\x1f\x7f]"),
    b"digit": _bytes_where("[0-9]"),
    b"graph": _bytes_where("[!-~]"),
    b"lower": _bytes_where("[a-z]"),
    b"print": _bytes_where("[ -~]"),
    b"punct": _bytes_where("[!-/:-@[-`{-~]"),
    b"space": _bytes_where("[ \t\n\r]"),
    b"upper": _bytes_where("[A-Z]"),
    b"xdigit": _bytes_where("[0-9A-Fa-f]"),
}
_CLASS = re.compile(rb"\[:([^\]]*):\]")


def _normalise(pattern: str) -> bytes | None:
    """Take ``.``, ``..`` and doubled slashes out of a pattern; None when it leaves the tree."""
    parts = pattern.split("/")
    kept: list[str] = []
    for part in parts:
        if part == "..":
            if not kept:
                return None
            kept.pop()
        elif part not in ("", "."):
            kept.append(part)
    if pattern.startswith("/"):
        return None
    slash = "/" if kept and parts[-1] in ("", ".", "..") else ""
    try:
        return path_bytes("/".join(kept) + slash)
    except UnicodeEncodeError:
        return None


def _compile(pattern: bytes) -> Iterator[_Node]:
    """The places of a pattern in order, the accepting one last.

    :raises IndexError: a bracket without end, or a lone backslash.
    :raises KeyError: an unknown character class.
    """
    plain = len(re.split(rb"[*?[\\]", pattern, maxsplit=1)[0])
    yield from (_Node(frozenset({byte})) for byte in pattern[:plain])
    at = plain
    while at < len(pattern):
        byte = pattern[at]
        at += 1
        if byte == _STAR:
            end = at + len(pattern[at:]) - len(pattern[at:].lstrip(b"*"))
            # `**` crosses slashes when it is a whole part, or right after the plain text,
            # which git cuts off before it looks.
            alone = at - 1 == plain or pattern[at - 2] == _SLASH
            rest = pattern[end : end + 2]
            crossing = end > at and alone and (rest[:1] in (b"", b"/") or rest == b"\\/")
            if crossing and rest[:1] == b"/":
                yield _Node(jumps=(1, 3))  # `**/` may stand for nothing at all
            yield _Node(_ANY if crossing else _NO_SLASH, 0, (1,))
            at = end
        elif byte == ord("?"):
            yield _Node(_NO_SLASH)
        elif byte == ord("["):
            chosen, at = _bracket(pattern, at)
            yield _Node(chosen - {_SLASH})
        else:
            if byte == _BACKSLASH:
                byte = pattern[at]
                at += 1
            yield _Node(frozenset({byte}))
    yield _Node()


def _bracket(pattern: bytes, at: int) -> tuple[frozenset[int], int]:
    """The bytes of ``[…]`` and the index behind it; ``at`` is behind the opening bracket."""
    negated = pattern[at] in b"!^"
    at += negated
    first = at
    chosen: set[int] = set()
    previous = 0  # what a range would start from; 0 when nothing can
    while at == first or pattern[at] != ord("]"):
        byte = pattern[at]
        if byte == _BACKSLASH:
            at += 1
            byte = pattern[at]
            chosen.add(byte)
        elif byte == ord("-") and previous and pattern[at + 1] != ord("]"):
            at += 2 if pattern[at + 1] == _BACKSLASH else 1
            chosen.update(range(previous, pattern[at] + 1))
            byte = 0
        elif named := _CLASS.match(pattern, at):
            chosen |= _CLASSES[named[1]]
            at = named.end() - 1
            byte = 0
        else:
            chosen.add(byte)
        previous = byte
        at += 1
    return (_ANY - chosen if negated else frozenset(chosen)), at + 1
