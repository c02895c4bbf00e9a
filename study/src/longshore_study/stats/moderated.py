"""Moderated t statistic: the variance of each cell is shrunk towards the variances of all cells
(Smyth 2004, Linear models and empirical Bayes methods, section 6.2).

Two corrections reduce the degrees of freedom of t, because few units raise too many false alarms
(tests/stats/test_simulation.py): the prior's degrees of freedom are uncertain, and the deviations
of cells of one session are correlated. For formulas and reasons, see
docs/explanation/statistics.md, section 3."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from longshore_study.base.groups import grouped
from longshore_study.stats import student
from longshore_study.stats.effect import Effect

_CAUTION = 0.5  # standard errors; with 0, false alarms stay; with 1, power is lost
_LOWEST_PART_OF_MEDIAN = 1e-5  # lower limit of a variance, since zero has no logarithm


@dataclass(frozen=True, slots=True)
class Prior:
    df: float
    """Smyth's degrees of freedom: infinite if variances differ by chance, 0 without a prior."""
    cautious_df: float
    """The degrees of freedom after the first correction."""
    variance: float


@dataclass(frozen=True, slots=True)
class ModeratedError:
    """The variance of a cell after shrinking, and the standard error that follows from it."""

    variance: float
    df: float
    se: float
    prior_df: float


def fit_prior(variances: Sequence[float], dfs: Sequence[int]) -> Prior:
    """The prior from the variances of the cells and their degrees of freedom. Its df is 0 if there
    are fewer than two cells or all variances are zero.

    REQUIRES: all `dfs` are at least 1.
    """
    if len(variances) < 2 or not any(variances):
        return Prior(0.0, 0.0, 0.0)
    floor = _LOWEST_PART_OF_MEDIAN * median([v for v in variances if v > 0.0])
    logs = [
        math.log(max(v, floor)) - student.polygamma(0, d / 2) + math.log(d / 2)
        for v, d in zip(variances, dfs, strict=True)
    ]
    count = len(logs)
    centre = math.fsum(logs) / count
    by_chance = math.fsum(student.polygamma(1, d / 2) for d in dfs) / count
    excess = math.fsum((z - centre) ** 2 for z in logs) / (count - 1) - by_chance
    fourth = math.fsum(student.polygamma(3, d / 2) for d in dfs) / count
    excess_se = math.sqrt(2.0 * by_chance**2 / (count - 1) + fourth / count)
    cautious = 2.0 * student.inverse_trigamma(max(excess, 0.0) + _CAUTION * excess_se)
    if excess <= 0.0:
        pooled = math.fsum(v * d for v, d in zip(variances, dfs, strict=True)) / sum(dfs)
        return Prior(math.inf, cautious, pooled)
    df = 2.0 * student.inverse_trigamma(excess)
    return Prior(df, cautious, math.exp(centre + student.polygamma(0, df / 2) - math.log(df / 2)))


def moderate(effects: Sequence[Effect]) -> list[ModeratedError | None]:
    """The moderated variance of each effect. None for an effect whose own variance is None.

    REQUIRES: all effects have the same design, so that their variances are comparable.
    """
    known = [(e.variance, e.df) for e in effects if e.variance is not None]
    prior = fit_prior([v for v, _ in known], [d for _, d in known])
    pool = pooled_df(effects)

    def error(effect: Effect) -> ModeratedError | None:
        if effect.variance is None:
            return None
        weight = effect.df / (prior.df + effect.df)
        variance = weight * effect.variance + (1.0 - weight) * prior.variance
        df = max(min(prior.cautious_df + effect.df, pool), float(effect.df))
        return ModeratedError(variance, df, math.sqrt(variance * effect.scale), prior.df)

    return [error(effect) for effect in effects]


def pooled_df(effects: Sequence[Effect]) -> float:
    """Degrees of freedom of the variance pooled over the cells (Satterthwaite 1946). Cells with
    correlated deviations have hardly more than a single cell."""
    known = (effect for effect in effects if effect.variance is not None)
    by_units = grouped(known, lambda effect: tuple(unit for unit, _ in effect.residuals))
    return math.fsum(_pooled_df_of_same_units(cells) for cells in by_units.values())


def _pooled_df_of_same_units(cells: Sequence[Effect]) -> float:
    df, count = cells[0].df, len(cells)
    total = math.fsum((cell.variance or 0.0) * df for cell in cells)
    if count == 1 or total == 0.0:
        return float(df * count)
    sums = [math.fsum(cell.residuals[k][1] for cell in cells) for k in range(len(cells[0].residuals))]
    shared = math.fsum(s * s for s in sums) / count
    remaining = max(total - shared, 0.0)
    return total**2 / (shared**2 / df + remaining**2 / ((count - 1) * df))
