"""The 95 % interval of a median, from order statistics. Source: Conover, Practical Nonparametric
Statistics, section 3.2.
"""

from collections.abc import Sequence
from functools import cache

MIN_VALUES = 6
"""Fewer values have no such interval."""


def median_interval(values: Sequence[float]) -> tuple[float, float] | None:
    """The two values around the median with 95 % probability. None below MIN_VALUES values."""
    if len(values) < MIN_VALUES:
        return None
    ordered, rank = sorted(values), _lower_rank(len(values))
    return ordered[rank], ordered[-1 - rank]


@cache
def _lower_rank(count: int) -> int:
    """The index of the lower end in sorted values. The number of values below the median is
    binomial: at most 2.5 % of all cases have the median below this end."""
    # In exact integers: the ways to have `rank` values below the median, and at most `rank`.
    rank, ways, ways_at_most = -1, 1, 1
    while 40 * ways_at_most <= 2**count:
        rank += 1
        ways = ways * (count - rank) // (rank + 1)
        ways_at_most += ways
    return rank
