"""Power analysis of a planned study: the smallest difference that its statistics could detect.

The spread of launches and sessions comes from stored launches of the study, else from assumptions
that the result names. stats/power.py computes the power.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from longshore_study.planning.plan import CONTROL, Plan
from longshore_study.stats import power
from longshore_study.stats.power import Noise, SimulatedPower
from longshore_study.stats.verdict import LEVEL
from longshore_study.store.launch_store import Launch

ASSUMED_LAUNCH_SPREAD = 0.03
ASSUMED_SESSION_SPREAD = 0.02
"""Assumed relative standard deviations between launches of a session, and between sessions, for a
quiet dedicated node."""

OTHER_SESSIONS = (2, 3, 5, 8)
"""The numbers of sessions that `plan -v` shows besides that of the study."""


@dataclass(frozen=True)
class Spread:
    """Relative standard deviations of launches and sessions: the noise of a difference."""

    launches: float
    sessions: float
    source: str
    shared: float = 0.0
    """The part of the sessions' variance that all rows of a session share, 0 to 1."""


def spread_of(stored: Iterable[Launch]) -> Spread:
    """The median spread of the stored rows. Assumed with fewer than two launches or sessions."""
    rows: dict[tuple[str, str], dict[tuple[str, str], list[float]]] = {}
    for launch in stored:
        if launch.problem is not None:
            continue
        for result in launch.results:
            median = (result.get("seconds") or {}).get("median")
            if isinstance(median, int | float) and median > 0:
                row = rows.setdefault((launch.cell_id, str(sorted(result["variant"].items()))), {})
                row.setdefault((launch.tag, launch.session), []).append(math.log(median))
    within = [
        _typical(statistics.variance(logs), len(logs) - 1)
        for row in rows.values()
        for logs in row.values()
        if len(logs) > 1
    ]
    means = [{session: statistics.fmean(logs) for session, logs in row.items()} for row in rows.values()]
    centred = [kept for row in means if (kept := _centred(row))]
    between = [_typical(_variance(row), _freedom(row)) for row in centred]
    if not within:
        return Spread(ASSUMED_LAUNCH_SPREAD, ASSUMED_SESSION_SPREAD, "assumed, nothing is stored yet")
    launches = statistics.median(within)
    if not between:
        return Spread(launches, ASSUMED_SESSION_SPREAD, f"launches: from {len(within)} stored rows; sessions: assumed")
    # The variance of session means includes a part of the launches' variance. The rest is the
    # sessions' own.
    counts = [len(logs) for row in rows.values() for logs in row.values()]
    left = max(0.0, statistics.median(between) ** 2 - launches**2 / statistics.median(counts))
    return Spread(launches, math.sqrt(left), f"from {len(within)} stored rows", _shared_part(centred))


Sessions = dict[tuple[str, str], float]
"""By tag and session."""


def _centred(row: Sessions) -> Sessions:
    """The deviations of sessions from the mean of their tag, since differences between tags are not
    noise. A tag with a single session is left out."""
    tags: dict[str, list[float]] = {}
    for (tag, _), value in row.items():
        tags.setdefault(tag, []).append(value)
    return {name: value - statistics.fmean(tags[name[0]]) for name, value in row.items() if len(tags[name[0]]) > 1}


def _variance(centred: Sessions) -> float:
    """Pooled over the tags. Each tag costs one degree of freedom."""
    return math.fsum(value**2 for value in centred.values()) / _freedom(centred)


def _freedom(centred: Sessions) -> int:
    return len(centred) - len({tag for tag, _ in centred})


def _typical(variance: float, freedom: int) -> float:
    """A standard deviation with a median of the true value. The usual estimate from two launches is
    too low in two of three cases (median of chi square, Wilson and Hilferty 1931)."""
    return math.sqrt(variance / (1.0 - 2.0 / (9.0 * freedom)) ** 3)


def _shared_part(centred: list[Sessions]) -> float:
    """The share of the variance between sessions that all rows measured in them have in common. The
    mean over R rows has variance shared + own / R, a single row shared + own."""
    sessions = max((frozenset(row) for row in centred), key=len)
    rows = [row for row in centred if row.keys() == sessions]
    if len(rows) < 2:
        return 0.0
    total = statistics.fmean(_variance(row) for row in rows)
    mean = _variance({name: statistics.fmean(row[name] for row in rows) for name in sessions})
    if total == 0.0:
        return 0.0
    return min(1.0, max(0.0, (len(rows) * mean - total) / (len(rows) - 1) / total))


class PowerAnalysis:
    """The power of a planned study with this spread."""

    def __init__(self, plan: Plan, spread: Spread, *, simulated_rows: int = power.SIMULATED_ROWS) -> None:
        """`simulated_rows`: fewer are faster, and precise to a factor of two."""
        self.plan = plan
        self.spread = spread
        self.simulated_rows = simulated_rows
        self.limit = math.log1p(plan.study.margin)

    @cached_property
    def rows(self) -> int:
        """Number of rows of the judged table: the compared variants, and the common shift."""
        return 1 + sum(cell.variants for cell in self.plan.cells if cell.program != CONTROL)

    def between_tags(self, sessions: int) -> SimulatedPower | None:
        """The power for two tags that are measured in the same sessions, at different hours. None
        for one session, which cannot distinguish a change from an outlier. The difference of a
        session has the noise of two tags, and of the mean of launches."""
        if sessions < 2:
            return None
        launches = 2.0 * self.spread.launches**2 / self.plan.study.launch_settings.launches
        days = 2.0 * self.spread.sessions**2
        noise = Noise(days * (1.0 - self.spread.shared) + launches, days * self.spread.shared)
        return power.simulate_power(sessions, self.rows, noise, self.limit, simulated_rows=self.simulated_rows)

    def smallest_between_tags(self, sessions: int) -> float | None:
        """The slowdown of one row that is called regressed in four of five cases."""
        found = self.between_tags(sessions)
        return None if found is None else math.expm1(found.smallest())

    def smallest_between_variants(self) -> float | None:
        """The difference of two variants of the same launches that an uncorrected 95 % interval
        would show."""
        launches = self.plan.study.launch_settings.launches
        if launches < 2:
            return None
        noise = Noise(2.0 * self.spread.launches**2)
        return math.expm1(power.simulate_power(launches, self.rows, noise, 0.0, level=LEVEL).smallest())
