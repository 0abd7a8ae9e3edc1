"""Objects and indexes that say something else than what the pin names: none can vouch."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import hostile_git as hostile
import pinned_repo as repos
import pytest
from hostile_git import check, quoting
from pinned_repo import PinnedRepo

from sphinx_memreport.core.blobs import Blob
from sphinx_memreport.gitstore import open_git

TRUE = ("README.md", "Jotter keeps notes and recalls them.")
FORGED = ("README.md", "Jotter forgets everything.")
FORGED_CONTENT = b"Jotter forgets everything.\n"
#: What is said of the true and the forged passage when the source is as it should be.
SOUND = [("stale-quote", "memory.md", 7)]
LOST = [("blob-missing", "memory.md", 3), ("blob-missing", "memory.md", 7)]
NO_COMMIT = [("commit-missing", "memreport.toml", 5)]


def forged_tree(repo: PinnedRepo) -> str:
    """A tree in which the file says something else."""
    objects = hostile.objects_of(repo)
    forged = hostile.write_object(objects, "blob", FORGED_CONTENT)
    return hostile.write_object(objects, "tree", hostile.tree([("100644", "README.md", forged)]))


def verdict(tmp_path: Path, repo: PinnedRepo) -> list[hostile.Problem]:
    return check(tmp_path / "site", repo, quoting(TRUE, FORGED)).problems


# --- what git itself believes -----------------------------------------------------------------


def replace_blob(repo: PinnedRepo) -> None:
    forged = hostile.write_object(hostile.objects_of(repo), "blob", FORGED_CONTENT)
    repo.git("replace", "HEAD:README.md", forged)


def replace_tree(repo: PinnedRepo) -> None:
    repo.git("replace", "HEAD^{tree}", forged_tree(repo))


def replace_commit(repo: PinnedRepo) -> None:
    repo.git("replace", "HEAD", hostile.commit(repo, forged_tree(repo)).commit)


def graft(repo: PinnedRepo) -> None:
    """Another parent; what a commit holds does not change by that."""
    forged = hostile.commit(repo, forged_tree(repo)).commit
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/grafts").write_text(f"{repo.commit} {forged}\n")


def commit_graph(repo: PinnedRepo) -> None:
    """A graph that names another tree for the pinned commit."""
    repo.git("commit-graph", "write", "--reachable")
    file = hostile.objects_of(repo) / "info/commit-graph"
    file.chmod(0o644)
    root = bytes.fromhex(repo.git("rev-parse", "HEAD^{tree}"))
    graph = file.read_bytes()
    assert graph.count(root) == 1
    file.write_bytes(graph.replace(root, bytes.fromhex(forged_tree(repo))))


@pytest.mark.parametrize("lie", [replace_blob, replace_tree, replace_commit, graft, commit_graph])
def test_what_git_believes_is_not_believed(
    lie: Callable[[PinnedRepo], None], pinned_repo: PinnedRepo, tmp_path: Path
) -> None:
    lie(pinned_repo)
    if lie is not graft:
        seen = pinned_repo.git("log", "-1", "--format=%T", "HEAD")
        shown = pinned_repo.git("cat-file", "-p", f"{seen}:README.md")
        assert shown == FORGED_CONTENT.decode().strip(), "the lie itself must work"
    assert verdict(tmp_path, pinned_repo) == SOUND


# --- objects under a wrong name ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "kind", "expected"),
    [
        (":README.md", "blob", LOST),
        ("^{tree}", "tree", NO_COMMIT),
        ("^{commit}", "commit", NO_COMMIT),
    ],
)
def test_a_loose_object_under_a_wrong_name(
    what: str, kind: str, expected: object, pinned_repo: PinnedRepo, tmp_path: Path
) -> None:
    forged = {
        "blob": hostile.object_id("blob", FORGED_CONTENT),
        "tree": forged_tree(pinned_repo),
        "commit": hostile.commit(pinned_repo, forged_tree(pinned_repo)).commit,
    }[kind]
    content = hostile.loose_file(hostile.objects_of(pinned_repo), forged).read_bytes()
    repos.object_file(pinned_repo, what).write_bytes(content)
    assert verdict(tmp_path, pinned_repo) == expected


def swap(
    table: bytearray, oids: int, count: int, width: int, places: int, pair: list[bytes]
) -> None:
    """Swap what an index says of two objects.

    :param oids: where the object IDs are, and ``places`` where what is said of each.
    """
    names = [bytes(table[oids + 20 * n : oids + 20 * n + 20]) for n in range(count)]
    one, two = (slice(at, at + width) for at in (places + width * names.index(o) for o in pair))
    table[one], table[two] = table[two], table[one]


def swap_in_idx(repo: PinnedRepo, pair: list[bytes]) -> None:
    (file,) = (repo.path / ".git/objects/pack").glob("*.idx")
    table = bytearray(file.read_bytes())
    (count,) = struct.unpack_from(">I", table, 8 + 255 * 4)
    swap(table, 8 + 1024, count, 4, 8 + 1024 + 24 * count, pair)
    file.chmod(0o644)
    file.write_bytes(table)


def swap_in_multi_pack_index(repo: PinnedRepo, pair: list[bytes]) -> None:
    repo.git("multi-pack-index", "write")
    file = repo.path / ".git/objects/pack/multi-pack-index"
    table = bytearray(file.read_bytes())
    chunks = {
        bytes(table[at : at + 4]): struct.unpack_from(">Q", table, at + 4)[0]
        for at in range(12, 12 + 12 * table[6], 12)
    }
    (count,) = struct.unpack_from(">I", table, chunks[b"OIDF"] + 255 * 4)
    swap(table, chunks[b"OIDL"], count, 8, chunks[b"OOFF"], pair)
    file.chmod(0o644)
    file.write_bytes(table)


@pytest.mark.parametrize(
    ("kind", "names", "expected"),
    [
        ("blob", ("HEAD:README.md", "HEAD:docs/bom.md"), LOST),
        ("tree", ("HEAD^{tree}", "HEAD~1^{tree}"), NO_COMMIT),
        ("commit", ("HEAD", "HEAD~1"), NO_COMMIT),
    ],
)
@pytest.mark.parametrize("lie", [swap_in_idx, swap_in_multi_pack_index])
def test_an_index_that_leads_to_another_object(
    kind: str,
    names: tuple[str, str],
    expected: object,
    lie: Callable[[PinnedRepo, list[bytes]], None],
    tmp_path: Path,
) -> None:
    repo = repos.packed(tmp_path / "repo")
    oids = [repo.git("rev-parse", name) for name in names]
    before = repo.git("cat-file", kind, oids[1])
    lie(repo, [bytes.fromhex(oid) for oid in oids])
    assert repo.git("cat-file", kind, oids[0]) == before, "the lie itself must work"
    # an index over packs is not used at all
    assert verdict(tmp_path, repo) == (expected if lie is swap_in_idx else SOUND)


@pytest.mark.parametrize("name", ["pack/multi-pack-index", "info/commit-graph"])
@pytest.mark.parametrize(
    "content", [b"", b"MIDX", b"CGPH\x01\x01\x01\x00" + bytes(100), bytes(5000)]
)
def test_indexes_that_are_damaged(
    name: str, content: bytes, pinned_repo: PinnedRepo, tmp_path: Path
) -> None:
    file = hostile.objects_of(pinned_repo) / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    assert verdict(tmp_path, pinned_repo) == SOUND


@pytest.mark.parametrize("suffix", [".pack", ".idx"])
@pytest.mark.parametrize("size", [0, 100, 1100])
def test_packs_cut_short(suffix: str, size: int, tmp_path: Path) -> None:
    repo = repos.packed(tmp_path / "repo")
    (file,) = (repo.path / ".git/objects/pack").glob(f"*{suffix}")
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:size])
    assert verdict(tmp_path, repo) == NO_COMMIT


def test_a_sound_copy_wins_over_a_damaged_one(tmp_path: Path) -> None:
    """A pack is looked into before loose objects, by git as by us."""
    repo = repos.packed(tmp_path / "repo")
    oid = repo.git("rev-parse", "HEAD:README.md")
    file = hostile.loose_file(hostile.objects_of(repo), oid)
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(zlib.compress(b"blob 27\0" + FORGED_CONTENT))
    assert verdict(tmp_path, repo) == SOUND


# --- trees ------------------------------------------------------------------------------------


def test_of_two_files_of_one_name_the_first_counts(pinned_repo: PinnedRepo) -> None:
    objects = hostile.objects_of(pinned_repo)
    first, second = (hostile.write_object(objects, "blob", text) for text in (b"1\n", b"2\n"))
    root = hostile.tree([("100644", "a", first), ("100644", "a", second)])
    repo = hostile.commit(pinned_repo, hostile.write_object(objects, "tree", root))
    assert repo.git("cat-file", "-p", f"{repo.commit}:a") == "1"
    with open_git(repo.path, repo.commit) as source:
        assert dict(source.blobs(["a"])) == {"a": Blob(first, b"1\n")}
        assert source.paths() == ("a",)


@pytest.mark.parametrize(
    ("mode", "kind"), [("40000", "blob"), ("100644", "tree"), ("100644", "commit")]
)
def test_an_entry_of_a_wrong_kind(
    mode: str, kind: str, pinned_repo: PinnedRepo, tmp_path: Path
) -> None:
    revision = {"blob": "HEAD:README.md", "tree": "HEAD^{tree}", "commit": "HEAD"}[kind]
    entry = (mode, "odd", pinned_repo.git("rev-parse", revision))
    readme = pinned_repo.git("rev-parse", "HEAD:README.md")
    repo = hostile.pin(pinned_repo, {"README.md": readme}, entry)
    path = "odd/README.md" if mode == "40000" else "odd"
    found = check(tmp_path / "site", repo, quoting((path, "Jotter"), TRUE))
    assert found.problems == [("blob-missing", "memory.md", 3)]
    assert f"is a {kind}, not a" in found.text
