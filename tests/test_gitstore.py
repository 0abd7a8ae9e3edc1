"""Git repositories and captures as sources: what is read, and what must not matter."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pinned_repo as repos
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pinned_repo import Executable, PinnedRepo, Submodule, Symlink, Tree

from sphinx_memreport.core.blobs import Absence, Blob, NoBlob, SourceReader, SourceUnavailable
from sphinx_memreport.core.globs import Glob
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitstore import GitSource, open_capture, open_git

MISSING = NoBlob(Absence.MISSING)
DIRECTORY = NoBlob(Absence.DIRECTORY)

VARIANTS: dict[str, Callable[[Path], PinnedRepo]] = {
    "plain": repos.plain,
    "bare": repos.bare,
    "without config": repos.without_config,
    "worktree": repos.worktree,
    "submodule": repos.submodule,
    "packed": repos.packed,
    "shallow": repos.shallow,
    "sha256": repos.sha256,
    "borrowing": repos.borrowing,
}


def read(source: GitSource, *paths: str) -> dict[str, Blob | NoBlob]:
    return dict(source.blobs(paths))


def read_all(repo: PinnedRepo) -> dict[str, bytes | NoBlob]:
    """Everything at the newest commit."""
    with open_git(repo.path, repo.commit) as source:
        return {
            path: found.data if isinstance(found, Blob) else found
            for path, found in source.blobs(source.paths())
        }


def expected(tree: Tree) -> dict[str, bytes | NoBlob]:
    def content(entry: object) -> bytes | NoBlob:
        match entry:
            case Executable(data):
                return data
            case Symlink(target):
                return NoBlob(Absence.SYMLINK, target)
            case Submodule(commit):
                return NoBlob(Absence.SUBMODULE, commit)
        assert isinstance(entry, bytes)
        return entry

    return {path: content(tree[path]) for path in sorted(tree)}


def refusal(checkout: Path, commit: str = "0" * 40, hint: str = "") -> SourceUnavailable:
    with pytest.raises(SourceUnavailable) as caught:
        open_git(checkout, commit, fetch_hint=hint)
    return caught.value


# --- what is read ---------------------------------------------------------------------------


def test_hashes_are_constants(pinned_repo: PinnedRepo, tmp_path: Path) -> None:
    assert pinned_repo.commits == repos.COMMITS
    assert repos.sha256(tmp_path / "sha256").commits == repos.COMMITS_SHA256


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_kind_of_repository_reads_alike(variant: str, tmp_path: Path) -> None:
    repo = VARIANTS[variant](tmp_path / "repo")
    tree = repos.SECOND_SHA256 if variant == "sha256" else repos.SECOND
    assert read_all(repo) == expected(tree)


def test_object_ids_are_those_of_git(pinned_repo: PinnedRepo) -> None:
    with open_git(pinned_repo.path, pinned_repo.commit) as source:
        (_, blob), *_ = source.blobs(["docs/crlf.md"])
    assert blob == Blob(
        pinned_repo.git("rev-parse", "HEAD:docs/crlf.md"), repos.SECOND["docs/crlf.md"]
    )


def test_a_rename_is_seen_at_its_commit(pinned_repo: PinnedRepo) -> None:
    first, second = (open_git(pinned_repo.path, commit) for commit in pinned_repo.commits)
    old, new = "src/jotter/search.py", "src/jotter/recall.py"
    assert read(first, old, new)[new] == MISSING
    assert read(second, old, new)[old] == MISSING
    assert read(first, old)[old] == read(second, new)[new]


def test_order_asked_and_each_path_once(pinned_repo: PinnedRepo) -> None:
    source = open_git(pinned_repo.path, pinned_repo.commit)
    asked = ["src/jotter/store.py", "nothing", "README.md", "src", "nothing", "README.md"]
    assert [path for path, _ in source.blobs(asked)] == asked[:4]
    assert list(source.blobs([])) == []


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("", DIRECTORY),
        ("src", DIRECTORY),
        ("src/", DIRECTORY),
        ("src/jotter", DIRECTORY),
        ("src//", MISSING),
        ("/", MISSING),
        (".", MISSING),
        ("./README.md", MISSING),
        ("..", MISSING),
        ("../jotter/README.md", MISSING),
        ("src/../README.md", MISSING),
        ("/README.md", MISSING),
        ("/etc/passwd", MISSING),
        ("README.md/", MISSING),
        ("README.md/x", MISSING),
        ("docs/inside/x", MISSING),
        ("vendor/engine/x", MISSING),
        ("vendor/engine/", MISSING),
        ("readme.md", MISSING),
        ("README.md\0", MISSING),
        ("README.md\n", MISSING),
        ("READM?.md", MISSING),
        ("*", MISSING),
        (":/", MISSING),
        (":(glob)**", MISSING),
        ("--help", MISSING),
        ("HEAD:README.md", MISSING),
        ("\ud800", MISSING),
        (".git/config", MISSING),
    ],
)
def test_paths_never_leave_the_tree(pinned_repo: PinnedRepo, path: str, answer: NoBlob) -> None:
    source = open_git(pinned_repo.path, pinned_repo.commit)
    assert read(source, path) == {path: answer}
    assert source.directory_exists(path) == (answer is DIRECTORY)


def test_odd_names(tmp_path: Path) -> None:
    repo = repos.bare(tmp_path / "repo", repos.ODD_NAMES)
    assert read_all(repo) == expected(repos.ODD_NAMES)


def test_tree_entries_that_git_would_refuse_lead_nowhere(pinned_repo: PinnedRepo) -> None:
    blob = bytes.fromhex(pinned_repo.git("rev-parse", "HEAD:README.md"))
    root = bytes.fromhex(pinned_repo.git("rev-parse", "HEAD^{tree}"))
    entries = [(b"40000", b"..", root), (b"100644", b"a/b", blob), (b"100644", b".git", blob)]
    tree = b"".join(b"%b %b\0%b" % entry for entry in entries)
    source = open_git(pinned_repo.path, commit_raw_tree(pinned_repo, tree))
    readme = Blob(blob.hex(), pinned_repo.path.joinpath("README.md").read_bytes())
    assert read(source, "../README.md", ".git", "a/b", "../../README.md", "..") == {
        "../README.md": readme,  # what the tree calls so, not what the file system does
        ".git": readme,
        "a/b": MISSING,
        "../../README.md": MISSING,
        "..": DIRECTORY,
    }


def test_large_files_are_not_read(tmp_path: Path) -> None:
    tree = {f"{n}.txt": b"x" * (1000 if n % 7 == 3 else 10) + b"%d" % n for n in range(200)}
    repo = repos.bare(tmp_path / "repo", tree)
    source = open_git(repo.path, repo.commit, max_bytes=100)
    for path, found in source.blobs(list(tree)):
        if len(tree[path]) > 100:
            assert isinstance(found, NoBlob)
            assert found.reason is Absence.TOO_LARGE
            assert found.detail == f"{len(tree[path]):,} bytes, at most 100 are read"
        else:
            assert isinstance(found, Blob)
            assert found.data == tree[path]


def test_thousands_of_blobs_and_blobs_larger_than_a_pipe(tmp_path: Path) -> None:
    tree = {f"d{n % 9}/{n}": b"%d\n" % n * (60_000 if n % 500 == 0 else 1) for n in range(3000)}
    repo = repos.bare(tmp_path / "repo", tree)
    assert read_all(repo) == tree


def test_reads_may_be_nested(pinned_repo: PinnedRepo) -> None:
    source = open_git(pinned_repo.path, pinned_repo.commit)
    paths = ["README.md", "src/jotter/store.py"]
    for path, blob in source.blobs(paths):
        assert source.directory_exists("src")
        assert read(source, *paths)[path] == blob


def test_listing_and_directories(pinned_repo: PinnedRepo) -> None:
    source: SourceReader = open_git(pinned_repo.path, pinned_repo.commit)
    listed = pinned_repo.git("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")[:-1]
    assert source.paths() == tuple(sorted(listed))
    assert source.paths() is source.paths()
    assert source.directory_exists("")
    assert source.directory_exists("vendor")
    assert not source.directory_exists("vendor/engine")
    assert source.glob(["docs/*.md", "src"]) == (
        *("docs/bom.md", "docs/crlf.md", "docs/empty.md"),
        *("src/jotter/recall.py", "src/jotter/store.py"),
    )
    assert source.glob([]) == ()


# --- what must not matter -------------------------------------------------------------------


def test_the_state_of_the_work_tree_changes_nothing(pinned_repo: PinnedRepo) -> None:
    before = read_all(pinned_repo)
    tree = pinned_repo.path
    (tree / "README.md").write_text("edited")
    (tree / "staged.txt").write_text("staged")
    pinned_repo.git("add", "staged.txt")
    (tree / "untracked.txt").write_text("untracked")
    (tree / "src/jotter/store.py").unlink()
    assert read_all(pinned_repo) == before
    pinned_repo.git("checkout", "-q", "--force", pinned_repo.commits[0])
    assert read_all(pinned_repo) == before
    pinned_repo.git("update-ref", "-d", "refs/heads/main")
    (tree / ".git/index").write_text("damaged")
    (tree / ".git/HEAD").write_text("damaged")
    (tree / ".git/config").write_text("[damaged")
    assert read_all(pinned_repo) == before


def test_a_replace_ref_cannot_vouch(pinned_repo: PinnedRepo) -> None:
    before = read_all(pinned_repo)
    forged = pinned_repo.git("hash-object", "-w", "--", "src/jotter/store.py")
    pinned_repo.git("replace", "HEAD:README.md", forged)
    pinned_repo.git("replace", "HEAD", pinned_repo.commits[0])
    assert read_all(pinned_repo) == before
    assert refusal_of_replaced_commit(pinned_repo).code is Code.COMMIT_MISSING


def refusal_of_replaced_commit(repo: PinnedRepo) -> SourceUnavailable:
    absent = "1" * len(repo.commit)
    replacing = repo.path / ".git/refs/replace" / absent
    replacing.write_text(repo.commit + "\n")
    return refusal(repo.path, absent)


def test_nothing_that_a_repository_configures_runs(tmp_path: Path) -> None:
    tree = {**repos.SECOND, ".gitattributes": b"* filter=spy diff=spy text eol=crlf ident\n"}
    repo = repos.plain(tmp_path / "repo", tree)
    repos.object_file(repo, "docs/bom.md").unlink()
    marker, spy = tmp_path / "marker", tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch '{marker}'\nexit 1\n")
    spy.chmod(0o755)
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for name in (
        "post-checkout",
        "fsmonitor-watchman",
        "post-index-change",
        "reference-transaction",
    ):
        (hooks / name).symlink_to(spy)
    commands = "core.fsmonitor core.sshCommand core.pager core.editor core.askPass core.gitProxy"
    commands += " core.alternateRefsCommand credential.helper uploadpack.packObjectsHook"
    commands += " filter.spy.smudge filter.spy.clean filter.spy.process diff.spy.textconv"
    commands += " diff.external pager.cat-file alias.cat-file"
    settings = {name: str(spy) for name in commands.split()} | {
        "core.hooksPath": str(hooks),
        "remote.origin.url": f"ext::{spy}",
        "remote.origin.promisor": "true",
        "protocol.allow": "always",
    }
    included = tmp_path / "included"
    for name, value in settings.items():
        repo.git("config", "--file", str(included), name, value)
    repo.git("config", "include.path", str(included))
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/attributes").write_text("* filter=spy diff=spy\n")

    found = read_all(repo)

    assert not marker.exists()
    lost = found.pop("docs/bom.md")
    assert isinstance(lost, NoBlob)
    assert lost.reason is Absence.LOST
    assert found == {k: v for k, v in expected(tree).items() if k != "docs/bom.md"}
    subprocess.run(["git", "-C", repo.path, "status"], capture_output=True, check=False)
    assert marker.exists(), "the trap itself must work"


def test_inherited_variables_have_no_effect(
    pinned_repo: PinnedRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = read_all(pinned_repo)
    other = repos.bare(tmp_path / "other", {"README.md": b"other\n"})
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.path / "objects"))
    monkeypatch.setenv("GIT_ALTERNATE_OBJECT_DIRECTORIES", str(other.path / "objects"))
    for name in ("DIR", "COMMON_DIR", "WORK_TREE", "NAMESPACE", "INDEX_FILE", "GRAFT_FILE"):
        monkeypatch.setenv(f"GIT_{name}", str(other.path))
    for name in ("SHALLOW_FILE", "EXEC_PATH", "ATTR_SOURCE", "DEFAULT_HASH", "REPLACE_REF_BASE"):
        monkeypatch.setenv(f"GIT_{name}", str(other.path))
    for name in ("TRACE", "TRACE2", "TRACE_SETUP", "TRACE2_EVENT"):
        monkeypatch.setenv(f"GIT_{name}", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'damaged")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "damaged")
    assert read_all(pinned_repo) == before
    assert not (tmp_path / "trace").exists()
    with pytest.raises(SourceUnavailable):
        open_git(pinned_repo.path, other.commit)


def test_settings_of_the_user_have_no_effect(
    pinned_repo: PinnedRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".gitconfig").write_text("[damaged")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_all(pinned_repo) == expected(repos.SECOND)


# --- objects that cannot be read ------------------------------------------------------------


def test_an_object_that_a_partial_clone_lacks_is_lost(tmp_path: Path) -> None:
    repo = repos.partial(tmp_path / "repo", "src/jotter/recall.py")
    found = read_all(repo)
    lost = found.pop("src/jotter/recall.py")
    assert isinstance(lost, NoBlob)
    assert lost.reason is Absence.LOST
    assert found == {k: v for k, v in expected(repos.SECOND).items() if k in found}


def truncate(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def empty(file: Path) -> None:
    os.truncate(file, 0)


def garble(file: Path) -> None:
    file.write_bytes(bytes(range(60)))


def forge(file: Path) -> None:
    file.write_bytes(zlib.compress(b"blob 7\0forged\n"))


def overstate(file: Path) -> None:
    file.write_bytes(zlib.compress(b"blob 9000000\0short\n"))


def retype(file: Path) -> None:
    file.write_bytes(zlib.compress(b"tree 0\0"))


@pytest.mark.parametrize("damage", [truncate, empty, garble, forge, overstate, retype])
def test_damaged_objects_are_lost(damage: Callable[[Path], None], tmp_path: Path) -> None:
    tree = {f"{n}.txt": b"%d " % n + os.urandom(500) for n in range(150)}
    repo = repos.bare(tmp_path / "repo", tree)
    damaged = {"3.txt", "4.txt", "70.txt", "149.txt"}
    for path in damaged:
        damage(repos.object_file(repo, path))
    found = read_all(repo)
    for path in damaged:
        lost = found.pop(path)
        assert isinstance(lost, NoBlob)
        assert lost.reason is Absence.LOST
        assert repo.git("rev-parse", f"main:{path}") in lost.detail
    assert found == {path: data for path, data in tree.items() if path not in damaged}


def understate(file: Path) -> None:
    content = zlib.decompress(file.read_bytes())
    kind, rest = content.split(b" ", 1)
    file.write_bytes(zlib.compress(kind + b" 5\0" + rest.split(b"\0", 1)[1]))


def inflate(file: Path) -> None:
    content = zlib.decompress(file.read_bytes())
    kind, rest = content.split(b" ", 1)
    file.write_bytes(zlib.compress(kind + b" 50000\0" + rest.split(b"\0", 1)[1]))


@pytest.mark.parametrize(
    "damage", [truncate, empty, garble, forge, overstate, retype, understate, inflate]
)
@pytest.mark.parametrize("what", ["^{commit}", "^{tree}", ":src", ":README.md"])
def test_damage_at_every_level(
    damage: Callable[[Path], None], what: str, pinned_repo: PinnedRepo
) -> None:
    damage(repos.object_file(pinned_repo, what))
    if what.startswith("^"):
        error = refusal(pinned_repo.path, pinned_repo.commit)
        assert error.code is Code.COMMIT_MISSING
        return
    source = open_git(pinned_repo.path, pinned_repo.commit)
    paths = ["README.md", "docs/crlf.md", "src/jotter/store.py", "docs/bom.md"]
    lost = {"README.md"} if what == ":README.md" else {"src/jotter/store.py"}
    for path, found in source.blobs(paths):
        if path in lost:
            assert isinstance(found, NoBlob)
            assert found.reason is Absence.LOST
        else:
            assert isinstance(found, Blob)
            assert found.data == repos.SECOND[path]


def test_a_flood_of_error_messages_does_not_block(tmp_path: Path) -> None:
    tree = {str(n): b"%d\n" % n for n in range(1500)}
    repo = repos.bare(tmp_path / "repo", tree)
    for line in repo.git("ls-tree", "main").splitlines():
        oid = line.split()[2]
        file = repo.path / "objects" / oid[:2] / oid[2:]
        file.chmod(0o644)
        empty(file)
    assert {found.reason for found in read_all(repo).values() if isinstance(found, NoBlob)} == {
        Absence.LOST
    }


def test_a_truncated_pack_never_gives_wrong_content(tmp_path: Path) -> None:
    tree = {f"{n}.txt": os.urandom(3000) for n in range(60)}
    repo = repos.plain(tmp_path / "repo", tree)
    repo.git("gc", "-q")
    source = open_git(repo.path, repo.commit)
    (pack,) = (repo.path / ".git/objects/pack").glob("*.pack")
    pack.chmod(0o644)
    truncate(pack)
    for path, found in source.blobs(sorted(tree)):
        if isinstance(found, Blob):
            assert found.data == tree[path]
        else:
            assert found.reason is Absence.LOST


def test_a_lost_directory(pinned_repo: PinnedRepo) -> None:
    repos.object_file(pinned_repo, "src").unlink()
    source = open_git(pinned_repo.path, pinned_repo.commit)
    path = "src/jotter/store.py"
    answer = read(source, "README.md", path)[path]
    assert isinstance(answer, NoBlob)
    assert answer.reason is Absence.LOST
    assert source.directory_exists("src")
    for listing in (source.paths, lambda: source.glob(["docs/**"])):
        with pytest.raises(SourceUnavailable, match="lacks the directory 'src/'") as caught:
            listing()
        assert caught.value.code is Code.COMMIT_MISSING
        assert "fetch --refetch --no-filter origin" in caught.value.fix


def commit_raw_tree(repo: PinnedRepo, tree: bytes) -> str:
    """Commit a tree object that git itself would not write."""
    oid = repos.git(
        repo.path, "hash-object", "-t", "tree", "--literally", "-w", "--stdin", stdin=tree
    )
    return repos.git(repo.path, "hash-object", "-t", "commit", "-w", "--stdin", stdin=(
        f"tree {oid}\nauthor A <a@b> 1 +0000\ncommitter A <a@b> 1 +0000\n\nx\n".encode()
    ))  # fmt: skip


@pytest.mark.parametrize("tree", [b"\0", b"100644 a", b"100644 a\0short", b"x" * 5000])
def test_a_malformed_tree_is_refused(pinned_repo: PinnedRepo, tree: bytes) -> None:
    error = refusal(pinned_repo.path, commit_raw_tree(pinned_repo, tree))
    assert error.code is Code.COMMIT_MISSING


def test_a_malformed_commit_is_refused(pinned_repo: PinnedRepo) -> None:
    command = ["hash-object", "-t", "commit", "--literally", "-w", "--stdin"]
    for content in (b"", b"x", b"tree x\n", b"tree HEAD\n", b"tree " + b"1" * 39 + b"\n"):
        commit = repos.git(pinned_repo.path, *command, stdin=content)
        assert refusal(pinned_repo.path, commit).code is Code.COMMIT_MISSING


# --- sources that cannot be opened ----------------------------------------------------------


def test_a_missing_checkout(tmp_path: Path) -> None:
    where = tmp_path / "no such place"
    error = refusal(where, hint="https://example.org/jotter")
    assert error.code is Code.CHECKOUT_MISSING
    assert error.message == f"the checkout {where} does not exist"
    assert error.fix == "memreport fetch"
    where.mkdir()  # what a submodule leaves that was not fetched
    assert refusal(where, hint="https://example.org/jotter").fix == "memreport fetch"
    (where / "file").write_text("mine")
    taken = refusal(where, hint="https://example.org/jotter").fix
    assert taken == f"move '{where}' away, or correct `checkout`; then: memreport fetch"
    shutil.rmtree(where)
    assert refusal(where).fix.startswith("put a clone of the repository at '")


def broken_pointers(tmp_path: Path) -> Iterator[Path]:
    """Directories that are no repository, one way each."""
    yield tmp_path
    (tmp_path / "file").write_text("a file")
    yield tmp_path / "file"
    for name, pointer in {
        "empty": "",
        "gone": "gitdir: ../gone/.git",
        "itself": "gitdir: .",
        "loop": "gitdir: .git",
        "junk": "\0" * 5000,
        "device": "gitdir: /dev",
        "nul": "gitdir: a\0b",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / ".git").write_text(pointer)
        yield tmp_path / name
    (tmp_path / "fifo").mkdir()
    os.mkfifo(tmp_path / "fifo/.git")
    yield tmp_path / "fifo"
    (tmp_path / "link").symlink_to("link")
    yield tmp_path / "link"
    (tmp_path / "bare/objects").mkdir(parents=True)
    yield tmp_path / "bare"
    yield tmp_path / "nul\0"


def test_what_is_not_a_repository(tmp_path: Path) -> None:
    for where in broken_pointers(tmp_path):
        assert refusal(where).code is Code.CHECKOUT_MISSING, where


def test_a_directory_inside_a_work_tree_is_not_a_checkout(pinned_repo: PinnedRepo) -> None:
    assert refusal(pinned_repo.path / "src").code is Code.CHECKOUT_MISSING


@pytest.mark.parametrize(
    ("commit", "says"),
    [
        ("1" * 40, "lacks the pinned commit: object 1111"),
        ("0" * 40, "lacks the pinned commit: object 0000"),
        ("1" * 64, "names objects by 40 hex digits, the pin has 64"),
        ("HEAD", "is not a full commit hash"),
        ("main", "is not a full commit hash"),
        ("", "is not a full commit hash"),
        ("1" * 39, "is not a full commit hash"),
        ("g" * 40, "is not a full commit hash"),
        ("1" * 39 + "\n", "is not a full commit hash"),
    ],
)
def test_a_missing_commit(pinned_repo: PinnedRepo, commit: str, says: str) -> None:
    error = refusal(pinned_repo.path, commit)
    assert error.code is Code.COMMIT_MISSING
    assert says in error.message
    if says.startswith("lacks"):
        assert error.fix == f"git -C {pinned_repo.path} fetch origin {commit}"


def test_a_commit_may_be_written_in_capitals(pinned_repo: PinnedRepo) -> None:
    assert open_git(pinned_repo.path, pinned_repo.commit.upper()).paths()


def test_a_short_pin_of_a_sha256_repository(tmp_path: Path) -> None:
    repo = repos.sha256(tmp_path / "repo")
    error = refusal(repo.path, "1" * 40)
    assert "names objects by 64 hex digits, the pin has 40" in error.message


def test_a_sha256_pin_where_nothing_tells_the_format(tmp_path: Path) -> None:
    repo = repos.without_config(tmp_path / "repo")
    assert "lacks the pinned commit" in refusal(repo.path, "1" * 64).message


def test_an_object_that_is_no_commit(pinned_repo: PinnedRepo) -> None:
    pinned_repo.git("tag", "-a", "-m", "A tag", "v1")
    for name, kind in {"v1": "tag", "HEAD^{tree}": "tree", "HEAD:README.md": "blob"}.items():
        error = refusal(pinned_repo.path, pinned_repo.git("rev-parse", name))
        assert error.code is Code.COMMIT_MISSING
        assert f"is a {kind}, not a commit" in error.message
        assert "rev-parse" in error.fix


def test_a_commit_that_a_shallow_clone_lacks(tmp_path: Path) -> None:
    repo = repos.shallow(tmp_path / "my repo")
    error = refusal(repo.path, repo.commits[0], hint="https://example.org/jotter")
    assert error.code is Code.COMMIT_MISSING
    assert "shallow clone" in error.message
    assert error.fix == "memreport fetch"
    repo.git("fetch", "-q", "origin", repo.commits[0])  # what the error proposes
    assert open_git(repo.path, repo.commits[0]).paths() == tuple(sorted(repos.FIRST))


def test_a_commit_without_its_tree(pinned_repo: PinnedRepo) -> None:
    repos.object_file(pinned_repo, "^{tree}").unlink()
    error = refusal(pinned_repo.path, pinned_repo.commit)
    assert error.code is Code.COMMIT_MISSING
    assert "lacks the tree of commit" in error.message


def test_without_git(
    pinned_repo: PinnedRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = refusal(pinned_repo.path, pinned_repo.commit)
    assert error.code is Code.CHECKOUT_MISSING
    assert error.message.startswith("git cannot be run")
    script = (
        "import sys\nfrom pathlib import Path\n"
        "from sphinx_memreport.core.blobs import SourceUnavailable\n"
        "from sphinx_memreport.gitstore import open_git\n"
        "try: open_git(Path(sys.argv[1]), sys.argv[2])\n"
        "except SourceUnavailable as error: print(error.message)\n"
    )  # GitPython is imported without git there
    done = subprocess.run(
        [sys.executable, "-c", script, str(pinned_repo.path), pinned_repo.commit],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("git cannot be run")
    assert not done.stderr


# --- alternates -----------------------------------------------------------------------------


def alternates(repo: PinnedRepo) -> Path:
    return Path(repo.git("rev-parse", "--absolute-git-dir")) / "objects/info/alternates"


def test_alternates_in_a_circle_do_no_harm(tmp_path: Path) -> None:
    repo = repos.borrowing(tmp_path / "repo")
    lender = tmp_path / "repo-lender/objects"
    (lender / "info/alternates").parent.mkdir(exist_ok=True)
    (lender / "info/alternates").write_text(f"{repo.path}/.git/objects\n{lender}\n")
    assert read_all(repo) == expected(repos.SECOND)


def test_a_relative_alternate(tmp_path: Path) -> None:
    repo = repos.borrowing(tmp_path / "repo")
    alternates(repo).write_text("# comment\n\n../../../repo-lender/objects\n")
    assert read_all(repo) == expected(repos.SECOND)


def test_an_alternate_that_is_gone(tmp_path: Path) -> None:
    repo = repos.borrowing(tmp_path / "repo")
    lender = tmp_path / "repo-lender"
    lender.rename(tmp_path / "moved")
    error = refusal(repo.path, repo.commit)
    assert error.code is Code.CHECKOUT_MISSING
    assert f"borrows objects from {lender}/objects, which does not exist" in error.message


def test_improper_alternates_are_refused(pinned_repo: PinnedRepo) -> None:
    file = alternates(pinned_repo)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"\0\xff\n\xfe")
    assert refusal(pinned_repo.path, pinned_repo.commit).code is Code.CHECKOUT_MISSING
    file.unlink()
    os.mkfifo(file)
    error = refusal(pinned_repo.path, pinned_repo.commit)
    assert error.message.endswith(f"has something that is no file among its objects: {file}")


def test_a_chain_of_alternates_that_git_would_not_follow(
    pinned_repo: PinnedRepo, tmp_path: Path
) -> None:
    borrower = alternates(pinned_repo)
    for number in range(7):
        lender = tmp_path / f"lender{number}"
        (lender / "info").mkdir(parents=True)
        borrower.parent.mkdir(exist_ok=True)
        borrower.write_text(f"{lender}\n")
        borrower = lender / "info/alternates"
    error = refusal(pinned_repo.path, pinned_repo.commit)
    assert "over too many objects/info/alternates" in error.message


def test_too_many_lenders(pinned_repo: PinnedRepo, tmp_path: Path) -> None:
    lenders = [tmp_path / f"lender{number}" for number in range(100)]
    for lender in lenders:
        lender.mkdir()
    file = alternates(pinned_repo)
    file.parent.mkdir(exist_ok=True)
    file.write_text("".join(f"{lender}\n" for lender in lenders[1:]))
    assert read_all(pinned_repo) == expected(repos.SECOND)
    file.write_text("".join(f"{lender}\n" for lender in lenders))
    error = refusal(pinned_repo.path, pinned_repo.commit)
    assert "borrows its objects from too many repositories" in error.message


def test_no_room_for_a_temporary_repository(
    pinned_repo: PinnedRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    error = refusal(pinned_repo.path, pinned_repo.commit)
    assert error.code is Code.CHECKOUT_MISSING
    assert error.message.startswith("git needs a temporary folder, which cannot be made: No such")
    assert str(tmp_path / "gone") in error.fix


# --- life of a source -----------------------------------------------------------------------


def test_nothing_is_left_behind(
    pinned_repo: PinnedRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = tmp_path / "tmp"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    source = open_git(pinned_repo.path, pinned_repo.commit)
    source.paths()
    assert not list(private.iterdir())
    unfinished = source.blobs(["README.md", "src/jotter/store.py"])
    next(unfinished)
    assert list(private.iterdir())
    del unfinished
    assert not list(private.iterdir())
    unfinished = source.blobs(["README.md", "src/jotter/store.py"])
    next(unfinished)
    source.close()
    assert not list(private.iterdir())
    with pytest.raises(ValueError, match="closed"):
        next(unfinished)
    with pytest.raises(ValueError, match="closed"):
        source.directory_exists("src")
    refusal(pinned_repo.path)
    assert not list(private.iterdir())


def test_sources_cannot_be_pickled(pinned_repo: PinnedRepo, tmp_path: Path) -> None:
    file = tmp_path / "post.html"
    file.write_bytes(b"")
    capture = open_capture(file, hashlib.sha256(b"").hexdigest())
    for source in (open_git(pinned_repo.path, pinned_repo.commit), capture):
        with pytest.raises(TypeError, match="cannot be pickled"):
            pickle.dumps(source)


# --- globs ----------------------------------------------------------------------------------

_DIRECTORIES = ("", "a/", "b/", "ab/", "a/a/", "a/b/", "b/a/b/", "a/ab/", "*/", "a*/", "[a/", "é/")
_FILES = (
    "aa",
    "bb",
    "aab",
    "c",
    "a.b",
    "*",
    "?",
    "[",
    "]",
    "-",
    "**",
    "a\\",
    "!",
    "^",
    "[a]",
    "aé",
)
_BYTES = [f"bytes/{chr(byte)}" for byte in range(1, 128) if chr(byte) not in "./"]
_PIECES = (
    *(
        "a",
        "b",
        "ab",
        "c",
        "*",
        "?",
        "**",
        "**/",
        "/**/",
        "/**",
        "a**",
        "***",
        "/",
        ".",
        "..",
        "./",
    ),
    *("[a]", "[!a]", "[^b/]", "[a-b]", "[]a]", "[a-]", "[+--]", "[a\\]]", "[", "]", "-", "!", "^"),
    *("[[:alpha:]]", "[[:punct:]-]", "[[:x:]]", "[:a]", "\\", "\\*", "\\/", "**\\/", "é", "[é]"),
)


class RealGlob:
    """The same names in an index, matched by git itself."""

    def __init__(self, repo: PinnedRepo, names: list[str]) -> None:
        self._repo = repo
        empty_blob = repo.git("hash-object", "-w", "--stdin")
        index = "".join(f"100644 {empty_blob}\t{name}\0" for name in names)
        repos.git(repo.path, "update-index", "-z", "--index-info", stdin=index.encode())
        self.names = self.matching("")

    def matching(self, pattern: str) -> list[str]:
        """What git lists; nothing when it refuses a pattern that leaves the repository."""
        command = ["git", "-C", self._repo.path, "ls-files", "-z", "--cached", "--"]
        done = subprocess.run(
            [*command, f":(glob){pattern}"], capture_output=True, check=False, text=True
        )
        return [] if done.returncode else done.stdout.split("\0")[:-1]


@pytest.fixture(scope="module")
def real_glob(tmp_path_factory: pytest.TempPathFactory) -> RealGlob:
    repo = repos.plain(tmp_path_factory.mktemp("glob") / "repo", {"x": b""})
    directories = {directory.rstrip("/") for directory in _DIRECTORIES}
    names = {directory + file for directory in _DIRECTORIES for file in _FILES} - directories
    return RealGlob(repo, [*sorted(names), *_BYTES])


def check_glob(real: RealGlob, pattern: str) -> None:
    glob = Glob([pattern])
    assert [name for name in real.names if glob.matches(name)] == real.matching(pattern)


@settings(max_examples=300, deadline=None)
@given(pattern=st.lists(st.sampled_from(_PIECES), max_size=6).map("".join))
def test_globs_mean_what_git_says(real_glob: RealGlob, pattern: str) -> None:
    check_glob(real_glob, pattern)


_CLASS_NAMES = "alnum alpha blank cntrl digit graph lower print punct space upper xdigit"


@pytest.mark.parametrize("name", _CLASS_NAMES.split())
def test_character_classes_are_those_of_git(real_glob: RealGlob, name: str) -> None:
    check_glob(real_glob, f"bytes/[[:{name}:]]")
    check_glob(real_glob, f"bytes/[^[:{name}:]]")


@pytest.mark.parametrize(
    "pattern",
    ["", ".", "a", "a/", "a/.", "b/../a", "../a", "/a", "a**/b", "[a", "a\\", "*/**", "a//b"],
)
def test_corners_of_globs(real_glob: RealGlob, pattern: str) -> None:
    check_glob(real_glob, pattern)


def test_several_patterns_are_a_union(real_glob: RealGlob) -> None:
    patterns = ["a/**/b*", "b", "[", "../x", "*"]
    glob = Glob(patterns)
    union = {name for pattern in patterns for name in real_glob.matching(pattern)}
    assert {name for name in real_glob.names if glob.matches(name)} == union


def test_text_that_is_no_name_in_git() -> None:
    assert not Glob(["**"]).matches("\ud800")
    assert not Glob(["\ud800"]).matches("a")
    assert Glob(["caf?.txt"]).matches("caf\udce9.txt")


def test_patterns_that_ruin_a_backtracking_matcher() -> None:
    name = "a" * 4000
    assert not Glob(["*a" * 200 + "b", "**/*a*a*a*a*a*a*a*a/**/*b"]).matches(name)
    assert Glob(["*a" * 200]).matches(name)
    many = Glob(["**" + "a" + "?" * 60])  # a deterministic automaton of 2**60 states
    for number in range(300):
        assert not many.matches(f"{number:b}".replace("1", "a") * 30 + "/")


# --- captures -------------------------------------------------------------------------------


def capture_refusal(file: Path, sha256: str = "0" * 64) -> SourceUnavailable:
    with pytest.raises(SourceUnavailable) as caught:
        open_capture(file, sha256, max_bytes=1000)
    return caught.value


def test_a_capture(tmp_path: Path) -> None:
    file = tmp_path / "post.html"
    file.write_bytes(b"<p>kept</p>\r\n")
    sha256 = hashlib.sha256(file.read_bytes()).hexdigest()
    capture = open_capture(file, sha256.upper())
    file.write_bytes(b"changed after it was checked")
    assert capture.read() == Blob(sha256, b"<p>kept</p>\r\n")


def test_a_changed_capture(tmp_path: Path) -> None:
    file = tmp_path / "post.html"
    file.write_bytes(b"changed")
    actual, pinned = hashlib.sha256(b"changed").hexdigest(), "0" * 64
    error = capture_refusal(file, pinned)
    assert error.code is Code.CAPTURE_MISMATCH
    assert actual in error.message
    assert pinned in error.message
    assert f'sha256 = "{actual}"' in error.fix


def test_what_is_not_a_capture(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "large").write_bytes(bytes(1001))
    for name, says in {
        "absent": "No such file",
        ".": "not a regular file",
        "fifo": "not a regular file",
        "/dev/zero": "not a regular file",
        "large": "1,001 bytes, at most 1,000 are read",
        "nul\0": "cannot be read",
    }.items():
        error = capture_refusal(tmp_path / name)
        assert error.code is Code.CHECKOUT_MISSING
        assert says in error.message
        assert error.fix
