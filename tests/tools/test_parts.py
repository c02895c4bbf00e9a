"""Tests that repeat others at more sizes run in parts: each part has some, and all parts have all.

`make test-rest` draws a part by the commit (tools/run_tests.py).
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from repository import BUILD, REPOSITORY

SUITE = BUILD / "src" / "longshore" / "array" / "array_spmd_tests"


def layouts(part: int | None, asked: str, environment: dict[str, str], *options: str) -> list[str]:
    """The layouts in which a suite runs."""
    variables = environment if part is None else environment | {"LONGSHORE_TEST_PART": str(part)}
    words: list[str | Path] = [SUITE, "--transport", "threads", "--layouts", asked, "--gtest_filter=Locate*", *options]
    done = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    return re.findall(r"^==== layout (\S+) on threads$", done.stdout, re.MULTILINE)


def test_layouts_run_in_two_parts(quiet_environment: dict[str, str]) -> None:
    parts = [layouts(part, "1,2,4:2", quiet_environment, "--rotate") for part in (4, 5)]
    assert parts == [["1", "4:2"], ["2"]]
    assert layouts(5, "3", quiet_environment, "--rotate") == ["3"]
    assert layouts(None, "1,2", quiet_environment, "--rotate") == ["1", "2"]
    assert layouts(5, "1,2", quiet_environment) == ["1", "2"]


CASES = """
import pytest

@pytest.mark.thorough
@pytest.mark.parametrize("n", range(7))
def test_many(n): pass

@pytest.mark.parametrize("n", [0, pytest.param(1, marks=pytest.mark.thorough)])
def test_few(n): pass
"""


@pytest.mark.parametrize(("part", "numbers"), [("", "0123456"), ("3", "036"), ("4", "14"), ("5", "25")])
def test_thorough_cases_run_in_three_parts(
    part: str, numbers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "test_it.py").write_text(CASES, encoding="utf-8")
    (tmp_path / "conftest.py").write_text("from system_conftest import pytest_collection_modifyitems\n", "utf-8")
    (tmp_path / "system_conftest.py").symlink_to(REPOSITORY / "tests" / "conftest.py")
    monkeypatch.setenv("LONGSHORE_TEST_PART", part)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{REPOSITORY / 'tests'}:{REPOSITORY / 'tests' / 'clean_root'}")
    words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*words, "-c", REPOSITORY / "pyproject.toml", tmp_path / "test_it.py"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.findall(r"test_many\[(\d)\]", done.stdout) == [*numbers], done.stdout + done.stderr
    assert re.findall(r"test_few\[(\d)\]", done.stdout) == ["0", "1"]
