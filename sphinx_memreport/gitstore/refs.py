"""From the name of a commit to its hash, for people who move a pin. A build reads no ref."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitstore import limits
from sphinx_memreport.gitstore.checkout import (
    Place,
    Repository,
    content,
    find_repository,
    operands,
)
from sphinx_memreport.gitstore.objects import HASHES
from sphinx_memreport.gitstore.process import PrivateRepository

_FULL_HASH = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


def resolve_commit(checkout: Path, name: str, *, fetch_hint: str = "") -> str:
    """The full hash of a commit of a repository on this machine.

    :param name: a full or abbreviated hash, a tag or branch (``v1.2``, ``origin/main``),
        ``HEAD`` or ``FETCH_HEAD``, each also with ``~2`` or ``^`` behind it. A full hash is
        returned as it is, whether its commit is there or not.
    :param fetch_hint: the URL to fetch from, for the command in the error message.
    :raises SourceUnavailable: ``checkout-missing`` as :func:`open_git`; ``commit-missing`` when
        the name does not lead to one commit.
    """
    place = Place.of(checkout, name, fetch_hint)
    if _FULL_HASH.fullmatch(name.lower()):
        return name.lower()
    repository = find_repository(place)
    base, suffix = re.fullmatch(r"([^~^]*)(.*)", name, re.DOTALL).groups()  # type: ignore[union-attr]
    oid = _named(repository, base)
    found: bytes | None = None
    if oid or re.fullmatch("[0-9a-fA-F]{4,64}", base):
        digits = len(oid) if oid else repository.hex_digits or 40
        home = PrivateRepository(repository.objects, HASHES[digits].name, repository.shallow)
        with contextlib.closing(home):
            asked = f"{oid or base}{suffix}^{{commit}}"
            command = ["rev-parse", "--verify", "--end-of-options", asked]
            found = home.run(command, limits.RENAME_SECONDS)
    commit = (found or b"").decode("ascii", "replace").strip()
    if not _FULL_HASH.fullmatch(commit):
        raise SourceUnavailable(
            Code.COMMIT_MISSING,
            f"{name!r} does not name one commit of the repository {checkout}",
            f"{fetch_command(checkout, fetch_hint)}, or give the full hash",
        )
    return commit


def fetch_command(checkout: Path, url: str) -> str:
    """What brings the branches and tags of a repository to a checkout, for people to type.

    It names the URL and where branches go: a checkout that we made has no remote.
    """
    branches = "+refs/heads/*:refs/remotes/origin/*"
    return Place.of(checkout, "", url).git("fetch", "--tags", *operands(url or "origin", branches))


# Where git looks for a name, in this order (gitrevisions).
_REF_PLACES = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}")
_REF_NAME = re.compile(r"(?!-)[^\x00-\x20\x7f:?*\[\\~^\ud800-\udfff]+")


def _named(repository: Repository, name: str) -> str | None:
    """The object ID that a ref holds, read from its file or from ``packed-refs``."""
    if name == "@":
        name = "HEAD"
    for place in _REF_PLACES:
        if place != "{}" or re.fullmatch("[A-Z_]+|refs/.+", name):
            oid = _ref(repository, place.format(name))
            if oid:
                return oid
    return None


def _ref(repository: Repository, name: str, depth: int = 0) -> str | None:
    parts = name.split("/")
    unsafe = any(not part or part.startswith(".") for part in parts)
    if unsafe or not _REF_NAME.fullmatch(name) or depth > limits.MAX_SYMREFS:
        return None
    folder = repository.common if name.startswith("refs/") else repository.own
    line = content(folder / name, limits.MAX_POINTER_BYTES).decode("utf-8", "replace")
    line = line.partition("\n")[0]
    if line.startswith("ref:"):
        return _ref(repository, line.removeprefix("ref:").strip(), depth + 1)
    if match := re.match(r"([0-9a-f]{64}|[0-9a-f]{40})\b", line):
        return match[1]
    packed = content(repository.common / "packed-refs", limits.MAX_REFS_BYTES)
    listed = re.search(
        rb"(?m)^([0-9a-f]{64}|[0-9a-f]{40}) %b\r?$" % re.escape(os.fsencode(name)), packed
    )
    return listed[1].decode("ascii") if listed else None
