"""The effect: the difference between the metrics of two sides, as logarithms, with its variance and
its units of replication. Positive means that the new side is better; the caller sets the sign.

Three designs. Paired: both sides were measured in the same sessions, and each session gives one
difference. Unpaired: each side has its own sessions. Stratified: both sides were measured
alternately within a session, so launches are the units, compared within their session.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.stats import student

PAIRED, UNPAIRED, STRATIFIED = "paired", "unpaired", "stratified"


@dataclass(frozen=True, slots=True)
class Effect:
    """`difference` has the variance `scale` * sigma^2. `variance` estimates sigma^2 with `df`
    degrees of freedom (None and 0 without an estimate)."""

    design: str
    difference: float
    variance: float | None
    df: int
    scale: float
    units: tuple[int, int]
    """Units of replication on the reference side and on the new side."""
    residuals: tuple[tuple[Hashable, float], ...]
    """(unit, deviation). Cells that share a unit may deviate together. The squares add up to
    variance * df."""
    welch_se: float | None = None
    """Standard error and degrees of freedom from this cell alone, with one variance per side."""
    welch_df: float | None = None


def paired(reference: Mapping[str, float], new: Mapping[str, float]) -> Effect:
    """REQUIRES: both sides have the same sessions, at least one. The values are logarithms."""
    sessions = sorted(reference)
    differences = [new[s] - reference[s] for s in sessions]
    count = len(sessions)
    centre = math.fsum(differences) / count
    deviations = [d - centre for d in differences]
    df = count - 1
    variance = math.fsum(d * d for d in deviations) / df if df else None
    se = math.sqrt(variance / count) if variance is not None else None
    return Effect(
        PAIRED, centre, variance, df, 1.0 / count, (count, count),
        tuple(zip(sessions, deviations, strict=True)), se, float(df) if df else None,
    )  # fmt: skip


def unpaired(reference: Mapping[str, float], new: Mapping[str, float]) -> Effect:
    """Each side has its own sessions. `variance` is pooled over the sides, Welch's is not."""
    sides = [sorted(reference.items()), sorted(new.items())]
    centres = [math.fsum(v for _, v in side) / len(side) for side in sides]
    residuals = [((k, name), v - c) for k, (side, c) in enumerate(zip(sides, centres, strict=True)) for name, v in side]
    counts = (len(reference), len(new))
    df = sum(counts) - 2
    total = math.fsum(r * r for _, r in residuals)
    return Effect(
        UNPAIRED, centres[1] - centres[0], total / df if df else None, df, sum(1.0 / n for n in counts), counts,
        tuple(residuals), *welch([[v for _, v in side] for side in sides]),
    )  # fmt: skip


def stratified(reference: Mapping[str, Mapping[Any, float]], new: Mapping[str, Mapping[Any, float]]) -> Effect:
    """Compares launches (session -> launch -> logarithm) within each session. Sessions have equal
    weights.

    REQUIRES: the same sessions on both sides.
    """
    sessions = sorted(reference)
    residuals: list[tuple[Hashable, float]] = []
    differences, scale, df = [], 0.0, 0
    welch_variance, welch_denominator = 0.0, 0.0
    for session in sessions:
        centres = []
        for side in (reference[session], new[session]):
            centre = math.fsum(side.values()) / len(side)
            centres.append(centre)
            deviations = [v - centre for v in side.values()]
            residuals += zip(side, deviations, strict=True)
            scale += 1.0 / len(side) / len(sessions) ** 2
            df += len(side) - 1
            if len(side) > 1:
                part = math.fsum(d * d for d in deviations) / (len(side) - 1) / len(side) / len(sessions) ** 2
                welch_variance += part
                welch_denominator += part * part / (len(side) - 1)
        differences.append(centres[1] - centres[0])
    complete = all(len(side[s]) > 1 for side in (reference, new) for s in sessions)
    own = complete and welch_denominator > 0.0
    total = math.fsum(r * r for _, r in residuals)
    return Effect(
        STRATIFIED, math.fsum(differences) / len(sessions), total / df if df else None, df, scale,
        (sum(map(len, reference.values())), sum(map(len, new.values()))), tuple(residuals),
        math.sqrt(welch_variance) if own else None, welch_variance**2 / welch_denominator if own else None,
    )  # fmt: skip


def welch(sides: Sequence[Sequence[float]]) -> tuple[float | None, float | None]:
    """Standard error and degrees of freedom of a difference of means (Welch 1947). None if a side
    has a single value."""
    if any(len(side) < 2 for side in sides):
        return None, None
    parts = []
    for side in sides:
        centre = math.fsum(side) / len(side)
        parts.append(math.fsum((v - centre) ** 2 for v in side) / (len(side) - 1) / len(side))
    total = math.fsum(parts)
    if total == 0.0:
        return 0.0, float(sum(len(side) for side in sides) - 2)
    df = total**2 / math.fsum(p * p / (len(side) - 1) for p, side in zip(parts, sides, strict=True))
    return math.sqrt(total), df


def interval(difference: float, se: float, df: float, confidence: float = 0.95) -> tuple[float, float]:
    """The two-sided confidence interval of a difference."""
    half = student.quantile(0.5 + confidence / 2.0, df) * se
    return difference - half, difference + half
