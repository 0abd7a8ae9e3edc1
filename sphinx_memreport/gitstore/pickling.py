"""Open sources are never stored."""

from __future__ import annotations

from typing import NoReturn


class Unpicklable:
    """An open source belongs to the process that opened it, never into stored data."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} cannot be pickled: open the source again instead")
