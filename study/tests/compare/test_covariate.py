"""The noise probe (pulse) as a covariate. Its formulas agree with a regression by numpy; it adds
power where it shows the noise; false alarms are as rare as promised; and a probe that the new state
made slower hides no regression.
"""

from __future__ import annotations

import itertools
import math
import os
import random
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from longshore_study.compare.comparison import Comparison, compare
from longshore_study.output.compare_document import document, row_document
from longshore_study.report.verdict_summary import comparison_details
from longshore_study.stats import covariate, effect
from longshore_study.store.selection import Side
from promised_rates import least, most
from simulated_launches import halo, launch

MODES = ("waitall", "persistent", "neighbor", "sendrecv")
Numbers = dict[str, dict[str, float]]
STUDIES = 500 * int(os.environ.get("LONGSHORE_SIMULATIONS", "1"))


@dataclass(frozen=True)
class Machine:
    """A simulated machine. Its state (`mood`) varies between launches; figures follow it with
    `slope`, and each mode has noise of its own."""

    mood: Callable[[random.Random], float]
    slope: float = 0.3
    own: float = 0.015
    felt: float = 1.0
    """The share of the mood that the probe shows."""
    bent: float = 0.0
    """The deviation of the figures from the slope where the mood is low."""


BEND = -0.5


def near_and_far(generator: random.Random) -> float:
    return generator.gauss(0, 0.05) - (1.0 if generator.random() < 0.4 else 0.0)


def bimodal(generator: random.Random) -> float:
    return generator.gauss(0, 0.05) - (0.4 if generator.random() < 0.4 else 0.0)


def smooth(generator: random.Random) -> float:
    return generator.gauss(0, 0.2)


def compared(
    machine: Machine,
    seed: int,
    slower: dict[str, float],
    *,
    pulse_slower: float = 0.0,
    launches: int = 8,
    beat: bool = True,
) -> Comparison:
    """Two sides in turns, launch by launch, in each session."""
    # Seeded by numbers only: the address of a function differs between processes.
    named = (machine.mood.__name__, machine.slope, machine.own, machine.felt, machine.bent)
    generator = random.Random(f"{named} {seed}")
    sides = {tag: Side(tag, []) for tag in ("before", "after")}
    for session in range(2):
        for index in range(launches):
            for minute, tag in enumerate(generator.sample(("before", "after"), 2)):
                mood, new = machine.mood(generator), tag == "after"
                results = []
                for mode in MODES:
                    far = machine.bent if mood < BEND else 0.0
                    log = machine.slope * mood + far + generator.gauss(0, machine.own)
                    pulse = machine.felt * mood + generator.gauss(0, 0.02) - (math.log1p(pulse_slower) if new else 0.0)
                    loss = math.log1p(slower.get(mode, 0.0)) if new else 0.0
                    results.append(halo(mode, log - loss, pulse if beat else None))
                started = f"2026-03-{session + 1:02d}T{index:02d}:{minute:02d}:00Z"
                sides[tag].launches.append(launch(tag, str(session), index, results, started=started))
    return compare(sides["before"], sides["after"])


def verdict_of(comparison: Comparison, mode: str) -> str:
    return next(row.verdict for row in comparison.rows if row.key.variant["mode"] == mode)


@pytest.mark.parametrize("groups", [1, 2])
def test_the_adjustment_is_a_regression_with_a_mean_per_side_and_session(groups: int) -> None:
    """With a level per group of probes where there are two groups."""
    generator = random.Random(7)
    figures: tuple[Numbers, Numbers] = ({}, {})
    pulses: tuple[Numbers, Numbers] = ({}, {})
    rows, right = [], []
    for side, session in itertools.product(range(2), range(2)):
        own_mean = [float((side, session) == place) for place in itertools.product(range(2), range(2))]
        for k in range(6):
            slow = float(groups == 2 and generator.random() < 0.4)
            pulse = generator.uniform(-1, 1) - 20 * slow
            figure = 0.4 * pulse + 7 * slow + 0.1 * side + 0.3 * session + generator.gauss(0, 0.2)
            name = f"{side}{session}{k}"
            figures[side].setdefault(str(session), {})[name] = figure
            pulses[side].setdefault(str(session), {})[name] = pulse
            rows.append([*own_mean, pulse, slow][: 4 + groups])
            right.append(figure)
    found = covariate.adjust(effect.stratified(*figures), pulses)
    assert found is not None
    adjusted, adjustment = found
    x = np.array(rows)
    beta, left, *_ = np.linalg.lstsq(x, np.array(right), rcond=None)
    contrast = np.array([-0.5, -0.5, 0.5, 0.5, 0.0, 0.0][: 4 + groups])
    variance = float(left[0]) / (len(right) - 4 - groups)
    assert adjustment.groups == groups
    assert adjustment.slope == pytest.approx(float(beta[4]))
    assert adjusted.difference == pytest.approx(float(contrast @ beta))
    assert adjusted.df == len(right) - 4 - groups
    assert adjusted.variance == pytest.approx(variance)
    assert adjusted.scale == pytest.approx(float(contrast @ np.linalg.inv(x.T @ x) @ contrast))
    assert math.fsum(r * r for _, r in adjusted.residuals) == pytest.approx(float(left[0]))


@pytest.mark.parametrize("mood", [smooth, bimodal])
def test_the_noise_that_the_probe_shows_is_removed(mood: Callable[[random.Random], float]) -> None:
    machine = Machine(mood)
    studies = range(STUDIES // 10)
    with_pulse = sum(
        verdict_of(compared(machine, k, {"persistent": 0.08}), "persistent") == "regressed" for k in studies
    )
    without = sum(
        verdict_of(compared(machine, k, {"persistent": 0.08}, beat=False), "persistent") == "regressed" for k in studies
    )
    assert with_pulse >= least(0.95, len(studies))
    assert without <= most(0.1, len(studies))


def test_two_groups_of_launches_have_a_level_each() -> None:
    """Near and distant cores: figures follow the probe less between these groups than within
    each."""
    machine = Machine(near_and_far, slope=0.6, bent=0.4)
    studies = range(STUDIES // 10)
    found = [compared(machine, k, {"persistent": 0.08}) for k in studies]
    assert sum(verdict_of(one, "persistent") == "regressed" for one in found) >= least(0.95, len(studies))
    adjustments = [row.adjustment for comparison in found for row in comparison.rows if row.adjustment]
    assert sum(a.groups == 2 for a in adjustments) >= least(0.95, len(adjustments))
    assert 0.5 < math.fsum(a.slope for a in adjustments) / len(adjustments) < 0.7


@pytest.mark.simulation
@pytest.mark.parametrize("mood", [smooth, bimodal, near_and_far])
@pytest.mark.parametrize("felt", [1.0, 0.3, 0.0])
def test_false_alarms_are_as_rare_as_promised(mood: Callable[[random.Random], float], felt: float) -> None:
    """The worst case: all rows are on the margin. The probe shows all of the mood, a part of it, or
    nothing."""
    on_margin = dict.fromkeys(MODES, 0.05)
    alarms = sum(
        any(row.verdict == "regressed" for row in compared(Machine(mood, felt=felt), seed, on_margin).rows)
        for seed in range(STUDIES)
    )
    assert alarms <= most(0.05, STUDIES)


def test_a_probe_that_the_new_state_made_slower_hides_no_regression(monkeypatch: pytest.MonkeyPatch) -> None:
    """All messages became slower, those of the probe most: the rows are regressed, not same."""
    machine = Machine(lambda generator: generator.gauss(0, 0.05), slope=0.8)
    slower = dict.fromkeys(MODES, 0.3)
    found = compared(machine, 1, slower, pulse_slower=0.4)
    assert {row.verdict for row in found.rows} == {"regressed"}
    assert all(row.adjustment is None for row in found.rows)
    monkeypatch.setattr(
        covariate, "CHANCE", 0.0
    )  # without the test whether probes differ, the regression would be hidden
    assert {row.verdict for row in compared(machine, 1, slower, pulse_slower=0.4).rows} != {"regressed"}


def test_nothing_is_removed_with_too_few_launches_or_without_a_probe() -> None:
    machine = Machine(smooth)
    few = compared(machine, 3, {}, launches=2)
    assert all(row.adjustment is None for row in few.rows), "a slope from four launches costs more than it gains"
    assert all("pulse" not in row_document(row) for row in compared(machine, 3, {}, beat=False).rows)
    pulses = [row_document(row)["pulse"] for row in compared(machine, 5, {}).rows]
    assert all(0.8 < pulse["variance_explained"] < 1 and 0.25 < pulse["slope"] < 0.35 for pulse in pulses)


def test_the_comparison_and_the_report_state_the_removed_noise() -> None:
    comparison = compared(Machine(smooth), 5, {})
    output = document(comparison)
    assert output["pulse"]["rows"] == len(MODES)
    assert 0.8 < output["pulse"]["variance_explained"][0] <= output["pulse"]["variance_explained"][1] < 1
    details = " ".join(comparison_details(comparison))
    assert "was removed from 4 rows" in details
    assert "a launch is the unit of replication" in details
    silent = compared(Machine(smooth), 5, {}, beat=False)
    assert document(silent)["pulse"] is None
    assert "pulse" not in " ".join(comparison_details(silent))
