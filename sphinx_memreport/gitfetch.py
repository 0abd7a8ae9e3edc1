"""Bringing a pinned commit to this machine: the one place that goes to the network.

:mod:`.gitstore` reads and never fetches; this fetches and never reads. git runs with the user's
own configuration, credentials and ssh, but never with those of a checkout, nor with its hooks
and filters: it is given a private, empty repository of ours. For a checkout that is not there
yet, that repository takes its place, whole, when all is fetched. Into one that is there, only
objects go: its references, configuration, work tree and shallow boundary stay as they are.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.core.exclusive import exclusive_folders, is_held
from sphinx_memreport.core.output import PART, leftovers
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitstore import object_directory, open_git
from sphinx_memreport.permalinks import repository_error

#: Transports that may be used; ``ext::`` and other helpers run commands.
PROTOCOLS = "file:https:http:ssh"

# Variables that would lead git to another repository than the one meant.
_MISLEADING = re.compile(
    r"GIT_(?:DIR|COMMON_DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|"
    r"NAMESPACE|PREFIX|SHALLOW_FILE|GRAFT_FILE|REPLACE_REF_BASE|QUARANTINE_PATH|"
    r"TEMPLATE_DIR|DEFAULT_HASH|IMPLICIT_WORK_TREE|CEILING_DIRECTORIES|TRACE.*)"
)
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": "",
    "fetch.recurseSubmodules": "no",
    "fetch.writeCommitGraph": "false",
    "fetch.unpackLimit": "1",  # one pack, which can be kept
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
}
# What a terminal would take as a command; carriage returns move progress along.
_CONTROL = re.compile(r"[^\S \r\n\t]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_TAIL = 8192


class Listener(NamedTuple):
    """Who hears how a fetch goes: ``say`` whole sentences, ``progress`` what git shows."""

    say: Callable[[str], object] = lambda _: None
    progress: Callable[[str], object] | None = None


def whole(checkout: Path, commit: str, url: str = "") -> SourceUnavailable | None:
    """What is wrong with a pinned commit on this machine; None when all of it is there.

    All of it is the commit and every tree and blob below it: a partial clone is not enough.
    """
    try:
        with open_git(checkout, commit, fetch_hint=url) as source:
            lost = source.lost()
    except SourceUnavailable as error:
        return error
    if not lost:
        return None
    more = f" and {len(lost) - 1} more" if len(lost) > 1 else ""
    return SourceUnavailable(
        Code.BLOB_MISSING,
        f"the repository {checkout} lacks the content of {lost[0]}{more} at the pinned commit",
        "memreport fetch",
    )


def fetch_commit(checkout: Path, url: str, commit: str, listener: Listener | None = None) -> None:
    """Bring a commit, with all trees and blobs below it and no history, to a checkout.

    :param checkout: a repository that gets the objects, or a place where nothing or an empty
        directory is: a bare repository is made there.
    :param url: where to fetch from, see :func:`~.permalinks.repository_error`.
    :param commit: the full hash.
    :raises SourceUnavailable: when the place is taken by something else, or the commit cannot
        be had. What was there before is then as it was.
    """
    wrong = repository_error(url)
    if wrong is not None:
        raise SourceUnavailable(Code.COMMIT_MISSING, f"the URL {url!r} {wrong}", "correct it")
    listener = listener or Listener()
    if _is_free(checkout):
        _into_new(checkout, url, commit, listener)
    else:
        _into_existing(checkout, object_directory(checkout, commit, url), url, commit, listener)
    error = whole(checkout, commit, url)
    if error is not None:
        raise error


def _is_free(checkout: Path) -> bool:
    """Whether a repository can be made at a place."""
    if checkout.is_symlink() and not checkout.exists():
        raise SourceUnavailable(
            Code.CHECKOUT_MISSING,
            f"the checkout {checkout} is a symbolic link that leads nowhere",
            "remove it, or correct `checkout`",
        )
    return not checkout.exists() or (checkout.is_dir() and not any(checkout.iterdir()))


def _into_new(checkout: Path, url: str, commit: str, listener: Listener) -> None:
    """Fetch into a new repository beside the place, and move it there when it is whole."""
    place = checkout.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    for left in leftovers(place):  # by a fetch that was killed
        if not is_held(left):
            shutil.rmtree(left, ignore_errors=True)
    with _private_repository(place.parent, f".{place.name}.", commit) as home:
        _fetch(home, url, commit, listener)
        _git(home, "update-ref", f"refs/memreport/{commit}", commit)
        error = whole(home, commit, url)
        if error is not None:
            raise error
        if place.exists():
            place.rmdir()  # empty, or this fails
        home.rename(place)


def _into_existing(
    checkout: Path, objects: Path, url: str, commit: str, listener: Listener
) -> None:
    """Fetch objects alone, as packs that git does not throw away though nothing refers to them."""
    before = set(objects.glob("pack/*.pack"))
    with _private_repository(None, "memreport-", commit) as home:
        _fetch(home, url, commit, listener, objects)
    for pack in set(objects.glob("pack/*.pack")) - before:
        with suppress(OSError):
            pack.with_suffix(".keep").write_text(f"memreport: {commit} of {checkout.name}\n")


@contextmanager
def _private_repository(parent: Path | None, prefix: str, commit: str) -> Iterator[Path]:
    """An empty bare repository that is gone at the end, unless it was moved away."""
    home = Path(tempfile.mkdtemp(PART, prefix, parent))
    try:
        home.chmod(0o777 & ~_umask())
        object_format = "sha256" if len(commit) == 64 else "sha1"
        with exclusive_folders([home]):
            bare = ("--quiet", "--bare", "--template=", f"--object-format={object_format}")
            _git(home, "init", *bare)
            yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _fetch(
    home: Path, url: str, commit: str, listener: Listener, objects: Path | None = None
) -> None:
    try:
        refs = [f"+{commit}:refs/memreport/{commit}"]
        _run_fetch(home, url, refs, listener, objects, "--depth=1")
    except SourceUnavailable:
        # servers and versions of git say in many ways that a hash alone is not served
        status, _ = _spawn(home, ["ls-remote", "--quiet", "--", url, "HEAD"], objects)
        if status != 0:
            raise
        listener.say("the commit cannot be had by its hash alone; fetching all branches and tags")
        refs = ["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]
        _run_fetch(home, url, refs, listener, objects)
        status, _ = _spawn(home, ["cat-file", "-e", f"{commit}^{{commit}}"], objects)
        if status != 0:
            raise SourceUnavailable(
                Code.COMMIT_MISSING,
                f"{url} does not give the commit {commit}, and no branch or tag of it holds it",
                "correct the commit or the URL",
            ) from None


def _run_fetch(
    home: Path,
    url: str,
    refs: list[str],
    listener: Listener,
    objects: Path | None,
    *options: str,
) -> None:
    options = (*options, "--progress" if listener.progress else "--quiet")
    arguments = ["fetch", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"]
    command = [*arguments, *options, "--", url, *refs]
    status, said = _spawn(home, command, objects, listener.progress)
    if status == 0:
        return
    lines = [line.strip() for line in re.split(r"[\r\n]+", said) if line.strip()]
    reason = "; ".join(lines[-3:]) or f"git ended with {status}"
    raise SourceUnavailable(
        Code.COMMIT_MISSING,
        f"cannot fetch from {url}: {reason}",
        "check the URL, the commit, and that git can fetch from there on this machine",
    )


def _spawn(
    home: Path,
    arguments: list[str],
    objects: Path | None = None,
    progress: Callable[[str], object] | None = None,
) -> tuple[int, str]:
    """Run git; what it says to stderr goes to ``progress`` and, its end, to the caller."""
    settings = [part for item in _SETTINGS.items() for part in ("-c", "=".join(item))]
    try:
        process = subprocess.Popen(
            ["git", *settings, *arguments],
            stdin=None if progress else subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=_environment(home, objects),
            cwd=home,
        )
    except OSError as error:
        raise SourceUnavailable(
            Code.CHECKOUT_MISSING, f"git cannot be run: {error.strerror}", "install git"
        ) from error
    try:
        assert process.stderr is not None
        said = _listen(process.stderr, progress)
        return process.wait(), said
    finally:
        if process.poll() is None:
            process.terminate()  # git removes what it has half written
            process.wait()


def _listen(stream: IO[bytes], progress: Callable[[str], object] | None) -> str:
    said = ""
    while piece := os.read(stream.fileno(), 4096):
        text = _CONTROL.sub("", piece.decode("utf-8", "replace"))
        if progress:
            progress(text)
        said = (said + text)[-_TAIL:]
    return said


def _git(home: Path, *arguments: str) -> None:
    status, said = _spawn(home, list(arguments))
    if status != 0:
        message = f"git {arguments[0]} failed: {' '.join(said.split())[:200]}"
        raise SourceUnavailable(Code.CHECKOUT_MISSING, message, "see what git says")


def _environment(home: Path, objects: Path | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not _MISLEADING.fullmatch(name)}
    place = {"GIT_OBJECT_DIRECTORY": str(objects)} if objects else {}
    return (
        kept
        | place
        | {
            "GIT_DIR": str(home),
            "GIT_ALLOW_PROTOCOL": PROTOCOLS,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "LC_ALL": "C",
        }
    )
