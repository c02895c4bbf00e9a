"""Bounds for tests of promised rates: a test of a true promise fails by chance once in a million.

The count of events among independent trials has a binomial distribution. More trials make the
bounds narrower, not the failures more frequent.
"""

from __future__ import annotations

from scipy import stats

CHANCE = 1e-6
"""The probability at most with which a count is beyond its bound, if the rate is the promised one.
The seeds of the tests are fixed, so this is the chance for a change that draws other numbers."""


def most(rate: float, trials: int) -> int:
    """The largest count of events whose rate is `rate` or less."""
    return int(stats.binom.isf(CHANCE, trials, rate))


def least(rate: float, trials: int) -> int:
    """The smallest count of events whose rate is `rate` or more."""
    return int(stats.binom.ppf(CHANCE, trials, rate))
