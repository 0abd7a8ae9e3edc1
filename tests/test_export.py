"""``memreport.json``: what is in it, its schema, and bytes that only the content decides."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pinned_repo import PinnedRepo, plain
from sitebuilder import Built, TinySite, report_toml

from sphinx_memreport.core.export import (
    SCHEMA_FILE,
    Export,
    InvalidExport,
    export_site,
    read_records,
    schema_bytes,
)
from sphinx_memreport.core.ids import Kind, MemberName
from sphinx_memreport.core.models import (
    Amendment,
    Annotation,
    CoverageRow,
    FieldValue,
    Profile,
    ProfileAxis,
    Record,
    Reference,
    ReferenceOrigin,
    Supplied,
)
from sphinx_memreport.core.output import json_bytes, write_changed
from sphinx_memreport.core.registry import Registry
from sphinx_memreport.core.site import Site

MEMORY = """\
# Memory

```{memmember} memory
```

:::{memobject} MEM-OBJ-note — Stored note
:identity: One note of MEM-OBJ-store
:part-of: MEM-OBJ-store
:tags: kept, small

```{evidence} SRC-1 src/jotter/store.py
:layer: implementation
self.notes.append(note)
```

```{evidence} src/jotter/store.py
:lines: 1-2
self.notes
```

```{evidence} SRC-1 src/jotter/store.py
self.notes
```

```{evidence} SRC-1 src/jotter/gone.py
self.notes
```
:::

:::{memobject} MEM-OBJ-store — Store
:::

RT-RTE-answer reads MEM-OBJ-note; see {memsrc}`README.md` and {memsrc}`src/gone`.

```{memsupplied}
:member: runtime
RT-RTE-answer: Answer route <https://example.org/runtime#rt-rte-answer>
```
"""
QUILL = "# Quill\n\n:::{memobject} MEM-OBJ-nib — Nib\nWrites {mem}`jotter:MEM-OBJ-store`.\n:::\n"
CAPTURE = """
[reports.quill]
directory = "quill"
system = "Quill"
run-id = "run 7"
boundary-kind = "subsystem-only"
contract = "strict"
[reports.quill.sources.SRC-2]
kind = "capture"
identity = "https://example.org/post"
file = "captures/post.html"
sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
layer = "reported operation"
"""


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> PinnedRepo:
    return plain(tmp_path_factory.mktemp("repositories") / "jotter")


def make_site(root: Path, repo: PinnedRepo) -> TinySite:
    site = TinySite(root)
    toml = report_toml(repo, directory="jotter", source='layers = {implementation = ["src/**"]}')
    site.write(
        {
            "memreport.toml": toml + CAPTURE,
            "captures/post.html": "abc",
            "jotter/memory.md": MEMORY,
            "quill/all.md": QUILL,
            "quill/second.md": QUILL,
        }
    )
    return site


@pytest.fixture(scope="module")
def built(repo: PinnedRepo, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return make_site(tmp_path_factory.mktemp("export"), repo).build()


@pytest.fixture(scope="module")
def data(built: Built) -> dict[str, Any]:
    exported: dict[str, Any] = built.data("memreport.json")
    return exported


# --- content ------------------------------------------------------------------------------


def test_reports_and_sources_are_as_configured(data: dict[str, Any], repo: PinnedRepo) -> None:
    assert data["schema_version"] == 1
    assert [(each["slug"], each["system"], each["contract"]) for each in data["reports"]] == [
        ("jotter", "Jotter", "core"),
        ("quill", "Quill", "strict"),
    ]
    assert data["reports"][0]["documents"] == [
        {
            "docname": "jotter/memory",
            "title": "Memory",
            "member": "memory",
            "uri": "jotter/memory.html",
        }
    ]
    assert data["reports"][1]["run_id"] == "run 7"
    assert data["reports"][1]["boundary_kind"] == "subsystem-only"
    first, second = data["sources"]
    assert (first["report"], first["id"], first["kind"]) == ("jotter", "SRC-1", "git")
    assert first["repository"] == "https://github.com/example/jotter"
    assert first["commit"] == repo.commit
    assert first["layers"] == [{"layer": "implementation", "globs": ["src/**"]}]
    assert (second["identity"], second["kind"]) == ("https://example.org/post", "capture")
    assert second["layers"] == [{"layer": "reported operation", "globs": []}]


def test_records_are_complete(data: dict[str, Any]) -> None:
    records = {(each["report"], each["id"], each["docname"]): each for each in data["records"]}
    assert list(records) == [
        ("jotter", "MEM-OBJ-note", "jotter/memory"),
        ("jotter", "MEM-OBJ-store", "jotter/memory"),
        ("quill", "MEM-OBJ-nib", "quill/all"),
        ("quill", "MEM-OBJ-nib", "quill/second"),  # a duplicate is a problem, not a gap
    ]
    note = records["jotter", "MEM-OBJ-note", "jotter/memory"]
    assert (note["kind"], note["label"], note["member"]) == ("OBJ", "Stored note", "memory")
    assert (note["line"], note["uri"]) == (6, "jotter/memory.html#mem-obj-note")
    assert note["fields"]["identity"] == "One note of MEM-OBJ-store"
    assert note["tags"] == ["kept", "small"]
    assert (note["part_of"], note["cites"], note["cited_by"]) == (
        "MEM-OBJ-store",
        ["MEM-OBJ-store"],
        [],
    )
    store = records["jotter", "MEM-OBJ-store", "jotter/memory"]
    assert store["parts"] == ["MEM-OBJ-note"]
    assert store["cited_by"] == ["MEM-OBJ-note", "quill:MEM-OBJ-nib"]


def test_evidence_has_its_verdict(data: dict[str, Any], repo: PinnedRepo) -> None:
    blob = repo.git("rev-parse", f"{repo.commit}:src/jotter/store.py").strip()
    found = [
        (each["line"], each["source"], each["status"], each["blob"], each["lines"])
        for each in data["evidence"]
    ]
    assert found == [
        (11, "SRC-1", "verified", blob, {"start": 3, "end": 3}),
        (16, "SRC-1", "stale", blob, None),
        (21, "SRC-1", "ambiguous", blob, None),
        (25, "SRC-1", "missing", None, None),
    ]
    first, second, *_ = data["evidence"]
    assert (first["quote"], first["record"]) == ("self.notes.append(note)", "MEM-OBJ-note")
    assert (first["layer"], first["path"]) == ("implementation", "src/jotter/store.py")
    assert second["within"] == {"start": 1, "end": 2}


def test_references_paths_and_supplied_ids(data: dict[str, Any]) -> None:
    cited = [
        (each["report"], each["target"], each["names"], each["record"], each["docname"])
        for each in data["references"]
        if each["line"] > 30 or each["docname"] != "jotter/memory"
    ]
    assert ("jotter", "RT-RTE-answer", "supplied", None, "jotter/memory") in cited
    assert ("jotter", "MEM-OBJ-note", "record", None, "jotter/memory") in cited
    assert ("jotter", "MEM-OBJ-store", "record", "MEM-OBJ-nib", "quill/all") in cited
    assert [(each["path"], each["exists"]) for each in data["paths"]] == [
        ("README.md", True),
        ("src/gone", False),
    ]
    (supplied,) = data["supplied"]
    assert (supplied["id"], supplied["member"]) == ("RT-RTE-answer", "runtime")
    assert supplied["url"] == "https://example.org/runtime#rt-rte-answer"


def test_problems_are_those_of_the_build(data: dict[str, Any], built: Built) -> None:
    told = [(each["code"], each["docname"], each["line"]) for each in data["problems"]]
    assert told == built.problems
    assert ("duplicate-id", "quill/second", 3) in told
    stale = next(each for each in data["problems"] if each["code"] == "stale-quote")
    assert (stale["file"], stale["severity"]) == ("jotter/memory.md", "error")
    assert stale["help"].endswith("/reference/problems.html#problem-stale-quote")


def test_what_others_say_of_a_record_is_with_it() -> None:
    registry = Registry()
    facts = registry.facts("doc")
    common: dict[str, Any] = {"report": "jotter", "docname": "doc"}
    facts.report = "jotter"
    facts.records += [
        Record(**common, id=name, kind=Kind.OBJECT, label="", line=line)
        for name, line in (("RT-OBJ-old", 1), ("RT-OBJ-new", 2))
    ]
    facts.supplied.append(Supplied(**common, id="RT-RTE-a", line=3))
    facts.annotations += [
        Annotation(
            **common,
            target=target,
            kind=Kind.OBJECT,
            line=line,
            anchor=f"annotation-{line}",
            member=MemberName.MEMORY,
            fields=(FieldValue(name="form", text="symbolic"),),
        )
        for target, line in (("RT-OBJ-old", 5), ("RT-RTE-a", 4), ("RT-OBJ-gone", 6))
    ]
    facts.amendments.append(
        Amendment(**common, target="RT-OBJ-old", line=7, anchor="a", superseded_by=("RT-OBJ-new",))
    )
    facts.references += [
        Reference(
            **common,
            target="RT-RTE-a",
            line=2,
            origin=ReferenceOrigin.BARE,
            record="RT-OBJ-new",
            option="counterpart",
        ),
        Reference(
            **common,
            target="RT-OBJ-new",
            line=5,
            origin=ReferenceOrigin.BARE,
            record="RT-OBJ-old",
            annotation="annotation-5",
        ),
    ]
    facts.coverage.append(CoverageRow(**common, line=8, entry="Ingest", records=("RT-OBJ-old",)))
    axis = ProfileAxis(line=10, name="lineage", assessment="absent")
    facts.profiles.append(Profile(**common, line=9, axes=(axis,)))

    found = export_site(Site(registry, {}, {}), [], [], [], lambda name: f"{name}.html")

    new, old = found.records
    assert (old.superseded_by, new.supersedes) == (("RT-OBJ-new",), ("RT-OBJ-old",))
    assert new.counterpart == ("RT-RTE-a",)
    (annotation,) = old.annotations
    assert (annotation.member, annotation.fields) == ("memory", {"form": "symbolic"})
    assert (annotation.uri, annotation.cites) == ("doc.html#annotation-5", ("RT-OBJ-new",))
    (supplied,) = found.supplied
    assert [each.line for each in supplied.annotations] == [4]
    assert supplied.cited_by == ("RT-OBJ-new",)
    # also what is said of a record that does not exist is there
    assert [each.target for each in found.annotations] == ["RT-OBJ-gone", "RT-OBJ-old", "RT-RTE-a"]
    assert [each.target for each in found.amendments] == ["RT-OBJ-old"]
    assert [(each.entry, each.records) for each in found.coverage] == [("Ingest", ("RT-OBJ-old",))]
    assert found.profiles[0].axes[0].assessment == "absent"


# --- schema -------------------------------------------------------------------------------


def test_the_shipped_schema_is_that_of_the_models() -> None:
    hint = "run: python -m sphinx_memreport.core.export"
    assert SCHEMA_FILE.read_bytes() == schema_bytes(), hint


def test_the_schema_is_written_anew_by_one_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sphinx_memreport.core import export

    monkeypatch.setattr(export, "SCHEMA_FILE", tmp_path / "new" / "schema.json")
    export.main()
    assert (tmp_path / "new" / "schema.json").read_bytes() == SCHEMA_FILE.read_bytes()


def test_the_export_follows_the_schema_and_the_models(data: dict[str, Any], built: Built) -> None:
    schema = json.loads(SCHEMA_FILE.read_bytes())
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    assert list(validator.iter_errors(data)) == []
    assert list(validator.iter_errors({**data, "more": 1}))  # it does refuse something
    again = Export.model_validate_json((built.out / "memreport.json").read_bytes())
    assert again.to_bytes() == (built.out / "memreport.json").read_bytes()


# --- bytes --------------------------------------------------------------------------------


def test_the_file_is_utf8_and_ends_with_a_newline(built: Built) -> None:
    text = (built.out / "memreport.json").read_bytes().decode("utf-8")
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")


def test_nothing_of_the_machine_is_in_it(repo: PinnedRepo, tmp_path: Path) -> None:
    """Also where messages name paths: sources that are missing, and an unpublished one."""
    exports = []
    for name in ("one", "another"):
        root = tmp_path / name
        site = make_site(root, repo)
        toml = (site.source / "memreport.toml").read_text()
        toml = toml.replace("https://github.com/example/jotter", f"file://{root}/origin")
        toml = re.sub(r'checkout = ".*"', f'checkout = "{root}/gone"', toml)
        toml = toml.replace("captures/post.html", "captures/missing.html")
        built = site.build({"memreport.toml": toml})
        assert {code for code, *_ in built.problems} >= {"checkout-missing"}
        exports.append((built.out / "memreport.json").read_text())
        assert str(tmp_path) not in exports[-1]
    assert exports[0] == exports[1]
    data = json.loads(exports[0])
    assert {each["status"] for each in data["evidence"]} == {"unverified"}
    assert data["sources"][0]["repository"] is None
    missing = [each for each in data["problems"] if each["code"] == "checkout-missing"]
    assert [each["file"] for each in missing] == ["memreport.toml", "memreport.toml"]
    assert "<checkout of SRC-1>" in missing[0]["message"]


def test_the_local_file_changes_nothing(repo: PinnedRepo, tmp_path: Path, built: Built) -> None:
    site = make_site(tmp_path / "local", repo)
    toml = (site.source / "memreport.toml").read_text()
    site.write(
        {
            "memreport.toml": toml.replace(repo.path.as_posix(), "../checkouts/jotter"),
            "memreport.local.toml": "[reports.jotter.sources.SRC-1]\n"
            f'checkout = "{repo.path.as_posix()}"\n',
        }
    )

    local = site.build()

    assert read(local) == read(built)


def read(built: Built) -> bytes:
    return (built.out / "memreport.json").read_bytes()


def test_serial_parallel_and_second_builds_give_the_same_bytes(
    repo: PinnedRepo, tmp_path: Path, built: Built
) -> None:
    site = make_site(tmp_path / "again", repo)
    assert site.run("-j", "2", "-q").returncode == 1
    parallel = site.root / "cache" / "html" / "memreport.json"
    assert parallel.read_bytes() == read(built)
    before = parallel.stat()

    second = site.build()

    assert second.written == []
    assert read(second) == read(built)
    after = parallel.stat()
    assert (after.st_mtime_ns, after.st_ino) == (before.st_mtime_ns, before.st_ino)


def test_edits_end_with_the_bytes_of_a_fresh_build(repo: PinnedRepo, tmp_path: Path) -> None:
    site = make_site(tmp_path / "edited", repo)
    first = read(site.build(builder="dummy"))
    site.write({"quill/second.md": None, "quill/new.md": "# New\n\njotter:MEM-OBJ-note\n"})

    edited = read(site.build(builder="dummy"))

    assert edited != first
    assert edited == read(site.build(builder="dummy", cache="fresh"))


@pytest.mark.parametrize(
    ("builder", "uri"),
    [
        ("dirhtml", "jotter/memory/#mem-obj-note"),
        ("singlehtml", None),
        ("dummy", None),
        ("latex", None),
        ("epub", "jotter/memory.xhtml#mem-obj-note"),
        ("gettext", None),
        ("text", None),
    ],
)
def test_every_builder_writes_it(
    repo: PinnedRepo, tmp_path: Path, builder: str, uri: str | None
) -> None:
    site = make_site(tmp_path / "site", repo)

    built = site.build(builder=builder)

    assert built.status == 1
    assert built.data("memreport.json")["records"][0]["uri"] == uri


def test_the_epub_builder_knows_our_files(repo: PinnedRepo, tmp_path: Path) -> None:
    site = make_site(tmp_path / "site", repo)
    files = {"json": "p/./p.json", "sarif": str(site.root / "cache" / "epub" / "p.sarif")}
    for _ in range(2):  # the second finds what the first wrote
        built = site.build(builder="epub", memreport_report=files, version="1")
        assert "unknown mimetype" not in built.warnings
    assert (built.out / "p" / "p.json").exists()
    assert (built.out / "p.sarif").exists()


def test_text_that_is_no_unicode_does_not_stop_it() -> None:
    registry = Registry()
    facts = registry.facts("m\udc80")
    fields = (FieldValue(name="identity", text="a \ud800 b"),)
    facts.records.append(
        Record(
            report="jotter",
            id="MEM-OBJ-note",
            kind=Kind.OBJECT,
            label="é\udcff",
            docname="m\udc80",
            line=1,
            fields=fields,
        )
    )
    facts.supplied.append(Supplied(report="jotter", id="RT-RTE-a", docname="m\udc80", line=2))

    exported = export_site(Site(registry, {}, {}), [], [], [], lambda _name: None).to_bytes()

    text = exported.decode("utf-8")
    assert '"label": "é\\udcff"' in text
    assert json.loads(text)["records"][0]["fields"] == {"identity": "a \ud800 b"}


def test_a_folder_in_its_place_is_an_error_and_no_traceback(
    repo: PinnedRepo, tmp_path: Path
) -> None:
    site = TinySite(tmp_path / "site", repo)
    (site.root / "cache" / "dummy" / "memreport.json").mkdir(parents=True)

    ran = site.run(builder="dummy")

    assert ran.returncode == 1
    assert "the export: cannot write 'memreport.json': it is not a regular file" in ran.stderr
    assert "Traceback" not in ran.stderr


# --- writing and reading files ------------------------------------------------------------


def test_a_file_is_written_only_when_its_bytes_change(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    assert write_changed(path, b"a")
    before = path.stat()
    assert not write_changed(path, b"a")
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert write_changed(path, b"b")
    assert path.read_bytes() == b"b"
    assert path.stat().st_ino != before.st_ino  # replaced, never half written
    assert [each.name for each in path.parent.iterdir()] == ["file"]


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write_changed(tmp_path / "link", b"a")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"a"


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        write_changed(tmp_path / "pipe", b"a")


def test_json_is_sorted() -> None:
    assert json_bytes({"b": [{"y": 1, "x": 2}, 3], "a": "ü"}) == (
        '{\n"a": "ü",\n"b": [\n{"x": 2, "y": 1},\n3\n]\n}\n'.encode()
    )


def test_records_of_a_later_minor_form_can_be_read() -> None:
    record = {"report": "jotter", "id": "RT-RTE-a", "label": "A", "news": [1]}
    content = {"schema_version": 1, "records": [record], "more": {}}
    (found,) = read_records(json.dumps(content).encode())
    assert (found.id, found.uri) == ("RT-RTE-a", None)
    with pytest.raises(InvalidExport, match="schema_version is None"):
        read_records(b'{"records": []}')


def test_the_core_is_run_without_sphinx() -> None:
    code = (
        "import sys; sys.modules['sphinx'] = None\n"
        "from sphinx_memreport.core import export, problem_files\n"
        "print(export.SCHEMA_VERSION, len(problem_files.problems_json([])))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["1", "3"]
