"""The effect: the difference between two sides of a comparison, with its variance. Values are
logarithms of metrics, with a sign that the caller sets so that a larger value is better. For the
three designs, see docs/explanation/statistics.md, section 2."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from longshore_study.stats import student

Sessions = Mapping[str, Mapping[Any, float]]
"""A number by session and launch."""
PAIRED, UNPAIRED, STRATIFIED = "paired", "unpaired", "stratified"


@dataclass(frozen=True, slots=True)
class Effect:
    """A difference and its noise. The units are sessions, or launches if stratified."""

    design: str
    difference: float
    """Mean of the new side minus mean of the reference side."""
    variance: float | None
    """Estimated variance of a single unit. None if there are too few units."""
    df: int
    """Degrees of freedom of `variance`. 0 if `variance` is None."""
    scale: float
    """The variance of `difference`, divided by the variance of a single unit."""
    units: tuple[int, int]
    """Numbers of units on the reference side and on the new side."""
    residuals: tuple[tuple[Hashable, float], ...]
    """Each unit and its deviation; the squares add up to variance * df, cells may be correlated."""
    welch_se: float | None = None
    """Standard error of `difference` from this cell alone, with one variance per side (Welch)."""
    welch_df: float | None = None


def paired(reference: Mapping[str, float], new: Mapping[str, float]) -> Effect:
    """The effect from one value per session and side.

    REQUIRES: both sides have the same sessions, at least one.
    """
    sessions = sorted(reference)
    differences = [new[s] - reference[s] for s in sessions]
    count, centre = len(sessions), fmean(differences)
    df = count - 1
    own = _variance(differences, centre) if df else None
    return Effect(
        PAIRED, centre, own, df, 1.0 / count, (count, count),
        tuple((session, d - centre) for session, d in zip(sessions, differences, strict=True)),
        math.sqrt(own / count) if own is not None else None, float(df) if df else None,
    )  # fmt: skip


def unpaired(reference: Mapping[str, float], new: Mapping[str, float]) -> Effect:
    """The effect from one value per session. `variance` is pooled over the two sides."""
    sides = [{(k, name): side[name] for name in sorted(side)} for k, side in enumerate((reference, new))]
    se, df = welch([list(side.values()) for side in sides])
    return replace(stratified({"": sides[0]}, {"": sides[1]}), design=UNPAIRED, welch_se=se, welch_df=df)


def stratified(reference: Sessions, new: Sessions) -> Effect:
    """The effect from one value per launch. Sessions have equal weights.

    REQUIRES: both sides have the same sessions.
    """
    sessions = sorted(reference)
    residuals: list[tuple[Hashable, float]] = []
    differences, scale, df = [], 0.0, 0
    for session in sessions:
        centres = []
        for side in (reference[session], new[session]):
            centre = fmean(side.values())
            centres.append(centre)
            deviations = [v - centre for v in side.values()]
            residuals += zip(side, deviations, strict=True)
            scale += 1.0 / len(side) / len(sessions) ** 2
            df += len(side) - 1
        differences.append(centres[1] - centres[0])
    total = math.fsum(r * r for _, r in residuals)
    sides = [list(side[session].values()) for side in (reference, new) for session in sessions]
    return Effect(
        STRATIFIED, math.fsum(differences) / len(sessions), total / df if df else None, df, scale,
        (sum(map(len, reference.values())), sum(map(len, new.values()))), tuple(residuals),
        *(welch(sides, len(sessions)) if total else (None, None)),
    )  # fmt: skip


def _variance(values: Sequence[float], centre: float) -> float:
    """As statistics.variance, which computes with fractions and takes ten times as long."""
    return math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1)


def welch(sides: Sequence[Sequence[float]], sessions: int = 1) -> tuple[float | None, float | None]:
    """Standard error and degrees of freedom of a difference of means, with one variance per side
    (Welch 1947), as a mean over sessions that have two sides each. None and None if a side has a
    single value."""
    if any(len(side) < 2 for side in sides):
        return None, None
    parts = [_variance(side, fmean(side)) / len(side) / sessions**2 for side in sides]
    total = math.fsum(parts)
    if total == 0.0:
        return 0.0, float(sum(len(side) for side in sides) - 2)
    df = total**2 / math.fsum(p * p / (len(side) - 1) for p, side in zip(parts, sides, strict=True))
    return math.sqrt(total), df


def interval(difference: float, se: float, df: float, confidence: float = 0.95) -> tuple[float, float]:
    half = student.quantile(0.5 + confidence / 2.0, df) * se
    return difference - half, difference + half
