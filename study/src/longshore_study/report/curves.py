"""Curves of figures over a size factor, with the bound of the machine. Lines join only levels of
numeric factors. scaling.py draws curves over ranks and nodes with the same panels."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

from longshore_study.analyses.scaling import AXES, following_factors
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import number_in
from longshore_study.base.texts import counted, figure, name_text, plain_number, power_of_two, quantity
from longshore_study.patterns import CONTROL, PATTERNS
from longshore_study.report.bounds import Bound, bound_for, bounds_text
from longshore_study.report.facts import Facts, PlottedFigure, by_key, median_value
from longshore_study.report.labels import SELF_EXPLAINING, level_text, metric_title, naming
from longshore_study.report.marks import SERIES_COUNT, Axes, chart, legend, line, mark, polyline, series_look
from longshore_study.report.markup import Child, Element, details, element, percent, remark
from longshore_study.report.scales import Scale, for_figures

SIZES = {
    "message_bytes": "message, bytes",
    "bytes": "bytes",
    "nodes": "nodes",
    "ranks": "ranks",
    "ranks_per_node": "ranks per node",
}
"""The sizes of launches and of imported programs, with the titles of their axes."""
PANELS_SHOWN = 6


@dataclass(frozen=True)
class SeriesPoint:
    size: float
    value: float
    low: float
    high: float
    launches: int
    tooltip: str = ""
    """The text shown when the mouse points at the mark; if empty, the figure and its launches."""


@dataclass(frozen=True)
class Series:
    name: str
    side: str
    look: int
    """The index of colour and shape, the same for a name on every panel."""
    dashed: bool
    unit: str
    points: tuple[SeriesPoint, ...]


@dataclass(frozen=True)
class Panel:
    title: str
    series: tuple[Series, ...]
    bounds: tuple[tuple[float, Bound], ...]
    """Pairs of a size and the bound at this size. A bound per process falls with the number of
    ranks."""


def size_factors(figures: Sequence[PlottedFigure]) -> list[str]:
    """The numeric factors with at least two levels: first the sizes of the pattern, then those of
    launches, then all others. Of factors that change together (nodes and ranks) only the first is
    used."""
    levels: dict[str, set[float]] = {}
    not_numeric = set()
    for f in figures:
        for name, value in f.factors.items():
            number = number_in(value)
            if number is None or number <= 0:
                not_numeric.add(name)
            else:
                levels.setdefault(name, set()).add(number)
    names = [n for n, values in levels.items() if n not in not_numeric and len(values) > 1]
    order = list(_sizes(figures))
    names.sort(key=lambda n: (order.index(n) if n in order else len(order), n))
    factors = [group[0].factors for group in by_key(figures).values()]
    return [n for i, n in enumerate(names) if not any(n in numeric_following_factors(m, factors) for m in names[:i])]


def _sizes(figures: Sequence[PlottedFigure]) -> dict[str, str]:
    """The size factors in the order in which they are drawn, with the titles of their axes."""
    known = [PATTERNS[pattern].sizes for pattern in dict.fromkeys(f.pattern for f in figures) if pattern in PATTERNS]
    return {name: title for sizes in (*known, SIZES) for name, title in sizes.items()}


def numeric_following_factors(factor: str, all_factors: Sequence[Mapping[str, Any]]) -> set[str]:
    """The numeric factors that vary and follow from `factor`. For example, the number of ranks
    follows from the nodes."""
    sized = [(factors[factor], factors) for factors in all_factors if factor in factors]
    numeric = {name for _, factors in sized for name, value in factors.items() if number_in(value) is not None}
    return (following_factors(sized) & numeric) - {factor}


def curves(facts: Facts, figures: Sequence[PlottedFigure]) -> list[Element]:
    """One block per size factor, with the variants that have this factor. REQUIRES: all figures
    have the same metric and unit."""
    factors = [factor for factor in size_factors(figures) if factor not in scaled_over(figures)]
    return [_block(facts, [f for f in figures if factor in f.factors], factor) for factor in factors]


def scaled_over(figures: Sequence[PlottedFigure]) -> tuple[str, ...]:
    """The factors over which the section of scaling draws these figures."""
    rates = any(f.pattern != CONTROL and f.main and f.better == "higher" for f in figures)
    return AXES if rates else ()


def panels(facts: Facts, figures: Sequence[PlottedFigure], factor: str) -> list[Panel]:
    """The panels as small multiples. Each level of `series_factor` is a series. Each combination of
    the other factors, without the size, is a panel."""
    groups = list(by_key(figures).values())
    rest = [_without(group[0].factors, factor) for group in groups]
    # Factors that the size determines do not distinguish panels.
    dependent = numeric_following_factors(factor, [group[0].factors for group in groups])
    names = naming({k: v for k, v in other.items() if k not in dependent} for other in rest)
    chosen = series_factor(rest, names.varying)
    looks = looks_of(rest, chosen)
    by_title: dict[str, dict[tuple[str, str], list[PlottedFigure]]] = {}
    for group, other in zip(groups, rest, strict=True):
        title = ", ".join(names.parts(other, without=[chosen]))
        name = level_text(chosen, other[chosen]) if chosen in other else "all"
        for f in group:
            by_title.setdefault(title, {}).setdefault((name, f.side), []).append(f)
    two_sides = len(facts.sides) > 1

    def order(series: tuple[tuple[str, str], list[PlottedFigure]]) -> tuple[int, int]:
        name, side = series[0]
        return looks.get(name, 0), facts.sides.index(side)

    return [
        Panel(
            title,
            tuple(
                Series(
                    name,
                    side,
                    looks.get(name, 0),
                    two_sides and side == facts.sides[0],
                    members[0].unit,
                    _points(members, factor),
                )
                for (name, side), members in sorted(series.items(), key=order)
            ),
            _bounds(facts, [f for members in series.values() for f in members], factor),
        )
        for title, series in by_title.items()
    ]


def _without(factors: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {k: v for k, v in factors.items() if k != name}


def _bounds(facts: Facts, figures: Sequence[PlottedFigure], factor: str) -> tuple[tuple[float, Bound], ...]:
    sized = grouped(figures, lambda f: number_in(f.factors[factor]) or 0.0)
    bounds = [(size, bound_for(facts, group)) for size, group in sorted(sized.items())]
    return tuple((size, bound) for size, bound in bounds if bound is not None)


def series_factor(rest: Sequence[Mapping[str, object]], varying: Sequence[str]) -> str:
    """The factor whose levels become series: the one with the most levels that the shapes can
    distinguish. Empty if nothing but the size varies."""
    levels = {n: len({str(r.get(n)) for r in rest}) for n in varying}
    fitting = [n for n in varying if levels[n] <= SERIES_COUNT]
    preferred = [n for n in fitting if n in SELF_EXPLAINING]
    return max(preferred or fitting, key=lambda n: levels[n], default="")


def looks_of(rest: Sequence[Mapping[str, object]], factor: str) -> dict[str, int]:
    """The look of each series, by name. `rest` has the factors of the figures without the size."""
    names = {level_text(factor, r[factor]) for r in rest if factor in r}
    return {name: i % SERIES_COUNT for i, name in enumerate(sorted(names))}


def _points(members: Sequence[PlottedFigure], factor: str) -> tuple[SeriesPoint, ...]:
    sized = sorted(((number_in(f.factors[factor]) or 0.0, f) for f in members), key=lambda pair: pair[0])
    points = []
    for size, group in groupby(sized, key=lambda pair: pair[0]):
        same = [f for _, f in group]
        values = [f.value for f in same]
        points.append(SeriesPoint(size, median_value(same), min(values), max(values), len(values)))
    return tuple(points)


def _block(facts: Facts, figures: Sequence[PlottedFigure], factor: str) -> Element:
    drawn = panels(facts, figures, factor)
    bounds = [bound for p in drawn for _, bound in p.bounds]
    values = [v for p in drawn for s in p.series for point in s.points for v in (point.low, point.high)]
    y = for_figures([*values, *(bound.value for bound in bounds)])
    sizes = sorted({point.size for p in drawn for s in p.series for point in s.points})
    x = size_scale(sizes)
    shown_as = quantity(figures[0].unit, [y.high])
    size_name = _sizes(figures).get(factor, name_text(factor))
    axes = Axes(
        x=x,
        y=y,
        x_title=size_name + (", log axis" if x.logarithmic else ""),
        y_title=shown_as.name + (", log axis" if y.logarithmic else ""),
        x_ticks=x.ticks_at(sizes, size_label(sizes)),
        y_ticks=y.ticks(shown_as.tick, 5),
    )
    constant = naming(_without(group[0].factors, factor) for group in by_key(figures).values()).constant_text
    note = "Median over launches; the vertical line spans them."
    if len(facts.sides) > 1:
        note += f" Dashed and open: {facts.sides[0]}."
    note += f" The dashed line is {bounds_text(bounds)}." if bounds else " No bound was measured."
    if constant:
        note += f" All: {constant}."
    metric = metric_title(figures[0].metric)
    return element(
        "div",
        element("h4", f"{metric.capitalize()} over {size_name}"),
        remark(note),
        curve_legend(drawn),
        small_multiples([draw_panel(axes, panel, metric) for panel in drawn]),
        class_="group",
    )


def small_multiples(drawn: Sequence[Element]) -> list[Child]:
    """The panels side by side; those beyond the first PANELS_SHOWN are folded."""
    return [
        element("div", drawn[:PANELS_SHOWN], class_="panels" + (" single" if len(drawn) == 1 else "")),
        folded_panels(drawn[PANELS_SHOWN:], "more panel"),
    ]


def folded_panels(panels: Sequence[Element], singular: str, plural: str | None = None) -> Element | None:
    """`singular` and `plural` name the panels beside their number."""
    if not panels:
        return None
    return details(counted(len(panels), singular, plural), element("div", panels, class_="panels"))


def size_scale(sizes: Sequence[float]) -> Scale:
    """A scale that is logarithmic if the sizes span more than a factor of six, with a margin at
    both ends."""
    low, high = min(sizes), max(sizes)
    if high / low > 6:
        padding = (high / low) ** 0.04
        return Scale(low / padding, high * padding, logarithmic=True)
    padding = (high - low) * 0.05 or 0.5
    return Scale(low - padding, high + padding)


def size_label(sizes: Sequence[float]) -> Callable[[float], str]:
    """Labels large powers of two as powers: 2²⁰ instead of 1.05·10⁶."""
    whole = [int(size) for size in sizes if size == int(size) and size > 0]
    if len(whole) < len(sizes) or max(whole) < 2**16 or any(size & (size - 1) for size in whole):
        return plain_number
    return lambda size: power_of_two(int(size))


def draw_panel(axes: Axes, panel: Panel, metric: str, bound_name: str = "bound") -> Element:
    marks: list[Child] = []
    if panel.bounds:
        corners = [(axes.x.fraction(size), 1 - axes.y.clipped(bound.value)) for size, bound in panel.bounds]
        # The line goes on to both ends of the axis, beyond the first and the last size.
        corners = [(0.0, corners[0][1]), *corners, (1.0, corners[-1][1])]
        marks += [line(x1, y1, x2, y2, "bound") for (x1, y1), (x2, y2) in pairwise(corners)]
        name_y = percent(corners[-1][1])
        marks.append(element("text", bound_name, x="100%", y=name_y, dy="-5", text_anchor="end", class_="bound-name"))
    marks += [_series(axes, series) for series in panel.series]
    label = f"{metric} over {axes.x_title}" + (f", {panel.title}" if panel.title else "")
    return element(
        "figure",
        element("figcaption", panel.title) if panel.title else None,
        chart(axes, *marks, label=label),
        class_="panel",
    )


def _series(axes: Axes, series: Series) -> Element:
    shape, style = series_look(series.look)
    marks_style = style + (" open" if series.dashed else "")
    positions = [(axes.x.fraction(p.size), 1 - axes.y.clipped(p.value)) for p in series.points]
    spans = [
        line(x, 1 - axes.y.clipped(p.low), x, 1 - axes.y.clipped(p.high), f"span {marks_style}")
        for p, (x, _) in zip(series.points, positions, strict=True)
        if p.high > p.low
    ]
    dots = [
        mark(shape, x, y, marks_style, _tooltip(series, p)) for p, (x, y) in zip(series.points, positions, strict=True)
    ]
    return element(
        "g",
        polyline(positions, marks_style + (" dashed" if series.dashed else "")),
        spans,
        dots,
        class_="series",
        data_series=style,
    )


def _tooltip(series: Series, point: SeriesPoint) -> str:
    if point.tooltip:
        return f"{series.name}, {series.side}, {point.tooltip}"
    text = f"{series.name}, {series.side}, at {plain_number(point.size)}: {figure(point.value, series.unit)}"
    if point.launches > 1:
        text += f" ({figure(point.low)} to {figure(point.high)} over {point.launches} launches)"
    return text


def curve_legend(drawn: Sequence[Panel]) -> Element | None:
    names = {s.name: s.look for p in drawn for s in p.series}
    if len(names) < 2:
        return None
    return legend([(*series_look(look), name) for name, look in sorted(names.items())])
