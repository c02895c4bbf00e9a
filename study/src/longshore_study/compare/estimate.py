"""The ratio of a compared row: one definition, with its interval, for every table, file and page.

The ratio shown is the ratio judged. It is taken after the removal of the common shift, where the
controls prove one, and of the part that the noise probe explains, where launches have a probe. The
raw ratio is that of the two figures as they are; it has an interval of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from longshore_study.compare.common_shift import CommonShift
from longshore_study.stats import effect
from longshore_study.stats.covariate import Adjustment
from longshore_study.stats.effect import Effect
from longshore_study.stats.moderated import Moderated
from longshore_study.stats.verdict import Measured

STATISTIC = "geometric mean over sessions"
"""The statistic of the two figures of a row. The figure of a session is the geometric mean of its
launches."""
PLAIN = "new / reference"
COMMON_SHIFT, PULSE = "the common shift", "the pulse"
_MOST = 700.0  # as a logarithm: a little below the largest number


@dataclass(frozen=True, slots=True)
class Estimate:
    """Differences are of the logarithms of goodness, new minus reference; intervals are of 95 %."""

    difference: float
    judged: Measured | None
    """The difference with its error; None where the data do not tell how much sessions differ."""
    raw: float
    raw_interval: tuple[float, float] | None
    taken_out: tuple[str, ...]
    """The parts that were removed from the difference and are still in the raw one."""

    @property
    def interval(self) -> tuple[float, float] | None:
        one = self.judged
        return None if one is None else effect.interval(one.difference, one.se, one.df)

    @property
    def kind(self) -> str:
        """Describes the ratio in words."""
        return PLAIN + (f", without {' and '.join(self.taken_out)}" if self.taken_out else "")


def estimate(found: Effect, mod: Moderated | None, adjustment: Adjustment | None, shift: CommonShift) -> Estimate:
    """Every row with an effect has an estimate, also a row that cannot be judged."""
    own = Measured(found.difference, mod.se, mod.df) if mod else None
    difference, judged, taken_out = found.difference, own, []
    if shift.removed and shift.measured is not None:
        difference -= shift.measured.difference
        judged = shift.remove_from(own) if own else None
        taken_out.append(COMMON_SHIFT)
    raw, raw_error = found.difference, own
    if adjustment is not None:
        plain = adjustment.plain
        raw, raw_error = plain.difference, _own_error(plain)
        taken_out.append(PULSE)
    raw_interval = effect.interval(raw, raw_error.se, raw_error.df) if raw_error else None
    return Estimate(difference, judged, raw, raw_interval, tuple(taken_out))


def _own_error(plain: Effect) -> Measured | None:
    """The error from the launches of this row alone: a row with a noise probe has enough of
    them."""
    if plain.variance is None:
        return None
    return Measured(plain.difference, math.sqrt(plain.variance * plain.scale), float(plain.df))


def ratio(difference: float, better: str) -> float:
    """Converts a difference of logarithms of goodness to a ratio of the metric."""
    sign = -1.0 if better == "lower" else 1.0
    return math.exp(max(-_MOST, min(_MOST, sign * difference)))


def ratios(bounds: tuple[float, float], better: str) -> list[float]:
    """Converts both ends of an interval; the smaller one comes first."""
    return sorted(ratio(bound, better) for bound in bounds)
