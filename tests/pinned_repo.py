"""Small git repositories whose hashes are constants: fixed author, dates and settings.

A repository is described by dictionaries, one per commit, that map each path of the tree to
bytes or to one of the markers below. Everything is imported by one ``git fast-import``.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple


class Symlink(NamedTuple):
    """A symbolic link."""

    target: str


class Submodule(NamedTuple):
    """A submodule pinned at a commit of another repository."""

    commit: str


class Executable(NamedTuple):
    """A file with the executable bit."""

    data: bytes


Tree = Mapping[str, bytes | Symlink | Submodule | Executable]

RECALL = b"""\
def recall(query, notes, limit=5):
    scored = [(similarity(query, note), note) for note in notes]
    scored.sort(key=lambda pair: pair[0], reverse=True)
    return [note for _, note in scored[:limit]]
"""
STORE = b"""\
class Store:
    def save(self, note):
        self.notes.append(note)

    def recall(self, query):
        return recall(query, self.notes)
"""
LFS_POINTER = b"""\
version https://git-lfs.github.com/spec/v1
oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
size 12345
"""

FIRST: Tree = {
    "README.md": b"# Jotter\n\nJotter keeps notes and recalls them.\n",
    "src/jotter/search.py": RECALL,  # renamed in the second commit
    "src/jotter/store.py": STORE,
}
SECOND: Tree = {
    "README.md": b"# Jotter\n\nJotter keeps notes and recalls them.\n",
    "assets/logo.bin": bytes(range(256)),
    "assets/model.bin": LFS_POINTER,
    "bin/jot": Executable(b"#!/bin/sh\nexec python -m jotter\n"),
    "docs/bom.md": b"\xef\xbb\xbf# A byte order mark\n",
    "docs/crlf.md": b"# Line ends\r\n\r\nof the other kind\r\n",
    "docs/empty.md": b"",
    "docs/latin1.txt": "café crème\n".encode("latin-1"),
    "docs/inside": Symlink("../src/jotter/store.py"),
    "docs/outside": Symlink("../../../etc/passwd"),
    "docs/ünïcode naïve.txt": b"UTF-8\n",
    "src/jotter/recall.py": RECALL,
    "src/jotter/store.py": STORE,
    "vendor/engine": Submodule("1234567890123456789012345678901234567890"),
}
#: Names that mean something to git, to a shell or to nobody; for bare repositories only.
ODD_NAMES: Tree = dict.fromkeys(
    (
        *(
            ":(glob)*",
            "-r",
            "--",
            "[ab]?.txt",
            "**",
            "\\",
            "line\nbreak",
            'quo"te',
            "a:b",
            "HEAD:a",
        ),
        *(" leading and trailing ", "caf\udce9.txt", "~", "$(id)", "A", "d/A", "d/-/--", "d/*"),
    ),
    b"odd\n",
)
#: In a SHA-256 repository the commit of a submodule has 64 digits.
SECOND_SHA256: Tree = {**SECOND, "vendor/engine": Submodule("12345678" * 8)}

#: The hashes of the two commits.
COMMITS = (
    "568c5a6320e844c118478defe49b651a5eb21ed3",
    "e2f8b9544b0c8724d9008bdf219a8dd2b076bd64",
)
COMMITS_SHA256 = (
    "8bab034cdf63908c7204ad28c02269a90063dde755bc6a060f10f5e54fa20551",
    "b9f6020afd8bf1ec7d5fe25ff3ecdd40b4bb1212dda5838e819fe7d7f710aba2",
)


@dataclass(frozen=True)
class PinnedRepo:
    """A repository on disk: what a source's ``checkout`` names, and its commits, oldest first."""

    path: Path
    commits: tuple[str, ...]

    @property
    def commit(self) -> str:
        """The newest commit."""
        return self.commits[-1]

    def git(self, *arguments: str) -> str:
        """Run git in the repository."""
        return git(self.path, *arguments)


def git(directory: Path, *arguments: str, stdin: bytes | None = None) -> str:
    """Run git without any settings from outside; returns what it prints."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    person = {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (
            ("NAME", "Ada Analyst"),
            ("EMAIL", "ada@example.org"),
            ("DATE", "1700000000 +0000"),
        )
    }
    settings = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TEMPLATE_DIR": "",
        "LC_ALL": "C",
    }
    done = subprocess.run(
        ["git", "-C", directory, *arguments],
        input=stdin,
        env=inherited | person | settings,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
    return done.stdout.decode("utf-8", "surrogateescape").strip()


# --- builders -------------------------------------------------------------------------------


def plain(path: Path, *trees: Tree, object_format: str = "sha1") -> PinnedRepo:
    """A work tree with loose objects, checked out at the newest of its commits."""
    repo = bare(path / ".git", *trees, object_format=object_format)
    git(path / ".git", "config", "core.bare", "false")
    git(path, "reset", "--quiet", "--hard")
    return PinnedRepo(path, repo.commits)


def bare(path: Path, *trees: Tree, object_format: str = "sha1") -> PinnedRepo:
    """A bare repository with loose objects."""
    trees = trees or (FIRST, SECOND if object_format == "sha1" else SECOND_SHA256)
    path.mkdir(parents=True)
    git(path, "init", "-q", "--bare", "-b", "main", f"--object-format={object_format}")
    git(path, "config", "fastimport.unpackLimit", "100000")
    stream = b"".join(_commit(number, tree) for number, tree in enumerate(trees))
    git(path, "fast-import", "--quiet", stdin=stream)
    return PinnedRepo(path, tuple(git(path, "rev-list", "--reverse", "main").split()))


def without_config(path: Path) -> PinnedRepo:
    """A bare directory that has lost its ``config``."""
    repo = bare(path)
    (path / "config").unlink()
    return repo


def worktree(path: Path) -> PinnedRepo:
    """A linked work tree of a repository that lies beside it."""
    repo = plain(path.with_name(path.name + "-main"))
    repo.git("worktree", "add", "-q", "--detach", str(path))
    return PinnedRepo(path, repo.commits)


def submodule(path: Path) -> PinnedRepo:
    """The work tree of a submodule: its ``.git`` file points into the repository around it."""
    around = plain(path, {"a.txt": b"a\n"})
    repo = plain(path / "inner")
    around.git("submodule", "--quiet", "add", "./inner", "inner")
    around.git("submodule", "--quiet", "absorbgitdirs")
    assert (repo.path / ".git").is_file()
    return repo


def packed(path: Path) -> PinnedRepo:
    """Packed objects, packed refs, commit graph."""
    repo = plain(path)
    repo.git("gc", "-q", "--aggressive")
    assert not list((path / ".git" / "objects").glob("[0-9a-f][0-9a-f]"))
    return repo


def shallow(path: Path) -> PinnedRepo:
    """A shallow clone, which lacks the first commit."""
    repo = bare(path.with_name(path.name + "-origin"))
    git(path.parent, "clone", "-q", "--depth=1", repo.path.as_uri(), str(path))
    return PinnedRepo(path, repo.commits)


def sha256(path: Path) -> PinnedRepo:
    """A repository with SHA-256 object IDs."""
    return plain(path, object_format="sha256")


def partial(path: Path, lost: str = "src/jotter/recall.py") -> PinnedRepo:
    """A repository without the object of one path, as a partial clone leaves it."""
    repo = plain(path)
    object_file(repo, lost).unlink()
    repo.git("config", "remote.origin.promisor", "true")
    repo.git("config", "remote.origin.url", "ext::false")
    return repo


def borrowing(path: Path) -> PinnedRepo:
    """A clone that borrows every object of another one over ``objects/info/alternates``."""
    repo = bare(path.with_name(path.name + "-lender"))
    git(path.parent, "clone", "-q", "--shared", str(repo.path), str(path))
    return PinnedRepo(path, repo.commits)


def object_file(repo: PinnedRepo, what: str) -> Path:
    """The file of a loose object, writable.

    :param what: a path, or what follows the newest commit in git's notation, as ``^{tree}``.
    """
    rest = what if what.startswith(("^", ":")) else f":{what}"
    oid = repo.git("rev-parse", repo.commit + rest)
    file = Path(repo.git("rev-parse", "--absolute-git-dir")) / "objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    return file


def _commit(number: int, tree: Tree) -> bytes:
    """One commit in the language of ``git fast-import``."""
    person = b"Ada Analyst <ada@example.org> %d +0000" % (1700000000 + number)
    message = b"Commit %d\n" % (number + 1)
    lines = [
        b"commit refs/heads/main",
        b"author " + person,
        b"committer " + person,
        b"data %d\n%b" % (len(message), message),
        b"deleteall",
    ]
    for path, content in tree.items():
        mode, data = _mode_and_data(content)
        name = _quote(path)
        if data is None:
            assert isinstance(content, Submodule)
            lines.append(b"M %b %b %b" % (mode, content.commit.encode(), name))
        else:
            lines.append(b"M %b inline %b\ndata %d\n%b" % (mode, name, len(data), data))
    return b"\n".join(lines) + b"\n\n"


def _mode_and_data(content: bytes | Symlink | Submodule | Executable) -> tuple[bytes, bytes | None]:
    match content:
        case bytes():
            return b"100644", content
        case Executable(data):
            return b"100755", data
        case Symlink(target):
            return b"120000", target.encode("utf-8", "surrogateescape")
        case Submodule():
            return b"160000", None


def _quote(path: str) -> bytes:
    raw = path.encode("utf-8", "surrogateescape")
    return b'"%b"' % b"".join(b"\\%03o" % byte for byte in raw)
