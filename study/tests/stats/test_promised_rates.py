"""The bounds of promised rates are beyond chance, and not by more than one event."""

from __future__ import annotations

import pytest
from scipy import stats

from promised_rates import CHANCE, least, most


@pytest.mark.parametrize(("rate", "trials"), [(0.05, 200), (0.05, 1500), (0.8, 200), (0.95, 40)])
def test_a_true_promise_fails_once_in_a_million(rate: float, trials: int) -> None:
    assert (
        stats.binom.sf(most(rate, trials), trials, rate)
        <= CHANCE
        < stats.binom.sf(most(rate, trials) - 1, trials, rate)
    )
    few = least(rate, trials)
    assert stats.binom.cdf(few - 1, trials, rate) <= CHANCE < stats.binom.cdf(few, trials, rate)


def test_twice_the_promised_rate_of_false_alarms_is_found() -> None:
    assert stats.binom.sf(most(0.05, 1500), 1500, 0.10) > 0.99
