"""The communication model: predictions agree with calculations by hand, refusals have reasons, and
the report shows both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from longshore_study.analyses import communication_model
from longshore_study.analyses.communication_model import NEAR, REMOTE, SELF, Costs, Exchange, Gap, NotModelledError
from longshore_study.analyses.model_parameters import costs_by_session_and_layout
from longshore_study.analyses.predictions import Prediction, predictions_of
from longshore_study.base.json_values import canonical
from longshore_study.cli.command_line import main
from longshore_study.patterns import FACTORS_OF_A_LAUNCH
from longshore_study.planning.plan import make_plan
from longshore_study.report.facts import gather_facts
from longshore_study.report.markup import to_text
from longshore_study.report.predictions import predictions_section
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import sides
from longshore_study.study_file.reader import load
from stored_launches import json_of, parameter, sort, sort_with_model, store_launch

NANO, MICRO = 1e-9, 1e-6


def line(per_message: float, per_byte: float) -> Gap:
    """A gap that is measured at 0 bytes and at a million bytes."""
    return Gap(((0.0, per_message), (1e6, per_message + 1e6 * per_byte)))


COSTS = Costs(
    copy=line(0.0, NANO),
    messages={
        ("put", NEAR): line(MICRO, 2 * NANO),
        ("put", REMOTE): line(10 * MICRO, 5 * NANO),
        ("channel", NEAR): line(2 * MICRO, 3 * NANO),
        ("channel", REMOTE): line(20 * MICRO, 6 * NANO),
        ("alltoallv", NEAR): line(4 * MICRO, 2 * NANO),
        ("alltoallv", REMOTE): line(30 * MICRO, 7 * NANO),
        ("rma", NEAR): line(17 * MICRO, 2 * NANO),
    },
    barrier=5 * MICRO,
    fetch_add={NEAR: 0.5 * MICRO, REMOTE: 8 * MICRO},
)
BLOCK = 1000.0
BY_HAND = {
    # own block 1 us; 1 near: 1 + 2; 2 remote: 2 x (10 + 5); claims: own 0.5, near 0.5, remote 2 x 8
    "put": {"copy": 1.0, "messages": 33.0, "claims": 17.0, "barrier": 5.0},
    "put-scan": {"copy": 1.0, "messages": 33.0, "barrier": 5.0},
    # only remote blocks
    "direct": {"messages": 30.0, "barrier": 5.0},
    # 2 + 3, 2 x (20 + 6)
    "sendrecv": {"copy": 1.0, "messages": 57.0, "barrier": 5.0},
    "channel": {"copy": 1.0, "messages": 57.0, "barrier": 5.0},
    # the call, 30; then 2 + 2 x 7
    "alltoallv": {"copy": 1.0, "messages": 46.0, "barrier": 5.0},
    # 1 near message of two blocks: 2 + 6; 1 remote message of two blocks: 20 + 12; two copies, of
    # the own block and a forwarded block
    "two-hop": {"copy": 2.0, "messages": 40.0, "barrier": 5.0},
}


@pytest.mark.parametrize("strategy", BY_HAND)
def test_a_prediction_agrees_with_a_calculation_by_hand(strategy: str) -> None:
    """Four ranks, two on each node, with blocks of 1000 bytes."""
    parts = communication_model.predict(Exchange(strategy, "round-robin", near=1, remote=2, block_bytes=BLOCK), COSTS)
    assert {name: seconds / MICRO for name, seconds in parts.items()} == pytest.approx(BY_HAND[strategy])


def test_one_sided_calls_cost_claims_for_the_own_block_too() -> None:
    """The kernel takes 17 us with a barrier of 5 us, which leaves three calls of 4 us. Three ranks
    need 12 + 2 x 4 us for claims, and 2 x 2 us for bytes."""
    parts = communication_model.predict(Exchange("rma", "round-robin", near=2, remote=0, block_bytes=BLOCK), COSTS)
    by_hand = {"copy": 1.0, "claims": 20.0, "messages": 4.0, "barrier": 5.0}
    assert {name: seconds / MICRO for name, seconds in parts.items()} == pytest.approx(by_hand)


def test_a_call_that_moves_the_own_block_includes_its_cost() -> None:
    """The call takes 3 us for the block, a copy 1 us."""
    slow = Costs(COSTS.copy, {**COSTS.messages, ("alltoallv", SELF): line(9 * MICRO, 3 * NANO)}, COSTS.barrier)
    parts = communication_model.predict(Exchange("alltoallv", "xor", near=1, remote=2, block_bytes=BLOCK), slow)
    assert parts["copy"] == pytest.approx(3 * MICRO)
    assert parts["messages"] == pytest.approx(46 * MICRO)


def test_incast_waits_in_a_queue_at_the_first_target() -> None:
    balanced = communication_model.predict(Exchange("put", "xor", near=0, remote=3, block_bytes=BLOCK), COSTS)
    incast = communication_model.predict(Exchange("put", "incast", near=0, remote=3, block_bytes=BLOCK), COSTS)
    assert sum(incast.values()) - sum(balanced.values()) == pytest.approx(2 * 15 * MICRO)
    in_memory = communication_model.predict(Exchange("put", "incast", near=3, remote=0, block_bytes=BLOCK), COSTS)
    assert in_memory["queue"] == 0


def test_a_gap_is_the_line_between_measured_sizes_and_the_last_slope_beyond() -> None:
    gap = Gap(((8.0, 1.0), (108.0, 2.0), (208.0, 6.0)))
    assert [gap.seconds(size) for size in (1, 8, 58, 108, 158, 208, 308)] == [1.0, 1.0, 1.5, 2.0, 4.0, 6.0, 10.0]
    assert Gap(((8.0, 1.0),)).seconds(1e9) == 1.0


def test_blocks_that_only_fit_one_by_one_into_a_cache_cost_as_much_as_together() -> None:
    """Copies are slow beyond 1000 bytes: 3 of 4 blocks of 500 bytes cost three quarters of 2000
    bytes."""
    bent = Gap(((0.0, 0.0), (1000.0, 1.0), (2000.0, 11.0)))
    costs = Costs(copy=line(0, 0), messages={("put", NEAR): bent}, barrier=0.0)
    parts = communication_model.predict(Exchange("put-scan", "xor", near=3, remote=0, block_bytes=500.0), costs)
    assert parts["messages"] == pytest.approx(0.75 * 11.0)


@pytest.mark.parametrize(
    ("strategy", "costs", "reason"),
    [
        ("teleport", COSTS, "does not know the exchange teleport"),
        ("put-scan", Costs(messages=COSTS.messages), "over copy was not measured"),
        ("put-scan", Costs(copy=COSTS.copy), "over put to a near rank was not measured"),
        ("put-scan", Costs(copy=COSTS.copy, messages=COSTS.messages), "kernel barrier was not measured"),
        ("put", Costs(COSTS.copy, COSTS.messages, 1.0), "fetch-add to a near rank was not measured"),
    ],
)
def test_an_exchange_that_cannot_be_predicted_has_a_reason(strategy: str, costs: Costs, reason: str) -> None:
    with pytest.raises(NotModelledError, match=reason):
        communication_model.predict(Exchange(strategy, "xor", near=1, remote=0, block_bytes=BLOCK), costs)


# ---- from records

BY_HAND_SECONDS = (2 + (1 + 2) + (2 + 2) + 3) * MICRO
"""The prediction for sort_with_model: one block of 2000 bytes is copied, one is put, two places are
claimed, and a barrier follows."""
CELL = {"program": "sort", "ranks": 2}


def stored(
    store: Store, results: list[dict[str, Any]], cell: Mapping[str, Any] = CELL, **more: Any
) -> list[Prediction]:
    store_launch(store, "t", "day", results, cell=cell, **more)
    return predictions_of(store.launches())


def test_a_measured_exchange_is_shown_with_its_prediction(tmp_path: Path) -> None:
    (row,) = stored(Store(tmp_path), sort_with_model("put", 1.1 * BY_HAND_SECONDS))
    assert row.predicted == pytest.approx(BY_HAND_SECONDS, rel=1e-3)
    assert row.ratio == pytest.approx(1 / 1.1, rel=1e-3)
    assert row.begun is None, "older programs do not record it"
    assert row.close


def test_a_prediction_is_also_compared_with_the_time_since_the_last_rank_began(tmp_path: Path) -> None:
    results = sort_with_model("put", 3 * BY_HAND_SECONDS)
    results[0]["phases_least"] = {"exchange": 0.9 * BY_HAND_SECONDS}
    (row,) = stored(Store(tmp_path), results)
    assert row.begun == pytest.approx(0.9 * BY_HAND_SECONDS)
    assert (row.close, row.between) == (False, True)
    results[0]["phases_least"] = {"exchange": 1.1 * BY_HAND_SECONDS}
    store_launch(Store(tmp_path / "b"), "t", "day", results, cell=CELL)
    (row,) = predictions_of(Store(tmp_path / "b").launches())
    assert not row.between, "late ranks do not explain the difference"


def test_a_wrong_prediction_is_not_close(tmp_path: Path) -> None:
    (row,) = stored(Store(tmp_path), sort_with_model("put", 2 * BY_HAND_SECONDS))
    assert not row.close


def test_medians_are_over_launches_and_the_layout_must_agree(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for index, factor in enumerate((1.0, 1.2, 50.0)):
        store_launch(store, "t", "day", [sort("put", factor * BY_HAND_SECONDS)], index, CELL)
    store_launch(store, "t", "day", sort_with_model("put", 1.0)[1:], cell={"program": "control", "ranks": 2})
    (row,) = predictions_of(store.launches())
    assert row.launches == 3
    assert row.measured == pytest.approx(1.2 * BY_HAND_SECONDS)
    assert row.close
    rows = stored(store, [sort("put", 1.0)], {"program": "sort", "ranks": 2, "ranks_per_node": 1})
    assert ["not measured in this layout" in (one.why_not or "") for one in rows] == [False, True]


def test_keys_that_are_not_spread_evenly_are_not_predicted(tmp_path: Path) -> None:
    model_alone = sort_with_model("put", 1.0)[1:]
    rows = stored(Store(tmp_path), [sort("put", 1.0, key_pattern="zipf"), sort("auto", 1.0), *model_alone])
    assert [row.why_not for row in rows] == [
        "the model does not know the exchange auto",
        "keys are zipf: the model has blocks of equal size only",
    ]


def test_the_choice_of_auto_is_predicted(tmp_path: Path) -> None:
    results = sort_with_model("auto", BY_HAND_SECONDS)
    results[0]["exchange"] = "put"
    (row,) = stored(Store(tmp_path), results)
    assert row.ratio == pytest.approx(1.0, rel=1e-3)


def test_wrong_results_and_unknown_patterns_are_not_predicted(tmp_path: Path) -> None:
    assert stored(Store(tmp_path / "a"), [sort("put", 1.0)]) == []
    wrong = [result | {"verified": False} for result in sort_with_model("put", 1.0)[1:]]
    store = Store(tmp_path / "b")
    store_launch(store, "t", "day", [*wrong, parameter("barrier", 7.0)])
    (costs,) = costs_by_session_and_layout(store.launches()).values()
    assert costs.barrier == pytest.approx(7 * MICRO)
    assert costs == Costs(barrier=costs.barrier)


def test_a_message_costs_the_time_of_the_slowest_rank(tmp_path: Path) -> None:
    """A rank takes 10 us on average. All ranks have met in a barrier after 19 us, of which the
    barrier takes 4 us, so the message costs 15 us. If the barrier takes longer, the message costs
    10 us."""
    shift = parameter("shift", 10.0, over="put", pair="near", bytes=8)
    rma = parameter("shift", 10.0, over="rma", pair="near", bytes=8)
    for result in (shift, rma):
        result["metrics"]["until_met_us"] = {"value": 19.0, "unit": "us", "better": "lower"}
    for barrier, expected in ((4.0, 15.0), (12.0, 10.0)):
        store = Store(tmp_path / str(barrier))
        store_launch(store, "t", "day", [shift, rma, parameter("barrier", barrier)])
        (costs,) = costs_by_session_and_layout(store.launches()).values()
        assert costs.messages["put", NEAR].per_message == pytest.approx(expected * MICRO)
        assert costs.messages["rma", NEAR].per_message == pytest.approx(10 * MICRO), "the kernel includes its barrier"


@pytest.mark.parametrize("factor", ["nodes", "stack"])
def test_parameters_of_other_nodes_and_stacks_are_not_pooled(tmp_path: Path, factor: str) -> None:
    levels: list[Any] = [1, 2] if factor == "nodes" else ["openmpi-4.1.4", "mpich-4.3.2"]
    store = Store(tmp_path)
    for level, microseconds in zip(levels, (1.0, 9.0), strict=True):
        cell = {"program": "control", "ranks": 2, factor: level}
        store_launch(store, "t", "day", [parameter("barrier", microseconds)], cell=cell)
    barriers = [costs.barrier for costs in costs_by_session_and_layout(store.launches()).values()]
    assert sorted(barriers, key=lambda one: one or 0.0) == pytest.approx([1 * MICRO, 9 * MICRO])


def test_show_prints_measured_and_predicted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(Store(tmp_path), [*sort_with_model("put", 2 * BY_HAND_SECONDS), sort("sendrecv", 1.0)])
    assert main(["--store", str(tmp_path), "show", "t", "--model"]) == 0
    printed = capsys.readouterr().out
    assert "0 of 1 predictions are within 25% of the measured time; 0 are" in printed
    assert "no prediction of 1 variant: kernel shift over channel to a near rank was not measured here" in printed
    assert main(["--store", str(tmp_path), "--json", "show", "t", "--model"]) == 0
    document = json_of(capsys.readouterr().out)
    assert (document["predicted"], document["close"]) == (1, 0)
    row = document["rows"][0]
    assert row["ratio"] == pytest.approx(0.5, rel=1e-3)
    assert sum(row["parts_seconds"].values()) == pytest.approx(row["predicted_seconds"])


def test_show_names_the_missing_kernels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored(Store(tmp_path), [sort("put", 1.0)])
    assert main(["--store", str(tmp_path), "show", "t", "--model"]) == 3
    assert "no predictions for the stored results" in capsys.readouterr().err
    assert main(["--store", str(tmp_path), "show", "t", "--model", "--means"]) == 64


def test_the_report_has_the_ratio_of_each(tmp_path: Path) -> None:
    store = Store(tmp_path)
    stored(store, [*sort_with_model("put", 2 * BY_HAND_SECONDS), sort("sendrecv", 1.0)])
    section = predictions_section(gather_facts(sides(store, ["t"])))
    assert section is not None
    text = to_text(section)
    assert "0.500 (not close)" in text
    assert "Not predicted: kernel shift over channel" in text
    empty = Store(tmp_path / "empty")
    store_launch(empty, "t", "day", [sort("put", 1.0)])
    assert predictions_section(gather_facts(sides(empty, ["t"]))) is None


def test_the_study_of_isx_measures_the_parameters_of_its_predictions() -> None:
    """The study measures all kernels, kinds of transfer and pairs in every layout in which it
    sorts."""
    plan = make_plan(load(Path(__file__).parents[3] / "studies" / "isx.toml"))
    layouts: dict[str, dict[str, set[str]]] = {}
    for cell in plan.cells:
        layout = canonical({name: cell.between[name] for name in FACTORS_OF_A_LAUNCH if cell.between.get(name)})
        found = layouts.setdefault(layout, {"program": set(), "kernel": set(), "over": set(), "pair": set()})
        found["program"].add(cell.program)
        for name in ("kernel", "over", "pair"):
            found[name] |= set(cell.within.get(name, []))
    sorting = {layout: found for layout, found in layouts.items() if "sort" in found["program"]}
    assert len(sorting) == 10, "threads and mpi of 2 and 4 ranks, and nodes of 2; each in two placements"
    for layout, found in sorting.items():
        assert {"shift", "barrier", "fetch-add"} <= found["kernel"], layout
        assert {"put", "channel", "alltoallv", "copy", *(["rma"] if "mpi" in layout else [])} <= found["over"], layout
        assert {"near", "self", *(["remote"] if "ranks_per_node" in layout else [])} <= found["pair"], layout
