"""The bound of a figure as a line in plots: its value if its bytes moved at the speed of memory
copy (metrics/memory_bound.py). Data that fits in a cache can be faster, so the line is named
"memory copy".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from longshore_study.base.texts import figure, quantity
from longshore_study.metrics.launch_metrics import CONTROL
from longshore_study.metrics.memory_bound import moved_gigabytes_per_second
from longshore_study.report.facts import Facts, PlottedFigure

# The factors in which a control and the figure that it bounds must agree, where both have them.
SAME_LAUNCHING = ("transport", "ranks", "ranks_per_node", "environment")
# The factors on which the bytes moved for a figure depend.
COUNTED = (*SAME_LAUNCHING, "operation")


@dataclass(frozen=True)
class Bound:
    value: float
    unit: str
    # The memory copy of the control: GB/s read and written.
    copy: float


def bounds_text(bounds: Iterable[Bound]) -> str:
    """The meaning of the lines, with their value or range."""
    kept = sorted(set(bounds), key=lambda b: b.value)
    name = "the measured memory copy"
    low, high = kept[0], kept[-1]
    shown_as = quantity(high.unit, [high.value])
    # A smaller difference is noise of the control.
    if high.value > 1.02 * low.value:
        ends = f"{shown_as.number(low.value)} to {shown_as.text(high.value)}"
        return f"{name}, {ends} depending on the launch"
    value_text = shown_as.text(low.value)
    return f"{name}, {value_text}" if low.value == low.copy else f"{name} of {figure(low.copy)} GB/s, here {value_text}"


def bound_for(facts: Facts, figures: Iterable[PlottedFigure]) -> Bound | None:
    """One bound for figures that are drawn together: the highest of their bounds, so that no figure
    is above it by mistake."""
    distinct = {(f.side, f.pattern, f.unit, str([f.factors.get(k) for k in COUNTED])): f for f in figures}
    found = [bound for f in distinct.values() if (bound := _bound(facts, f)) is not None]
    return max(found, key=lambda b: b.value, default=None)


def _bound(facts: Facts, f: PlottedFigure) -> Bound | None:
    if f.pattern == CONTROL or not f.main:
        return None
    moved = moved_gigabytes_per_second(f.pattern, 1.0, f.factors)
    copies: dict[tuple[str, str], list[float]] = {}
    for control in facts.of_pattern(CONTROL):
        if (
            control.side == f.side
            and control.factors.get("kernel") == "copy"
            and _same_launching(control.factors, f.factors)
        ):
            copies.setdefault((control.cell_id, control.session), []).append(control.value)
    if not moved or not copies:
        return None
    copy = max(median(values) for values in copies.values())
    return Bound(copy / moved, f.unit, copy)


def _same_launching(control: Mapping[str, Any], factors: Mapping[str, Any]) -> bool:
    return all(control[k] == factors[k] for k in SAME_LAUNCHING if k in control and k in factors)
