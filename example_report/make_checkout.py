"""Turn the plain files of ``jotter_source`` into a git repository of two commits.

    python make_checkout.py [DESTINATION]

The hashes are always the same, whatever the machine and its git configuration, because
git is handed every byte of the commits. Needs git and nothing else; works offline.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
DESTINATION = HERE / "checkouts" / "jotter"

#: A file in the git directory that says that this script made the repository.
MARK = "made-by-make-checkout"
BRANCH = "refs/heads/main"
AUTHOR = "Jo Example <jo@example.com>"


class Commit(NamedTuple):
    """One commit: ``layer`` is laid over the files of the commit before it."""

    layer: Path
    removed: frozenset[str]
    seconds: int
    message: str
    hash: str


COMMITS = (
    Commit(
        layer=HERE / "jotter_source" / "first",
        removed=frozenset(),
        seconds=1790586000,  # 2026-09-28 09:00 UTC
        message="Keep notes, recall them, merge them, forget them",
        hash="ff666682c328425496c896a123edfa6ef3b0a7d2",
    ),
    Commit(
        layer=HERE / "jotter_source" / "second",
        removed=frozenset({"src/jotter/vectors.py"}),  # now features.py
        seconds=1791882000,  # 2026-10-13 09:00 UTC
        message="Fit the budget where the prompt is built, and merge less eagerly",
        hash="94839122ea0a95520d6ce19c7a57170a52f4693c",
    ),
)


class CheckoutError(Exception):
    """What went wrong, in words for the person who runs the script."""


def main(arguments: list[str]) -> int:
    """Make the repository and print its two hashes."""
    destination = Path(arguments[0]) if arguments else DESTINATION
    try:
        make_checkout(destination.absolute())
    except CheckoutError as error:
        print(f"make_checkout: {error}", file=sys.stderr)
        return 1
    for commit in COMMITS:
        print(commit.hash)
    return 0


def make_checkout(destination: Path) -> None:
    """Make the repository, unless it is there already."""
    if is_complete(destination):
        return
    if destination.exists() and not is_ours(destination) and not is_empty(destination):
        raise CheckoutError(f"{destination} was not made by this script and is left alone")
    destination.parent.mkdir(parents=True, exist_ok=True)
    # Made beside its place and moved there whole, so that nobody meets half a repository.
    with tempfile.TemporaryDirectory(prefix=".jotter-", dir=destination.parent) as directory:
        made = Path(directory) / "jotter"
        build(made)
        try:
            if destination.exists():
                shutil.rmtree(destination)
            made.rename(destination)
        except OSError as error:
            if not is_complete(destination):  # not even by another run at the same time
                raise CheckoutError(f"{destination} cannot be written: {error}") from None


def build(directory: Path) -> None:
    """Make the repository in a new directory and compare its hashes with the expected ones."""
    git("init", "--quiet", "--template=", "--object-format=sha1", str(directory))
    git_dir = directory / ".git"
    (git_dir / MARK).touch()
    git("symbolic-ref", "HEAD", BRANCH, git_dir=git_dir)
    git("fast-import", "--quiet", git_dir=git_dir, stdin=b"".join(fast_import_stream()))
    made = git("rev-list", "--reverse", BRANCH, git_dir=git_dir).split()
    expected = [commit.hash for commit in COMMITS]
    if made != expected:
        raise CheckoutError(
            f"the files in {HERE / 'jotter_source'} give the commits {', '.join(made)}; "
            f"expected were {', '.join(expected)}. Undo the change to the files, or take the "
            "new hashes into COMMITS and memreport.toml"
        )
    git("--work-tree", str(directory), "reset", "--quiet", "--hard", git_dir=git_dir)


def fast_import_stream() -> Iterator[bytes]:
    """Both commits in the language of ``git fast-import``."""
    for number, commit in enumerate(COMMITS, start=1):
        yield f"commit {BRANCH}\n".encode()
        yield f"author {AUTHOR} {commit.seconds} +0000\n".encode()
        yield f"committer {AUTHOR} {commit.seconds} +0000\n".encode()
        yield data(f"{commit.message}\n".encode()) + b"deleteall\n"
        for path, content in sorted(tree(number).items()):
            yield f"M 100644 inline {path}\n".encode() + data(content)


def data(content: bytes) -> bytes:
    """A counted string of a fast-import stream."""
    return b"data %d\n%s\n" % (len(content), content)


def tree(number: int) -> dict[str, bytes]:
    """The files of a commit, counted from 1, as path to content."""
    files: dict[str, bytes] = {}
    for commit in COMMITS[:number]:
        files = {path: files[path] for path in files if path not in commit.removed}
        files |= dict(read_layer(commit.layer))
    return files


def read_layer(layer: Path) -> Iterator[tuple[str, bytes]]:
    """The files of one layer, without what Python and editors leave behind."""
    for path in layer.rglob("*"):
        relative = path.relative_to(layer)
        litter = any(part == "__pycache__" or part.startswith(".") for part in relative.parts)
        if path.is_file() and not litter:
            yield relative.as_posix(), path.read_bytes()


def is_complete(destination: Path) -> bool:
    """Whether the destination is a repository that has both commits."""
    git_dir = destination / ".git"
    if not git_dir.is_dir():
        return False
    try:
        for commit in COMMITS:
            git("cat-file", "-e", f"{commit.hash}^{{commit}}", git_dir=git_dir)
    except CheckoutError:
        return False
    return True


def is_ours(destination: Path) -> bool:
    """Whether this script made what is there, perhaps from other files."""
    return (destination / ".git" / MARK).is_file()


def is_empty(destination: Path) -> bool:
    """Whether the destination is a directory with nothing in it."""
    return destination.is_dir() and not any(destination.iterdir())


def git(*arguments: str, git_dir: Path | None = None, stdin: bytes = b"") -> str:
    """Run git apart from the user's configuration, locale and environment."""
    environment = {name: value for name, value in os.environ.items() if name[:4] != "GIT_"}
    environment |= {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_DEFAULT_REF_FORMAT": "files",
        "LC_ALL": "C",
    }
    settings = ["core.autocrlf=false", "core.eol=lf", f"core.hooksPath={os.devnull}"]
    command = ["git", *(part for setting in settings for part in ("-c", setting))]
    if git_dir is not None:
        command += ["--git-dir", str(git_dir)]
    try:
        done = subprocess.run(
            [*command, *arguments], input=stdin, capture_output=True, check=True, env=environment
        )
    except FileNotFoundError:
        raise CheckoutError("the git command was not found") from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode(errors="replace").strip()
        raise CheckoutError(f"git {arguments[0]} failed: {said}") from None
    return done.stdout.decode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
