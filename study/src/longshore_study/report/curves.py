"""Curves of figures over a size factor, with the bound of the machine. Lines join only levels of
numeric factors. scaling.py draws curves over ranks and nodes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from longshore_study.analyses.scaling import AXES, following_factors
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import number_in
from longshore_study.base.texts import name_text, plain_number, power_of_two, quantity
from longshore_study.patterns import CONTROL, PATTERNS
from longshore_study.report.bounds import Bound, bound_for, bounds_text
from longshore_study.report.facts import Facts, PlottedFigure, by_key, median_value
from longshore_study.report.labels import metric_title, naming
from longshore_study.report.marks import Axes
from longshore_study.report.markup import Element, block, remark
from longshore_study.report.panels import Panel, SeriesPoint, arranged, curve_legend, small_multiples
from longshore_study.report.scales import Scale, for_figures, log_around, titled

SIZES = {
    "message_bytes": "message, bytes",
    "bytes": "bytes",
    "nodes": "nodes",
    "ranks": "ranks",
    "ranks_per_node": "ranks per node",
}
"""The sizes of launches and of imported programs, with the titles of their axes."""


def size_factors(figures: Sequence[PlottedFigure]) -> list[str]:
    """The numeric factors with at least two levels: first the sizes of the pattern, then those of
    launches, then all others. Of factors that change together (nodes and ranks) only the first is
    used."""
    levels: dict[str, set[float]] = {}
    for f in figures:
        for name, value in f.factors.items():
            levels.setdefault(name, set()).add(number_in(value) or 0.0)  # 0 if it is no number
    names = [n for n, values in levels.items() if min(values) > 0 and len(values) > 1]
    order = list(_axis_titles(figures))
    names.sort(key=lambda n: (order.index(n) if n in order else len(order), n))
    factors = [group[0].factors for group in by_key(figures).values()]
    return [n for i, n in enumerate(names) if not any(n in numeric_following_factors(m, factors) for m in names[:i])]


def _axis_titles(figures: Sequence[PlottedFigure]) -> dict[str, str]:
    """The size factors in the order in which they are drawn, with the titles of their axes."""
    known = [PATTERNS[pattern].sizes for pattern in dict.fromkeys(f.pattern for f in figures) if pattern in PATTERNS]
    return {name: title for sizes in (*known, SIZES) for name, title in sizes.items()}


def numeric_following_factors(factor: str, all_factors: Sequence[Mapping[str, Any]]) -> set[str]:
    """The numeric factors that vary and follow from `factor`, as ranks follow from nodes."""
    sized = [(factors[factor], factors) for factors in all_factors if factor in factors]
    numeric = {name for _, factors in sized for name, value in factors.items() if number_in(value) is not None}
    return (following_factors(sized) & numeric) - {factor}


def curves(facts: Facts, figures: Sequence[PlottedFigure]) -> list[Element]:
    """One block per size factor. REQUIRES: all figures have the same metric and unit."""
    factors = [factor for factor in size_factors(figures) if factor not in scaled_over(figures)]
    return [_block(facts, [f for f in figures if factor in f.factors], factor) for factor in factors]


def scaled_over(figures: Sequence[PlottedFigure]) -> tuple[str, ...]:
    """The factors over which the section of scaling draws these figures."""
    rates = any(f.pattern != CONTROL and f.main and f.better == "higher" for f in figures)
    return AXES if rates else ()


def panels(facts: Facts, figures: Sequence[PlottedFigure], factor: str) -> list[Panel]:
    # Factors that the size determines do not distinguish panels.
    groups = list(by_key(figures).values())
    left_out = {factor} | numeric_following_factors(factor, [group[0].factors for group in groups])
    entries = [
        ({k: v for k, v in f.factors.items() if k not in left_out}, f.side, f) for group in groups for f in group
    ]
    drawn = []
    for title, lines in arranged(entries, facts.sides):
        series = tuple(replace(line, unit=members[0].unit, points=_points(members, factor)) for line, members in lines)
        drawn.append(Panel(title, series, _bounds(facts, [f for _, members in lines for f in members], factor)))
    return drawn


def _bounds(facts: Facts, figures: Sequence[PlottedFigure], factor: str) -> tuple[tuple[float, Bound], ...]:
    bounds = [(size, bound_for(facts, group)) for size, group in _by_size(figures, factor)]
    return tuple((size, bound) for size, bound in bounds if bound is not None)


def _points(members: Sequence[PlottedFigure], factor: str) -> tuple[SeriesPoint, ...]:
    points = []
    for size, same in _by_size(members, factor):
        values = [f.value for f in same]
        points.append(SeriesPoint(size, median_value(same), min(values), max(values), len(values)))
    return tuple(points)


def _by_size(figures: Sequence[PlottedFigure], factor: str) -> list[tuple[float, list[PlottedFigure]]]:
    groups = grouped(figures, lambda f: number_in(f.factors[factor]) or 0.0)
    return sorted(groups.items(), key=itemgetter(0))


def _block(facts: Facts, figures: Sequence[PlottedFigure], factor: str) -> Element:
    drawn = panels(facts, figures, factor)
    bounds = [bound for p in drawn for _, bound in p.bounds]
    values = [v for p in drawn for s in p.series for point in s.points for v in (point.low, point.high)]
    y = for_figures([*values, *(bound.value for bound in bounds)])
    sizes = sorted({point.size for p in drawn for s in p.series for point in s.points})
    x = size_scale(sizes)
    shown_as = quantity(figures[0].unit, [y.high])
    size_name = _axis_titles(figures).get(factor, name_text(factor))
    axes = Axes(
        x, y, titled(size_name, x), titled(shown_as.name, y), x.ticks_at(sizes, size_label(sizes)),
        y.ticks(shown_as.tick, 5),
    )  # fmt: skip
    rest = ({k: v for k, v in group[0].factors.items() if k != factor} for group in by_key(figures).values())
    note = "Median over launches; the vertical line spans them."
    if len(facts.sides) > 1:
        note += f" Dashed and open: {facts.sides[0]}."
    note += f" The dashed line is {bounds_text(bounds)}." if bounds else " No bound was measured."
    note += naming(rest).constant_note
    metric = metric_title(figures[0].metric)
    title = f"{metric.capitalize()} over {size_name}"
    multiples = small_multiples(axes, drawn, metric)
    return block(title, remark(note), curve_legend(drawn), multiples, level=4)


def size_scale(sizes: Sequence[float]) -> Scale:
    """A scale, logarithmic if sizes span more than a factor of six, with margins at both ends."""
    low, high = min(sizes), max(sizes)
    if high / low > 6:
        return log_around(sizes, (high / low) ** 0.04)
    padding = (high - low) * 0.05 or 0.5
    return Scale(low - padding, high + padding)


def size_label(sizes: Sequence[float]) -> Callable[[float], str]:
    """Labels large powers of two as powers: 2²⁰ instead of 1.05·10⁶."""
    whole = [int(size) for size in sizes if size == int(size) and size > 0]
    if len(whole) < len(sizes) or max(whole) < 2**16 or any(size & (size - 1) for size in whole):
        return plain_number
    return lambda size: power_of_two(int(size))
