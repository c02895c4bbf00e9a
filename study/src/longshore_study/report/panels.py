"""Panels of curves with common axes: curves are levels of a factor, panels of the others."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from longshore_study.base.json_values import canonical
from longshore_study.base.texts import figure, plain_number
from longshore_study.report.bounds import Bound
from longshore_study.report.labels import SELF_EXPLAINING, level_text, naming
from longshore_study.report.marks import SERIES_COUNT, Axes, chart, legend, line, mark, polyline, series_look
from longshore_study.report.markup import Child, Element, element, percent
from longshore_study.report.tables import folded

PANELS_SHOWN = 6
Item = TypeVar("Item")


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
    unit: str = ""
    points: tuple[SeriesPoint, ...] = ()


@dataclass(frozen=True)
class Panel:
    title: str
    series: tuple[Series, ...]
    bounds: tuple[tuple[float, Bound], ...]
    """Pairs of a size and its bound. A bound per process falls with the number of ranks."""


def arranged(
    entries: Sequence[tuple[Mapping[str, Any], str, Item]], sides: Sequence[str]
) -> list[tuple[str, list[tuple[Series, list[Item]]]]]:
    """The title of each panel, and its series without points, each with its items. `entries`: the
    factors, the side and the item. With several sides, the series of the first side are dashed."""
    all_factors = [factors for factors, _, _ in entries]
    names = naming(all_factors)
    chosen = _series_factor(all_factors, names.varying)
    looks = looks_of(level_text(chosen, factors[chosen]) for factors in all_factors if chosen in factors)
    by_title: dict[str, dict[Series, list[Item]]] = {}
    for factors, side, item in entries:
        title = ", ".join(names.parts(factors, without=[chosen]))
        name = level_text(chosen, factors[chosen]) if chosen in factors else "all"
        series = Series(name, side, looks.get(name, 0), dashed=len(sides) > 1 and side == sides[0])
        by_title.setdefault(title, {}).setdefault(series, []).append(item)
    return [
        (title, sorted(series.items(), key=lambda entry: (entry[0].look, sides.index(entry[0].side))))
        for title, series in by_title.items()
    ]


def _series_factor(all_factors: Sequence[Mapping[str, Any]], varying: Sequence[str]) -> str:
    """The factor whose levels become series; empty if nothing varies.

    It has at most as many levels as there are shapes. A factor whose levels need no name, such as
    the mode, is preferred; then one that gives few panels, because published results rarely hold
    all combinations of levels.
    """

    def panel_count(name: str) -> int:
        return len({canonical({k: v for k, v in factors.items() if k != name}) for factors in all_factors})

    fitting = [name for name in varying if len({str(factors.get(name)) for factors in all_factors}) <= SERIES_COUNT]
    return min(fitting, key=lambda name: (name not in SELF_EXPLAINING, panel_count(name)), default="")


def looks_of(names: Iterable[str]) -> dict[str, int]:
    return {name: index % SERIES_COUNT for index, name in enumerate(sorted(set(names)))}


def small_multiples(axes: Axes, panels: Sequence[Panel], metric: str, bound_name: str = "bound") -> list[Child]:
    """The panels side by side; those beyond the first PANELS_SHOWN are folded."""
    drawn = [_draw_panel(axes, panel, metric, bound_name) for panel in panels]
    if len(drawn) == 1:
        return [element("div", drawn, class_="panels single")]
    return folded(drawn, "more panel", panel_grid, shown=PANELS_SHOWN)


def panel_grid(drawn: Sequence[Element]) -> Element:
    return element("div", drawn, class_="panels")


def _draw_panel(axes: Axes, panel: Panel, metric: str, bound_name: str) -> Element:
    marks: list[Child] = []
    if panel.bounds:
        corners = [(axes.x.fraction(size), 1 - axes.y.clipped(bound.value)) for size, bound in panel.bounds]
        # The line goes on to both ends of the axis, beyond the first and the last size.
        corners = [(0.0, corners[0][1]), *corners, (1.0, corners[-1][1])]
        marks += polyline(corners, "bound")
        name_y = percent(corners[-1][1])
        marks.append(element("text", bound_name, x="100%", y=name_y, dy="-5", text_anchor="end", class_="bound-name"))
    marks += [_series(axes, series) for series in panel.series]
    label = f"{metric} over {axes.x_title}" + (f", {panel.title}" if panel.title else "")
    caption = element("figcaption", panel.title) if panel.title else None
    return element("figure", caption, chart(axes, *marks, label=label), class_="panel")


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
    curve = polyline(positions, f"curve {marks_style}{' dashed' if series.dashed else ''}")
    return element("g", curve, spans, dots, class_="series", data_series=style)


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
