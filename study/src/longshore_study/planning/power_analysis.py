"""Power analysis of a planned study: the smallest difference that its statistics could detect. The
spread of launches and sessions comes from stored launches of the study, or from assumptions if
there are too few. stats/power.py computes the power.
"""

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from longshore_study.patterns import CONTROL
from longshore_study.planning.plan import Plan
from longshore_study.stats import power
from longshore_study.stats.power import Noise, SimulatedPower
from longshore_study.stats.verdict import LEVEL
from longshore_study.store.launch_store import Launch

ASSUMED_LAUNCH_SPREAD = 0.03
ASSUMED_SESSION_SPREAD = 0.02
"""Assumed relative deviations of launches and of sessions, for a quiet dedicated node."""

OTHER_SESSIONS = (2, 3, 5, 8)
"""The numbers of sessions that `plan -v` shows besides that of the study."""


@dataclass(frozen=True)
class Spread:
    """The noise of the rows of a study: how much launches, and how much sessions differ."""

    launches: float
    """Relative standard deviation between launches of a session."""
    sessions: float
    """Relative standard deviation between sessions, without the part that comes from launches."""
    source: str
    """The origin of the numbers, in words: stored rows or assumptions."""
    shared: float = 0.0
    """The part of the variance between sessions that all rows of a session share, 0 to 1."""


def spread_of(stored: Iterable[Launch]) -> Spread:
    """The median spread of the stored rows; assumed with fewer than two launches or sessions."""
    rows: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = {}
    for launch in stored:
        if launch.problem is not None or launch.simulated is not None:
            continue
        for result in launch.results:
            median = (result.get("seconds") or {}).get("median")
            if isinstance(median, int | float) and median > 0:
                row = rows.setdefault((launch.cell_id, str(sorted(result["variant"].items()))), {})
                row.setdefault((launch.tag, launch.session), []).append(math.log(median))
    launches = [logs for row in rows.values() for logs in row.values()]
    within = [_typical(statistics.variance(logs), len(logs) - 1) for logs in launches if len(logs) > 1]
    means = [{session: statistics.fmean(logs) for session, logs in row.items()} for row in rows.values()]
    centred = [deviations for row in means if (deviations := _centred(row))]
    between = [_typical(_variance(row), _df(row)) for row in centred]
    if not within:
        return Spread(ASSUMED_LAUNCH_SPREAD, ASSUMED_SESSION_SPREAD, "assumed, nothing is stored yet")
    spread = statistics.median(within)
    if not between:
        return Spread(spread, ASSUMED_SESSION_SPREAD, f"launches: from {len(within)} stored rows; sessions: assumed")
    # The variance of session means includes a part of the variance between launches.
    variance = max(0.0, statistics.median(between) ** 2 - spread**2 / statistics.median(map(len, launches)))
    return Spread(spread, math.sqrt(variance), f"from {len(within)} stored rows", _shared_part(centred))


Sessions = dict[tuple[str, str], float]
"""A number by tag and session."""


def _centred(row: Sessions) -> Sessions:
    """The sessions of tags with several, as deviations from the mean of their tag."""
    tags: dict[str, list[float]] = {}
    for (tag, _), value in row.items():
        tags.setdefault(tag, []).append(value)
    return {name: value - statistics.fmean(tags[name[0]]) for name, value in row.items() if len(tags[name[0]]) > 1}


def _variance(centred: Sessions) -> float:
    return math.fsum(value**2 for value in centred.values()) / _df(centred)


def _df(centred: Sessions) -> int:
    """Degrees of freedom: the number of sessions minus the number of tags."""
    return len(centred) - len({tag for tag, _ in centred})


def _typical(variance: float, df: int) -> float:
    """A standard deviation that is too low as often as too high (median of chi square, Wilson and
    Hilferty 1931). The usual estimate from two launches is too low in two of three cases."""
    return math.sqrt(variance / (1.0 - 2.0 / (9.0 * df)) ** 3)


def _shared_part(centred: list[Sessions]) -> float:
    """The share of the variance between sessions that all rows have in common. With the two parts
    `shared` and `own`, a single row has the variance shared + own, and the mean over R rows has the
    variance shared + own / R."""
    sessions = max((frozenset(row) for row in centred), key=len)
    rows = [row for row in centred if row.keys() == sessions]
    if len(rows) < 2:
        return 0.0
    total = statistics.fmean(_variance(row) for row in rows)
    mean = _variance({name: statistics.fmean(row[name] for row in rows) for name in sessions})
    if total == 0.0:
        return 0.0
    return min(1.0, max(0.0, (len(rows) * mean - total) / (len(rows) - 1) / total))


@dataclass(frozen=True)
class PowerAnalysis:
    plan: Plan
    spread: Spread
    simulated_rows: int = power.SIMULATED_ROWS
    """With fewer, the analysis is faster, but its result is only right within a factor of two."""

    @cached_property
    def rows(self) -> int:
        """Number of rows that `compare` tests: the measured variants, and the common shift."""
        return 1 + sum(cell.variants for cell in self.plan.cells if cell.program != CONTROL and cell.machine is None)

    def between_tags(self, sessions: int) -> SimulatedPower | None:
        """The power for two tags that are measured in the same sessions, at different hours. None
        for one session, which cannot distinguish a change from an outlier."""
        if sessions < 2:
            return None
        # Variances of the difference of two tags in a session.
        of_launches = 2.0 * self.spread.launches**2 / self.plan.study.launch_settings.launches
        of_sessions = 2.0 * self.spread.sessions**2
        limit = math.log1p(self.plan.study.margin)
        noise = Noise(of_sessions * (1.0 - self.spread.shared) + of_launches, of_sessions * self.spread.shared)
        return power.simulate_power(sessions, self.rows, noise, limit, simulated_rows=self.simulated_rows)

    def smallest_between_tags(self, sessions: int) -> float | None:
        """The slowdown of a single row that gets the verdict regressed in four of five cases."""
        simulated = self.between_tags(sessions)
        return None if simulated is None else math.expm1(simulated.smallest())

    def smallest_between_variants(self) -> float | None:
        """The smallest difference between two variants of the same launches that a 95 % confidence
        interval shows in four of five cases. The interval is not corrected for the number of rows.
        """
        launches = self.plan.study.launch_settings.launches
        if launches < 2:
            return None
        noise = Noise(2.0 * self.spread.launches**2)
        return math.expm1(power.simulate_power(launches, self.rows, noise, 0.0, level=LEVEL).smallest())
