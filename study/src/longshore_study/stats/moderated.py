"""Moderated t statistic: the variance of each cell is shrunk towards the variances of all cells.
Two to five launches or sessions hardly determine the variance of one cell, but dozens of cells do.

The method is Smyth's (2004, Linear models and empirical Bayes methods, section 6.2). Its prior
takes the variances of the cells as draws from a scaled inverse chi-square distribution. The mean
and the variance of their logarithms give the scale of that distribution and its degrees of freedom.
If the variances differ no more than by chance, the prior has infinite degrees of freedom, and all
cells share one variance.

With few units, Smyth's method alone raises too many false alarms: 6 to 16 % instead of 5 % with 2
sessions (tests/stats/test_simulation.py). Two corrections reduce the degrees of freedom of t:

- Variances with one degree of freedom each are weak evidence for equal variances. So the prior's
  degrees of freedom are computed as if the variances differed more, by half a standard error.
- The deviations of cells measured in the same session or launch are correlated, so their variances
  are not independent estimates. So t has at most the degrees of freedom of the variance pooled over
  the cells, by Satterthwaite's rule (1946). The rule uses two parts of the deviation: the part that
  all cells of a unit share, and the rest.
"""

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
    # Standard error of a sample variance, from the second and fourth cumulants of the logarithm of
    # a chi-square variate.
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
    if not known:
        return [None] * len(effects)
    prior = fit_prior([v for v, _ in known], [d for _, d in known])
    pool = pooled_df(effects)
    moderated: list[ModeratedError | None] = []
    for effect in effects:
        if effect.variance is None:
            moderated.append(None)
            continue
        if prior.df == 0.0:
            variance, df = effect.variance, float(effect.df)
        elif math.isinf(prior.df):
            variance, df = prior.variance, prior.cautious_df + effect.df
        else:
            variance = (prior.df * prior.variance + effect.df * effect.variance) / (prior.df + effect.df)
            df = prior.cautious_df + effect.df
        df = max(min(df, pool), float(effect.df))
        moderated.append(ModeratedError(variance, df, math.sqrt(variance * effect.scale), prior.df))
    return moderated


def pooled_df(effects: Sequence[Effect]) -> float:
    """Effective degrees of freedom of the variance pooled over the cells. Independent cells add
    their degrees of freedom. Cells with correlated deviations have hardly more degrees of freedom
    than a single cell."""
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
    # The pooled variance is total / (count * df). Its two parts, shared and remaining, are
    # independent and have df and (count - 1) * df degrees of freedom.
    return total**2 / (shared**2 / df + remaining**2 / ((count - 1) * df))
