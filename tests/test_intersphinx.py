"""Sites that reach each other: external roles, and records supplied from another site's data."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from pinned_repo import PinnedRepo, plain
from sitebuilder import Built, TinySite, report_toml

from sphinx_memreport.sphinx_ext.domain import mem_domain

OTHER_URL = "https://other.example.org/base/"
OTHER = """\
# Runtime

```{memmember} runtime
```

:::{memroute} RT-RTE-answer — Answer *route*
:implementation: wired
:immediate-return: Text.
:later-readback: uninspected — out of scope.
:delegated-visibility: inapplicable — nothing is delegated.
:selection: None.
:invalidation: None.
:activation: None.
:evidence-limits: Static reading.
:::

:::{memobject} RT-OBJ-cache — Cache
:::
"""
NOTE = "# Memory\n\n:::{memobject} MEM-OBJ-note — Stored note\n:::\n\n"
EXTENSIONS = ["myst_parser", "sphinx_memreport", "sphinx.ext.intersphinx"]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The built site that is reached: report ``jotter`` with a runtime and a memory member."""
    root = tmp_path_factory.mktemp("other")
    site = TinySite(root / "site", plain(root / "jotter"))
    built = site.build({"runtime.md": OTHER, "sub/memory.md": NOTE})
    assert (built.problems, built.status) == ([], 0)
    return built


@pytest.fixture
def site(tmp_path: Path, pinned_repo: PinnedRepo) -> TinySite:
    """The site that reaches it: report ``quill``."""
    site = TinySite(tmp_path / "own")
    site.write({"memreport.toml": report_toml(pinned_repo, "quill")})
    return site


def build(site: TinySite, other: Built, text: str, **settings: Any) -> Built:
    mapping = {"other": (OTHER_URL, str(other.out / "objects.inv"))}
    return site.build(
        {"page.md": f"# Page\n\n{text}"},
        extensions=EXTENSIONS,
        intersphinx_mapping=mapping,
        nitpicky=True,
        **settings,
    )


def links(built: Built, docname: str = "page") -> list[tuple[str, str]]:
    """Text and address of the links that leave the site."""
    body = built.soup(docname).select_one("[role=main]")
    assert body is not None
    tags = body.select("a[href^=http]")
    return [(tag.get_text(), str(tag["href"])) for tag in tags]


# --- external roles -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "text", "address"),
    [
        (
            "{external+other:mem:record}`jotter:MEM-OBJ-note`",
            "MEM-OBJ-note — Stored note",
            "sub/memory.html#mem-obj-note",
        ),
        (
            "{external:mem:record}`jotter:RT-RTE-answer`",
            "RT-RTE-answer — Answer route",
            "runtime.html#rt-rte-answer",
        ),
        (
            "{external+other:mem:record}`their MEM-OBJ-note <jotter:MEM-OBJ-note>`",
            "their MEM-OBJ-note",
            "sub/memory.html#mem-obj-note",
        ),
        (
            "{external+other:mem:source}`jotter:SRC-1`",
            "SRC-1 (jotter)",
            "runtime.html#src-1",
        ),
    ],
)
@pytest.mark.parametrize("directory", [".", "elsewhere"], ids=["in-a-report", "outside-reports"])
def test_an_external_role_links_to_the_card_on_the_other_site(
    site: TinySite,
    other: Built,
    pinned_repo: PinnedRepo,
    role: str,
    text: str,
    address: str,
    directory: str,
) -> None:
    site.write({"memreport.toml": report_toml(pinned_repo, "quill", directory=directory)})
    site.write({"elsewhere/start.md": "# Start\n"})

    built = build(site, other, f"See {role}.\n")

    assert (built.problems, built.warnings, built.status) == ([], "", 0)
    assert links(built) == [(text, OTHER_URL + address)]
    facts = mem_domain(built.env).facts("page")
    assert facts.references == []  # it cites nothing of this site


def test_an_external_role_works_in_an_option_and_beside_own_ids(
    site: TinySite, other: Built
) -> None:
    text = (
        ":::{memobject} MEM-OBJ-own — Own\n"
        ":identity: Like {external+other:mem:record}`jotter:MEM-OBJ-note`, not MEM-OBJ-own\n:::\n"
    )

    built = build(site, other, text)

    assert (built.problems, built.warnings) == ([], "")
    assert links(built) == [
        ("MEM-OBJ-note — Stored note", f"{OTHER_URL}sub/memory.html#mem-obj-note")
    ]


def test_an_external_role_to_nothing_is_said_by_intersphinx_alone(
    site: TinySite, other: Built
) -> None:
    built = build(site, other, "See {external+other:mem:record}`jotter:MEM-OBJ-gone`.\n")

    assert built.problems == []
    assert "page.md:3: WARNING: external mem:record reference target not found" in built.warnings


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        # the name of the site, of the report there, and no name
        ("{mem}`other:MEM-OBJ-note`", "{external+other:mem:record}`jotter:MEM-OBJ-note`"),
        ("{mem}`jotter:MEM-OBJ-note`", "{external+other:mem:record}`jotter:MEM-OBJ-note`"),
        ("MEM-OBJ-note", "{external+other:mem:record}`jotter:MEM-OBJ-note`"),
    ],
)
def test_a_dangling_id_that_another_site_has_proposes_the_external_role(
    site: TinySite, other: Built, text: str, fix: str
) -> None:
    built = build(site, other, f"See {text}.\n")

    assert built.problems == [("dangling-id", "page", 3)]
    assert f"write {fix} for the record of another site" in built.details[0].fix
    proposed = build(site, other, f"See {fix}.\n")
    assert (proposed.problems, proposed.warnings) == ([], "")


# --- memsupplied from a file --------------------------------------------------------------


def supplied(options: str, prose: str = "") -> str:
    return f"# Page\n\n```{{memsupplied}}\n{options}```\n\n{prose}"


def copy(other: Built, site: TinySite, name: str = "other.json") -> None:
    """Put the other site's data into the source folder."""
    site.write({name: (other.out / "memreport.json").read_bytes()})


def test_memsupplied_takes_records_from_another_sites_data(site: TinySite, other: Built) -> None:
    copy(other, site)
    text = supplied(
        f":from: other.json\n:url: {OTHER_URL}\n:member: runtime\n", "RT-RTE-answer returns it.\n"
    )

    built = site.build({"page.md": text})

    assert (built.problems, built.warnings, built.status) == ([], "", 0)
    assert links(built) == [
        ("RT-OBJ-cache", f"{OTHER_URL}runtime.html#rt-obj-cache"),
        ("RT-RTE-answer", f"{OTHER_URL}runtime.html#rt-rte-answer"),
    ]
    assert "Answer route RT-RTE-answer declared in runtime, outside this site" in built.text("page")
    assert built.soup("page").select('p a[href="#rt-rte-answer"]')
    entries = mem_domain(built.env).facts("page").supplied
    assert [(each.report, each.id, each.line, each.member) for each in entries] == [
        ("quill", "RT-OBJ-cache", 3, "runtime"),
        ("quill", "RT-RTE-answer", 3, "runtime"),
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("", ["MEM-OBJ-note", "RT-OBJ-cache", "RT-RTE-answer"]),
        (":report: jotter\n:member: runtime\n", ["RT-OBJ-cache", "RT-RTE-answer"]),
        (":ids: RT-RTE-answer, MEM-OBJ-note\n", ["RT-RTE-answer", "MEM-OBJ-note"]),
        (
            ":ids: RT-OBJ-cache, RT-OBJ-cache\n\nRT-RTE-own: By hand\n",
            ["RT-RTE-own", "RT-OBJ-cache"],
        ),
    ],
)
def test_options_select_what_is_taken(
    site: TinySite, other: Built, options: str, expected: list[str]
) -> None:
    copy(other, site)

    built = site.build({"page.md": supplied(f":from: other.json\n{options}")}, "dummy")

    assert built.problems == []
    entries = mem_domain(built.env).facts("page").supplied
    assert [each.id for each in entries] == expected
    assert {each.url for each in entries} == {None}


@pytest.mark.parametrize(
    ("docname", "name"),
    [("sub/page", "../other.json"), ("sub/page", "/other.json"), ("page", "./other.json")],
)
def test_the_path_starts_from_the_document_or_the_source_folder(
    site: TinySite, other: Built, docname: str, name: str
) -> None:
    copy(other, site)

    built = site.build({f"{docname}.md": supplied(f":from: {name}\n")}, "dummy")

    assert built.problems == []
    assert len(mem_domain(built.env).facts(docname).supplied) == 3


def test_the_file_may_be_in_the_folder_of_memreport_toml(
    tmp_path: Path, pinned_repo: PinnedRepo, other: Built
) -> None:
    site = TinySite(tmp_path / "own")
    (site.root / "memreport.toml").write_text(
        report_toml(pinned_repo, "quill", directory="source"), encoding="utf-8"
    )
    (site.root / "other.json").write_bytes((other.out / "memreport.json").read_bytes())

    built = site.build(
        {"page.md": supplied(":from: ../other.json\n")},
        "dummy",
        memreport_config="../memreport.toml",
    )

    assert (built.problems, built.warnings) == ([], "")
    assert len(mem_domain(built.env).facts("page").supplied) == 3


def test_a_changed_file_is_read_again(site: TinySite, other: Built) -> None:
    copy(other, site)
    prose = "RT-OBJ-cache is theirs.\n"
    first = site.build({"page.md": supplied(":from: other.json\n", prose)})
    assert first.problems == []
    assert site.build().read == []

    data = other.data("memreport.json")
    data["records"] = [each for each in data["records"] if each["id"] != "RT-OBJ-cache"]
    site.write({"other.json": json.dumps(data)})
    later = (site.source / "other.json").stat().st_mtime_ns + 10**10
    os.utime(site.source / "other.json", ns=(later, later))
    changed = site.build()

    assert changed.read == ["page"]
    assert changed.problems == [("dangling-id", "page", 7)]


def test_a_link_that_leads_to_an_older_file_is_followed_anew(site: TinySite, other: Built) -> None:
    copy(other, site, "new.json")
    data = other.data("memreport.json")
    data["records"] = [each for each in data["records"] if each["id"] != "RT-OBJ-cache"]
    site.write({"old.json": json.dumps(data)})
    os.utime(site.source / "old.json", (1_000_000_000, 1_000_000_000))
    link = site.source / "other.json"
    link.symlink_to("new.json")
    prose = "RT-OBJ-cache is theirs.\n"
    assert site.build({"page.md": supplied(":from: other.json\n", prose)}).problems == []
    assert site.build().read == []
    link.unlink()
    link.symlink_to("old.json")
    assert site.build().problems == [("dangling-id", "page", 7)]


def test_a_missing_file_is_looked_for_in_every_build(site: TinySite, other: Built) -> None:
    page = supplied(":from: other.json\n")
    assert site.build({"page.md": page}, "dummy").problems == [("invalid-value", "page", 3)]

    copy(other, site)

    assert site.build(builder="dummy").problems == []


VALID = '{"schema_version": 1, "records": [%s]}'


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "'other.json': No such file or directory"),
        ("", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        (b"\xff\xfe", "it is not JSON"),
        ("[]", "it has no list of records"),
        ('{"records": {}}', "it has no list of records"),
        ('{"schema_version": 2, "records": []}', "its schema_version is 2, expected 1"),
        (VALID % "7", "a record in it is not as expected"),
        (VALID % '{"report": "jotter", "id": "MEM-OBJ-note"}', "label: Field required"),
        (VALID % '{"report": "jotter", "id": "<b>", "label": ""}', "an ID has three parts"),
        (VALID % "", "that site has no records of a report 'quill'"),
    ],
)
def test_a_file_that_is_no_export_is_one_problem_at_the_directive(
    site: TinySite, content: str | bytes | None, said: str
) -> None:
    if content is not None:
        site.write({"other.json": content})
    text = supplied(":from: other.json\n:ids: RT-RTE-answer\n", "RT-RTE-answer is cited.\n")

    built = site.build({"page.md": text}, "dummy")

    assert built.problems == [("invalid-value", "page", 3)]
    assert said in built.details[0].message
    assert built.status == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (":from: ../secret.json\n", "'../secret.json' lies outside"),
        (":from: link.json\n", "'link.json' lies outside"),
        (":from: sub\n", "'sub' is not a regular file"),
        (":from: pipe\n", "'pipe' is not a regular file"),
        (":from: \n", "'' is not a regular file"),
        (':from: "a\\0b"\n', "is not the path of a file"),
        (":url: https://other.example.org/\n", "option 'url' needs the option 'from'"),
        (":from: other.json\n:url: javascript:alert(1)\n", "expected the address"),
        (":from: other.json\n:report: jottter\n", "no records of a report 'jottter'"),
        (":from: other.json\n:member: epistemic\n", "no records of a member 'epistemic'"),
        (":from: other.json\n:ids: RT-OBJ-cashe\n", "no record RT-OBJ-cashe here"),
        (":from: other.json\n:ids: ','\n", "names no ID"),
    ],
)
def test_options_that_cannot_be_used_are_one_problem(
    site: TinySite, other: Built, options: str, said: str
) -> None:
    copy(other, site)
    secret = site.root / "secret.json"
    secret.write_bytes((other.out / "memreport.json").read_bytes())
    (site.source / "link.json").symlink_to(secret)
    (site.source / "sub").mkdir()
    os.mkfifo(site.source / "pipe")

    built = site.build({"page.md": supplied(options)}, "dummy")

    assert built.problems == [("invalid-value", "page", 3)]
    assert said in built.details[0].message


def test_what_another_site_says_is_text_and_never_markup(site: TinySite) -> None:
    record = {
        "report": "jotter",
        "id": "RT-OBJ-cache",
        "label": "<script>alert(1)</script> \ud800\n{{ x }} `role`",
        "uri": "x.html\" onclick='alert(1)'#rt",
    }
    site.write({"other.json": json.dumps({"schema_version": 1, "records": [record]})})

    built = site.build({"page.md": supplied(f":from: other.json\n:url: {OTHER_URL}\n")})

    assert built.problems == []
    assert not built.soup("page").select("[role=main] script, [onclick]")
    assert "<script>alert(1)</script> ? {{ x }} `role`" in built.text("page")
    assert links(built) == []  # the address is none
