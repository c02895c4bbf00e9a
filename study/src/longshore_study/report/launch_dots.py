"""Plots every launch as a dot. A mean would hide spread, outliers and two modes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from longshore_study.base.texts import Quantity, counted, figure, plain_number, quantity
from longshore_study.report.bounds import Bound, bound_for, bounds_text
from longshore_study.report.facts import Facts, FigureKey, PlottedFigure, by_key, median_value
from longshore_study.report.labels import Naming, metric_title, naming
from longshore_study.report.marks import grid, legend, line, mark, named_axis, strip, vertical
from longshore_study.report.markup import Child, Element, block, remark
from longshore_study.report.scales import Scale, for_figures, titled
from longshore_study.report.tables import folded, side_numbers, strip_row, strip_table
from longshore_study.stats.median_interval import MIN_VALUES, median_interval

SIDE_SHAPES = ("circle", "diamond", "up", "square")


def side_style(index: int) -> tuple[str, str]:
    """The shape and the style of the marks of a side."""
    return SIDE_SHAPES[index % len(SIDE_SHAPES)], f"s{index % 8 + 1}"


def launch_dots(facts: Facts, figures: Sequence[PlottedFigure]) -> Element:
    """REQUIRES: all figures have the same pattern, metric and unit."""
    keyed = by_key(figures)
    bounds = {key: bound for key, group in keyed.items() if (bound := bound_for(facts, group)) is not None}
    values = [f.value for f in figures]
    # The axis reaches a bound only if the figures still have enough room.
    drawn_bounds = {key: bound for key, bound in bounds.items() if bound.value < 4 * max(values)}
    scale = for_figures([*values, *(bound.value for bound in drawn_bounds.values())])
    names = naming(group[0].factors for group in keyed.values())
    groups = sorted(keyed.values(), key=median_value, reverse=figures[0].better != "lower")
    shown_as = quantity(figures[0].unit, [scale.high])
    axis = titled(f"{metric_title(figures[0].metric)}, {shown_as.name}", scale)
    heads: list[tuple[str, Child]] = [
        ("name", "Variant"),
        ("plot", named_axis(axis, scale.ticks(shown_as.tick))),
        ("median number", f"Median {shown_as.name}"),
        ("spread number", "Range"),
        ("launches number", "Launches"),
    ]

    def table(some: Sequence[Sequence[PlottedFigure]]) -> Element:
        return dots_table(facts, heads, [_row(facts, group, names, scale, drawn_bounds) for group in some])

    return block(
        "Launches as dots",
        remark(_explanation(figures, names, bounds, drawn_bounds)),
        _legend(facts, figures) if len(facts.sides) > 1 else None,
        folded(groups, "slower variant", table),
        level=4,
    )


def _explanation(
    figures: Sequence[PlottedFigure],
    names: Naming,
    bounds: Mapping[FigureKey, Bound],
    drawn_bounds: Mapping[FigureKey, Bound],
) -> str:
    text = "One dot per launch, from top to bottom in the order of running; the vertical line is the median."
    if any(f.imported for f in figures):
        text += " Open dots are imported aggregates: what one run printed, its repetitions unknown."
    if any(len(g) >= MIN_VALUES for g in by_key(figures).values()):
        text += " The horizontal line is the 95 % interval of the median, by order statistics."
    if drawn_bounds:
        text += f" The dashed line is {bounds_text(drawn_bounds.values())}."
    elif bounds:
        text += f" Beyond the axis: {bounds_text(bounds.values())}."
    return text + names.constant_note


def _legend(facts: Facts, figures: Sequence[PlottedFigure]) -> Element:
    entries = []
    for i, side in enumerate(facts.sides):
        shape, style = side_style(i)
        hollow = all(f.imported for f in figures if f.side == side)
        entries.append((shape, f"{style} open" if hollow else style, side))
    return legend(entries)


def dots_table(facts: Facts, heads: Sequence[tuple[str, Child]], rows: Sequence[Element]) -> Element:
    return strip_table(heads, rows, "strips dots sortable" + (" two-sided" if len(facts.sides) > 1 else ""))


def _row(
    facts: Facts, group: Sequence[PlottedFigure], names: Naming, scale: Scale, bounds: Mapping[FigureKey, Bound]
) -> Element:
    sides = [(i, sorted((f for f in group if f.side == s), key=run_order)) for i, s in enumerate(facts.sides)]
    present = [(i, figures) for i, figures in sides if figures]
    shown_as = quantity(group[0].unit, [scale.high])
    marks: list[Child] = [grid(scale.ticks(plain_number))]
    if bound := bounds.get(group[0].identity):
        marks.append(vertical(scale, bound.value, "bound"))
    for index, figures in present:
        dots = [Dot(f.value, tooltip(f), f.imported) for f in figures]
        marks += side_marks(dots, scale, index, len(sides), median_interval([f.value for f in figures]))
    label = f"{names.text(group[0].factors)}: " + "; ".join(
        f"{facts.sides[i]} median {figure(median_value(f), f[0].unit)}{_interval_text(f)} over "
        + counted(len(f), "launch", "launches")
        for i, f in present
    )
    return strip_row(
        names.markup(group[0].factors),
        strip(*marks, label=label),
        side_numbers("median", [(shown_as.number(median_value(f)), median_value(f)) for _, f in present]),
        side_numbers("spread", [(range_text(f, shown_as), _relative_range(f)) for _, f in present]),
        side_numbers("launches", [(str(len(f)), len(f)) for _, f in present]),
    )


@dataclass(frozen=True)
class Dot:
    value: float
    title: str
    open: bool = False


def side_marks(
    dots: Sequence[Dot], scale: Scale, side: int, sides: int, ends: tuple[float, float] | None = None
) -> list[Element]:
    """The marks of a side in a row: dots from top to bottom, median, interval between `ends`."""
    shape, style = side_style(side)
    top, height = side / sides, 1 / sides
    x = scale.clipped(median(dot.value for dot in dots))
    parts = [line(x, top + 0.04, x, top + height - 0.04, f"median {style}")] if len(dots) > 1 else []
    if ends:
        y = top + height / 2
        left, right = (scale.clipped(end) for end in ends)
        parts.append(line(left, y, right, y, f"median {style}"))
    for number, dot in enumerate(dots):
        y = top + height * (0.5 if len(dots) == 1 else 0.25 + 0.5 * number / (len(dots) - 1))
        parts.append(
            mark(shape, scale.clipped(dot.value), y, f"{style} dot" + (" open" if dot.open else ""), dot.title)
        )
    return parts


def tooltip(f: PlottedFigure) -> str:
    text = f"{f.side}, session {f.session}"
    if f.position is not None:
        text += f", run {f.position + 1}"
    text += f": {figure(f.value, f.unit)}"
    if f.imported:
        return text + " (imported aggregate)"
    if f.spread:
        low, high = (figure(f.value * part, f.unit) for part in f.spread)
        text += f", repetitions p10–p90 {low} – {high}"
    return f"{text}; {f.why_implausible}" if f.why_implausible else text


def run_order(f: PlottedFigure) -> tuple[str, int, int]:
    return (f.session, f.position if f.position is not None else f.launch_index, f.launch_index)


def range_text(figures: Sequence[PlottedFigure], shown_as: Quantity) -> str:
    """The smallest and the largest figure, in the unit of the column."""
    values = [f.value for f in figures]
    return "–" if len(values) < 2 else f"{shown_as.number(min(values))} – {shown_as.number(max(values))}"


def _interval_text(figures: Sequence[PlottedFigure]) -> str:
    if (ends := median_interval([f.value for f in figures])) is None:
        return ""
    low, high = (figure(end, figures[0].unit) for end in ends)
    return f" (95 % interval {low} to {high})"


def _relative_range(figures: Sequence[PlottedFigure]) -> float:
    values = [f.value for f in figures]
    center = median_value(figures)
    return (max(values) - min(values)) / center if center else 0.0
