"""Steps in series are found, and no steps are found in noise that is skewed, bimodal, heavy-tailed,
correlated or sloping. Seeds are fixed. LONGSHORE_SIMULATIONS multiplies the number of simulations.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable

import pytest

from longshore_study.stats import change_points
from longshore_study.stats.change_points import DRIFT, STEP, find_changes, pooled_correlation
from promised_rates import least, most

MARGIN = 0.05
TABLES = 40 * int(os.environ.get("LONGSHORE_SIMULATIONS", "1"))
MANY = 3 * TABLES

Noise = Callable[[random.Random, int, float], list[float]]


def normal(generator: random.Random, count: int, sd: float) -> list[float]:
    return [generator.gauss(0, sd) for _ in range(count)]


def skewed(generator: random.Random, count: int, sd: float) -> list[float]:
    return [-(generator.expovariate(1) - 1) * sd for _ in range(count)]


def bimodal(generator: random.Random, count: int, sd: float) -> list[float]:
    """Three of ten sessions are slow."""
    return [(-2.2 * sd if generator.random() < 0.3 else 0.0) + generator.gauss(0, sd / 4) for _ in range(count)]


def heavy(generator: random.Random, count: int, sd: float) -> list[float]:
    """Student's t with four degrees of freedom."""
    return [generator.gauss(0, sd) / math.sqrt(generator.gammavariate(2, 0.5)) for _ in range(count)]


def wandering(generator: random.Random, count: int, sd: float, memory: float = 0.6) -> list[float]:
    """An autoregressive series of first order."""
    value, values = generator.gauss(0, sd), []
    for _ in range(count):
        values.append(value)
        value = memory * value + math.sqrt(1.0 - memory * memory) * generator.gauss(0, sd)
    return values


def wandering_far(generator: random.Random, count: int, sd: float) -> list[float]:
    return wandering(generator, count, sd, memory=0.8)


def sloping(generator: random.Random, count: int, sd: float) -> list[float]:
    """A slope of one margin from the first session to the last."""
    return [MARGIN * k / (count - 1) + generator.gauss(0, sd) for k in range(count)]


KINDS = (normal, skewed, bimodal, heavy, wandering, wandering_far, sloping)


def false_alarms(noise: Noise, sessions: int, sd: float, rows: int, tables: int = TABLES) -> int:
    """The number of simulated tables without a step in which a step was found."""
    generator = random.Random(f"{noise.__name__} {sessions} {sd} {rows}")
    found = 0
    for _ in range(tables):
        histories = find_changes([noise(generator, sessions, sd) for _ in range(rows)], MARGIN)
        found += any(change.kind == STEP for history in histories for change in history.changes)
    return found


@pytest.mark.simulation
@pytest.mark.parametrize("noise", KINDS, ids=[kind.__name__ for kind in KINDS])
@pytest.mark.parametrize("sd", [0.03, 0.08])
def test_noise_is_not_reported_as_a_step(noise: Noise, sd: float) -> None:
    """At most 5 % false alarms, in each case and in all together."""
    cases = [(sessions, rows) for sessions in (5, 12, 40) for rows in (1, 6)]
    alarms = {case: false_alarms(noise, case[0], sd, case[1]) for case in cases}
    assert max(alarms.values()) <= most(0.05, TABLES), alarms
    assert sum(alarms.values()) <= most(0.05, TABLES * len(cases)), alarms


@pytest.mark.simulation
def test_the_order_test_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the order test, two bad sessions in a row of a skewed series look like a step."""
    careful = sum(false_alarms(skewed, 40, sd, 6, MANY) for sd in (0.08, 0.15))
    monkeypatch.setattr(change_points, "_order_p", lambda *_: 0.0)
    careless = sum(false_alarms(skewed, 40, sd, 6, MANY) for sd in (0.08, 0.15))
    assert careful <= most(0.05, 2 * MANY) < careless


@pytest.mark.simulation
def test_an_underestimated_correlation_gives_false_alarms(monkeypatch: pytest.MonkeyPatch) -> None:
    careful = false_alarms(wandering_far, 60, 0.08, 6)
    monkeypatch.setattr(change_points, "pooled_correlation", lambda _: 0.4)
    careless = false_alarms(wandering_far, 60, 0.08, 6)
    assert careful <= most(0.05, TABLES) < careless


def test_a_step_does_not_change_the_estimated_correlation() -> None:
    generator = random.Random(5)
    independent = [normal(generator, 200, 0.02) for _ in range(10)]
    stepped = [[value - 0.3 * (k > 80) for k, value in enumerate(row)] for row in independent]
    assert pooled_correlation(independent) < 0.15
    assert pooled_correlation(stepped) == pytest.approx(pooled_correlation(independent), abs=0.05)
    assert pooled_correlation([wandering(generator, 200, 0.02) for _ in range(10)]) == pytest.approx(0.6, abs=0.1)
    assert pooled_correlation([[0.0, 1.0]]) > 0.0, "assumed for few sessions"
    assert find_changes([], MARGIN) == []


def step(generator: random.Random, before: int, after: int, size: float, sd: float = 0.02) -> list[float]:
    return [generator.gauss(0, sd) + (size if k >= before else 0.0) for k in range(before + after)]


@pytest.mark.parametrize(
    ("before", "after", "size", "promised"),
    [(2, 2, -2.86, 0.95), (3, 3, -2.86, 0.95), (10, 2, -2.86, 0.95), (10, 5, -0.2, 0.6), (27, 8, -0.12, 0.8)],
)
def test_a_step_is_found_where_it_is_and_in_no_other_row(before: int, after: int, size: float, promised: float) -> None:
    generator = random.Random(f"{before} {after} {size}")
    hits, elsewhere = 0, 0
    for _ in range(TABLES):
        rows = [step(generator, before, after, size), *(normal(generator, before + after, 0.02) for _ in range(5))]
        first, *others = find_changes(rows, MARGIN)
        hits += [(c.at, c.kind) for c in first.changes] == [(before, STEP)]
        elsewhere += any(other.changes for other in others)
    assert hits >= least(promised, TABLES)
    assert elsewhere <= most(0.05, TABLES)


def test_a_known_event_is_found_sooner() -> None:
    generator = random.Random(3)
    rows = [[step(generator, 27, 2, -0.12), *(normal(generator, 29, 0.02) for _ in range(5))] for _ in range(MANY)]
    known = [find_changes(table, MARGIN, [[27]] * 6)[0].changes for table in rows]
    unknown = [find_changes(table, MARGIN)[0].changes for table in rows]
    assert sum(map(bool, unknown)) <= most(0.2, MANY) < sum(map(bool, known))
    assert all(change.known for changes in known for change in changes)
    empty = [find_changes([normal(generator, 30, 0.02)], MARGIN, [[7, 15, 16, 99]])[0].changes for _ in range(TABLES)]
    assert sum(map(bool, empty)) <= most(0.05, TABLES)


def test_two_steps_and_a_slope() -> None:
    generator = random.Random(4)
    there_and_back = [a + b for a, b in zip(step(generator, 8, 16, -0.4), step(generator, 16, 8, 0.4), strict=True)]
    (history,) = find_changes([there_and_back], MARGIN)
    assert [(change.at, change.kind) for change in history.changes] == [(8, STEP), (16, STEP)]
    assert history.changes[0].difference == pytest.approx(-0.4, abs=0.05)
    assert history.changes[0].interval[0] < -0.4 < history.changes[0].interval[1]
    (slope,) = find_changes([[-0.02 * k + generator.gauss(0, 0.01) for k in range(30)]], MARGIN)
    assert slope.changes
    assert all(change.kind == DRIFT for change in slope.changes)
    (event,) = find_changes([[-0.02 * k + generator.gauss(0, 0.01) for k in range(30)]], MARGIN, [[12]])
    assert [change.kind for change in event.changes if change.at == 12] == [DRIFT]
    assert not any(change.known for change in event.changes)


def test_without_noise_there_is_no_significant_step() -> None:
    (history,) = find_changes([[0.0, 0.0, 0.0, -1.0, -1.0, -1.0]], MARGIN)
    assert history.changes == ()
