"""Noise that a second number shows: the analysis of covariance (Fisher 1932; in the A/B tests of
the web "CUPED", Deng and others 2013). The pulse of the machine is measured right beside each
figure; what both have in common over the launches of one side is the machine's mood, and is taken
out of the difference between the sides.

Only where the pulse itself does not differ between the sides more than by chance: a state that
makes the machine's messages slower makes the pulse slower too, and that is a difference to be
reported, not to be explained away. So a row is never moved further than its noise without the
covariate would allow.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from longshore_study.stats import student
from longshore_study.stats.effect import STRATIFIED, Effect

LEAST_DF = 8
"""Degrees of freedom without the covariate, of which its slope takes one: with fewer it costs more
than it gives."""
CHANCE = 0.01
"""At which two sides' pulses differ. Small, since of two equal sides those that are put aside for a
difference by chance are the very ones whose figures differ by chance too."""

Sides = tuple[Mapping[str, Mapping[Any, float]], Mapping[str, Mapping[Any, float]]]
"""Of the reference and the new side: session -> launch -> number."""


CLEAR_GAP = 4.0
"""Between two groups of pulses, in standard deviations within them: a machine whose cores are near
each other in some launches and far in others is two machines, and figures need not follow from one
to the other as they do within each."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    slope: float
    """By how much the figure follows the pulse, both as logarithms; within the groups, where there
    are two."""
    plain: Effect
    """The effect with the pulse's part still in it."""
    explained: float
    """The part of the variance between launches that the pulse took away, 0 to 1."""
    groups: int = 1
    """2: pulses form two groups, and each has a level of its own."""


@dataclass(slots=True)
class _Column:
    """A covariate: by launch its deviation from the mean of its side and session, and by how much
    the sides differ."""

    deviations: dict[Any, float]
    shift: float

    @property
    def spread(self) -> float:
        return _product(self.deviations, self.deviations)

    def without(self, other: _Column) -> _Column:
        """What of it the other does not say already."""
        shared = _product(self.deviations, other.deviations) / other.spread
        left = {launch: value - shared * other.deviations[launch] for launch, value in self.deviations.items()}
        return _Column(left, self.shift - shared * other.shift)


def adjust(plain: Effect, pulses: Sides) -> tuple[Effect, Adjustment] | None:
    """The effect with the pulse's part taken out; None where that cannot be done or must not.

    REQUIRES: where `plain` is stratified, `pulses` has the sessions and launches that it was made
    of.
    """
    if plain.design != STRATIFIED or plain.df < LEAST_DF or plain.variance is None:
        return None
    pulse = _column(pulses)
    if pulse.spread == 0.0 or _differs(pulse.shift, pulse.spread / plain.df * plain.scale, plain.df):
        return None
    group = _column(_groups(pulses))
    columns = [pulse]
    if group.spread > 0.0 and plain.df > LEAST_DF:  # then the slope is that within the groups
        inner = pulse.without(group)
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
            centre = math.fsum(side[session].values()) / len(side[session])
            centres.append(centre)
            deviations |= {launch: value - centre for launch, value in side[session].items()}
        shifts.append(centres[1] - centres[0])
    return _Column(deviations, math.fsum(shifts) / len(shifts))


def _groups(pulses: Sides) -> Sides:
    """By launch 0 or 1: on which side of the widest gap between pulses it is; 0 where that gap is
    not clear."""
    ordered = sorted(value for side in pulses for session in side.values() for value in session.values())
    gaps = [(after - before, place) for place, (before, after) in enumerate(itertools.pairwise(ordered), 1)]
    gap, place = max(gaps[1:-1], default=(0.0, 0))  # a single launch is no group
    limit = ordered[place] if gap > CLEAR_GAP * _spread_within(ordered[:place], ordered[place:]) else math.inf
    reference, new = (
        {session: {launch: float(value >= limit) for launch, value in of.items()} for session, of in side.items()}
        for side in pulses
    )
    return reference, new


def _spread_within(*groups: Sequence[float]) -> float:
    squares = math.fsum(statistics.variance(group) * (len(group) - 1) for group in groups if len(group) > 1)
    return math.sqrt(squares / max(1, sum(len(group) - 1 for group in groups)))


def _product(one: Mapping[Any, float], other: Mapping[Any, float]) -> float:
    return math.fsum(value * other[launch] for launch, value in one.items())


def _differs(shift: float, variance: float, df: int) -> bool:
    return student.two_sided(shift / math.sqrt(variance), df) <= CHANCE
