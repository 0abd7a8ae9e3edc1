"""``memreport_offline = "lock"``: a site where a checkout is not there (issue 4, item 7)."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import run
from pinned_repo import PinnedRepo
from sitebuilder import Built, Found, TinySite, report_toml

from sphinx_memreport.config import load_config
from sphinx_memreport.core.export import Export
from sphinx_memreport.core.lock_record import record
from sphinx_memreport.verify import rules_of

POST = b"After a month I had forty notes.\n"
DATE = "2026-11-30"
MEMORY = """\
# Memory

```{memmember} memory
```

:::{memobject} MEM-OBJ-note — Stored note

```{evidence} SRC-1 src/jotter/store.py
self.notes.append(note)
```

```{evidence} SRC-1 src/jotter/store.py
:lines: 1-2
self.notes, or not
```

```{evidence} SRC-2
I had forty notes
```

See {memsrc}`SRC-1:src` and {memsrc}`SRC-1:README.md#L1-L2`.
:::

:::{memabsence} MEM-ABS-cron — No schedule
:searched: SRC-1:src/**
:pattern: cron
:::

```{memcoverage}
- entry: Recall
  direct: [SRC-1:src/jotter/recall.py]
  records: [MEM-OBJ-note]
```

```{memsources}
```
""".replace("self.notes, or not", "def save(self, note):")
QUOTE, RANGED, CAPTURED, PATHS, ABSENCE, ROW = 8, 12, 17, 21, 24, 30


def toml(repo: PinnedRepo, slug: str = "jotter") -> str:
    capture = (
        f'[reports.{slug}.sources.SRC-2]\nkind = "capture"\nidentity = "urn:post"\n'
        f'file = "post.txt"\nsha256 = "{hashlib.sha256(POST).hexdigest()}"\n'
        'layer = "reported operation"\n'
    )
    return report_toml(repo, slug, source=capture)


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    """A site with everything that a lock records, locked."""
    site = TinySite(tmp_path / "site")
    site.write({"memreport.toml": toml(pinned_repo), "memory.md": MEMORY, "post.txt": POST})
    lock(site)
    return site


def lock(site: TinySite) -> None:
    result = run("lock", "--site", site.source, "--date", DATE)
    assert result.exit_code == 0, result.output


def leave(repo: PinnedRepo, site: TinySite | None = None) -> None:
    """Take the checkout away, and the capture of a site."""
    shutil.rmtree(repo.path)
    if site is not None:
        (site.source / "post.txt").unlink()


def offline(site: TinySite, files: dict[str, str | bytes | None] | None = None) -> Built:
    return site.build(files, memreport_offline="lock")


def badges(built: Built) -> list[str]:
    """Verdicts on the page, in order."""
    found = built.soup("memory").select(
        ".memreport-attribution .memreport-badge:last-child, .memreport-search .memreport-badge"
    )
    return [badge.get_text() for badge in found]


# --- without a checkout -------------------------------------------------------------------


def test_what_is_locked_is_verified_at_its_date(site: TinySite, pinned_repo: PinnedRepo) -> None:
    leave(pinned_repo, site)
    built = offline(site)
    assert (built.problems, built.status, built.warnings) == ([], 0, "")
    assert badges(built) == [
        *["verified, locked on 2026-11-30"] * 3,
        "nothing found, locked on 2026-11-30",
    ]
    text = built.text("memory")
    assert "src/jotter/store.py line 3 @" in text
    assert "3 of 3 on this page verified, locked on 2026-11-30" in text
    assert text.count("memreport.lock, locked on 2026-11-30") == 2  # in the register
    assert "in 2 files of SRC-1 that match src/**" in text
    assert built.broken_links() == []
    assert not list(built.out.glob("_memreport/**/*.html"))
    hrefs = [str(tag["href"]) for tag in built.soup("memory").select("a.external")]
    blob = f"https://github.com/example/jotter/blob/{pinned_repo.commit}/"
    assert f"{blob}src/jotter/store.py#L3" in hrefs
    assert f"{blob.replace('/blob/', '/tree/')}src" in hrefs  # the lock knows it for a directory
    assert f"{blob}README.md?plain=1#L1-L2" in hrefs


def test_the_export_says_that_it_was_locked(site: TinySite, pinned_repo: PinnedRepo) -> None:
    here = site.build(cache="here").data("memreport.json")
    leave(pinned_repo, site)
    built = offline(site).data("memreport.json")
    assert [(each["status"], each["locked"]) for each in built["evidence"]] == [
        ("verified", DATE)
    ] * 3
    assert {each["locked"] for each in built["paths"]} == {DATE}
    absence = next(each for each in built["records"] if each["id"] == "MEM-ABS-cron")
    assert absence["searches"][0]["result"]["locked"] == DATE
    # and what a lock says is nothing to be locked
    rules = rules_of(load_config(site.source / "memreport.toml"))
    again = record(Export.model_validate(built), rules, datetime.date.min)
    assert (again.quotes, again.paths, again.searches) == ((), (), ())
    # but for that it says the same
    unlocked = json.loads(json.dumps(built).replace(f'"locked": "{DATE}"', '"locked": null'))
    assert unlocked == here


def test_without_the_setting_a_missing_checkout_is_missing(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    online = site.build()
    assert online.problems == []
    leave(pinned_repo, site)
    for built in (site.build(), site.build(cache="fresh")):  # with and without known answers
        assert [each[:2] for each in built.problems] == [("checkout-missing", "memreport.toml")] * 2
        assert badges(built) == ["unverified"] * 4
        assert built.status == 1


def test_a_cached_answer_is_no_lock(site: TinySite, pinned_repo: PinnedRepo) -> None:
    """What an earlier build knew does not count where the lock does not know it."""
    more = MEMORY.replace("self.notes.append(note)", "class Store:")
    assert offline(site, {"memory.md": more}).problems == []
    leave(pinned_repo)
    assert offline(site).problems == [("unverified-quote", "memory", QUOTE)]


def test_a_capture_that_is_here_is_read(site: TinySite, pinned_repo: PinnedRepo) -> None:
    leave(pinned_repo)
    assert badges(offline(site))[:3] == [*["verified, locked on 2026-11-30"] * 2, "verified"]
    built = offline(site, {"post.txt": b"After a year I had forty notes.\n"})
    assert [each[0] for each in built.problems] == ["capture-mismatch"]
    assert badges(built)[2] == "unverified"
    assert built.status == 1


def test_an_empty_folder_is_no_checkout(site: TinySite, pinned_repo: PinnedRepo) -> None:
    leave(pinned_repo)
    pinned_repo.path.mkdir()
    assert offline(site).problems == []


# --- what the lock does not vouch for -----------------------------------------------------


def _in_memory(old: str, new: str) -> Callable[[TinySite], None]:
    def change(site: TinySite) -> None:
        text = (site.source / "memory.md").read_text()
        assert old in text
        site.write({"memory.md": text.replace(old, new, 1)})

    return change


@pytest.mark.parametrize(
    ("change", "problems"),
    [
        (_in_memory("append(note)", "append(Note)"), [("memory", QUOTE)]),
        (_in_memory("self.notes.append(note)", "self.notes.append"), [("memory", QUOTE)]),
        (_in_memory("1-2", "1-3"), [("memory", RANGED)]),
        (_in_memory(":lines: 1-2\n", ""), [("memory", RANGED)]),
        (_in_memory("store.py\nself", "store.py\n:lines: 3\nself"), [("memory", QUOTE)]),
        (_in_memory("src/jotter/store.py", "src/jotter/recall.py"), [("memory", QUOTE)]),
        (_in_memory("src/jotter/store.py", "./src/jotter/store.py"), [("memory", QUOTE)]),
        (_in_memory("I had forty", "I have forty"), [("memory", CAPTURED)]),
        (_in_memory("SRC-1:src`", "SRC-1:docs`"), [("memory", PATHS)]),
        (_in_memory("#L1-L2", "#L1-L3"), [("memory", PATHS)]),
        (_in_memory("#L1-L2", ""), [("memory", PATHS)]),
        (_in_memory("recall.py]", "store.py]"), [("memory", ROW)]),
        (_in_memory("pattern: cron", "pattern: crond"), [("memory", ABSENCE)]),
        (_in_memory("cron\n", "cron\n:regex:\n"), [("memory", ABSENCE)]),
        (_in_memory("SRC-1:src/**", "SRC-1:**"), [("memory", ABSENCE)]),
    ],
)
def test_what_changed_since_is_unverified(
    site: TinySite,
    pinned_repo: PinnedRepo,
    change: Callable[[TinySite], None],
    problems: list[tuple[str, int]],
) -> None:
    leave(pinned_repo, site)
    assert offline(site).problems == []
    change(site)
    for built in (offline(site), offline(site)):  # an unchanged build says it again
        assert built.problems == [("unverified-quote", *place) for place in problems]
        assert built.status == 1
        assert "run 'memreport lock'" in built.details[0].fix
    known = [each["exists"] for each in built.data("memreport.json")["paths"]]
    assert known.count(None) == (1 if problems[0][1] in (PATHS, ROW) else 0)
    if problems[0][1] in (QUOTE, RANGED, CAPTURED):
        assert badges(built).count("unverified") == 1
        statuses = [each["status"] for each in built.data("memreport.json")["evidence"]]
        assert sorted(statuses) == ["unverified", "verified", "verified"]


def test_white_space_is_no_change(site: TinySite, pinned_repo: PinnedRepo) -> None:
    leave(pinned_repo, site)
    _in_memory("def save(self, note):", "def\n    save(self,   note):")(site)
    built = offline(site)
    assert built.problems == []
    assert not built.soup("memory").select(".memreport-evidence .linenos")


def test_a_moved_pin(site: TinySite, pinned_repo: PinnedRepo) -> None:
    leave(pinned_repo, site)
    assert offline(site).problems == []
    text = (site.source / "memreport.toml").read_text()
    for pinned in (pinned_repo.commits[0], pinned_repo.commit):
        moved = text.replace(pinned_repo.commit, pinned)
        built = offline(site, {"memreport.toml": moved})
        is_moved = pinned != pinned_repo.commit
        # one mistake, so one problem: at the source
        assert built.problems == ([("unverified-quote", "memreport.toml", 5)] if is_moved else [])
        assert badges(built).count("unverified") == (3 if is_moved else 0)
    site.write({"memreport.toml": text.replace("checkout =", 'encoding = "latin-1"\ncheckout =')})
    assert offline(site).problems == [("unverified-quote", "memreport.toml", 5)]
    other_hash = text.replace(hashlib.sha256(POST).hexdigest(), "0" * 64)
    built = offline(site, {"memreport.toml": other_hash})
    assert [each[0] for each in built.problems] == ["unverified-quote"]
    assert badges(built)[2] == "unverified"


def test_another_report_or_source(site: TinySite, pinned_repo: PinnedRepo) -> None:
    leave(pinned_repo, site)
    text = (site.source / "memreport.toml").read_text()
    for changed in (
        text.replace("reports.jotter", "reports.pocket"),
        text.replace("SRC-1", "SRC-3").replace("SRC-2", "SRC-1").replace("SRC-3", "SRC-2"),
    ):
        built = offline(site, {"memreport.toml": changed})
        assert ("unverified-quote", "memreport.toml", 5) in built.problems
        assert {each[0] for each in built.problems} <= {
            "unverified-quote",
            "invalid-value",
            "path-missing",
        }
        assert not any("locked" in badge for badge in badges(built))


def test_a_checkout_without_the_commit_is_said_as_such(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    """A checkout that is there decides, and so do files where it should be."""
    text = (site.source / "memreport.toml").read_text()
    built = offline(site, {"memreport.toml": text.replace(pinned_repo.commit, "0" * 40)})
    assert [each[0] for each in built.problems] == ["commit-missing"]
    site.write({"memreport.toml": text})
    leave(pinned_repo)
    pinned_repo.path.mkdir()
    (pinned_repo.path / "README.md").write_text("no repository")
    assert [each[0] for each in offline(site).problems] == ["checkout-missing"]


def test_no_lock(site: TinySite, pinned_repo: PinnedRepo) -> None:
    (site.source / "memreport.lock").unlink()
    assert offline(site).problems == []
    leave(pinned_repo)
    built = offline(site)
    assert [each[0] for each in built.problems] == ["checkout-missing"]
    assert badges(built)[:2] == ["unverified"] * 2
    assert "there is no memreport.lock" in site.run("-D", "memreport_offline=lock").stdout


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (lambda text: text.replace('"end": 3, "start": 3', '"end": 4, "start": 4'), 2),
        (lambda text: text[: len(text) // 2], None),
        (lambda _: "", 1),
        (lambda text: text.replace('"version": 1', '"version": 2'), None),
    ],
)
def test_a_lock_that_was_tampered_with_is_refused(
    site: TinySite,
    pinned_repo: PinnedRepo,
    change: Callable[[str], str],
    line: int | None,
) -> None:
    text = (site.source / "memreport.lock").read_text()
    assert change(text) != text
    for _ in range(2):  # on every machine alike
        built = offline(site, {"memreport.lock": change(text)})
        expected: Found = ("invalid-config", "memreport.lock", line or built.details[0].line)
        assert (built.problems, built.status, built.written) == ([expected], 2, [])
        shutil.rmtree(pinned_repo.path, ignore_errors=True)
    checked = run("check", "--site", site.source, "--format", "json")
    assert [each["code"] for each in json.loads(checked.stdout)] == ["checkout-missing"]


# --- pages and builds ---------------------------------------------------------------------


def test_pages_follow_when_the_checkout_goes_and_comes(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    away = pinned_repo.path.with_name("away")
    assert badges(offline(site)) == [*["verified"] * 3, "nothing found"]
    assert offline(site).written == []
    pinned_repo.path.rename(away)
    gone = offline(site)
    assert "memory" in gone.written
    assert badges(gone)[0] == "verified, locked on 2026-11-30"
    assert offline(site).written == []
    away.rename(pinned_repo.path)
    assert run("lock", "--site", site.source, "--date", "2026-12-01").exit_code == 0
    pinned_repo.path.rename(away)
    later = offline(site)
    assert "memory" in later.written
    assert badges(later)[0] == "verified, locked on 2026-12-01"
    away.rename(pinned_repo.path)
    assert badges(offline(site))[0] == "verified"
    assert offline(site).broken_links() == []


def test_each_thing_that_is_locked_makes_its_page_follow(
    site: TinySite, pinned_repo: PinnedRepo
) -> None:
    alone = {
        "paths": "See {memsrc}`SRC-1:src`.",
        "quotes": "```{evidence} SRC-1 src/jotter/store.py\nclass Store:\n```",
        "search": ":::{memabsence} MEM-ABS-at\n:searched: SRC-1:src/**\n:pattern: crontab\n:::",
        "sources": "```{memsources}\n```",
    }
    site.write({f"{name}.md": f"# Page\n\n{text}\n" for name, text in alone.items()})
    lock(site)
    offline(site)
    away = pinned_repo.path.with_name("away")
    pinned_repo.path.rename(away)
    built = offline(site)
    assert built.problems == []
    assert alone.keys() <= set(built.written)
    away.rename(pinned_repo.path)
    assert run("lock", "--site", site.source, "--date", "2026-12-01").exit_code == 0
    pinned_repo.path.rename(away)
    other_date = offline(site)
    assert alone.keys() <= set(other_date.written)
    assert offline(site).written == []
    assert "memreport.lock, locked on 2026-12-01" in other_date.text("sources")
    link = other_date.soup("paths").select_one("a.external:has(.memreport-path)")
    assert link is not None
    assert link["title"] == "verified, locked on 2026-12-01"


def test_what_is_said_of_the_lock(site: TinySite, pinned_repo: PinnedRepo) -> None:
    def said() -> str:
        done = site.run("-D", "memreport_offline=lock")
        assert done.returncode == 0, done.stderr
        return "\n".join(re.findall(r".*memreport\.lock.*", done.stdout))

    assert said() == ""
    _in_memory("self.notes.append(note)", "class Store:")(site)
    stale = "memreport.lock is out of date (2 entries differ): run 'memreport lock'"
    assert said() == stale  # the checkout decides; nothing is wrong
    lock(site)
    assert said() == ""
    leave(pinned_repo)
    assert said() == "jotter: SRC-1 is not here: memreport.lock of 2026-11-30 stands in"


def test_whole_files_are_not_there_to_be_shown(site: TinySite, pinned_repo: PinnedRepo) -> None:
    assert offline(site).problems == []
    leave(pinned_repo, site)
    built = site.build(memreport_offline="lock", memreport_source_pages="full")
    assert (built.problems, built.broken_links()) == ([], [])


def test_the_setting_takes_no_other_value(site: TinySite) -> None:
    built = site.build(memreport_offline="yes")
    assert built.status == 2
    assert "memreport_offline: expected one of '' or 'lock', found 'yes'" in built.warnings
