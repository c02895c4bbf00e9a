"""Units are converted if they measure the same."""

from __future__ import annotations

import pytest

from longshore_study.base.units import unit_of


@pytest.mark.parametrize(
    ("one", "other", "factor"),
    [
        ("MB/s", "GB/s", 1e3), ("MiB/s", "B/s", 1 / 2**20), ("GB/sec", "GB/s", 1.0), ("GBps", "GB/s", 1.0),
        ("Gbit/s", "GB/s", 8.0), ("Gb/s", "MB/s", 8e-3), ("us", "ms", 1e3), ("µs", "us", 1.0), ("s", "min", 60.0),
        ("1e6/s", "1/s", 1e-6), ("MHz", "1/s", 1e-6), ("keys/s", "Mkeys/s", 1e6), ("Gflop/s", "Mflop/s", 1e-3),
    ],
)  # fmt: skip
def test_units_of_one_quantity_differ_by_a_factor(one: str, other: str, factor: float) -> None:
    first, second = unit_of(one), unit_of(other)
    assert first.dimension == second.dimension
    assert second.scale / first.scale == pytest.approx(factor)


def test_other_units_are_quantities_of_their_own() -> None:
    assert len({unit_of(text).dimension for text in ("GB/s", "us", "GB", "%", "1/s", "furlong", "GB/s per node")}) == 7
