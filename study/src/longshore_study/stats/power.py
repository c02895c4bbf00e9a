"""How small a slowdown a study would find, before anything runs.

Found means called *regressed*: beyond the margin, corrected for the number of rows. It is computed
by running the very statistics of `compare` on tables of noise (Monte Carlo with a fixed seed), for
there is no formula for the degrees of freedom that moderation brings.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from longshore_study.stats import effect, moderated, student, verdict
from longshore_study.stats.verdict import LEVEL, POWER, Measured, level_of_next

SIMULATED_ROWS = 4000  # in all: of many small tables or of few large ones, which differ the less from each other
_LEAST_TABLES = 40
_MOST_ROWS = 100  # of a simulated table: more share their variance no better than these do
_SEED = 20040101


@dataclass(frozen=True)
class Noise:
    """Variances of a row's difference in one session (or launch): its own, and what all rows of the
    session share."""

    own: float
    shared: float = 0.0

    @property
    def total(self) -> float:
        return self.own + self.shared


@dataclass(frozen=True)
class Prospect:
    """What tables of noise say of a study: `thresholds`, ascending, are the slowdowns from which on
    each simulated row would have been found; `same` the share of unchanged rows that would be
    called the same."""

    thresholds: Sequence[float]
    same: float

    def smallest(self, power: float = POWER) -> float:
        """The slowdown, as a difference of logarithms, that is found in `power` of all cases."""
        place = min(len(self.thresholds) - 1, math.ceil(power * len(self.thresholds)) - 1)
        return self.thresholds[place]

    def power(self, slowdown: float) -> float:
        return sum(one <= slowdown for one in self.thresholds) / len(self.thresholds)


@cache  # the same numbers are the same simulation
def prospect(
    units: int,
    rows: int,
    noise: Noise,
    limit: float,
    level: float | None = None,
    *,
    simulated_rows: int = SIMULATED_ROWS,
) -> Prospect:
    """Of a table of `rows` with `units` pairs each. `level`: of one row; by default that of a row
    that alone changed.

    REQUIRES: units at least 2.
    """
    level = level_of_next(0, rows) if level is None else level
    simulated = min(rows, _MOST_ROWS)
    generator = random.Random(_SEED)  # noqa: S311 - noise, no secret
    thresholds, same, count = [], 0, 0
    for _ in range(max(_LEAST_TABLES, simulated_rows // simulated)):
        table = _table(generator, units, simulated, noise)
        for found, result in zip(table, moderated.moderate(table), strict=True):
            assert result is not None  # noqa: S101 - every effect has a variance
            row = Measured(found.difference, result.se, result.df)
            thresholds.append(limit + student.quantile(1.0 - level / 2.0, row.df) * row.se + found.difference)
            same += verdict.within_margin(row, limit) <= LEVEL
            count += 1
    return Prospect(sorted(thresholds), same / count)


def _table(generator: random.Random, units: int, rows: int, noise: Noise) -> list[effect.Effect]:
    common = [generator.gauss(0.0, math.sqrt(noise.shared)) for _ in range(units)]
    own = math.sqrt(noise.own)
    names = [str(unit) for unit in range(units)]
    nothing = dict.fromkeys(names, 0.0)
    return [
        effect.paired(nothing, {n: c + generator.gauss(0.0, own) for n, c in zip(names, common, strict=True)})
        for _ in range(rows)
    ]
