"""The failing example of each problem code: ``tests/problems/CODE.md``, or a folder ``CODE/``.

A file says what it must give in lines at its end, ``% expect: CODE LINE`` (with ``#`` in TOML);
they are left out of what is built and of what ``docs/`` shows. A lone ``CODE.md`` becomes the
document ``jotter/memory``; a folder is laid over the site as it is. Beside each example,
``CODE.txt`` holds what the build says of it, which ``docs/`` shows, too. After a message was
reworded, write these files anew and read the difference:

    python tests/problem_examples.py
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from docs_repo import docs_repository, docs_site
from pinned_repo import PinnedRepo
from sitebuilder import Built, Found

FOLDER = Path(__file__).parent / "problems"
DOCUMENT = "jotter/memory.md"

_EXPECT = re.compile(r"^(?:%|#) expect: (?P<code>[a-z-]+) (?P<line>\d+)\n", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """Files by path below the site, without their expectations; the problems they must give."""

    code: str
    files: dict[str, str]
    expected: list[Found]

    @property
    def said_file(self) -> Path:
        """Where what the build says is kept."""
        return FOLDER / f"{self.code}.txt"


def read_example(code: str) -> Example:
    """Read the example of a code."""
    folder = FOLDER / code
    if folder.is_dir():
        paths = {file.relative_to(folder).as_posix(): file for file in folder.rglob("*.*")}
    else:
        paths = {DOCUMENT: FOLDER / f"{code}.md"}
    files: dict[str, str] = {}
    expected: list[Found] = []
    for name, path in sorted(paths.items()):
        text = path.read_text(encoding="utf-8")
        expected += [
            (match["code"], name.removesuffix(".md"), int(match["line"]))
            for match in _EXPECT.finditer(text)
        ]
        files[name] = _EXPECT.sub("", text).rstrip("\n") + "\n"
    expected.sort(key=lambda found: (found[1], found[2] or 0, found[0]))
    return Example(code, files, expected)


def build_example(example: Example, root: Path, repo: PinnedRepo) -> Built:
    """Build the site of an example in ``root``."""
    return docs_site(root, repo).build(example.files, builder="dummy")


def said_by(built: Built) -> str:
    """What a build said, with paths as seen from the folder of ``conf.py``."""
    text = built.warnings.replace(f"{built.source.as_posix()}/", "")
    text = text.replace(built.source.parent.as_posix(), "/home/ada/reports")
    return text.strip() + "\n"


def codes() -> list[str]:
    """The codes that have an example."""
    found = {path.name.removesuffix(".md") for path in FOLDER.iterdir() if path.suffix != ".txt"}
    return sorted(found)


def main() -> None:
    """Write what the build says of each example."""
    with tempfile.TemporaryDirectory() as folder:
        repo = docs_repository(Path(folder))
        for code in codes():
            example = read_example(code)
            built = build_example(example, Path(folder) / code, repo)
            if built.problems != example.expected:
                print(f"{code}: expected {example.expected}, found {built.problems}")
                print(built.warnings)
            else:
                example.said_file.write_text(said_by(built), encoding="utf-8")


if __name__ == "__main__":
    main()
