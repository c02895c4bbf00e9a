"""The page of the package names commands and extras that exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from longshore_study.cli.command_line import COMMANDS

STUDY = Path(__file__).resolve().parent.parent
PAGE = (STUDY / "README.md").read_text(encoding="utf-8")


def test_the_commands_on_the_page_exist() -> None:
    named = re.findall(r"^longshore (\w+)|`longshore (\w+)`", PAGE, re.MULTILINE)
    words = {first or second for first, second in named}
    assert {"run", "compare", "import"} <= words
    assert words <= {*COMMANDS}


def test_the_extras_on_the_page_exist() -> None:
    project = tomllib.loads((STUDY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {*re.findall(r"\[(\w+)\]", PAGE)}
    assert named
    assert named <= {*project["optional-dependencies"]}
