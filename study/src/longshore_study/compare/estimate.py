"""The ratio of a compared row with its interval, as every table, file and page shows the ratio. It
is also the judged ratio. A proven common shift and the noise that the noise probe explains are
removed from it, but not from the raw ratio, which has its own interval."""

import math
from dataclasses import dataclass

from longshore_study.compare.common_shift import CommonShift
from longshore_study.stats.covariate import Adjustment
from longshore_study.stats.effect import Effect
from longshore_study.stats.moderated import ModeratedError
from longshore_study.stats.verdict import Measured, with_own_error

STATISTIC = "geometric mean over sessions"
"""Defines the two figures of a row. The figure of a session is the mean of its launches."""
PLAIN = "new / reference"
COMMON_SHIFT, PULSE = "the common shift", "the pulse"
MAX_LOG = 700.0  # exp(MAX_LOG) is a little below the largest floating-point number


@dataclass(frozen=True, slots=True)
class Estimate:
    """New minus reference in logarithms, positive if new is better, with 95 % intervals."""

    difference: float
    judged: Measured | None
    """The difference with its error; None if the data do not show how much sessions differ."""
    raw: float
    raw_interval: tuple[float, float] | None
    taken_out: tuple[str, ...]
    """The effects that were removed from `difference` but not from `raw`, in words."""

    @property
    def interval(self) -> tuple[float, float] | None:
        return None if self.judged is None else self.judged.interval

    @property
    def kind(self) -> str:
        return PLAIN + (f", without {' and '.join(self.taken_out)}" if self.taken_out else "")


def estimate(found: Effect, mod: ModeratedError | None, adjustment: Adjustment | None, shift: CommonShift) -> Estimate:
    """The estimate of a row with an effect, even if the row cannot be judged."""
    measured = Measured(found.difference, mod.se, mod.df) if mod else None
    difference, judged, taken_out = found.difference, measured, []
    if shift.removed and shift.measured is not None:
        difference -= shift.measured.difference
        judged = shift.remove_from(measured) if measured else None
        taken_out.append(COMMON_SHIFT)
    raw, raw_measured = found.difference, measured
    if adjustment is not None:
        plain = adjustment.plain
        raw, raw_measured = plain.difference, with_own_error(plain)
        taken_out.append(PULSE)
    raw_interval = raw_measured.interval if raw_measured else None
    return Estimate(difference, judged, raw, raw_interval, tuple(taken_out))


def metric_ratio(difference: float, better: str) -> float:
    """Converts a difference of logarithms, positive if better, to a ratio of the metric. `better`
    says which values of the metric are better: `higher` or `lower`."""
    sign = -1.0 if better == "lower" else 1.0
    return math.exp(max(-MAX_LOG, min(MAX_LOG, sign * difference)))


def metric_ratios(bounds: tuple[float, float], better: str) -> tuple[float, float]:
    """Converts the two ends of an interval. The smaller ratio comes first."""
    low, high = sorted(metric_ratio(bound, better) for bound in bounds)
    return low, high
