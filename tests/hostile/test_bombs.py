"""Repositories that are small and mean to cost much: memory and time stay bounded."""

from __future__ import annotations

import itertools
import zlib
from pathlib import Path

import hostile_git as hostile
import pinned_repo as repos
import pytest
from hostile_git import MIB, check, check_measured, quoting
from pinned_repo import PinnedRepo

from sphinx_memreport.core.blobs import Absence, Blob, NoBlob, SourceUnavailable
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitstore import History, limits, open_git, resolve_commit

README = ("README.md", "Jotter keeps notes")
#: What checking takes without any attack is below half of this.
MEMORY_MIB = 500


@pytest.fixture
def repo(tmp_path: Path) -> PinnedRepo:
    return repos.bare(tmp_path / "repo")


def readme_and(repo: PinnedRepo, files: dict[str, str]) -> PinnedRepo:
    readme = repo.git("rev-parse", "main:README.md")
    return hostile.pin(repo, {"README.md": readme, **files})


# --- objects ----------------------------------------------------------------------------------


def test_gigabytes_are_not_read(repo: PinnedRepo, tmp_path: Path) -> None:
    """A blob of one; and a few bytes made from another, whose base git would unpack whole."""
    objects = hostile.objects_of(repo)
    small = write_delta(objects, 1024 * MIB)
    huge = hostile.write_zeros(objects, 1024 * MIB)
    bomb = readme_and(repo, {"huge.txt": huge, "small.txt": small})
    absence = ":::{memabsence} MEM-ABS-x\n:pattern: xyzzy\n:searched: huge.txt\n:::\n"
    passages = ("huge.txt", "anything"), ("small.txt", "anything"), README
    verdict, peak = check_measured(tmp_path / "site", bomb, quoting(*passages, more=absence))
    assert verdict.problems == [
        ("blob-missing", "memory.md", 3),
        ("blob-missing", "memory.md", 7),
        ("blob-missing", "memory.md", 15),
    ]
    assert "1,073,741,824 bytes, at most 67,108,864 are read" in verdict.text
    assert peak < MEMORY_MIB


def write_delta(objects: Path, size: int) -> str:
    """A blob of twelve bytes, made from one of another size that is in the same pack."""
    content, base = bytes(12), "1" * 40
    oid = hostile.object_id("blob", content)
    large = hostile.whole(base, "blob", size, hostile.deflated_zeros(size))
    hostile.write_pack(objects, [large, hostile.delta(oid, base, hostile.copying(size, 12))])
    return oid


def test_a_delta_that_is_no_bomb_is_read(repo: PinnedRepo) -> None:
    """So the test above fails for the right reason."""
    small = write_delta(hostile.objects_of(repo), MIB)
    pinned = readme_and(repo, {"small.txt": small})
    with open_git(pinned.path, pinned.commit) as source:
        assert dict(source.blobs(["small.txt"])) == {"small.txt": Blob(small, bytes(12))}


def test_a_long_chain_of_deltas(repo: PinnedRepo) -> None:
    """Each link copies all of the one before; git follows it without recursion."""
    links = 5000
    oids = [f"{number:040x}" for number in range(1, links)]
    content = b"x" * 100
    oids.append(hostile.object_id("blob", content))
    same = hostile.copying(100, 100)
    chain = [hostile.delta(oid, base, same) for base, oid in itertools.pairwise(oids)]
    first = hostile.whole(oids[0], "blob", 100, zlib.compress(content))
    hostile.write_pack(hostile.objects_of(repo), [first, *chain])
    pinned = readme_and(repo, {"chain.txt": oids[-1]})
    with open_git(pinned.path, pinned.commit) as source:
        assert dict(source.blobs(["chain.txt"])) == {"chain.txt": Blob(oids[-1], content)}


@pytest.mark.parametrize("kind", ["blob", "tree", "commit"])
def test_a_packed_object_that_inflates_to_more_than_it_says(repo: PinnedRepo, kind: str) -> None:
    content = {
        "blob": b"small\n",
        "tree": hostile.tree([("100644", "x", repo.git("rev-parse", "main:README.md"))]),
        "commit": b"tree " + b"4b825dc642cb6eb9a060e54bf8d69288fbee4904\n",
    }[kind]
    oid = hostile.object_id(kind, content)
    lying = hostile.whole(oid, kind, len(content), hostile.deflated_zeros(256 * MIB, content))
    hostile.write_pack(hostile.objects_of(repo), [lying])
    if kind == "commit":
        with pytest.raises(SourceUnavailable) as caught:
            open_git(repo.path, oid)
        assert caught.value.code is Code.COMMIT_MISSING
        return
    mode = "40000" if kind == "tree" else "100644"
    pinned = hostile.pin(repo, {}, (mode, "odd", oid))
    with open_git(pinned.path, pinned.commit) as source:
        ((_, found),) = source.blobs(["odd/x" if kind == "tree" else "odd"])
    assert isinstance(found, NoBlob)
    assert found.reason is Absence.LOST


def test_a_huge_commit_is_refused(repo: PinnedRepo, tmp_path: Path) -> None:
    root = repo.git("rev-parse", "main^{tree}")
    huge = hostile.commit(repo, root, bytes(20 * MIB))
    verdict = check(tmp_path / "site", huge, quoting(README))
    assert [code for code, *_ in verdict.problems] == ["commit-missing"]
    assert "at most 16,777,216 are read" in verdict.text


def test_a_huge_tree_is_refused(
    repo: PinnedRepo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MAX_TREE_BYTES", 1000)
    blob = repo.git("rev-parse", "main:README.md")
    huge = hostile.tree(("100644", f"{n:04}", blob) for n in range(100))
    pinned = hostile.pin(
        repo,
        {"README.md": blob},
        ("40000", "huge", hostile.write_object(hostile.objects_of(repo), "tree", huge)),
    )
    verdict = check(tmp_path / "site", pinned, quoting(("huge/0001", "Jotter"), README))
    assert verdict.problems == [("blob-missing", "memory.md", 3)]
    assert "at most 1,000 are read" in verdict.text


def test_a_long_row_of_tags(repo: PinnedRepo) -> None:
    objects, oid, kind = hostile.objects_of(repo), repo.commit, "commit"
    for number in range(2000):
        tag = f"object {oid}\ntype {kind}\ntag t{number}\ntagger A <a@b> 1 +0000\n\n"
        oid, kind = hostile.write_object(objects, "tag", tag.encode()), "tag"
    (repo.path / "refs/tags").mkdir(exist_ok=True)
    (repo.path / "refs/tags/long").write_text(oid + "\n")
    assert resolve_commit(repo.path, "long") == repo.commit
    with pytest.raises(SourceUnavailable, match="is a tag, not a commit"):
        open_git(repo.path, oid)


# --- many of them -----------------------------------------------------------------------------


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modes of every git that is started to read objects."""
    from sphinx_memreport.gitstore import process

    modes: list[str] = []
    start = process.CatFile.__init__

    def counted(self: object, home: object, mode: str, *rest: object) -> None:
        modes.append(mode)
        start(self, home, mode, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(process.CatFile, "__init__", counted)
    return modes


def test_damage_without_end_is_given_up(
    repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch, started: list[str]
) -> None:
    monkeypatch.setattr(limits, "MAX_FAILURES", 20)
    objects = hostile.objects_of(repo)
    tree = {f"{n:04}": hostile.write_object(objects, "blob", b"%d\n" % n) for n in range(300)}
    for oid in list(tree.values())[5:]:
        hostile.loose_file(objects, oid).write_bytes(zlib.compress(b"blob 5\0other"))
    repo = hostile.pin(repo, tree)
    with open_git(repo.path, repo.commit) as source:
        started.clear()
        found = dict(source.blobs(list(tree)))
    assert [path for path in tree if isinstance(found[path], Blob)] == list(tree)[:5]
    last = found["0299"]
    assert isinstance(last, NoBlob)
    assert last.reason is Absence.LOST
    assert "git failed at 20 objects before" in last.detail
    assert len(started) == 21  # and one for the names


def test_one_large_file_under_many_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[str]
) -> None:
    """All files together are bounded, too: a few kilobytes may be gigabytes otherwise."""
    monkeypatch.setattr(limits, "MAX_TOTAL_BYTES", 10_000)
    same = bytes(1000)
    repo = repos.bare(tmp_path / "repo", dict.fromkeys(map(str, range(100, 150)), same))
    with open_git(repo.path, repo.commit) as source:
        started.clear()
        found = [blob for _, blob in source.blobs(source.paths())]
    assert [isinstance(blob, Blob) for blob in found] == [True] * 10 + [False] * 40
    assert found[10] == NoBlob(Absence.TOO_LARGE, "10,000 bytes of other files were read before it")
    assert len(started) == 3


# --- trees ------------------------------------------------------------------------------------


def tree_bomb(repo: PinnedRepo, depth: int = 10, *, leaf: bool = True) -> PinnedRepo:
    """Ten to the power of ``depth`` paths, of as few tree objects as that."""
    objects = hostile.objects_of(repo)
    oid = repo.git("rev-parse", "main:README.md")
    mode = "100644" if leaf else "40000"
    if not leaf:
        oid = hostile.write_object(objects, "tree", b"")
    for _ in range(depth):
        entries = hostile.tree((mode, str(number), oid) for number in range(10))
        oid, mode = hostile.write_object(objects, "tree", entries), "40000"
    return hostile.commit(repo, oid)


BOMBED = "0/1/2/3/4/5/6/7/8/9"


def test_a_quote_from_a_tree_bomb_is_found_without_listing_it(
    repo: PinnedRepo, tmp_path: Path
) -> None:
    bomb = tree_bomb(repo)
    assert check(tmp_path / "site", bomb, quoting((BOMBED, "Jotter keeps notes"))).problems == []


@pytest.mark.parametrize(
    "pages",
    [
        quoting((BOMBED, "not there")),
        quoting(more=":::{memabsence} MEM-ABS-x\n:pattern: xyzzy\n:searched: 0/**\n:::\n"),
        quoting(more="{memsrc}`SRC-1:0/nothing`\n"),
    ],
    ids=["stale quote", "search", "path"],
)
def test_a_tree_bomb_is_not_listed(repo: PinnedRepo, tmp_path: Path, pages: dict[str, str]) -> None:
    verdict = check(tmp_path / "site", tree_bomb(repo), pages)
    assert verdict.problems == [("checkout-missing", "memreport.toml", 5)]
    assert "more than 2,000,000 names" in verdict.text


def test_a_bomb_of_empty_directories(repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_NAMES", 50_000)
    bomb = tree_bomb(repo, leaf=False)
    with open_git(bomb.path, bomb.commit) as source:
        for listing in (source.paths, source.lost, lambda: source.glob(["**"])):
            with pytest.raises(SourceUnavailable, match="more than 50,000 names") as caught:
                listing()
            assert caught.value.code is Code.CHECKOUT_MISSING


def test_a_tree_that_goes_down_for_ever(repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long paths of few names."""
    monkeypatch.setattr(limits, "MAX_PATH_BYTES", MIB)
    objects = hostile.objects_of(repo)
    oid = repo.git("rev-parse", "main^{tree}")
    for _ in range(2000):
        oid = hostile.write_object(objects, "tree", hostile.tree([("40000", "x" * 50, oid)]))
    deep = hostile.commit(repo, oid)
    with open_git(deep.path, deep.commit) as source:
        assert isinstance(dict(source.blobs(["x/README.md"]))["x/README.md"], NoBlob)
        path = ("x" * 50 + "/") * 2000 + "README.md"
        assert isinstance(dict(source.blobs([path]))[path], Blob)
        with pytest.raises(SourceUnavailable, match="1,048,576 bytes of them"):
            source.paths()


def test_no_history_is_made_of_a_tree_bomb(
    repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git itself would list it without end."""
    monkeypatch.setattr(limits, "MAX_NAMES", 50_000)
    bomb = tree_bomb(repo)
    with (
        open_git(bomb.path, repo.commits[0]) as old,
        open_git(bomb.path, bomb.commit) as new,
        History(old, new) as history,
    ):
        assert history.renames() == {}


def test_very_many_names_in_one_directory(repo: PinnedRepo, tmp_path: Path) -> None:
    count = 200_000
    objects = hostile.objects_of(repo)
    blob = repo.git("rev-parse", "main:README.md")
    names = [f"name-{number:06}" for number in range(count)]
    wide = hostile.tree(("100644", name, blob) for name in names)
    pinned = hostile.pin(repo, {}, ("40000", "wide", hostile.write_object(objects, "tree", wide)))
    pages = quoting(
        ("wide/name-000000", "Jotter keeps notes"),
        ("wide/name-199999", "Jotter keeps notes"),
        more="{memsrc}`SRC-1:wide/name-100000`\n",
    )
    verdict = check(tmp_path / "site", pinned, pages)
    assert (verdict.status, verdict.problems) == (0, [])
    with open_git(pinned.path, pinned.commit) as source:
        assert len(source.paths()) == count
