"""Values that stay bytes until somebody looks at one: what a build does not need costs it nothing.

The environment of a big site is read and written in every build, and most builds look at little
of it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, MutableMapping
from typing import TypeVar

Value = TypeVar("Value")


class Packed(MutableMapping[str, Value]):
    """A mapping that is pickled value by value, and unpickled as far as it is used.

    A value may be changed until it is packed: by :meth:`digest`, or when the mapping is pickled.
    Later, another one has to be put in its place.
    """

    def __init__(self) -> None:
        self._values: dict[str, Value] = {}
        self._bytes: dict[str, bytes | None] = {}

    def __getitem__(self, key: str) -> Value:
        if key not in self._values:
            packed = self._bytes[key]
            assert packed is not None  # else the value would be there
            self._values[key] = pickle.loads(packed)
        return self._values[key]

    def __setitem__(self, key: str, value: Value) -> None:
        self._values[key] = value
        self._bytes[key] = None

    def __delitem__(self, key: str) -> None:
        del self._bytes[key]
        self._values.pop(key, None)

    def __contains__(self, key: object) -> bool:
        return key in self._bytes

    def __iter__(self) -> Iterator[str]:
        return iter(self._bytes)

    def __len__(self) -> int:
        return len(self._bytes)

    def take(self, key: str, other: Packed[Value]) -> None:
        """Take over a value of another mapping as it is there, packed or not."""
        self.pop(key, None)
        self._bytes[key] = other._bytes[key]
        if key in other._values:
            self._values[key] = other._values[key]

    def digest(self) -> str:
        """A digest of all values: as long as none is replaced, it is the same in every process."""
        sink = hashlib.blake2b(digest_size=16)
        for key in sorted(self._bytes):
            packed = self._pack(key)
            sink.update(f"{key}\0{len(packed)}\0".encode("utf-8", "surrogatepass"))
            sink.update(packed)
        return sink.hexdigest()

    def _pack(self, key: str) -> bytes:
        packed = self._bytes[key]
        if packed is None:
            packed = self._bytes[key] = pickle.dumps(self._values[key], pickle.HIGHEST_PROTOCOL)
        return packed

    def __getstate__(self) -> dict[str, bytes]:
        return {key: self._pack(key) for key in self._bytes}

    def __setstate__(self, packed: dict[str, bytes]) -> None:
        self._values = {}
        self._bytes = dict(packed)
