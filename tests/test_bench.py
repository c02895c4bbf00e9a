"""longshore-bench as a user and a study meet it: command lines, exit statuses, records, and what is
left when it fails.

`faulty` is the same program with one pattern that misbehaves as it is told (bench/faulty_main.cpp).
"""

from __future__ import annotations

import json
import os
import pty
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from conftest import BUILD, REPOSITORY

BENCH = BUILD / "bench" / "longshore-bench"
FAULTY = BUILD / "bench" / "longshore-bench-faulty"
BUILD_SCRIPT = REPOSITORY / "bench" / "write_git_header.cmake"
MPIRUN = shutil.which("mpirun")
TIMEOUT_SECONDS = 300
Record = dict[str, Any]

needs_mpi = pytest.mark.skipif(MPIRUN is None, reason="no mpirun on PATH")
TRANSPORTS = ["threads", pytest.param("mpi", marks=needs_mpi)]
thorough = partial(pytest.param, marks=pytest.mark.thorough)
THREADS_FIRST = ["threads", pytest.param("mpi", marks=[needs_mpi, pytest.mark.thorough])]  # what hardly differs on mpi


@pytest.fixture
def environment(quiet_environment: dict[str, str]) -> dict[str, str]:
    assert BENCH.exists(), "build first: tools/run_tests.py build"
    return quiet_environment | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """Starts a program on some transport and ranks, with variables added to its environment, and
    waits for its end."""

    def start(
        program: Path, *options: str, transport: str = "threads", ranks: int = 2, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command(program, *options, transport=transport, ranks=ranks),
            env=environment | variables,
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )

    return start


def command(program: Path, *options: str, transport: str, ranks: int) -> list[str]:
    if transport == "threads":
        return [str(program), *options, *(["--ranks", str(ranks)] if options else [])]
    flags = ["--oversubscribe", "--bind-to", "none"] if "Open" in launcher_version() else []
    return [str(MPIRUN), "-n", str(ranks), *flags, str(program), *options]


def launcher_version() -> str:
    assert MPIRUN is not None
    return subprocess.run([MPIRUN, "--version"], capture_output=True, text=True, check=False).stdout


def read_records(path: Path) -> list[Record]:
    """Every line of a file, each of which must be whole."""
    text = path.read_text(encoding="utf-8")
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def of_kind(found: list[Record], kind: str) -> list[Record]:
    return [record for record in found if record["record"] == kind]


def own_lines(text: str) -> list[str]:
    """What longshore itself said on standard error; launchers add banners of their own."""
    return [line for line in text.splitlines() if line.startswith("longshore")]


# ---- what is measured and recorded


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_control_measures_what_a_model_is_made_from(run: Run, tmp_path: Path, transport: str) -> None:
    """Every way a message travels, to the next rank of the node and of the next node; each is
    verified."""
    options = ["control", "--ranks-per-node", "2", "--kernel", "shift,barrier,fetch-add,loggp", "--bytes", "8,100000"]
    options += ["--over", "put,channel,alltoallv,rma,copy", "--pair", "near,far,remote,self", "--repetitions", "2"]
    done = run(BENCH, *options, "--json", "r", transport=transport, ranks=4)
    assert done.returncode == 0, done.stderr
    results = of_kind(read_records(tmp_path / "r"), "result")
    ran = [result for result in results if "skipped" not in result]
    assert all(result["verified"] is True for result in ran)
    shifts = {
        tuple(result["variant"].get(name) for name in ("over", "pair", "bytes")): result
        for result in ran
        if result["variant"]["kernel"] == "shift"
    }
    ways = {"put", "channel", "alltoallv", *(["rma"] if transport == "mpi" else [])}
    pairs = {(way, pair) for way in ways for pair in ("near", "remote")} | {("copy", None)}
    pairs |= {(way, "self") for way in ways & {"alltoallv", "rma"}}
    assert set(shifts) == {(*way, size) for way in pairs for size in (8, 100000)}
    for (way, pair, size), result in shifts.items():
        assert result["metrics"]["shift_us"]["value"] > 0 or size == 8
        assert result["traffic"]["payload_bytes"] == 4 * size
        assert result["traffic"]["offnode_bytes"] == (4 * size if pair == "remote" else 0), way
    pairs_of_loggp = {
        (result["variant"]["over"], result["variant"]["pair"]): result
        for result in ran
        if result["variant"]["kernel"] == "loggp"
    }
    assert {("put", "near"), ("channel", "near"), ("put", "remote"), ("channel", "remote")} <= set(pairs_of_loggp)
    for (_, pair), result in pairs_of_loggp.items():
        figures = {name: metric["value"] for name, metric in result["metrics"].items()}
        assert figures["half_round_trip_us"] > 0
        assert figures["half_round_trip_us"] >= figures["latency_us"] >= 0
        assert {"send_overhead_us", "gap_us", "gap_per_byte_ns"} <= set(figures)
        assert result["pair"]["ranks"] == ([0, 2] if pair == "remote" else [0, result["pair"]["ranks"][1]])
        assert (result["pair"]["apart_in"] == "node") == (pair == "remote")
    reasons = " ".join(result["skipped"] for result in results if "skipped" in result)
    assert "in shift every rank sends to the next one" in reasons
    assert "not over alltoallv" in reasons


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_records_tell_what_was_counted(run: Run, tmp_path: Path, transport: str) -> None:
    """Counts where there are any, a reason where not; waits and traffic of a sort by phase add up
    to the whole."""
    done = run(BENCH, "sort", "--keys", "2000", "--exchange", "put", "--json", "r", transport=transport, ranks=3)
    assert done.returncode == 0, done.stderr
    (result,) = of_kind(read_records(tmp_path / "r"), "result")
    counters = result["counters"]
    assert counters["operations"] == 10 * result["iterations"]
    assert set(counters["page_faults"]) == {"minor", "major"}
    assert set(counters["context_switches"]) == {"voluntary", "involuntary"}
    assert set(counters["hardware"]) == {"cycles", "instructions", "cache_misses", "llc_misses"}
    for event, count in counters["hardware"].items():
        if count is None:
            assert counters["hardware_why_not"][event]
        else:
            assert count > 0
            assert event not in counters.get("hardware_why_not", {})
    phases = counters["phases"]
    assert list(phases) == ["count", "offsets", "bucketize", "exchange", "local_sort"]
    assert sum(phase["messages"] for phase in phases.values()) == result["traffic"]["messages"]
    assert sum(phase["wire_bytes"] for phase in phases.values()) == result["traffic"]["wire_bytes"]
    assert phases["exchange"]["messages"] == 2 * 3 * 2
    assert phases["local_sort"]["messages"] == 0
    assert counters["waited_seconds"]["max"] >= counters["waited_seconds"]["mean"] >= 0


def test_ranks_meet_before_the_exchange_where_asked_to(run: Run, tmp_path: Path) -> None:
    done = run(BENCH, "sort", "--keys", "2000", "--exchange", "put,channel", "--meet", "no,yes", "--json", "r", ranks=3)
    assert done.returncode == 0, done.stderr
    results = of_kind(read_records(tmp_path / "r"), "result")
    assert sorted(str(r["variant"].get("meet")) for r in results) == ["None", "None", "yes", "yes"]
    assert all(r["verified"] for r in results)


def test_ranks_are_placed_side_by_side_or_apart(run: Run, tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 4:
        pytest.skip("two ranks are placed alike on fewer than 4 CPUs")
    places = {}
    for word in ("compact", "scatter"):
        done = run(BENCH, "control", "--kernel", "barrier", "--repetitions", "1", "--json", word, LONGSHORE_PIN=word)
        assert done.returncode == 0, done.stderr
        places[word] = read_records(tmp_path / word)[0]["cpus"]
    assert places["compact"] != places["scatter"]
    assert len(set(places["compact"])) == len(set(places["scatter"])) == 2
    done = run(BENCH, "control", LONGSHORE_PIN="sideways")
    assert done.returncode == 2
    assert "LONGSHORE_PIN is 'sideways'" in done.stderr


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("ranks", [1, 3])
def test_records_are_complete_and_in_order(run: Run, tmp_path: Path, transport: str, ranks: int) -> None:
    options = ("ring", "--fault", "none,once,impossible", "--bytes", "64,4096", "--repetitions", "3", "--json", "r")
    done = run(FAULTY, *options, transport=transport, ranks=ranks)
    assert done.returncode == 0, done.stderr
    found = read_records(tmp_path / "r")
    assert [found[0]["record"], found[-1]["record"]] == ["launch", "end"]
    assert found[-1] == {"record": "end", "status": "ok", "results": 4, "wrong": 0, "skipped": 2}
    assert len(of_kind(found, "launch")) == len(of_kind(found, "end")) == 1

    launch = found[0]
    assert launch["schema"] == 1
    assert launch["transport"]["name"] == transport
    assert launch["ranks"] == len(launch["map"]) == ranks
    assert [entry[0] for entry in launch["map"]] == list(range(ranks))
    assert launch["nodes"] == 1
    assert launch["seed"] == 122222
    assert "ring" in launch["argv"]
    assert launch["clock"]["resolution_seconds"] > 0
    assert {"version", "git", "compiler", "flags"} <= set(launch["program"])
    assert {"host", "cpu", "kernel", "os", "memory_bytes", "numa_nodes", "transparent_huge_pages"} <= set(
        launch["system"]
    )

    samples = of_kind(found, "sample")
    assert len(samples) == 4 * 3
    variants = {json.dumps(sample["variant"]) for sample in samples}
    for repetition in range(3):
        visited = [sample for sample in samples if sample["repetition"] == repetition]
        assert {json.dumps(sample["variant"]) for sample in visited} == variants
        assert sorted(sample["position"] for sample in visited) == [0, 1, 2, 3]
    for sample in samples:
        assert sample["seconds"]["max"] >= sample["seconds"]["median"] >= sample["seconds"]["min"] > 0
        assert sample["phases"] == {"all": 1.0}

    results = [record for record in of_kind(found, "result") if "skipped" not in record]
    for result in results:
        assert result["verified"] is True
        assert result["repetitions"] == 3
        assert result["seconds"]["p10"] <= result["seconds"]["median"] <= result["seconds"]["p90"]
        assert result["traffic"] == {
            "messages": ranks,
            "payload_bytes": 8 * ranks,
            "wire_bytes": 16 * ranks,
            "offnode_bytes": 4 * ranks,
        }
        rate = result["metrics"]["rate"]
        assert (rate["unit"], rate["better"]) == ("1/s", "higher")
        own = sorted(s["seconds"]["max"] for s in samples if s["variant"] == result["variant"])
        assert result["seconds"]["median"] == pytest.approx(own[1])
        assert rate["value"] == pytest.approx(1 / own[1])
    assert {record["skipped"] for record in of_kind(found, "result") if "skipped" in record} == {
        "nothing does the impossible"
    }


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_what_the_engines_did_is_in_the_record(run: Run, tmp_path: Path, transport: str) -> None:
    strategies = "exstack,exstack2,conveyor,agp"
    options = (
        "--requests",
        "5000",
        "--table",
        "100",
        "--buffer-items",
        "64",
        "--repetitions",
        "3",
        "--iterations",
        "2",
        "--hops",
        "2",
    )
    done = run(
        BENCH,
        "gather",
        "--strategy",
        strategies,
        "--ranks-per-node",
        "2",
        *options,
        "--json",
        "r",
        transport=transport,
        ranks=4,
    )
    assert done.returncode == 0, done.stderr
    results = {record["variant"]["strategy"]: record for record in of_kind(read_records(tmp_path / "r"), "result")}
    assert "engine" not in results.pop("agp")
    assert set(results) == {"exstack", "exstack2", "conveyor"}
    for strategy, result in results.items():
        engine, traffic = result["engine"], result["traffic"]
        assert (engine["repetitions"], engine["operations"]) == (3, 6)
        # The mean over ranks is no longer than the slowest rank, in no repetition.
        assert 0 < engine["seconds"] <= 3 * result["seconds"]["p90"]
        waited = engine["waited_seconds"]
        assert all(0 <= waited[cause]["mean"] <= waited[cause]["max"] for cause in ("slot", "arrival"))
        assert waited["slot"]["mean"] + waited["arrival"]["mean"] < engine["seconds"]
        hops = engine["hops"]
        assert [(hop["direction"], hop["hop"]) for hop in hops] == [
            (direction, hop)
            for direction in ("requests", "replies")
            for hop in range(1, 3 if strategy == "conveyor" else 2)
        ]
        assert all(0 < hop["fill"] <= 1 and hop["wire_bytes"] > hop["payload_bytes"] for hop in hops)
        assert sum(hop["offnode_bytes"] for hop in hops) == pytest.approx(traffic["offnode_bytes"], rel=0.1)
        assert sum(hop["wire_bytes"] for hop in hops) == pytest.approx(traffic["wire_bytes"], rel=0.1)
        if strategy != "conveyor":  # each question is sent once, but for the own ones
            asked = sum(hop["items"] for hop in hops if hop["direction"] == "requests")
            assert 4 * 5000 * 0.7 < asked < 4 * 5000 * 0.8
        latency = engine["latency_seconds"]["requests"]
        assert (latency["samples"] == 0) == (strategy == "exstack")
        assert latency["samples"] == 0 or 0 < latency["p50"] <= latency["p90"] <= latency["p99"] < 60


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_virtual_nodes_are_in_the_map(run: Run, tmp_path: Path, transport: str) -> None:
    done = run(FAULTY, "ring", "--ranks-per-node", "2", "--json", "r", transport=transport, ranks=5)
    assert done.returncode == 0, done.stderr
    launch = read_records(tmp_path / "r")[0]
    assert [entry[1] for entry in launch["map"]] == [0, 0, 1, 1, 2]
    assert (launch["nodes"], launch["nodes_virtual"]) == (3, True)


def test_ranks_are_bound_unless_told_otherwise(run: Run, tmp_path: Path) -> None:
    bound = run(FAULTY, "ring", "--json", "r", ranks=1, LONGSHORE_PIN="1")
    assert bound.returncode == 0
    assert isinstance(read_records(tmp_path / "r")[0]["map"][0][2], int)
    if len(os.sched_getaffinity(0)) > 1:
        run(FAULTY, "ring", "--json", "r", ranks=1, LONGSHORE_PIN="0")
        assert read_records(tmp_path / "r")[0]["map"][0][2] is None


def test_the_order_follows_the_seed(run: Run, tmp_path: Path) -> None:
    def order(*more: str) -> list[int]:
        done = run(FAULTY, "ring", "--bytes", "8,16,24,32,40,48", "--repetitions", "3", "--json", "r", *more)
        assert done.returncode == 0
        return [sample["variant"]["bytes"] for sample in of_kind(read_records(tmp_path / "r"), "sample")]

    assert order("--seed", "1") == order("--seed", "1") != order("--seed", "2")
    assert order("--no-shuffle") == [8, 16, 24, 32, 40, 48] * 3


def test_records_on_standard_output_are_alone_there(run: Run) -> None:
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


def test_the_table_has_colour_on_a_terminal_only(environment: dict[str, str], tmp_path: Path) -> None:
    def on_terminal(**variables: str) -> str:
        ours, theirs = pty.openpty()
        options = ["ring", "--fault", "none,wrong", "--repetitions", "2", "--ranks", "1"]
        process = subprocess.Popen(
            [FAULTY, *options], env=environment | variables, cwd=tmp_path, stdout=theirs, stderr=subprocess.DEVNULL
        )
        assert process.wait(TIMEOUT_SECONDS) == 1
        os.close(theirs)
        text = os.read(ours, 1 << 16).decode()
        os.close(ours)
        return text

    environment.pop("NO_COLOR", None)
    assert "\x1b[31m" in on_terminal()
    assert "\x1b" not in on_terminal(NO_COLOR="1")


# ---- wrong results


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
def test_each_fault_of_a_sorted_result_is_called_by_its_name(run: Run, tmp_path: Path, fault: str) -> None:
    done = run(FAULTY, "sort", "--fault", f"none,{fault}", "--repetitions", "1", "--json", "r", ranks=3)
    assert done.returncode == 1
    said = own_lines(done.stderr)
    assert any(line.startswith(f"longshore-bench: wrong result: sort fault={fault} ") for line in said)
    assert any(line.startswith("longshore-bench: sort: ") and SPOILED[fault] in line for line in said)
    results = of_kind(read_records(tmp_path / "r"), "result")
    assert {r["variant"]["fault"]: r["verified"] for r in results} == {"none": True, fault: False}


def test_without_verification_nothing_is_called_right(run: Run, tmp_path: Path) -> None:
    done = run(FAULTY, "ring", "--fault", "none,wrong", "--no-verify", "--json", "r")
    assert done.returncode == 0
    assert [r["verified"] for r in of_kind(read_records(tmp_path / "r"), "result")] == [None, None]
    assert "unverified" in done.stdout


# ---- nothing could run, or a command line that makes no sense


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("fault", ["impossible", "refused"])
def test_nothing_could_run(run: Run, tmp_path: Path, transport: str, fault: str) -> None:
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
def test_a_usage_error_is_said_though_other_processes_end_first(run: Run, tmp_path: Path) -> None:
    """Open MPI ends all processes when the first of them ends with an error."""
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
def test_ranks_are_told_to_the_launcher(run: Run) -> None:
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


# ---- failures while it runs


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


def test_a_full_disk_is_told_and_leaves_whole_lines(run: Run) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    done = run(FAULTY, "ring", "--json", "/dev/full")
    assert done.returncode == 3
    assert "cannot be written to '/dev/full'" in done.stderr


@pytest.fixture
def slow_run(environment: dict[str, str], tmp_path: Path) -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """A run that has recorded samples and would go on for long."""
    started: list[subprocess.Popen[bytes]] = []

    def start(transport: str) -> subprocess.Popen[bytes]:
        options = ("ring", "--fault", "slow", "--repetitions", "100000", "--iterations", "1", "--json", "r")
        process = subprocess.Popen(
            command(FAULTY, *options, transport=transport, ranks=2),
            env=environment,
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        started.append(process)
        deadline = time.monotonic() + TIMEOUT_SECONDS
        records = tmp_path / "r"
        while not (records.exists() and records.read_text().count("\n") > 2):
            assert process.poll() is None, "it ended before it was to"
            assert time.monotonic() < deadline, "it never measured anything"
            time.sleep(0.05)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("number", [signal.SIGINT, thorough(signal.SIGTERM), signal.SIGKILL])
def test_a_signal_ends_it_at_once_and_leaves_whole_lines(
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
    """Ranks whose launcher was killed notice it after a moment, and end; then nobody writes any
    more."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    size, since = -1, time.monotonic()
    while time.monotonic() - since < 1.0:
        assert time.monotonic() < deadline, "ranks went on without their launcher"
        if path.stat().st_size != size:
            size, since = path.stat().st_size, time.monotonic()
        time.sleep(0.05)


# ---- the real patterns


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    assert BENCH.exists(), "build first: tools/run_tests.py build"
    done = subprocess.run([BENCH, "--list"], capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_the_list_says_what_this_build_can_do(listed: dict[str, Any]) -> None:
    assert [p["name"] for p in listed["patterns"]] == ["stream", "gather", "halo", "sort", "control"]
    assert {t["name"]: t["available"] for t in listed["transports"]}["threads"] is True
    for pattern in listed["patterns"]:
        for factor in pattern["factors"]:
            for level in factor.get("levels", []):
                assert ("transports" if level["available"] else "why_not") in level
            for default in factor["default"]:
                levels = [level["level"] for level in factor.get("levels", [])]
                assert not levels or default in levels


def test_every_pattern_has_help_with_all_its_options(listed: dict[str, Any]) -> None:
    for pattern in listed["patterns"]:
        done = subprocess.run(
            [BENCH, pattern["name"], "--help"], capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS
        )
        for factor in pattern["factors"]:
            assert factor["option"] in done.stdout
        assert f"longshore-bench {pattern['name']}" in done.stdout


SMALL = {
    "stream": ("--scope", "ep,global", "--elements", "1000"),
    "gather": ("--strategy", "agp,exstack,direct,auto", "--requests", "1000", "--table", "100"),
    "halo": ("--algorithm", "standard,faces", "--domain", "6,5,4", "--halo", "1,2", "--fields", "1,3"),
    "sort": ("--exchange", "put,direct,channel,auto", "--payload", "0,8", "--splitters", "sampled", "--keys", "1000"),
    "control": ("--bytes", "1000"),
}


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("nodes", [thorough(()), ("--ranks-per-node", "2")])
@pytest.mark.parametrize("pattern", SMALL)
def test_every_pattern_runs_and_is_verified(
    run: Run, tmp_path: Path, pattern: str, transport: str, nodes: tuple[str, ...]
) -> None:
    options = (pattern, *SMALL[pattern], "--repetitions", "2", "--json", "r", *nodes)
    done = run(BENCH, *options, transport=transport, ranks=3)
    assert done.returncode == 0, done.stderr
    assert own_lines(done.stderr) == []
    results = [r for r in of_kind(read_records(tmp_path / "r"), "result") if "skipped" not in r]
    assert results
    for result in results:
        assert result["verified"] is True
        assert result["metrics"]
        assert all(metric["value"] > 0 for metric in result["metrics"].values())


@pytest.mark.parametrize(
    ("transport", "ranks"),
    [
        ("threads", 3),
        thorough("threads", 7),
        *(pytest.param("mpi", ranks, marks=[needs_mpi, pytest.mark.thorough]) for ranks in (3, 4)),
    ],
)
def test_uneven_parts_of_arrays_are_measured_by_all_ranks(run: Run, transport: str, ranks: int) -> None:
    """Sizes about those of the caches, and parts that differ between ranks: what one rank would
    measure all measure."""
    sizes = ",".join(str(1031 * 4**n) for n in range(5))
    options = ("--scope", "global", "--kernel", "add", "--distribution", "block-cyclic,block", "--elements", sizes)
    done = run(BENCH, "stream", *options, "--type", "float", "--repetitions", "1", transport=transport, ranks=ranks)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("transport", THREADS_FIRST)
@pytest.mark.parametrize("language", ["c++", thorough("c"), thorough("fortran")])
def test_what_auto_becomes_is_verified_by_what_that_fills(
    run: Run, tmp_path: Path, language: str, transport: str
) -> None:
    """With every reach, in modes of both kinds, with few fields and many: auto chooses differently
    from run to run."""
    options = ["--algorithm", "auto", "--reach", "faces,edges,corners", "--mode", "direct,channel,waitall"]
    options += ["--domain", "5,7,3,9,4,6", "--halo", "3", "--fields", "1,5", "--periodic", "1,0,1"]
    options += ["--language", language, "--repetitions", "1", "--ranks-per-node", "1", "--json", "r"]
    done = run(BENCH, "halo", *options, transport=transport, ranks=4)
    if done.returncode == 2 and "this build has no" in done.stderr:
        pytest.skip(f"this build has no {language}")
    assert done.returncode == 0, done.stderr
    results = [r for r in of_kind(read_records(tmp_path / "r"), "result") if "skipped" not in r]
    assert len(results) >= 2 * 12
    assert all(result["verified"] is True for result in results)
    assert not any(result["algorithm"] == "auto" for result in results)


@needs_mpi
def test_all_processes_measure_what_the_first_one_was_asked_for(tmp_path: Path, environment: dict[str, str]) -> None:
    """As where hosts have other defaults: two command lines in one launch, of which the first
    counts."""
    asked = ("stream", "--scope", "global", "--elements")
    first = command(BENCH, *asked, "1000", "--json", "r", transport="mpi", ranks=1)
    second = command(BENCH, *asked, "2000", "--repetitions", "3", transport="mpi", ranks=1)
    done = subprocess.run(
        [*first, ":", *second[1:]],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    results = of_kind(read_records(tmp_path / "r"), "result")
    assert [result["variant"]["elements"] for result in results] == [1000]
    assert results[0]["repetitions"] == 10


@pytest.mark.parametrize("transport", THREADS_FIRST)
@pytest.mark.parametrize(
    ("pattern", "options"),
    [
        ("stream", ("--elements", "10000000000000")),
        ("stream", ("--scope", "global", "--elements", "10000000000000")),
        ("gather", ("--table", "10000000000000", "--requests", "10")),
        ("gather", ("--requests", "1000000000000")),
        ("halo", ("--domain", "100000,100000,100000")),
        ("sort", ("--keys", "1000000000000")),
    ],
)
def test_more_than_fits_into_memory_is_one_line_and_status_3(
    run: Run, tmp_path: Path, pattern: str, options: tuple[str, ...], transport: str
) -> None:
    done = run(BENCH, pattern, *options, "--json", "r", transport=transport)
    assert done.returncode == 3
    said = own_lines(done.stderr)
    assert len(said) == 1, done.stderr
    assert options[1] in said[0]
    assert read_records(tmp_path / "r")[0]["record"] == "launch"


# ---- which commit a program was built from


def test_the_commit_is_that_of_the_sources(tmp_path: Path) -> None:
    repository, header = tmp_path / "repository", tmp_path / "git.hpp"
    repository.mkdir()
    script = BUILD_SCRIPT.resolve()

    def git(*words: str) -> str:
        identity = ["-c", "user.name=test", "-c", "user.email=test@example.org"]
        own = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *identity, *words], cwd=repository, env=own, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def written() -> str:
        subprocess.run(
            ["cmake", f"-DSOURCE={repository}", f"-DHEADER={header}", "-P", script], check=True, capture_output=True
        )
        return header.read_text(encoding="utf-8")

    assert 'git_commit = "";' in written()  # no repository
    git("init", "--quiet")
    (repository / "source").write_text("1\n", encoding="utf-8")
    git("add", "source")
    git("commit", "--quiet", "-m", "first")
    text = written()
    assert f'git_commit = "{git("rev-parse", "HEAD")}";' in text
    assert "git_dirty = false;" in text
    before = header.stat().st_mtime_ns
    written()
    assert header.stat().st_mtime_ns == before, "touched without a change, so that every build compiles again"
    (repository / "source").write_text("2\n", encoding="utf-8")
    assert "git_dirty = true;" in written()
    git("commit", "--quiet", "-a", "-m", "second")
    text = written()
    assert f'git_commit = "{git("rev-parse", "HEAD")}";' in text
    assert "git_dirty = false;" in text
