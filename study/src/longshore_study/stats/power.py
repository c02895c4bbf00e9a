"""Power analysis: the smallest slowdown that a planned study would detect.

Detected means that the verdict is *regressed*: beyond the margin, corrected for the number of rows.
The statistics of `compare` run on simulated tables of noise (Monte Carlo with a fixed seed). There
is no closed formula for the degrees of freedom of moderated variances.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from longshore_study.stats import effect, moderated, student, verdict
from longshore_study.stats.verdict import LEVEL, POWER, Measured, level_of_next

SIMULATED_ROWS = 4000  # in all: many small tables or a few large ones, which vary less
_LEAST_TABLES = 40
_MOST_ROWS = 100  # of a simulated table; more rows hardly improve the shared variance
_SEED = 20040101


@dataclass(frozen=True)
class Noise:
    """Variances of a row's difference in one session (or launch): its own part, and the part that
    all rows of the session share."""

    own: float
    shared: float = 0.0

    @property
    def total(self) -> float:
        return self.own + self.shared


@dataclass(frozen=True)
class SimulatedPower:
    """Result of the simulation. `thresholds`: per simulated row, ascending, the smallest slowdown
    that would be detected. `same`: share of the unchanged rows with the verdict *same*."""

    thresholds: Sequence[float]
    same: float

    def smallest(self, power: float = POWER) -> float:
        """The slowdown, as a difference of logarithms, that is detected with this power."""
        place = min(len(self.thresholds) - 1, math.ceil(power * len(self.thresholds)) - 1)
        return self.thresholds[place]

    def power(self, slowdown: float) -> float:
        return sum(one <= slowdown for one in self.thresholds) / len(self.thresholds)


@cache  # equal arguments give equal results
def simulate_power(
    units: int,
    rows: int,
    noise: Noise,
    limit: float,
    level: float | None = None,
    *,
    simulated_rows: int = SIMULATED_ROWS,
) -> SimulatedPower:
    """The power of a table of `rows` with `units` pairs each. `level` is that of one row; the
    default is the level of the only changed row.

    REQUIRES: units at least 2.
    """
    level = level_of_next(0, rows) if level is None else level
    simulated = min(rows, _MOST_ROWS)
    generator = random.Random(_SEED)  # noqa: S311 - noise, not a secret
    thresholds, same, count = [], 0, 0
    for _ in range(max(_LEAST_TABLES, simulated_rows // simulated)):
        table = _table(generator, units, simulated, noise)
        for found, result in zip(table, moderated.moderate(table), strict=True):
            assert result is not None  # noqa: S101 - every effect has a variance
            row = Measured(found.difference, result.se, result.df)
            thresholds.append(limit + student.quantile(1.0 - level / 2.0, row.df) * row.se + found.difference)
            same += verdict.within_margin(row, limit) <= LEVEL
            count += 1
    return SimulatedPower(sorted(thresholds), same / count)


def _table(generator: random.Random, units: int, rows: int, noise: Noise) -> list[effect.Effect]:
    common = [generator.gauss(0.0, math.sqrt(noise.shared)) for _ in range(units)]
    own = math.sqrt(noise.own)
    names = [str(unit) for unit in range(units)]
    nothing = dict.fromkeys(names, 0.0)
    return [
        effect.paired(nothing, {n: c + generator.gauss(0.0, own) for n, c in zip(names, common, strict=True)})
        for _ in range(rows)
    ]
