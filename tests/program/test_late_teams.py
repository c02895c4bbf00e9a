"""A team that outlives MPI is reported, makes no MPI call any more, and the program ends with
status 3, but only at its own end. So does a C program that goes on without its team.

The programs are mpi_programs/late_team.cpp and careless_program.c.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from bench_runs import thorough
from repository import BUILD
from test_failing_ranks import ENVIRONMENT, FAR_TOO_LONG_SECONDS, launcher, own_lines

LATE = BUILD / "tests" / "mpi_late_team"
CARELESS = BUILD / "tests" / "mpi_careless_program"
pytestmark = pytest.mark.skipif(shutil.which("mpirun") is None, reason="no mpirun on this machine")


def run(then: str, ranks: int, program: Path = LATE, **settings: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*launcher(ranks), str(program), then],
        env=ENVIRONMENT | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=FAR_TOO_LONG_SECONDS,
    )


def test_a_team_that_ends_before_mpi_is_no_error() -> None:
    done = run("nothing", 2)
    assert (done.returncode, own_lines(done)) == (0, [])


@pytest.mark.parametrize("ranks", [1, thorough(2), thorough(3)])
@pytest.mark.parametrize("then", ["destroy", "use", thorough("leak")])
def test_a_team_that_outlives_mpi_is_an_error(then: str, ranks: int) -> None:
    done = run(then, ranks)
    assert done.returncode == 3, done.stderr
    (line,) = own_lines(done)  # one for all ranks of the host
    assert line.startswith("longshore: rank ")
    assert f" of {ranks}: MPI_Finalize was called before the end of this team" in line
    assert "before MPI_Finalize, destroy every team" in line
    # A launcher may end ranks when the first one has ended with another status than 0.
    assert 1 <= done.stdout.count("it went on") <= ranks
    if then == "use":
        for call in ("an allreduce", "a barrier"):
            assert f"of {ranks}: {call} after MPI_Finalize" in done.stdout


@pytest.mark.parametrize("fault", ["join", thorough("size"), thorough("late")])
def test_a_c_program_that_ignores_an_error_fails(fault: str) -> None:
    if not CARELESS.exists():
        pytest.skip("built without the C interface (LONGSHORE_C)")
    done = run(fault, 1, CARELESS)
    assert done.returncode == 3, done.stderr
    first, *others = own_lines(done)
    if fault == "late":
        assert "MPI_Finalize was called before the end of this team" in first
        assert "refused" in done.stdout
    else:
        assert first.startswith("longshore: a team is used that was not made: rank 0 of MPI_COMM_WORLD: ")
        assert "MPI_COMM_NULL" in first
    assert len(others) == (1 if fault == "size" else 0)
    assert ("it went on" in done.stdout) == (fault != "size")


@pytest.mark.thorough
def test_a_rank_that_joins_too_late_gives_up_as_well() -> None:
    if not CARELESS.exists():
        pytest.skip("built without the C interface (LONGSHORE_C)")
    done = run("slow", 2, CARELESS, LONGSHORE_TIMEOUT="1")
    assert done.returncode != 0
    for rank in range(2):
        assert f"rank {rank}: rank {rank} waited 1 s for the other ranks" in done.stdout, done.stdout
