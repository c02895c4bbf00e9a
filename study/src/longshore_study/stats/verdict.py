"""The verdict on a difference, given a margin below which differences do not matter.

Each hypothesis compares the difference with the margin, not with zero; *same* needs two one-sided
tests (Schuirmann 1987). docs/explanation/statistics.md, section 5, has the formulas."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from longshore_study.stats import effect, multiplicity, student
from longshore_study.stats.effect import Effect

LEVEL = 0.05
"""Significance level of all tests."""
POWER = 0.8
"""A slowdown counts as detectable if it is detected with this probability."""

REGRESSED, IMPROVED, SAME, INCONCLUSIVE = "regressed", "improved", "same", "inconclusive"
UNTESTABLE, FAILED, INVALID, MISSING = "untestable", "failed", "invalid?", "missing"
VERDICTS = (REGRESSED, IMPROVED, SAME, INCONCLUSIVE, UNTESTABLE, FAILED, INVALID, MISSING)


@dataclass(frozen=True, slots=True)
class Measured:
    """A difference of logarithms (positive is better), its standard error, degrees of freedom."""

    difference: float
    se: float
    df: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the difference."""
        return effect.interval(self.difference, self.se, self.df)


@dataclass(frozen=True, slots=True)
class Judgement:
    verdict: str
    interval: tuple[float, float]
    """95 % confidence interval of the difference of logarithms."""
    p: float
    """P value that the difference is within the margin; 0.05 if `interval` ends at the margin."""
    adjusted_p: float
    """`p` adjusted by Benjamini and Hochberg. The verdicts regressed and improved depend on it."""
    holm_p: float
    """`p` adjusted by Holm. The exit status depends on it."""
    equivalence_p: float
    """P value that the difference is outside the margin. *same* needs at most 0.05."""
    basis: tuple[Measured, float, float] | None = None
    """The row, the margin as a logarithm, and the significance level of the row."""

    @property
    def detectable(self) -> float:
        """The slowdown, as a difference of logarithms, that this row shows with probability POWER.
        Simulations, which judge millions of rows, do not need its two quantiles."""
        if self.basis is None:
            return math.inf
        row, limit, level = self.basis
        return limit + row.se * (student.quantile(1.0 - level / 2.0, row.df) + student.quantile(POWER, row.df))


def with_own_error(found: Effect) -> Measured | None:
    """The effect with the error of this row alone. None if it is not known."""
    if found.variance is None:
        return None
    return Measured(found.difference, math.sqrt(found.variance * found.scale), float(found.df))


def judge(rows: Sequence[Measured], margin: float) -> list[Judgement]:
    """Judges each row. P values are adjusted for the number of rows in the list."""
    limit = math.log1p(margin)
    p_values = [beyond_margin(row, limit) for row in rows]
    adjusted_ps = multiplicity.benjamini_hochberg(p_values)
    holm_ps = multiplicity.holm(p_values)
    judgements = []
    level = level_of_next(sum(p <= LEVEL for p in adjusted_ps), len(rows))
    for row, p, adjusted_p, holm_p in zip(rows, p_values, adjusted_ps, holm_ps, strict=True):
        equivalence_p = within_margin(row, limit)
        if adjusted_p <= LEVEL:
            verdict = REGRESSED if row.difference < 0 else IMPROVED
        else:
            verdict = SAME if equivalence_p <= LEVEL else INCONCLUSIVE
        judgements.append(Judgement(verdict, row.interval, p, adjusted_p, holm_p, equivalence_p, (row, limit, level)))
    return judgements


def beyond_margin(row: Measured, limit: float) -> float:
    """Two-sided p value of the hypothesis that the difference is at most `limit` in size."""
    return min(1.0, 2.0 * _tail(abs(row.difference) - limit, row))


def within_margin(row: Measured, limit: float) -> float:
    """P value of the hypothesis that the difference is at least `limit` in size."""
    return _tail(limit - abs(row.difference), row)


def _tail(distance: float, row: Measured) -> float:
    if row.se == 0.0:
        return 0.0 if distance > 0.0 else 1.0
    return student.upper_tail(distance / row.se, row.df)


def slower_than(row: Measured, limit: float) -> float:
    """One-sided p value of the hypothesis that the difference is not below -`limit`."""
    return _tail(-row.difference - limit, row)


def not_slower_than(row: Measured, limit: float) -> float:
    """One-sided p value of the hypothesis that the difference is below -`limit`."""
    return _tail(row.difference + limit, row)


def level_of_next(significant: int, rows: int) -> float:
    """The largest two-sided p value at which one more row is significant after the correction of
    Benjamini and Hochberg, if `significant` rows are so already."""
    return LEVEL * min(rows, significant + 1) / max(1, rows)
