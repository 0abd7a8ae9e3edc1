"""``memreport fmt``, and how every command writes files."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import Project
from pinned_repo import PinnedRepo, plain
from sitebuilder import TinySite, report_toml

from sphinx_memreport.cli.exits import Failure
from sphinx_memreport.cli.files import write_atomic, write_changes
from sphinx_memreport.cli.output import Change, diff

ONE_LINE = """\
# Memory

A paragraph  with two spaces.\t

:::{memobject} MEM-OBJ-note — Note
:substrate: A list.

- In a list:

  ```{evidence} SRC-1 src/jotter/store.py
  :caption: The store.

  class Store: def save(self, note): self.notes.append(note)
  ```

> ```{evidence} src/jotter/recall.py
> scored.sort(key=lambda pair: pair[0], reverse=True) return [note for _, note in scored[:limit]]
> ```
:::

```{evidence} SRC-1 README.md
Jotter forgets notes.
```
"""
LAID_OUT = ONE_LINE.replace(
    "  class Store: def save(self, note): self.notes.append(note)\n",
    "  class Store:\n      def save(self, note):\n          self.notes.append(note)\n",
).replace("reverse=True) return", "reverse=True)\n> return")
REST = """\
Rest
====

* In a list:

  .. evidence:: SRC-1 src/jotter/store.py
     :lines: 1-3

     class Store: def save(self, note): self.notes.append(note)

End.
"""
REST_LAID_OUT = REST.replace(
    "     class Store: def save(self, note): self.notes.append(note)\n",
    "     class Store:\n         def save(self, note):\n             self.notes.append(note)\n",
)


@pytest.fixture
def project(tmp_path: Path, pinned_repo: PinnedRepo) -> Project:
    project = Project(tmp_path / "p", pinned_repo)
    project.write({"memory.md": ONE_LINE, "rest.rst": REST})
    return project


def text(project: Project, name: str) -> str:
    return (project.root / name).read_bytes().decode()


def test_quotes_get_the_lines_of_their_source_and_nothing_else_changes(project: Project) -> None:
    result = project.run("fmt", "--write")
    assert (result.exit_code, result.stdout) == (0, "3 quotes changed in 2 files\n")
    assert text(project, "memory.md") == LAID_OUT
    assert text(project, "rest.rst") == REST_LAID_OUT
    assert result.stderr == (
        f"{project.root / 'memory.md'}:21: left alone: the quote is not verified "
        "(memreport.stale-quote)\n"
    )
    again = project.run("fmt", "--write", "--quiet")
    assert (again.stdout, again.stderr) == ("0 quotes changed in 0 files\n", "")


def test_without_write_a_diff_is_printed_that_patch_takes(project: Project) -> None:
    subprocess.run(["git", "init", "-q", project.root], check=True)
    done = project.run("fmt", "--quiet")
    assert done.exit_code == 1
    assert text(project, "memory.md") == ONE_LINE
    # names are relative to the current folder, which is none of the project's here
    patch = done.stdout.replace(str(project.root).lstrip("/") + "/", "")
    subprocess.run(["git", "apply"], cwd=project.root, input=patch, text=True, check=True)
    assert text(project, "memory.md") == LAID_OUT
    assert text(project, "rest.rst") == REST_LAID_OUT
    assert project.run("fmt", "--quiet").exit_code == 0


def test_the_verdicts_of_a_build_are_the_same_afterwards(
    project: Project, tmp_path: Path, pinned_repo: PinnedRepo
) -> None:
    site = TinySite(tmp_path / "site", pinned_repo)
    before = site.build({"memory.md": ONE_LINE}, builder="dummy").problems
    project.run("fmt", "--write")
    after = site.build({"memory.md": text(project, "memory.md")}, builder="dummy").problems
    assert [code for code, *_ in before] == [code for code, *_ in after] == ["stale-quote"]


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_line_ends_and_marks_are_kept(project: Project, ending: str, mark: str, last: str) -> None:
    old = mark + ONE_LINE.rstrip("\n") + last
    new = mark + LAID_OUT.rstrip("\n") + last
    project.write({"memory.md": old.replace("\n", ending)})
    project.run("fmt", "--write", project.root / "memory.md")
    assert text(project, "memory.md") == new.replace("\n", ending)


GUIDE = b"Save:\n\n```console\n$ jotter\n```\n\n:::{note}\nplain\n:::\n---\na: b\n---\n"


def guide(tmp_path: Path, document: str) -> str:
    project = Project(tmp_path / "p", plain(tmp_path / "r", {"guide.md": GUIDE}))
    project.write({"a.md": document})
    result = project.run("fmt", "--write")
    assert result.exit_code == 0, result.output
    return text(project, "a.md") + result.stderr.replace(str(project.root), "")


def test_a_fence_grows_with_the_marks_that_now_begin_lines(tmp_path: Path) -> None:
    shown = guide(tmp_path, "```{evidence} guide.md\nSave: ```console $ jotter ```\n```\nEnd\n")
    assert shown == ("````{evidence} guide.md\nSave:\n\n```console\n$ jotter\n```\n````\nEnd\n")


def test_a_quote_that_would_close_the_record_around_it_is_left_alone(tmp_path: Path) -> None:
    document = (
        ":::{memobject} MEM-OBJ-a\n```{evidence} guide.md\n:::{note} plain ::: --- a: b\n```\n:::\n"
    ).replace("\n:::{note}", "\n\n:::{note}")
    assert guide(tmp_path, document) == (
        document + "/a.md:2: left alone: its lines would close a fence around it; give that fence "
        "more marks\n"
    )
    wider = document.replace(":::{memobject}", "::::{memobject}").replace(
        "```\n:::\n", "```\n::::\n"
    )
    assert guide(tmp_path / "wider", wider) == wider.replace(
        ":::{note} plain ::: --- a: b", ":::{note}\nplain\n:::\n---\na: b"
    )


def test_what_is_no_evidence_is_not_touched(project: Project) -> None:
    block = "```{evidence} SRC-1 src/jotter/store.py\nclass Store: def save(self, note):\n```\n"
    literal = "````markdown\n" + block + "````\n\n" + "    ".join(["", *block.splitlines(True)])
    project.write({"memory.md": literal, "_build/x.md": block, ".venv/x.md": block})
    result = project.run("fmt", "--write", project.root / "memory.md")
    assert result.stdout == "0 quotes changed in 0 files\n"
    assert text(project, "memory.md") == literal
    project.run("fmt", "--write")
    assert text(project, "_build/x.md") == text(project, ".venv/x.md") == block
    comment = "% Write this:\n%\n" + "".join(f"% {line}" for line in block.splitlines(True))
    project.write({"memory.md": f"# M\n\n{comment}\n:::{{note}}\n{comment}:::\n"})
    result = project.run("fmt", project.root / "memory.md")
    assert (result.exit_code, result.output) == (0, "")


def test_documents_that_are_not_the_reports(tmp_path: Path, pinned_repo: PinnedRepo) -> None:
    project = Project(tmp_path / "p", pinned_repo, report_toml(pinned_repo, directory="jotter"))
    project.write({"other.md": ONE_LINE, "jotter/memory.md": ONE_LINE, "jotter/x.txt": "x"})
    result = project.run("fmt", "--write", "--quiet")
    assert result.stdout == "2 quotes changed in 1 file\n"
    assert text(project, "other.md") == ONE_LINE
    for name in ("other.md", "jotter/x.txt", "nowhere.md"):
        assert project.run("fmt", project.root / name).exit_code == 2, name


def test_a_source_out_of_reach_is_said_once(project: Project, pinned_repo: PinnedRepo) -> None:
    toml = report_toml(pinned_repo).replace(pinned_repo.path.as_posix(), "nowhere")
    project.write({"memreport.toml": toml})
    result = project.run("fmt", "--write", "--quiet")
    assert result.exit_code == 3
    assert result.stderr.count("nowhere does not exist") == 1
    assert text(project, "memory.md") == ONE_LINE


def test_a_file_that_is_not_utf8(project: Project) -> None:
    project.write({"latin.md": "caf\u00e9\n".encode("latin-1")})
    result = project.run("fmt")
    assert (result.exit_code, "latin.md:1: not UTF-8" in result.stderr) == (2, True)


# --- writing ----------------------------------------------------------------------------------


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("failure", "status", "said"),
    [(full, 2, "No space left on device"), (interrupted, 130, "interrupted")],
)
@pytest.mark.parametrize("step", ["os.fsync", "os.replace", "os.fdopen", "tempfile.mkstemp"])
def test_a_write_that_fails_leaves_the_old_files(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    failure: object,
    status: int,
    said: str,
) -> None:
    before = {path: path.read_bytes() for path in project.root.iterdir()}
    monkeypatch.setattr(f"sphinx_memreport.cli.files.{step}", failure)
    result = project.run("fmt", "--write", "--quiet")
    assert (result.exit_code, said in result.stderr) == (status, True), result.output
    assert {path: path.read_bytes() for path in project.root.iterdir()} == before


def test_a_full_disk_on_the_second_file_leaves_both(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync
    calls: list[int] = []

    def second(handle: int) -> None:
        calls.append(handle)
        full() if len(calls) == 2 else real(handle)

    before = {path: path.read_bytes() for path in project.root.iterdir()}
    monkeypatch.setattr("sphinx_memreport.cli.files.os.fsync", second)
    assert project.run("fmt", "--write").exit_code == 2
    assert {path: path.read_bytes() for path in project.root.iterdir()} == before


def test_modes_and_links_are_kept(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"old")
    file.chmod(0o640)
    link.symlink_to("file")
    write_changes([Change(link, b"old", b"new"), Change(tmp_path / "more", None, b"x")])
    assert link.is_symlink()
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"new", 0o640)
    assert (tmp_path / "more").read_bytes() == b"x"


# --- what is not read, and where nothing is written -------------------------------------------


def _link_to_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10**12)  # which takes no place


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_link_to_device, "z.md: expected a file, found something else\n    fix: "),
        (os.mkfifo, "z.md: expected a file, found something else\n    fix: "),
        (_huge, "z.md: the file is larger than 67108864 bytes\n    fix: "),
        (lambda path: path.symlink_to("z.md"), "z.md: the file cannot be read: "),
        (lambda path: path.write_bytes(b"# Z\n\n\xff\n"), "z.md:3: not UTF-8\n    fix: "),
    ],
)
@pytest.mark.parametrize("command", [("fmt",), ("fmt", "--write"), ("export", "--into", "new")])
def test_what_is_no_document_is_said_and_not_read(
    project: Project,
    command: tuple[str, ...],
    make: Callable[[Path], object],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(project.root)
    make(project.root / "z.md")
    result = project.run(*command)
    assert (result.exit_code, said in result.stderr) == (2, True), result.output
    assert text(project, "memory.md") == ONE_LINE
    assert not Path("new").exists()


def test_an_output_that_is_no_file_is_not_read_either(project: Project) -> None:
    os.mkfifo(project.root / "pipe")
    with pytest.raises(Failure, match="not a regular file"):
        write_atomic(project.root / "pipe", b"x")


@pytest.mark.parametrize(
    "target", ["../other/o.md", "{root}/../other/o.md", "far/../../other/o.md"]
)
def test_nothing_is_written_through_a_link_out_of_the_site(project: Project, target: str) -> None:
    other = project.root.parent / "other"
    other.mkdir()
    (project.root / "far").mkdir()
    (other / "o.md").write_text(ONE_LINE, encoding="utf-8")
    (project.root / "o.md").symlink_to(target.format(root=project.root))
    for named in ((), (project.root / "o.md",)):
        assert project.run("fmt", *named).exit_code == 1  # what it would do is shown
        result = project.run("fmt", *named, "--write")
        assert result.exit_code == 2
        assert "o.md leads out of" in result.stderr
        assert "nothing was written\n    fix: put the file itself in" in result.stderr
        assert (other / "o.md").read_text("utf-8") == text(project, "memory.md") == ONE_LINE
    assert sorted(path.name for path in other.iterdir()) == ["o.md"]
    assert project.run("export", "--into", project.root / "new").exit_code == 1  # reStructuredText


def test_links_inside_of_the_site_are_followed_and_stay(project: Project) -> None:
    (project.root / "far").mkdir()
    (project.root / "memory.md").rename(project.root / "far/memory.txt")
    link = project.root / "memory.md"
    link.symlink_to("far/memory.txt")
    whole = project.root.with_name("whole")
    whole.symlink_to(project.root, target_is_directory=True)  # a link around it all is none in it
    project.root = whole
    assert project.run("fmt", "--write").exit_code == 0
    assert link.is_symlink()
    assert (whole / "far/memory.txt").read_text("utf-8") == LAID_OUT


def test_what_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file, other = tmp_path / "file", tmp_path / "other"
    file.write_bytes(b"edited")
    other.write_bytes(b"old")
    for change in (Change(file, b"old", b"new"), Change(file, None, b"new")):
        with pytest.raises(Failure, match="changed while"):
            write_changes([Change(other, b"old", b"new"), change])
    assert (file.read_bytes(), other.read_bytes()) == (b"edited", b"old")
    assert sorted(tmp_path.iterdir()) == [file, other]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"a\nb\n", b"a\nc\n"),
        (b"a\r\nb", b"a\r\nb\n"),
        (b"a\xe2\x80\xa8b\x0cc\n", b"a\xe2\x80\xa8b\x0cd\n"),
        (b"\xff\n", b"\xfe"),
        (None, b"new\n"),
        (b"one\n", b""),
    ],
)
def test_diffs_apply(tmp_path: Path, old: bytes | None, new: bytes) -> None:
    file = tmp_path / "f"
    if old is not None:
        file.write_bytes(old)
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    patch = diff(Change(file, old, new), tmp_path)
    subprocess.run(["git", "apply", "--unidiff-zero"], cwd=tmp_path, input=patch, check=True)
    assert file.read_bytes() == new
