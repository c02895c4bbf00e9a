"""Simulated figures have no noise, and are never pooled with measured ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from longshore_study.analyses import history
from longshore_study.analyses.means import means_of
from longshore_study.analyses.winners import ranked_variants
from longshore_study.attribution.association import attribute
from longshore_study.base.errors import EXIT_OK, EXIT_REGRESSED, LongshoreError
from longshore_study.base.expression import parse
from longshore_study.compare.comparison import CompareOptions, compare
from longshore_study.compare.contrast import NO_NOISE, contrasts
from longshore_study.compare.guideline_check import BROKEN, HOLDS, check
from longshore_study.metrics.launch_metrics import Figure, measure
from longshore_study.patterns.pattern import Guideline
from longshore_study.planning.power_analysis import spread_of
from longshore_study.store.launch_store import Store
from longshore_study.store.selection import Side, by_machine, sides
from stored_launches import halo, simulate, store_launch

MEASURED = {"program": "halo", "transport": "threads", "ranks": 2}


def two_sides(store: Store, names: list[str]) -> tuple[Side, Side]:
    reference, new = sides(store, names)
    return reference, new


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


def measured_halo(store: Store, tag: str, bandwidth: float, sessions: int = 3) -> None:
    for session in range(sessions):
        for index in range(3):
            value = bandwidth * (1 + 0.01 * index + 0.002 * session)
            store_launch(store, tag, f"day {session}", [halo("waitall", value)], index, MEASURED)


@pytest.mark.parametrize(
    ("new", "verdict", "status"),
    [(94.0, "regressed", EXIT_REGRESSED), (96.0, "same", EXIT_OK), (106.0, "improved", EXIT_OK)],
)
def test_one_launch_decides_and_its_ratio_is_exact(store: Store, new: float, verdict: str, status: int) -> None:
    simulate(store, "old", [halo("waitall", 100.0)])
    simulate(store, "new", [halo("waitall", new)], version="2")
    compared = compare(*two_sides(store, ["old", "new"]))
    (row,) = compared.rows
    assert (row.verdict, row.interval, row.warnings, row.simulated) == (verdict, None, (), "cray 1 and cray 2")
    assert row.ratio == pytest.approx(new / 100)
    assert (compared.verdict, compared.exit_status) == (verdict, status)


def test_simulated_rows_do_not_change_the_statistics_of_measured_rows(store: Store, tmp_path: Path) -> None:
    alone = Store(tmp_path / "alone")
    for of in (store, alone):
        measured_halo(of, "old", 100.0)
        measured_halo(of, "new", 95.0)
    for index, tag in enumerate(("old", "new")):
        simulate(store, tag, [halo("waitall", 100.0 - 50 * index), halo("persistent", 100.0)])
    expected, compared = (compare(*two_sides(of, ["old", "new"])) for of in (alone, store))
    (row,) = expected.rows
    beside = next(row for row in compared.rows if row.simulated is None)
    assert (beside.interval, beside.judgement, beside.moderated) == (row.interval, row.judgement, row.moderated)
    assert [(row.simulated, row.verdict) for row in compared.rows[1:]] == [("cray 1", "regressed"), ("cray 1", "same")]
    assert compared.verdict == "regressed"
    assert {case.simulated for case in attribute(compared).cases} == {None}


def test_a_row_never_compares_measured_with_simulated_figures(store: Store) -> None:
    measured_halo(store, "old", 100.0)
    simulate(store, "new", [halo("waitall", 50.0)])
    options = CompareOptions(ignore=("transport", "machine"))
    with pytest.raises(LongshoreError, match="show --predicted"):
        compare(*two_sides(store, ["old", "new"]), options)
    compared = compare(*two_sides(store, ["old", "new"]))
    assert [row.verdict for row in compared.rows] == ["missing", "missing"]
    assert any("show --predicted" in problem for problem in compared.problems)
    assert not any("--ignore transport" in problem for problem in compared.problems)


def test_a_side_never_pools_measured_and_simulated_figures_or_two_machines(store: Store) -> None:
    for tag in ("old", "new"):
        measured_halo(store, tag, 100.0)
        simulate(store, tag, [halo("waitall", 50.0)])
    with pytest.raises(LongshoreError, match="would pool measured figures and figures simulated on cray 1"):
        compare(*two_sides(store, ["old", "new"]), CompareOptions(ignore=("transport", "machine")))
    for tag in ("two old", "two new"):
        simulate(store, tag, [halo("waitall", 50.0)])
        simulate(store, tag, [halo("waitall", 60.0)], machine="ether")
    with pytest.raises(LongshoreError, match="simulated on cray 1 and figures simulated on ether 1"):
        compare(*two_sides(store, ["two old", "two new"]), CompareOptions(ignore=("machine",)))


def test_a_condition_selects_one_kind(store: Store) -> None:
    for tag in ("old", "new"):
        measured_halo(store, tag, 100.0)
        simulate(store, tag, [halo("waitall", 50.0)])
    chosen = compare(*two_sides(store, ["old", "new"]), CompareOptions(where=parse("transport == 'simulated'")))
    assert [row.simulated for row in chosen.rows] == ["cray 1"]


def figures_of(store: Store, tag: str) -> list[Figure]:
    return measure(store.launches(None, tag)).figures


def test_contrasts_of_simulated_figures_have_no_interval_and_lend_no_variance(store: Store) -> None:
    measured_halo(store, "t", 100.0, sessions=1)
    measured = figures_of(store, "t")
    for index in range(3):
        simulate(store, "p", [halo("waitall", 50.0 + index), halo("channel", 60.0 - 9 * index)], index=index)
        simulate(store, "p", [halo("waitall", 80.0 - index)], machine="ether", index=index)
    predicted = figures_of(store, "p")
    ether = [f for f in predicted if f.simulated == "ether 1"]
    cray, channel = (
        [f for f in predicted if f.simulated == "cray 1" and f.key.variant["mode"] == mode]
        for mode in ("waitall", "channel")
    )
    (alone,) = contrasts([(measured[:2], measured[1:])])
    beside, exact = contrasts([(measured[:2], measured[1:]), (cray, channel)])
    assert beside == alone
    assert exact is not None
    assert (exact.interval, exact.why_no_interval) == (None, NO_NOISE)
    for mixed in (measured, ether):
        with pytest.raises(LongshoreError, match="would pool"):
            contrasts([(cray, mixed)])


def test_a_mean_pools_one_kind_only(store: Store) -> None:
    measured_halo(store, "t", 100.0, sessions=1)
    simulate(store, "t", [halo("waitall", 50.0)])
    figures = figures_of(store, "t")
    assert sorted(str(row.simulated) for row in means_of(figures)) == ["None", "cray 1"]
    with pytest.raises(LongshoreError, match="a mean would pool"):
        means_of(figures, pooled=["transport", "machine"])


@pytest.mark.parametrize(("channel", "verdict"), [(94.0, BROKEN), (96.0, HOLDS)])
def test_a_guideline_on_simulated_variants_is_exact(store: Store, channel: float, verdict: str) -> None:
    simulate(store, "t", [halo("waitall", 100.0), halo("channel", channel)])
    found = check(sides(store, ["t"])[0], more=[Guideline({"mode": "channel"}, {"mode": "waitall"})])
    assert [(row.verdict, row.warnings, row.simulated) for row in found.rows] == [(verdict, (), "cray 1")]


def test_a_guideline_does_not_compare_kinds(store: Store) -> None:
    measured_halo(store, "t", 100.0, sessions=1)
    simulate(store, "t", [halo("waitall", 50.0)])
    fixed = {"transport": "simulated", "machine": "cray"}
    with pytest.raises(LongshoreError, match=r"the guideline of .* would pool"):
        check(sides(store, ["t"])[0], more=[Guideline({"transport": "threads"}, fixed)])


def test_variants_are_ranked_on_one_machine(store: Store) -> None:
    measured_halo(store, "t", 100.0, sessions=1)
    simulate(store, "t", [halo("waitall", 50.0), halo("channel", 60.0)])
    ranked = ranked_variants(figures_of(store, "t"))
    assert [(entry.simulated, entry.how["mode"], entry.rank) for entry in ranked] == [
        (None, "waitall", 1),
        ("cray 1", "channel", 1),
        ("cray 1", "waitall", 2),
    ]


def test_histories_and_spreads_are_of_measured_launches(store: Store) -> None:
    measured_halo(store, "t", 100.0)
    expected = spread_of(store.launches())
    for index in range(4):
        simulate(store, "t", [halo("waitall", 50.0)], index=index)
    assert spread_of(store.launches()) == expected
    table = history.build(list(store.launches()))
    assert [row.key.cell["transport"] for row in table.rows] == ["threads"]
    assert any("simulated" in warning for warning in table.warnings)


def test_a_launch_that_failed_at_its_start_belongs_to_its_machine(store: Store) -> None:
    simulate(store, "t", [halo("waitall", 50.0)])
    cell = {"program": "halo", "transport": "simulated", "machine": "cray", "ranks": 4}
    store.write_launch({"study": "s", "tag": "t", "session": "day", "cell": cell, "exit_status": 1}, [])
    assert {machine: len(launches) for machine, launches in by_machine(store.launches()).items()} == {"cray 1": 2}
