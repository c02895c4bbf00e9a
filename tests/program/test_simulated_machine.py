"""The transport simulated under longshore-bench: results, equal times in two runs, and errors."""

from __future__ import annotations

import json
import subprocess
import tomllib
from pathlib import Path

import pytest
from bench_runs import BENCH, TIMEOUT_SECONDS, Record, of_kind, read_records

MACHINES = Path(__file__).resolve().parents[2] / "machines"
PATTERNS = {
    "halo": ["--domain", "8,8,8", "--mode", "channel,direct,waitall"],
    "gather": ["--requests", "200", "--table", "100", "--strategy", "exstack,conveyor,agp"],
    "sort": ["--keys", "500", "--exchange", "alltoallv,channel,two-hop"],
    "ghost": ["--elements", "300", "--mesh", "hexahedra", "--strategy", "standard,direct,node-aware,mpi-waitall"],
}


def simulate(*options: str) -> subprocess.CompletedProcess[str]:
    listed = json.loads(subprocess.run([BENCH, "--list"], capture_output=True, text=True, check=True).stdout)
    if not any(each["name"] == "simulated" and each["available"] for each in listed["transports"]):
        pytest.skip("this build has no transport simulated: Boost.Context or toml++ was not found")
    command = [str(BENCH), *options, "--transport", "simulated"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)


def results_of(pattern: str, ranks: int, machine: str, file: Path) -> list[Record]:
    machine_file = str(MACHINES / f"{machine}.toml")
    repetitions = 2 if ranks < 100 else 1  # a second one would take a minute
    words = [pattern, *PATTERNS[pattern], "--repetitions", str(repetitions), "--warmup", "0"]
    words += ["--ranks", str(ranks), "--machine", machine_file, "--json", str(file)]
    done = simulate(*words)
    assert done.returncode == 0, done.stderr
    (launch,) = of_kind(read_records(file), "launch")
    assert launch["simulated"] == {"machine": f"{machine} 1", "file": machine_file}
    assert all(
        sample["real_seconds"] > 0 and sample["events"] > ranks for sample in of_kind(read_records(file), "sample")
    )
    return of_kind(read_records(file), "result")


def check_pattern(pattern: str, ranks: int, machine: str, folder: Path) -> None:
    first = results_of(pattern, ranks, machine, folder / "first")
    ran = [result for result in first if "skipped" not in result]
    assert ran
    assert all(result["verified"] is True for result in ran)
    reasons = [result["skipped"] for result in first if "skipped" in result]
    assert all("MPI" in reason or "several nodes" in reason for reason in reasons)
    again = results_of(pattern, ranks, machine, folder / "again")
    seconds = {str(result["variant"]): result["seconds"] for result in ran}
    assert {str(result["variant"]): result["seconds"] for result in again if "skipped" not in result} == seconds
    assert all(each["median"] > 0 for each in seconds.values())


@pytest.mark.parametrize("machine", ["cray-xc", "halo-27-nodes", "slingshot-11", "slow-ethernet"])
@pytest.mark.parametrize("pattern", list(PATTERNS))
def test_results_are_right_and_times_are_the_same_twice(pattern: str, machine: str, tmp_path: Path) -> None:
    check_pattern(pattern, 12, machine, tmp_path)


@pytest.mark.parametrize("pattern", ["halo", "ghost"])
def test_the_phases_of_an_exchange_add_up_to_its_time(pattern: str, tmp_path: Path) -> None:
    machine = ["--machine", str(MACHINES / "cray-xc.toml"), "--ranks", "12", "--ranks-per-node", "4"]
    words = [pattern, *PATTERNS[pattern], "--repetitions", "1", "--phases", "--json", str(tmp_path / "r")]
    done = simulate(*words, *machine)
    assert done.returncode == 0, done.stderr
    samples, results = (of_kind(read_records(tmp_path / "r"), kind) for kind in ("sample", "result"))
    sums = {str(r["variant"]): sum(r["phases_mean"].values()) for r in results if "skipped" not in r}
    assert len(sums) == len(samples) > 1
    for sample in samples:
        of_sample = sums[str(sample["variant"])]
        assert sample["seconds"]["min"] * (1 - 1e-9) <= of_sample <= sample["seconds"]["max"] * (1 + 1e-9)


@pytest.mark.thorough
@pytest.mark.parametrize("pattern", list(PATTERNS))
def test_512_ranks(pattern: str, tmp_path: Path) -> None:
    check_pattern(pattern, 512, "halo-27-nodes", tmp_path)


MACHINE = """
[machine]
name = "test"
version = "1"
nodes = 2
ranks_per_node = 2
[network]
latency_us = 1.5
send_overhead_us = 0.3
receive_overhead_us = 0.4
gap_us = {gap_us}
ns_per_byte = 0.2
[memory]
near_copy_GB_per_s = 8.0
far_copy_GB_per_s = 5.0
node_copy_GB_per_s = 40.0
latency_us = 0.2
atomic_us = 0.05
message_us = 0.06
[cost]
stream_GB_per_s = 8.0
push_ns = 3.0
pull_ns = 4.0
bucket_ns = 4.0
sort_ns = 20.0
table_access_ns = 8.0
"""


def control(machine: Path, *options: str) -> dict[str, float]:
    records = machine.with_suffix(".jsonl")
    words = ["control", "--repetitions", "2", "--warmup", "0", "--machine", str(machine), "--ranks", "4"]
    words += ["--json", str(records), *options]
    done = simulate(*words)
    assert done.returncode == 0, done.stderr
    (result,) = of_kind(read_records(records), "result")
    assert result["verified"] is True
    return {name: metric["value"] for name, metric in result["metrics"].items()}


# No processor sends faster than its overhead, so a smaller gap cannot be seen.
@pytest.mark.parametrize(("gap_us", "seen_us"), [(0.7, 0.7), (0.05, 0.4)])
def test_loggp_returns_the_parameters_of_the_machine_file(tmp_path: Path, gap_us: float, seen_us: float) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text(MACHINE.format(gap_us=gap_us))
    figures = control(machine, "--kernel", "loggp", "--over", "channel", "--pair", "remote")
    expected = {
        "latency_us": 1.5,
        "send_overhead_us": 0.3,
        "receive_overhead_us": 0.4,
        "gap_us": seen_us,
        "gap_per_byte_ns": 0.2,
    }
    assert {name: figures[name] for name in expected} == pytest.approx(expected, rel=0.05)


def test_kernels_within_a_node_return_the_parameters_of_its_memory(tmp_path: Path) -> None:
    machine = tmp_path / "machine.toml"
    machine.write_text(MACHINE.format(gap_us=0.7))
    figures = control(machine, "--kernel", "loggp", "--over", "channel", "--pair", "near")
    assert figures["latency_us"] == pytest.approx(0.2, rel=0.05)
    assert figures["send_overhead_us"] == pytest.approx(0.06, rel=0.05)
    assert figures["gap_per_byte_ns"] == pytest.approx(1 / 8, rel=0.05)
    # Two ranks copy at once; a copy reads and writes each byte.
    assert control(machine, "--kernel", "copy")["bandwidth"] == pytest.approx(2 * 2 * 8, rel=0.05)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "needs a machine"),
        (["--machine", "nowhere.toml"], "nowhere.toml"),
        (["--machine", str(MACHINES / "slow-ethernet.toml"), "--ranks", "257"], "at most 256"),
    ],
)
def test_a_machine_that_cannot_run_is_refused(options: list[str], message: str) -> None:
    done = simulate("control", "--kernel", "barrier", *options)
    assert done.returncode != 0
    assert message in done.stderr


def calibrate(*options: str) -> subprocess.CompletedProcess[str]:
    command = [str(BENCH), "calibrate", "--repetitions", "1", *options]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_SECONDS)


@pytest.mark.thorough
def test_calibrate_writes_files_that_a_simulation_reads(tmp_path: Path) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    done = calibrate("--transport", "threads", "--ranks", "2", "--name", "here", "--output", str(one))
    assert done.returncode == 0, done.stderr
    assert "calibrate: copies" in done.stderr  # progress
    machine = tomllib.loads(one.read_text())["machine"]
    assert 0 < machine.get("switch_ns", 1.0) < 1e6  # absent where two ranks cannot share a core
    assert all("#" in line for line in one.read_text().splitlines() if "_us = " in line)
    options = ["--transport", "threads", "--ranks", "2", "--ranks-per-node", "1", "--base", str(one)]
    done = calibrate(*options)
    assert done.returncode == 0, done.stderr
    two.write_text(done.stdout)
    cost = one.read_text().split("[cost]")[1]
    assert two.read_text().endswith(cost)
    assert tomllib.loads(two.read_text())["machine"].get("switch_ns") == machine.get("switch_ns")
    for machine, layout in [(one, []), (two, ["--ranks-per-node", "1"])]:
        done = simulate("control", "--kernel", "barrier", "--machine", str(machine), "--ranks", "2", *layout)
        assert done.returncode == 0, done.stderr
        assert "machine here" in done.stdout
    many_nodes = one.read_text().replace("nodes = 1", "nodes = 16")
    one.write_text(many_nodes)
    done = simulate("control", "--kernel", "barrier", "--machine", str(one))
    assert done.returncode == 2
    assert "[network] is missing" in done.stderr


CALIBRATED = """
[machine]
name = "calibrated"
version = "1"
nodes = 1
ranks_per_node = 2
[memory]
sizes = "points"
own_copy_GB_per_s = [[262144, 20.0], [524288, 18.0], [1048576, 16.0], [2097152, 14.0],
  [4194304, 12.0], [16777216, 9.0]]
near_copy_GB_per_s = [[262144, 10.0], [524288, 10.0], [1048576, 10.0], [2097152, 10.0],
  [4194304, 10.0], [16777216, 9.0]]
far_copy_GB_per_s = [[262144, 10.0], [524288, 10.0], [1048576, 10.0], [2097152, 10.0],
  [4194304, 10.0], [16777216, 9.0]]
node_copy_GB_per_s = 40.0
latency_us = 0.14
atomic_us = 0.02
message_us = 0.045
[cost]
sizes = "points"
stream_GB_per_s = [[196608, 60.0], [786432, 50.0], [1572864, 45.0], [3145728, 36.0], [6291456, 20.0],
  [12582912, 10.0], [50331648, 7.5]]
stream_copy_GB_per_s = [[131072, 55.0], [524288, 48.0], [1048576, 40.0], [2097152, 30.0], [4194304, 18.0],
  [8388608, 9.0], [33554432, 6.5]]
line_ns = [[184960, 1.0], [696960, 1.5], [1393920, 1.7], [2787840, 3.0], [11151360, 4.0]]
push_ns = 2.0
pull_ns = 2.0
reply_ns = 5.0
conveyor_push_ns = 4.0
conveyor_pull_ns = 4.0
conveyor_reply_ns = 3.0
bucket_ns = [[32768, 1.5], [262144, 1.6], [2097152, 2.0]]
sort_ns = [[32768, 6.0], [262144, 7.0], [2097152, 8.0]]
part_sort_ns = [[32768, 6.0], [262144, 4.0], [2097152, 4.5]]
table_access_ns = [[16384, 1.3], [131072, 1.3], [1048576, 1.3]]
agp_access_ns = [[16384, 1.5], [131072, 1.7], [1048576, 1.9]]
table_update_ns = [[16384, 14.0], [131072, 15.0], [1048576, 16.0]]
private_update_ns = [[16384, 2.0], [131072, 2.5], [1048576, 3.0]]
"""


# The simulation charges what calibrate measures. Exchange direct stores few keys as put does.
@pytest.mark.thorough
def test_calibrate_returns_the_numbers_of_a_simulated_machine(tmp_path: Path) -> None:
    given, found = tmp_path / "given.toml", tmp_path / "found.toml"
    given.write_text(CALIBRATED)
    done = calibrate("--transport", "simulated", "--machine", str(given), "--ranks", "2", "--output", str(found))
    assert done.returncode == 0, done.stderr
    numbers, expected = (tomllib.loads(file.read_text()) for file in (found, given))
    for table in ("memory", "cost"):
        assert numbers[table].keys() == expected[table].keys()
        for key, value in expected[table].items():
            pairs = (
                zip(numbers[table][key], value, strict=True)
                if isinstance(value, list)
                else [(numbers[table][key], value)]
            )
            for one, other in pairs:
                assert one == (other if key == "sizes" else pytest.approx(other, rel=0.05)), key


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ranks", "2", "--ranks-per-node", "1"], "--base FILE"),
        (["--ranks", "1"], "at least 2 ranks"),
        (["--transport", "simulated"], "needs a machine"),
        (["--base", "nowhere.toml"], "nowhere.toml"),
        (["--output", "/nowhere/machine.toml", "--ranks", "2"], "cannot be written"),
    ],
)
def test_calibrate_refuses_what_it_cannot_measure(options: list[str], message: str) -> None:
    transport = [] if "--transport" in options else ["--transport", "threads"]
    done = calibrate(*options, *transport)
    assert done.returncode == 2
    assert message in done.stderr
