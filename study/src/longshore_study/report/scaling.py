"""The section of scaling over ranks or nodes: the figure per node and the efficiency."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from longshore_study.analyses import scaling
from longshore_study.analyses.scaling import DEFINITIONS, Curve, conversion_to_node
from longshore_study.analyses.steps import agree
from longshore_study.base.texts import plain_number, quantity, share
from longshore_study.metrics.launch_metrics import Measurements
from longshore_study.report.bounds import Bound, bound_for, bounds_text
from longshore_study.report.facts import Facts
from longshore_study.report.labels import naming, pattern_title
from longshore_study.report.marks import Axes
from longshore_study.report.markup import Element, block, element, remark, section
from longshore_study.report.panels import Panel, SeriesPoint, arranged, curve_legend, small_multiples
from longshore_study.report.scales import Scale, for_figures, linear_from_zero, log_around, titled

SideCurve = tuple[str, Curve]
"""A curve with the name of its side."""


def scaling_section(facts: Facts) -> Element | None:
    by_axes: dict[tuple[str, str, str], list[SideCurve]] = {}
    for side in facts.stored_sides:
        measured = Measurements(figures=list(facts.of_side(side.name)))
        for curve in scaling.curves_of(side.launches, measured):
            by_axes.setdefault((curve.pattern, curve.axis, curve.unit), []).append((side.name, curve))
    blocks = [_block(facts, members) for members in by_axes.values()]
    return section("scaling", "Scaling", blocks) if blocks else None


def _block(facts: Facts, members: Sequence[SideCurve]) -> Element:
    first = members[0][1]
    panels = _panels(facts, members)
    drawn = [panel for panel, _ in panels]
    efficiencies = [_efficiencies(panel, group) for panel, group in panels]
    sizes = sorted({point.at for _, curve in members for point in curve.points})
    names = naming(_named_factors(curve) for _, curve in members)
    bounds = [bound for panel in drawn for _, bound in panel.bounds]
    choices = {series.name for panel in drawn for series in panel.series}
    note = f"One curve per {'choice' if len(choices) > 1 else 'variant'}; the fastest panels come first."
    note += " Dot: geometric mean over launches; the vertical line spans them."
    if len(facts.sides) > 1:
        note += f" Dashed and open: {facts.sides[0]}."
    if bounds:
        note += f" The dashed line is {bounds_text(bounds)}."
    note += names.constant_note
    rate_unit = quantity(first.unit, [_largest(panels)]).name
    ends = [v for panel in drawn for s in panel.series for p in s.points for v in (p.low, p.high)]
    rate_scale = for_figures([*ends, *(bound.value for bound in bounds)])
    rate_axes = size_axes(first.axis, sizes, rate_scale, f"{rate_unit} per node")
    efficiency_note = f"Efficiency: {DEFINITIONS[first.axis]}. {_intervals(curve for _, curve in members)}"
    # The axis spans the values and not their intervals, because a wide interval would flatten the
    # curves.
    scale = linear_from_zero([1.0, *(p.value for panel in efficiencies for s in panel.series for p in s.points)])
    efficiency_axes = size_axes(first.axis, sizes, scale, "efficiency")
    return block(
        f"{pattern_title(first.pattern)} over {first.axis}",
        remark(note),
        curve_legend(drawn),
        element("h4", f"{first.unit} per node"),
        small_multiples(rate_axes, drawn, f"{first.unit} per node"),
        element("h4", "Efficiency"),
        remark(efficiency_note),
        small_multiples(efficiency_axes, efficiencies, "efficiency", "ideal"),
    )


def _intervals(curves: Iterable[Curve]) -> str:
    """Explains the vertical lines of efficiencies, or why there are none."""
    points = [point for curve in curves for point in curve.points[1:]]
    if any(point.interval for point in points):
        return "The vertical lines are 95 % intervals from launches."
    reasons = sorted({point.why_no_interval for point in points if point.why_no_interval})
    return f"There are no intervals: {'; '.join(reasons)}." if reasons else ""


def _named_factors(curve: Curve) -> dict[str, Any]:
    return {name: value for name, value in curve.factors.items() if value not in ({}, None)}


def _panels(facts: Facts, members: Sequence[SideCurve]) -> list[tuple[Panel, list[SideCurve]]]:
    """The panels with their curves, that with the highest figure first."""
    entries = [(_named_factors(curve), side, (side, curve)) for side, curve in members]
    panels = []
    for title, lines in arranged(entries, facts.sides):
        ordered = [member for _, of_series in lines for member in of_series]
        series = [
            replace(
                line, unit=f"{curve.unit} per node",
                points=tuple(SeriesPoint(at.at, at.value, *at.spread, len(at.figures)) for at in curve.points),
            )
            for line, of_series in lines
            for _, curve in of_series
        ]  # fmt: skip
        panels.append((Panel(title, tuple(series), _bounds(facts, ordered)), ordered))
    return sorted(panels, key=lambda panel: -_largest([panel]))


def _efficiencies(panel: Panel, group: Sequence[SideCurve]) -> Panel:
    """The panel of efficiencies: the first point of each curve is 1 by definition."""
    efficiencies = []
    for series, (_, curve) in zip(panel.series, group, strict=True):
        points = []
        for point in curve.points:
            if point.efficiency is None:
                continue
            low, high = point.interval or (point.efficiency, point.efficiency)
            tooltip = f"{share(point.efficiency)} at {plain_number(point.at)} {curve.axis}"
            if point.interval:
                tooltip += f" (95 % interval {share(low)} to {share(high)})"
            elif point.why_no_interval:
                tooltip += f" ({point.why_no_interval})"
            points.append(SeriesPoint(point.at, point.efficiency, low, high, len(point.figures), tooltip))
        efficiencies.append(replace(series, unit="", points=tuple(points)))
    sizes = sorted({point.size for series in efficiencies for point in series.points})
    return Panel(panel.title, tuple(efficiencies), tuple((size, Bound(1.0, "")) for size in sizes))


def _bounds(facts: Facts, group: Sequence[SideCurve]) -> tuple[tuple[float, Bound], ...]:
    """The measured memory copy per node, in the unit of the curves."""
    bounds: dict[float, Bound] = {}
    for side, curve in group:
        for point in curve.points:
            figures = [
                f
                for f in facts.of_pattern(curve.pattern)
                if f.side == side and agree(curve.factors, f.factors) and f.factors.get(curve.axis) == point.at
            ]
            bound = bound_for(facts, figures)
            if bound is None:
                continue
            factor, _ = conversion_to_node(point.figures[0], point.layout)
            known = bounds.get(point.at)
            if known is None or factor * bound.value > known.value:
                bounds[point.at] = replace(bound, value=factor * bound.value, unit=curve.unit)
    return tuple(sorted(bounds.items()))


def size_axes(
    axis: str, sizes: Sequence[int], y: Scale, y_title: str, y_label: Callable[[float], str] | None = None
) -> Axes:
    """The axes of figures over ranks or nodes. `y_label` writes the values of y."""
    x = log2_scale(sizes)
    x_ticks = x.ticks_at([float(size) for size in sizes], plain_number)
    y_ticks = y.ticks(y_label or quantity("", [y.high]).tick, 5)
    return Axes(x, y, titled(axis, x), titled(y_title, y), x_ticks, y_ticks)


def log2_scale(sizes: Sequence[int]) -> Scale:
    return log_around(sizes, (max(sizes) / min(sizes)) ** 0.06)


def _largest(panels: Sequence[tuple[Panel, list[SideCurve]]]) -> float:
    return max(point.value for panel, _ in panels for series in panel.series for point in series.points)
