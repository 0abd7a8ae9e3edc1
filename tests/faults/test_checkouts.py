"""A checkout that changes while a build runs: the pin decides, or the author gets a problem."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pinned_repo import STORE, PinnedRepo, git, plain
from sitebuilder import TinySite

from sphinx_memreport import gitstore
from sphinx_memreport.core.models import Status
from sphinx_memreport.sphinx_ext.domain import mem_domain

PAGE = """\
# Memory

```{evidence} SRC-1 src/jotter/recall.py
scored.sort(key=lambda pair: pair[0], reverse=True)
```

```{evidence} SRC-1 src/jotter/store.py
self.notes.append(note)
```

```{evidence} SRC-1 src/jotter/store.py
self.notes.remove(note)
```

{memsrc}`README.md`
"""
STALE = ("stale-quote", "memory", 11)


def work_goes_on(repo: PinnedRepo) -> None:
    """Commits, another branch, and a work tree in which the stale quote would be found."""
    (repo.path / "src/jotter/store.py").write_bytes(STORE.replace(b"append", b"remove"))
    (repo.path / "src/jotter/recall.py").write_text("nothing\n")
    git(repo.path, "checkout", "--quiet", "-b", "other")
    git(repo.path, "-c", "user.name=J", "-c", "user.email=j@x", "commit", "--quiet", "-am", "More")


def packed(repo: PinnedRepo) -> None:
    git(repo.path, "repack", "-a", "-d", "--quiet")


def collected(repo: PinnedRepo) -> None:
    git(repo.path, "gc", "--prune=now", "--quiet")


def collected_without_the_pin(repo: PinnedRepo) -> None:
    """The branch goes back, and what no branch holds is thrown away."""
    git(repo.path, "reset", "--quiet", "--hard", repo.commits[0])
    git(repo.path, "reflog", "expire", "--expire=now", "--all")
    git(repo.path, "gc", "--prune=now", "--quiet")


def replaced_file(repo: PinnedRepo) -> None:
    """A replace ref has git show another file in place of the quoted one."""
    other = repo.path / "other.py"
    other.write_bytes(STORE.replace(b"append", b"remove"))
    blob = git(repo.path, "hash-object", "-w", str(other)).strip()
    git(repo.path, "replace", git(repo.path, "rev-parse", "HEAD:src/jotter/store.py").strip(), blob)


def _loose(repo: PinnedRepo, path: str) -> Path:
    oid = git(repo.path, "rev-parse", f"{repo.commit}:{path}").strip()
    return repo.path / ".git/objects" / oid[:2] / oid[2:]


def lost_file(repo: PinnedRepo) -> None:
    _loose(repo, "src/jotter/store.py").unlink()


def damaged_file(repo: PinnedRepo) -> None:
    file = _loose(repo, "src/jotter/store.py")
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-7])


def another_file_in_its_place(repo: PinnedRepo) -> None:
    """A valid object of git under the name of another."""
    file = _loose(repo, "src/jotter/store.py")
    file.chmod(0o644)
    file.write_bytes(_loose(repo, "README.md").read_bytes())


def lost_tree(repo: PinnedRepo) -> None:
    _loose(repo, "src").unlink()


def gone(repo: PinnedRepo) -> None:
    shutil.rmtree(repo.path)


def another_repository(repo: PinnedRepo) -> None:
    shutil.rmtree(repo.path)
    plain(repo.path, {"README.md": b"# Another\n"})


Change = Callable[[PinnedRepo], None]
HARMLESS: list[tuple[Change, str]] = [
    (work_goes_on, "reading"),
    (work_goes_on, "between files"),
    (packed, "opened"),
    (collected, "between files"),
    (replaced_file, "opened"),
]
#: With the codes that the author may get.
HARMFUL: dict[Change, set[str]] = {
    collected_without_the_pin: {"commit-missing", "blob-missing"},
    lost_file: {"blob-missing"},
    damaged_file: {"blob-missing"},
    another_file_in_its_place: {"blob-missing"},
    lost_tree: {"commit-missing", "blob-missing"},
    gone: {"checkout-missing", "commit-missing", "blob-missing"},
    another_repository: {"checkout-missing", "commit-missing", "blob-missing"},
}
#: A change late in a build is the harder one.
MOMENTS: list[tuple[Change, str]] = [
    *((change, "between files") for change in HARMFUL),
    *((change, "opened") for change in (collected_without_the_pin, damaged_file, gone)),
    (gone, "reading"),
]


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    site = TinySite(tmp_path / "site", pinned_repo)
    site.write({"memory.md": PAGE})
    return site


def at(moment: str, change: Callable[[], None], patch: pytest.MonkeyPatch) -> None:
    """Let a change happen once at a moment of the next build."""
    todo = [change]

    def strike() -> None:
        if todo:
            todo.pop()()

    if moment == "between files":
        blobs = gitstore.GitSource.blobs

        def interrupted(self: gitstore.GitSource, paths: list[str]) -> Iterator[object]:
            for found in blobs(self, paths):
                yield found
                strike()

        patch.setattr(gitstore.GitSource, "blobs", interrupted)
        return
    import sphinx_memreport.sphinx_ext.events as events
    import sphinx_memreport.verify as verify

    module, name = (events, "open_sources") if moment == "reading" else (verify, "resolve")
    original = getattr(module, name)

    def struck(*arguments: object) -> object:
        strike()
        return original(*arguments)

    patch.setattr(module, name, struck)


@pytest.mark.parametrize(("change", "moment"), HARMLESS)
def test_what_happens_around_the_pin_changes_nothing(
    site: TinySite,
    pinned_repo: PinnedRepo,
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
    moment: str,
) -> None:
    at(moment, lambda: change(pinned_repo), monkeypatch)
    built = site.build()
    assert built.problems == [STALE]
    assert site.build(cache="after").details == built.details


@pytest.mark.parametrize(("change", "moment"), MOMENTS)
def test_what_is_lost_is_a_problem_and_never_verified(
    site: TinySite,
    pinned_repo: PinnedRepo,
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
    moment: str,
) -> None:
    at(moment, lambda: change(pinned_repo), monkeypatch)
    built = site.build()
    codes = {code for code, _, _ in built.problems} - {"stale-quote"}
    statuses = _statuses(built.env)
    assert built.status == 1
    assert codes <= HARMFUL[change]
    # what was read before the change stays read; all else is unverified and said
    assert codes or statuses == [Status.VERIFIED, Status.VERIFIED, Status.STALE]
    assert statuses[2] is not Status.VERIFIED
    later = site.build(cache="after")
    assert {code for code, _, _ in later.problems} - {"stale-quote"} <= HARMFUL[change]
    assert {code for code, _, _ in later.problems} & HARMFUL[change]


def _statuses(env: object) -> list[Status]:
    site = mem_domain(env).site  # type: ignore[arg-type]
    return [site.resolution(each).status for each in site.evidence()]


def test_what_an_earlier_build_saw_at_the_pin_still_holds_when_the_checkout_is_gone(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    assert site.build().problems == [STALE]
    hidden = pinned_repo.path.rename(pinned_repo.path.with_name("hidden"))
    assert [code for code, _, _ in site.build().problems] == ["checkout-missing"]
    hidden.rename(pinned_repo.path)
    assert site.build().problems == [STALE]


def test_a_configuration_that_goes_while_the_build_runs_was_read_before(
    site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    at("reading", (site.source / "memreport.toml").unlink, monkeypatch)
    assert site.build().problems == [STALE]
    assert "does not exist" in site.build().warnings


def test_a_capture_that_changes_while_the_build_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import hashlib

    capture = b"The author saves notes.\n"
    site = TinySite(tmp_path / "site")
    toml = (
        '[reports.jotter]\ndirectory = "."\nsystem = "Jotter"\n'
        '[reports.jotter.sources.SRC-1]\nkind = "capture"\nidentity = "urn:x:post"\n'
        f'file = "post.txt"\nsha256 = "{hashlib.sha256(capture).hexdigest()}"\n'
        'layer = "reported operation"\n'
    )
    page = "# Post\n\n```{evidence} SRC-1\nThe author saves notes.\n```\n"
    site.write({"memreport.toml": toml, "post.txt": capture, "page.md": page})
    at("opened", lambda: site.write({"post.txt": b"Nothing is saved.\n"}), monkeypatch)
    assert site.build().problems == []
    assert [code for code, _, _ in site.build().problems] == ["capture-mismatch"]
