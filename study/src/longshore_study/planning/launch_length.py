"""Recommends the length of a launch: the number of repetitions that makes comparisons fastest.

Starts and repetitions both cost time, and both reduce noise. One launch cannot tell how much
repetitions help, since all its repetitions share the same start and the same moment. But a launch
of a hundred repetitions contains five of twenty. So stored launches show the results of shorter
launches, including all differences between launches. The time for a given certainty is proportional
to variance times seconds per launch (Kalibera and Jones 2013, Rigorous benchmarking in reasonable
time; their levels are independent, ours need not be).
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import fsum, log, sqrt
from typing import Any

from longshore_study.base.json_values import canonical
from longshore_study.store.launch_store import Launch, read_launch

LEAST_REPETITIONS = 5
LEAST_FREEDOM = 10
"""Number of launches beyond the first of their session that a recommendation needs."""
WORTH_WHILE = 0.8
"""Recommend a length only if it takes at most this share of the time: variances are estimates."""
_MOST_READ = 48
_DOUBLINGS = 2
"""Limit of the extrapolation beyond the measured lengths. The next launches will tell more."""


@dataclass(frozen=True)
class Length:
    """Launches with this number of repetitions of each variant."""

    repetitions: int
    spread: float
    """Relative standard deviation of the results of such launches."""
    seconds: float
    measured: bool = True
    """False: extrapolated."""

    @property
    def effort(self) -> float:
        """Proportional to the time for a given certainty."""
        return self.spread**2 * self.seconds


@dataclass(frozen=True)
class Advice:
    """The current length of a study's launches, and the best length."""

    now: Length
    best: Length
    curve: tuple[Length, ...]

    @property
    def time(self) -> float:
        """Time with the best length for the same certainty, as a share of the current time."""
        return self.best.effort / self.now.effort if self.now.effort > 0 else 1.0


def advise(stored: Iterable[Launch], repetitions: int) -> Advice | None:
    """Advice from the newest stored launches with this number of repetitions. Reads them again with
    their samples. None if there are too few."""
    alike = [launch for launch in stored if any(one.get("repetitions") == repetitions for one in launch.results)]
    alike.sort(key=lambda launch: str(launch.envelope.get("started")), reverse=True)
    return advise_of((read_launch(launch.path, samples=True) for launch in alike[:_MOST_READ]), repetitions)


def advise_of(launches: Iterable[Launch], repetitions: int) -> Advice | None:
    """Advice from launches with their samples. Reads each launch once."""
    rows: dict[tuple[str, str, str, str], list[list[float]]] = defaultdict(list)
    counted: Counter[tuple[str, str, str]] = Counter()
    starts: list[float] = []
    repeats: list[float] = []
    for launch in launches:
        series = _series(launch, repetitions)
        seconds = launch.envelope.get("seconds")
        if not series or not isinstance(seconds, int | float):
            continue
        drawn = (launch.tag, launch.session, launch.cell_id)
        counted[drawn] += 1
        for variant, logs in series.items():
            rows[*drawn, variant].append(logs)
        repeating = _repeating_seconds(launch)
        repeats.append(repeating / repetitions)
        starts.append(max(0.0, seconds - repeating))
    if counted.total() - len(counted) < LEAST_FREEDOM or repetitions < 2 * LEAST_REPETITIONS:
        return None

    def seconds_of(count: int) -> float:
        return statistics.fmean(starts) + count * statistics.fmean(repeats)

    counts = takewhile(lambda count: count >= LEAST_REPETITIONS, (repetitions >> halvings for halvings in range(32)))
    curve = [Length(count, sqrt(_variance(rows.values(), count)), seconds_of(count)) for count in counts][::-1]
    now = curve[-1]
    if now.spread == 0.0:
        return None
    # The variance falls at most by half. It is assumed to fall by the same factor as between the
    # last two measured lengths.
    falls = min(1.0, max(0.5, (now.spread / curve[-2].spread) ** 2)) if curve[-2].spread > 0 else 1.0
    for doubling in range(1, _DOUBLINGS + 1):
        count = repetitions << doubling
        curve.append(Length(count, now.spread * sqrt(falls**doubling), seconds_of(count), measured=False))
    best = min(curve, key=lambda length: length.effort)
    return Advice(now, best if best.effort <= WORTH_WHILE * now.effort else now, tuple(curve))


def _series(launch: Launch, repetitions: int) -> dict[str, list[float]]:
    """The logarithms of the times of the repetitions, in order, by variant. Incomplete series are
    left out."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for sample in launch.samples if launch.problem is None else ():
        seconds = _slowest(sample)
        if seconds > 0:
            found[f"{sample['pattern']} {canonical(sample['variant'])}"][int(sample["repetition"])] = log(seconds)
    return {variant: [logs[key] for key in sorted(logs)] for variant, logs in found.items() if len(logs) == repetitions}


def _slowest(sample: Mapping[str, Any]) -> float:
    seconds = sample.get("seconds")
    value = seconds.get("max") if isinstance(seconds, dict) else seconds
    return float(value) if isinstance(value, int | float) else 0.0


def _repeating_seconds(launch: Launch) -> float:
    """Seconds of all repetitions of all variants. A short repetition has several operations."""
    operations = {
        f"{result['pattern']} {canonical(result['variant'])}": float(result.get("iterations") or 1)
        for result in launch.results
    }
    return fsum(
        _slowest(sample) * operations.get(f"{sample['pattern']} {canonical(sample['variant'])}", 1.0)
        for sample in launch.samples
    )


def _variance(rows: Iterable[Sequence[Sequence[float]]], count: int) -> float:
    """Variance of the results of launches with `count` repetitions. Each launch is cut into such
    parts; the k-th parts of a row's launches are compared with each other."""
    squares, freedom = 0.0, 0
    for row in rows:
        if len(row) < 2:
            continue
        parts = len(row[0]) // count
        between = (
            statistics.variance([statistics.median(logs[part * count : (part + 1) * count]) for logs in row])
            for part in range(parts)
        )
        squares += (len(row) - 1) * fsum(between) / parts
        freedom += len(row) - 1
    return squares / freedom
