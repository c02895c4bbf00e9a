"""The shared library of the C interface exports exactly the symbols of longshore_c.symbols."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from repository import BUILD, REPOSITORY

BINDING = REPOSITORY / "bindings" / "c"
HEADERS = ("longshore.h", "longshore_mpi.h")


def listed(parts: set[str]) -> set[str]:
    """The symbols of a Longshore with these optional parts."""
    lines = (BINDING / "longshore_c.symbols").read_text(encoding="utf-8").splitlines()
    entries = [line.split() for line in lines if line and not line.startswith("#")]
    return {name for name, *needed in entries if set(needed) <= parts}


def exported(library: Path) -> set[str]:
    """The defined dynamic symbols, except those that only name a version."""
    command = ["nm", "--dynamic", "--defined-only", "--format=posix", str(library)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    symbols = (line.split() for line in lines)
    return {name.partition("@")[0] for name, kind, *_ in symbols if kind != "A"}


def problems(library: Path, parts: set[str]) -> list[str]:
    there, expected = exported(library), listed(parts)
    return [f"{name} is missing" for name in sorted(expected - there)] + [
        f"{name} is exported; add it to longshore_c.symbols, or hide it" for name in sorted(there - expected)
    ]


def built_parts() -> set[str]:
    cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    return {"mpi"} if re.search(r"^LONGSHORE_MPI:BOOL=(ON|TRUE|1)$", cache, re.MULTILINE) else set()


def test_the_shared_library_exports_the_listed_symbols() -> None:
    folder = BUILD / "bindings" / "c"
    candidates = [folder / name for name in ("libc_exports_test.so", "liblongshore_c.so")]
    libraries = [path for path in candidates if path.exists()]
    if not libraries and not (folder / "CMakeFiles").exists():
        pytest.skip("built without the C interface (LONGSHORE_C)")
    assert libraries, "build first: tools/run_tests.py build"
    for library in libraries:
        assert not problems(library, built_parts())


def test_a_missing_and_a_superfluous_symbol_are_reported(tmp_path: Path) -> None:
    (tmp_path / "other.c").write_text("int longshore_run(void) { return 0; }\nint secret(void) { return 0; }\n")
    library = tmp_path / "libother.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", library, tmp_path / "other.c"], check=True)
    found = problems(library, set())
    assert "longshore_barrier is missing" in found
    assert any(line.startswith("secret is exported") for line in found)
    assert not any("longshore_run " in line or "init_mpi" in line for line in found)


def test_the_list_has_each_function_of_the_headers() -> None:
    text = "".join((BINDING / header).read_text(encoding="utf-8") for header in HEADERS)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    declared = set(re.findall(r"^[a-z][^();{}]*?\b(longshore_\w+)\(", text, re.MULTILINE))
    assert len(declared) > 50
    assert declared == {name for name in listed({"mpi"}) if name.startswith("longshore_")}


def test_the_test_of_the_binary_interface_repeats_each_function() -> None:
    repeated = (BINDING / "abi_test.c").read_text(encoding="utf-8")
    for name in listed(set()):
        if name.startswith("longshore_"):
            assert re.search(rf"\b{name}\(", repeated), name
