"""Near and far cores: `compare` says when the two sides had different ones, and removes the
difference where both sides had both."""

from __future__ import annotations

import math
import os
import random

import pytest

from longshore_study.compare.comparison import Comparison, compare
from longshore_study.output.compare_document import row_document
from longshore_study.store.selection import Side
from promised_rates import most
from simulated_launches import halo, launch

NEAR, FAR = 75.0, 250.0
STUDIES = 500 * int(os.environ.get("LONGSHORE_SIMULATIONS", "1"))
LOSS = 0.5
"""What far cores cost, as a logarithm."""


def sessions(reference: list[float | None], new: list[float | None], gain: float = 0.0) -> Comparison:
    """Two sessions of each side, whose launches have cores of these distances."""
    sides = (Side("old", []), Side("new", []))
    for side, distances, more in zip(sides, (reference, new), (0.0, gain), strict=True):
        for index, line in enumerate(distances):
            log = more + 0.01 * index - (LOSS if line == FAR else 0.0)
            side.launches.append(launch(side.name, str(index % 2), index, [halo("waitall", log, line=line)]))
    return compare(*sides)


def warnings(found: Comparison) -> list[str]:
    (row,) = found.rows
    return [text for text in row.warnings if text.startswith("cores were")]


def test_a_side_on_far_cores_explains_its_slowdown() -> None:
    (text,) = warnings(sessions([NEAR] * 4, [FAR, FAR, NEAR, FAR]))
    assert text.startswith("cores were near in most launches of reference and far in most launches of new")
    (text,) = warnings(sessions([FAR] * 4, [NEAR] * 4))
    assert text.startswith("cores were far in most launches of reference and near in most launches of new")


@pytest.mark.parametrize(
    ("reference", "new", "gain"),
    [
        ([NEAR] * 4, [NEAR] * 4, -0.5),
        ([FAR] * 4, [FAR] * 4, -0.5),
        ([NEAR, FAR, NEAR, FAR], [FAR, NEAR, FAR, NEAR], -0.5),
        ([NEAR] * 4, [FAR] * 4, 1.0),  # faster in spite of far cores
        ([NEAR] * 4, [None, FAR, FAR, FAR], 0.0),
        ([None] * 4, [None] * 4, 0.0),
    ],
)
def test_nothing_is_explained_otherwise(reference: list[float | None], new: list[float | None], gain: float) -> None:
    assert warnings(sessions(reference, new, gain)) == []


def in_turns(
    far_share: tuple[float, float], *, measured: bool = True, seed: int = 1, slowdown: float = 0.0
) -> Comparison:
    """20 launches of each side in turns. Far cores cost much; the noise probe feels nothing."""
    generator = random.Random(seed)
    sides = (Side("old", []), Side("new", []))
    for index in range(20):
        for minute, (side, share, slower) in enumerate(zip(sides, far_share, (0.0, slowdown), strict=True)):
            is_far = generator.random() < share
            line = generator.uniform(0.9, 1.1) * (FAR if is_far else NEAR) if measured else None
            log = generator.gauss(0, 0.02) - (LOSS if is_far else 0.0) - math.log1p(slower)
            results = [halo("waitall", log, generator.gauss(0, 0.05), line)]
            started = f"2026-03-01T{index:02d}:{minute:02d}:00Z"
            side.launches.append(launch(side.name, "s", index, results, started=started))
    return compare(*sides)


def test_the_distance_explains_noise_of_launches_in_turns() -> None:
    (row,), (without,) = in_turns((0.4, 0.5)).rows, in_turns((0.4, 0.5), measured=False).rows
    assert row.adjustment is not None
    assert row.adjustment.groups == 2
    assert row.adjustment.explained > 0.95
    assert row_document(row)["pulse"]["groups"] == 2
    assert row.interval is not None
    assert without.interval is not None
    assert row.interval[1] - row.interval[0] < 0.2 * (without.interval[1] - without.interval[0])
    assert (row.verdict, without.verdict) == ("same", "inconclusive")


def test_a_state_that_moves_its_ranks_apart_is_not_taken_for_noise() -> None:
    """Such as a new binding: then far cores are a property of the new side."""
    (row,) = in_turns((0.1, 0.9)).rows
    assert row.verdict == "regressed"
    assert row.adjustment is None
    assert warnings(in_turns((0.1, 0.9)))


@pytest.mark.simulation
@pytest.mark.parametrize("share", [0.1, 0.4])
def test_false_alarms_are_as_rare_as_promised(share: float) -> None:
    """The worst case: the row is on the margin."""
    alarms = sum(
        in_turns((share, share), seed=seed, slowdown=0.05).rows[0].verdict == "regressed" for seed in range(STUDIES)
    )
    assert alarms <= most(0.05, STUDIES)
