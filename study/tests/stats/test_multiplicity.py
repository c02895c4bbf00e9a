"""Adjusted p values agree with scipy and with the definition."""

from __future__ import annotations

import random

import pytest
from scipy import stats

from longshore_study.stats import multiplicity

P = [0.001, 0.2, 0.03, 0.04, 0.5, 0.03, 1.0]


def test_benjamini_hochberg_is_scipys() -> None:
    generator = random.Random(1)
    for values in (P, [generator.random() ** 3 for _ in range(50)], [0.02]):
        assert multiplicity.benjamini_hochberg(values) == pytest.approx(list(stats.false_discovery_control(values)))


def test_holm_by_its_definition() -> None:
    assert multiplicity.holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert multiplicity.holm(P)[0] == pytest.approx(0.007)
    assert max(multiplicity.holm(P)) == 1.0


def test_holm_is_never_below_benjamini_hochberg() -> None:
    for strict, mild in zip(multiplicity.holm(P), multiplicity.benjamini_hochberg(P), strict=True):
        assert strict >= mild - 1e-15


def test_an_empty_list_is_accepted() -> None:
    assert multiplicity.benjamini_hochberg([]) == []
    assert multiplicity.holm([]) == []
