"""Scaling curves: for each variant, the figure per node and the efficiency (DEFINITIONS), over
ranks or nodes. The interval of an efficiency is computed from launches."""

import math
import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ulp
from statistics import geometric_mean
from typing import Any

from longshore_study.base.groups import grouped
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
    study: str
    tag: str
    pattern: str
    metric: str
    axis: str
    unit: str
    factors: Factors
    """All factors except the axis and the factors that it determines."""
    points: tuple[ScalingPoint, ...]


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
    shown = [
        f for f in measured.figures
        if f.main and f.better == "higher" and f.key.pattern != CONTROL and f.launch in layouts
    ]  # fmt: skip
    groups = grouped(shown, lambda f: (f.simulated, (f.key.study, f.tag, f.key.pattern, f.key.metric)))
    curves: list[Curve] = []
    for (_, names), figures in groups.items():
        axis = axis_of([layouts[f.launch] for f in figures])
        if axis is not None:
            curves += _curves(names, axis, figures, layouts)
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


def _curves(
    names: tuple[str, str, str, str], axis: str, figures: Sequence[Figure], layouts: Mapping[str, Layout]
) -> Iterator[Curve]:
    """The curves of one pattern. `names`: study, tag, pattern and metric."""

    def at(figure: Figure) -> int:
        return int(getattr(layouts[figure.launch], axis))

    def own_factors(member: tuple[Figure, Factors]) -> Factors:
        return {name: value for name, value in member[1].items() if name not in following}

    members = [(figure, figure.key.shown_factors) for figure in figures]
    following = following_factors([(at(figure), factors) for figure, factors in members])
    for variant in grouped(members, lambda member: canonical(own_factors(member))).values():
        by_size = grouped((figure for figure, _ in variant), at)
        if len(by_size) > 1:
            points = tuple(ScalingPoint(n, layouts[of_n[0].launch], of_n) for n, of_n in sorted(by_size.items()))
            first = variant[0][0]
            unit = conversion_to_node(first, layouts[first.launch])[1]
            yield Curve(*names, axis, unit, own_factors(variant[0]), points)


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
