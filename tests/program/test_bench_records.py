"""Records of longshore-bench: complete, in order, and true."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from bench_runs import (
    BENCH,
    FAULTY,
    TRANSPORTS,
    Run,
    of_kind,
    read_records,
)

ONE_REPETITION = ("--repetitions", "1", "--no-noise-probe")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_control_measures_the_inputs_of_the_communication_model(run: Run, tmp_path: Path, transport: str) -> None:
    """Every operation that moves a message, within a node and between nodes; each is verified."""
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
    operations = {"put", "channel", "alltoallv", *(["rma"] if transport == "mpi" else [])}
    pairs = {(over, pair) for over in operations for pair in ("near", "remote")} | {("copy", None)}
    pairs |= {(over, "self") for over in operations & {"alltoallv", "rma"}}
    assert set(shifts) == {(*pair, size) for pair in pairs for size in (8, 100000)}
    for (over, pair, size), result in shifts.items():
        assert result["metrics"]["shift_us"]["value"] > 0 or size == 8
        assert result["traffic"]["payload_bytes"] == 4 * size
        assert result["traffic"]["offnode_bytes"] == (4 * size if pair == "remote" else 0), over
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


def test_a_copy_of_the_default_size_has_the_speeds_of_smaller_sizes(run: Run, tmp_path: Path) -> None:
    results = {}
    launches = (("pair", 2, ""), ("one", 1, ""), ("size", 1, "--bytes 70000"), ("nodes", 2, "--ranks-per-node 1"))
    for name, ranks, options in launches:
        done = run(BENCH, "control", "--kernel", "copy", *options.split(), *ONE_REPETITION, "--json", name, ranks=ranks)
        assert done.returncode == 0, done.stderr
        (results[name],) = of_kind(read_records(tmp_path / name), "result")
    assert "speeds" not in results.pop("size")
    for name, result in results.items():
        *sets, large = result["speeds"]
        assert [of_set["bytes"] for of_set in sets] == [2**exponent for exponent in range(15, 15 + len(sets))]
        assert len(sets) >= 10
        assert set(large) == {"bytes", "copy"}
        assert large["copy"] >= result["metrics"]["best_bandwidth"]["value"]
        for of_set in sets:
            names = {"bytes", "copy", "lines", "random_lines"}
            names |= {"neighbour_copy"} if name == "pair" and of_set["bytes"] <= 2**21 else set()
            assert set(of_set) - {"network"} == names
            assert all(value > 0 for value in of_set.values()), of_set
        network = [of_set["network"] for of_set in sets if "network" in of_set]
        assert bool(network) == (name == "nodes")
        assert network == sorted(network, reverse=True), "a stream of short messages hides their latency"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_records_hold_the_counters_of_a_sort_and_its_phases(run: Run, tmp_path: Path, transport: str) -> None:
    """A hardware counter is a count, or null with a reason. The traffic of the phases adds up."""
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


def test_a_barrier_before_the_exchange_is_a_factor_of_sort(run: Run, tmp_path: Path) -> None:
    done = run(BENCH, "sort", "--keys", "2000", "--exchange", "put,channel", "--meet", "no,yes", "--json", "r", ranks=3)
    assert done.returncode == 0, done.stderr
    results = of_kind(read_records(tmp_path / "r"), "result")
    assert sorted(str(r["variant"].get("meet")) for r in results) == ["None", "None", "yes", "yes"]
    assert all(r["verified"] for r in results)


def test_ranks_are_placed_on_near_or_on_distant_cores(run: Run, tmp_path: Path) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 4:
        pytest.skip("with fewer than 4 CPUs, both words place two ranks alike")
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
def test_records_hold_the_statistics_of_the_engines(run: Run, tmp_path: Path, transport: str) -> None:
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
        # In each repetition, the mean over the ranks is at most the time of the slowest rank.
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
        if strategy != "conveyor":  # each request is sent once; those to the own rank are not sent
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


def test_ranks_are_bound_to_cores_unless_pinning_is_off(run: Run, tmp_path: Path) -> None:
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
