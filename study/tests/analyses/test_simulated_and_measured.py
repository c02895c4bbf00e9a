"""Simulated and measured times side by side."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from longshore_study.analyses.simulated_and_measured import lay_side_by_side
from longshore_study.output.simulated_table import document, summary
from longshore_study.store.launch_store import Store
from longshore_study.store.records import metric, result_record
from stored_launches import control, halo, simulate, store_launch


def timed(mode: str, seconds: float, **variant: Any) -> dict[str, Any]:
    return halo(mode, 1.0 / seconds) | {"variant": {"mode": mode, **variant}}


def measured(store: Store, results: list[dict[str, Any]], index: int = 0, **cell: Any) -> None:
    store_launch(store, "m", "day", results, index, {"program": "halo", "transport": "mpi", "ranks": 2} | cell)


def test_ratios_are_predicted_over_measured_times(tmp_path: Path) -> None:
    store = Store(tmp_path)
    simulate(store, "p", [timed("waitall", 1.0), timed("channel", 1.2)])
    for index, seconds in enumerate((1.8, 2.0, 4.0)):
        measured(store, [timed("waitall", seconds), timed("channel", 1.0)], index)
    found = lay_side_by_side(store.launches())
    by_mode = {pair.factors["mode"]: pair for pair in found.pairs}
    assert by_mode["waitall"].ratio == pytest.approx(0.5)
    assert (by_mode["waitall"].launches, by_mode["waitall"].close) == (3, False)
    assert by_mode["waitall"].spread == pytest.approx((1.8, 4.0))
    assert by_mode["channel"].ratio == pytest.approx(1.2)
    assert by_mode["channel"].close
    assert found.total == (1, 2)
    assert summary(found)[0].startswith("1 of 2 predictions are within 25% of the measured time: 50%")
    assert document(found)["share_close"] == pytest.approx(0.5)


@pytest.mark.parametrize(("predicted", "close"), [(1.25, True), (1.26, False), (0.75, True), (0.74, False)])
def test_close_is_within_a_quarter(tmp_path: Path, predicted: float, close: bool) -> None:
    store = Store(tmp_path)
    simulate(store, "p", [timed("waitall", predicted)])
    measured(store, [timed("waitall", 1.0)])
    assert [pair.close for pair in lay_side_by_side(store.launches()).pairs] == [close]


@pytest.mark.parametrize("other", [{"ranks": 4}, {"ranks_per_node": 1}])
def test_pairs_have_the_same_layout(tmp_path: Path, other: dict[str, int]) -> None:
    store = Store(tmp_path)
    simulate(store, "p", [timed("waitall", 1.0)])
    measured(store, [timed("waitall", 1.0)], **other)
    found = lay_side_by_side(store.launches())
    assert found.pairs == []
    assert found.why_none == "1 simulated and 1 measured variants, none of them the same"


def test_nodes_count_however_they_were_asked_for(tmp_path: Path) -> None:
    store = Store(tmp_path)
    simulate(store, "p", [timed("waitall", 1.0)], ranks=4, nodes=2)
    measured(store, [timed("waitall", 2.0)], ranks=4, ranks_per_node=2)
    (pair,) = lay_side_by_side(store.launches()).pairs
    assert pair.ratio == pytest.approx(0.5)
    assert (pair.factors["nodes"], pair.factors["ranks"]) == (2, 4)


def test_other_variants_and_wrong_results_make_no_pair(tmp_path: Path) -> None:
    store = Store(tmp_path)
    simulate(store, "p", [timed("waitall", 1.0, halo=1), timed("channel", 1.0) | {"verified": False}])
    measured(store, [timed("waitall", 1.0, halo=2), timed("channel", 1.0)])
    assert lay_side_by_side(store.launches()).pairs == []


def test_every_machine_and_measured_side_has_its_pair(tmp_path: Path) -> None:
    store = Store(tmp_path)
    simulate(store, "p", [timed("waitall", 1.0)])
    simulate(store, "p", [timed("waitall", 3.0)], machine="ether")
    measured(store, [timed("waitall", 1.0)])
    measured(store, [timed("waitall", 2.0)], transport="threads")
    pairs = lay_side_by_side(store.launches()).pairs
    ratios = {(pair.machine, pair.factors["transport"]): pair.ratio for pair in pairs}
    expected = {
        ("cray 1", "mpi"): 1.0, ("cray 1", "threads"): 0.5, ("ether 1", "mpi"): 3.0, ("ether 1", "threads"): 1.5,
    }  # fmt: skip
    assert ratios == pytest.approx(expected)


def test_imported_figures_without_times_and_factors_are_matched_by_what_they_have(tmp_path: Path) -> None:
    store = Store(tmp_path)
    simulate(
        store, "p", [timed("waitall", 0.01, halo=1), timed("channel", 0.01, halo=1), timed("channel", 0.02, halo=2)]
    )
    published = [
        result_record("halo", {"mode": mode}, {"process_bandwidth": metric(50.0, "MiB/s")})
        for mode in ("waitall", "channel")
    ]
    store_launch(store, "m", "day", published, 0, {"ranks": 2}, source="import halobench")
    found = lay_side_by_side(store.launches())
    (pair,) = found.pairs
    assert pair.factors["mode"] == "waitall"
    assert pair.ratio == pytest.approx(0.5)
    assert pair.measured == pytest.approx(0.02)
    assert found.ambiguous == 1
    assert "1 imported variant" in summary(found)[-1]


def test_control_cells_are_shown_and_not_counted(tmp_path: Path) -> None:
    store = Store(tmp_path)
    kernels = [control("pingpong", 1.0) | {"seconds": {"median": 1e-6}}]
    simulate(store, "p", kernels, program="control")
    measured(store, kernels, program="control")
    found = lay_side_by_side(store.launches())
    assert len(found.pairs) == 1
    assert found.total == (0, 0)
    assert document(found)["share_close"] is None
