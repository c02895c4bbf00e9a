"""Contrasts of two variants within launches, in turns, and by session."""

from __future__ import annotations

import random
from math import exp
from statistics import geometric_mean

import pytest

from longshore_study.compare.contrast import BY_SESSION, IN_TURNS, WITHIN_LAUNCH, contrasts
from longshore_study.metrics.launch_metrics import Figure, Key

KEY = Key("s", "stream", "bandwidth", "{}", "{}")


def figures(values: list[float], launches: list[str], session: str = "day", better: str = "higher") -> list[Figure]:
    return [
        Figure(KEY, "t", session, launch, None, None, value, "GB/s", better)
        for value, launch in zip(values, launches, strict=True)
    ]


def test_launches_that_measured_both_are_compared_with_themselves() -> None:
    noise = random.Random(1)
    # Launches differ by a factor of two. In each launch the second variant is about 10 % faster.
    levels = [exp(noise.gauss(0, 0.5)) for _ in range(8)]
    gains = [1.1 * exp(noise.gauss(0, 0.01)) for _ in levels]
    names = [f"l{k}" for k in range(8)]
    second = figures([level * gain for level, gain in zip(levels, gains, strict=True)], names)
    (found,) = contrasts([(figures(levels, names), second)])
    assert found is not None
    assert (found.design, found.units) == (WITHIN_LAUNCH, 8)
    assert found.ratio == pytest.approx(geometric_mean(gains))
    assert found.interval is not None
    assert 1.08 < found.interval[0] < found.ratio < found.interval[1] < 1.12


def test_variants_in_different_launches_are_compared_within_their_session() -> None:
    pairs = []
    for better in ("higher", "lower"):
        before = figures([10.0, 10.4, 9.7], ["a", "b", "c"], better=better)
        after = figures([5.0, 5.1, 4.9], ["d", "e", "f"], better=better)
        pairs.append((before, after))
    halved, quicker = contrasts(pairs)
    assert halved is not None
    assert quicker is not None
    assert halved.design == IN_TURNS
    assert halved.ratio == pytest.approx(0.5, rel=0.02)
    assert quicker.ratio == pytest.approx(2.0, rel=0.02), "less is better: half the latency is twice as good"
    assert halved.interval is not None
    assert halved.interval[1] < 0.6


def test_figures_of_one_launch_count_as_their_mean() -> None:
    before = figures([10.0, 10.0, 10.0, 10.0], ["a", "a", "b", "b"])
    after = figures([16.0, 25.0, 20.0, 20.0], ["c", "c", "d", "d"])
    (found,) = contrasts([(before, after)])
    assert found is not None
    assert (found.design, found.units) == (IN_TURNS, 2)
    assert found.ratio == pytest.approx(2.0)


def test_one_launch_each_gives_a_ratio_and_no_interval() -> None:
    (found,) = contrasts([(figures([2.0], ["a"]), figures([3.0], ["b"]))])
    assert found is not None
    assert (found.design, found.interval) == (BY_SESSION, None)
    assert found.ratio == pytest.approx(1.5)
    assert found.why_no_interval


def test_figures_without_variance_give_no_interval() -> None:
    names = ["a", "b", "c"]
    (found,) = contrasts([(figures([2.0] * 3, names), figures([3.0] * 3, names))])
    assert found is not None
    assert found.interval is None
    assert found.why_no_interval == "the figures do not vary at all between launches"


def test_variants_of_different_sessions_are_not_compared() -> None:
    assert contrasts([(figures([1.0], ["a"], "monday"), figures([1.0], ["b"], "tuesday"))]) == [None]
    assert contrasts([([], figures([1.0], ["b"]))]) == [None]


def test_the_interval_covers_the_truth_as_often_as_stated() -> None:
    noise = random.Random(5)
    missed = tables = 0
    for _ in range(300):
        pairs = []
        for _ in range(6):
            launches = [f"l{k}" for k in range(4)]
            level = [exp(noise.gauss(0, 0.2)) for _ in launches]
            first = figures([one * exp(noise.gauss(0, 0.03)) for one in level], launches)
            second = figures([1.2 * one * exp(noise.gauss(0, 0.03)) for one in level], launches)
            pairs.append((first, second))
        for found in contrasts(pairs):
            assert found is not None
            assert found.interval is not None
            tables += 1
            missed += not found.interval[0] <= 1.2 <= found.interval[1]
    assert 0.02 < missed / tables < 0.07
