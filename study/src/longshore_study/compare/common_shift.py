"""The common shift: the change of the speed of the whole machine between the two sides, as the
control cells (memory copy, ping-pong) measure it. The other rows prove nothing: if half of the
strategies regressed, subtracting the median of all rows would show the other half as improved."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from longshore_study.base.groups import grouped
from longshore_study.stats import verdict
from longshore_study.stats.verdict import Measured


@dataclass(frozen=True)
class CommonShift:
    """The measured shift, and whether it is removed from the rows (`reason` tells why)."""

    measured: Measured | None = None
    """None without controls."""
    kernels: dict[str, Measured] = field(default_factory=dict)
    removed: bool = False
    verdict: str | None = None
    """The verdict on the shift itself against the margin; None without controls."""
    holm_p: float = 1.0
    """The p value of the exit status: with Holm's correction over the rows and the shift."""
    reason: str = "no control cells on both sides: nothing is removed"

    @property
    def ratio(self) -> float | None:
        """The relative speed of the new side, below 1 if slower, also for latencies."""
        return math.exp(self.measured.difference) if self.measured else None

    @property
    def interval(self) -> tuple[float, float] | None:
        if self.measured is None:
            return None
        low, high = self.measured.interval
        return math.exp(low), math.exp(high)

    def remove_from(self, row: Measured) -> Measured:
        """The row without the shift: variances add up, degrees of freedom by Satterthwaite."""
        if self.measured is None:
            return row
        difference = row.difference - self.measured.difference
        row_variance, shift_variance = row.se**2, self.measured.se**2
        variance = row_variance + shift_variance
        if variance == 0.0:
            return Measured(difference, 0.0, row.df)
        denominator = row_variance**2 / row.df + shift_variance**2 / self.measured.df
        df = variance**2 / denominator if denominator > 0.0 else math.inf
        return Measured(difference, math.sqrt(variance), df)


def find_shift(controls: Sequence[tuple[str, Measured]], margin: float) -> CommonShift:
    """The shift: the mean over kernels of the mean over the cells of a kernel. `controls` are pairs
    of a control kernel and the difference of a cell."""
    if not controls:
        return CommonShift()
    by_kernel = grouped(controls, lambda control: control[0])
    kernels = {kernel: _mean([cell for _, cell in members]) for kernel, members in by_kernel.items()}
    shift = _mean(list(kernels.values()))
    low, high = shift.interval
    judged = verdict.judge([shift], margin)[0].verdict
    if low <= 0.0 <= high:
        return CommonShift(shift, kernels, verdict=judged, reason="the controls show no shift: nothing is removed")
    if _agree(kernels, shift):
        reason = "the controls show a shift: rows are judged relative to it"
        return CommonShift(shift, kernels, removed=True, verdict=judged, reason=reason)
    # The machine did not change as a whole.
    reason = "the controls contradict each other: nothing is removed"
    return CommonShift(shift, kernels, verdict=verdict.INCONCLUSIVE, reason=reason)


def _agree(kernels: dict[str, Measured], shift: Measured) -> bool:
    """Whether every kernel has the sign of the shift, and the shift in its 95 % interval."""
    bounds = [(kernel.difference, *kernel.interval) for kernel in kernels.values()]
    return all(low <= shift.difference <= high and own * shift.difference > 0.0 for own, low, high in bounds)


def _mean(controls: Sequence[Measured]) -> Measured:
    """The mean of controls that share sessions. Their errors are assumed to be fully correlated. So
    the standard error is the mean of their standard errors, and the smallest degrees of freedom
    count."""
    count = len(controls)
    return Measured(
        math.fsum(control.difference for control in controls) / count,
        math.fsum(control.se for control in controls) / count,
        min(control.df for control in controls),
    )
