"""Scaling curves: the figure per node and the efficiency over ranks or nodes, one curve per
variant.

Efficiency is the rate per rank relative to that at the fewest ranks of the curve (the rate per
node, where the number of nodes varies). It is 1 when every rank (node) does as much work per second
as at the start of the curve. Its interval is from launches.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ulp
from statistics import geometric_mean
from typing import Any

from longshore_study.base.json_values import canonical
from longshore_study.compare import contrast
from longshore_study.metrics.launch_metrics import CONTROL, Figure, Measurements, pattern_rank
from longshore_study.store.launch_store import Launch

Factors = dict[str, Any]
AXES = ("nodes", "ranks")
"""The factors over which scaling is shown: the first one that varies."""
_MIB_IN_GB = 2**20 / 1e9
DEFINITIONS = {
    "ranks": "rate per rank, relative to that with the fewest ranks",
    "nodes": "rate per node, relative to that with the fewest nodes",
}


@dataclass(frozen=True)
class Layout:
    ranks: int
    nodes: int


@dataclass(frozen=True)
class ScalingPoint:
    at: int
    layout: Layout
    figures: list[Figure]
    efficiency: float | None = None
    interval: tuple[float, float] | None = None
    why_no_interval: str | None = None

    def per_node(self, figure: Figure) -> float:
        """The figure of a launch in the unit of the curve, limited to the range of numbers."""
        factor, _ = per_node(figure, self.layout)
        return min(max(figure.value * factor, ulp(0.0)), sys.float_info.max)

    @property
    def value(self) -> float:
        return geometric_mean(self.per_node(f) for f in self.figures)

    @property
    def spread(self) -> tuple[float, float]:
        values = [self.per_node(f) for f in self.figures]
        return (min(values), max(values))


@dataclass(frozen=True)
class Curve:
    study: str
    tag: str
    pattern: str
    metric: str
    axis: str
    """"ranks" or "nodes"."""
    unit: str
    factors: Factors
    """All factors except the axis and those that follow from it."""
    points: tuple[ScalingPoint, ...] = ()


def per_node(figure: Figure, layout: Layout) -> tuple[float, str]:
    """The factor that converts a main figure to one per node, and the unit of the result.
    docs/reference/figures.md defines the figures."""
    match figure.key.pattern, figure.key.metric:
        case "halo", "process_bandwidth":
            return layout.ranks / layout.nodes * _MIB_IN_GB, "GB/s"
        case "sort", "keys_per_second":
            return 1.0 / layout.nodes, figure.unit
        case _:
            return 1.0, figure.unit  # stream and gather count all ranks of the node


def curves_of(launches: Iterable[Launch], measured: Measurements) -> list[Curve]:
    """The curves with at least two points of the main metrics that are rates, without the
    controls."""
    layouts = {str(launch.path): layout for launch in launches if (layout := _layout(launch)) is not None}
    groups: dict[tuple[str, str, str, str], list[Figure]] = {}
    for figure in measured.figures:
        key = figure.key
        if figure.main and figure.better == "higher" and key.pattern != CONTROL and figure.launch in layouts:
            groups.setdefault((key.study, figure.tag, key.pattern, key.metric), []).append(figure)
    found: list[Curve] = []
    for (study, tag, pattern, metric), figures in groups.items():
        axis = _axis([layouts[f.launch] for f in figures])
        if axis is not None:
            found += _curves(Curve(study, tag, pattern, metric, axis, "", {}), figures, layouts)
    return sorted(_with_efficiency(found), key=lambda curve: pattern_rank(curve.pattern))


def _layout(launch: Launch) -> Layout | None:
    """As the study asked for it, else as the program recorded it."""
    header = launch.header or {}
    nodes = launch.cell.get("nodes") or header.get("nodes")
    ranks = launch.cell.get("ranks") or header.get("ranks")
    per = launch.cell.get("ranks_per_node") or launch.cell.get("tasks_per_node")
    nodes = len(nodes) if isinstance(nodes, list) else nodes
    if not isinstance(nodes, int):
        nodes = math.ceil(ranks / per) if isinstance(ranks, int) and isinstance(per, int) and per > 0 else 1
    if not isinstance(ranks, int):
        ranks = nodes * per if isinstance(per, int) else nodes
    return Layout(ranks, nodes) if ranks > 0 and nodes > 0 else None


def _axis(layouts: Sequence[Layout]) -> str | None:
    """Nodes, where their number varies and all have the same number of ranks; else ranks."""
    nodes, ranks = {one.nodes for one in layouts}, {one.ranks for one in layouts}
    if len(nodes) > 1 and len({one.ranks / one.nodes for one in layouts}) == 1:
        return "nodes"
    return "ranks" if len(ranks) > 1 else None


def _curves(model: Curve, figures: Sequence[Figure], layouts: Mapping[str, Layout]) -> list[Curve]:
    def at(figure: Figure) -> int:
        return int(getattr(layouts[figure.launch], model.axis))

    factors = [figure.key.shown_factors for figure in figures]
    following = following_factors([(at(f), one) for f, one in zip(figures, factors, strict=True)])
    found: dict[str, tuple[Curve, dict[int, list[Figure]]]] = {}
    for figure, own in zip(figures, factors, strict=True):
        rest = {name: value for name, value in own.items() if name not in following}
        unit = per_node(figure, layouts[figure.launch])[1]
        _, by_place = found.setdefault(canonical(rest), (replace(model, unit=unit, factors=rest), {}))
        by_place.setdefault(at(figure), []).append(figure)
    return [
        replace(
            curve,
            points=tuple(
                ScalingPoint(place, layouts[members[0].launch], members) for place, members in sorted(by_place.items())
            ),
        )
        for curve, by_place in found.values()
        if len(by_place) > 1
    ]


def following_factors(rows: Sequence[tuple[int, Factors]]) -> set[str]:
    """The factors that vary and are determined by the axis, such as a grid of processes."""
    levels: dict[str, dict[int, set[str]]] = {}
    for at, factors in rows:
        for name, value in factors.items():
            levels.setdefault(name, {}).setdefault(at, set()).add(canonical({"": value}))
    return {
        name
        for name, places in levels.items()
        if all(len(one) == 1 for one in places.values()) and len(set().union(*places.values())) > 1
    }


def _with_efficiency(curves: Sequence[Curve]) -> list[Curve]:
    """Compares each point with the first one of its curve; moderates all variances together."""
    pairs = [(curve.points[0].figures, point.figures) for curve in curves for point in curve.points[1:]]
    found = iter(contrast.contrasts(pairs))
    return [
        replace(
            curve,
            points=(
                replace(curve.points[0], efficiency=1.0),
                *(_compared(curve, point, next(found)) for point in curve.points[1:]),
            ),
        )
        for curve in curves
    ]


def _compared(curve: Curve, point: ScalingPoint, one: contrast.Contrast | None) -> ScalingPoint:
    if one is None:
        return point
    factor = _work(curve, point) / _work(curve, curve.points[0])
    interval = (one.interval[0] * factor, one.interval[1] * factor) if one.interval else None
    return replace(point, efficiency=one.ratio * factor, interval=interval, why_no_interval=one.why_no_interval)


def _work(curve: Curve, point: ScalingPoint) -> float:
    """The factor that converts a figure to a rate per rank, or per node where nodes are the
    axis."""
    factor, _ = per_node(point.figures[0], point.layout)
    return factor * (1.0 if curve.axis == "nodes" else point.layout.nodes / point.layout.ranks)
