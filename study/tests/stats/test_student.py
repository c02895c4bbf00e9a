"""The t distribution and the polygamma functions agree with scipy."""

from __future__ import annotations

import math

import pytest
from scipy import special, stats

from longshore_study.stats import student

DEGREES = (0.3, 1, 1.7, 2, 3.7, 5, 30, 1e3, 1e6, math.inf)


@pytest.mark.parametrize("df", DEGREES)
def test_tails_are_those_of_scipy(df: float) -> None:
    for t in (-30, -3, -0.1, 0.0, 1e-6, 0.5, 2, 7, 30):
        expected = stats.t.sf(t, df) if math.isfinite(df) else stats.norm.sf(t)
        assert student.upper_tail(t, df) == pytest.approx(expected, rel=1e-8, abs=1e-250)
        assert student.two_sided(t, df) == pytest.approx(min(1.0, 2 * stats.t.sf(abs(t), df)), rel=1e-8, abs=1e-250)


@pytest.mark.parametrize("df", DEGREES)
def test_quantiles_are_those_of_scipy(df: float) -> None:
    for probability in (0.001, 0.3, 0.5, 0.9, 0.975, 0.9999):
        expected = stats.t.ppf(probability, df)
        assert student.quantile(probability, df) == pytest.approx(expected, rel=1e-7, abs=1e-9)


def test_polygammas_are_those_of_scipy() -> None:
    for x in (0.01, 0.3, 0.5, 1, 3.3, 9.99, 20, 1e4):
        for order in (0, 1, 3):
            assert student.polygamma(order, x) == pytest.approx(special.polygamma(order, x), rel=1e-12, abs=1e-12)


def test_inverse_trigamma_inverts() -> None:
    for y in (1e-9, 1e-4, 0.1, 1.0, 4.93, 100.0, 1e9):
        assert special.polygamma(1, student.inverse_trigamma(y)) == pytest.approx(y, rel=1e-3 if y < 1e-6 else 1e-6)


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="positive"):
        student.upper_tail(1.0, 0.0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        student.quantile(1.0, 3.0)
    with pytest.raises(ValueError, match="positive"):
        student.inverse_trigamma(0.0)
