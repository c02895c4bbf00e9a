"""The fastest choice over nodes, and where it changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from longshore_study.analyses.crossings import Race, races_of
from longshore_study.store.launch_store import Store
from longshore_study.store.records import metric, result_record
from stored_launches import simulate, store_launch


def gather(strategy: str, seconds: float, **variant: object) -> dict[str, object]:
    factors = {"strategy": strategy, "requests": 100, **variant}
    return result_record(
        "gather", factors, {"injection_bandwidth": metric(1.0 / seconds, "GB/s")}, seconds={"median": seconds}
    )


EXSTACK = {1: 1.0, 2: 1.4, 4: 2.0, 8: 4.0}
CONVEYOR = {1: 2.0, 2: 2.0, 4: 2.1, 8: 2.1}


def races_with(store: Store, **times: dict[int, float]) -> list[Race]:
    sizes = sorted({size for of in times.values() for size in of})
    for nodes in sizes:
        results = [gather(name, of[nodes]) for name, of in times.items() if nodes in of]
        simulate(store, "t", results, program="gather", ranks=4 * nodes, nodes=nodes)
    return races_of(store.launches())


def test_the_lead_changes_where_the_lines_cross(tmp_path: Path) -> None:
    (race,) = races_with(Store(tmp_path), exstack=EXSTACK, conveyor=CONVEYOR)
    assert (race.simulated, race.axis, race.sizes) == ("cray 1", "nodes", [1, 2, 4, 8])
    assert race.sentence == "exstack up to 4 nodes; conveyor from 8 nodes on"
    assert race.seconds["exstack"] == EXSTACK
    assert race.work["requests"] == 100


def test_a_lead_below_the_margin_does_not_count(tmp_path: Path) -> None:
    near = {**CONVEYOR, 4: 1.95}
    (race,) = races_with(Store(tmp_path), exstack=EXSTACK, conveyor=near)
    assert race.sentence == "exstack up to 4 nodes; conveyor from 8 nodes on"
    (race,) = races_with(Store(tmp_path / "clear"), exstack=EXSTACK, conveyor={**CONVEYOR, 4: 1.8})
    assert race.sentence == "exstack up to 2 nodes; conveyor from 4 nodes on"


def test_a_choice_may_lead_in_the_middle_or_everywhere(tmp_path: Path) -> None:
    middle = {1: 3.0, 2: 1.0, 4: 1.0, 8: 9.0}
    (race,) = races_with(Store(tmp_path), exstack=EXSTACK, conveyor=CONVEYOR, agp=middle)
    assert race.sentence == "exstack up to 1 node; agp from 2 to 4; conveyor from 8 nodes on"
    (race,) = races_with(Store(tmp_path / "all"), exstack=EXSTACK, agp=dict.fromkeys(EXSTACK, 10.0))
    assert race.sentence == "exstack from 1 to 8 nodes"


def test_choices_that_are_equally_fast_lead_together(tmp_path: Path) -> None:
    """The third choice is within the margin at some of the numbers only."""
    third = {**EXSTACK, 2: 1.6}
    (race,) = races_with(Store(tmp_path), exstack=EXSTACK, twin=EXSTACK, third=third, conveyor=CONVEYOR)
    assert race.sentence == "exstack or twin up to 4 nodes; conveyor from 8 nodes on"
    (race,) = races_with(Store(tmp_path / "all"), exstack=EXSTACK, twin=EXSTACK)
    assert race.sentence == "exstack or twin from 1 to 8 nodes"


def test_auto_runs_but_leads_none(tmp_path: Path) -> None:
    (race,) = races_with(Store(tmp_path), exstack=EXSTACK, conveyor=CONVEYOR, auto=dict.fromkeys(EXSTACK, 0.1))
    assert race.sentence == "exstack up to 4 nodes; conveyor from 8 nodes on"
    assert "auto" in race.seconds


def test_a_choice_without_a_time_does_not_lead_there(tmp_path: Path) -> None:
    (race,) = races_with(Store(tmp_path), exstack={1: 1.0, 2: 1.0, 4: 1.0}, conveyor=CONVEYOR)
    assert race.sentence == "exstack up to 4 nodes; conveyor from 8 nodes on"


def test_machines_and_measurements_have_races_of_their_own(tmp_path: Path) -> None:
    store = Store(tmp_path)
    races_with(store, exstack=EXSTACK, conveyor=CONVEYOR)
    for nodes in (1, 2):
        results = [gather("exstack", 1.0), gather("conveyor", 0.5)]
        simulate(store, "t", results, machine="ether", program="gather", ranks=4 * nodes, nodes=nodes)
        cell = {"program": "gather", "transport": "mpi", "ranks": 4 * nodes, "nodes": nodes}
        store_launch(store, "t", "day", results[:: 2 - nodes // 2], 0, cell)
    assert {race.simulated: race.sentence for race in races_of(store.launches())} == {
        None: "exstack up to 1 node; conveyor from 2 nodes on",
        "cray 1": "exstack up to 4 nodes; conveyor from 8 nodes on",
        "ether 1": "conveyor from 1 to 2 nodes",
    }


def test_one_choice_or_one_size_is_no_race(tmp_path: Path) -> None:
    assert races_with(Store(tmp_path / "a"), exstack=EXSTACK) == []
    assert races_with(Store(tmp_path / "b"), exstack={1: 1.0}, conveyor={1: 2.0}) == []


@pytest.mark.parametrize("wrong", [{"skipped": "no"}, {"verified": False}])
def test_only_verified_results_race(tmp_path: Path, wrong: dict[str, object]) -> None:
    store = Store(tmp_path)
    for nodes in (1, 2):
        results = [gather("exstack", 1.0), gather("conveyor", 2.0), gather("agp", 0.1) | wrong]
        simulate(store, "t", results, program="gather", ranks=nodes, nodes=nodes)
    (race,) = races_of(store.launches())
    assert set(race.seconds) == {"exstack", "conveyor"}
