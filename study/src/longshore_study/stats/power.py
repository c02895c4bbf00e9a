"""Power analysis: the smallest slowdown that a planned study would detect with the verdict
*regressed*. The degrees of freedom of moderated variances have no closed formula. So the statistics
of `compare` run on simulated tables of noise (Monte Carlo with a fixed seed)."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from longshore_study.stats import effect, moderated, student, verdict
from longshore_study.stats.verdict import LEVEL, POWER, Measured, level_of_next

SIMULATED_ROWS = 4000  # in all tables together
_MIN_TABLES = 40
_MAX_ROWS = 100  # of a simulated table; more rows hardly improve the shared variance
_SEED = 20040101


@dataclass(frozen=True)
class Noise:
    """Variance of a row's difference in one session (or launch), in two parts."""

    own: float
    """The part that varies from row to row."""
    shared: float = 0.0
    """The part that all rows of the session share."""


@dataclass(frozen=True)
class SimulatedPower:
    """Result of the simulation. Slowdowns are differences of logarithms."""

    thresholds: Sequence[float]
    """The smallest slowdown that each simulated row would show, in ascending order."""
    same: float
    """Share of the simulated rows, which have not changed, with the verdict *same*."""

    def smallest(self) -> float:
        """The slowdown that is detected with the probability POWER."""
        return self.thresholds[math.ceil(POWER * len(self.thresholds)) - 1]


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
    """The power of a table of `rows` rows with `units` pairs each. `limit` is the margin as a
    logarithm. `level` is the significance level of a row; by default, the level that a row needs if
    it is the only changed row.

    REQUIRES: `units` is at least 2.
    """
    level = level_of_next(0, rows) if level is None else level
    simulated = min(rows, _MAX_ROWS)
    generator = random.Random(_SEED)  # noqa: S311 - noise, not a secret
    thresholds, same = [], 0
    for _ in range(max(_MIN_TABLES, simulated_rows // simulated)):
        table = _table(generator, units, simulated, noise)
        for noise_effect, result in zip(table, moderated.moderate(table), strict=True):
            assert result is not None  # noqa: S101 - every effect has a variance
            row = Measured(noise_effect.difference, result.se, result.df)
            thresholds.append(limit + student.quantile(1.0 - level / 2.0, row.df) * row.se + row.difference)
            same += verdict.within_margin(row, limit) <= LEVEL
    return SimulatedPower(sorted(thresholds), same / len(thresholds))


def _table(generator: random.Random, units: int, rows: int, noise: Noise) -> list[effect.Effect]:
    common = [generator.gauss(0.0, math.sqrt(noise.shared)) for _ in range(units)]
    own = math.sqrt(noise.own)
    names = [str(unit) for unit in range(units)]
    reference = dict.fromkeys(names, 0.0)
    return [
        effect.paired(reference, {n: c + generator.gauss(0.0, own) for n, c in zip(names, common, strict=True)})
        for _ in range(rows)
    ]
