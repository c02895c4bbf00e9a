"""How fast this machine could be: the control `copy` (measured memory copy) in the unit of a figure.

Data that fits in a cache can be faster than memory copy; the line is a yardstick, and it is named as what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from longshore_study.report.facts import Facts, Figure
from longshore_study.report.numbers import figure, unit_name

# Factors that must agree between a control and what it bounds, where both have them.
SAME_PLACE = ("transport", "ranks", "ranks_per_node", "nodes", "environment")


@dataclass(frozen=True)
class Bound:
    value: float
    unit: str
    name: str
    short: str

    @property
    def text(self) -> str:
        return f"{self.name} {figure(self.value)} {unit_name(self.unit)}"


def bound_for(facts: Facts, figures: Iterable[Figure]) -> Bound | None:
    """One bound for figures that are drawn together: the highest of theirs, so that none is above it by mistake."""
    found = [b for b in (_bound(facts, f.side, f.unit, f.better, f.factors) for f in _distinct(figures)) if b]
    return max(found, key=lambda b: b.value, default=None)


def _distinct(figures: Iterable[Figure]) -> list[Figure]:
    seen = {(f.side, f.unit, str([f.factors.get(k) for k in SAME_PLACE])): f for f in figures}
    return list(seen.values())


def _bound(facts: Facts, side: str, unit: str, better: str, factors: Mapping[str, Any]) -> Bound | None:
    if better != "higher":
        return None
    copies = [
        f
        for f in facts.of_pattern("control")
        if f.side == side and f.factors.get("kernel") == "copy" and f.unit == "GB/s" and _same_place(f.factors, factors)
    ]
    if not copies:
        return None
    cells: dict[str, list[float]] = {}
    for copy in copies:
        cells.setdefault(copy.cell_id, []).append(copy.value)
    per_node = max(median(values) for values in cells.values())
    if unit in ("GB/s", "GB/s per node"):
        return Bound(per_node, unit, "measured memory copy", "memory copy")
    ranks = factors.get("ranks_per_node") or factors.get("ranks")
    if unit == "MiB/s" and isinstance(ranks, int) and ranks > 0:
        # Copy counts a byte when read and when written; a payload byte that is copied once is both.
        per_rank = per_node * 1e9 / 2**20 / ranks / 2
        return Bound(per_rank, unit, "one memory copy of the payload", "one memory copy")
    return None


def _same_place(control: Mapping[str, Any], factors: Mapping[str, Any]) -> bool:
    return all(control[k] == factors[k] for k in SAME_PLACE if k in control and k in factors)
