"""The bound of a figure, a line in plots: the value that the figure would have if its bytes moved
at the speed that control measured for data of this size (metrics/memory_bound.py). Older records
have the speed of main memory alone, which a figure whose data lie in a cache can exceed.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from longshore_study.base.groups import grouped
from longshore_study.base.texts import quantity
from longshore_study.metrics.memory_bound import median_speeds, share_of_bound
from longshore_study.patterns import CONTROL, FACTORS_OF_A_LAUNCH, PATTERNS
from longshore_study.report.facts import Facts, PlottedFigure


@dataclass(frozen=True)
class Bound:
    value: float
    unit: str
    by_size: bool = True
    """Whether the speed is that of data of the same size, not that of main memory."""
    between_nodes: bool = False


def bounds_text(bounds: Collection[Bound]) -> str:
    """The meaning of the drawn bounds, with their value or range."""
    values = [bound.value for bound in bounds]
    low, high = min(values), max(values)
    where = "at the size of the data" if all(bound.by_size for bound in bounds) else "from main memory"
    name = f"the measured memory copy {where}"
    if any(bound.between_nodes for bound in bounds):
        name += ", between nodes also the measured network"
    shown_as = quantity(next(iter(bounds)).unit, [high])
    # A smaller difference is noise in the measured memory copy.
    if high > 1.02 * low:
        return f"{name}, {shown_as.number(low)} to {shown_as.text(high)} depending on launch and work"
    return f"{name}, here {shown_as.text(low)}"


def bound_for(facts: Facts, figures: Iterable[PlottedFigure]) -> Bound | None:
    """The highest bound of figures that are drawn together, so that none is above it by mistake."""
    distinct = {(f.side, f.pattern, f.unit, str(_bounding_levels(f))): f for f in figures}
    bounds = [bound for f in distinct.values() if (bound := _bound(facts, f)) is not None]
    return max(bounds, key=attrgetter("value"), default=None)


def _bound(facts: Facts, f: PlottedFigure) -> Bound | None:
    if f.pattern == CONTROL or not f.main:
        return None
    controls = [control for control in facts.of_pattern(CONTROL) if _bounds(control, f)]
    bounds = []
    for of_session in grouped(controls, lambda control: (control.cell_id, control.session)).values():
        speeds = median_speeds(control.speeds for control in of_session if control.speeds)
        share = share_of_bound(f.pattern, 1.0, _levels(f), f.nodes, speeds)
        if share:
            bounds.append(Bound(1 / share, f.unit, speeds.by_size, bool(f.traffic_levels.get("offnode_bytes"))))
    return max(bounds, key=attrgetter("value"), default=None)


def _bounding_levels(f: PlottedFigure) -> list[Any]:
    """The levels on which the bound depends."""
    traffic = PATTERNS[f.pattern].traffic if f.pattern in PATTERNS else None
    return [*(f.factors.get(name) for name in FACTORS_OF_A_LAUNCH), traffic and traffic(_levels(f))]


def _levels(f: PlottedFigure) -> dict[str, Any]:
    return {**f.factors, **f.traffic_levels}


def _bounds(control: PlottedFigure, f: PlottedFigure) -> bool:
    """All factors of the launch that both have must be equal."""
    shared = [name for name in FACTORS_OF_A_LAUNCH if name in control.factors and name in f.factors]
    same = all(control.factors[name] == f.factors[name] for name in shared)
    return control.speeds is not None and control.side == f.side and same
