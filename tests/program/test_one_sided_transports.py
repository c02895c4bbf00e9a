"""The transports shmem and ucx under longshore-bench: every strategy, records and errors.

One launch per pattern, transport and layout. The layouts are one node, and nodes of two ranks.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest
from bench_runs import BENCH, FAILING, TIMEOUT_SECONDS, Record, of_kind, read_records

pytestmark = pytest.mark.thorough
LAUNCHERS = {"shmem": "oshrun", "ucx": "mpirun"}
HOOKS = "OMPI_MCA_opal_common_ucx_opal_mem_hooks"

SMALL = {
    "stream": "--scope ep,global --kernel triad,copy --elements 5000",
    "gather": "--operation gather,scatter,histogram --requests 2000 --table 300 --distribution cyclic,block "
    "--buffer-items 64",
    "halo": "--algorithm standard,staged,sequenced,staged-sequenced,faces --domain 6,5,7 --halo 2 --fields 2",
    "sort": "--order round-robin,random,xor,incast --keys 3000",
    "ghost": "--operation update,accumulate --mesh random,tetrahedra --elements 500 --ghosts 200 --fields 2",
    "control": "--kernel pingpong,put,shift,barrier,fetch-add --over put,channel,alltoallv,raw --bytes 8,5000 "
    "--pair near,remote",
}
STRATEGY = {"gather": "strategy", "halo": "mode", "sort": "exchange", "ghost": "strategy"}
ENDED_BY_THE_DEADLINE = ("never-comes", "never-receives", "stops-in-alltoallv")
ONCE = "--repetitions 1 --warmup 0 --json"
# Levels that calls of MPI define. All other levels must run.
ONLY_MPI = {
    "halo": {"sendrecv", "redblack", "isend-recv", "irecv-send", "pairwise", "waitall", "persistent", "neighbor"}
    | {"partitioned", "subarray", "rma-fence", "rma-pscw", "rma-flush"},
    "sort": {"sendrecv", "rma"},
    "gather": set(),
    "ghost": {"mpi-waitall", "mpi-persistent", "mpi-neighbor"},
}


@cache
def offered() -> Record:
    done = subprocess.run([BENCH, "--list"], capture_output=True, text=True, check=True)
    listed: Record = json.loads(done.stdout)
    return listed


def need(transport: str) -> None:
    available = {entry["name"]: entry["available"] for entry in offered()["transports"]}
    if not available[transport]:
        pytest.skip(f"this build has no transport {transport}: its library was not found when CMake configured it")
    if shutil.which(LAUNCHERS[transport]) is None:
        pytest.skip(f"no {LAUNCHERS[transport]} on PATH")


def environment(**variables: str) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("LONGSHORE_", "SHMEM_"))}
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}
    quiet = {"LONGSHORE_PIN": "0", "LONGSHORE_PROFILE": "off", "LONGSHORE_TIMEOUT": "120"}
    return clean | root | quiet | variables


def launch(
    transport: str, ranks: int, program: Path, options: str, **variables: str
) -> subprocess.CompletedProcess[str]:
    need(transport)
    launcher = [LAUNCHERS[transport], "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
    return subprocess.run(
        [*launcher, str(program), *options.split()],
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )


def records_of(path: Path, kind: str) -> list[Record]:
    found = read_records(path)
    assert [found[0]["record"], found[-1]["record"]] == ["launch", "end"]
    return of_kind(found, kind)


def levels_of(pattern: str, factor: str) -> list[str]:
    (entry,) = [entry for entry in offered()["patterns"] if entry["name"] == pattern]
    (found,) = [each for each in entry["factors"] if each["name"] == factor]
    return [level["level"] for level in found["levels"]]


@pytest.mark.parametrize("transport", ["shmem", "ucx"])
@pytest.mark.parametrize("per_node", [0, 2])
@pytest.mark.parametrize("pattern", list(SMALL))
def test_every_strategy_is_verified(transport: str, per_node: int, pattern: str, tmp_path: Path) -> None:
    need(transport)
    options = f"{pattern} {SMALL[pattern]} --transport {transport} {ONCE} {tmp_path / 'r'}"
    if pattern in STRATEGY:
        options += f" --{STRATEGY[pattern]} {','.join(levels_of(pattern, STRATEGY[pattern]))}"
    if per_node:
        options += f" --ranks-per-node {per_node}"
    done = launch(transport, 4, BENCH, options, **{HOOKS: "0"})
    assert done.returncode == 0, done.stderr
    results = records_of(tmp_path / "r", "result")
    ran = [result for result in results if "skipped" not in result]
    assert all(result["verified"] is True for result in ran)
    assert ran
    if pattern in STRATEGY:
        factor = STRATEGY[pattern]
        missing = set(levels_of(pattern, factor)) - {result["variant"][factor] for result in ran}
        not_here = {"direct"} if per_node else {"two-hop"}  # two-hop needs several nodes
        assert missing - not_here <= ONLY_MPI[pattern], missing
    assert all(result["skipped"] for result in results if "skipped" in result)


@pytest.mark.parametrize("transport", ["shmem", "ucx"])
def test_the_record_names_the_library(transport: str, tmp_path: Path) -> None:
    done = launch(transport, 3, BENCH, f"control --kernel barrier --transport {transport} {ONCE} {tmp_path / 'r'}")
    assert done.returncode == 0, done.stderr
    (record,) = records_of(tmp_path / "r", "launch")
    assert record["transport"]["name"] == transport
    assert {"shmem": "OpenSHMEM 1.", "ucx": "UCX 1."}[transport] in record["transport"]["library"]
    assert record["ranks"] == len(record["map"]) == 3
    said = [line for line in done.stderr.splitlines() if line.startswith("longshore:")]
    if transport == "shmem" and "Open MPI" in record["transport"]["library"]:
        assert len(said) == 1, said
        assert HOOKS in said[0]
    else:
        assert not said


def test_the_error_of_a_heap_that_is_too_small_says_how_to_enlarge_it() -> None:
    options = "gather --strategy agp --table 4000000 --requests 1000 --transport shmem"
    small = launch("shmem", 2, BENCH, options, SHMEM_SYMMETRIC_SIZE="8M", **{HOOKS: "0"})
    assert small.returncode == 3
    assert "the symmetric heap of a rank has 8M bytes: start with a larger SHMEM_SYMMETRIC_SIZE" in small.stderr


def test_the_heap_is_as_large_as_the_run_needs(tmp_path: Path) -> None:
    """A small run gets 1 GiB. Buffers of 64 MiB need more."""
    sizes = []
    for megabytes in (1, 64):
        options = (
            f"control --kernel put --pair near --bytes {megabytes << 20} --transport shmem {ONCE} {tmp_path / 'r'}"
        )
        done = launch("shmem", 2, BENCH, options, **{HOOKS: "0"})
        assert done.returncode == 0, done.stderr
        (record,) = records_of(tmp_path / "r", "launch")
        sizes.append(int(record["environment"]["SHMEM_SYMMETRIC_SIZE"]))
    assert sizes[0] <= 1 << 30
    assert sizes[1] > sizes[0]


@pytest.mark.parametrize("transport", ["shmem", "ucx"])
@pytest.mark.parametrize(
    ("failure", "said"),
    [
        ("throws", "this rank fails on purpose"),
        ("throws-another-type", "this rank fails on purpose"),
        ("never-comes", "LONGSHORE_TIMEOUT"),
        ("never-receives", "for a free slot from rank"),
        ("stops-in-alltoallv", "LONGSHORE_TIMEOUT"),
        ("counts-differ", "rank 0 sends a piece of 42655 bytes, and rank"),
    ],
)
def test_a_failure_ends_the_run(transport: str, failure: str, said: str) -> None:
    limit = "2" if failure in ENDED_BY_THE_DEADLINE else "120"
    variables = {"LONGSHORE_TRANSPORT": transport, "LONGSHORE_RANKS_PER_NODE": "1", "LONGSHORE_TIMEOUT": limit}
    done = launch(transport, 3, FAILING, failure, **variables, **{HOOKS: "0"})
    assert done.returncode == 3, done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("longshore:")]
    assert len(lines) == 1, lines
    assert said in lines[0]


def test_a_message_that_the_network_does_not_accept_ends_at_the_deadline() -> None:
    """Open MPI's OpenSHMEM blocks in the put of a word until earlier puts have left."""
    over_tcp = {"UCX_TLS": "tcp,self", "OMPI_MCA_opal_common_ucx_tls": "any", "OMPI_MCA_opal_common_ucx_devices": "any"}
    variables = {"LONGSHORE_TRANSPORT": "shmem", "LONGSHORE_RANKS_PER_NODE": "1", "LONGSHORE_TIMEOUT": "2"}
    done = launch("shmem", 2, FAILING, "much-to-one-that-stops", **variables, **over_tcp, **{HOOKS: "0"})
    assert done.returncode == 3, done.stderr
    assert "longshore: rank 0: a put with a signal did not return within 2 s" in done.stderr


# The transport, the moment when a rank stops, and the error of a rank that notices the stop.
STOPS = {
    ("shmem", "stops-at-the-end"): "shmem_finalize did not return within 10 s",
    ("ucx", "stops-at-the-end"): "at the start or the end of the run",
    ("ucx", "stops-after-the-run"): "MPI_Finalize did not return within 10 s",
}


@pytest.fixture(scope="module")
def stopping() -> Iterator[dict[tuple[str, str], Future[subprocess.CompletedProcess[str]]]]:
    """Starts all runs at once, since they only wait."""
    variables = {"LONGSHORE_TIMEOUT": "1", HOOKS: "0"}
    with ThreadPoolExecutor(len(STOPS)) as started:
        yield {
            (transport, failure): started.submit(
                launch, transport, 3, FAILING, failure, LONGSHORE_TRANSPORT=transport, **variables
            )
            for transport, failure in STOPS
        }


@pytest.mark.parametrize(("transport", "failure"), list(STOPS))
def test_a_rank_that_stops_at_the_end_ends_the_others(
    transport: str, failure: str, stopping: dict[tuple[str, str], Future[subprocess.CompletedProcess[str]]]
) -> None:
    """The start and the end of a library have a deadline of at least 10 seconds."""
    need(transport)
    done = stopping[transport, failure].result()
    assert done.returncode == 3, done.stderr
    assert STOPS[transport, failure] in done.stderr


@pytest.mark.parametrize("transport", ["shmem", "ucx"])
def test_a_killed_rank_ends_the_others(transport: str) -> None:
    done = launch(transport, 3, FAILING, "killed", LONGSHORE_TRANSPORT=transport, **{HOOKS: "0"})
    assert done.returncode != 0


def test_a_start_of_ucx_that_fails_on_one_rank_ends_the_run() -> None:
    """All other ranks wait for the failed rank, which must end them."""
    need("ucx")
    flags = ["--oversubscribe", "--bind-to", "none"]
    broken = ["-n", "1", "-x", "UCX_TLS=no-such-transport", str(FAILING), "none", ":", "-n", "1", str(FAILING), "none"]
    done = subprocess.run(
        [LAUNCHERS["ucx"], *flags, *broken],
        env=environment(LONGSHORE_TRANSPORT="ucx"),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 3, done.stderr
    assert sum("longshore: rank 0 of 2: transport: " in line for line in done.stderr.splitlines()) == 1, done.stderr


def need_pmix() -> None:
    need("ucx")
    done = launch("ucx", 1, FAILING, "none", LONGSHORE_TRANSPORT="ucx", LONGSHORE_UCX_START="pmix")
    for why in ("without the headers of PMIx", "no launcher with PMIx", "the library of PMIx cannot be loaded"):
        if why in done.stderr:
            pytest.skip(done.stderr.strip())


def test_ucx_is_started_by_pmix_without_mpi(tmp_path: Path) -> None:
    need_pmix()
    options = f"control --kernel barrier --transport ucx {ONCE} {tmp_path / 'r'}"
    done = launch("ucx", 3, BENCH, options, LONGSHORE_UCX_START="pmix")
    assert done.returncode == 0, done.stderr
    (record,) = records_of(tmp_path / "r", "launch")
    assert record["ranks"] == len(record["map"]) == 3
    failed = launch("ucx", 3, FAILING, "throws", LONGSHORE_TRANSPORT="ucx", LONGSHORE_UCX_START="pmix")
    assert failed.returncode == 3, failed.stderr
    assert sum(line.startswith("longshore:") for line in failed.stderr.splitlines()) == 1, failed.stderr
    assert not any("MPI" in line for line in failed.stderr.splitlines() if line.startswith("longshore:"))


@pytest.mark.parametrize(("start", "said"), [("slurm", "it must be mpi or pmix"), ("pmix", "PMIx")])
def test_a_start_of_ucx_that_cannot_be_is_refused(start: str, said: str) -> None:
    """Without a launcher, no PMIx server can start the ranks."""
    need("ucx")
    clean = {name: value for name, value in environment().items() if not name.startswith("PMIX_")}
    done = subprocess.run(
        [str(FAILING), "none"],
        env=clean | {"LONGSHORE_TRANSPORT": "ucx", "LONGSHORE_UCX_START": start},
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 3, done.stderr
    assert f"LONGSHORE_UCX_START is {start!r}" in done.stderr or f"LONGSHORE_UCX_START is {start}" in done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("networks", "said"),
    [
        ("self", "has no network that reaches rank"),
        ("no-such-network", "UCX has no network that it may use here: UCX_TLS is 'no-such-network'"),
    ],
)
def test_an_error_names_networks_that_ucx_cannot_use(networks: str, said: str) -> None:
    done = launch("ucx", 2, FAILING, "none", LONGSHORE_TRANSPORT="ucx", UCX_TLS=networks)
    assert done.returncode == 3, done.stderr
    assert any(said in line for line in done.stderr.splitlines() if line.startswith("longshore: rank")), done.stderr


@pytest.mark.parametrize(("size", "said"), [("lots", "it must be a number of bytes"), ("900T", "this host has")])
def test_a_heap_that_cannot_be_is_refused_before_the_start(size: str, said: str) -> None:
    variables = {"LONGSHORE_TRANSPORT": "shmem", "SHMEM_SYMMETRIC_SIZE": size, HOOKS: "0"}
    done = launch("shmem", 1, FAILING, "none", **variables)
    assert done.returncode == 3, done.stderr
    assert f"SHMEM_SYMMETRIC_SIZE is '{size}'" in done.stderr
    assert said in done.stderr


def test_the_smallest_heap_limits_allocations_on_all_ranks() -> None:
    need("shmem")
    options = ["gather", "--strategy", "agp", "--table", "8000000", "--requests", "1000", "--transport", "shmem"]
    ranks = []
    for megabytes in (256, 32):
        ranks += [":", "-n", "1", "-x", f"SHMEM_SYMMETRIC_SIZE={megabytes}M", str(BENCH), *options]
    done = subprocess.run(
        [LAUNCHERS["shmem"], "--oversubscribe", "--bind-to", "none", *ranks[1:]],
        env=environment(**{HOOKS: "0"}),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 3, done.stderr
    assert "start with a larger SHMEM_SYMMETRIC_SIZE" in done.stderr


@pytest.mark.parametrize("transport", ["shmem", "ucx"])
def test_the_launcher_decides_the_number_of_ranks(transport: str) -> None:
    done = launch(transport, 2, BENCH, f"control --transport {transport} --ranks 3", **{HOOKS: "0"})
    assert done.returncode == 2
    assert "tell the launcher instead" in done.stderr
