"""Estimates the time of a study from stored launches of the same cells, else by a guess."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Iterable, Iterator
from typing import Any

from longshore_study.planning.plan import Cell
from longshore_study.store.launch_store import Launch

_MOST_GUESSED = 1000  # variants that are guessed one by one
_START_SECONDS = {"threads": 0.2, "mpi": 1.2}
_BYTES_PER_SECOND = 3e9  # of a modest core
_REQUESTS_PER_SECOND = 2e7  # of one rank, one request at a time


class TimeEstimate:
    """Seconds per launch of each cell. Observed launches of a running session improve it."""

    def __init__(self, stored: Iterable[Launch] = ()) -> None:
        self._seconds: dict[str, list[float]] = {}
        for launch in stored:
            seconds = launch.envelope.get("seconds")
            if launch.problem is None and isinstance(seconds, int | float) and not launch.imported:
                self.observe(launch.cell_id, float(seconds))

    def observe(self, cell_id: str, seconds: float) -> None:
        self._seconds.setdefault(cell_id, []).append(seconds)

    def knows(self, cell: Cell) -> bool:
        return cell.cell_id in self._seconds

    def seconds(self, cell: Cell) -> float:
        """Seconds of one launch: the median of the observed launches, else a guess."""
        seen = self._seconds.get(cell.cell_id)
        return statistics.median(seen) if seen else guessed_seconds(cell)

    def total(self, cells: Iterable[Cell]) -> float:
        """Seconds of one launch of each of `cells`, in which a cell may occur several times."""
        return sum(self.seconds(cell) for cell in cells)


def guessed_seconds(cell: Cell) -> float:
    """Right within a small factor, which distinguishes a minute from a night."""
    start = _START_SECONDS.get(str(cell.between.get("transport")), 2.0) + 0.02 * cell.ranks
    if cell.external is not None:
        return start + 10.0
    rounds = cell.launch_settings.repetitions + cell.launch_settings.warmup
    if cell.variants > _MOST_GUESSED:
        return start + rounds * cell.variants * max(_guessed_repetition(cell, variant) for variant in _corners(cell))
    return start + rounds * sum(_guessed_repetition(cell, variant) for variant in _variants(cell))


def _variants(cell: Cell) -> Iterator[dict[str, Any]]:
    fixed = {name: value for name, value in cell.between.items() if name != "environment"}
    for levels in itertools.product(*cell.within.values()):
        yield {**fixed, **dict(zip(cell.within, levels, strict=True))}


def _corners(cell: Cell) -> list[dict[str, Any]]:
    """The variant of the first levels and that of the last ones, which suffice for a guess."""
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
