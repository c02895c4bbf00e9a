"""import-linter refuses imports that the layers of the study tool forbid."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from repository import REPOSITORY


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["lint-imports", "--no-cache", "--no-logo"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "src", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(REPOSITORY / "study" / "pyproject.toml", tmp_path)
    shutil.copytree(REPOSITORY / "study" / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("store/selection.py", "from longshore_study.report import labels"),
        ("stats/student.py", "from longshore_study.host import machine"),
        ("metrics/counters.py", "def late() -> None:\n    from longshore_study.planning import plan"),
    ],
)
def test_an_upward_or_sideways_import_is_refused(copy: Path, module: str, line: str) -> None:
    path = copy / "src" / "longshore_study" / module
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(copy)
    assert done.returncode == 1
    importing = f"longshore_study.{module.removesuffix('.py').replace('/', '.')}"
    assert f"- {importing} -> " in done.stdout


def test_a_package_outside_the_layers_is_refused(copy: Path) -> None:
    package = copy / "src" / "longshore_study" / "elsewhere"
    package.mkdir()
    (package / "__init__.py").touch()
    done = lint_imports(copy)
    assert done.returncode == 1
    assert "elsewhere" in done.stdout


def test_the_study_tool_keeps_its_layers(copy: Path) -> None:
    done = lint_imports(copy)
    assert done.returncode == 0, done.stdout
