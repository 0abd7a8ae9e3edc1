"""``memreport repin``: what a moved pin does to a report, and the edits that are safe."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cli_project import run
from click.testing import Result
from pinned_repo import PinnedRepo, Tree, bare, git, plain
from sitebuilder import TinySite, report_toml

from sphinx_memreport.gitstore import History, NoRemoval, Removal, open_git, resolve_commit

EXAMPLE = Path(__file__).resolve().parents[2] / "example_report"
KEPT = b"def keep(note):\n    return store(note)\n"
RECALL = b"".join(b"step_%d(query)\n" % number for number in range(20))
EDITED = b"def rank(notes):\n    return sorted(notes, key=age, reverse=True)\n"
GONE = b"def forget(note):\n    archive.remove(note)\n    journal.write(note)\n"
TWICE = b"def one():\n    return x\n\ndef two():\n    return x\n"

OLD: Tree = {
    "src/keep.py": KEPT,
    "src/moved.py": b"first = 1\nsecond = 2\n",
    "src/recall.py": RECALL,
    "src/rank.py": EDITED,
    "src/forget.py": b"import os\n" + GONE + b"end = os.sep\n",
    "src/twice.py": TWICE,
    "old/file.txt": b"".join(b"line %d of it\n" % number for number in range(20)),
    "notes/a.txt": b"alone\n" * 9,
    "notes/b.txt": b"other words\n" * 9,
}
#: The commit between: what is gone goes here.
MIDDLE: Tree = {**OLD, "src/forget.py": b"import os\nend = os.sep\n"}
NEW: Tree = {
    "src/keep.py": KEPT,
    "src/moved.py": b"# a\n# new\n# head\nfirst = 1\nsecond = 2\n",
    "lib/remember.py": b"# renamed\n" + RECALL,
    "src/rank.py": EDITED.replace(b"key=age", b"key=score"),
    "src/forget.py": b"import os\nend = os.sep\n",
    "src/twice.py": b"# head\n" + TWICE,
    "new/file.txt": OLD["old/file.txt"],  # type: ignore[dict-item]
    "src/extra.py": b"delete_everything()\n",
}

MEMORY = """\
# Memory

```{memmember} memory
```

:::{memobject} MEM-OBJ-kept — Kept

```{evidence} SRC-1 src/keep.py
return store(note)
```
:::

:::{memobject} MEM-OBJ-moved — Moved

```{evidence} SRC-1 src/moved.py
:lines: 2

second = 2
```

```{evidence} src/moved.py
first = 1
```
:::

:::{memobject} MEM-OBJ-renamed — Renamed

See {memsrc}`src/recall.py#L3-L4` and {memsrc}`the file <SRC-1:old/file.txt>`.

```{evidence} SRC-1 src/recall.py
:lines: 1-3

step_2(query)
```
:::

:::{memobject} MEM-OBJ-edited — Edited

```{evidence} SRC-1 src/rank.py
return sorted(notes, key=age, reverse=True)
```
:::

:::{memobject} MEM-OBJ-gone — Gone

Rests on {memsrc}`notes`.

```{evidence} SRC-1 src/forget.py
archive.remove(note)
    journal.write(note)
```
:::

:::{memobject} MEM-OBJ-twice — Twice

```{evidence} SRC-1 src/twice.py
:lines: 5

return x
```
:::

:::{memclaim} MEM-CLM-order — Order
Follows from MEM-OBJ-edited and MEM-OBJ-gone.
:::

:::{memabsence} MEM-ABS-delete — Nothing is deleted
:searched: src/**
:pattern: delete_
:::

:::{memabsence} MEM-ABS-note — No network
:searched: src/**
:pattern: socket
:::

```{memcoverage}
- entry: Recall
  direct: [src/recall.py, old/]
  records: [MEM-OBJ-renamed]
- entry: Notes
  search: notes/a.txt
  records: MEM-OBJ-kept
```
"""
#: Line, kind and class of everything that is not unchanged.
CLASSES = [
    (15, "quote", "moved"),
    (21, "quote", "moved"),
    (28, "path", "renamed"),
    (28, "path", "renamed"),
    (30, "quote", "renamed"),
    (39, "quote", "edited"),
    (46, "path", "gone"),
    (48, "quote", "gone"),
    (56, "quote", "moved"),
    (67, "search", "edited"),
    (78, "path", "renamed"),
    (78, "path", "renamed"),
    (81, "path", "gone"),
]
LOST = [(39, "stale-quote"), (46, "path-missing"), (48, "stale-quote")]
LOST += [(67, "refuted-absence"), (81, "path-missing")]
#: The lines that the diff takes away and adds.
DIFF = """\
--- a/memory.md
+++ b/memory.md
-:lines: 2
+:lines: 5
-See {memsrc}`src/recall.py#L3-L4` and {memsrc}`the file <SRC-1:old/file.txt>`.
+See {memsrc}`lib/remember.py#L4-L5` and {memsrc}`the file <SRC-1:new/file.txt>`.
-```{evidence} SRC-1 src/recall.py
-:lines: 1-3
+```{evidence} SRC-1 lib/remember.py
+:lines: 4
-:lines: 5
+:lines: 6
-  direct: [src/recall.py, old/]
+  direct: [lib/remember.py, new/]
--- a/memreport.toml
+++ b/memreport.toml
-commit = "OLD"
+commit = "NEW"
"""


@pytest.fixture
def repo(tmp_path: Path) -> PinnedRepo:
    """Three commits, of which the report is pinned to the first."""
    repo = plain(tmp_path / "jotter", OLD, MIDDLE, NEW)
    repo.git("tag", "-a", "v2", "-m", "Two", repo.commit)
    return repo


@pytest.fixture
def site(tmp_path: Path, repo: PinnedRepo) -> TinySite:
    site = TinySite(tmp_path / "site")
    toml = report_toml(PinnedRepo(repo.path, repo.commits[:1]))
    site.write({"memory.md": MEMORY, "memreport.toml": toml})
    return site


def repin(site: TinySite, *arguments: str) -> Result:
    result = run("repin", "jotter", "SRC-1", *arguments, "--site", site.source)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def plan(site: TinySite, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(repin(site, *arguments, "--json").stdout)
    return found


def check(site: TinySite) -> list[tuple[int, str]]:
    """Line and code of every problem of memory.md."""
    problems = json.loads(run("check", "--site", site.source, "--format", "json").stdout)
    assert {each["file"] for each in problems} <= {"memory.md"}
    return [(each["line"], each["code"]) for each in problems]


def classes(found: Mapping[str, Any]) -> list[tuple[int, str, str]]:
    return [
        (item["line"], item["kind"], item["fate"]["change"])
        for item in found["items"]
        if item["fate"]["change"] != "unchanged"
    ]


def files(site: TinySite) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in site.source.iterdir() if path.is_file()}


# --- what is said -------------------------------------------------------------------------


def test_every_class(site: TinySite, repo: PinnedRepo) -> None:
    assert check(site) == []
    found = plan(site, "v2")
    assert (found["old"], found["new"]) == (repo.commits[0], repo.commit)
    assert classes(found) == CLASSES
    unchanged = [item["line"] for item in found["items"] if item["fate"]["change"] == "unchanged"]
    assert unchanged == [8, 72]
    assert [item["left"] for item in found["items"] if item["left"]] == []


def test_what_is_lost_comes_with_its_reason(site: TinySite, repo: PinnedRepo) -> None:
    lost = {item["line"]: item for item in plan(site, "v2")["items"]}
    edited = lost[39]["fate"]["finding"]["details"]
    assert any("key=[-age-]{+score+}" in detail for detail in edited)
    assert lost[48]["removed"] == f"removed by {repo.commits[1][:12]} (Commit 2)"
    assert lost[81]["removed"] == f"removed by {repo.commits[2][:12]} (Commit 3)"
    assert "src/extra.py:1" in lost[67]["fate"]["finding"]["details"][0]


def test_records_that_rest_on_what_is_lost(site: TinySite) -> None:
    assert plan(site, "v2")["resting"] == {
        "MEM-ABS-delete": [],
        "MEM-OBJ-edited": ["MEM-CLM-order"],
        "MEM-OBJ-gone": ["MEM-CLM-order"],
        "MEM-OBJ-kept": [],
    }


def test_text(site: TinySite, repo: PinnedRepo) -> None:
    result = repin(site, "v2")
    assert result.exit_code == 1
    old, new = repo.commits[0], repo.commit
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        f"jotter SRC-1: {old} -> {new} (v2)",
        "2 unchanged, 3 moved, 5 renamed, 2 edited, 3 gone",
    ]
    for line in (
        f"  {site.source}/memory.md:15: src/moved.py:2 -> src/moved.py:5",
        f"  {site.source}/memory.md:30: src/recall.py:3 -> lib/remember.py:4",
        f"  {site.source}/memory.md:67: searched in src/**",
        "  MEM-OBJ-gone, cited by MEM-CLM-order",
    ):
        assert line in lines


def test_the_diff_is_what_write_does(
    site: TinySite, repo: PinnedRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site.source)
    before = files(site)
    said = repin(site, "v2").stdout
    diff = said[said.index("--- a/memory.md") :]
    changed = "".join(f"{line}\n" for line in diff.splitlines() if line.startswith(("-", "+")))
    assert changed == DIFF.replace("OLD", repo.commits[0]).replace("NEW", repo.commit)
    assert plan(site, "v2")["diff"] == diff
    assert files(site) == before
    # git takes it with all that stands before it
    git(site.source, "apply", "--unsafe-paths", stdin=said.encode())
    applied = files(site)
    site.write(before)
    result = repin(site, "v2", "--write")
    assert result.exit_code == 1
    assert files(site) == applied


@pytest.mark.parametrize("name", ["memory.md", "memreport.toml"])
def test_nothing_is_written_through_a_link_out_of_the_site(site: TinySite, name: str) -> None:
    outside = site.root / name
    (site.source / name).rename(outside)
    (site.source / name).symlink_to(outside)
    before = outside.read_bytes()
    result = repin(site, "v2", "--write")
    assert result.exit_code == 2
    assert f"{name} leads out of" in result.stderr
    assert outside.read_bytes() == before
    assert (site.source / name).is_symlink()


def test_a_configuration_may_lie_elsewhere(site: TinySite) -> None:
    (site.source / "memreport.toml").rename(site.root / "elsewhere.toml")
    conf = (site.source / "conf.py").read_text("utf-8")
    site.write({"conf.py": f'{conf}memreport_config = "../elsewhere.toml"\n'})
    before = (site.root / "elsewhere.toml").read_bytes()
    assert repin(site, "v2", "--write").exit_code == 1
    assert (site.root / "elsewhere.toml").read_bytes() != before


def test_after_write_a_check_says_what_is_lost_and_nothing_else(site: TinySite) -> None:
    found = plan(site, "v2", "--write")
    assert found["written"]
    lost = [item for item in found["items"] if item["fate"]["change"] in ("edited", "gone")]
    said = [(item["line"], item["fate"]["finding"]["code"]) for item in lost]
    assert check(site) == said == LOST
    built = site.build()
    assert [(line, code) for code, _, line in built.problems] == LOST
    again = plan(site, "v2")
    assert again["diff"] == ""
    assert [item["line"] for item in again["items"] if item["needs_edit"]] == []


def test_nothing_is_left_to_do(site: TinySite, repo: PinnedRepo) -> None:
    site.write({"memory.md": MEMORY[: MEMORY.index(":::{memobject} MEM-OBJ-edited")]})
    result = repin(site, repo.commit[:10], "--write")
    assert result.exit_code == 0
    assert check(site) == []


# --- files --------------------------------------------------------------------------------


def test_files_keep_line_ends_and_byte_order_marks(site: TinySite) -> None:
    toml = (site.source / "memreport.toml").read_text()
    commented = "# ours\n" + toml.replace("commit =", "commit   =").replace(
        '"\ncheckout', "\"  # the pin, don't touch\ncheckout"
    )
    crlf = {
        "memory.md": "\ufeff" + MEMORY.replace("\n", "\r\n"),
        "memreport.toml": commented.replace("\n", "\r\n"),
    }
    site.write(crlf)
    old, new = (plan(site, "v2", "--write")[key] for key in ("old", "new"))
    after = files(site)
    assert after["memreport.toml"].decode() == crlf["memreport.toml"].replace(old, new)
    memory = after["memory.md"].decode()
    assert memory.startswith("\ufeff# Memory\r\n")
    assert memory.count("\r\n") == memory.count("\n") == MEMORY.count("\n")
    assert check(site) == LOST


@pytest.mark.parametrize("quote", ['"', "'"])
@pytest.mark.parametrize("form", ["table", "inline", "dotted", "apart"])
def test_forms_of_the_configuration(
    site: TinySite, repo: PinnedRepo, form: str, quote: str
) -> None:
    keys = {
        "kind": "git",
        "repository": "https://github.com/example/jotter",
        "commit": repo.commits[0],
        "checkout": repo.path.as_posix(),
    }
    values = {name: f"{quote}{value}{quote}" for name, value in keys.items()}
    head = '[reports.jotter]\ndirectory = "."\nsystem = "Jotter"\n'
    other = '[reports.other]\ndirectory = "other"\nsystem = "Other"\n'
    body = "".join(f"{name} = {value}\n" for name, value in values.items())
    inline = ", ".join(f"{name} = {value}" for name, value in values.items())
    toml = {
        "table": head + "[reports.jotter.sources.SRC-1]\n" + body,
        "inline": head + f"sources = {{ SRC-1 = {{ {inline} }} }} # all in one\n" + other,
        "dotted": head
        + "".join(f"sources.SRC-1.{name} = {value}\n" for name, value in values.items()),
        "apart": "[reports.jotter.sources.SRC-1]\n" + body + other + head,
    }[form]
    site.write({"memreport.toml": toml})
    assert repin(site, "v2", "--write").exit_code == 1
    after = (site.source / "memreport.toml").read_text()
    assert after == toml.replace(repo.commits[0], repo.commit)


def test_only_this_pin_moves(site: TinySite, repo: PinnedRepo) -> None:
    toml = (site.source / "memreport.toml").read_text()
    other = report_toml(PinnedRepo(repo.path, repo.commits[:1]), "other", directory="other")
    site.write(
        {
            "memreport.toml": toml + other,
            "other/page.md": "# Other\n\n{memsrc}`old/file.txt`\n",
        }
    )
    found = plan(site, "v2", "--write")
    assert {item["docname"] for item in found["items"]} == {"memory"}
    after = (site.source / "memreport.toml").read_text()
    assert (after.count(repo.commits[0]), after.count(repo.commit)) == (1, 1)
    assert check(site) == LOST


def test_what_cannot_be_edited_is_left_and_said(site: TinySite) -> None:
    evidence = "```{evidence} SRC-1 src/recall.py\nstep_2(query)\n```\n"
    conf = (site.source / "conf.py").read_text()
    site.write(
        {
            "conf.py": conf + 'exclude_patterns = ["*.inc.md"]\n',
            "part.inc.md": evidence,
            "memory.md": "# M\n\n```{include} part.inc.md\n```\n",
        }
    )
    found = plan(site, "v2", "--write")
    assert [(item["fate"]["change"], bool(item["left"])) for item in found["items"]] == [
        ("renamed", True)
    ]
    assert repin(site, "v2").exit_code == 1
    assert (site.source / "part.inc.md").read_text() == evidence
    assert [code for _, code in check(site)] == ["path-missing"]


def test_the_old_commit_in_the_text_is_listed(site: TinySite, repo: PinnedRepo) -> None:
    site.write({"memory.md": f"# M\n\nRead at {repo.commits[0]}.\n"})
    found = plan(site, "v2", "--write")
    assert found["mentions"] == [{"docname": "memory", "line": 3}]
    assert check(site) == [(3, "foreign-commit")]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
@pytest.mark.parametrize("calls", [0, 1])
def test_an_interrupted_write_leaves_each_file_old_or_new(
    site: TinySite,
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    calls: int,
) -> None:
    before = files(site)
    done: list[object] = []
    replace = os.replace

    def failing(source: str, target: str) -> None:
        if Path(target).parent == site.source.resolve():
            if len(done) == calls:
                raise error
            done.append(target)
        replace(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", failing)
        result = repin(site, "v2", "--write")
    assert result.exit_code == (130 if isinstance(error, KeyboardInterrupt) else 2)
    after = files(site)
    assert after.keys() == before.keys()
    assert [name for name in before if after[name] != before[name]] == ["memory.md"][:calls]
    # the pin comes last, so the same command goes on where it was
    repin(site, "v2", "--write")
    assert check(site) == LOST


# --- commits ------------------------------------------------------------------------------


def test_names_of_commits(repo: PinnedRepo, tmp_path: Path) -> None:
    first, middle, new = repo.commits
    repo.git("update-ref", "refs/remotes/origin/main", middle)
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    repo.git("tag", "plain", first)
    names = {"v2": new, "v2~1": middle, "main^^": first, "HEAD": new, "origin/main": middle}
    names |= {"refs/tags/plain": first, "plain": first, new[:7]: new, new.upper(): new}
    names |= {"@": new, "origin/HEAD": middle}
    for packed in (False, True):
        if packed:
            repo.git("pack-refs", "--all")
        assert {name: resolve_commit(repo.path, name) for name in names} == names
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "--detach", str(linked), middle)
    assert resolve_commit(linked, "HEAD") == middle
    assert resolve_commit(linked, "v2") == new


@pytest.mark.parametrize(
    "name", ["nope", "-x", "--all", "../../HEAD", "", "a b", "v2^{tree}", "v2~9", "\ud800", ":/x"]
)
def test_what_names_no_commit(site: TinySite, repo: PinnedRepo, name: str) -> None:
    result = run("repin", "--site", site.source, "jotter", "SRC-1", "--", name)
    assert result.exit_code == 3
    assert "commit-missing" in result.stderr
    assert f"git -C {repo.path} fetch" in result.stderr


def test_a_commit_that_is_not_in_the_checkout(site: TinySite, repo: PinnedRepo) -> None:
    result = repin(site, "1" * 40, "--write")
    assert result.exit_code == 3
    # 'memreport fetch' brings what is pinned, which this commit is not
    branches = "'+refs/heads/*:refs/remotes/origin/*'"
    fetch = f"git -C {repo.path} fetch --tags https://github.com/example/jotter {branches}"
    assert fetch in result.stderr
    assert repo.commits[0] in (site.source / "memreport.toml").read_text()


def test_wrong_use(site: TinySite) -> None:
    assert run("repin", "nobody", "SRC-1", "v2", "--site", site.source).exit_code == 2
    assert run("repin", "jotter", "SRC-9", "v2", "--site", site.source).exit_code == 2
    site.write({"memreport.toml": "[reports.jotter]\n"})
    assert repin(site, "v2").exit_code == 2


# --- history ------------------------------------------------------------------------------


def test_a_shallow_checkout_has_no_history(site: TinySite, repo: PinnedRepo) -> None:
    clone = repo.path.parent / "shallow"
    git(repo.path.parent, "init", "-q", "--bare", str(clone))
    for commit in (repo.commits[0], repo.commits[2]):
        git(clone, "fetch", "-q", "--depth=1", repo.path.as_uri(), commit)
    toml = (site.source / "memreport.toml").read_text()
    site.write({"memreport.toml": toml.replace(repo.path.as_posix(), clone.as_posix())})
    found = plan(site, repo.commit)
    assert classes(found) == CLASSES
    removed = {item["removed"] for item in found["items"] if item["fate"]["change"] == "gone"}
    assert removed == {f"which commit removed it is not known: {NoRemoval.SHALLOW}"}


def history(repo: PinnedRepo) -> History:
    return History(open_git(repo.path, repo.commits[0]), open_git(repo.path, repo.commits[-1]))


def test_renames_and_removals(repo: PinnedRepo) -> None:
    with history(repo) as found:
        assert found.renames() == {
            "src/recall.py": "lib/remember.py",
            "old/file.txt": "new/file.txt",
        }
        assert found.removal("src/forget.py", GONE) == Removal(repo.commits[1], "Commit 2")
        assert found.removal("notes") == Removal(repo.commits[2], "Commit 3")
        assert found.removal("src/keep.py", KEPT) is NoRemoval.ELSEWHERE
        found._seconds = 0
        assert found.removal("notes") is NoRemoval.TOO_LONG


def test_a_rename_removes_nothing(tmp_path: Path) -> None:
    first, second = {"a.py": RECALL + GONE}, {"b.py": RECALL + GONE}
    repo = bare(tmp_path / "renamed", first, second, {"b.py": RECALL})
    with history(repo) as found:
        assert found.removal("a.py", GONE) == Removal(repo.commits[2], "Commit 3")


def test_odd_names_are_no_patterns_and_no_options(tmp_path: Path) -> None:
    names = ("*", ":(glob)**", "-S", "new\nline", "caf\udce9", 'q"uote')
    tree: Tree = {name: b"%d\n" % number * 9 for number, name in enumerate(names)}
    repo = bare(tmp_path / "odd", tree, {**{f"d/{name}": data for name, data in tree.items()}})
    with history(repo) as found:
        assert found.renames() == {name: f"d/{name}" for name in names}
        for name in names:
            assert found.removal(name) == Removal(repo.commits[1], "Commit 2")
        assert found.removal("nothing*") is NoRemoval.ELSEWHERE


def test_nothing_of_the_checkout_is_run(repo: PinnedRepo, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    script = tmp_path / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch {trap}\ncat\n")
    script.chmod(0o755)
    for key in ("diff.external", "core.pager", "pager.log", "diff.x.textconv", "diff.x.command"):
        repo.git("config", key, str(script))
    (repo.path / ".git/info").mkdir(exist_ok=True)
    (repo.path / ".git/info/attributes").write_text("* diff=x filter=x\n")
    repo.git("config", "filter.x.smudge", str(script))
    with history(repo) as found:
        found.renames()
        found.removal("src/forget.py", GONE)
    resolve_commit(repo.path, "v2")
    assert not trap.exists()


def test_a_partial_clone_still_gives_exact_renames(repo: PinnedRepo, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", repo.path.as_uri(), str(clone))
    with history(PinnedRepo(clone, repo.commits)) as found:
        assert found.renames() == {"old/file.txt": "new/file.txt"}
        assert isinstance(found.removal("src/forget.py", GONE), NoRemoval)


def test_the_example_report(tmp_path: Path) -> None:
    """The example's system has a second commit, for this: every class occurs."""
    shutil.copytree(EXAMPLE, tmp_path / "e", ignore=shutil.ignore_patterns("_build", "checkouts"))
    script = tmp_path / "e" / "make_checkout.py"
    subprocess.run([sys.executable, "-B", str(script)], check=True, capture_output=True)
    site = TinySite.__new__(TinySite)
    site.source = tmp_path / "e"
    found = plan(site, "main", "--write")
    assert {change for _, _, change in classes(found)} == {"moved", "renamed", "edited", "gone"}
    lost = [
        (item["file"].removeprefix(f"{site.source}/"), item["line"])
        for item in found["items"]
        if item["fate"]["change"] in ("edited", "gone")
    ]
    problems = json.loads(run("check", "--site", site.source, "--format", "json").stdout)
    assert [(each["file"], each["line"]) for each in problems] == lost != []


def test_as_a_process(site: TinySite) -> None:
    command = [sys.executable, "-m", "sphinx_memreport.cli", "repin", "jotter", "SRC-1", "v2"]
    done = subprocess.run(command, cwd=site.source, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "+++ b/memreport.toml" in done.stdout
