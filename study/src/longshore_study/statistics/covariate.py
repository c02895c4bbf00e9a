"""Noise that a second number shows: the analysis of covariance (Fisher 1932; in the A/B tests of the web "CUPED", Deng
and others 2013). The pulse of the machine is measured right beside each figure; what both have in common over the
launches of one side is the machine's mood, and is taken out of the difference between the sides.

Only where the pulse itself does not differ between the sides more than by chance: a state that makes the machine's
messages slower makes the pulse slower too, and that is a difference to be reported, not to be explained away. So a row
is never moved further than its noise without the covariate would allow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from longshore_study.statistics import student
from longshore_study.statistics.effect import STRATIFIED, Effect

LEAST_DF = 8
"""Degrees of freedom without the covariate, of which its slope takes one: with fewer it costs more than it gives."""
CHANCE = 0.01
"""At which two sides' pulses differ. Small, since of two equal sides those that are put aside for a difference by
chance are the very ones whose figures differ by chance too."""

Sides = tuple[Mapping[str, Mapping[Any, float]], Mapping[str, Mapping[Any, float]]]
"""Of the reference and the new side: session -> launch -> number."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    slope: float
    """By how much the figure follows the pulse, both as logarithms."""
    moved: float
    """By how much the difference was moved, as a logarithm of goodness."""
    explained: float
    """The part of the variance between launches that the pulse took away, 0 to 1."""


def adjust(plain: Effect, pulses: Sides) -> tuple[Effect, Adjustment] | None:
    """The effect with the pulse's part taken out; None where that cannot be done or must not.

    REQUIRES: where `plain` is stratified, `pulses` has the sessions and launches that it was made of.
    """
    if plain.design != STRATIFIED or plain.df < LEAST_DF or plain.variance is None:
        return None
    deviations, shift = _by_launch(pulses)
    own = dict(plain.residuals)
    spread = math.fsum(c * c for c in deviations.values())
    if spread == 0.0 or _differs(shift, spread / plain.df * plain.scale, plain.df):
        return None
    slope = math.fsum(deviations[k] * own[k] for k in own) / spread
    residuals = tuple((k, r - slope * deviations[k]) for k, r in plain.residuals)
    df = plain.df - 1
    left = math.fsum(r * r for _, r in residuals)
    before = plain.variance * plain.df
    adjusted = replace(
        plain,
        difference=plain.difference - slope * shift,
        variance=left / df,
        df=df,
        scale=plain.scale + shift * shift / spread,
        residuals=residuals,
    )
    return adjusted, Adjustment(slope, -slope * shift, 1.0 - left / before if before else 0.0)


def _by_launch(pulses: Sides) -> tuple[dict[Any, float], float]:
    """Deviations from the mean of their side and session, and the mean over the sessions of the sides' difference."""
    deviations: dict[Any, float] = {}
    shifts = []
    for session in sorted(pulses[0]):
        centres = []
        for side in pulses:
            centre = math.fsum(side[session].values()) / len(side[session])
            centres.append(centre)
            deviations |= {launch: value - centre for launch, value in side[session].items()}
        shifts.append(centres[1] - centres[0])
    return deviations, math.fsum(shifts) / len(shifts)


def _differs(shift: float, variance: float, df: int) -> bool:
    return student.two_sided(shift / math.sqrt(variance), df) <= CHANCE
