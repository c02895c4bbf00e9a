"""The examples and the examples in docstrings run, on threads and over MPI."""

from __future__ import annotations

import doctest
import importlib.util
import os
import pydoc
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import longshore
import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLES = REPOSITORY / "examples" / "python"
MPI_RANKS = 3
HEAT_LINES = 20  # without the docstring


def documented() -> Iterator[tuple[str, Any]]:
    for name in longshore.__all__:
        thing = getattr(longshore, name)
        yield name, thing
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value


def test_examples_in_docstrings_are_true() -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name, thing in documented():
        found = doctest.DocTestParser().get_doctest(
            thing.__doc__ or "", {"longshore": longshore, "np": np}, name, None, 0
        )
        runner.run(found)
    assert runner.failures == 0
    assert runner.tries >= 25


def test_everything_public_has_a_docstring_and_help_shows_the_signature() -> None:
    assert [name for name, thing in documented() if not thing.__doc__] == []
    text = pydoc.render_doc(longshore.gather, renderer=pydoc.plaintext)
    assert (
        "gather(table: Table, indices: numpy.ndarray, out: numpy.ndarray | None = None, *, strategy: str = 'auto'"
        in text
    )


def run_script(command: list[str], **more: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "LONGSHORE_TRANSPORT"} | more
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def mpirun(script: Path, *arguments: str, ranks: int = MPI_RANKS) -> list[str]:
    if "mpi" not in longshore.transports():
        pytest.skip("this longshore was built without MPI")
    launcher = shutil.which("mpirun")
    if launcher is None:
        pytest.skip("mpirun is not in PATH")
    printed = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False).stdout
    flags = ["--oversubscribe", "--bind-to", "none"] if "Open MPI" in printed or "OpenRTE" in printed else []
    return [launcher, "-n", str(ranks), *flags, sys.executable, str(script), *arguments]


ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


@pytest.fixture
def big_file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers"
    (np.arange(50_000) % 7).astype("uint16").tofile(path)
    return path


# For each example: its line of output, its arguments, and a fault that its verification must find.
EXPECTED = {
    "conjugate_gradients.py": (
        r"conjugate_gradients: ranks=RANKS rows=576 steps=\d+ residual=\d.\de-1\d",
        [],
        ("np.sin(0.1 * indices)", "np.sin(0.1 * indices + team.rank)"),
    ),
    "gather.py": (
        r"gather: ranks=RANKS requests=2000 strategy=\w+",
        ["2000"],
        ("= table.indices**2", "= table.indices"),
    ),
    "heat.py": (r"heat: ranks=RANKS steps=50 error=\d.\de-1\d", [], ("halo.start(u)", "halo.start(v)")),
    "histogram.py": (r"histogram: ranks=RANKS words=50000 most=7143", ["FILE"], ("team.rank + 1)", "team.rank)")),
    "sort.py": (r"sort: ranks=RANKS numbers=\d+", ["5000"], (".sort(team, keys, ", ".sort(team, -keys, ")),
    "stream.py": (
        r"stream: ranks=RANKS gigabytes_per_second=[\d.]+ best=[\d.]+",
        ["20000"],
        ("result.verified", "False"),
    ),
}
# test_packages.py starts heat.py over MPI. mpi_program.py tests the other patterns over MPI.
STARTS = [
    *((example, "4") for example in sorted(EXPECTED)),
    pytest.param("sort.py", "mpi", marks=pytest.mark.thorough),
    *(pytest.param(example, "1", marks=pytest.mark.thorough) for example in sorted(EXPECTED)),
    pytest.param("heat.py", "7", marks=pytest.mark.thorough),
    *(pytest.param("conjugate_gradients.py", ranks, marks=pytest.mark.thorough) for ranks in ("2", "3", "7", "mpi")),
]


@pytest.mark.parametrize(("example", "ranks"), STARTS)
def test_examples_verify_their_results(example: str, ranks: str, big_file: Path) -> None:
    line, given, _ = EXPECTED[example]
    arguments = [str(big_file) if word == "FILE" else word for word in given]
    script = EXAMPLES / example
    if ranks == "mpi":
        out = run_script(mpirun(script, *arguments), **ROOT)
        ranks = str(MPI_RANKS)
    else:
        out = run_script([sys.executable, str(script), *arguments], LONGSHORE_RANKS=ranks)
    assert re.fullmatch(line.replace("RANKS", ranks) + " verified=yes\n", out), out


# examples/CMakeLists.txt expects the same checksum of the programs in C++, C and Fortran.
@pytest.mark.parametrize("ranks", [2, *(pytest.param(n, marks=pytest.mark.thorough) for n in (1, 3, 4))])
@pytest.mark.parametrize("name", ["jacobi_by_hand", "jacobi_longshore"])
def test_the_programs_with_own_mpi_print_the_same_checksum(name: str, ranks: int) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    out = run_script(mpirun(REPOSITORY / "examples" / "own_mpi" / f"{name}.py", ranks=ranks), **ROOT)
    assert out.startswith(f"{name}: checksum=1.382445910e+06 step="), out


@pytest.mark.thorough
@pytest.mark.parametrize("example", sorted(EXPECTED))
def test_a_wrong_example_says_so_and_ends_with_status_1(example: str, big_file: Path, tmp_path: Path) -> None:
    _, given, (right, wrong) = EXPECTED[example]
    text = (EXAMPLES / example).read_text(encoding="utf-8")
    assert right in text
    script = tmp_path / example
    script.write_text(text.replace(right, wrong), encoding="utf-8")
    arguments = [str(big_file) if word == "FILE" else word for word in given]
    command = [sys.executable, str(script), *arguments]
    environment = os.environ | {"LONGSHORE_RANKS": "2"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stdout.endswith(" verified=no\n")) == (1, True), done.stdout + done.stderr


def test_every_example_is_tested_and_heat_is_short() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(EXPECTED)
    text = (EXAMPLES / "heat.py").read_text(encoding="utf-8")
    code = text.split('"""', 2)[2]
    assert len([line for line in code.splitlines() if line]) <= HEAT_LINES
