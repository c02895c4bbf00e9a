"""The package over MPI: programs under mpirun, whose ranks are processes."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import longshore
import pytest
from test_examples import MPI_RANKS, ROOT, mpirun

PROGRAM = Path(__file__).parent / "mpi_program.py"


def start(case: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if name != "LONGSHORE_TRANSPORT"} | ROOT
    return subprocess.run(
        mpirun(PROGRAM, case), env=environment, capture_output=True, text=True, timeout=600, check=False
    )


def start_with_mpi4py(case: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("mpi4py")
    return start(case)


@pytest.mark.parametrize(
    "case",
    [
        "run",
        pytest.param("world", marks=pytest.mark.thorough),
        pytest.param("communicator", marks=pytest.mark.thorough),
    ],
)
def test_everything_works_on_processes(case: str) -> None:
    if case == "communicator" and importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    done = start(case)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"all right on {MPI_RANKS} ranks of mpi" in done.stdout


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("cart_grid", "the grids are those of MPI"),
        pytest.param("options", "all options are obeyed", marks=pytest.mark.thorough),
    ],
)
def test_a_program_that_has_mpi(case: str, said: str) -> None:
    done = start_with_mpi4py(case)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(said) == MPI_RANKS


@pytest.mark.thorough
def test_an_exception_of_the_program_is_not_blamed_on_its_team() -> None:
    done = start_with_mpi4py("raises")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "every rank says why" in done.stderr
    assert "MPI_Finalize was called" not in done.stderr


@pytest.mark.thorough
def test_a_rank_that_ends_early_is_told_the_calls() -> None:
    done = start_with_mpi4py("leaves")
    assert done.returncode != 0
    assert "are not in the same collective call" in done.stderr, done.stderr


@pytest.mark.thorough
def test_a_team_that_outlives_mpi_is_an_error() -> None:
    done = start_with_mpi4py("outlives")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "MPI_Finalize was called before the end of this team" in done.stderr
    assert "team.close()" in done.stderr
    assert "it went on" in done.stdout


@pytest.mark.thorough
@pytest.mark.parametrize(("transport", "launcher"), [("shmem", "oshrun"), ("ucx", "mpirun")])
def test_run_works_on_one_sided_transports(transport: str, launcher: str) -> None:
    if transport not in longshore.transports() or shutil.which(launcher) is None:
        pytest.skip(f"this longshore has no {transport}, or there is no {launcher}")
    command = [launcher, *mpirun(PROGRAM, "runs")[1:]]
    environment = os.environ | ROOT | {"LONGSHORE_TRANSPORT": transport}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(f"three runs on {MPI_RANKS} ranks of {transport}") == MPI_RANKS


@pytest.mark.thorough
def test_arrays_over_tables_stay_valid_after_the_run() -> None:
    done = start("views")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("views are still there") == MPI_RANKS


def test_the_exception_of_one_rank_ends_all_processes() -> None:
    done = start("fails")
    assert done.returncode == 3
    assert f"longshore: rank 1 of {MPI_RANKS}: the program raised RuntimeError: rank 1 says why\n" in done.stderr
    assert 'mpi_program.py", line' in done.stderr  # the traceback
    assert "not reached" not in done.stdout


def test_a_library_error_that_ends_all_processes_is_printed_with_its_class() -> None:
    done = start("misuses")
    assert done.returncode == 3
    assert (
        f"longshore: rank 1 of {MPI_RANKS}: the program raised UsageError: allreduce: operation 'product'"
        in done.stderr
    )
