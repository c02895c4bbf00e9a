"""Recommends the length of a launch: the number of repetitions that makes comparisons fastest.

More launches and longer launches both cost time and reduce noise. A single launch cannot show how
much repetitions help, because its repetitions share one start and one moment. But a launch of 100
repetitions contains five launches of 20 repetitions. So stored launches show the noise between
shorter launches. The time for a given certainty is proportional to the variance between launches
times the seconds of a launch (Kalibera and Jones 2013, Rigorous benchmarking in reasonable time).
Kalibera and Jones assume independent repetitions and launches; this module does not.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import fsum, log, sqrt
from typing import Any

from longshore_study.base.json_values import canonical, number_in
from longshore_study.store.launch_store import Launch, read_launch

MIN_REPETITIONS = 5
MIN_DF = 10
"""Degrees of freedom that a recommendation needs: launches beyond one per cell and session."""
MAX_TIME_SHARE = 0.8
"""A recommended length takes at most this share of the time: variances are estimates."""
_MAX_LAUNCHES_READ = 48
_DOUBLINGS = 2
"""Limit of the extrapolation beyond the measured lengths."""


@dataclass(frozen=True)
class Length:
    """The length of a launch: its repetitions of each variant, with the noise of the results."""

    repetitions: int
    spread: float
    """Relative standard deviation of the results of such launches."""
    seconds: float
    measured: bool = True
    """False if the numbers are extrapolated."""

    @property
    def effort(self) -> float:
        """A number proportional to the time for a given certainty."""
        return self.spread**2 * self.seconds


@dataclass(frozen=True)
class Advice:
    now: Length
    best: Length
    curve: tuple[Length, ...]

    @property
    def time(self) -> float:
        """The time for the same certainty with the best length, as a share of the current time."""
        return self.best.effort / self.now.effort if self.now.effort > 0 else 1.0


def advise(stored: Iterable[Launch], repetitions: int) -> Advice | None:
    """The advice that the newest stored launches with this number of repetitions give. Reads these
    launches again, with their samples. None if there are too few launches."""
    alike = [launch for launch in stored if any(r.get("repetitions") == repetitions for r in launch.results)]
    alike.sort(key=lambda launch: str(launch.envelope.get("started")), reverse=True)
    return advise_of((read_launch(launch.path, samples=True) for launch in alike[:_MAX_LAUNCHES_READ]), repetitions)


def advise_of(launches: Iterable[Launch], repetitions: int) -> Advice | None:
    """The advice that launches with samples give. Reads each launch once."""
    rows: dict[tuple[str, str, str, str], list[list[float]]] = defaultdict(list)
    counted: Counter[tuple[str, str, str]] = Counter()
    starts: list[float] = []
    repeats: list[float] = []
    for launch in launches:
        series = _series(launch, repetitions)
        seconds = launch.envelope.get("seconds")
        if not series or not isinstance(seconds, int | float):
            continue
        key = (launch.tag, launch.session, launch.cell_id)
        counted[key] += 1
        for variant, logs in series.items():
            rows[*key, variant].append(logs)
        repeating = _repeating_seconds(launch)
        repeats.append(repeating / repetitions)
        starts.append(max(0.0, seconds - repeating))
    if counted.total() - len(counted) < MIN_DF or repetitions < 2 * MIN_REPETITIONS:
        return None

    def seconds_of(count: int) -> float:
        return statistics.fmean(starts) + count * statistics.fmean(repeats)

    counts = takewhile(lambda count: count >= MIN_REPETITIONS, (repetitions >> halvings for halvings in range(32)))
    curve = [Length(count, sqrt(_variance(rows.values(), count)), seconds_of(count)) for count in counts][::-1]
    now = curve[-1]
    if now.spread == 0.0:
        return None
    # Doubling the length at most halves the variance. Each doubling beyond the measured lengths is
    # assumed to change the variance by the same factor as the last measured doubling.
    variance_factor = min(1.0, max(0.5, (now.spread / curve[-2].spread) ** 2)) if curve[-2].spread > 0 else 1.0
    for doubling in range(1, _DOUBLINGS + 1):
        count = repetitions << doubling
        curve.append(Length(count, now.spread * sqrt(variance_factor**doubling), seconds_of(count), measured=False))
    best = min(curve, key=lambda length: length.effort)
    return Advice(now, best if best.effort <= MAX_TIME_SHARE * now.effort else now, tuple(curve))


def _series(launch: Launch, repetitions: int) -> dict[str, list[float]]:
    """The logarithms of the times of the repetitions by variant, without incomplete series."""
    series: dict[str, dict[int, float]] = defaultdict(dict)
    for sample in launch.samples if launch.problem is None else ():
        seconds = _slowest(sample)
        if seconds > 0:
            series[_variant(sample)][int(sample["repetition"])] = log(seconds)
    return {name: [logs[key] for key in sorted(logs)] for name, logs in series.items() if len(logs) == repetitions}


def _variant(record: Mapping[str, Any]) -> str:
    return f"{record['pattern']} {canonical(record['variant'])}"


def _slowest(sample: Mapping[str, Any]) -> float:
    """The time of the slowest rank in seconds. 0 if it is not recorded."""
    return number_in(sample, "seconds", "max") or number_in(sample, "seconds") or 0.0


def _repeating_seconds(launch: Launch) -> float:
    """Seconds of all repetitions of all variants. A sample has the time of one iteration."""
    iterations = {_variant(result): float(result.get("iterations") or 1) for result in launch.results}
    return fsum(_slowest(sample) * iterations.get(_variant(sample), 1.0) for sample in launch.samples)


def _variance(rows: Iterable[Sequence[Sequence[float]]], count: int) -> float:
    """Variance of the results of launches with `count` repetitions. The launches of each row are
    cut into parts of `count` repetitions, and parts with the same index are compared."""
    squares, df = 0.0, 0
    for row in rows:
        if len(row) < 2:
            continue
        parts = len(row[0]) // count
        between = (
            statistics.variance([statistics.median(logs[part * count : (part + 1) * count]) for logs in row])
            for part in range(parts)
        )
        squares += (len(row) - 1) * fsum(between) / parts
        df += len(row) - 1
    return squares / df
