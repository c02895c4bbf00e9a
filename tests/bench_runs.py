"""Programs that the tests start, and readers of their output.

FAULTY is longshore-bench-faulty, whose patterns fail in the way that an option names
(bench/faulty_main.cpp). FAILING fails in the way that its argument names
(program/failing_program.cpp).
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from repository import BUILD

BENCH = BUILD / "bench" / "longshore-bench"
FAULTY = BUILD / "bench" / "longshore-bench-faulty"
EMULATED = BUILD / "bench" / "longshore-bench-emulated"
FAILING = BUILD / "tests" / "failing_program"
MPIRUN = shutil.which("mpirun")
TIMEOUT_SECONDS = 300
Record = dict[str, Any]

needs_mpi = pytest.mark.skipif(MPIRUN is None, reason="no mpirun on PATH")
TRANSPORTS = ["threads", pytest.param("mpi", marks=needs_mpi)]
thorough = partial(pytest.param, marks=pytest.mark.thorough)
# For tests whose result hardly depends on the transport. mpi runs in `make test-all` only.
THREADS_FIRST = ["threads", pytest.param("mpi", marks=[needs_mpi, pytest.mark.thorough])]

Run = Callable[..., subprocess.CompletedProcess[str]]


def command(program: Path, *options: str, transport: str, ranks: int) -> list[str]:
    if transport == "threads":
        return [str(program), *options, *(["--ranks", str(ranks)] if options else [])]
    flags = ["--oversubscribe", "--bind-to", "none"] if "Open" in launcher_version() else []
    return [str(MPIRUN), "-n", str(ranks), *flags, str(program), *options]


def launcher_version() -> str:
    assert MPIRUN is not None
    return subprocess.run([MPIRUN, "--version"], capture_output=True, text=True, check=False).stdout


def read_records(path: Path) -> list[Record]:
    """The records of a file. Every line must be whole."""
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def of_kind(records: list[Record], kind: str) -> list[Record]:
    return [record for record in records if record["record"] == kind]


def own_lines(text: str) -> list[str]:
    """The lines of standard error that Longshore wrote, without those of launchers."""
    return [line for line in text.splitlines() if line.startswith("longshore")]
