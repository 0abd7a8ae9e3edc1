"""A sample of the campaign of ``mutations.py``: edits of every kind and operation."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from edits import OPERATIONS, Edit, edits
from mutations import check, disagreements, edited, example, objections, sample
from sitebuilder import TinySite

SEED, COUNT = 6, 44  # four of every kind


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> TinySite:
    return example(tmp_path_factory.mktemp("mutations"))


@pytest.fixture(scope="module")
def chosen(site: TinySite) -> list[Edit]:
    rng = random.Random(SEED)
    return sample(list(edits(site.source, rng)), COUNT, rng)


def test_the_sample_has_every_kind_and_operation(chosen: list[Edit]) -> None:
    kinds = Counter(edit.kind for edit in chosen)
    assert kinds.keys() == {
        *("quote", "white space", "lines", "declaration", "reference", "source"),
        *("path", "range", "status", "pin", "capture"),
    }
    assert min(kinds.values()) >= 4
    assert {edit.operation for edit in chosen} >= OPERATIONS.keys()


def test_an_edit_that_changes_meaning_is_noticed_and_no_other(
    site: TinySite, chosen: list[Edit]
) -> None:
    built = check(site)
    assert (built.problems, built.status) == ([], 0)
    wrong = {}
    for edit in chosen:
        with edited(edit):
            if found := objections(edit, check(site)):
                wrong[str(edit)] = found
    assert wrong == {}
    assert check(site).problems == []


def test_builds_on_the_cache_from_nothing_and_in_parallel_agree(
    site: TinySite, chosen: list[Edit]
) -> None:
    edit = next(edit for edit in chosen if edit.kind == "declaration")
    assert disagreements(site, edit) == []


# --- what the campaign found --------------------------------------------------------------


FOUND = {
    "a status that is none allows a profile anything: it is said where it stands": (
        "memory.md",
        ":operation: observed",
        ":operation: obServed",
        {"invalid-value"},
    ),
    "so does evidence of a source that is none": (
        "runtime.md",
        "{evidence} SRC-1 src/jotter/prompt.py",
        "{evidence} SRc-1 src/jotter/prompt.py",
        {"unknown-source"},
    ),
    "and evidence of a path that is none": (
        "runtime.md",
        "{evidence} SRC-1 src/jotter/prompt.py",
        "{evidence} SRC-1 sr/jotter/prompt.py",
        {"path-missing"},
    ),
    "a prefix that has lost one of its two letters is a mistake, and no other word": (
        "memory.md",
        "see RT-BAP-pinned-rules.",
        "see R-BAP-pinned-rules.",
        {"malformed-id"},
    ),
    "without its range, a passage may occur more than once": (
        "memory.md",
        ":lines: 44-50",
        ":lines: 44c-50",
        {"invalid-value"},
    ),
}


@pytest.mark.parametrize("case", FOUND)
def test_one_mistake_is_one_problem(site: TinySite, case: str) -> None:
    name, old, new, codes = FOUND[case]
    path = site.source / "jotter" / name
    lines = path.read_text().split("\n")
    number = max(n for n, line in enumerate(lines, start=1) if line.endswith(old))
    line = lines[number - 1].replace(old, new)
    with edited(Edit("found", "", path, number, line, frozenset())):
        assert {code for code, _, _ in check(site).problems} == codes
