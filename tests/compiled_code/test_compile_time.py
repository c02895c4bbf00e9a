"""Plans for common element types are compiled in the library, not in each source that uses them.

This keeps compilation of user programs quick.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from repository import REPOSITORY

# The names of loops: parts of a plan, and functions that a plan calls.
LOOPS = ("_dispatch<", "exstack_gather<", "exstack_requests<", "engine_gather<", "engine_requests<", "request_reply<")


def symbols(folder: Path, *options: str) -> list[tuple[str, str]]:
    """Kind (U: used, but not defined here) and name of each symbol of the compiled source."""
    compiled = folder / "common_elements.o"
    source = REPOSITORY / "tests" / "compiled_code" / "common_elements.cpp"
    compiler = os.environ.get("CXX", "c++")
    options = ("-std=c++20", "-O2", f"-I{REPOSITORY / 'src'}", *options)
    subprocess.run([compiler, *options, "-c", str(source), "-o", str(compiled)], check=True)
    command = ["nm", "--demangle", "--format=posix", str(compiled)]
    listed = subprocess.run(command, check=True, capture_output=True, text=True)
    found = []
    for line in listed.stdout.splitlines():
        # A demangled name contains spaces. Its kind follows, and two numbers if it is defined.
        words = line.split(" ")
        kind_at = next(i for i in range(len(words) - 1, 0, -1) if len(words[i]) == 1 and words[i].isalpha())
        found.append((words[kind_at], " ".join(words[:kind_at])))
    return found


def defined_loops(found: list[tuple[str, str]]) -> set[str]:
    return {name for kind, name in found if kind != "U" and any(loop in name for loop in LOOPS)}


@pytest.mark.consumer
def test_plans_for_common_elements_are_calls_into_the_library(tmp_path: Path) -> None:
    found = symbols(tmp_path)
    assert defined_loops(found) == set()
    called = [name for kind, name in found if kind == "U"]
    for operation in ("plan_gather", "plan_scatter", "plan_update"):
        assert any(operation in name for name in called), operation


@pytest.mark.consumer
def test_loops_for_a_type_of_the_user_are_compiled_in_his_source(tmp_path: Path) -> None:
    """The test above can fail."""
    loops = defined_loops(symbols(tmp_path, "-DOWN_TYPE"))
    assert any("table_gather<pixel, longshore::block>" in name for name in loops)
    assert all("pixel" in name for name in loops)
