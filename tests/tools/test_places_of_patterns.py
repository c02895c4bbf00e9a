"""The places that CONTRIBUTING names for a new pattern: two in bench, and one in the study tool."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from repository import REPOSITORY

PLACES = {
    "bench/patterns": None,
    "bench/CMakeLists.txt": r"\n  patterns/(\w+)/\w+\.cpp",
    "bench/patterns/patterns.hpp": r"\b(\w+)_pattern\(\)[,}]",
    "study/src/longshore_study/patterns": None,
}
"""Files, with an expression that finds the patterns in the file; or a folder with an entry each."""


def patterns_at(root: Path, place: str) -> set[str]:
    expression = PLACES[place]
    if expression is not None:
        return set(re.findall(expression, (root / place).read_text("utf-8")))
    names = {
        entry.name if entry.is_dir() else entry.stem for entry in (root / place).iterdir() if entry.suffix != ".hpp"
    }
    return names - {"__init__", "__pycache__", "pattern"}


def missing(root: Path) -> dict[str, set[str]]:
    found = {place: patterns_at(root, place) for place in PLACES}
    known = set.union(*found.values())
    return {place: known - names for place, names in found.items() if known - names}


def test_every_pattern_is_in_each_place() -> None:
    assert "gather" in patterns_at(REPOSITORY, "bench/CMakeLists.txt")
    assert missing(REPOSITORY) == {}


@pytest.mark.parametrize("forgotten", PLACES)
def test_a_forgotten_place_is_found(tmp_path: Path, forgotten: str) -> None:
    for place in PLACES:
        if (REPOSITORY / place).is_dir():
            shutil.copytree(REPOSITORY / place, tmp_path / place)
    shutil.copy(REPOSITORY / "bench/CMakeLists.txt", tmp_path / "bench/CMakeLists.txt")
    steps = {
        "bench/CMakeLists.txt": (
            "  patterns/stream/stream.cpp",
            "  patterns/stream/stream.cpp\n  patterns/toy/toy.cpp",
        ),
        "bench/patterns/patterns.hpp": ("control_pattern()}", "control_pattern(), toy_pattern()}"),
    }
    for place, (old, new) in steps.items():
        text = (tmp_path / place).read_text("utf-8")
        assert old in text
        if place != forgotten:
            (tmp_path / place).write_text(text.replace(old, new), "utf-8")
    if forgotten != "bench/patterns":
        (tmp_path / "bench/patterns/toy").mkdir()
    if forgotten != "study/src/longshore_study/patterns":
        (tmp_path / "study/src/longshore_study/patterns/toy.py").touch()
    assert missing(tmp_path) == {forgotten: {"toy"}}
