"""How long a launch should be: the number of repetitions with which a comparison takes the least
time.

A start costs time and so does a repetition, and more of either make figures quieter. What
repetitions bring cannot be told from one launch, whose repetitions share what the start has drawn
and the machine's mood of that second. But a launch of a hundred repetitions holds five of twenty,
so launches show what shorter ones would have been, with all that differs between launches in it.
The time that a certainty takes goes with variance times seconds per launch (Kalibera and Jones
2013, Rigorous benchmarking in reasonable time, whose levels are independent; ours need not be).
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
"""Launches beyond the first of their session, without which nothing is said."""
WORTH_WHILE = 0.8
"""Of the time, that another length must do with to be recommended: variances are estimates."""
_MOST_READ = 48
_DOUBLINGS = 2
"""How far beyond what was measured a recommendation goes: the next launches will tell more."""


@dataclass(frozen=True)
class Length:
    """A launch of so many repetitions of each variant."""

    repetitions: int
    spread: float
    """Relative standard deviation of the figures of such launches."""
    seconds: float
    measured: bool = True
    """False: continued from what was measured."""

    @property
    def effort(self) -> float:
        """Proportional to the time that a certainty takes."""
        return self.spread**2 * self.seconds


@dataclass(frozen=True)
class Advice:
    """What launches of a study had, and what would have been better."""

    now: Length
    best: Length
    curve: tuple[Length, ...]

    @property
    def time(self) -> float:
        """Of the time now, that the best length takes for the same certainty."""
        return self.best.effort / self.now.effort if self.now.effort > 0 else 1.0


def advise(stored: Iterable[Launch], repetitions: int) -> Advice | None:
    """From the newest of the stored launches of so many repetitions, which are read once more, with
    their samples; None where they are too few to tell."""
    alike = [launch for launch in stored if any(one.get("repetitions") == repetitions for one in launch.results)]
    alike.sort(key=lambda launch: str(launch.envelope.get("started")), reverse=True)
    return advise_of((read_launch(launch.path, samples=True) for launch in alike[:_MOST_READ]), repetitions)


def advise_of(launches: Iterable[Launch], repetitions: int) -> Advice | None:
    """From launches with their samples, each of which is looked at once per length."""
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
    # The variance falls by a half at most, if what was measured last falls further by the same
    # factor.
    falls = min(1.0, max(0.5, (now.spread / curve[-2].spread) ** 2)) if curve[-2].spread > 0 else 1.0
    for doubling in range(1, _DOUBLINGS + 1):
        count = repetitions << doubling
        curve.append(Length(count, now.spread * sqrt(falls**doubling), seconds_of(count), measured=False))
    best = min(curve, key=lambda length: length.effort)
    return Advice(now, best if best.effort <= WORTH_WHILE * now.effort else now, tuple(curve))


def _series(launch: Launch, repetitions: int) -> dict[str, list[float]]:
    """By variant the logarithms of the repetitions' times, in their order; of whole series
    alone."""
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
    """What the repetitions of all variants took: a repetition has many operations where they are
    short."""
    operations = {
        f"{result['pattern']} {canonical(result['variant'])}": float(result.get("iterations") or 1)
        for result in launch.results
    }
    return fsum(
        _slowest(sample) * operations.get(f"{sample['pattern']} {canonical(sample['variant'])}", 1.0)
        for sample in launch.samples
    )


def _variance(rows: Iterable[Sequence[Sequence[float]]], count: int) -> float:
    """Of figures of launches of `count` repetitions: between the k-th such parts of a row's
    launches, all k alike."""
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
