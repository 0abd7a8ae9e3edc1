"""Texts as sparse vectors of hashed words. Nothing here is learned."""

from __future__ import annotations

import math
import re
import zlib
from collections import Counter

SIZE = 4096
WORD = re.compile(r"[a-z0-9]+")

Vector = dict[int, float]


def words(text: str) -> list[str]:
    """The words of a text in lower case, in order."""
    return WORD.findall(text.lower())


def vector(text: str) -> Vector:
    """Count words into ``SIZE`` slots and scale the result to unit length."""
    counts = Counter(zlib.crc32(word.encode()) % SIZE for word in words(text))
    length = math.sqrt(sum(count * count for count in counts.values()))
    return {slot: count / length for slot, count in sorted(counts.items())}


def cosine(one: Vector, other: Vector) -> float:
    """How alike two unit vectors are, from 0 to 1."""
    return sum(weight * other.get(slot, 0.0) for slot, weight in one.items())
