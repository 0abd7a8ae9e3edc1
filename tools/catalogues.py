"""Keep the message catalogues in step with the code.

    python tools/catalogues.py

Brings every ``.po`` file below ``sphinx_memreport/locale`` up to date (new messages come in
untranslated, those that are gone go), compiles each to a ``.mo`` file beside it, and says what
waits for a translation. To begin a language, make its folder, ``locale/fr/LC_MESSAGES``.

Messages are what ``_`` and ``counted`` are called with in the package, and the words that the
package lists in ``sphinx_ext/words.py``.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from sphinx_memreport.sphinx_ext.words import CATALOGUE, LOCALE, terms

PACKAGE = LOCALE.parent
_HEADER = r"""# Words of sphinx-memreport that readers see.
msgid ""
msgstr ""
"Language: {language}\n"
"Content-Type: text/plain; charset=utf-8\n"
"Plural-Forms: {plurals}\n"

"""
_KEYWORDS = {"_": None, "counted": (1, 2)}


def template() -> Catalog:
    """Every message of the package, with the files that it stands in."""
    found = Catalog()
    messages = extract_from_dir(PACKAGE, [("**.py", "python")], keywords=_KEYWORDS)
    for name, _line, message, _comments, _context in messages:
        if message != "":
            found.add(message, locations=[(name, 0)])
    for word in terms():
        if word not in found:  # no word of a list is also a phrase with a number
            found.add(word, locations=[("sphinx_ext/words.py", 0)])
    return found


def po_files() -> list[Path]:
    """The catalogue of each language that has a folder."""
    return [folder / f"{CATALOGUE}.po" for folder in sorted(LOCALE.glob("*/LC_MESSAGES"))]


def read(path: Path) -> Catalog:
    """The catalogue in a ``.po`` file, empty when there is none yet."""
    language = path.parent.parent.name
    catalogue = Catalog(locale=language)
    if path.exists():
        with path.open("rb") as file:
            catalogue = read_po(file, locale=language)
    catalogue.creation_date = datetime.fromtimestamp(0, UTC)  # or each run would give other bytes
    return catalogue


def written(catalogue: Catalog) -> bytes:
    """The content of a ``.po`` file, with what is needed of a header."""
    sink = BytesIO()
    write_po(sink, catalogue, width=96, sort_output=True, omit_header=True, include_lineno=False)
    header = _HEADER.format(language=catalogue.locale_identifier, plurals=catalogue.plural_forms)
    return header.encode() + sink.getvalue()


def compiled(catalogue: Catalog) -> bytes:
    """The content of a ``.mo`` file."""
    sink = BytesIO()
    write_mo(sink, catalogue)
    return sink.getvalue()


def untranslated(catalogue: Catalog) -> list[str]:
    """Messages without a translation, or with one that is only a guess."""
    return [
        str(message.id)
        for message in catalogue
        if message.id and (message.fuzzy or not all(_strings(message.string)))
    ]


def _strings(string: object) -> tuple[str, ...]:
    return string if isinstance(string, tuple) else (str(string or ""),)


def main() -> int:
    """Update and compile every catalogue; 1 when something is untranslated."""
    waiting = 0
    for path in po_files():
        catalogue = read(path)
        catalogue.update(template(), no_fuzzy_matching=True)
        catalogue.obsolete.clear()
        path.write_bytes(written(catalogue))
        path.with_suffix(".mo").write_bytes(compiled(catalogue))
        missing = untranslated(catalogue)
        waiting += len(missing)
        print(f"{path.relative_to(PACKAGE)}: {len(catalogue)} messages")
        for message in missing:
            print(f"  not translated: {message}")
    return int(bool(waiting))


if __name__ == "__main__":
    sys.exit(main())
