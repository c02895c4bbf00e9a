"""longshore-bench if results are wrong, ranks fail, or a signal ends the program."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from bench_runs import (
    FAULTY,
    TIMEOUT_SECONDS,
    TRANSPORTS,
    Run,
    command,
    needs_mpi,
    of_kind,
    own_lines,
    read_records,
    thorough,
)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_wrong_result_is_named_and_the_others_are_measured(run: Run, tmp_path: Path, transport: str) -> None:
    done = run(FAULTY, "ring", "--fault", "none,wrong", "--json", "r", transport=transport, ranks=3)
    assert done.returncode == 1
    assert own_lines(done.stderr) == ["longshore-bench: wrong result: ring fault=wrong bytes=64"]
    found = read_records(tmp_path / "r")
    assert {r["variant"]["fault"]: r["verified"] for r in of_kind(found, "result")} == {"none": True, "wrong": False}
    assert found[-1]["status"] == "ok"


SPOILED = {
    "lost": "keys were lost",
    "doubled": "keys were duplicated",
    "changed": "keys were changed",
    "swapped": "keys are out of order within rank",
    "torn": "payloads belong to other keys than before",
    "unstable": "items with equal keys changed their order",
}


@pytest.mark.parametrize("fault", SPOILED)
def test_verification_names_each_fault_of_a_sorted_result(run: Run, tmp_path: Path, fault: str) -> None:
    done = run(FAULTY, "sort", "--fault", f"none,{fault}", "--repetitions", "1", "--json", "r", ranks=3)
    assert done.returncode == 1
    said = own_lines(done.stderr)
    assert any(line.startswith(f"longshore-bench: wrong result: sort fault={fault} ") for line in said)
    assert any(line.startswith("longshore-bench: sort: ") and SPOILED[fault] in line for line in said)
    results = of_kind(read_records(tmp_path / "r"), "result")
    assert {r["variant"]["fault"]: r["verified"] for r in results} == {"none": True, fault: False}


@pytest.mark.parametrize(
    ("operation", "fault", "told"),
    [
        ("update", "stale", "is -1, not"),
        ("update", "swapped", "the ghost of element"),
        ("update", "other-field", "the ghost of element"),
        ("update", "element", "element 99 of part 2 is"),
        ("accumulate", "stale", "is -1, not"),
        ("accumulate", "swapped", "the ghost of element"),
        ("accumulate", "element", "element 99 of part 2 is"),
    ],
)
def test_verification_finds_each_wrong_value_of_a_ghost_exchange(
    run: Run, tmp_path: Path, operation: str, fault: str, told: str
) -> None:
    options = ["--operation", operation, "--fault", f"none,{fault}", "--repetitions", "1", "--json", "r"]
    done = run(FAULTY, "ghost", *options, ranks=3)
    assert done.returncode == 1
    said = own_lines(done.stderr)
    assert any(line.startswith(f"longshore-bench: wrong result: ghost fault={fault} ") for line in said)
    assert any(line.startswith("longshore-bench: ghost: rank 2: field 1: ") and told in line for line in said)
    results = of_kind(read_records(tmp_path / "r"), "result")
    assert {r["variant"]["fault"]: r["verified"] for r in results} == {"none": True, fault: False}


@pytest.mark.parametrize("which", ["all", "ends", "no"])
def test_a_wrong_result_of_a_repetition_in_the_middle_is_found(run: Run, tmp_path: Path, which: str) -> None:
    options = ["--fault", "flip", "--iterations", "1", "--repetitions", "5", "--verify", which, "--json", "r"]
    done = run(FAULTY, "ring", *options, ranks=2)
    records = read_records(tmp_path / "r")
    assert [launch["verify"] for launch in of_kind(records, "launch")] == [which]
    found = {"all": False, "ends": True, "no": None}[which]
    assert [result["verified"] for result in of_kind(records, "result")] == [found]
    assert done.returncode == (1 if which == "all" else 0)


def test_without_verification_no_result_is_called_verified(run: Run, tmp_path: Path) -> None:
    done = run(FAULTY, "ring", "--fault", "none,wrong", "--no-verify", "--json", "r")
    assert done.returncode == 0
    assert [r["verified"] for r in of_kind(read_records(tmp_path / "r"), "result")] == [None, None]
    assert "unverified" in done.stdout


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--fault", "none,throw"), "fault=throw bytes=64: the token fell off the ring on rank 2"),
        (("--fault", "none,stuck"), "fault=stuck bytes=64: rank"),
        (("--bytes", "8,100000000000000"), "fault=none bytes=100000000000000: "),
    ],
)
def test_a_failure_is_one_line_and_status_3(
    run: Run, tmp_path: Path, transport: str, options: tuple[str, ...], told: str
) -> None:
    limit = "2" if "stuck" in told else "120"
    done = run(FAULTY, "ring", *options, "--json", "r", transport=transport, ranks=3, LONGSHORE_TIMEOUT=limit)
    assert done.returncode == 3, done.stderr
    said = own_lines(done.stderr)
    assert len(said) == 1, done.stderr
    assert told in said[0]
    found = read_records(tmp_path / "r")
    assert found[0]["record"] == "launch"
    last = found[-1]
    if transport == "threads" or last["record"] == "end":
        assert last["status"] == "failed"
        assert last["error"]["message"]


@needs_mpi
def test_a_rank_that_dies_ends_the_run(run: Run, tmp_path: Path) -> None:
    done = run(FAULTY, "ring", "--fault", "none,die", "--json", "r", transport="mpi", ranks=3)
    assert done.returncode != 0
    assert of_kind(read_records(tmp_path / "r"), "end") == []


def test_a_full_disk_is_an_error_that_names_the_file(run: Run) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    done = run(FAULTY, "ring", "--json", "/dev/full")
    assert done.returncode == 3
    assert "cannot be written to '/dev/full'" in done.stderr


@pytest.fixture
def slow_run(bench_environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts a long run, and returns after it has recorded samples."""
    started: list[subprocess.Popen[bytes]] = []

    def start(transport: str) -> subprocess.Popen[bytes]:
        options = ("ring", "--fault", "slow", "--repetitions", "100000", "--iterations", "1", "--json", "r")
        process = subprocess.Popen(
            command(FAULTY, *options, transport=transport, ranks=2),
            env=bench_environment,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        records = tmp_path / "r"
        while not (records.exists() and records.read_text().count("\n") > 2):
            assert process.poll() is None, "the run ended too early"
            assert time.monotonic() < deadline, "the run recorded no sample"
            time.sleep(0.05)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("number", [signal.SIGINT, thorough(signal.SIGTERM), signal.SIGKILL])
def test_a_signal_ends_the_run_and_leaves_whole_lines(
    slow_run: Callable[[str], subprocess.Popen[bytes]], tmp_path: Path, transport: str, number: signal.Signals
) -> None:
    process = slow_run(transport)
    process.send_signal(number)
    assert process.wait(TIMEOUT_SECONDS) != 0
    found = read_records(tmp_path / "r")
    assert of_kind(found, "sample")
    assert of_kind(found, "end") == []
    wait_until_still(tmp_path / "r")


def wait_until_still(path: Path) -> None:
    """Waits until no rank writes: ranks notice the end of their launcher a moment later."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    size, since = -1, time.monotonic()
    while time.monotonic() - since < 1.0:
        assert time.monotonic() < deadline, "ranks went on without their launcher"
        if path.stat().st_size != size:
            size, since = path.stat().st_size, time.monotonic()
        time.sleep(0.05)
