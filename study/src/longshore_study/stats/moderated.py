"""One variance per cell, shrunk towards those of the other cells: with two to five launches or
sessions a cell's own variance is nearly unknown, but that of dozens of cells together is not.

The prior is Smyth's (2004, Linear models and empirical Bayes methods, section 6.2): cells'
variances are draws of a scaled inverse chi-square, whose degrees of freedom and scale come from the
mean and the variance of their logarithms. Where these differ no more than by chance, the prior's
degrees of freedom are infinite and all cells share one variance.

Taken alone this claims too much when units are few. By simulation (tests/test_simulation.py), with
2 sessions a nominal 5 % became 6 to 16 %, for two reasons, and each has its correction of the
degrees of freedom of t, not of the variance:

- "No more than by chance" is weak evidence when each variance has one degree of freedom. So the
  prior enters t with the degrees of freedom of half a standard error less homogeneous variances
  than estimated.
- Cells measured in the same session or launch deviate together, and G cells that deviate together
  are not G independent looks at the variance. So t has no more degrees of freedom than the pooled
  variance has by Satterthwaite's rule (1946) over its two strata: what all cells of a unit share,
  and the rest.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from longshore_study.stats import student
from longshore_study.stats.effect import Effect

_CAUTION = 0.5  # standard errors; 0 leaves the false alarms, 1 gives power away
_LEAST_PART_OF_MEDIAN = 1e-5  # a variance of nought has no logarithm


@dataclass(frozen=True, slots=True)
class Prior:
    df: float
    """Smyth's estimate; infinite when the cells' variances do not differ more than chance, 0 when
    there is no prior."""
    cautious_df: float
    variance: float


@dataclass(frozen=True, slots=True)
class Moderated:
    """A cell's variance and the degrees of freedom with which it enters t; `se` is of the
    difference."""

    variance: float
    df: float
    se: float
    prior_df: float


def fit_prior(variances: Sequence[float], dfs: Sequence[int]) -> Prior:
    """REQUIRES: every df at least 1. Fewer than two cells, or no variance at all, give no prior."""
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
    # chi-square.
    fourth = math.fsum(student.fourth_log_gamma(d / 2) for d in dfs) / count
    excess_se = math.sqrt(2.0 * by_chance**2 / (count - 1) + fourth / count)
    cautious = 2.0 * student.inverse_trigamma(max(excess, 0.0) + _CAUTION * excess_se)
    if excess <= 0.0:
        pooled = math.fsum(v * d for v, d in zip(variances, dfs, strict=True)) / sum(dfs)
        return Prior(math.inf, cautious, pooled)
    df = 2.0 * student.inverse_trigamma(excess)
    return Prior(df, cautious, math.exp(centre + student.digamma(df / 2) - math.log(df / 2)))


def moderate(effects: Sequence[Effect]) -> list[Moderated | None]:
    """The moderated variance of each effect; None for an effect without a variance of its own to be
    moderated.

    REQUIRES: effects of one design, for only their variances mean the same.
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
    """Effective degrees of freedom of the variance pooled over cells, of which those that share
    their units count as one family. Independent cells give the sum of theirs; cells that move
    together give hardly more than one of them."""
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
    # total / (cells * df) is the pooled variance: the sum of two independent parts with df and
    # (cells - 1) * df.
    return total**2 / (shared**2 / df + rest**2 / ((cells - 1) * df))


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2.0
