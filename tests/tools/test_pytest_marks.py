"""Each mark that keeps a test out of `make test` is declared, used, and explained."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from repository import REPOSITORY

PROJECT = REPOSITORY / "pyproject.toml"
FOLDERS = ("study/tests", "tests", "bindings/python/tests")


def marks() -> set[str]:
    declared = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["pytest"]["ini_options"]["markers"]
    return {line.partition(":")[0] for line in declared}


def test_each_mark_has_a_row_in_the_table_of_contributing() -> None:
    rows = re.findall(r"^\| .*", (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    explained = {name for row in rows for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert marks() - explained == set()


def test_each_mark_is_used() -> None:
    text = "".join(path.read_text("utf-8") for folder in FOLDERS for path in (REPOSITORY / folder).rglob("test_*.py"))
    text += (REPOSITORY / "tests/hosts/between_hosts.py").read_text("utf-8")
    assert marks() - set(re.findall(r"pytest\.mark\.(\w+)", text)) == set()


@pytest.mark.parametrize(("mark", "status"), [("thorough", 0), ("thorouhg", 2)])
def test_an_undeclared_mark_is_an_error(mark: str, status: int, tmp_path: Path) -> None:
    file = tmp_path / "test_it.py"
    file.write_text(f"import pytest\n@pytest.mark.{mark}\ndef test_it(): pass\n", encoding="utf-8")
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(PROJECT), str(file)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
