"""Effects and confidence intervals agree with scipy's t tests."""

from __future__ import annotations

import random

import pytest
from scipy import stats

from longshore_study.stats import effect


def draws(seed: int, count: int, scale: float = 1.0) -> list[float]:
    generator = random.Random(seed)
    return [generator.gauss(0, scale) for _ in range(count)]


def named(values: list[float], prefix: str = "s") -> dict[str, float]:
    return {f"{prefix}{place}": value for place, value in enumerate(values)}


def test_pairs_give_the_paired_t_test() -> None:
    one, other = draws(1, 6), draws(2, 6)
    found = effect.paired(named(one), named(other))
    test = stats.ttest_rel(other, one)
    assert found.welch_se is not None
    assert found.difference / found.welch_se == pytest.approx(test.statistic)
    low, high = effect.interval(found.difference, found.welch_se, found.df)
    assert (low, high) == pytest.approx(tuple(test.confidence_interval(0.95)))


def test_the_order_of_sessions_does_not_matter_to_pairs() -> None:
    found = effect.paired({"a": 1.0, "b": 5.0}, {"b": 5.5, "a": 1.5})
    assert found.difference == pytest.approx(0.5)
    assert found.variance == pytest.approx(0.0)


def test_unpaired_sessions_give_welch_and_the_pooled_variance() -> None:
    one, other = draws(3, 4), draws(4, 7, scale=3.0)
    found = effect.unpaired(named(one), named(other, "t"))
    welch = stats.ttest_ind(other, one, equal_var=False)
    student = stats.ttest_ind(other, one, equal_var=True)
    assert found.welch_se is not None
    assert found.welch_df == pytest.approx(welch.df)
    assert found.difference / found.welch_se == pytest.approx(welch.statistic)
    assert found.variance is not None
    assert found.difference / (found.variance * found.scale) ** 0.5 == pytest.approx(student.statistic)
    assert found.df == 9


def test_a_stratified_effect_of_one_session_is_the_two_sample_t_test() -> None:
    one, other = draws(5, 5), draws(6, 5)
    found = effect.stratified({"s": dict(enumerate(one))}, {"s": {k + 10: v for k, v in enumerate(other)}})
    student = stats.ttest_ind(other, one, equal_var=True)
    welch = stats.ttest_ind(other, one, equal_var=False)
    assert found.variance is not None
    assert found.difference / (found.variance * found.scale) ** 0.5 == pytest.approx(student.statistic)
    assert found.welch_df == pytest.approx(welch.df)
    assert found.units == (5, 5)


def test_a_stratified_effect_ignores_differences_between_sessions() -> None:
    reference = {"monday": {1: 0.0, 2: 0.1}, "friday": {3: 5.0, 4: 5.1}}
    new = {"monday": {5: 0.0, 6: 0.1}, "friday": {7: 5.0, 8: 5.1}}
    found = effect.stratified(reference, new)
    assert found.difference == pytest.approx(0.0)
    assert found.variance == pytest.approx(0.005)
    assert found.df == 4


def test_the_squares_of_residuals_add_up_to_the_variance() -> None:
    found = effect.unpaired(named(draws(7, 3)), named(draws(8, 4), "t"))
    assert found.variance is not None
    assert sum(r * r for _, r in found.residuals) == pytest.approx(found.variance * found.df)


def test_one_value_per_side_has_no_variance() -> None:
    for found in (effect.paired({"a": 1.0}, {"a": 2.0}), effect.unpaired({"a": 1.0}, {"b": 2.0})):
        assert found.difference == 1.0
        assert (found.variance, found.df, found.welch_se) == (None, 0, None)


def test_two_stratified_sessions_halve_the_variance() -> None:
    one = effect.stratified({"a": {1: 0.0, 2: 0.1}}, {"a": {3: 0.0, 4: 0.1}})
    two = effect.stratified(
        {s: {s + "1": 0.0, s + "2": 0.1} for s in "ab"}, {s: {s + "3": 0.0, s + "4": 0.1} for s in "ab"}
    )
    assert one.scale == pytest.approx(1.0)
    assert two.scale == pytest.approx(0.5)
