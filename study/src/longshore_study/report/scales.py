"""Axes: converts values to fractions of an axis, and chooses ticks whose labels do not overlap.

A plot is as wide as the reader's page. A tick knows whether its label has room on a phone too; the
style sheet hides labels without room.
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from longshore_study.base.texts import plain_number

# Labels are chosen for these two widths of a plot.
NARROW_PIXELS = 250.0
WIDE_PIXELS = 560.0
DIGIT_PIXELS = 7.0  # mean width of a digit in a label
GAP_PIXELS = 10.0
# The range of normal doubles, which holds the ends of every axis.
_SMALLEST, _LARGEST = sys.float_info.min, sys.float_info.max


@dataclass(frozen=True)
class Tick:
    fraction: float
    label: str
    shown: str
    """Where the label is shown: "always", "wide" (only in a wide plot) or "never"."""


@dataclass(frozen=True)
class Scale:
    """Invariant: low < high; if logarithmic, both are positive."""

    low: float
    high: float
    logarithmic: bool = False

    def fraction(self, value: float) -> float:
        """0 at `low`, 1 at `high`; outside of [0, 1] if the value is off the axis."""
        if not self.logarithmic:
            return (value - self.low) / (self.high - self.low)
        if value <= 0:
            return -math.inf
        return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))

    def clipped(self, value: float) -> float:
        return min(1.0, max(0.0, self.fraction(value)))

    def ticks(self, label: Callable[[float], str] = plain_number, count: int = 6) -> list[Tick]:
        if self.logarithmic and self.low <= self.high / 4:
            return self.ticks_at(_log_values(self.low, self.high), label)
        # A short logarithmic axis gets linear ticks. They lie dense at its upper end and sparse at
        # its lower end. More ticks fill the lower end.
        return self.ticks_at(_linear_values(self.low, self.high, count + 4 if self.logarithmic else count), label)

    def ticks_at(self, values: Iterable[float], label: Callable[[float], str]) -> list[Tick]:
        """Ticks at the values on the axis. Of overlapping labels, the roundest stays."""
        inside = [v for v in values if -1e-9 <= self.fraction(v) <= 1 + 1e-9]
        spots = [(self.fraction(v), label(v), _roundness(v)) for v in inside]
        wide = _without_overlap(spots, WIDE_PIXELS)
        narrow = _without_overlap([s for i, s in enumerate(spots) if i in wide], NARROW_PIXELS)
        kept = [sorted(wide)[i] for i in narrow]
        return [
            Tick(fraction, text, "always" if i in kept else "wide" if i in wide else "never")
            for i, (fraction, text, _) in enumerate(spots)
        ]


def linear_from_zero(values: Iterable[float]) -> Scale:
    """An axis from 0 to a little above the largest value."""
    top = max((v for v in values if math.isfinite(v)), default=1.0)
    return Scale(0.0, min(_LARGEST, max(_SMALLEST, (top if top > 0 else 1.0) * 1.08)))


def log_around(values: Iterable[float], padding: float = 1.12) -> Scale:
    """A logarithmic axis for the positive values, extended by a factor `padding` at both ends."""
    positive = [v for v in values if _SMALLEST <= v <= _LARGEST]
    low, high = (min(positive), max(positive)) if positive else (1.0, 10.0)
    return Scale(max(_SMALLEST, low / padding), min(_LARGEST, high * padding), logarithmic=True)


def for_figures(values: Sequence[float]) -> Scale:
    """An axis linear from 0 if small values stay readable, else logarithmic."""
    positive = [v for v in values if v > 0 and math.isfinite(v)]
    if positive and max(positive) / 12 > min(positive):
        return log_around(positive, 1.25)
    return linear_from_zero(positive)


def titled(title: str, scale: Scale) -> str:
    """The title of an axis, which says whether the axis is logarithmic."""
    return title + (", log axis" if scale.logarithmic else "")


def for_sequence(last: int) -> tuple[Scale, list[Tick]]:
    """An axis for the numbers from 1 to `last`, with ticks at 1 and at the multiples of a step."""
    scale, step = Scale(0.5, last + 0.5), math.ceil(last / 6)
    return scale, scale.ticks_at([1.0, *(float(k) for k in range(step, last + 1, step) if k > 1)], plain_number)


def _log_values(low: float, high: float) -> list[float]:
    decades = math.log10(high) - math.log10(low)
    steps = (1, 2, 5) if decades < 4 else (1,)
    stride = max(1, math.ceil(decades / 8))
    first, last = math.floor(math.log10(low)), min(sys.float_info.max_10_exp, math.ceil(math.log10(high)))
    powers = [p for p in range(first, last + 1) if p % stride == 0]
    return [m * 10.0**p for p in powers for m in steps if low <= m * 10.0**p <= high]


def _linear_values(low: float, high: float, count: int) -> list[float]:
    raw = (high - low) / max(1, count)
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _roundness(value: float) -> int:
    """Ranks values, the roundest first: 0 and 1, powers of ten, 5 and 2 times these, others."""
    if value in (0, 1):
        return 0
    mantissa = abs(value) / 10.0 ** math.floor(math.log10(abs(value)) + 1e-12)
    for rank, round_mantissa in enumerate((1.0, 5.0, 2.0), start=1):
        if math.isclose(mantissa, round_mantissa, rel_tol=1e-9):
            return rank
    return 4


def _without_overlap(spots: Sequence[tuple[float, str, int]], pixels: float) -> set[int]:
    """The indices of the labels that fit. `spots`: fraction, label and roundness of each tick."""
    extents: dict[int, tuple[float, float]] = {}
    for index in sorted(range(len(spots)), key=lambda i: (spots[i][2], i)):
        fraction, text, _ = spots[index]
        half = len(text) * DIGIT_PIXELS / 2
        centre = fraction * pixels
        if all(
            centre + half + GAP_PIXELS <= low or centre - half - GAP_PIXELS >= high for low, high in extents.values()
        ):
            extents[index] = (centre - half, centre + half)
    return set(extents)
