"""Tells what a build can leave as an earlier one left it.

Two questions, each answered by a key of all that the answer rests on:

- Are the problems, and what pages show of other documents, those of the last build? They are kept
  in the environment (:class:`Outcome`).
- Are the files that we write beside Sphinx's pages still those that we wrote? What they were like
  is kept in the folder of the doctrees (:class:`WrittenFiles`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.builders.html import StandaloneHTMLBuilder

from sphinx_memreport import __version__
from sphinx_memreport.core.output import json_bytes, write_changed

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.builders import Builder

    from sphinx_memreport.core.problems import Problem


def key_of(*values: object) -> str:
    """A key of values whose ``repr`` says all about them."""
    sink = hashlib.blake2b(__version__.encode(), digest_size=16)
    for value in values:
        sink.update(repr(value).encode("utf-8", "backslashreplace") + b"\0")
    return sink.hexdigest()


@dataclass
class Outcome:
    """What the checks found; an empty key is that of no build."""

    key: str = ""
    problems: list[Problem] = field(default_factory=list)


@dataclass
class Shown:
    """What the pages in one output folder show of other documents, as a digest by page."""

    key: str = ""
    digests: dict[str, str] = field(default_factory=dict)


def output_file(builder: StandaloneHTMLBuilder, name: str) -> str:
    """The file of a page, relative to the output folder."""
    return Path(builder.get_outfilename(name)).relative_to(builder.outdir).as_posix()


def newest_template(builder: Builder) -> float:
    """When the newest template of pages was changed; 0 for a builder that has none."""
    if not isinstance(builder, StandaloneHTMLBuilder):
        return 0.0
    assert builder.templates is not None  # once it is initialised
    return float(builder.templates.newest_template_mtime())


class WrittenFiles:
    """The files in an output folder, as they were when they were written: ours, and the pages.

    The record lies in the folder of the doctrees. One that cannot be read vouches for nothing,
    and a file that was touched since is written again.
    """

    def __init__(self, app: Sphinx) -> None:
        self._outdir = Path(app.outdir)
        self._path = Path(app.doctreedir) / "memreport-written.json"

    def are_of(self, key: str) -> bool:
        """Whether the files are those of a build with this key, untouched."""
        try:
            kept = self._read().get(str(self._outdir), {})
            return (
                bool(key)
                and kept.get("key") == key
                and all(
                    self._state(name) == state
                    for name, state in kept["files"].items()  # type: ignore[attr-defined]
                )
            )
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            return False

    def note(self, key: str, names: Iterable[str]) -> None:
        """Note the files of this build; an empty key: they are not to be trusted.

        :raises OSError: when that cannot be written.
        """
        files = {name: self._state(name) for name in sorted(names)} if key else {}
        self._keep({"key": key, "files": files})

    def touched_pages(self, app: Sphinx) -> set[str]:
        """The documents whose pages are there, but not as a build left them.

        An older folder may have been put in the place of the one that was written.
        """
        noted = self._read().get(str(self._outdir), {}).get("pages")
        if not isinstance(noted, dict):
            return set()
        now = self._pages(app)
        return {name for name in noted.keys() & now.keys() if noted[name] != now[name]}

    def note_pages(self, app: Sphinx) -> None:
        """Note the pages of all documents as they are now.

        :raises OSError: when that cannot be written.
        """
        self._keep({"pages": self._pages(app)})

    def _pages(self, app: Sphinx) -> dict[str, list[int]]:
        pages = {}
        if isinstance(app.builder, StandaloneHTMLBuilder):
            for docname in sorted(app.env.all_docs):
                with suppress(OSError):
                    pages[docname] = self._state(output_file(app.builder, docname))
        return pages

    def _keep(self, values: Mapping[str, object]) -> None:
        kept = self._read()
        folder = {**kept.get(str(self._outdir), {}), **values}
        write_changed(self._path, json_bytes({**kept, str(self._outdir): folder}))

    def forget(self) -> None:
        """Trust no file any more, also where nothing can be written.

        :raises OSError: when the record cannot be removed.
        """
        self._path.unlink(missing_ok=True)

    def _read(self) -> Mapping[str, dict[str, object]]:
        try:
            kept = json.loads(self._path.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        whole = isinstance(kept, dict) and all(isinstance(each, dict) for each in kept.values())
        return kept if whole else {}

    def _state(self, name: str) -> list[int]:
        found = (self._outdir / name).stat()
        return [found.st_size, found.st_mtime_ns]
