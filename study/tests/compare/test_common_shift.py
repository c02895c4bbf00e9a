"""The common shift: when it is reported, and when it is removed from the rows."""

from __future__ import annotations

import math

import pytest

from longshore_study.compare.common_shift import CommonShift, find_shift
from longshore_study.stats.verdict import Measured


def test_without_controls_nothing_is_removed() -> None:
    shift = find_shift([], 0.05)
    assert not shift.removed
    assert shift.ratio is None
    row = Measured(-0.3, 0.01, 5.0)
    assert shift.remove_from(row) == row


def test_controls_that_agree_are_removed() -> None:
    controls = [("copy", Measured(-0.20, 0.01, 10.0)), ("pingpong", Measured(-0.21, 0.01, 10.0))]
    shift = find_shift(controls, 0.05)
    assert shift.removed
    assert shift.verdict == "regressed"
    assert shift.ratio == pytest.approx(math.exp(-0.205))
    row = shift.remove_from(Measured(-0.205, 0.02, 8.0))
    assert row.difference == pytest.approx(0.0)
    assert row.se == pytest.approx(math.hypot(0.02, 0.01))
    assert 8.0 < row.df < 18.0


def test_controls_that_show_nothing_remove_nothing() -> None:
    shift = find_shift([("copy", Measured(0.001, 0.01, 10.0)), ("pingpong", Measured(-0.002, 0.01, 10.0))], 0.05)
    assert not shift.removed
    assert shift.verdict == "same"
    assert "no shift" in shift.reason


def test_a_slower_network_is_not_a_slower_machine() -> None:
    shift = find_shift([("copy", Measured(0.0, 0.01, 10.0)), ("pingpong", Measured(-0.4, 0.01, 10.0))], 0.05)
    assert not shift.removed
    assert "contradict" in shift.reason
    assert {kernel: round(math.exp(one.difference), 2) for kernel, one in shift.kernels.items()} == {
        "copy": 1.0,
        "pingpong": 0.67,
    }


def test_many_cells_of_one_kernel_do_not_outvote_the_other() -> None:
    controls = [("copy", Measured(0.0, 0.01, 10.0))] * 9 + [("pingpong", Measured(-0.2, 0.01, 10.0))]
    measured = find_shift(controls, 0.05).measured
    assert measured is not None
    assert measured.difference == pytest.approx(-0.1)


def test_removing_a_shift_without_variance_works() -> None:
    shift = CommonShift(Measured(-0.1, 0.0, 3.0), {}, removed=True)
    assert shift.remove_from(Measured(-0.1, 0.0, 4.0)) == Measured(0.0, 0.0, 4.0)
