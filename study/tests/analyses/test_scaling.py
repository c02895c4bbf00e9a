"""Scaling over ranks and nodes: figures per node and efficiency, as tables and plots."""

from __future__ import annotations

import math
import random
from math import exp
from pathlib import Path
from typing import Any

import pytest

from longshore_study.analyses.scaling import Curve, curves_of
from longshore_study.cli.command_line import main
from longshore_study.metrics.launch_metrics import measure
from longshore_study.report.facts import gather_facts
from longshore_study.report.markup import to_text
from longshore_study.report.scaling import log2_scale, scaling_section
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import sides
from report_data import result
from report_tree import Tag, parse
from stored_launches import PUBLISHED, control, json_of, store_launch


def curves(store: Store) -> list[Curve]:
    launches = list(store.launches())
    return curves_of(launches, measure(launches))


def fill(store: Store, pattern: str, metric: str, unit: str, values: dict[int, float], **more: Any) -> None:
    """Stores three launches at each number of ranks, with 1 % noise."""
    noise = random.Random(2)
    for ranks, value in values.items():
        for index in range(3):
            cell = {"program": pattern, "ranks": ranks, "transport": "mpi", **more}
            results = [
                result(pattern, {"strategy": name}, metric, value * factor * exp(noise.gauss(0, 0.01)), unit)
                for name, factor in (("a", 1.0), ("b", 0.5))
            ]
            store_launch(store, "t", "day", [control("copy", 20.0), *results], index, cell)


def test_figures_of_the_node_are_kept_and_efficiency_is_per_rank(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, "gather", "injection_bandwidth", "GB/s", {1: 4.0, 2: 6.0, 4: 6.0})
    found = curves(store)
    assert [(c.axis, c.unit, c.factors["strategy"]) for c in found] == [
        ("ranks", "GB/s", "a"), ("ranks", "GB/s", "b"),
    ]  # fmt: skip
    for curve, factor in zip(found, (1.0, 0.5), strict=True):
        assert [p.at for p in curve.points] == [1, 2, 4]
        assert [p.value for p in curve.points] == pytest.approx([4 * factor, 6 * factor, 6 * factor], rel=0.02)
        assert [p.efficiency for p in curve.points] == pytest.approx([1.0, 0.75, 0.375], rel=0.02)
        for point in curve.points[1:]:
            assert point.interval is not None
            assert point.efficiency is not None
            assert point.interval[0] < point.efficiency < point.interval[1] < 1.1 * point.efficiency


def test_figures_of_a_process_become_those_of_its_node(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, "halo", "process_bandwidth", "MiB/s", {2: 1000.0, 8: 800.0}, ranks_per_node=2)
    (curve, _) = curves(store)
    assert (curve.axis, curve.unit) == ("nodes", "GB/s")
    assert [(p.at, p.layout.ranks) for p in curve.points] == [(1, 2), (4, 8)]
    assert [p.value for p in curve.points] == pytest.approx([2 * 1000 * 2**20 / 1e9, 2 * 800 * 2**20 / 1e9], rel=0.02)
    assert curve.points[1].efficiency == pytest.approx(0.8, rel=0.02)


def test_keys_of_all_ranks_become_those_of_a_node(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, "sort", "keys_per_second", "1/s", {2: 1e8, 4: 1.5e8})
    (curve, _) = curves(store)
    assert [p.value for p in curve.points] == pytest.approx([1e8, 1.5e8], rel=0.02)
    assert curve.points[1].efficiency == pytest.approx(0.75, rel=0.02)
    nodes = Store(tmp_path / "nodes")
    fill(nodes, "sort", "keys_per_second", "1/s", {2: 1e8, 4: 1.5e8}, ranks_per_node=2)
    (curve, _) = curves(nodes)
    assert [p.value for p in curve.points] == pytest.approx([1e8, 0.75e8], rel=0.02)


def test_the_same_ranks_on_more_nodes_are_another_curve(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for ranks, nodes in ((2, 1), (4, 1), (2, 2), (4, 2)):
        cell = {"program": "gather", "ranks": ranks, "nodes": nodes}
        gathered = result("gather", {"strategy": "a"}, "injection_bandwidth", 1.0 * nodes, "GB/s")
        store_launch(store, "t", "day", [gathered], 0, cell)
    found = curves(store)
    assert [(c.axis, c.factors["nodes"], [p.at for p in c.points]) for c in found] == [
        ("ranks", 1, [2, 4]), ("ranks", 2, [2, 4]),
    ]  # fmt: skip
    for curve in found:
        assert [p.value for p in curve.points] == pytest.approx([1.0 * curve.factors["nodes"]] * 2)


def test_factors_determined_by_the_ranks_do_not_split_curves(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for ranks, grid in ((1, [1, 1, 1]), (8, [2, 2, 2])):
        cell = {"program": "halo", "ranks": ranks, "grid": grid}
        store_launch(store, "t", "day", [result("halo", {"mode": "x"}, "process_bandwidth", 5.0, "MiB/s")], 0, cell)
    (curve,) = curves(store)
    assert "grid" not in curve.factors
    assert curve.points[1].interval is None
    assert curve.points[1].why_no_interval


def test_one_number_of_ranks_is_no_scaling(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path)
    fill(store, "gather", "injection_bandwidth", "GB/s", {2: 4.0})
    assert curves(store) == []
    assert main(["--store", str(tmp_path), "show", "--scaling"]) == 3
    assert "more than one number of ranks or nodes" in capsys.readouterr().err
    assert scaling_section(gather_facts(sides(store, ["t"]))) is None


def test_the_published_gather_scales_as_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = sorted(map(str, (PUBLISHED / "indexgather").glob("bale*.out")))
    assert main(["--store", str(tmp_path), "import", "bale", *files, "--tag", "bale"]) == 0
    capsys.readouterr()
    assert main(["--store", str(tmp_path), "show", "--scaling", "--json"]) == 0
    document = json_of(capsys.readouterr().out)
    found = {curve["factors"]["strategy"]: curve for curve in document["curves"]}
    assert set(found) == {"agp", "exstack", "exstack2", "conveyor"}
    last = found["exstack"]["points"][-1]
    assert (last["nodes"], last["value"]) == (256, pytest.approx(1.989))
    assert last["efficiency"] == pytest.approx(1.989 / 2.885)
    assert document["efficiency"]["nodes"] == "rate per node, relative to that with the fewest nodes"
    assert main(["--store", str(tmp_path), "show", "--scaling"]) == 0
    text = capsys.readouterr().out
    assert "1.989  69%" in text
    assert "16 nodes" in text


# Plots


@pytest.fixture
def section(tmp_path: Path) -> Tag:
    store = Store(tmp_path)
    fill(store, "gather", "injection_bandwidth", "GB/s", {1: 4.0, 2: 6.0, 4: 6.0})
    found = scaling_section(gather_facts(sides(store, ["t"])))
    assert found is not None
    return parse(to_text(found))


def test_both_plots_have_a_curve_per_strategy_at_equal_steps_of_a_log_axis(section: Tag) -> None:
    rate, efficiency = section.all("figure")
    scale = log2_scale([1, 2, 4])
    for plot in (rate, efficiency):
        assert len(plot.all("g", "series")) == 2
        for series in plot.all("g", "series"):
            places = [mark.fraction("x") for mark in series.all("use")]
            assert places == pytest.approx([scale.fraction(n) for n in (1, 2, 4)], abs=1e-4)
            assert places[1] - places[0] == pytest.approx(places[2] - places[1], abs=1e-3)


def test_the_efficiency_falls_from_the_ideal_line_and_is_defined(section: Tag) -> None:
    _, plot = section.all("figure")
    ideal = {line.fraction("y1") for line in plot.all("line", "bound")}
    assert len(ideal) == 1
    for series in plot.all("g", "series"):
        heights = [mark.fraction("y") for mark in series.all("use")]
        assert heights[0] == pytest.approx(ideal.copy().pop(), abs=1e-4)
        assert heights[0] < heights[1] < heights[2], "y grows downwards, so it grows as the efficiency falls"
        assert len(series.all("line", "span")) == 2, "the first is 1 by definition and has no interval"
    assert "rate per rank, relative to that with the fewest ranks" in section.text


def test_the_bound_of_the_rate_is_the_measured_copy(section: Tag) -> None:
    plot, _ = section.all("figure")
    assert plot.one("text", "bound-name").text == "bound"
    # In index and value, a request moves the 16 bytes that the metric counts.
    assert "here 20.0 GB/s" in section.text


def test_the_bound_of_halos_is_that_of_the_node(tmp_path: Path) -> None:
    store = Store(tmp_path)
    fill(store, "halo", "process_bandwidth", "MiB/s", {2: 1000.0, 4: 900.0})
    found = scaling_section(gather_facts(sides(store, ["t"])))
    assert found is not None
    # Each payload byte is read once and written once: two bytes as memory copy counts.
    assert "here 10.0 GB/s" in parse(to_text(found)).text


def test_efficiencies_of_single_launches_state_why_they_have_no_intervals(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for ranks in (1, 2):
        gathered = result("gather", {"strategy": "a"}, "injection_bandwidth", 2.0, "GB/s")
        store_launch(store, "t", "day", [gathered], 0, {"program": "gather", "ranks": ranks})
    found = scaling_section(gather_facts(sides(store, ["t"])))
    assert found is not None
    assert "There are no intervals: one session" in parse(to_text(found)).text


@pytest.mark.parametrize(
    "values", [{1: 1.7e308, 2: 5e-324, 4: 1.7e308}, {1: 5e-324, 2: 5e-324}, {8: 1.7e308, 4096: 1.7e308}]
)
def test_the_smallest_and_largest_numbers_have_a_curve(tmp_path: Path, values: dict[int, float]) -> None:
    """Without limits, a fraction of 5e-324 keys/s per node would be 0, and 1.7e308 MiB/s of 4096
    ranks would be infinite."""
    store = Store(tmp_path)
    for ranks, value in values.items():
        for index in range(3):
            for pattern, metric, unit in (
                ("sort", "keys_per_second", "keys/s"),
                ("halo", "process_bandwidth", "MiB/s"),
            ):
                one = result(pattern, {}, metric, 1.0, unit)
                one["metrics"][metric]["value"] = value
                cell = {"program": pattern, "ranks": ranks, "nodes": ranks if pattern == "sort" else 1}
                store_launch(
                    store, "t", "day", [one], 10_000 * index + ranks + (5000 if pattern == "sort" else 0), cell
                )
    found = curves(store)
    assert {curve.pattern for curve in found} == {"sort", "halo"}
    for curve in found:
        for point in curve.points:
            assert 0.0 < point.spread[0] <= point.spread[1] < math.inf
            assert 0.0 < point.value < math.inf
    assert scaling_section(gather_facts(sides(store, ["t"]))) is not None
    assert main(["--store", str(tmp_path), "show", "--scaling"]) == 0
