"""Rows of stored figures: medians, the best choice, implausible figures."""

from __future__ import annotations

from typing import Any

import pytest

from longshore_study.cli.command_line import main
from longshore_study.metrics import variant_rows
from longshore_study.metrics.launch_metrics import measure
from longshore_study.store.launch_store import Store
from longshore_study.store.records import metric, result_record
from simulated_launches import line_record
from stored_launches import control, halo, json_of, store_launch


def rows_of(store: Store, *, by_session: bool = False) -> list[variant_rows.VariantRow]:
    return variant_rows.variant_rows(measure(store.launches(), metrics=("all",)).figures, by_session=by_session)


def test_a_row_is_the_median_over_launches(results: Store) -> None:
    for index, value in enumerate((10.0, 30.0, 11.0)):
        store_launch(results, "t", "a", [halo("waitall", value)], index)
    (row,) = rows_of(results)
    assert (row.value, row.launches, row.spread) == (11.0, 3, (10.0, 30.0))


def test_sessions_have_rows_of_their_own_when_asked(results: Store) -> None:
    for session in ("a", "b"):
        store_launch(results, "t", session, [halo("waitall", 10.0)])
    assert [(row.session, row.sessions) for row in rows_of(results)] == [(None, 2)]
    assert [row.session for row in rows_of(results, by_session=True)] == ["a", "b"]


def test_the_best_is_among_those_that_answer_the_same_question(results: Store) -> None:
    for ranks, (waitall, persistent) in {2: (8.0, 16.0), 4: (8.0, 2.0)}.items():
        cell = {"program": "halo", "ranks": ranks}
        store_launch(results, "t", "a", [halo("waitall", waitall), halo("persistent", persistent)], cell=cell)
    found = {
        (row.cell["ranks"], row.variant["mode"]): (row.best, round(row.of_best or 0.0, 9)) for row in rows_of(results)
    }
    assert found[2, "persistent"] == (True, 1.0)
    assert found[2, "waitall"] == (False, 0.5)
    assert found[4, "waitall"] == (True, 1.0)
    assert found[4, "persistent"] == (False, 0.25)


def test_equal_figures_are_all_the_best(results: Store) -> None:
    store_launch(results, "t", "a", [halo("a", 10.0), halo("b", 10.0), halo("c", 9.0)])
    assert [(row.variant["mode"], row.best) for row in rows_of(results)] == [("a", True), ("b", True), ("c", False)]


def test_the_lowest_is_best_of_a_latency(results: Store) -> None:
    for mode, value in (("a", 2.0), ("b", 5.0)):
        latency = result_record("osu", {"mode": mode}, {"latency_us": metric(value, "us", "lower")})
        store_launch(results, "t", "s", [latency], cell={"mode of launch": mode})
    store_launch(results, "t", "s", [
        result_record("osu", {"mode": m}, {"latency_us": metric(v, "us", "lower")}) for m, v in (("a", 2.0), ("b", 5.0))
    ], index=1)  # fmt: skip
    rows = [row for row in rows_of(results) if row.cell == {"program": "halo", "ranks": 2}]
    assert [(row.variant["mode"], row.best, row.of_best) for row in rows] == [("a", True, 1.0), ("b", False, 0.4)]


def test_a_single_row_and_controls_are_not_ranked(results: Store) -> None:
    store_launch(results, "t", "a", [halo("waitall", 10.0), control("copy", 12.0), control("pingpong", 1.0)])
    assert not any(row.best for row in rows_of(results))
    assert [row.pattern for row in rows_of(results)] == ["halo", "control", "control"]


def stream(value: float) -> dict[str, Any]:
    return result_record("stream", {"kernel": "triad"}, {"bandwidth": metric(value, "GB/s")})


@pytest.mark.parametrize(("value", "doubted"), [(14.0, False), (16.0, True)])
def test_stream_is_doubted_above_the_memory_copy_of_its_launch(results: Store, value: float, doubted: bool) -> None:
    store_launch(results, "t", "a", [stream(value), control("copy", 10.0)])
    row = next(row for row in rows_of(results) if row.pattern == "stream")
    assert bool(row.doubts) == doubted


@pytest.mark.parametrize(("offnode", "doubted"), [(0, False), (40 * 10**9, False), (60 * 10**9, True)])
def test_traffic_between_nodes_is_bounded_by_injection(results: Store, offnode: int, doubted: bool) -> None:
    result = halo("waitall", 100.0) | {"seconds": {"median": 1.0}, "traffic": {"offnode_bytes": offnode}}
    bound = {"injection_GBps_per_node": 25.0}
    store_launch(results, "t", "a", [result], cell={"nodes": 2}, bound=bound)
    assert bool(rows_of(results)[0].doubts) == doubted


def test_imported_injection_is_bounded_without_traffic(results: Store) -> None:
    result = result_record("gather", {"strategy": "agp"}, {"injection_bandwidth": metric(40.0, "GB/s")})
    for nodes in (1, 4):
        store_launch(results, "t", "a", [result], cell={"nodes": nodes}, bound={"injection_GBps_per_node": 25.0})
    assert [(row.cell["nodes"], bool(row.doubts)) for row in rows_of(results)] == [(1, False), (4, True)]


@pytest.mark.parametrize("value", [0.0, -1.0, None, "fast", True])
def test_an_impossible_figure_is_absent_with_its_reason(results: Store, value: Any) -> None:
    broken = halo("waitall", 1.0)
    broken["metrics"]["process_bandwidth"]["value"] = value
    store_launch(results, "t", "a", [broken, halo("sendrecv", 1.0)])
    measured = measure(results.launches())
    assert len(measured.figures) == 1
    (reason,) = measured.absent.values()
    assert reason.startswith("failed")


def test_show_prints_rows_problems_and_reasons(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    skipped = {"record": "result", "pattern": "halo", "variant": {"mode": "redblack"}, "skipped": "needs even ranks"}
    store_launch(results, "t", "a", [halo("waitall", 10.0), halo("persistent", 20.0), skipped])
    cut = store_launch(results, "t", "a", [halo("waitall", 10.0)], index=1, end=False)
    failed = store_launch(results, "t", "a", [], index=2, exit_status=9, stderr_tail=["out of memory"], end=False)
    assert main(["--store", str(results.path), "show"]) == 3
    text = capsys.readouterr().out
    assert "halo: process_bandwidth" in text
    assert [line.split()[0] for line in text.splitlines()[2:4]] == ["persistent", "waitall"]
    assert "no figure of 1 variant: skipped: needs even ranks" in text
    assert f"not in the tables: {cut}:3: truncated" in text
    assert f"not in the tables: {failed}: failed with exit status 9: out of memory" in text
    assert main(["--store", str(results.path), "show", "--json"]) == 3
    document = json_of(capsys.readouterr().out)
    assert {row["variant"]["mode"]: row["best"] for row in document["rows"]} == {"persistent": True, "waitall": False}
    row = document["rows"][0]
    assert {"study", "tag", "session", "pattern", "variant", "between", "metrics", "launches"} <= row.keys()
    assert (row["session"], row["launches"]) == ("a", 1)
    assert len(document["problems"]) == 2


def test_show_of_a_failed_but_whole_store_is_0(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    store_launch(results, "t", "a", [halo("waitall", 10.0)])
    store_launch(results, "t", "a", [], index=2, exit_status=9, end=False)
    assert main(["--store", str(results.path), "show"]) == 0
    assert "exit status 9" in capsys.readouterr().out


def test_show_chooses_by_name_and_condition(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    store_launch(results, "t", "a", [halo("waitall", 10.0), halo("persistent", 20.0)])
    store_launch(results, "u", "a", [halo("waitall", 10.0)], study="other")
    for arguments, count in (
        (["t"], 2),
        (["other"], 1),
        ([], 3),
        (["--where", "mode == 'waitall'"], 2),
        (["--study", "s"], 2),
    ):
        assert main(["--store", str(results.path), "show", "--json", *arguments]) == 0
        assert len(json_of(capsys.readouterr().out)["rows"]) == count
    for arguments in (["v"], ["--where", "mood == 1"], ["--study", "v"], ["--session", "v"]):
        assert main(["--store", str(results.path), "show", *arguments]) == 64
    assert main(["--store", str(results.path), "show", "u", "--study", "s"]) == 3


def test_two_tests_of_many_sizes_stand_one_below_the_other(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    for test in ("Latency", "Multi Latency"):
        rows = [
            result_record("osu", {"test": test, "bytes": size}, {"latency_us": metric(1.0 + size, "us", "lower")})
            for size in (1, 8, 16)
        ]
        store_launch(results, "t", "a", rows, cell={"program": "osu", "ranks": 2})
        store_launch(results, "u", "a", rows, cell={"program": "osu", "ranks": 2})
    expected = [(test, size) for test in ("Latency", "Multi Latency") for size in (1, 8, 16)]
    assert [(row.variant["test"], row.variant["bytes"]) for row in rows_of(results)] == [*expected, *expected]
    for command in (["compare", "t", "u"], ["history", "t"], ["show", "t", "--means"]):
        main(["--store", str(results.path), *command, "--json"])
        rows = json_of(capsys.readouterr().out)["rows"]
        told = [row.get("variant") or row["factors"] for row in rows]
        assert [(one["test"], one["bytes"]) for one in told] == expected, command


@pytest.mark.parametrize(
    ("pattern", "name", "heading"),
    [
        ("stream", "bandwidth", "GB/s per node"),
        ("gather", "injection_bandwidth", "GB/s per node"),
        ("halo", "process_bandwidth", "GB/s per rank"),
        ("sort", "keys_per_second", "GB/s"),
    ],
)
def test_a_table_states_per_node_or_per_rank(
    results: Store, capsys: pytest.CaptureFixture[str], pattern: str, name: str, heading: str
) -> None:
    store_launch(results, "t", "a", [result_record(pattern, {"kernel": "k"}, {name: metric(1.0, "GB/s")})])
    assert main(["--store", str(results.path), "show"]) == 0
    text = capsys.readouterr().out
    assert f"{heading}  launches" in text
    if pattern != "sort":  # of which the mean is that of its seconds
        assert main(["--store", str(results.path), "show", "--means"]) == 0
        assert f"{name}, {heading}" in capsys.readouterr().out
    store_launch(results, "u", "a", [result_record(pattern, {"kernel": "k"}, {name: metric(1.0, "GB/s")})])
    main(["--store", str(results.path), "compare", "t", "u"])
    assert f"{pattern}: {name} in {heading} (" in capsys.readouterr().out
    row = rows_of(results)[0]
    assert row.metrics[name]["unit"] == "GB/s", "only texts for people have it; records do not change"


def test_launches_on_near_and_on_far_cores_are_counted(results: Store, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line_record(70), line_record(240), line_record(72), line_record(80, 71, 230)]
    for index, line in enumerate(lines):
        store_launch(results, "t", "a", [halo("waitall", 10.0) | {"cache_line_seconds": line}], index)
    for index, line in enumerate(lines[::2]):
        store_launch(results, "alike", "a", [halo("waitall", 10.0) | {"cache_line_seconds": line}], index)
    store_launch(results, "unknown", "a", [halo("waitall", 10.0)])
    assert main(["--store", str(results.path), "show"]) == 0
    text = capsys.readouterr().out
    assert "cores near in 2 launches (71 ns), far in 1 launch (240 ns), moved in 1 launch (80 ns)" in text
    assert text.count("cores") == 1
    assert main(["--store", str(results.path), "show", "--json"]) == 0
    found = {row["tag"]: row["cache_line_seconds"] for row in json_of(capsys.readouterr().out)["rows"]}
    assert {name: group["launches"] for name, group in found["t"].items()} == {"near": 2, "far": 1, "moved": 1}
    assert found["alike"] == {"alike": {"launches": 2, "seconds": pytest.approx(71e-9)}}
    assert found["unknown"] == {}
