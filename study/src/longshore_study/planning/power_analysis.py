"""Before anything runs: the smallest difference that a study could find, by the statistics that
will judge it.

How much launches and sessions differ comes from stored launches of the study, else from assumptions
that are named with the result. stats/power.py does the arithmetic.
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
"""Relative standard deviations between launches of one session, and between sessions, of a quiet
dedicated node."""

OTHER_SESSIONS = (2, 3, 5, 8)
"""What `plan -v` tells besides the sessions that the study asks for."""


@dataclass(frozen=True)
class Spread:
    """Relative standard deviations that a difference has to stand out from."""

    launches: float
    sessions: float
    source: str
    shared: float = 0.0
    """The part of the sessions' variance that all rows of a session have in common, 0 to 1."""


def spread_of(stored: Iterable[Launch]) -> Spread:
    """The median spread of the stored rows; assumed where fewer than two launches, or two sessions,
    are there."""
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
    centred = [kept for row in means if (kept := _about_tags(row))]
    between = [_typical(_variance(row), _freedom(row)) for row in centred]
    if not within:
        return Spread(ASSUMED_LAUNCH_SPREAD, ASSUMED_SESSION_SPREAD, "assumed, nothing is stored yet")
    launches = statistics.median(within)
    if not between:
        return Spread(launches, ASSUMED_SESSION_SPREAD, f"launches: from {len(within)} stored rows; sessions: assumed")
    # The spread of session means holds a share of the launches' own; what is left is the sessions'.
    counts = [len(logs) for row in rows.values() for logs in row.values()]
    left = max(0.0, statistics.median(between) ** 2 - launches**2 / statistics.median(counts))
    return Spread(launches, math.sqrt(left), f"from {len(within)} stored rows", _shared_part(centred))


Sessions = dict[tuple[str, str], float]
"""By tag and session."""


def _about_tags(row: Sessions) -> Sessions:
    """What sessions differ from the mean of their tag: what tags differ by is what a study asks
    for, and no noise. A session without another of its tag says nothing."""
    tags: dict[str, list[float]] = {}
    for (tag, _), value in row.items():
        tags.setdefault(tag, []).append(value)
    return {name: value - statistics.fmean(tags[name[0]]) for name, value in row.items() if len(tags[name[0]]) > 1}


def _variance(centred: Sessions) -> float:
    """Pooled over the tags: each has cost a degree of freedom."""
    return math.fsum(value**2 for value in centred.values()) / _freedom(centred)


def _freedom(centred: Sessions) -> int:
    return len(centred) - len({tag for tag, _ in centred})


def _typical(variance: float, freedom: int) -> float:
    """A standard deviation, so that half of such estimates are above the true one: of two launches
    the plain one is too low in two of three cases (the median of chi square, Wilson and Hilferty
    1931)."""
    return math.sqrt(variance / (1.0 - 2.0 / (9.0 * freedom)) ** 3)


def _shared_part(centred: list[Sessions]) -> float:
    """Of rows measured in the same sessions, how much of their variance between sessions is common
    to them: the mean over R rows has variance shared + own / R, a row shared + own."""
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
    """What `plan` says of a study with this spread."""

    def __init__(self, plan: Plan, spread: Spread, *, simulated_rows: int = power.SIMULATED_ROWS) -> None:
        """`simulated_rows`: fewer are quicker, and tell a factor of two."""
        self.plan = plan
        self.spread = spread
        self.simulated_rows = simulated_rows
        self.limit = math.log1p(plan.study.margin)

    @cached_property
    def rows(self) -> int:
        """Of the table that is judged: what is compared, and the common shift."""
        return 1 + sum(cell.variants for cell in self.plan.cells if cell.program != CONTROL)

    def between_tags(self, sessions: int) -> SimulatedPower | None:
        """Two tags, both measured in the same sessions but each in its own hours; None for one
        session, which cannot tell a change from a bad day. A session's difference has the noise of
        two tags, and their mean of launches."""
        if sessions < 2:
            return None
        launches = 2.0 * self.spread.launches**2 / self.plan.study.amounts.launches
        days = 2.0 * self.spread.sessions**2
        noise = Noise(days * (1.0 - self.spread.shared) + launches, days * self.spread.shared)
        return power.simulate_power(sessions, self.rows, noise, self.limit, simulated_rows=self.simulated_rows)

    def smallest_between_tags(self, sessions: int) -> float | None:
        """The slowdown of a single row that would be called regressed in four of five cases."""
        found = self.between_tags(sessions)
        return None if found is None else math.expm1(found.smallest())

    def smallest_between_variants(self) -> float | None:
        """The difference of two variants of the same launches that an uncorrected 95 % interval
        would show."""
        launches = self.plan.study.amounts.launches
        if launches < 2:
            return None
        noise = Noise(2.0 * self.spread.launches**2)
        return math.expm1(power.simulate_power(launches, self.rows, noise, 0.0, level=LEVEL).smallest())
