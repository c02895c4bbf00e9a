"""The speed of memory for data of a size, from records of control's copy."""

from __future__ import annotations

from typing import Any

import pytest

from longshore_study.metrics.memory_bound import MemorySpeeds, median_speeds, memory_speeds, share_of_bound
from longshore_study.patterns.pattern import MemoryUse

CUBE = {
    "ranks": 2, "domain": [64, 64, 64], "halo": 1, "fields": 1, "type": "float", "periodic": [1, 1, 1],
    "payload_bytes": 4 * (66**3 - 64**3),
}  # fmt: skip
SPEEDS = [
    {"bytes": 1 << 15, "copy": 400.0, "lines": 800.0, "random_lines": 200.0, "neighbour_copy": 40.0, "network": 9.0},
    {"bytes": 120_000, "network": 6.0},
    {"bytes": 1 << 17, "copy": 100.0, "lines": 50.0, "random_lines": 8.0, "neighbour_copy": 30.0},
    {"bytes": 1 << 29, "copy": 12.5},
]


def control(speeds: object = None, kernel: str = "copy") -> dict[str, Any]:
    record: dict[str, Any] = {"record": "result", "pattern": "control", "variant": {"kernel": kernel}}
    return record | ({} if speeds is None else {"speeds": speeds})


def speeds_of(speeds: object = None, bandwidth: float = 10.0) -> MemorySpeeds:
    found = memory_speeds(control(speeds), bandwidth)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("how", "size", "speed"),
    [
        ("copy", 1 << 15, 400.0),
        ("copy", 1 << 16, 200.0),  # between two sizes: the geometric mean in the geometric middle
        ("copy", 1 << 17, 100.0),
        ("copy", 1 << 23, 100.0 * 8 ** (-6 / 12)),
        ("copy", 1000, 400.0),
        ("copy", 1 << 40, 12.5),
        ("copy", None, 10.0),
        ("random_lines", 1 << 15, 200.0),
        ("random_lines", 1 << 30, 8.0),
        ("random_lines", None, None),
        ("lines", 1 << 15, 800.0),
        ("lines", 1 << 17, 100.0),  # not slower than copying
        ("triad", 1 << 15, 3 / (2 / 400 + 1 / 800)),
        ("network", 1 << 20, 6.0),
    ],
)
def test_a_speed_is_that_of_the_size(how: Any, size: int | None, speed: float | None) -> None:
    found = speeds_of(SPEEDS).of(MemoryUse(how, 1.0, size))
    assert found == (None if speed is None else pytest.approx(speed))


@pytest.mark.parametrize("speeds", [None, [], "no", [7, {"bytes": None, "copy": 5.0}, {"bytes": 8, "copy": None}]])
def test_an_older_record_has_the_speed_of_main_memory(speeds: object) -> None:
    found = speeds_of(speeds)
    assert not found.by_size
    assert {found.of(MemoryUse(how, 1.0, size)) for how in ("copy", "triad") for size in (100, None)} == {10.0}
    assert found.of(MemoryUse("random_lines", 1.0, 100)) is None
    assert found.of_neighbours is None


def test_only_the_copy_has_speeds() -> None:
    assert memory_speeds(control(SPEEDS, "pingpong"), 1.0) is None
    assert memory_speeds(control(SPEEDS) | {"pattern": "stream"}, 1.0) is None


def test_launches_give_the_median_at_each_size() -> None:
    launches = [speeds_of([{"bytes": 8, "copy": copy}], bandwidth) for copy, bandwidth in ((1, 9), (5, 7), (4, 8))]
    together = median_speeds([*launches, speeds_of(None, 8.0)])
    assert together.main_memory == 8.0
    assert together.of(MemoryUse("copy", 1.0, 8)) == 4.0


@pytest.mark.parametrize(
    ("pattern", "factors", "slowest"),
    [
        ("stream", {"kernel": "copy", "elements": 1000, "type": "double"}, MemoryUse("copy", 1, 16_000)),
        ("stream", {"kernel": "add", "elements": 1000, "type": "float"}, MemoryUse("triad", 1, 12_000)),
        ("gather", {"requests": 9000, "table": 4000}, MemoryUse("random_lines", 64 / 16, 32_000)),
        ("gather", {"requests": 9000, "table": 9000, "operation": "scatter"}, MemoryUse("random_lines", 8, 72_000)),
        ("gather", {"requests": 9000, "table": 9, "index_pattern": "zipf"}, MemoryUse("copy", 1, 16 * 9000)),
        ("halo", {"ranks": 2, "operation": "accumulate", "payload_bytes": 9000}, MemoryUse("copy", 3, 18_000)),
        # A line for each of 64 x 64 rows, read and written, and 2 bytes for each other byte.
        ("halo", CUBE, MemoryUse("copy", (4096 * 128 + 2 * 68_640) / 101_408, 4096 * 64 + 2 * 68_640)),
        ("halo", CUBE | {"fields": 3, "payload_bytes": 3 * 101_408}, MemoryUse("copy", 6.5242, 3 * 399_424)),
        ("halo", CUBE | {"operation": "accumulate"}, MemoryUse("copy", 7.2006, 399_424)),
        # The ends of a row are longer than a line.
        ("halo", CUBE | {"halo": 16, "payload_bytes": 2_500_000}, MemoryUse("copy", 2, 5_000_000)),
        ("halo", CUBE | {"periodic": [0, 1, 1]}, MemoryUse("copy", 2, 2 * 101_408)),
        ("halo", CUBE | {"centring": "vertex"}, MemoryUse("copy", 2, 2 * 101_408)),
        ("halo", CUBE | {"boxes": 8}, MemoryUse("copy", 2, 2 * 101_408)),
        ("ghost", {"mesh": "band", "payload_bytes": 9000}, MemoryUse("copy", 2, 18_000)),
        # Nearly every ghost needs a line of its own. As many ghosts as lines need 1 - 1/e of them.
        (
            "ghost",
            {"mesh": "random", "elements": 1 << 30, "ranks": 2, "type": "float", "payload_bytes": 40_000},
            MemoryUse("lines", 16, 640_000),
        ),
        (
            "ghost",
            {"mesh": "random", "elements": 40_000, "ranks": 9, "reach": 1, "payload_bytes": 80_000},
            MemoryUse("lines", 8 * 0.63212, 640_000 * 0.63212),
        ),
        ("sort", {"keys": 8000, "exchange": "direct", "payload": 4}, MemoryUse("copy", 5 * 8, 3 * 64_000)),
        ("sort", {"keys": 8000, "exchange": "put", "scaling": "strong", "ranks": 4}, MemoryUse("copy", 28, 24_000)),
    ],
)
def test_the_bound_of_a_pattern_is_its_slowest_use_of_memory(
    pattern: str, factors: dict[str, Any], slowest: MemoryUse
) -> None:
    speeds = speeds_of(SPEEDS)
    speed = speeds.of(slowest)
    assert speed is not None
    units = {"halo": 2 * 2**20 / 1e9, "sort": 1e-9}.get(pattern, 1.0)  # MiB of two ranks; keys
    share = share_of_bound(pattern, 1.0, factors, 1, speeds)
    assert share == pytest.approx(units * slowest.bytes / speed, rel=1e-3)


SENT = {"payload_bytes": 80_000, "offnode_bytes": 60_000}


@pytest.mark.parametrize(
    ("pattern", "factors", "sent"),
    [
        ("halo", {}, 0.75),
        ("ghost", {}, 0.75),
        ("sort", {"keys": 20_000, "exchange": "put"}, 4 * 0.75),
        # Of three nodes, two thirds of all requests go to another one: an offset and a value.
        ("gather", {"requests": 900, "payload_bytes": 40_000}, 12 / 16 * 2 / 3),
        ("gather", {"requests": 900, "operation": "histogram"}, 4 / 8 * 2 / 3),
        ("gather", {"requests": 900, "payload_bytes": 240_000}, 8 / 16 / 4),  # requests were combined
    ],
)
def test_between_nodes_the_slower_of_network_and_memory_is_the_bound(
    pattern: str, factors: dict[str, Any], sent: float
) -> None:
    levels = {"ranks": 3} | SENT | factors
    units = {"halo": 2**20 / 1e9, "sort": 1e-9 / 3}.get(pattern, 1.0)  # MiB of the rank of a node; keys
    share = share_of_bound(pattern, 1.0, levels, 3, speeds_of(SPEEDS))
    assert share == pytest.approx(units * sent / 6.0)
    fast = [of_size | ({"network": 6000.0} if "network" in of_size else {}) for of_size in SPEEDS]
    by_memory = share_of_bound(pattern, 1.0, levels | {"offnode_bytes": 0}, 3, speeds_of(fast))
    assert by_memory is not None
    assert share_of_bound(pattern, 1.0, levels, 3, speeds_of(fast)) == by_memory
    without = [{name: speed for name, speed in of_size.items() if name != "network"} for of_size in SPEEDS]
    assert share_of_bound(pattern, 1.0, levels, 3, speeds_of(without)) is None
