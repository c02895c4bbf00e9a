"""Times of a cache line are of two kinds if a wide gap divides them."""

from __future__ import annotations

import math
import random

import pytest

from longshore_study.base.near_and_far import CacheLineSeconds, by_distance, cache_line_seconds, least_far
from simulated_launches import line_record


def lines(*nanoseconds: float) -> list[CacheLineSeconds]:
    return [line for one in nanoseconds if (line := cache_line_seconds(line_record(one)))]


def test_a_gap_divides_near_from_far_cores() -> None:
    found = by_distance(lines(70, 240, 95, 300))
    assert {name: [round(1e9 * s) for s in seconds] for name, seconds in found.items()} == {
        "near": [70, 95],
        "far": [240, 300],
    }


def test_noise_is_no_distance() -> None:
    """Values that differ by more than a factor of two in all, without a gap."""
    generator = random.Random(11)
    for _ in range(200):
        many = lines(*(generator.uniform(70, 160) for _ in range(30)))
        assert list(by_distance(many)) == ["alike"]
    assert math.isinf(least_far(lines(300, 400)))


def test_cores_that_move_during_a_launch_are_seen() -> None:
    moved = cache_line_seconds(line_record(80, 75, 240))
    assert moved is not None
    assert {name: len(seconds) for name, seconds in by_distance([moved, *lines(75, 80, 250)]).items()} == {
        "near": 2,
        "far": 1,
        "moved": 1,
    }
    assert list(by_distance([moved])) == ["moved"]


def test_without_lines_there_is_no_group() -> None:
    assert by_distance([]) == {}


@pytest.mark.parametrize("value", [None, 1e-7, {}, {"median": 1e-7}, line_record(0.0), line_record(70) | {"p90": "x"}])
def test_a_value_that_is_no_time_counts_as_absent(value: object) -> None:
    assert cache_line_seconds(value) is None
