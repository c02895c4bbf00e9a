"""Estimates the time of a study from stored launches, or by a guess from sizes."""

import statistics
from collections.abc import Iterable

from longshore_study.base.groups import combinations_of
from longshore_study.patterns import PATTERNS
from longshore_study.planning.plan import Cell
from longshore_study.store.launch_store import Launch

_MAX_GUESSED_VARIANTS = 1000  # with more variants, the guess uses two of them
_START_SECONDS = {"threads": 0.2, "mpi": 1.2}
_SIMULATED_PAIR_SECONDS = 2e-5  # real time per pair of ranks, if all pairs exchange messages
_SIMULATED_NEIGHBOURS_SECONDS = 3e-3  # real time per rank of an exchange with neighbours


class TimeEstimate:
    """Seconds per launch of each cell, improved by the launches of a running session."""

    def __init__(self, stored: Iterable[Launch] = ()) -> None:
        self._seconds: dict[str, list[float]] = {}
        """The times of the observed launches, by cell_id."""
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
        observed = self._seconds.get(cell.cell_id)
        return statistics.median(observed) if observed else guessed_seconds(cell)

    def total(self, cells: Iterable[Cell]) -> float:
        """Seconds for one launch of each of `cells`. A cell may occur several times."""
        return sum(self.seconds(cell) for cell in cells)


def guessed_seconds(cell: Cell) -> float:
    """A guess of the seconds of one launch, right within a small factor."""
    start = _START_SECONDS.get(str(cell.between.get("transport")), 2.0) + 0.02 * cell.ranks
    if cell.external is not None:
        return start + 10.0
    settings = cell.launch_settings  # phases are timed in repetitions of their own
    repetitions = settings.repetitions * (2 if settings.phases else 1) + settings.warmup
    if cell.machine is not None:
        of_all_pairs = _SIMULATED_PAIR_SECONDS * cell.ranks if PATTERNS[cell.program].pairs_of_ranks else 0.0
        return repetitions * cell.variants * cell.ranks * (_SIMULATED_NEIGHBOURS_SECONDS + of_all_pairs)
    guess = PATTERNS[cell.program].repetition_seconds
    if cell.variants > _MAX_GUESSED_VARIANTS:
        # The variant with all first levels, and that with all last levels
        corners = ({name: levels[index] for name, levels in cell.within.items()} for index in (0, -1))
        each = max(guess(cell.ranks, {**cell.between, **levels}) for levels in corners)
        return start + repetitions * cell.variants * each
    variants = ({**cell.between, **levels} for levels in combinations_of(cell.within))
    return start + repetitions * sum(guess(cell.ranks, variant) for variant in variants)
