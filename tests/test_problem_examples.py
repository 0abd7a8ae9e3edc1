"""Every problem code has a failing example, which gives exactly what it says and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from docs_repo import docs_repository
from pinned_repo import PinnedRepo
from problem_examples import build_example, codes, read_example, said_by

from sphinx_memreport.core.problems import Code, Notice, Severity


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> PinnedRepo:
    return docs_repository(tmp_path_factory.mktemp("docs"))


def test_every_code_has_an_example() -> None:
    assert codes() == sorted([*Code, *Notice])


@pytest.mark.parametrize("code", [*Code, *Notice])
def test_example(code: Code | Notice, repository: PinnedRepo, tmp_path: Path) -> None:
    example = read_example(code)
    assert {found[0] for found in example.expected} == {code}
    built = build_example(example, tmp_path / "site", repository)
    assert built.problems == example.expected, built.warnings
    # docs/ shows this text; `python tests/problem_examples.py` writes it anew
    assert said_by(built) == example.said_file.read_text(encoding="utf-8")
    fails = any(problem.severity is Severity.ERROR for problem in built.details)
    refused = code is Code.INVALID_CONFIG
    assert built.status == (2 if refused else 1 if fails else 0)
