"""Before anything runs: how long a study will take, and the smallest difference it could find.

Both come from stored launches of the same cells where there are some, else from assumptions that are named with the
result.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from longshore_study.plan import Cell, Plan
from longshore_study.store import Launch

ASSUMED_LAUNCH_SPREAD = 0.03
ASSUMED_SESSION_SPREAD = 0.02
"""Relative standard deviations between launches of one session, and between sessions, of a quiet dedicated node."""

_POWER_QUANTILE = 0.8416  # of the normal distribution: found in four of five cases
_MOST_GUESSED = 1000  # variants one by one
_START_SECONDS = {"threads": 0.2, "mpi": 1.2}
_BYTES_PER_SECOND = 3e9  # of a modest core, for the guesses below
_REQUESTS_PER_SECOND = 2e7  # of one rank, one at a time


class Forecast:
    """Seconds per launch of each cell, corrected by what is observed while a session runs."""

    def __init__(self, stored: Iterable[Launch] = ()) -> None:
        self._seconds: dict[str, list[float]] = {}
        for launch in stored:
            seconds = launch.envelope.get("seconds")
            if launch.problem is None and isinstance(seconds, int | float) and not launch.imported:
                self.observe(launch.cell_id, float(seconds))
        self._ratio = 1.0

    def observe(self, cell_id: str, seconds: float) -> None:
        self._seconds.setdefault(cell_id, []).append(seconds)

    def knows(self, cell: Cell) -> bool:
        return cell.cell_id in self._seconds

    def seconds(self, cell: Cell) -> float:
        """Of one launch: the median of what was seen, else a guess."""
        seen = self._seconds.get(cell.cell_id)
        return statistics.median(seen) if seen else guessed_seconds(cell)

    def total(self, cells: Iterable[Cell]) -> float:
        """Of one launch of each of `cells` (a cell may come several times)."""
        known = 0.0
        guessed = 0.0
        for cell in cells:
            if self.knows(cell):
                known += self.seconds(cell)
            else:
                guessed += guessed_seconds(cell)
        return known + guessed


def guessed_seconds(cell: Cell) -> float:
    """Right within a factor of a few, which tells a minute from a night."""
    start = _START_SECONDS.get(str(cell.between.get("transport")), 2.0) + 0.02 * cell.ranks
    if cell.external is not None:
        return start + 10.0
    rounds = cell.amounts.repetitions + cell.amounts.warmup
    if cell.variants > _MOST_GUESSED:
        return start + rounds * cell.variants * max(_guessed_repetition(cell, variant) for variant in _corners(cell))
    return start + rounds * sum(_guessed_repetition(cell, variant) for variant in _variants(cell))


def _variants(cell: Cell) -> Iterator[dict[str, Any]]:
    fixed = {name: value for name, value in cell.between.items() if name != "environment"}
    for levels in itertools.product(*cell.within.values()):
        yield {**fixed, **dict(zip(cell.within, levels, strict=True))}


def _corners(cell: Cell) -> list[dict[str, Any]]:
    """The variant of the first levels and the one of the largest: enough for a guess."""
    fixed = {name: value for name, value in cell.between.items() if name != "environment"}
    first = {name: levels[0] for name, levels in cell.within.items()}
    largest = {name: levels[-1] for name, levels in cell.within.items()}
    return [{**fixed, **first}, {**fixed, **largest}]


def _guessed_repetition(cell: Cell, variant: dict[str, Any]) -> float:
    ranks = cell.ranks
    match cell.program:
        case "stream":
            return ranks * int(variant.get("elements", 10_000_000)) * 24 / _BYTES_PER_SECOND
        case "gather":
            speed = _REQUESTS_PER_SECOND if variant.get("strategy") == "agp" else 3 * _REQUESTS_PER_SECOND
            return ranks * int(variant.get("requests", 10_000_000)) / speed
        case "sort":
            return ranks * int(variant.get("keys", 2**23)) * 8 * 6 / _BYTES_PER_SECOND
        case "halo":
            items = int(variant.get("contiguous", 0)) * 6 or _halo_items(variant)
            return 5e-5 * ranks + ranks * items * 8 * 4 / _BYTES_PER_SECOND
        case "control":
            return 0.05 if variant.get("kernel", "copy") == "copy" else 0.01
        case _:
            return 0.1


def _halo_items(variant: dict[str, Any]) -> int:
    domain = [int(length) for length in variant.get("domain", [64, 64, 64])]
    width, fields = int(variant.get("halo", 1)), int(variant.get("fields", 1))
    outer = math.prod(length + 2 * width for length in domain)
    return fields * (outer - math.prod(domain))


@dataclass(frozen=True)
class Spread:
    """Relative standard deviations that a difference has to stand out from."""

    launches: float
    sessions: float
    source: str


def spread_of(stored: Iterable[Launch]) -> Spread:
    """The median spread of the stored rows; assumed where fewer than two launches, or two sessions, are there."""
    rows: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = {}
    for launch in stored:
        if launch.problem is not None:
            continue
        for result in launch.results:
            median = (result.get("seconds") or {}).get("median")
            if isinstance(median, int | float) and median > 0:
                row = rows.setdefault((launch.cell_id, str(sorted(result["variant"].items()))), {})
                row.setdefault((launch.tag, launch.session), []).append(math.log(median))
    within = [statistics.stdev(logs) for row in rows.values() for logs in row.values() if len(logs) > 1]
    between = [
        statistics.stdev([statistics.median(logs) for logs in row.values()]) for row in rows.values() if len(row) > 1
    ]
    if not within:
        return Spread(ASSUMED_LAUNCH_SPREAD, ASSUMED_SESSION_SPREAD, "assumed, nothing is stored yet")
    launches = statistics.median(within)
    if not between:
        return Spread(launches, ASSUMED_SESSION_SPREAD, f"launches: from {len(within)} stored rows; sessions: assumed")
    # The spread of session medians holds a share of the launches' own; what is left is the sessions'.
    counts = [len(logs) for row in rows.values() for logs in row.values()]
    left = max(0.0, statistics.median(between) ** 2 - launches**2 / statistics.median(counts))
    return Spread(launches, math.sqrt(left), f"from {len(within)} stored rows")


def smallest_difference(plan: Plan, sessions: int, spread: Spread) -> float | None:
    """The relative difference of one row between two tags that `sessions` sessions on each side would find in four
    of five cases, before correction for many rows; None when one session cannot tell a change from a bad day.

    The unit is the session, both sides measured in the same sessions: d = (t + z) * sqrt(2 (s^2 + l^2/m) / S) with
    t the 97.5 % quantile of Student's t with the degrees of freedom of all rows together (the variance is shared
    between rows) and z the normal quantile of the power.
    """
    if sessions < 2:
        return None
    launches = plan.study.amounts.launches
    variance = 2 * (spread.sessions**2 + spread.launches**2 / launches) / sessions
    rows = sum(cell.variants for cell in plan.cells)
    return math.expm1((student_quantile_975((sessions - 1) * max(1, rows)) + _POWER_QUANTILE) * math.sqrt(variance))


def smallest_difference_of_variants(plan: Plan, spread: Spread) -> float | None:
    """As above for two variants of the same launches in one session: the unit is the launch, and pairs share it."""
    launches = plan.study.amounts.launches
    if launches < 2:
        return None
    rows = sum(cell.variants for cell in plan.cells)
    scale = math.sqrt(2 * spread.launches**2 / launches)
    return math.expm1((student_quantile_975((launches - 1) * max(1, rows)) + _POWER_QUANTILE) * scale)


def student_quantile_975(degrees: int) -> float:
    """The 97.5 % quantile of Student's t."""
    from longshore_study.statistics.student import quantile  # noqa: PLC0415 - only `plan` needs it

    return float(quantile(0.975, degrees))
