"""The bound of a figure, a line in plots. The bound is the value that the figure would have if its
bytes moved at the speed of memory copy (metrics/memory_bound.py). A figure whose data is in a cache
can exceed the bound. So plots name the line "memory copy".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from longshore_study.base.texts import figure, quantity
from longshore_study.metrics.memory_bound import moved_gigabytes_per_second
from longshore_study.patterns import CONTROL, LAUNCHED_ALIKE, PATTERNS
from longshore_study.report.facts import Facts, PlottedFigure


@dataclass(frozen=True)
class Bound:
    value: float
    unit: str
    copy: float
    """The speed of memory copy, in GB/s read and written."""


def bounds_text(bounds: Collection[Bound]) -> str:
    """The meaning of the drawn bounds, with their value or range."""
    low, high = min(bounds, key=_value), max(bounds, key=_value)
    name = "the measured memory copy"
    shown_as = quantity(high.unit, [high.value])
    # A smaller difference is noise in the measured memory copy.
    if high.value > 1.02 * low.value:
        ends = f"{shown_as.number(low.value)} to {shown_as.text(high.value)}"
        return f"{name}, {ends} depending on the launch"
    value_text = shown_as.text(low.value)
    return f"{name}, {value_text}" if low.value == low.copy else f"{name} of {figure(low.copy)} GB/s, here {value_text}"


def bound_for(facts: Facts, figures: Iterable[PlottedFigure]) -> Bound | None:
    """The highest of the bounds of figures that are drawn together, so that no figure is above the
    line by mistake."""
    distinct = {(f.side, f.pattern, f.unit, str(_bounding_levels(f))): f for f in figures}
    bounds = [bound for f in distinct.values() if (bound := _bound(facts, f)) is not None]
    return max(bounds, key=_value, default=None)


def _value(bound: Bound) -> float:
    return bound.value


def _bound(facts: Facts, f: PlottedFigure) -> Bound | None:
    if f.pattern == CONTROL or not f.main:
        return None
    moved = moved_gigabytes_per_second(f.pattern, 1.0, f.factors, f.nodes)
    copies: dict[tuple[str, str], list[float]] = {}
    for control in facts.of_pattern(CONTROL):
        if (
            control.side == f.side
            and control.factors.get("kernel") == "copy"
            and _launched_alike(control.factors, f.factors)
        ):
            copies.setdefault((control.cell_id, control.session), []).append(control.value)
    if not moved or not copies:
        return None
    copy = max(median(values) for values in copies.values())
    return Bound(copy / moved, f.unit, copy)


def _bounding_levels(f: PlottedFigure) -> list[Any]:
    """The levels on which the bound depends."""
    of_pattern = PATTERNS[f.pattern].traffic_factors if f.pattern in PATTERNS else ()
    return [f.factors.get(name) for name in (*LAUNCHED_ALIKE, *of_pattern)]


def _launched_alike(control: Mapping[str, Any], factors: Mapping[str, Any]) -> bool:
    """Whether a control bounds a figure: all factors of the launch that both have must be equal."""
    return all(control[k] == factors[k] for k in LAUNCHED_ALIKE if k in control and k in factors)
