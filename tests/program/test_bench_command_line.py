"""Command lines and output of longshore-bench: tables, standard output, usage errors."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import shlex
import subprocess
from pathlib import Path

import pytest
from bench_runs import (
    FAULTY,
    THREADS_FIRST,
    TIMEOUT_SECONDS,
    TRANSPORTS,
    Run,
    needs_mpi,
    own_lines,
    read_records,
)


def test_standard_output_holds_nothing_but_records_when_they_go_there(run: Run) -> None:
    done = run(FAULTY, "ring", "--json", "-", "--repetitions", "2")
    assert [json.loads(line)["record"] for line in done.stdout.splitlines()] == [
        "launch",
        "sample",
        "sample",
        "result",
        "end",
    ]
    assert "rate 1/s" in done.stderr


def test_without_json_only_the_table_is_printed(run: Run, tmp_path: Path) -> None:
    done = run(FAULTY, "ring", "--bytes", "8,16", "--repetitions", "2")
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []
    assert done.stdout.splitlines()[0] == "ring: 2 ranks, 1 node, transport threads, 2 variants, 2 repetitions"


def test_the_table_has_colour_on_a_terminal_only(bench_environment: dict[str, str], tmp_path: Path) -> None:
    def on_terminal(**variables: str) -> str:
        ours, theirs = pty.openpty()
        options = ["ring", "--fault", "none,wrong", "--repetitions", "2", "--ranks", "1"]
        process = subprocess.Popen(
            [FAULTY, *options],
            env=bench_environment | variables,
            cwd=tmp_path,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # the end, after the last process has closed its side
            while part := os.read(ours, 1 << 16):
                text += part
        os.close(ours)
        assert process.wait(TIMEOUT_SECONDS) == 1
        return text.decode()

    bench_environment.pop("NO_COLOR", None)
    assert "\x1b[31m" in on_terminal()
    assert "\x1b" not in on_terminal(NO_COLOR="1")


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", ["impossible", "refused"])
def test_a_launch_that_can_run_nothing_ends_with_status_2(run: Run, tmp_path: Path, transport: str, fault: str) -> None:
    done = run(FAULTY, "ring", "--fault", fault, "--json", "r", transport=transport)
    assert done.returncode == 2
    assert len(own_lines(done.stderr)) == 1
    found = read_records(tmp_path / "r")
    assert [r["record"] for r in found] == ["launch", "result", "end"]
    assert "skipped" in found[1]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "the pattern is missing"),
        (("rign",), "did you mean 'ring'?"),
        (("ring", "--fualt", "none"), "did you mean '--fault'?"),
        (("ring", "--fault", "nome"), "did you mean 'none'?"),
        (("ring", "--fault", "none,"), "'none,' has an empty level"),
        (("ring", "--fault", "none,none"), "none twice"),
        (("ring", "--bytes", "-8"), "'-8' is not a whole number"),
        (("ring", "--bytes", "1" + "0" * 30), "is not a whole number"),
        (("ring", "--repetitions", "0"), "'0' is not a whole number"),
        (("ring", "--json", "missing/r"), "--json: 'missing/r' cannot be written"),
        (("ring", "--transport", "pigeons"), "'pigeons' is not one of"),
    ],
)
@pytest.mark.parametrize("transport", THREADS_FIRST)
def test_a_usage_error_is_one_line_and_status_2(
    run: Run, tmp_path: Path, transport: str, options: tuple[str, ...], told: str
) -> None:
    done = run(FAULTY, *options, transport=transport)
    assert done.returncode == 2
    said = own_lines(done.stderr)
    assert len(said) == 1, done.stderr
    assert told in said[0]
    assert "ring:" not in done.stdout
    assert list(tmp_path.iterdir()) == []


@needs_mpi
def test_a_usage_error_is_printed_although_other_processes_end_first(run: Run, tmp_path: Path) -> None:
    """Open MPI ends all processes as soon as a process ends with an error."""
    late = tmp_path / "late"
    rank = '"${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"'
    late.write_text(
        f'#!/bin/sh\n[ {rank} != 0 ] || sleep 0.5\nexec {shlex.quote(str(FAULTY))} "$@"\n', encoding="utf-8"
    )
    late.chmod(0o755)
    done = run(late, "ring", "--fault", "nonsense", transport="mpi", ranks=3)
    assert done.returncode == 2
    assert len(own_lines(done.stderr)) == 1, done.stderr


@needs_mpi
def test_the_launcher_decides_the_number_of_ranks(run: Run) -> None:
    agree = run(FAULTY, "ring", "--ranks", "2", transport="mpi", ranks=2)
    assert agree.returncode == 0, agree.stderr
    differ = run(FAULTY, "ring", "--ranks", "3", transport="mpi", ranks=2)
    assert differ.returncode == 2
    assert own_lines(differ.stderr) == [
        "longshore-bench: --ranks: 3 asked for, but the launcher started 2; tell the launcher instead: mpirun -n 3"
    ]
    alone = run(FAULTY, "ring", "--transport", "threads", transport="mpi", ranks=2)
    assert alone.returncode == 2
    assert len(own_lines(alone.stderr)) == 1


@needs_mpi
@pytest.mark.parametrize(("rank", "count"), [("PMI_RANK", "PMI_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS")])
def test_processes_of_a_launcher_that_mpi_does_not_know_do_not_run_alone(
    run: Run, tmp_path: Path, rank: str, count: str
) -> None:
    told = []
    for number in ("0", "1"):
        done = run(FAULTY, "ring", "--json", f"r{number}", **{rank: number, count: "2"})
        assert done.returncode == 2
        told += own_lines(done.stderr)
    assert len(told) == 1  # by the first process
    assert f"the launcher started 2 processes ({count}), and MPI sees 1: start the program with" in told[0]
    assert list(tmp_path.iterdir()) == []


def test_a_shell_of_slurm_with_one_task_is_no_launch(run: Run) -> None:
    variables = {"SLURM_PROCID": "0", "SLURM_NTASKS": "1", "PMI_RANK": "0", "PMI_SIZE": "1", "PMIX_RANK": "0"}
    done = run(FAULTY, "ring", "--repetitions", "2", **variables)
    assert done.returncode == 0, done.stderr
    assert "2 ranks, 1 node, transport threads" in done.stdout


def test_a_second_writer_of_one_file_is_refused(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "r"
    with file.open("w", encoding="utf-8") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        writer.write("of the first run\n")
        writer.flush()
        done = run(FAULTY, "ring", "--json", "r")
    assert done.returncode == 2
    assert "another run writes it now; give each run a file of its own" in done.stderr
    assert file.read_text(encoding="utf-8") == "of the first run\n"
