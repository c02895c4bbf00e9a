"""Pattern halo of longshore-bench: sums, vertices, boxes, records and errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_runs import (
    BENCH,
    EMULATED,
    THREADS_FIRST,
    Record,
    Run,
    of_kind,
    own_lines,
    read_records,
    thorough,
)

OPERATIONS = ("exchange", "accumulate", "assemble")
CENTRINGS = ("cell", "vertex")
MODES_OF_SUMS = ("direct", "channel", "waitall", "persistent", "neighbor")
MODES_OF_BOXES = ("direct", "channel")
SMALL = ["--domain", "6,5,4", "--halo", "1,3", "--fields", "2", "--repetitions", "2", "--iterations", "2"]


def results_of(path: Path) -> list[Record]:
    return [result for result in of_kind(read_records(path), "result") if "skipped" not in result]


@pytest.mark.parametrize("transport", THREADS_FIRST)
@pytest.mark.parametrize("periodic", ["1,1,1", thorough("0,1,0")])
@pytest.mark.parametrize(
    "layout", [(3, 2), *(thorough(layout) for layout in ((1, 0), (2, 0), (2, 1), (3, 0), (4, 0), (4, 1)))]
)
def test_operations_on_blocks_and_boxes_of_cells_and_vertices_are_verified(
    run: Run, tmp_path: Path, transport: str, layout: tuple[int, int], periodic: str
) -> None:
    ranks, per_node = layout
    options = ["--operation", ",".join(OPERATIONS), "--centring", ",".join(CENTRINGS), "--boxes", "0,1,5"]
    options += ["--mode", ",".join(MODES_OF_SUMS), *SMALL, "--periodic", periodic, "--json", "r"]
    options += ["--ranks-per-node", str(per_node)] if per_node else []
    done = run(BENCH, "halo", *options, transport=transport, ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert own_lines(done.stderr) == []
    results = results_of(tmp_path / "r")
    assert all(result["verified"] is True for result in results)
    found = {tuple(r["variant"][name] for name in ("operation", "centring", "boxes", "mode")) for r in results}
    modes = MODES_OF_BOXES if transport == "threads" else MODES_OF_SUMS
    assert found == {
        (o, c, boxes, mode)
        for o in OPERATIONS
        for c in CENTRINGS
        for boxes in (0, 1, 5)
        for mode in (modes if boxes == 0 else MODES_OF_BOXES)
    }
    # An assemble goes both ways.
    payload = {
        (*(r["variant"][name] for name in ("centring", "boxes", "mode", "halo")), r["variant"]["operation"]): r[
            "traffic"
        ]["payload_bytes"]
        for r in results
    }
    assert all(both == 2 * payload[*work, "accumulate"] for (*work, o), both in payload.items() if o == "assemble")


@pytest.mark.parametrize("transport", THREADS_FIRST)
def test_sums_are_verified_for_every_reach_type_and_memory(run: Run, tmp_path: Path, transport: str) -> None:
    options = ["--operation", "accumulate,assemble", "--centring", "vertex", "--algorithm", "standard,faces"]
    options += ["--reach", "faces,edges,corners", "--type", "float,double", "--memory", "shared,own", "--json", "r"]
    done = run(BENCH, "halo", *options, *SMALL, transport=transport, ranks=4)
    assert done.returncode == 0, done.stderr
    results = results_of(tmp_path / "r")
    assert len(results) == 2 * 4 * 2 * 2 * 2
    assert all(result["verified"] is True for result in results)


@pytest.mark.parametrize("transport", THREADS_FIRST)
def test_fields_in_device_memory_are_verified_and_recorded(run: Run, tmp_path: Path, transport: str) -> None:
    options = ["--memory", "device", "--operation", ",".join(OPERATIONS), "--mode", "direct,channel", *SMALL]
    done = run(EMULATED, "halo", *options, "--json", "r", transport=transport, ranks=2)
    assert done.returncode == 0, done.stderr
    results = results_of(tmp_path / "r")
    assert all(result["verified"] is True for result in results)
    assert {(r["variant"]["operation"], r["variant"]["mode"]) for r in results} == {
        (o, mode) for o in OPERATIONS for mode in ("direct", "channel")
    }
    assert {r["device"]["driver"] for r in results} == {"emulated"}
    assert all(r["device"]["copy_bandwidth"] > 0 for r in results)


@pytest.mark.parametrize("transport", THREADS_FIRST)
@pytest.mark.parametrize(
    "measured",
    [
        ["--mode", "direct,channel,waitall,persistent,sendrecv,rma-pscw"],
        ["--memory", "device", "--mode", "direct,channel,waitall"],
        ["--contiguous", "10"],
        ["--boxes", "3", "--operation", "exchange,assemble"],
    ],
)
def test_phases_are_timed_on_request(run: Run, tmp_path: Path, transport: str, measured: list[str]) -> None:
    size = ["--repetitions", "2", "--iterations", "2", *([] if "--contiguous" in measured else ["--domain", "6,5,4"])]
    for phases in ([], ["--phases"]):
        done = run(EMULATED, "halo", *measured, *size, *phases, "--json", "r", transport=transport, ranks=2)
        assert done.returncode == 0, done.stderr
        results = results_of(tmp_path / "r")
        assert results
        assert all(result["verified"] is True for result in results)
        assert all(("phases" in result) == bool(phases) for result in results)
        assert ("unpack" in done.stdout) == bool(phases)
    for result in results:
        assert list(result["phases_mean"]) == ["pack", "send", "wait", "unpack"]
        assert sum(result["phases_mean"].values()) > 0
        for phase, mean in result["phases_mean"].items():
            assert 0 <= result["phases_least"][phase] <= mean * 1.001
            assert mean <= 1.001 * result["phases"][phase]


def test_device_memory_without_a_device_is_refused(run: Run) -> None:
    done = run(BENCH, "halo", "--memory", "device", transport="threads", ranks=1, CUDA_VISIBLE_DEVICES="")
    assert done.returncode != 0
    assert "needs a GPU, and a build with LONGSHORE_CUDA or LONGSHORE_HIP" in done.stderr


@pytest.mark.parametrize("transport", THREADS_FIRST)
def test_boxes_are_verified_in_every_type_and_memory(run: Run, tmp_path: Path, transport: str) -> None:
    options = ["--operation", "exchange,assemble", "--boxes", "7", "--type", "float,double", "--memory", "shared,own"]
    done = run(BENCH, "halo", *options, *SMALL, "--seed", "5", "--json", "r", transport=transport, ranks=2)
    assert done.returncode == 0, done.stderr
    results = results_of(tmp_path / "r")
    assert len(results) == 2 * 2 * 2 * 2
    for result in results:
        assert result["verified"] is True
        assert result["plan_seconds"] > 0
        assert result["plan"]["layout_seconds"] > 0
        assert result["plan"]["memory_bytes"]["max"] > 0
        assert result["plan"]["neighbours"] == {"max": 1, "mean": 1}
        assert result["plan"]["cells"]["mean"] == 6 * 5 * 4


def test_copies_of_vertices_lie_in_the_halo_and_in_the_shared_layers(run: Run, tmp_path: Path) -> None:
    options = ["--operation", "accumulate", "--centring", "cell,vertex", "--domain", "4,4,4", "--json", "r"]
    done = run(BENCH, "halo", *options, "--repetitions", "1", transport="threads", ranks=1)
    assert done.returncode == 0, done.stderr
    payload = {r["variant"]["centring"]: r["traffic"]["payload_bytes"] for r in results_of(tmp_path / "r")}
    # One rank, periodic: all cells but the 4 x 4 x 4 of the domain are copies.
    assert payload == {"cell": 8 * (6**3 - 4**3), "vertex": 8 * (7**3 - 4**3)}


def test_records_name_the_new_factors_only_if_they_are_given(run: Run, tmp_path: Path) -> None:
    """Records of earlier versions stay comparable with new ones."""
    done = run(BENCH, "halo", "--repetitions", "1", "--domain", "4,4,4", "--json", "r", ranks=2)
    assert done.returncode == 0, done.stderr
    (result,) = results_of(tmp_path / "r")
    assert list(result["variant"]) == [
        "algorithm", "mode", "reach", "domain", "halo", "fields", "tasks", "type", "periodic", "placement",
    ]  # fmt: skip
    assert {"algorithm", "rounds", "plan_seconds", "transfers", "placement"} <= set(result)


def test_the_seed_decides_the_boxes(run: Run, tmp_path: Path) -> None:
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        options = ["--boxes", "6", "--repetitions", "1", "--domain", "9,9,9", "--seed", seed, "--json", name]
        assert run(BENCH, "halo", *options, ranks=2).returncode == 0
    a, b, c = (results_of(tmp_path / name)[0]["traffic"] for name in "abc")
    assert a == b
    assert a != c


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--boxes", "2", "--algorithm", "staged"], "as in algorithm standard: they cannot use staged"),
        (["--boxes", "2", "--reach", "faces"], "boxes fill the whole halo: they need --reach corners, not faces"),
        (["--boxes", "9", "--domain", "2,2,2"], "9 boxes per rank need as many cells per rank, and the domain has 8"),
        (["--boxes", "2", "--domain", "1,1,2", "--halo", "3"], "is wider than the periodic domain"),
        (
            ["--boxes", "1", "--domain", "1,1,6", "--centring", "vertex"],
            "of 1 and 1 cells, with 1 shared layers, is wider",
        ),
        (["--boxes", "-1"], "'-1' is not a whole number from 0"),
        (["--operation", "assemble", "--algorithm", "staged"], "it needs algorithm standard or faces, not staged"),
        (["--operation", "assemble", "--domain", "2,2,2", "--halo", "2", "--centring", "vertex"], "a block needs 4"),
        (["--operation", "sum"], "'sum' is not one of exchange, accumulate, assemble"),
        (["--centring", "node"], "'node' is not one of cell, vertex"),
        (["--contiguous", "9", "--operation", "accumulate"], "contiguous buffers are exchanged between blocks"),
        (["--contiguous", "9", "--centring", "vertex"], "contiguous buffers are exchanged between blocks"),
        (["--contiguous", "9", "--boxes", "2"], "contiguous buffers are exchanged between blocks"),
        (["--language", "c", "--operation", "accumulate"], "language c has exchanges of cells between blocks alone"),
        (["--language", "fortran", "--centring", "vertex"], "language fortran has exchanges of cells"),
        (["--language", "c", "--boxes", "2"], "leave out --operation, --centring and --boxes"),
    ],
)
def test_what_is_impossible_is_refused_with_a_reason(run: Run, options: list[str], told: str) -> None:
    done = run(BENCH, "halo", *options, ranks=2)
    assert done.returncode == 2
    assert told in done.stdout + done.stderr


@pytest.mark.parametrize("transport", THREADS_FIRST)
def test_impossible_modes_are_skipped_and_recorded(run: Run, tmp_path: Path, transport: str) -> None:
    options = ["--operation", "assemble", "--boxes", "0,2", "--mode", "direct,sendrecv", "--domain", "4,4,4"]
    done = run(BENCH, "halo", *options, "--repetitions", "1", "--json", "r", transport=transport, ranks=2)
    assert done.returncode == 0, done.stderr
    reasons = {
        r["variant"]["boxes"]: r["skipped"] for r in of_kind(read_records(tmp_path / "r"), "result") if "skipped" in r
    }
    if transport == "mpi":
        assert reasons == {
            0: "operation assemble in mode sendrecv is that in mode waitall: use the latter",
            2: "boxes have the modes direct and channel, not sendrecv",
        }
    assert set(reasons) == {0, 2}


def test_defaults_that_are_given_change_nothing_but_the_record(run: Run, tmp_path: Path) -> None:
    given = ["--operation", "exchange", "--centring", "cell", "--boxes", "0"]
    for name, options in (("a", []), ("b", given)):
        words = [*options, "--language", "c++,c", "--repetitions", "1", "--domain", "4,4,4", "--json", name]
        assert run(BENCH, "halo", *words, ranks=2).returncode == 0
    a, b = (results_of(tmp_path / name) for name in "ab")
    assert [result["traffic"] for result in a] == [result["traffic"] for result in b]
    assert all(new["variant"].items() >= old["variant"].items() for old, new in zip(a, b, strict=True))
