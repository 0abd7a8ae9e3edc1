"""What a person may tune, in ``settings.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """Defaults that suit one person and a few hundred notes."""

    #: How many notes recall considers for one prompt.
    limit: int = 8
    #: Characters of notes in one prompt.
    budget: int = 2000
    #: How much the logarithm of the use count adds to the score of a note.
    use_weight: float = 0.1
    forget_after_days: int = 90
    #: A note with this many uses is never forgotten.
    keep_uses: int = 3

    @classmethod
    def load(cls, home: Path) -> Settings:
        """Read the settings of a store; what is missing keeps its default."""
        path = home / "settings.toml"
        if not path.exists():
            return cls()
        found = tomllib.loads(path.read_text(encoding="utf-8"))
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in found.items() if name in known})
