"""The common shift: how much the speed of the whole machine differs between the two sides.

The control cells (memory copy, ping-pong) measure it. The shift is a result of its own. It is
removed from the other rows only where the controls prove it: its 95 % interval excludes zero, and
no control contradicts it. Without controls nothing is removed, because a shift of most rows need
not be a shift of the machine: if half of the strategies regressed, subtracting the median would
show the other half as improved.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from longshore_study.stats import effect, verdict
from longshore_study.stats.verdict import Measured


@dataclass(frozen=True)
class CommonShift:
    measured: Measured | None = None
    """None without controls."""
    kernels: dict[str, Measured] = field(default_factory=dict)
    """The shift that each control kernel shows."""
    removed: bool = False
    verdict: str | None = None
    """The verdict of the shift itself against the margin; None without controls."""
    holm_p: float = 1.0
    """Corrected over the rows of the table and the shift; the exit status rests on it."""
    reason: str = "no control cells on both sides: nothing is removed"

    @property
    def ratio(self) -> float | None:
        """The speed of the new side relative to the reference: below 1 is slower, for latencies
        too."""
        return math.exp(self.measured.difference) if self.measured else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the ratio."""
        if self.measured is None:
            return None
        low, high = effect.interval(self.measured.difference, self.measured.se, self.measured.df)
        return math.exp(low), math.exp(high)

    def remove_from(self, row: Measured) -> Measured:
        """The row relative to the controls.

        The errors of both add up; the degrees of freedom follow Satterthwaite.
        """
        if self.measured is None:
            return row
        own, shift = row.se**2, self.measured.se**2
        total = own + shift
        if total == 0.0:
            return Measured(row.difference - self.measured.difference, 0.0, row.df)
        spread = own**2 / row.df + shift**2 / self.measured.df
        df = total**2 / spread if spread > 0.0 else math.inf
        return Measured(row.difference - self.measured.difference, math.sqrt(total), df)


def find_shift(controls: Sequence[tuple[str, Measured]], margin: float) -> CommonShift:
    """The mean over kernels of the mean over their cells. `controls`: kernel and difference.

    The cells of a kernel share sessions, and so do the kernels. Their errors are assumed to move
    together: the standard error of a mean is the mean of the standard errors, and its degrees of
    freedom are the fewest of all.
    """
    if not controls:
        return CommonShift()
    by_kernel: dict[str, list[Measured]] = defaultdict(list)
    for kernel, one in controls:
        by_kernel[kernel].append(one)
    kernels = {kernel: _mean(ones) for kernel, ones in by_kernel.items()}
    shift = _mean(list(kernels.values()))
    low, high = effect.interval(shift.difference, shift.se, shift.df)
    judged = verdict.judge([shift], margin)[0].verdict
    if low <= 0.0 <= high:
        return CommonShift(shift, kernels, False, judged, reason="the controls show no shift: nothing is removed")
    if not _agree(kernels, shift):
        # The machine did not change as a whole. Each kernel is reported, and the rows stay as they
        # are.
        why = "the controls contradict each other: nothing is removed"
        return CommonShift(shift, kernels, False, verdict.INCONCLUSIVE, reason=why)
    why = "the controls show a shift: rows are judged relative to it"
    return CommonShift(shift, kernels, True, judged, reason=why)


def _agree(kernels: dict[str, Measured], shift: Measured) -> bool:
    for one in kernels.values():
        low, high = effect.interval(one.difference, one.se, one.df)
        if not low <= shift.difference <= high or one.difference * shift.difference <= 0.0:
            return False
    return True


def _mean(ones: Sequence[Measured]) -> Measured:
    count = len(ones)
    return Measured(
        math.fsum(one.difference for one in ones) / count,
        math.fsum(one.se for one in ones) / count,
        min(one.df for one in ones),
    )
