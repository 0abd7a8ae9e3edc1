"""The language of a quoted file is what Pygments says, which is asked about few names."""

from __future__ import annotations

import random
import re
from pathlib import PurePosixPath

import pytest
from pygments.lexers import get_all_lexers, get_lexer_for_filename
from pygments.util import ClassNotFound

from sphinx_memreport.sphinx_ext.passages import language_of

PATTERNS = sorted({pattern for lexer in get_all_lexers() for pattern in lexer[2]})


def according_to_pygments(path: str) -> str:
    try:
        return str(get_lexer_for_filename(PurePosixPath(path).name).aliases[0])
    except (ClassNotFound, IndexError):
        return "text"


def names_for(pattern: str) -> set[str]:
    """Names that match a pattern, and some that only nearly do."""
    filled = re.sub(r"\[!?(.)[^\]]*\]", r"\1", pattern).replace("?", "x")
    exact = {filled.replace("*", part) for part in ("x", "", "a.b", "Make-file_1", ".")}
    return {
        *exact,
        *(name.upper() for name in exact),
        *(name.title() for name in exact),
        *(f"{name}.txt" for name in exact),
        *(f"x{name}" for name in exact),
    }


def test_every_pattern_of_every_lexer() -> None:
    assert len(PATTERNS) > 800
    names = {name for pattern in PATTERNS for name in names_for(pattern) if "/" not in name}
    # asking Pygments takes a millisecond: as many as tell of each pattern, and a sample
    some = random.Random(7).sample(sorted(names), 150)
    plain = {re.sub(r"\[!?(.)[^\]]*\]", r"\1", each).replace("*", "x") for each in PATTERNS}
    wrong = {
        name: (language_of(f"src/{name}"), expected)
        for name in {*some, *plain}
        if language_of(f"src/{name}") != (expected := according_to_pygments(name))
    }
    assert wrong == {}


ODD = [
    "", ".", "..", "/", "a/", "src/.", "x.", ".py", ".hidden", "no-ending", "two..py", "a.tar.gz",
    "CMakeLists.txt", "cmakelists.txt", "src/CMakeLists.txt", "CMakeLists.txt/x.py", "Makefile",
    "Makefile.am", "makefile.py", "Dockerfile", "x.Dockerfile", "Dockerfile.dev", ".bashrc",
    "x.bashrc", "PKGBUILD", "setup.py.in", "robots.txt", "xorg.conf", "nginx.conf", "apache.conf",
    ".htaccess", "a.PY", "a.Py", "a.C", "a.c", "a.H", "a.R", "a.r", "new\nline.py", "a\x00.py",
    "caf\udce9.py", "[x].py", "*.py", "?.c", "a b.py", "a.p y", "ünï.py", "x.ünï", "\\.py",
    "docker-compose.yml", "Gemfile", "x.Gemfile", "a.b.c.d.rs", "x." + "y" * 300,
]  # fmt: skip


@pytest.mark.parametrize("path", ODD, ids=ascii)
def test_odd_names(path: str) -> None:
    assert language_of(path) == according_to_pygments(path)


def test_a_capture_has_no_name() -> None:
    assert language_of(None) == "text"
