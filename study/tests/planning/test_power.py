"""The power that `plan` predicts agrees with `compare` to five percentage points, in simulated
studies from figures to verdicts. LONGSHORE_SIMULATIONS multiplies the number of studies.
"""

from __future__ import annotations

import math
import os
import random

import pytest

from longshore_study.compare.comparison import Comparison, compare
from longshore_study.planning.plan import make_plan
from longshore_study.planning.power_analysis import PowerAnalysis, Spread
from longshore_study.stats import verdict
from longshore_study.store.launch_store import Launch
from longshore_study.store.selection import Side
from longshore_study.study_file.reader import loads
from promised_rates import least, most
from simulated_launches import halo, launch

pytestmark = pytest.mark.simulation
MODES = ("waitall", "sendrecv", "redblack", "pairwise", "neighbor", "persistent", "isend-recv", "irecv-send")
STUDIES = 200 * int(os.environ.get("LONGSHORE_SIMULATIONS", "1"))
TOLERANCE = 0.05
"""Of a predicted power, which is an approximation."""


def agrees(count: float, predicted: float, tolerance: float = TOLERANCE) -> bool:
    """Whether `count` of STUDIES fits to the predicted power, within the tolerance and chance."""
    return least(predicted - tolerance, STUDIES) <= count <= most(predicted + tolerance, STUDIES)


def power_analysis(sessions: int, launches: int, spread: Spread) -> PowerAnalysis:
    modes = ", ".join(f'"{mode}"' for mode in MODES)
    text = (
        f'[study]\nname = "s"\nsessions = {sessions}\nlaunches = {launches}\n'
        f'[[pattern]]\nprogram = "halo"\nwithin = {{ mode = [{modes}] }}\nbetween = {{ ranks = 2 }}\n'
    )
    return PowerAnalysis(make_plan(loads(text, "s.toml")), spread)


def compared(
    generator: random.Random, sessions: int, launches: int, spread: Spread, changed: dict[str, float]
) -> Comparison:
    """Compares two tags in the same sessions. Changes are differences of logarithms."""
    sides = [
        Side(tag, [launch for s in range(sessions) for launch in session(generator, tag, s, launches, spread, effects)])
        for tag, effects in (("old", {}), ("new", changed))
    ]
    return compare(sides[0], sides[1])


def session(  # noqa: PLR0917 - what a session is made of
    generator: random.Random, tag: str, number: int, launches: int, spread: Spread, effects: dict[str, float]
) -> list[Launch]:
    day = generator.gauss(0, spread.sessions * math.sqrt(spread.shared))
    days = {mode: day + generator.gauss(0, spread.sessions * math.sqrt(1 - spread.shared)) for mode in MODES}
    return [
        launch(
            tag,
            str(number),
            index,
            [halo(mode, effects.get(mode, 0.0) + days[mode] + generator.gauss(0, spread.launches)) for mode in MODES],
        )
        for index in range(launches)
    ]


@pytest.mark.parametrize(
    ("sessions", "launches", "spread"),
    [
        (2, 5, Spread(0.03, 0.02, "")),
        (3, 3, Spread(0.03, 0.02, "")),
        (5, 2, Spread(0.01, 0.03, "", 0.5)),
        (8, 2, Spread(0.05, 0.0, "")),
    ],
    ids=["two sessions", "three", "five, half shared", "eight, launches only"],
)
def test_the_planned_difference_is_found_in_four_of_five_studies(sessions: int, launches: int, spread: Spread) -> None:
    planned = power_analysis(sessions, launches, spread).between_tags(sessions)
    assert planned is not None
    size = planned.smallest()
    generator = random.Random(f"{sessions} {launches}")
    found, same = 0, 0
    for number in range(STUDIES):
        mode = MODES[number % len(MODES)]
        rows = {
            r.key.variant["mode"]: r.verdict
            for r in compared(generator, sessions, launches, spread, {mode: -size}).rows
        }
        found += rows.pop(mode) == verdict.REGRESSED
        same += sum(word == verdict.SAME for word in rows.values())
    assert agrees(found, 0.8)
    assert agrees(same / (len(MODES) - 1), planned.same), "as if the rows of a study were one"
    # With other noise, the prediction is wrong.
    wrong = power_analysis(sessions, launches, Spread(2 * spread.launches, 2 * spread.sessions, "", spread.shared))
    other = wrong.between_tags(sessions)
    assert other is not None
    assert not agrees(found, sum(threshold <= size for threshold in other.thresholds) / len(other.thresholds))


def test_an_inconclusive_row_shows_its_detectable_slowdown() -> None:
    """The number is the row's own, from its own standard error; over many studies four of five such
    slowdowns show."""
    generator = random.Random(9)
    spread = Spread(0.02, 0.02, "")
    told = []
    for _ in range(60):
        rows = compared(generator, 3, 3, spread, {}).rows
        told += [row.judgement.detectable for row in rows if row.judgement and row.verdict == verdict.INCONCLUSIVE]
    typical = sorted(told)[len(told) // 2]
    found = 0
    for number in range(STUDIES):
        mode = MODES[number % len(MODES)]
        rows = compared(generator, 3, 3, spread, {mode: -typical}).rows
        found += next(row.verdict for row in rows if row.key.variant["mode"] == mode) == verdict.REGRESSED
    assert agrees(found, 0.8, 0.1)
