"""Programs compile without warnings, and wrong options of the compiler get an error in words."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from repository import REPOSITORY

HEADERS = (
    "longshore", "gather/gather", "halo/halo_exchange", "sort/bucket_sort", "stream/stream", "transport/launch/run"
)  # fmt: skip
COMPILERS = ("g++", *(f"g++-{n}" for n in range(13, 17)), *(f"clang++-{n}" for n in range(14, 23)))
STANDARDS = ["c++20", "c++23"]
if part := os.environ.get("LONGSHORE_TEST_PART"):  # a part of a test run has one standard
    STANDARDS = [STANDARDS[int(part) % 2]]
# The build has compiled with g++ and C++20.
COMBINATIONS = [pair for pair in itertools.product(COMPILERS, STANDARDS) if pair != ("g++", "c++20")]


def preprocess(header: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = ("g++", "-E", *options, f"-I{REPOSITORY / 'src'}", "-x", "c++", "-")
    line = f"#include <longshore/{header}.hpp>\n"
    return subprocess.run(command, input=line, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-std=c++17",), "needs C++20: compile with -std=c++20"),
        (("-std=c++20", "-fno-exceptions"), "errors by exceptions: compile without -fno-exceptions"),
        (("-std=c++20", "-fno-rtti"), "compile without -fno-rtti"),
    ],
)
def test_an_unsuitable_option_of_the_compiler_is_named_in_an_error(options: tuple[str, ...], message: str) -> None:
    for header in HEADERS:
        done = preprocess(header, *options)
        assert done.returncode != 0
        first = next(line for line in done.stderr.splitlines() if "error:" in line)
        assert "#error" in first, header
        assert message in first, header


def test_the_headers_accept_suitable_options() -> None:
    for header in HEADERS:
        assert preprocess(header, "-std=c++20").returncode == 0


@pytest.mark.consumer
@pytest.mark.parametrize(("compiler", "standard"), COMBINATIONS)
def test_programs_compile_without_warnings(compiler: str, standard: str, installed: Path) -> None:
    """The installed headers are no system headers here, so their warnings are not hidden."""
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is not there (apt-get install {re.sub('[+]+', '', compiler)})")
    if compiler in {"clang++-14", "clang++-15", "clang++-16"}:
        standard = standard.replace("c++23", "c++2b")  # its name before the standard was complete
    programs = sorted((REPOSITORY / "examples" / "cpp").glob("*.cpp"))
    assert len(programs) > 3
    options = (f"-std={standard}", "-Wall", "-Wextra", "-Werror", f"-I{installed / 'include'}", "-fsyntax-only")
    for program in programs:
        done = subprocess.run([compiler, *options, program], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
