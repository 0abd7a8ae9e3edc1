"""``memreport lock``: what is recorded, when nothing is written, and what ``--check`` says."""

from __future__ import annotations

import datetime
import json
import os
import shutil
from pathlib import Path

import pytest
from cli_project import run, run_process
from click.testing import Result
from pinned_repo import PinnedRepo
from sitebuilder import TinySite

MEMORY = """\
# Memory

MEM-OBJ-none is not declared, which no source has to do with.

```{evidence} SRC-1 src/jotter/store.py
self.notes.append(note)
```

:::{memabsence} MEM-ABS-cron
:searched: src/**
:pattern: cron
:::

{memsrc}`src` and {memsrc}`README.md`
"""


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    site = TinySite(tmp_path / "site", pinned_repo)
    site.write({"memory.md": MEMORY})
    return site


def lock(site: TinySite, *arguments: str) -> Result:
    result = run("lock", "--site", site.source, *arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def content(site: TinySite) -> bytes:
    return (site.source / "memreport.lock").read_bytes()


def test_what_is_recorded(site: TinySite, pinned_repo: PinnedRepo) -> None:
    result = lock(site, "--date", "2026-11-30")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith(
        "memreport.lock written: 1 quote, 2 paths, 1 search of 1 source, locked on 2026-11-30\n"
    )
    data = json.loads(content(site))
    assert (data["version"], data["date"]) == (1, "2026-11-30")
    assert [each["pin"] for each in data["sources"]] == [pinned_repo.commit]
    (quote,) = data["quotes"]
    assert (quote["path"], quote["within"]) == ("src/jotter/store.py", None)
    assert quote["lines"] == {"start": 3, "end": 3}
    assert len(quote["blob"]) == 40
    assert [(each["path"], each["directory"]) for each in data["paths"]] == [
        ("README.md", False),
        ("src", True),
    ]
    assert [(each["globs"], each["files"]) for each in data["searches"]] == [(["src/**"], 2)]
    assert str(site.root) not in content(site).decode()


def test_the_same_verdicts_give_the_same_bytes(site: TinySite) -> None:
    lock(site, "--date", "2026-11-30")
    first = content(site)
    again = lock(site)  # nothing changed: the date stays
    assert again.exit_code == 0
    assert "is up to date: 1 quote" in again.stdout
    assert content(site) == first
    (site.source / "memory.md").rename(site.source / "zzz.md")
    shutil.rmtree(site.source / "_build")
    assert lock(site, "--date", "2026-11-30").exit_code == 0
    assert content(site) == first
    lock(site, "--date", "2026-12-24")
    assert content(site) != first


def test_the_date_is_today_in_utc(site: TinySite) -> None:
    before = datetime.datetime.now(datetime.UTC).date().isoformat()
    lock(site)
    after = datetime.datetime.now(datetime.UTC).date().isoformat()
    assert before <= json.loads(content(site))["date"] <= after
    assert lock(site, "--date", "30.11.2026").exit_code == 2


def test_errors_of_sources_and_evidence_are_in_the_way(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    lock(site, "--date", "2026-11-30")
    before = content(site)
    for old, new, code in (
        ("append(note)", "append(Note)", "stale-quote"),
        ("`src`", "`source`", "path-missing"),
        ("cron\n", "class\n", "refuted-absence"),
        ("src/**", "none/**", "empty-search"),
    ):
        site.write({"memory.md": MEMORY.replace(old, new)})
        result = lock(site)
        assert (result.exit_code, result.stdout) == (1, "")
        assert f"[memreport.{code}]" in result.stderr
        assert "dangling-id" not in result.stderr
        assert "memreport.lock was not written: 1 problem above" in result.stderr
        compared = lock(site, "--check")
        assert compared.exit_code == 1
        assert "memreport.lock cannot be right: 1 problem above" in compared.stderr
        # what is still verified is compared all the same
        assert compared.stdout.count("no longer so: jotter SRC-1 ") == 1
        assert compared.stdout.endswith("    fix: mend the problems, then: memreport lock\n")
    shutil.rmtree(pinned_repo.path)
    site.write({"memory.md": MEMORY})
    assert "[memreport.checkout-missing]" in lock(site).stderr
    assert content(site) == before


def test_the_lock_never_vouches_for_the_lock(site: TinySite, pinned_repo: PinnedRepo) -> None:
    lock(site)
    conf = (site.source / "conf.py").read_text()
    site.write({"conf.py": f'{conf}memreport_offline = "lock"\n'})
    shutil.rmtree(pinned_repo.path)
    assert run("check", "--site", site.source).stdout.count("memreport.dangling-id") == 1
    for arguments in ((), ("--check",)):
        result = lock(site, *arguments)
        assert result.exit_code == 1
        assert "[memreport.checkout-missing]" in result.stderr


def test_check_compares_and_writes_nothing(site: TinySite) -> None:
    missing = lock(site, "--check")
    assert missing.exit_code == 1
    assert "memreport.lock is not up to date" in missing.stdout
    assert not (site.source / "memreport.lock").exists()
    lock(site, "--date", "2026-11-30")
    before = content(site)
    assert lock(site, "--check").exit_code == 0
    site.write({"memory.md": MEMORY.replace("self.notes.append(note)", "class Store:")})
    changed = lock(site, "--check")
    assert changed.exit_code == 1
    assert [line for line in changed.stdout.splitlines() if line.startswith("  ")] == [
        "  no longer so: jotter SRC-1 src/jotter/store.py:3 (quote)",
        "  not recorded: jotter SRC-1 src/jotter/store.py:1 (quote)",
        "    fix: memreport lock",
    ]
    assert content(site) == before
    assert lock(site, "--check", "--date", "2026-11-30").exit_code == 2


def test_a_lock_that_cannot_be_used_is_said_and_replaced(site: TinySite) -> None:
    lock(site, "--date", "2026-11-30")
    good = content(site)
    conf = (site.source / "conf.py").read_text()
    site.write({"memreport.lock": good[:-40], "conf.py": f'{conf}memreport_offline = "lock"\n'})
    broken = lock(site, "--check")
    assert broken.exit_code == 1
    assert "[memreport.invalid-config]" in broken.stderr
    assert run("check", "--site", site.source).exit_code == 2
    assert lock(site, "--date", "2026-11-30").exit_code == 0
    assert content(site) == good
    (site.source / "memreport.lock").unlink()
    os.mkfifo(site.source / "memreport.lock")
    assert lock(site).exit_code == 2


def test_softened_problems_leave_their_quotes_out(site: TinySite) -> None:
    conf = (site.source / "conf.py").read_text()
    site.write(
        {
            "conf.py": f'{conf}memreport_severity = {{"stale-quote": "warning"}}\n',
            "memory.md": MEMORY.replace("append(note)", "append(Note)"),
        }
    )
    result = lock(site)
    assert result.exit_code == 0
    assert "1 quote is not verified, and so not recorded" in result.stderr
    assert json.loads(content(site))["quotes"] == []


def test_a_failing_disk_leaves_the_old_lock(
    site: TinySite, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock(site, "--date", "2026-11-30")
    before, names = content(site), sorted(path.name for path in site.source.iterdir())

    def fail(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sphinx_memreport.cli.files.os.replace", fail)
    assert lock(site, "--date", "2026-12-01").exit_code == 2
    assert content(site) == before
    assert sorted(path.name for path in site.source.iterdir()) == names


def test_a_refused_configuration(site: TinySite) -> None:
    site.write({"memreport.toml": "[reports]\nx = 1\n"})
    assert lock(site).exit_code == 2


def test_as_a_user_runs_it(site: TinySite) -> None:
    done = run_process("lock", cwd=site.source)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("memreport.lock written: ")
    assert run_process("lock", "--check", cwd=site.source).returncode == 0
