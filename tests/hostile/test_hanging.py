"""Files that never end, and a git that does not answer: a build says so, and goes on."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import hostile_git as hostile
import pinned_repo as repos
import pytest
from hostile_git import check, quoting
from pinned_repo import PinnedRepo
from sitebuilder import TinySite

from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.core.problems import Code
from sphinx_memreport.gitfetch import fetch_commit
from sphinx_memreport.gitstore import checkout, limits, open_git, process, resolve_commit

README = ("README.md", "Jotter keeps notes")
UNREADABLE = [("checkout-missing", "memreport.toml", 5)]


def fifo(file: Path) -> None:
    """A file whose opening waits for somebody who writes."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    os.mkfifo(file)


def socket(file: Path) -> None:
    file.unlink()
    os.mknod(file, stat.S_IFSOCK | 0o600)


def endless(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


# --- files that are none ----------------------------------------------------------------------


@pytest.mark.parametrize("make", [fifo, socket, endless])
@pytest.mark.parametrize("what", [":README.md", "^{tree}", "^{commit}"])
def test_a_loose_object_that_is_no_file(
    what: str, make: Callable[[Path], None], pinned_repo: PinnedRepo, tmp_path: Path
) -> None:
    file = repos.object_file(pinned_repo, what)
    make(file)
    verdict = check(tmp_path / "site", pinned_repo, quoting(README))
    assert verdict.problems == UNREADABLE
    assert "has something that is no file among its objects" in verdict.text
    assert file.relative_to(pinned_repo.path).as_posix() in verdict.text


@pytest.mark.parametrize("suffix", [".pack", ".idx"])
def test_a_pack_that_is_no_file(suffix: str, tmp_path: Path) -> None:
    repo = repos.packed(tmp_path / "repo")
    (file,) = (repo.path / ".git/objects/pack").glob(f"*{suffix}")
    fifo(file)
    assert check(tmp_path / "site", repo, quoting(README)).problems == UNREADABLE


@pytest.mark.parametrize("name", ["pack/multi-pack-index", "info/alternates", "info/commit-graph"])
def test_an_index_of_objects_that_is_no_file(
    name: str, pinned_repo: PinnedRepo, tmp_path: Path
) -> None:
    fifo(hostile.objects_of(pinned_repo) / name)
    assert check(tmp_path / "site", pinned_repo, quoting(README)).problems == UNREADABLE


@pytest.mark.parametrize(
    "name",
    [
        *("HEAD", "packed-refs", "refs/heads/main", "index", "config", "shallow", "commondir"),
        *("info/grafts", "info/attributes", "hooks/post-checkout", "config.worktree"),
    ],
)
def test_other_files_do_not_matter(name: str, pinned_repo: PinnedRepo, tmp_path: Path) -> None:
    fifo(pinned_repo.path / ".git" / name)
    assert check(tmp_path / "site", pinned_repo, quoting(README)).problems == []
    if name in ("HEAD", "refs/heads/main"):
        with pytest.raises(SourceUnavailable, match="does not name one commit"):
            resolve_commit(pinned_repo.path, "HEAD")
    else:
        assert resolve_commit(pinned_repo.path, "HEAD") == pinned_repo.commit


@pytest.mark.parametrize("name", [".git", ".git/worktrees/x/commondir"])
def test_a_pointer_that_is_no_file(name: str, tmp_path: Path) -> None:
    """The other one is of a linked work tree, and must be there for it to be one."""
    repo = repos.worktree(tmp_path / "x")
    file = repo.path / ".git" if name == ".git" else tmp_path / "x-main" / name
    fifo(file)
    assert check(tmp_path / "site", repo, quoting(README)).problems == UNREADABLE


def test_a_lender_with_something_that_is_no_file(tmp_path: Path) -> None:
    repo = repos.borrowing(tmp_path / "repo")
    fifo(tmp_path / "repo-lender/objects/pack/pack-1.idx")
    assert check(tmp_path / "site", repo, quoting(README)).problems == UNREADABLE


def test_nothing_is_fetched_into_such_a_checkout(pinned_repo: PinnedRepo, tmp_path: Path) -> None:
    origin = repos.bare(tmp_path / "origin", {"a.txt": b"a\n"})
    fifo(pinned_repo.path / ".git/objects/pack/pack-1.idx")
    with pytest.raises(SourceUnavailable, match="no file among its objects"):
        fetch_commit(pinned_repo.path, origin.path.as_uri(), origin.commit)


def test_references_in_a_circle(pinned_repo: PinnedRepo) -> None:
    heads = pinned_repo.path / ".git/refs/heads"
    (heads / "a").write_text("ref: refs/heads/b\n")
    (heads / "b").write_text("ref: refs/heads/a\n")
    for number in range(100):
        (heads / f"c{number}").write_text(f"ref: refs/heads/c{number + 1}\n")
    (heads / "c100").write_text(pinned_repo.commit)
    (heads / "long").write_bytes(b"ref: refs/heads/" + b"x" * 2_000_000)
    for name in ("a", "c0", "long"):
        with pytest.raises(SourceUnavailable) as caught:
            resolve_commit(pinned_repo.path, name)
        assert caught.value.code is Code.COMMIT_MISSING


def test_packed_references_of_no_hash(pinned_repo: PinnedRepo) -> None:
    (pinned_repo.path / ".git/packed-refs").write_text("1" * 50 + " refs/heads/odd\n")
    with pytest.raises(SourceUnavailable) as caught:
        resolve_commit(pinned_repo.path, "odd")
    assert caught.value.code is Code.COMMIT_MISSING


# --- a git that does not answer ---------------------------------------------------------------


@pytest.fixture
def unnoticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the file had been put there after we looked; and git may be silent less long."""
    monkeypatch.setattr(checkout, "_check_files", lambda *_: None)
    monkeypatch.setattr(limits, "PATIENCE", 0.4)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[process.CatFile]:
    """Every git that is started to read objects."""
    started: list[process.CatFile] = []
    start = process.CatFile.__init__

    def noted(self: process.CatFile, *arguments: object) -> None:
        start(self, *arguments)  # type: ignore[arg-type]
        started.append(self)

    monkeypatch.setattr(process.CatFile, "__init__", noted)
    return started


@pytest.mark.parametrize("what", [":README.md", ":src", "^{tree}", "^{commit}"])
@pytest.mark.usefixtures("unnoticed")
def test_a_git_that_does_not_answer_is_ended(
    what: str, pinned_repo: PinnedRepo, tmp_path: Path, processes: list[process.CatFile]
) -> None:
    fifo(repos.object_file(pinned_repo, what))
    passages = (("docs/crlf.md", "Line ends"), ("src/jotter/store.py", "class Store"), README)
    verdict = check(tmp_path / "site", pinned_repo, quoting(*passages))
    assert verdict.problems == UNREADABLE
    assert "git gave no answer for 0.4 seconds" in verdict.text
    assert "fsck" in verdict.text
    assert processes
    ended = [each._process.proc for each in processes]
    assert all(each is None or each.poll() is not None for each in ended)


@pytest.mark.usefixtures("unnoticed")
def test_a_silent_git_does_not_make_objects_absent(pinned_repo: PinnedRepo) -> None:
    fifo(repos.object_file(pinned_repo, "README.md"))
    with (
        open_git(pinned_repo.path, pinned_repo.commit) as source,
        pytest.raises(SourceUnavailable, match="git gave no answer"),
    ):
        source.lost()


def test_only_waiting_for_git_counts(pinned_repo: PinnedRepo) -> None:
    """What the reader of an answer does before it asks for the next may take long."""
    with open_git(pinned_repo.path, pinned_repo.commit) as source:
        for _ in source.blobs(source.paths()):
            (running,) = source._running
            assert running._git is not None
            assert running._git._waiting_since is None


def test_a_build_goes_on_without_the_source(tmp_path: Path) -> None:
    """Pages are written, and the other source is checked."""
    bad, good = repos.plain(tmp_path / "bad"), repos.plain(tmp_path / "good")
    fifo(repos.object_file(bad, "README.md"))
    site = TinySite(tmp_path / "site", bad)
    second = (
        f'[reports.jotter.sources.SRC-2]\nkind = "git"\ncheckout = "{good.path}"\n'
        f'repository = "https://github.com/example/good"\ncommit = "{good.commit}"\n'
    )
    config = (site.source / "memreport.toml").read_text() + second
    text = quoting(README)["memory.md"]
    other = text.replace("SRC-1", "SRC-2").replace("keeps", "loses")
    site.write({"memreport.toml": config, "memory.md": text, "other.md": other})
    built = site.build()
    assert built.problems == [*UNREADABLE, ("stale-quote", "other", 3)]
    assert built.status == 1
    assert "unverified" in built.text("memory")
