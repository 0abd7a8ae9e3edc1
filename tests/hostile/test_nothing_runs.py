"""Checkouts full of commands, and the author's own shell: nothing runs, nothing outside is read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pinned_repo as repos
import pytest
from cli_project import run
from hostile_git import Canary, check, quoting
from pinned_repo import PinnedRepo, Symlink, Tree
from sitebuilder import TinySite

from sphinx_memreport.core.blobs import SourceUnavailable
from sphinx_memreport.gitfetch import fetch_commit

README = ("README.md", "Jotter keeps notes")
ATTRIBUTES = b"* filter=spy diff=spy merge=spy text eol=crlf ident export-subst\n"
MODULES = b"""\
[submodule "vendor/engine"]
\tpath = vendor/engine
\turl = ext::%b
\tupdate = !%b
"""
HOOKS = (
    *("post-checkout", "pre-commit", "post-merge", "pre-auto-gc", "post-rewrite"),
    *("reference-transaction", "post-index-change", "fsmonitor-watchman", "pre-push"),
)
COMMANDS = (
    *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.askPass"),
    *("core.gitProxy", "core.alternateRefsCommand", "credential.helper", "gpg.program"),
    *("uploadpack.packObjectsHook", "diff.external", "interactive.diffFilter"),
    *("filter.spy.smudge", "filter.spy.clean", "filter.spy.process", "diff.spy.textconv"),
    *("diff.spy.command", "merge.spy.driver", "pager.cat-file", "pager.log", "alias.log"),
    *("alias.cat-file", "remote.origin.uploadpack", "remote.origin.vcs", "sequence.editor"),
)


@pytest.fixture
def canary(tmp_path: Path) -> Canary:
    return Canary(tmp_path)


def armed(path: Path, canary: Canary) -> PinnedRepo:
    """A repository in which every setting that can be a command is one."""
    command = str(canary.command)
    tree: Tree = {
        **repos.SECOND,
        ".gitattributes": ATTRIBUTES,
        ".gitmodules": MODULES % (command.encode(), command.encode()),
        "ident.txt": b"$Id$ is kept as it is\n",
    }
    repo = repos.plain(path, {"old.txt": b"old\n"}, tree)
    hooks = path.parent / "hooks"
    for folder in (hooks, path / ".git/hooks"):
        folder.mkdir(exist_ok=True)
        for name in HOOKS:
            (folder / name).symlink_to(canary.command)
    included = path.parent / "included"
    settings = dict.fromkeys(COMMANDS, command) | {
        "core.hooksPath": str(hooks),
        "core.worktree": str(path.parent),
        "core.attributesFile": str(path.parent / "attributes"),
        "remote.origin.url": f"ext::{command}",
        "remote.origin.promisor": "true",
        "protocol.allow": "always",
        "submodule.recurse": "true",
        "log.showSignature": "true",
        "extensions.worktreeConfig": "true",
        "extensions.partialClone": "origin",
    }
    for file in (included, path / ".git/config.worktree"):
        for name, value in settings.items():
            repos.git(path.parent, "config", "--file", str(file), name, value)
    repo.git("config", "include.path", str(included))
    (path / ".git/info").mkdir(exist_ok=True)
    (path / ".git/info/attributes").write_bytes(ATTRIBUTES)
    return repo


EVERYTHING = quoting(
    README,
    ("ident.txt", "$Id$ is kept"),
    ("vendor/engine", "anything"),
    ("assets/model.bin", "oid sha256"),
    more=":::{memabsence} MEM-ABS-x\n:pattern: xyzzy\n:searched: src/**\n:::\n",
)
FOUND = [("path-missing", "memory", 11), ("blob-missing", "memory", 15)]


def test_a_checkout_in_which_everything_is_a_command(tmp_path: Path, canary: Canary) -> None:
    repo = armed(tmp_path / "repo", canary)
    site = TinySite(tmp_path / "site", repo)
    assert site.build(EVERYTHING).problems == FOUND
    config = site.source / "memreport.toml"
    for status, arguments in (
        (1, ("check", "--site", site.source)),
        (0, ("status", "--config", config)),
        (1, ("repin", "jotter", "SRC-1", repo.commits[0], "--site", site.source)),
        (0, ("quote", "SRC-1", "README.md", "1", "--config", config)),
    ):
        result = run(*arguments)
        assert result.exit_code == status, result.output
    assert not canary.ran
    plain_git(repo, "status")
    assert canary.ran, "the trap itself must work"


def plain_git(repo: PinnedRepo, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """git as anybody would run it in the checkout."""
    return subprocess.run(["git", "-C", repo.path, *arguments], capture_output=True, check=False)


def test_an_object_that_a_partial_clone_lacks_is_not_fetched(tmp_path: Path) -> None:
    """Not even where it could be had, without any trap."""
    origin = repos.plain(tmp_path / "origin")
    origin.git("config", "uploadpack.allowAnySHA1InWant", "true")
    repo = repos.partial(tmp_path / "repo", "README.md")
    repo.git("config", "remote.origin.url", origin.path.as_uri())
    repo.git("config", "extensions.partialClone", "origin")
    repo.git("config", "core.repositoryFormatVersion", "1")
    for pack in (repo.path / ".git/objects/pack").glob("*.pack"):
        pack.with_suffix(".promisor").touch()
    verdict = check(tmp_path / "site", repo, quoting(README, ("docs/crlf.md", "Line ends")))
    assert verdict.problems == [("blob-missing", "memory.md", 3)]
    assert verdict == check(
        tmp_path / "again", repo, quoting(README, ("docs/crlf.md", "Line ends"))
    )
    assert plain_git(repo, "cat-file", "-p", "HEAD:README.md").returncode == 0, "it can be had"


def test_the_shell_of_the_author(
    pinned_repo: PinnedRepo, tmp_path: Path, canary: Canary, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = str(canary.command)
    other = repos.bare(tmp_path / "other", {"README.md": b"Jotter forgets.\n"})
    for name in ("DIR", "COMMON_DIR", "WORK_TREE", "INDEX_FILE", "GRAFT_FILE", "NAMESPACE"):
        monkeypatch.setenv(f"GIT_{name}", str(other.path))
    for name in ("OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES"):
        monkeypatch.setenv(f"GIT_{name}", str(other.path / "objects"))
    for name in (
        "EXTERNAL_DIFF",
        "SSH",
        "SSH_COMMAND",
        "PAGER",
        "EDITOR",
        "ASKPASS",
        "PROXY_COMMAND",
    ):
        monkeypatch.setenv(f"GIT_{name}", command)
    for name in ("TRACE", "TRACE_SETUP", "TRACE_PACKET", "TRACE2", "TRACE2_EVENT", "TRACE2_PERF"):
        monkeypatch.setenv(f"GIT_{name}", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_EXEC_PATH", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", command)
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor={command}'")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global"))
    (tmp_path / "global").write_text(f"[core]\n\tfsmonitor = {command}\n[trace2]\n\tnormalTarget = "
                                     f"{tmp_path / 'trace'}\n")  # fmt: skip
    pages = quoting(README, ("README.md", "Jotter forgets"))
    assert check(tmp_path / "site", pinned_repo, pages).problems == [
        ("stale-quote", "memory.md", 7)
    ]
    assert not canary.ran
    assert not (tmp_path / "trace").exists()


# --- what lies outside ------------------------------------------------------------------------


def test_symbolic_links_are_not_followed(tmp_path: Path) -> None:
    """Neither those of the tree nor those of the work tree, to files or to folders."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text("a secret of somebody\n")
    tree: Tree = {
        "README.md": repos.SECOND["README.md"],
        "absolute": Symlink(str(outside / "secret.txt")),
        "relative": Symlink("../outside/secret.txt"),
        "folder": Symlink(str(outside)),
        "inside": Symlink("README.md"),
    }
    repo = repos.plain(tmp_path / "repo", tree)
    (repo.path / "README.md").unlink()
    (repo.path / "README.md").symlink_to(outside / "secret.txt")
    secret = "a secret of somebody"
    paths = ("absolute", "relative", "folder/secret.txt", "../outside/secret.txt", "README.md")
    site = TinySite(tmp_path / "site", repo)
    pages = quoting(*((path, secret) for path in paths), ("inside", "Jotter"), README)
    built = site.build(pages, memreport_report={"json": "problems.json"})
    codes = ["path-missing"] * 4 + ["stale-quote", "path-missing"]
    assert built.problems == [(code, "memory", 3 + 4 * n) for n, code in enumerate(codes)]
    said = [line for problem in built.details[:5] for line in problem.details]
    assert not [line for line in said if "the quote stands in" in line]  # as if it had been seen


def test_a_pointer_to_another_repository_gives_only_what_the_pin_names(tmp_path: Path) -> None:
    """``.git`` files and alternates may lead anywhere: the hash decides."""
    private = repos.bare(tmp_path / "private", {"secret.txt": b"a secret of somebody\n"})
    repo = repos.plain(tmp_path / "repo")
    (tmp_path / "gone").mkdir()
    (repo.path / ".git").rename(tmp_path / "gone/.git")
    (repo.path / ".git").write_text(f"gitdir: {private.path}\n")
    pages = quoting(("secret.txt", "a secret of somebody"))
    assert [code for code, *_ in check(tmp_path / "site", repo, pages).problems] == [
        "commit-missing"
    ]


def test_a_repository_of_somebody_else(tmp_path: Path) -> None:
    """git refuses to obey its settings; we have no use for them, so it can be read."""
    if not hasattr(os, "getuid") or os.getuid() != 0:
        pytest.skip("only root can give files away")
    repo = repos.plain(tmp_path / "repo")
    for path in (repo.path, *repo.path.rglob("*")):
        os.chown(path, 12345, 12345, follow_symlinks=False)
    refused = plain_git(repo, "log")
    assert b"dubious ownership" in refused.stderr, "the trap itself must work"
    pages = quoting(README, ("README.md", "not there"))
    assert check(tmp_path / "site", repo, pages).problems == [("stale-quote", "memory.md", 7)]
    assert run("status", "--config", tmp_path / "site/source/memreport.toml").exit_code == 0


# --- fetching ---------------------------------------------------------------------------------


def test_nothing_is_written_through_a_link(pinned_repo: PinnedRepo, tmp_path: Path) -> None:
    """Objects are fetched into the object directory, and not into where its folder leads."""
    origin = repos.bare(tmp_path / "origin", {"a.txt": b"a\n"})
    outside = tmp_path / "outside"
    outside.mkdir()
    pack = pinned_repo.path / ".git/objects/pack"
    if pack.exists():
        pack.rmdir()
    pack.symlink_to(outside)
    with pytest.raises(SourceUnavailable, match="has a link for objects/pack"):
        fetch_commit(pinned_repo.path, origin.path.as_uri(), origin.commit)
    assert list(outside.iterdir()) == []


def test_fetching_into_a_checkout_in_which_everything_is_a_command(
    tmp_path: Path, canary: Canary
) -> None:
    origin = repos.bare(tmp_path / "origin", {"a.txt": b"a\n"})
    mine = armed(tmp_path / "mine", canary)
    fetch_commit(mine.path, origin.path.as_uri(), origin.commit)
    assert not canary.ran


def test_fetching_from_a_repository_in_which_everything_is_a_command(
    tmp_path: Path, canary: Canary
) -> None:
    """On this machine it is served by git running there."""
    origin = armed(tmp_path / "origin", canary)
    fetch_commit(tmp_path / "mine", origin.path.as_uri(), origin.commit)
    assert not canary.ran


URLS: dict[str, Callable[[Canary], str]] = {
    "helper": lambda canary: f"ext::{canary.command}",
    "helper with arguments": lambda canary: f"ext::sh -c {canary.command}% ",
    "helper of a path": lambda canary: f"{canary.command}::x",
    "file descriptor": lambda _: "fd::0",
    "option": lambda canary: f"--upload-pack={canary.command}",
    "short option": lambda canary: f"-u{canary.command}",
    "option for ssh": lambda canary: f"ssh://-oProxyCommand={canary.command}/x",
    "option for ssh after a user": lambda canary: f"ssh://a@-oProxyCommand={canary.command}/x",
    "scp with an option": lambda canary: f"-oProxyCommand={canary.command}:x",
    "line break": lambda canary: f"https://example.invalid/x\n--upload-pack={canary.command}",
    "shell": lambda canary: f"file:///$({canary.command})`{canary.command}`;{canary.command}",
}


@pytest.mark.parametrize("name", URLS)
def test_urls_that_are_commands(name: str, tmp_path: Path) -> None:
    canary = Canary(tmp_path)
    url = URLS[name](canary)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(SourceUnavailable):
        fetch_commit(tmp_path / "mine", url, repos.COMMITS[0])
    assert not canary.ran
    assert sorted(tmp_path.iterdir()) == before
