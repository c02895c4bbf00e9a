"""One rank that throws, dies or hangs ends the whole run, in time and with one clear message.

The program is failing_program.cpp. Its first argument names the failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from bench_runs import FAILING, thorough
from repository import BUILD

ENVIRONMENT = {
    **os.environ,
    "LONGSHORE_TIMEOUT": "120",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}
FAR_TOO_LONG_SECONDS = 100  # below LONGSHORE_TIMEOUT: the run must end before that deadline
DEADLINE = {"LONGSHORE_TIMEOUT": "2"}  # for failures that only the deadline ends


def launcher(ranks: int) -> list[str]:
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=False).stdout
    flags = ["--oversubscribe", "--bind-to", "none"] if "Open MPI" in version else []
    return ["mpirun", *flags, "-n", str(ranks)]


def run(
    transport: str, failure: str, ranks: int, per_node: int = 0, **settings: str
) -> subprocess.CompletedProcess[str]:
    if transport == "mpi" and shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine")
    environment = {
        **ENVIRONMENT,
        "LONGSHORE_TRANSPORT": transport,
        "LONGSHORE_RANKS": str(ranks),
        "LONGSHORE_RANKS_PER_NODE": str(per_node),
        **settings,
    }
    command = [*(launcher(ranks) if transport == "mpi" else []), str(FAILING), failure]
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=FAR_TOO_LONG_SECONDS
    )


def own_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.startswith("longshore:")]


@pytest.mark.parametrize("transport", ["threads", "mpi"])
@pytest.mark.parametrize("ranks", [1, 3])
def test_a_run_without_a_failure_ends_with_0(transport: str, ranks: int) -> None:
    done = run(transport, "none", ranks)
    assert (done.returncode, own_lines(done)) == (0, [])


@pytest.mark.parametrize(
    ("transport", "per_node"), [("threads", 0), ("mpi", 0), thorough("mpi", 1), thorough("mpi", 2)]
)
def test_a_rank_that_throws_ends_the_run_and_its_reason_is_printed_once(transport: str, per_node: int) -> None:
    done = run(transport, "throws", 4, per_node)
    assert done.returncode == 3
    lines = own_lines(done)
    assert len(lines) == 1, lines
    assert "this rank fails on purpose" in lines[0]


@pytest.mark.parametrize(("transport", "per_node"), [("threads", 0), ("mpi", 0), thorough("mpi", 1)])
def test_waiting_for_a_rank_that_never_comes_ends_at_the_deadline(transport: str, per_node: int) -> None:
    done = run(transport, "never-comes", 3, per_node, **DEADLINE)
    assert done.returncode == 3
    lines = own_lines(done)
    assert len(lines) == 1, lines
    assert "for a barrier" in lines[0]
    assert "LONGSHORE_TIMEOUT" in lines[0]


@pytest.mark.parametrize(
    ("failure", "reason"),
    [("throws-before-alltoall", "this rank fails on purpose"), ("never-comes-to-alltoall", "for an alltoall")],
)
def test_a_rank_that_misses_an_alltoall_between_nodes_ends_the_run(failure: str, reason: str) -> None:
    done = run("mpi", failure, 4, 2, **DEADLINE)
    assert done.returncode == 3
    lines = own_lines(done)
    assert len(lines) == 1, lines
    assert reason in lines[0]


@pytest.mark.parametrize(("transport", "per_node"), [("threads", 0), ("mpi", 0), thorough("mpi", 1)])
def test_an_error_names_the_receiver_that_never_receives(transport: str, per_node: int) -> None:
    done = run(transport, "never-receives", 2, per_node, **DEADLINE)
    assert done.returncode == 3
    lines = own_lines(done)
    assert len(lines) == 1, lines
    assert "for a free slot from rank" in lines[0]


@pytest.mark.parametrize(("transport", "per_node"), [("threads", 0), ("mpi", 0), thorough("mpi", 1)])
def test_an_exception_of_the_program_ends_the_run_although_another_rank_hangs(transport: str, per_node: int) -> None:
    done = run(transport, "throws-another-type", 3, per_node, **DEADLINE)
    assert done.returncode == 3
    lines = own_lines(done)
    assert len(lines) == 1, lines
    assert "of 3: the program threw std::runtime_error: this rank fails on purpose" in lines[0]


@pytest.mark.parametrize("transport", ["threads", "mpi"])
def test_a_thrown_number_ends_the_run(transport: str) -> None:
    done = run(transport, "throws-a-number", 3)
    assert (done.returncode, len(own_lines(done))) == (3, 1), done.stderr
    if transport == "mpi":  # on threads the program catches it
        assert "of 3: the program threw int, which is no std::exception" in own_lines(done)[0]


@pytest.mark.parametrize("per_node", [0, thorough(1)])
def test_waiting_for_a_segment_that_is_never_freed_ends_at_the_deadline(per_node: int) -> None:
    done = run("mpi", "never-frees", 3, per_node, **DEADLINE)
    assert done.returncode == 3
    lines = own_lines(done)
    assert len(lines) == 1, lines
    assert "the freeing of a segment" in lines[0]


@pytest.mark.parametrize(
    ("transport", "per_node"),
    [("threads", 0), thorough("threads", 1), ("mpi", 0), thorough("mpi", 1), thorough("mpi", 2)],
)
def test_an_error_names_the_rank_that_leaves_out_a_collective_call_before_the_deadline(
    transport: str, per_node: int
) -> None:
    done = run(transport, "leaves-early", 3, per_node)
    assert done.returncode == 3
    lines = own_lines(done)
    assert len(lines) == 1, lines
    assert "rank 2 is in the end of the run, its 2nd collective call" in lines[0]
    assert "is in a barrier, its 2nd collective call" in lines[0]


@pytest.mark.parametrize(
    ("transport", "per_node", "check"), [("threads", 1, 0), ("mpi", 0, 0), ("mpi", 1, 1), thorough("mpi", 2, 1)]
)
def test_an_error_names_ranks_in_different_collective_calls(transport: str, per_node: int, check: int) -> None:
    done = run(transport, "another-reduction", 3, per_node, LONGSHORE_CHECK=str(check))
    assert done.returncode == 3
    lines = own_lines(done)
    assert len(lines) == 1, lines
    assert "rank 2 is in an allreduce (min) of 1 floating-point number, its 2nd collective call" in lines[0]
    assert "is in an allreduce (max) of 1 floating-point number, its 2nd collective call" in lines[0]


def test_the_check_of_collective_calls_is_on_everywhere_if_one_rank_asks_for_it() -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine")
    alone = ["env", "LONGSHORE_CHECK=1", str(FAILING), "another-reduction"]
    environment = {**ENVIRONMENT, "LONGSHORE_TRANSPORT": "mpi", "LONGSHORE_RANKS_PER_NODE": "1"}
    command = [*launcher(1), *alone, ":", "-n", "2", str(FAILING), "another-reduction"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=FAR_TOO_LONG_SECONDS
    )
    assert done.returncode == 3
    assert "rank 2 is in an allreduce (min)" in own_lines(done)[0]


def test_a_team_that_cannot_be_created_ends_the_run() -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine")
    environment = {**ENVIRONMENT, "LONGSHORE_MPI_SHARED": "7", "LONGSHORE_TRANSPORT": "mpi"}
    command = [*launcher(2), str(FAILING), "none"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=FAR_TOO_LONG_SECONDS
    )
    assert done.returncode == 3
    assert "LONGSHORE_MPI_SHARED='7'" in own_lines(done)[0]


def test_a_killed_rank_ends_the_others() -> None:
    done = run("mpi", "killed", 3)
    assert done.returncode != 0


def test_a_variable_that_does_not_parse_is_refused() -> None:
    environment = {**ENVIRONMENT, "LONGSHORE_TIMEOUT": "soon"}
    done = subprocess.run([str(FAILING), "none"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert "LONGSHORE_TIMEOUT='soon'" in done.stderr


@pytest.mark.thorough
def test_without_shared_memory_the_transport_works_and_says_so_once() -> None:
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine")
    environment = {**ENVIRONMENT, "LONGSHORE_MPI_SHARED": "0", "LONGSHORE_TRANSPORT": "mpi"}
    suite = BUILD / "src/longshore/transport/transport_spmd_tests"
    done = subprocess.run(
        [
            *launcher(3),
            str(suite),
            "--transport",
            "mpi",
            "--gtest_filter=Team.*:Segment.*:Channel.*",
            "--gtest_color=no",
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "[  PASSED  ]" in done.stdout
    assert "no memory shared between ranks" in done.stderr
