"""One variance per cell, shrunk towards the variances of the other cells. Two to five launches or
sessions hardly determine the variance of one cell; dozens of cells together do.

The prior is Smyth's (2004, Linear models and empirical Bayes methods, section 6.2): the variances
of the cells are draws of a scaled inverse chi-square. The mean and the variance of their logarithms
give its degrees of freedom and scale. If the variances differ no more than by chance, the prior has
infinite degrees of freedom, and all cells share one variance.

With few units this prior alone claims too much. In simulations (tests/stats/test_simulation.py)
with 2 sessions, a nominal 5 % became 6 to 16 %. There are two reasons. Each has a correction of the
degrees of freedom of t, not of the variance:

- Variances with one degree of freedom each are weak evidence for equal variances. So t uses the
  prior's degrees of freedom for an excess variance that is half a standard error larger.
- Cells measured in the same session or launch deviate together, so G such cells are not G
  independent estimates of the variance. So t has at most the degrees of freedom of the pooled
  variance by Satterthwaite's rule (1946). Its two strata are the deviation that all cells of a unit
  share, and the rest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from longshore_study.stats import student
from longshore_study.stats.effect import Effect

_CAUTION = 0.5  # standard errors; 0 keeps the false alarms, 1 loses power
_LEAST_PART_OF_MEDIAN = 1e-5  # a variance of zero has no logarithm


@dataclass(frozen=True, slots=True)
class Prior:
    df: float
    """Smyth's estimate. Infinite if the variances differ no more than by chance, 0 if there is no
    prior."""
    cautious_df: float
    variance: float


@dataclass(frozen=True, slots=True)
class Moderated:
    """The moderated variance of a cell and the degrees of freedom for t. `se` is the standard error
    of the difference."""

    variance: float
    df: float
    se: float
    prior_df: float


def fit_prior(variances: Sequence[float], dfs: Sequence[int]) -> Prior:
    """REQUIRES: every df is at least 1. No prior with fewer than two cells or without variance."""
    if len(variances) < 2 or not any(variances):
        return Prior(0.0, 0.0, 0.0)
    floor = _LEAST_PART_OF_MEDIAN * _median([v for v in variances if v > 0.0])
    logs = [
        math.log(max(v, floor)) - student.digamma(d / 2) + math.log(d / 2) for v, d in zip(variances, dfs, strict=True)
    ]
    count = len(logs)
    centre = math.fsum(logs) / count
    by_chance = math.fsum(student.trigamma(d / 2) for d in dfs) / count
    excess = math.fsum((z - centre) ** 2 for z in logs) / (count - 1) - by_chance
    # The standard error of a sample variance, from the second and fourth cumulants of a log
    # chi-square variate.
    fourth = math.fsum(student.fourth_log_gamma(d / 2) for d in dfs) / count
    excess_se = math.sqrt(2.0 * by_chance**2 / (count - 1) + fourth / count)
    cautious = 2.0 * student.inverse_trigamma(max(excess, 0.0) + _CAUTION * excess_se)
    if excess <= 0.0:
        pooled = math.fsum(v * d for v, d in zip(variances, dfs, strict=True)) / sum(dfs)
        return Prior(math.inf, cautious, pooled)
    df = 2.0 * student.inverse_trigamma(excess)
    return Prior(df, cautious, math.exp(centre + student.digamma(df / 2) - math.log(df / 2)))


def moderate(effects: Sequence[Effect]) -> list[Moderated | None]:
    """The moderated variance of each effect. None for an effect without an estimate of its own.

    REQUIRES: all effects have the same design, so that their variances are comparable.
    """
    known = [(e.variance, e.df) for e in effects if e.variance is not None]
    if not known:
        return [None] * len(effects)
    prior = fit_prior([v for v, _ in known], [d for _, d in known])
    pool = pooled_df(effects)
    moderated: list[Moderated | None] = []
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
        moderated.append(Moderated(variance, df, math.sqrt(variance * effect.scale), prior.df))
    return moderated


def pooled_df(effects: Sequence[Effect]) -> float:
    """Effective degrees of freedom of the variance pooled over the cells. Cells that share their
    units are one family. Independent cells add their degrees of freedom. Cells that deviate
    together have hardly more than one cell has."""
    families: dict[tuple[Hashable, ...], list[Effect]] = defaultdict(list)
    for effect in effects:
        if effect.variance is not None:
            families[tuple(unit for unit, _ in effect.residuals)].append(effect)
    return math.fsum(_family_df(family) for family in families.values())


def _family_df(family: Sequence[Effect]) -> float:
    df, cells = family[0].df, len(family)
    total = math.fsum((e.variance or 0.0) * df for e in family)
    if cells == 1 or total == 0.0:
        return float(df * cells)
    sums = [math.fsum(e.residuals[k][1] for e in family) for k in range(len(family[0].residuals))]
    shared = math.fsum(s * s for s in sums) / cells
    rest = max(total - shared, 0.0)
    # total / (cells * df) is the pooled variance. It is the sum of two independent parts with df
    # and (cells - 1) * df degrees of freedom.
    return total**2 / (shared**2 / df + rest**2 / ((cells - 1) * df))


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0
