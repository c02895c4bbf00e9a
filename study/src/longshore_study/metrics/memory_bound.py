"""Figures per node, and their share of what the memory of the machine and the network allow.

Every pattern says which bytes have to move, and where they lie. Control measures how fast memory
and the network move such bytes. docs/explanation/bound.md explains the bound to users.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any

from longshore_study.base.json_values import number_in
from longshore_study.base.units import unit_of
from longshore_study.patterns import CONTROL, facts_of
from longshore_study.patterns.pattern import MemoryUse, product_of
from longshore_study.store import records
from longshore_study.store.records import Record

_Points = tuple[tuple[float, float], ...]
_HOW = ("copy", "lines", "random_lines", "neighbour_copy", "network")


@dataclass(frozen=True, slots=True)
class MemorySpeeds:
    """GB/s of a node whose ranks all use memory at the same time."""

    main_memory: float
    """The copy of buffers larger than the caches."""
    points: Mapping[str, _Points]
    """Sorted pairs of bytes per rank and GB/s, by use of memory. Empty for older records."""

    @property
    def by_size(self) -> bool:
        return "copy" in self.points

    def of(self, use: MemoryUse) -> float | None:
        """The speed for data of this size. None if it was not measured. Between two measured sizes,
        the logarithm of the speed is a line over that of the size."""
        size = use.set_bytes
        speeds = {how: _at(points, size) for how, points in self.points.items()} if size else {}
        copy = speeds.get("copy", self.main_memory)
        lines = max(speeds["lines"], copy) if "lines" in speeds else None  # reading is no slower than copying
        if use.how == "triad":
            return 3 / (2 / copy + 1 / lines) if lines else copy
        return {"copy": copy, "lines": lines}.get(use.how, speeds.get(use.how))

    @property
    def of_neighbours(self) -> MemorySpeeds | None:
        """The same network, and the copy of what the next rank has just written, if measured."""
        points = self.points.get("neighbour_copy")
        network = {how: of_how for how, of_how in self.points.items() if how == "network"}
        return MemorySpeeds(points[-1][1], {"copy": points, **network}) if points else None


def is_copy(result: Record) -> bool:
    return bool(result["pattern"] == CONTROL and result["variant"].get("kernel") == "copy")


def memory_speeds(result: Record, bandwidth: float) -> MemorySpeeds | None:
    """The speeds of a record of control's copy with the figure `bandwidth`, else None."""
    if not is_copy(result):
        return None
    speeds = result.get("speeds")
    return MemorySpeeds(bandwidth, _points(speeds if isinstance(speeds, list) else []))


def _points(speeds: Iterable[object]) -> dict[str, _Points]:
    found: dict[str, dict[float, float]] = {}
    for of_size in speeds:
        size = number_in(of_size, "bytes")
        for how in _HOW:
            speed = number_in(of_size, how)
            if size and speed and math.isfinite(speed) and speed > 0:
                found.setdefault(how, {})[size] = speed
    return {how: tuple(sorted(of_how.items())) for how, of_how in found.items()}


def median_speeds(launches: Iterable[MemorySpeeds]) -> MemorySpeeds:
    """REQUIRES: at least one launch."""
    launches = list(launches)
    found: dict[str, dict[float, list[float]]] = {}
    for speeds in launches:
        for how, points in speeds.points.items():
            for size, speed in points:
                found.setdefault(how, {}).setdefault(size, []).append(speed)
    return MemorySpeeds(
        median(speeds.main_memory for speeds in launches),
        {how: tuple((size, median(of_size)) for size, of_size in sorted(found[how].items())) for how in found},
    )


def _at(points: _Points, size: float) -> float:
    if size <= points[0][0]:
        return points[0][1]
    for (below, before), (above, after) in pairwise(points):
        if size <= above:
            part = math.log(size / below) / math.log(above / below)
            return before * math.pow(after / before, part)
    return points[-1][1]


def share_of_bound(
    pattern: str, main_figure: float, factors: Mapping[str, Any], nodes: int | None, speeds: MemorySpeeds
) -> float | None:
    """The least time in which memory and the network can move the bytes, divided by the time of the
    figure: a value of the pattern's main metric in its own unit. `nodes`: of the launch; if None,
    from the factor `ranks_per_node`, and else one node. The result is None if the factors do not
    determine the bytes, or if the speed of a network that is needed was not measured."""
    facts = facts_of(pattern)
    if facts.traffic is None:
        return None
    metric = facts.metrics[facts.main]
    nodes = nodes or _nodes_of(factors)
    share = {"node": 1.0, "rank": _ranks_of_node(factors, nodes)}.get(metric.per, 1.0 / nodes)
    uses = [(use, speeds.of(use)) for use in facts.traffic({**factors, "nodes": nodes})]
    if not share or any(use.how == "network" and not speed for use, speed in uses):
        return None
    # The slowest of the uses counts: a machine can run them at the same time.
    seconds = [use.bytes / speed for use, speed in uses if speed]
    return main_figure * (unit_of(metric.unit).scale / 1e9) * share * max(seconds) if seconds else None


def factor_to_node(per: str, unit: str, ranks: int, nodes: int) -> tuple[float, str]:
    """The factor that turns a figure of a rank, a node or all ranks into that of one node, and the
    unit of the result."""
    if per == "node":
        return 1.0, unit
    if not per:
        return 1.0 / nodes, unit
    dimension, scale = unit_of(unit)
    return (ranks / nodes * (scale / 1e9), "GB/s") if dimension == "B/s" else (ranks / nodes, unit)


def _ranks_of_node(factors: Mapping[str, Any], nodes: int) -> float | None:
    ranks = factors.get("ranks_per_node") or product_of(factors.get("ranks"), 1 / nodes)
    return ranks if isinstance(ranks, int | float) else None


def _nodes_of(factors: Mapping[str, Any]) -> int:
    ranks, ranks_per_node = factors.get("ranks"), factors.get("ranks_per_node")
    if isinstance(ranks, int) and isinstance(ranks_per_node, int) and ranks_per_node > 0:
        return records.node_count(ranks, ranks_per_node)
    return 1
