"""The section of scaling over ranks or nodes: the figure per node and the efficiency, one curve per
strategy or layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from longshore_study.analyses import scaling
from longshore_study.analyses.scaling import DEFINITIONS, Curve, per_node
from longshore_study.analyses.steps import agree
from longshore_study.base.json_values import canonical
from longshore_study.base.texts import counted, plain_number, quantity, share
from longshore_study.metrics.launch_metrics import Measurements
from longshore_study.report.bounds import Bound, bound_for, bounds_text
from longshore_study.report.curves import PANELS_SHOWN, Panel, Series, SeriesPoint, curve_legend, draw_panel, looks_of
from longshore_study.report.facts import Facts
from longshore_study.report.labels import SPEAKING, Naming, level_text, naming, pattern_title
from longshore_study.report.marks import SERIES_COUNT, Axes
from longshore_study.report.markup import Child, Element, element
from longshore_study.report.scales import Scale, for_figures, linear_from_zero

Sided = tuple[str, Curve]


def scaling_section(facts: Facts) -> Element | None:
    """None where there is only one number of ranks and of nodes."""
    found: dict[tuple[str, str, str], list[Sided]] = {}
    for side in facts.groups:
        measured = Measurements(figures=list(facts.main_measured.get(side.name, ())))
        for curve in scaling.curves_of(side.launches, measured):
            found.setdefault((curve.pattern, curve.axis, curve.unit), []).append((side.name, curve))
    if not found:
        return None
    blocks = [_block(facts, members) for members in found.values()]
    return element("section", element("h2", "Scaling"), blocks, id="scaling")


def _block(facts: Facts, members: Sequence[Sided]) -> Element:
    model = members[0][1]
    panels = _panels(facts, members)
    efficiencies = [_efficiencies(panel, group) for panel, group in panels]
    sides = list(dict.fromkeys(side for side, _ in members))
    sizes = sorted({point.at for _, curve in members for point in curve.points})
    names = naming(_named_factors(curve) for _, curve in members)
    bounds = [bound for panel, _ in panels for _, bound in panel.bounds]
    note = f"One curve per {'variant' if not _varying(panels) else 'choice'}; the fastest panels come first."
    note += " Dot: geometric mean over launches; the vertical line spans them."
    if len(sides) > 1:
        note += f" Dashed and open: {sides[0]}."
    if bounds:
        note += f" The dashed line is {bounds_text(bounds)}."
    if names.constant:
        note += f" All: {names.constant_text}."
    rate_axes = _axes(model, sizes, _rate_scale(panels), quantity(model.unit, [_largest(panels)]).name + " per node")
    efficiency_note = f"Efficiency: {DEFINITIONS[model.axis]}. {_intervals(curve for _, curve in members)}"
    # The axis follows the values. A wide interval is cut off, because it would leave no room for
    # the curves.
    whole = linear_from_zero([1.0, *(p.value for panel in efficiencies for s in panel.series for p in s.points)])
    efficiency_axes = _axes(model, sizes, whole, "efficiency")
    return element(
        "div",
        element("h3", f"{pattern_title(model.pattern)} over {model.axis}"),
        element("p", note, class_="note"),
        curve_legend([panel for panel, _ in panels]),
        element("h4", f"{model.unit} per node"),
        _small_multiples([draw_panel(rate_axes, panel, f"{model.unit} per node") for panel, _ in panels]),
        element("h4", "Efficiency"),
        element("p", efficiency_note, class_="note"),
        _small_multiples([draw_panel(efficiency_axes, panel, "efficiency", "ideal") for panel in efficiencies]),
        class_="pattern",
    )


def _intervals(curves: Iterable[Curve]) -> str:
    """Explains the vertical lines of efficiencies, or why there are none."""
    points = [point for curve in curves for point in curve.points[1:]]
    if any(point.interval for point in points):
        return "The vertical lines are 95 % intervals from launches."
    reasons = sorted({point.why_no_interval for point in points if point.why_no_interval})
    return f"There are no intervals: {'; '.join(reasons)}." if reasons else ""


def _small_multiples(drawn: Sequence[Element]) -> list[Child]:
    single = " single" if len(drawn) == 1 else ""
    rest = drawn[PANELS_SHOWN:]
    return [
        element("div", drawn[:PANELS_SHOWN], class_="panels" + single),
        element(
            "details",
            element("summary", counted(len(rest), "more panel")),
            element("div", rest, class_="panels"),
        )
        if rest
        else None,
    ]


def _named_factors(curve: Curve) -> dict[str, Any]:
    return {name: value for name, value in curve.factors.items() if value not in ({}, None)}


def _varying(panels: Sequence[tuple[Panel, list[Sided]]]) -> bool:
    return len({series.name for panel, _ in panels for series in panel.series}) > 1


def _panels(facts: Facts, members: Sequence[Sided]) -> list[tuple[Panel, list[Sided]]]:
    """The panels with their curves in the order of the series; the one with the highest figure
    first."""
    rest = [_named_factors(curve) for _, curve in members]
    names: Naming = naming(rest)
    chosen = series_factor(rest, names.varying)
    looks = looks_of(rest, chosen)
    sides = list(dict.fromkeys(side for side, _ in members))
    dashed = sides[0] if len(sides) > 1 else None
    grouped: dict[str, list[Sided]] = {}
    for side, curve in members:
        grouped.setdefault(", ".join(names.parts(_named_factors(curve), without=[chosen])), []).append((side, curve))
    found = []
    for title, group in grouped.items():
        ordered = sorted(group, key=lambda one: (looks.get(_name(one[1], chosen), 0), facts.sides.index(one[0])))
        series = tuple(_series(side, curve, looks, chosen, dashed=dashed == side) for side, curve in ordered)
        found.append((Panel(title, series, _bounds(facts, ordered)), ordered))
    return sorted(found, key=lambda one: -_largest([one]))


def series_factor(rest: Sequence[Mapping[str, Any]], varying: Sequence[str]) -> str:
    """The factor whose levels become the curves of a panel; "" where nothing varies.

    Of the factors with few enough levels for the shapes, it is the one that leaves the fewest
    panels, because published layers are no full cross product.
    """

    def panels_left(name: str) -> int:
        return len({canonical({k: v for k, v in one.items() if k != name}) for one in rest})

    fitting = [name for name in varying if len({str(one.get(name)) for one in rest}) <= SERIES_COUNT]
    return min(fitting, key=lambda name: (panels_left(name), name not in SPEAKING), default="")


def _name(curve: Curve, factor: str) -> str:
    return level_text(factor, curve.factors[factor]) if factor in _named_factors(curve) else "all"


def _series(side: str, curve: Curve, looks: Mapping[str, int], chosen: str, *, dashed: bool) -> Series:
    points = tuple(
        SeriesPoint(point.at, point.value, *point.spread, launches=len(point.figures)) for point in curve.points
    )
    name = _name(curve, chosen)
    return Series(name, side, looks.get(name, 0), dashed, f"{curve.unit} per node", points)


def _efficiencies(panel: Panel, group: Sequence[Sided]) -> Panel:
    """The panel of efficiencies: the first point of each curve is 1 by definition."""
    series = []
    for one, (_, curve) in zip(panel.series, group, strict=True):
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
        series.append(Series(one.name, one.side, one.look, one.dashed, "", tuple(points)))
    sizes = sorted({point.size for one in series for point in one.points})
    return Panel(panel.title, tuple(series), tuple((size, Bound(1.0, "", 1.0)) for size in sizes))


def _bounds(facts: Facts, group: Sequence[Sided]) -> tuple[tuple[float, Bound], ...]:
    """The measured memory copy, per node as the curves are."""
    found: dict[float, Bound] = {}
    for side, curve in group:
        for point in curve.points:
            mine = [
                f
                for f in facts.of_pattern(curve.pattern)
                if f.side == side and agree(curve.factors, f.factors) and f.factors.get(curve.axis) == point.at
            ]
            bound = bound_for(facts, mine)
            if bound is None:
                continue
            # The bound of halo is per process; all other bounds are per node already.
            factor = per_node(point.figures[0], point.layout)[0] if curve.pattern == "halo" else 1.0
            known = found.get(point.at)
            if known is None or factor * bound.value > known.value:
                found[point.at] = Bound(factor * bound.value, curve.unit, bound.copy)
    return tuple(sorted(found.items()))


def _axes(model: Curve, sizes: Sequence[int], y: Scale, y_title: str) -> Axes:
    x = log2_scale(sizes)
    shown_as = quantity("", [y.high])
    return Axes(
        x=x,
        y=y,
        x_title=f"{model.axis}, log axis",
        y_title=y_title + (", log axis" if y.logarithmic else ""),
        x_ticks=x.ticks_at([float(size) for size in sizes], plain_number),
        y_ticks=y.ticks(shown_as.tick, 5),
    )


def log2_scale(sizes: Sequence[int]) -> Scale:
    """A logarithmic axis with a margin at both ends."""
    low, high = min(sizes), max(sizes)
    air = (high / low) ** 0.06
    return Scale(low / air, high * air, logarithmic=True)


def _rate_scale(panels: Sequence[tuple[Panel, list[Sided]]]) -> Scale:
    values = [v for panel, _ in panels for s in panel.series for p in s.points for v in (p.low, p.high)]
    return for_figures([*values, *(bound.value for panel, _ in panels for _, bound in panel.bounds)])


def _largest(panels: Sequence[tuple[Panel, list[Sided]]]) -> float:
    return max(point.value for panel, _ in panels for series in panel.series for point in series.points)
