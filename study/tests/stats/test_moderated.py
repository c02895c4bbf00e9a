"""The prior of variances agrees with scipy; the degrees of freedom are limited."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import optimize, special

from longshore_study.stats import effect, moderated
from longshore_study.stats.effect import Effect


def paired(values: list[float]) -> Effect:
    sessions = {f"s{k}": value for k, value in enumerate(values)}
    return effect.paired(dict.fromkeys(sessions, 0.0), sessions)


def test_the_prior_is_smyths() -> None:
    generator = np.random.default_rng(5)
    df, d0, s0 = 4, 6.0, 0.03
    variances = s0 * generator.f(df, d0, size=400)
    found = moderated.fit_prior(list(variances), [df] * 400)
    # Smyth 2004, section 6.2, with scipy's functions and root finder.
    logs = np.log(variances) - special.digamma(df / 2) + math.log(df / 2)
    excess = logs.var(ddof=1) - special.polygamma(1, df / 2)
    expected = 2 * optimize.brentq(lambda x: special.polygamma(1, x) - excess, 1e-3, 1e3)
    scale = math.exp(logs.mean() + special.digamma(expected / 2) - math.log(expected / 2))
    assert found.df == pytest.approx(expected)
    assert found.variance == pytest.approx(scale)
    assert found.df == pytest.approx(d0, rel=0.4)
    assert found.cautious_df < found.df


def test_equal_variances_have_an_infinite_prior_and_the_pooled_variance() -> None:
    found = moderated.fit_prior([0.9, 1.0, 1.1, 1.0], [5, 5, 5, 5])
    assert math.isinf(found.df)
    assert found.variance == pytest.approx(1.0)
    assert math.isfinite(found.cautious_df)


def test_more_cells_increase_the_cautious_degrees_of_freedom() -> None:
    few = moderated.fit_prior([1.0] * 5, [3] * 5)
    many = moderated.fit_prior([1.0] * 500, [3] * 500)
    assert few.cautious_df < many.cautious_df


def test_a_single_cell_keeps_its_variance() -> None:
    one = paired([0.1, 0.2, 0.4])
    found = moderated.moderate([one])[0]
    assert found is not None
    assert found.variance == pytest.approx(one.variance)
    assert found.df == 2


def test_a_cell_without_a_variance_gets_none() -> None:
    assert moderated.moderate([paired([0.1])]) == [None]


def test_a_variance_of_zero_becomes_positive() -> None:
    effects = [paired([0.5, 0.5]), paired([0.1, 0.2]), paired([0.3, 0.1]), paired([0.2, 0.25])]
    found = moderated.moderate(effects)[0]
    assert found is not None
    assert found.variance > 0.0


def test_independent_cells_add_their_degrees_of_freedom() -> None:
    generator = np.random.default_rng(6)
    effects = [paired(list(generator.normal(size=5))) for _ in range(200)]
    assert moderated.pooled_df(effects) > 0.6 * 200 * 4


def test_cells_that_deviate_together_have_the_degrees_of_freedom_of_one_cell() -> None:
    generator = np.random.default_rng(7)
    common = generator.normal(size=5)
    effects = [paired(list(common + 1e-3 * generator.normal(size=5))) for _ in range(200)]
    assert moderated.pooled_df(effects) == pytest.approx(4, rel=0.01)
    together = moderated.moderate(effects)[0]
    assert together is not None
    assert together.df == pytest.approx(4, rel=0.01)


def test_cells_with_different_units_add_their_degrees_of_freedom() -> None:
    one = [paired([0.1, -0.1, 0.3]), paired([0.1, -0.1, 0.3])]
    elsewhere = effect.paired({"x": 0.0, "y": 0.0}, {"x": 0.2, "y": 0.1})
    other = [elsewhere, elsewhere]
    assert moderated.pooled_df(one + other) == pytest.approx(moderated.pooled_df(one) + moderated.pooled_df(other))
    assert moderated.pooled_df(one) == pytest.approx(2)
