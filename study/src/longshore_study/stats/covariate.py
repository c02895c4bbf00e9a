"""Analysis of covariance (Fisher 1932; "CUPED" in A/B tests of the web, Deng and others 2013):
removes noise that a second measurement explains. That is the noise probe, a small exchange right
before each repetition. docs/explanation/statistics.md, "The noise probe", has formulas and reasons.

The adjustment applies only if the probes of the two sides do not differ significantly, because a
change that slows down messages also slows down the probe, and must be reported."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from longshore_study.stats import student
from longshore_study.stats.effect import STRATIFIED, Effect, Sessions

MIN_DF = 8
"""With fewer degrees of freedom the adjustment costs more than it gains."""
CHANCE = 0.01
"""Significance level of the test that the probes of the two sides differ. The level is small
because rows whose probes differ by chance are also the rows whose metrics differ by chance."""
CLEAR_GAP = 4.0
"""Smallest gap between two groups of probes, in standard deviations within the groups. Two groups
arise if some launches run on near cores and others on far cores."""

Sides = tuple[Sessions, Sessions]
"""The reference and the new side."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What `adjust` removed from the effect of a row, and the effect before that."""

    slope: float
    """Slope of the log metric over the log probe. With two groups: the slope within a group."""
    plain: Effect
    explained: float
    """The part of the variance between launches that the probe explains, 0 to 1."""
    groups: int = 1
    """2 if the probes form two groups with different levels, else 1."""


@dataclass(slots=True)
class _Column:
    """The deviation of each launch from its side and session, and the difference of the sides."""

    deviations: dict[Any, float]
    shift: float

    @property
    def spread(self) -> float:
        return _product(self.deviations, self.deviations)

    def without(self, other: _Column) -> _Column:
        """The part of this covariate that `other` does not explain."""
        shared = _product(self.deviations, other.deviations) / other.spread
        left = {launch: value - shared * other.deviations[launch] for launch, value in self.deviations.items()}
        return _Column(left, self.shift - shared * other.shift)


def adjust(plain: Effect, probes: Sides, groups: Sides | None = None) -> tuple[Effect, Adjustment] | None:
    """The effect without the part that the probe explains. None if the adjustment does not apply.

    `groups` has 1 for each launch on far cores, and 0 for the others, if their distance was
    measured. Without `groups`, the probes show whether there are two groups.

    REQUIRES: if `plain` is stratified, `probes` and `groups` have the same sessions and launches.
    """
    if plain.design != STRATIFIED or plain.df < MIN_DF or plain.variance is None:
        return None
    probe = _column(probes)
    group = _column(groups or _groups(probes))
    if probe.spread == 0.0 or _differs(probe, plain) or (groups and group.spread > 0.0 and _differs(group, plain)):
        return None
    columns = [probe]
    if group.spread > 0.0 and plain.df > MIN_DF:  # the slope within the groups
        inner = probe.without(group)
        columns = [group, inner] if inner.spread > 0.0 else columns
    difference, scale, left = plain.difference, plain.scale, dict(plain.residuals)
    slope = 0.0
    for column in columns:
        slope = _product(left, column.deviations) / column.spread
        difference -= slope * column.shift
        scale += column.shift**2 / column.spread
        left = {launch: value - slope * column.deviations[launch] for launch, value in left.items()}
    df = plain.df - len(columns)
    squares, before = _product(left, left), plain.variance * plain.df
    residuals = tuple(left.items())
    adjusted = replace(plain, difference=difference, variance=squares / df, df=df, scale=scale, residuals=residuals)
    explained = 1.0 - squares / before if before else 0.0
    return adjusted, Adjustment(slope, plain, explained, len(columns))


def _column(sides: Sides) -> _Column:
    deviations: dict[Any, float] = {}
    shifts = []
    for session in sorted(sides[0]):
        centres = []
        for side in sides:
            centre = fmean(side[session].values())
            centres.append(centre)
            deviations |= {launch: value - centre for launch, value in side[session].items()}
        shifts.append(centres[1] - centres[0])
    return _Column(deviations, fmean(shifts))


def _groups(probes: Sides) -> Sides:
    """The group of each launch: 1 above the widest gap between probes, if that is clear."""
    ordered = sorted(value for side in probes for session in side.values() for value in session.values())
    gaps = [(after - before, index) for index, (before, after) in enumerate(itertools.pairwise(ordered), 1)]
    gap, split = max(gaps[1:-1], default=(0.0, 0))  # a group has at least two launches
    limit = ordered[split] if gap > CLEAR_GAP * _spread_within(ordered[:split], ordered[split:]) else math.inf
    reference, new = (
        {session: {launch: float(value >= limit) for launch, value in of.items()} for session, of in side.items()}
        for side in probes
    )
    return reference, new


def _spread_within(*groups: Sequence[float]) -> float:
    squares = math.fsum(statistics.variance(group) * (len(group) - 1) for group in groups if len(group) > 1)
    return math.sqrt(squares / max(1, sum(len(group) - 1 for group in groups)))


def _product(left: Mapping[Any, float], right: Mapping[Any, float]) -> float:
    return math.fsum(value * right[launch] for launch, value in left.items())


def _differs(column: _Column, plain: Effect) -> bool:
    """Whether the covariate differs between the sides by more than chance."""
    variance = column.spread / plain.df * plain.scale
    return student.two_sided(column.shift / math.sqrt(variance), plain.df) <= CHANCE
