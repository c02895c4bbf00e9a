"""`make study` builds longshore-bench alone; `make help` explains each target."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from repository import REPOSITORY


def steps(preset: str, target: str, folder: Path) -> list[str]:
    """The steps of a build from an empty folder, which are not executed."""
    configure = ["cmake", "--preset", preset, "-B", str(folder), "-Wno-dev", "--log-level=WARNING"]
    subprocess.run(configure, cwd=REPOSITORY, check=True, capture_output=True)
    command = ["ninja", "-C", str(folder), "-n", target]
    environment = os.environ | {"NINJA_STATUS": ""}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return done.stdout.splitlines()


def test_make_study_compiles_no_test_no_example_and_no_binding(tmp_path: Path) -> None:
    done = steps("study", "longshore-bench", tmp_path)
    objects = [step.split()[-1] for step in done if step.startswith("Building")]
    assert any(name.startswith("bench/") for name in objects)
    assert [name for name in objects if re.search(r"test|^examples/|^bindings/", name)] == []


def test_make_help_lists_every_target() -> None:
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony
    shown = subprocess.run(["make", "help"], cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    assert re.findall(r"^  make (\S+)", shown, re.MULTILINE) == phony[1].split()
