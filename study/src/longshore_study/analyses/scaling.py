"""Scaling curves: for each variant, the figure per node and the efficiency, over ranks or nodes.

Efficiency is the rate per rank, relative to the rate per rank of the first point of the curve,
which has the fewest ranks. If the number of nodes varies, rates are per node instead. The interval
of an efficiency is computed from launches.
"""

import math
import sys
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ulp
from statistics import geometric_mean
from typing import Any

from longshore_study.base.json_values import canonical
from longshore_study.compare import contrast
from longshore_study.metrics.launch_metrics import Figure, Measurements, measure
from longshore_study.metrics.memory_bound import factor_to_node
from longshore_study.patterns import CONTROL, PATTERNS, pattern_rank
from longshore_study.store.launch_store import Launch

Factors = dict[str, Any]
AXES = ("nodes", "ranks")
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
    """The figures of a curve at one number of ranks or nodes."""

    at: int
    """The number of ranks or nodes, whichever is the axis."""
    layout: Layout
    figures: list[Figure]
    efficiency: float | None = None
    interval: tuple[float, float] | None = None
    why_no_interval: str | None = None

    def per_node(self, figure: Figure) -> float:
        """The figure of a launch in the unit of the curve, limited to the range of `float`."""
        factor, _ = conversion_to_node(figure, self.layout)
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
    """A variant over the number of ranks or nodes."""

    study: str
    tag: str
    pattern: str
    metric: str
    axis: str
    """"ranks" or "nodes"."""
    unit: str
    factors: Factors
    """All factors except the axis and the factors that it determines."""
    points: tuple[ScalingPoint, ...] = ()


def conversion_to_node(figure: Figure, layout: Layout) -> tuple[float, str]:
    """The factor from a main figure to one per node (1 for unknown patterns), and the unit."""
    if figure.key.pattern not in PATTERNS:
        return 1.0, figure.unit
    return factor_to_node(figure.per, figure.unit, layout.ranks, layout.nodes)


def curves_of(launches: Iterable[Launch], measured: Measurements | None = None) -> list[Curve]:
    """The curves with at least two points. Only main metrics that are rates have curves, and
    controls have none. `measured` has the figures of the launches, if they are known."""
    launches = list(launches)
    measured = measured or measure(launches)
    layouts = {str(launch.path): layout for launch in launches if (layout := layout_of(launch)) is not None}
    groups: dict[tuple[str, str, str, str, str | None], list[Figure]] = {}
    for figure in measured.figures:
        key = figure.key
        if figure.main and figure.better == "higher" and key.pattern != CONTROL and figure.launch in layouts:
            groups.setdefault((key.study, figure.tag, key.pattern, key.metric, figure.simulated), []).append(figure)
    curves: list[Curve] = []
    for (study, tag, pattern, metric, _), figures in groups.items():
        axis = axis_of([layouts[f.launch] for f in figures])
        if axis is not None:
            curves += _curves(Curve(study, tag, pattern, metric, axis, unit="", factors={}), figures, layouts)
    return sorted(_with_efficiency(curves), key=lambda curve: pattern_rank(curve.pattern))


def layout_of(launch: Launch) -> Layout | None:
    """The layout that the study requested, or that the program recorded if there was no request."""
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


def axis_of(layouts: Sequence[Layout]) -> str | None:
    """The axis: nodes if they vary and the ranks per node do not, else ranks if they vary."""
    nodes, ranks = {layout.nodes for layout in layouts}, {layout.ranks for layout in layouts}
    if len(nodes) > 1 and len({layout.ranks / layout.nodes for layout in layouts}) == 1:
        return "nodes"
    return "ranks" if len(ranks) > 1 else None


def _curves(model: Curve, figures: Sequence[Figure], layouts: Mapping[str, Layout]) -> list[Curve]:
    """The curves of one pattern. Each is `model` with its own factors and points."""

    def at(figure: Figure) -> int:
        return int(getattr(layouts[figure.launch], model.axis))

    all_factors = [figure.key.shown_factors for figure in figures]
    following = following_factors([(at(f), factors) for f, factors in zip(figures, all_factors, strict=True)])
    curves: dict[str, tuple[Curve, dict[int, list[Figure]]]] = {}
    for figure, factors in zip(figures, all_factors, strict=True):
        rest = {name: value for name, value in factors.items() if name not in following}
        unit = conversion_to_node(figure, layouts[figure.launch])[1]
        _, points = curves.setdefault(canonical(rest), (replace(model, unit=unit, factors=rest), {}))
        points.setdefault(at(figure), []).append(figure)

    def points_of(members: Mapping[int, list[Figure]]) -> tuple[ScalingPoint, ...]:
        return tuple(ScalingPoint(n, layouts[of_n[0].launch], of_n) for n, of_n in sorted(members.items()))

    return [replace(curve, points=points_of(members)) for curve, members in curves.values() if len(members) > 1]


def following_factors(rows: Sequence[tuple[Hashable, Mapping[str, Any]]]) -> set[str]:
    """The factors that vary with the axis and are determined by the axis, such as a grid of
    processes. `rows` has the value on the axis and the factors of each figure."""
    levels: dict[str, dict[Hashable, set[str]]] = {}
    for at, factors in rows:
        for name, value in factors.items():
            levels.setdefault(name, {}).setdefault(at, set()).add(canonical({"": value}))
    return {
        name
        for name, by_axis in levels.items()
        if all(len(at_point) == 1 for at_point in by_axis.values()) and len(set().union(*by_axis.values())) > 1
    }


def _with_efficiency(curves: Sequence[Curve]) -> list[Curve]:
    """Compares each point with the first of its curve; all variances are moderated together."""
    pairs = [(curve.points[0].figures, point.figures) for curve in curves for point in curve.points[1:]]
    found = iter(contrast.contrasts(pairs))
    return [
        replace(
            curve, points=(replace(first, efficiency=1.0), *(_compared(curve, point, next(found)) for point in rest))
        )
        for curve in curves
        for first, *rest in [curve.points]
    ]


def _compared(curve: Curve, point: ScalingPoint, found: contrast.Contrast | None) -> ScalingPoint:
    if found is None:
        return point
    factor = _rate_factor(curve, point) / _rate_factor(curve, curve.points[0])
    interval = (found.interval[0] * factor, found.interval[1] * factor) if found.interval else None
    return replace(point, efficiency=found.ratio * factor, interval=interval, why_no_interval=found.why_no_interval)


def _rate_factor(curve: Curve, point: ScalingPoint) -> float:
    """The factor that converts a figure to the rate per rank, or per node if nodes are the axis."""
    factor, _ = conversion_to_node(point.figures[0], point.layout)
    return factor * (1.0 if curve.axis == "nodes" else point.layout.nodes / point.layout.ranks)
