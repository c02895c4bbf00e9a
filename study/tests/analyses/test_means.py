"""Means with extremes and intervals, and counters: the output of show agrees with calculations
by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from longshore_study.analyses.means import Mean, means_of
from longshore_study.cli.command_line import main
from longshore_study.metrics.counters import counter_summaries
from longshore_study.metrics.launch_metrics import measure
from longshore_study.store.launch_store import Store
from stored_launches import halo, json_of, simulate, sort, store_launch

SECONDS = (1.0, 2.0, 4.0)
STUDENT_975_OF_2 = 4.302653


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Stores three launches of two placements. The second placement is twice as slow."""
    store = Store(tmp_path)
    for place, slower in (("compact", 1.0), ("scatter", 2.0)):
        cell = {"program": "sort", "ranks": 2, "environment": {"LONGSHORE_PIN": place}}
        for index, seconds in enumerate(SECONDS):
            store_launch(store, "t", "day", [sort("put", slower * seconds), halo("waitall", 7.0)], index, cell)
    return store


def means(store: Store, *pooled: str) -> list[Mean]:
    return means_of(measure(store.launches(), metrics=("all",)).figures, pooled=pooled)


def exchange_rows(rows: list[Mean]) -> list[Mean]:
    return [row for row in rows if row.metric == "exchange_seconds"]


def test_mean_extremes_and_interval_are_those_of_launches(store: Store) -> None:
    first, second = exchange_rows(means(store))
    assert first.factors["environment"] == {"LONGSHORE_PIN": "compact"}
    assert (first.mean, min(first.values), max(first.values)) == pytest.approx((7 / 3, 1.0, 4.0))
    assert first.geometric == pytest.approx(2.0)
    # The logarithms differ from their mean by -log 2, 0 and log 2: standard error log 2 / sqrt 3.
    half = STUDENT_975_OF_2 * math.log(2) / math.sqrt(3)
    assert first.interval == pytest.approx((2 * math.exp(-half), 2 * math.exp(half)), rel=1e-6)
    assert second.mean == pytest.approx(14 / 3)


def test_launches_of_all_placements_are_pooled_when_asked(store: Store) -> None:
    (pooled,) = exchange_rows(means(store, "environment"))
    assert len(pooled.values) == 6
    assert (pooled.mean, min(pooled.values), max(pooled.values)) == pytest.approx((21 / 6, 1.0, 8.0))
    assert pooled.pooled == {"environment": 2}
    assert "environment" not in pooled.factors


def test_with_several_sessions_the_interval_is_from_sessions(tmp_path: Path) -> None:
    store = Store(tmp_path)
    for session, factor in (("a", 1.0), ("b", 2.0)):
        for index in range(3):
            store_launch(store, "t", session, [sort("put", factor)], index, {"program": "sort", "ranks": 2})
    (row,) = exchange_rows(means(store))
    assert row.sessions == 2
    assert row.geometric == pytest.approx(math.sqrt(2))
    assert row.interval is not None
    assert row.interval[1] / row.geometric > 50, "two sessions give a wide interval"


def test_one_launch_has_no_interval(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store_launch(store, "t", "day", [sort("put", 1.0)])
    assert [row.interval for row in means(store)] == [None, None]


@pytest.mark.usefixtures("store")
def test_show_prints_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--store", str(tmp_path), "show", "t", "--means", "--pool", "environment"]) == 0
    printed = capsys.readouterr().out
    assert "sort exchange_seconds" in printed
    assert "pooled over 2 levels of environment" in printed
    assert main(["--store", str(tmp_path), "--json", "show", "t", "--means"]) == 0
    rows = json_of(capsys.readouterr().out)["rows"]
    assert {(row["pattern"], row["metric"], row["launches"]) for row in rows} == {
        ("halo", "process_bandwidth", 3), ("sort", "exchange_seconds", 3), ("sort", "total_seconds", 3),
    }  # fmt: skip
    assert main(["--store", str(tmp_path), "show", "t", "--pool", "environment"]) == 64


# ---- counters


def test_counters_are_shown_and_missing_ones_have_a_reason(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    first = counter_summaries(store.launches())[0]
    assert (first.launches, first.numbers["minor faults"], first.numbers["cycles"]) == (3, 12.5, 1e6)
    assert "instructions" not in first.numbers, "an event that was not counted is missing, not 0"
    assert first.why_not == {"instructions": "not supported: so"}
    (phase,) = first.phases
    assert (phase.name, phase.waited, phase.messages) == ("exchange", 0.5, 2)
    assert main(["--store", str(store.path), "show", "t", "--counters"]) == 0
    printed = capsys.readouterr().out
    assert "no instructions: not supported: so" in printed
    assert "by phase" in printed
    assert main(["--store", str(store.path), "--json", "show", "t", "--counters"]) == 0
    row = json_of(capsys.readouterr().out)["rows"][0]
    assert row["numbers"]["waited_mean_seconds"] == pytest.approx(1e-3)
    assert row["phases"][0]["wire_bytes"] == 4000


def test_phases_are_shown_with_the_times_over_the_ranks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A simulated machine times phases, and has no counters."""
    store = Store(tmp_path)
    for index, seconds in enumerate(SECONDS):
        timed = {"phases_mean": {"pack": seconds, "wait": 3e-6}, "phases_least": {"pack": 0.5 * seconds, "wait": 0.0}}
        result = halo("direct", 7.0) | timed | {"phases": {"pack": 2 * seconds, "wait": 6e-6}}
        store_launch(store, "t", "day", [result, halo("channel", 7.0)], index)
        simulate(store, "t", [result], index=index)
    assert main(["--store", str(tmp_path), "show", "t", "--counters"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split() for line in printed if line.startswith(("phase ", "pack ", "wait "))] == 2 * [
        ["phase", "mean", "min", "max"],
        ["pack", "2.00", "s", "1.00", "s", "4.00", "s"],
        ["wait", "3.00", "µs", "0", "µs", "6.00", "µs"],
    ]
    assert not any("of one operation" in line for line in printed), "there are no counters, so they have no table"
    assert main(["--store", str(tmp_path), "--json", "show", "t", "--counters"]) == 0
    (row,) = json_of(capsys.readouterr().out)["rows"]
    assert row["phases"][0]["seconds"] == {"mean": 2.0, "min": 1.0, "max": 4.0}


def test_records_without_counters_are_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store_launch(Store(tmp_path), "t", "day", [halo("waitall", 7.0)])
    assert main(["--store", str(tmp_path), "show", "t", "--counters"]) == 3
    assert "no stored record has counters" in capsys.readouterr().err
