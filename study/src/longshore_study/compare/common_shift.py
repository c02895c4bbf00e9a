"""What the control cells say: did the whole machine get slower, memory copy and ping-pong included?

The shift is a finding of its own. It is taken out of the other rows only when the controls show it:
when its 95 % interval excludes no shift at all, and no control contradicts it. Without controls
nothing is removed, for a shift of most rows is not a shift of the machine: where half of the ways
to communicate regressed, subtracting the median would call the healthy half improved.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from longshore_study.stats import effect, verdict
from longshore_study.stats.verdict import Measured


@dataclass(frozen=True)
class CommonShift:
    measured: Measured | None = None
    kernels: dict[str, Measured] = field(default_factory=dict)
    removed: bool = False
    verdict: str | None = None
    """Of the shift itself against the margin; None without controls."""
    holm_p: float = 1.0
    """Among the rows of the table; the exit status rests on it."""
    reason: str = "no control cells on both sides: nothing is removed"

    def remove_from(self, row: Measured) -> Measured:
        """The row relative to the controls; their uncertainty adds to its own (degrees of freedom
        by Satterthwaite)."""
        if self.measured is None:
            return row
        own, shift = row.se**2, self.measured.se**2
        total = own + shift
        if total == 0.0:
            return Measured(row.difference - self.measured.difference, 0.0, row.df)
        spread = own**2 / row.df + shift**2 / self.measured.df
        df = total**2 / spread if spread > 0.0 else math.inf
        return Measured(row.difference - self.measured.difference, math.sqrt(total), df)

    def document(self) -> dict[str, Any]:
        """Ratios say how good the new side is against the reference: below 1 is slower, for
        latencies too."""
        return {
            **_ratio(self.measured),
            "verdict": self.verdict,
            "removed": self.removed,
            "reason": self.reason,
            "controls": [{"kernel": kernel, **_ratio(one)} for kernel, one in sorted(self.kernels.items())],
        }


def find_shift(controls: Sequence[tuple[str, Measured]], margin: float) -> CommonShift:
    """The mean over kernels of the mean over their cells.

    Cells of one kernel share sessions, and so do kernels; their errors are taken as moving
    together, which makes the standard error of a mean the mean of the standard errors, and the
    fewest degrees of freedom those of all.
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
        # Then the machine has not become slower as a whole; each kernel is reported, and rows are
        # left as they are.
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


def _ratio(one: Measured | None) -> dict[str, Any]:
    if one is None:
        return {"ratio": None, "interval": None}
    bounds = effect.interval(one.difference, one.se, one.df)
    return {"ratio": math.exp(one.difference), "interval": [math.exp(bound) for bound in bounds]}
