"""``memreport import`` and ``memreport export``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_project import Project, run
from click.testing import Result
from pinned_repo import PinnedRepo, plain
from sitebuilder import Built, TinySite

MEMORY = """\
---
type: types/agentic-system-memory-report.md
run-id: R-1
source-identity: https://github.com/example/jotter
reviewed-boundary: {commit}
---

# Jotter memory report

## Boundary

| Entry point | Paths | Coverage |
|---|---|---|
| Recall | `src/jotter/recall.py` | MEM-RTE-recall. Read. |

## Shared records

### Routes

#### MEM-RTE-recall — Recall

Part of: RT-RTE-answer

- implementation conclusion status: wired
- Immediate return: The notes.
- Later read-back: What was saved comes back.
- Delegated visibility: inapplicable — nobody is asked.
- Selection predicate: By score.
- Invalidation or expiry: uninspected — not looked for.
- Activation or effect: Unobserved.
- Evidence limits: Read only.

> scored.sort(key=lambda pair: pair[0], reverse=True) return [note for _, note in scored[:limit]]
> --- `src/jotter/recall.py`

### Claims

none declared in this member

## Annotations

#### On RT-RTE-answer — annotation

It waits for MEM-RTE-recall.
"""


@pytest.fixture
def memory(tmp_path: Path, pinned_repo: PinnedRepo) -> Path:
    file = tmp_path / "memory.md"
    file.write_text(MEMORY.format(commit=pinned_repo.commit), encoding="utf-8")
    return file


def import_(*arguments: str | Path) -> Result:
    result = run("import", *arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result


def built(tmp_path: Path, into: Path) -> Built:
    site = TinySite(tmp_path / "build")
    site.source = into
    return site.build()


def files_below(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_an_imported_member_builds_without_a_problem(
    tmp_path: Path, memory: Path, pinned_repo: PinnedRepo
) -> None:
    into = tmp_path / "deep" / "site"
    result = import_(memory, "--into", into, "--checkout", pinned_repo.path)
    assert result.exit_code == 0, result.output
    assert files_below(into) == [
        "conf.py",
        "index.md",
        "jotter/memory.md",
        "jotter/supplied.md",
        "memreport.toml",
    ]
    assert "supplied: RT-RTE-answer is declared in no file\n" in result.stderr
    assert "1 records, 1 annotations, 9 fields, 1 quotes, 1 supplied IDs" in result.stdout
    site = built(tmp_path, into)
    assert (site.status, site.warnings) == (0, "")
    assert site.broken_links() == []
    assert "Selection" in site.text("jotter/memory")
    (record,) = (r for r in site.data("memreport.json")["records"] if r["id"] == "MEM-RTE-recall")
    assert record["part_of"] == "RT-RTE-answer"
    assert [e["status"] for e in site.data("memreport.json")["evidence"]] == ["verified"]


def test_what_the_contract_refuses_is_imported_and_the_build_says_it(
    tmp_path: Path, memory: Path, pinned_repo: PinnedRepo
) -> None:
    text = memory.read_text(encoding="utf-8")
    text = text.replace("status: wired", "status: rather wired")
    text = text.replace("- Evidence limits: Read only.\n", "")
    text = text.replace("Part of: RT-RTE-answer", "Part of: RT-RTE-answer and RT-RTE-other")
    text = text.replace("src/jotter/recall.py", "src/jotter/gone.py")
    memory.write_text(text, encoding="utf-8")
    into = tmp_path / "site"
    assert import_(memory, "--into", into, "--checkout", pinned_repo.path).exit_code == 0
    assert [problem[:2] for problem in built(tmp_path, into).problems] == [
        ("path-missing", "jotter/memory"),
        ("invalid-value", "jotter/memory"),
        ("invalid-value", "jotter/memory"),
        ("missing-field", "jotter/memory"),
        ("path-missing", "jotter/memory"),
    ]


def test_what_is_not_understood_is_listed_kept_and_told_by_the_exit_status(
    tmp_path: Path, memory: Path
) -> None:
    with memory.open("a", encoding="utf-8") as file:
        file.write("\n> nobody said this\n")
    result = import_(memory, "--into", tmp_path / "site", "--json")
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["not_understood"] == [
        {
            "file": "memory.md",
            "line": 46,
            "message": "a quotation without an attribution",
            "text": "> nobody said this",
        }
    ]
    assert told["counts"] == {
        "annotations": 1,
        "cited": 2,
        "fields": 9,
        "quotes": 1,
        "records": 1,
    }
    assert told["quotes"] == {"unverified": 1}
    assert "> nobody said this" in (tmp_path / "site/jotter/memory.md").read_text(encoding="utf-8")


def test_a_slip_of_an_id_is_named_beside_the_supplied_one(tmp_path: Path, memory: Path) -> None:
    with memory.open("a", encoding="utf-8") as file:
        file.write("\nSee MEM-RTE-recal.\n")
    result = import_(memory, "--into", tmp_path / "site")
    assert (
        "supplied: MEM-RTE-recal is declared in no file, though its member is among the files; "
        "did you mean MEM-RTE-recall?\n" in result.stderr
    )


# --- restored quotations ------------------------------------------------------------------


@pytest.fixture
def damaged(tmp_path: Path) -> tuple[Path, PinnedRepo]:
    """A member whose quotation lost its markup, and the repository that still has it."""
    source = b"/// Saves to `notes.md`.\nfn all() -> Result<Vec<Note>> {\n    Ok(Vec::new())\n}\n"
    repo = plain(tmp_path / "rust", {"src/a.rs": source})
    file = tmp_path / "memory.md"
    file.write_text(
        "# Jotter memory report\n\n"
        "> /// Saves to notes.md. fn all() -> Result> { Ok(Vec::new()) }\n> --- `src/a.rs`\n\n"
        "> nothing like it is there\n> --- `src/a.rs`\n",
        encoding="utf-8",
    )
    return file, repo


def arguments(file: Path, repo: PinnedRepo, into: Path) -> list[str | Path]:
    return [
        *(file, "--into", into, "--checkout", repo.path, "--commit", repo.commit),
        *("--repository", "https://github.com/example/jotter"),
    ]


def test_characters_that_rendering_lost_are_offered_and_not_taken(
    tmp_path: Path, damaged: tuple[Path, PinnedRepo]
) -> None:
    file, repo = damaged
    into = tmp_path / "site"
    result = import_(*arguments(file, repo, into))
    assert "memory.md:3: offered from src/a.rs:\n    /// Saves to `notes.md`.\n" in result.stderr
    assert "restored-quotes.patch offers 1 restored quotes" in result.stdout
    stale = [("stale-quote", "jotter/memory", 6), ("stale-quote", "jotter/memory", 10)]
    assert built(tmp_path, into).problems == stale
    subprocess.run(["git", "apply", "restored-quotes.patch"], cwd=into, check=True)
    (rest,) = built(tmp_path / "again", into).problems
    assert rest == ("stale-quote", "jotter/memory", 13)


@pytest.mark.parametrize("which", ["all", "memory.md:3"])
def test_an_offer_is_taken_when_that_is_asked_for(
    tmp_path: Path, damaged: tuple[Path, PinnedRepo], which: str
) -> None:
    file, repo = damaged
    into = tmp_path / "site"
    result = import_(*arguments(file, repo, into), "--accept-restored", which)
    assert "memory.md:3: restored from src/a.rs:" in result.stderr
    assert not (into / "restored-quotes.patch").exists()
    assert "fn all() -> Result<Vec<Note>> {\n" in (into / "jotter/memory.md").read_text("utf-8")


@pytest.mark.parametrize("which", ["memory.md:6", "memory.md", "other.md:3"])
def test_accepting_what_is_not_offered_is_refused(
    tmp_path: Path, damaged: tuple[Path, PinnedRepo], which: str
) -> None:
    file, repo = damaged
    result = import_(*arguments(file, repo, tmp_path / "site"), "--accept-restored", which)
    assert result.exit_code == 2
    assert which in result.stderr
    assert not (tmp_path / "site").exists()


# --- refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize("there", ["conf.py", "memreport.toml", "jotter/memory.md"])
def test_nothing_is_overwritten_and_nothing_half_written(
    tmp_path: Path, memory: Path, there: str
) -> None:
    into = tmp_path / "site"
    (into / there).parent.mkdir(parents=True)
    (into / there).write_text("mine", encoding="utf-8")
    result = import_(memory, "--into", into)
    assert result.exit_code == 2
    assert f"{into / there} exists already; nothing was written" in result.stderr
    assert files_below(into) == [there]


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path, memory: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "site/jotter").symlink_to(tmp_path / "elsewhere")
    result = import_(memory, "--into", tmp_path / "site")
    assert result.exit_code == 2
    assert "leads out of" in result.stderr
    assert files_below(tmp_path / "site") == files_below(tmp_path / "elsewhere") == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_an_interrupted_import_leaves_nothing(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch, error: Any
) -> None:
    replaced: list[object] = []
    replace = os.replace

    def failing(old: Path, new: Path) -> None:
        if len(replaced) == 2:
            raise error
        replaced.append(new)
        replace(old, new)

    monkeypatch.setattr(os, "replace", failing)
    assert run("import", memory, "--into", tmp_path / "a/site").exit_code != 0
    assert len(replaced) == 2
    assert not (tmp_path / "a").exists()


def test_what_would_not_build_is_refused_before_anything_is_written(
    tmp_path: Path, memory: Path
) -> None:
    into = tmp_path / "site"
    for more in (["--commit", "v1.0"], ["--repository", "nonsense"], ["--slug", "No Slug"]):
        result = import_(memory, "--into", into, *more)
        assert result.exit_code == 2
        assert "memreport.toml would not be valid:" in result.stderr
    bare = tmp_path / "runtime.md"
    bare.write_text("# Runtime\n\n> x\n> --- `a.py`\n", encoding="utf-8")
    result = import_(bare, "--into", into)
    assert "fix: add --repository URL --commit SHA" in result.stderr
    assert not into.exists()


def test_files_that_are_no_members_are_refused(tmp_path: Path, memory: Path) -> None:
    (tmp_path / "binary.md").write_bytes(b"\xff\xfe")
    (tmp_path / "large.md").write_bytes(b" " * (4 * 1024 * 1024 + 1))
    (tmp_path / "other").mkdir()
    os.mkfifo(tmp_path / "fifo.md")
    twin = tmp_path / "other/Memory.md"
    twin.write_bytes(memory.read_bytes())
    for name, message in (
        ("binary.md", "line 1 is not UTF-8"),
        ("large.md", "at most 4194304 are read"),
        ("fifo.md", "is not a regular file"),
        ("absent.md", "No such file"),
        ("other/Memory.md", "would become one document"),
    ):
        result = import_(memory, tmp_path / name, "--into", tmp_path / "site")
        assert result.exit_code == 2
        assert message in result.stderr
    assert not (tmp_path / "site").exists()


# --- hostile members ----------------------------------------------------------------------

HOSTILE = """\
---
myst:
  enable_extensions: [substitution, dollarmath]
  substitutions: {x: y}
orphan: true
note: |
  a
   ---
  b
---

# Jotter <script>alert(1)</script> memory report

```{include} ../../secret.txt
```

~~~{eval-rst}
.. include:: ../../secret.txt
~~~

:::{literalinclude} ../../secret.txt
:::

- in a list
  :::{include} ../../secret.txt
  :::

> ```{include} ../../secret.txt
> ```

<div onclick="evil()">

![image](../../secret.txt) [file](../../secret.txt)
<path:../../secret.txt> [path](path:../../secret.txt)

{download}`../../secret.txt` [reference]

[reference]: ../../secret.txt

% not a comment

| {download}`../../secret.txt` | b |
|---|---|
| <img src=x onerror=evil()> | ::: |

#### MEM-OBJ-evil — {download}`../../secret.txt` <b>

- Source-native identity: "# {download}`../../secret.txt` <script>alert(2)</script>
- Storage substrate: [a, b]: {c} | > # end

:lineage: no option
\u2028:::::::{include} ../../secret.txt
\x0c```{include} ../../secret.txt

```{include} ../../secret.txt
"""


def test_nothing_in_a_member_is_carried_out(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    (tmp_path / "secret.txt").write_text("the-secret", encoding="utf-8")
    (tmp_path / "memory.md").write_text(HOSTILE, encoding="utf-8")
    into = tmp_path / "site"
    result = import_(
        *(tmp_path / "memory.md", "--into", into, "--slug", "jotter", "--system", "Jotter"),
        *("--repository", "https://github.com/example/jotter", "--checkout", pinned_repo.path),
        *("--commit", pinned_repo.commit),
    )
    assert result.exit_code == 1, result.output
    site = built(tmp_path, into)
    assert (site.problems, site.warnings) == ([], "")
    everything = b"".join(p.read_bytes() for p in (tmp_path / "build").rglob("*") if p.is_file())
    assert b"the-secret" not in everything
    page = site.soup("jotter/memory")
    main = page.select_one("[role=main]")
    assert main is not None
    assert main.select("img, b, script, [onclick]") == []
    text = site.text("jotter/memory")
    for shown in ("alert(1)", "onclick=", "alert(2)", "% not a comment", ":lineage: no option"):
        assert shown in text
    assert "orphan" not in site.env.metadata["jotter/memory"]


def test_a_name_cannot_lead_out_of_the_folder(tmp_path: Path, memory: Path) -> None:
    odd = tmp_path / "..%2f..\\x y.md"
    odd.write_bytes(memory.read_bytes())
    assert import_(odd, "--into", tmp_path / "site").exit_code == 0
    assert (tmp_path / "site/jotter/2f..-x-y.md").is_file()


# --- export -------------------------------------------------------------------------------


def test_export_gives_the_members_back(
    tmp_path: Path, memory: Path, pinned_repo: PinnedRepo
) -> None:
    first = tmp_path / "first"
    import_(memory, "--into", first, "--checkout", pinned_repo.path)
    out = tmp_path / "members"
    result = run("export", "jotter", "--into", out, "--config", first / "memreport.toml")
    assert result.exit_code == 0, result.output
    assert files_below(out) == ["memory.md"]
    second = tmp_path / "second"
    again = import_(out / "memory.md", "--into", second, "--checkout", pinned_repo.path)
    assert again.exit_code == 0
    for name in files_below(first):
        assert (second / name).read_bytes() == (first / name).read_bytes(), name


def test_the_system_is_what_the_front_matter_says(tmp_path: Path, memory: Path) -> None:
    other = tmp_path / "overview.md"
    other.write_text("---\nsystem: jotter two\n---\n\n# Overview\n", encoding="utf-8")
    import_(memory, other, "--into", tmp_path / "site")
    config = (tmp_path / "site/memreport.toml").read_text(encoding="utf-8")
    assert config.startswith(
        '[reports.jotter-two]\ndirectory = "jotter-two"\nsystem = "jotter two"\n'
    )


EXAMPLE = Path(__file__).parents[2] / "example_report"


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("example") / "source"
    shutil.copytree(EXAMPLE, site, ignore=shutil.ignore_patterns("checkouts", "_build"))
    subprocess.run([sys.executable, site / "make_checkout.py"], check=True, capture_output=True)
    return site


def facts(source: Path) -> dict[str, list[str]]:
    """What the data say of the documents of the report, without lines, one text for each entry."""

    def without_lines(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_lines(each) for key, each in value.items() if key != "line"}
        return [without_lines(each) for each in value] if isinstance(value, list) else value

    site = TinySite(source.parent / f"build-{source.name}")
    site.source = source
    data = site.build(builder="dummy").data("memreport.json")
    return {
        name: sorted(
            json.dumps(without_lines(entry), sort_keys=True)
            for entry in entries
            if entry.get("docname") != "index"  # of the site, not of the report
        )
        for name, entries in data.items()
        if isinstance(entries, list)
    }


def test_the_example_comes_back_but_for_what_the_export_names(example: Path) -> None:
    members, back = example.parent / "members", example.parent / "back"
    result = run("export", "--into", members, "--config", example / "memreport.toml")
    assert result.stderr.splitlines() == [
        "memreport.toml:1: the plain form has no 'contract = \"strict\"'",
        "boundary.md:8: memsrc: paths in the text (3) are not checked any more",
        "boundary.md:19: SRC-2: its file is named but not copied: captures/month-with-jotter.html",
        "boundary.md:19: SRC-3: its file is named but not copied: captures/session.txt",
        "index.md:145: the plain form has no memoverview",
        "index.md:148: the plain form has no memrecords",
        "index.md:152: the plain form has no memgraph",
        "index.md:158: the plain form has no toctree",
        "reconciliation.md:45: evidence: the plain form has no 'supports': MEM-ABS-encryption",
    ]
    checkout = example / "checkouts/jotter"
    result = import_(*sorted(members.glob("*.md")), "--into", back, "--checkout", checkout)
    assert (result.exit_code, result.stderr) == (0, "")
    needed = [back / "captures/month-with-jotter.html", back / "captures/session.txt"]
    for file in needed:
        assert f"next: put the captured file at {file}\n" in result.stdout
    shutil.copytree(example / "captures", back / "captures")
    before, after = facts(example), facts(back)
    different = {
        name: (
            [json.loads(each) for each in before[name] if each not in after[name]],
            [json.loads(each) for each in after[name] if each not in before[name]],
        )
        for name in before
        if before[name] != after[name]
    }
    assert sorted(different) == ["evidence", "paths", "references", "reports"]
    ((gone,), (new,)) = different["evidence"]
    assert new == {**gone, "supports": []}
    ((gone,), (new,)) = different["reports"]
    assert new == {**gone, "contract": "core"}
    gone_paths, new_paths = different["paths"]
    assert [each["path"] for each in gone_paths] == [
        *("src/jotter/__init__.py", "src/jotter/__main__.py", "src/jotter"),
    ]
    assert new_paths == []
    gone_references, new_references = different["references"]
    assert sorted((each["option"], each["target"]) for each in gone_references) == [
        ("around", "MEM-RTE-recall"),  # of the graph
        ("supports", "MEM-ABS-encryption"),
    ]
    # the paths, which name their source in the text now
    assert {(each["docname"], each["target"]) for each in new_references} == {
        ("jotter/boundary", "SRC-1")
    }


def test_export_names_what_it_cannot_write_and_overwrites_nothing(
    tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    project = Project(tmp_path / "site", pinned_repo)
    project.write(
        {
            "memory.md": "# Memory\n\n```{memrecords}\n```\n",
            "more.rst": "More\n====\n",
        }
    )
    out = tmp_path / "members"
    result = project.run("export", "--into", out)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "memory.md:3: the plain form has no memrecords",
        "more.rst:1: reStructuredText is not written",
    ]
    assert files_below(out) == ["memory.md"]
    again = project.run("export", "--into", out)
    assert again.exit_code == 2
    assert "exists already; nothing was written" in again.stderr
