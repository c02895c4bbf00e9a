"""Verdicts of differences."""

from __future__ import annotations

import math

import pytest
from scipy import stats

from longshore_study.stats import verdict
from longshore_study.stats.verdict import Measured, judge


def one(difference: float, se: float = 0.005, df: float = 20.0) -> verdict.Judgement:
    return judge([Measured(difference, se, df)], 0.05)[0]


@pytest.mark.parametrize(
    ("difference", "expected"),
    [(-0.2, "regressed"), (0.2, "improved"), (0.0, "same"), (-0.03, "same"), (-0.05, "inconclusive")],
)
def test_verdicts_are_about_the_margin(difference: float, expected: str) -> None:
    assert one(difference).verdict == expected


def test_a_certain_but_small_difference_is_same() -> None:
    assert one(-0.02, se=0.001).verdict == "same"


def test_an_uncertain_difference_is_inconclusive_however_large() -> None:
    assert one(-1.0, se=0.6, df=2).verdict == "inconclusive"


def test_regressed_is_an_interval_beyond_the_margin() -> None:
    for difference in (-0.055, -0.058, -0.0592, -0.0595, -0.065):
        judged = one(difference)
        assert (judged.verdict == "regressed") == (judged.interval[1] < -math.log1p(0.05))
        assert (judged.p <= 0.05) == (judged.interval[1] < -math.log1p(0.05))


def test_same_is_two_one_sided_tests() -> None:
    limit, se, df = math.log1p(0.05), 0.02, 9
    for difference in (0.0, 0.01, -0.02):
        expected = max(stats.t.sf((difference + limit) / se, df), stats.t.cdf((difference - limit) / se, df))
        assert verdict.within_margin(Measured(difference, se, df), limit) == pytest.approx(expected)


def test_more_rows_need_more_evidence_per_row() -> None:
    weak = Measured(-0.062, 0.005, 20.0)
    assert judge([weak], 0.05)[0].verdict == "regressed"
    among_many = judge([weak, *[Measured(0.0, 0.005, 20.0)] * 50], 0.05)
    assert among_many[0].verdict == "inconclusive"
    assert among_many[0].adjusted_p > among_many[0].p


def test_the_guideline_sides_are_complements() -> None:
    row = Measured(-0.1, 0.03, 7.0)
    assert verdict.slower_than(row, 0.05) + verdict.not_slower_than(row, 0.05) == pytest.approx(1.0)


def test_without_variance_the_difference_decides() -> None:
    assert one(-0.2, se=0.0).verdict == "regressed"
    assert one(0.01, se=0.0).verdict == "same"
