"""The ratio of a compared row: one kind of ratio, with its interval, in every table, file and page.

What is shown is what is judged: the difference from which the shift of the whole machine was taken
out where the controls show one, and the part of the pulse where launches have one. The raw ratio,
that of the two figures as they are, stands beside it with an interval of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from longshore_study.compare.common_shift import CommonShift
from longshore_study.stats import effect
from longshore_study.stats.covariate import Adjustment
from longshore_study.stats.effect import Effect
from longshore_study.stats.moderated import Moderated
from longshore_study.stats.verdict import Measured

STATISTIC = "geometric mean over sessions"
"""What the two figures of a row are; that of a session is the geometric mean of its launches."""
PLAIN = "new / reference"
COMMON_SHIFT, PULSE = "the common shift", "the pulse"
_MOST = 700.0  # of a logarithm: the largest number is a little above


@dataclass(frozen=True, slots=True)
class Estimate:
    """Differences of logarithms of goodness, new less reference; intervals are of 95 %."""

    difference: float
    judged: Measured | None
    """The difference with its error; None where nothing says how much sessions differ."""
    raw: float
    raw_interval: tuple[float, float] | None
    taken_out: tuple[str, ...]
    """What the difference is without, and the raw one is with."""

    @property
    def interval(self) -> tuple[float, float] | None:
        one = self.judged
        return None if one is None else effect.interval(one.difference, one.se, one.df)

    @property
    def kind(self) -> str:
        """What the ratio is, in words."""
        return PLAIN + (f", without {' and '.join(self.taken_out)}" if self.taken_out else "")


def estimate(found: Effect, mod: Moderated | None, adjustment: Adjustment | None, shift: CommonShift) -> Estimate:
    """Of every row that has an effect, also of those that cannot be judged."""
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
    """From the row's own launches: where a pulse is taken out, there are enough of them."""
    if plain.variance is None:
        return None
    return Measured(plain.difference, math.sqrt(plain.variance * plain.scale), float(plain.df))


def ratio(difference: float, better: str) -> float:
    """A difference of logarithms of goodness as a ratio of the metric."""
    sign = -1.0 if better == "lower" else 1.0
    return math.exp(max(-_MOST, min(_MOST, sign * difference)))


def ratios(bounds: tuple[float, float], better: str) -> list[float]:
    """Both ends of an interval likewise, the smaller one first."""
    return sorted(ratio(bound, better) for bound in bounds)


def ratio_document(found: Estimate | None, better: str) -> dict[str, Any]:
    """The keys of a row of `compare --json` and of an exported table."""
    if found is None:
        return {"ratio": None, "interval": None, "ratio_is": None, "raw": None}
    return {
        "ratio": ratio(found.difference, better),
        "interval": ratios(found.interval, better) if found.interval else None,
        "ratio_is": found.kind,
        "raw": {
            "ratio": ratio(found.raw, better),
            "interval": ratios(found.raw_interval, better) if found.raw_interval else None,
        },
    }
