"""The 95 % interval of a median from order statistics, against its definition and by a count."""

from __future__ import annotations

import math
import random

import pytest

from longshore_study.stats.median_interval import median_interval
from promised_rates import least


def test_the_ends_are_the_innermost_that_hold_the_median_with_95_percent() -> None:
    assert median_interval([3.0, 1.0, 2.0, 5.0, 4.0]) is None, "five values have no such interval"
    for count in range(6, 40):
        found = median_interval(range(count))
        assert found is not None
        low, high = found
        outside = 2 * sum(math.comb(count, k) for k in range(int(low) + 1)) / 2**count
        one_tighter = outside + 2 * math.comb(count, int(low) + 1) / 2**count
        assert outside <= 0.05 < one_tighter
        assert low + high == count - 1
    many = median_interval(range(10_000))  # fast: binomials are summed only once
    assert many is not None
    assert many[0] == pytest.approx(5000 - 0.98 * 100, abs=2)


def test_the_interval_holds_the_median_as_often_as_promised() -> None:
    generator = random.Random(2)
    for count in (6, 15):
        held = 0
        for _ in range(400):
            low, high = median_interval([generator.expovariate(1.0) for _ in range(count)]) or (0.0, 0.0)
            held += low <= 0.6931 <= high
        assert held >= least(0.95, 400)
