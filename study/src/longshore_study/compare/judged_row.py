"""A row of a comparison with its verdict, and the numbers that tables, files and pages show of it.

The columns of `longshore compare` (output/compare_table.py), its JSON (output/compare_document.py)
and the report all read them here, so that they agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from longshore_study.compare.estimate import Estimate, ratio, ratios
from longshore_study.compare.pairing import PairedRow
from longshore_study.compare.row_effect import by_session
from longshore_study.metrics.launch_metrics import Figure
from longshore_study.stats import effect
from longshore_study.stats.covariate import Adjustment
from longshore_study.stats.effect import Effect
from longshore_study.stats.moderated import Moderated
from longshore_study.stats.verdict import UNTESTABLE, Judgement

Interval = tuple[float, float]


@dataclass(frozen=True)
class JudgedRow(PairedRow):
    effect: Effect | None = None
    adjustment: Adjustment | None = None
    moderated: Moderated | None = None
    estimate: Estimate | None = None
    """The ratio and its interval, as every table, file and page shows them; None without effect."""
    judgement: Judgement | None = None
    """None where the row could not be tested."""
    verdict: str = UNTESTABLE
    warnings: tuple[str, ...] = ()

    @cached_property
    def factors(self) -> dict[str, Any]:
        return self.key.shown_factors

    @property
    def unit(self) -> str:
        return next((figure.unit for figure in self.figures), "")

    @property
    def better(self) -> str:
        """`higher` or `lower`."""
        return next((figure.better for figure in self.figures), "higher")

    @cached_property
    def reference_mean(self) -> float | None:
        """The figure of the reference: see estimate.STATISTIC."""
        return _mean_of_sessions(self._used[0])

    @cached_property
    def new_mean(self) -> float | None:
        return _mean_of_sessions(self._used[1])

    @property
    def _used(self) -> tuple[Sequence[Figure], Sequence[Figure]]:
        """The figures that the effect was computed from: sessions without a partner are not among
        them."""
        if self.effect is None or self.effect.design == effect.UNPAIRED:
            return self.reference, self.new
        shared = {f.session for f in self.reference} & {f.session for f in self.new}
        return [f for f in self.reference if f.session in shared], [f for f in self.new if f.session in shared]

    @cached_property
    def ratio(self) -> float | None:
        """The ratio of the metric, new / reference; `ratio_kind` says what was taken out of it."""
        return ratio(self.estimate.difference, self.better) if self.estimate else None

    @cached_property
    def interval(self) -> Interval | None:
        """The 95 % interval of the ratio."""
        return self._interval(self.estimate.interval) if self.estimate else None

    @property
    def ratio_kind(self) -> str:
        """States what was taken out of the ratio; empty without a ratio."""
        return self.estimate.kind if self.estimate else ""

    @property
    def raw_ratio(self) -> float | None:
        """The ratio of the two figures as they are, new / reference."""
        return ratio(self.estimate.raw, self.better) if self.estimate else None

    @property
    def raw_interval(self) -> Interval | None:
        return self._interval(self.estimate.raw_interval) if self.estimate else None

    def _interval(self, bounds: Interval | None) -> Interval | None:
        if bounds is None:
            return None
        low, high = ratios(bounds, self.better)
        return low, high

    @property
    def sessions(self) -> tuple[int, int]:
        """The number of sessions of the reference and of the new side."""
        return len({f.session for f in self.reference}), len({f.session for f in self.new})

    @property
    def launches(self) -> tuple[int, int]:
        return len({f.launch for f in self.reference}), len({f.launch for f in self.new})

    @property
    def smallest_slowdown(self) -> float | None:
        """The smallest slowdown that these data would have shown in four of five cases, as a share:
        0.1 for 10 % slower. None where the row was not tested."""
        return math.expm1(min(700.0, self.judgement.detectable)) if self.judgement else None


def _mean_of_sessions(figures: Sequence[Figure]) -> float | None:
    sessions = by_session(figures)
    if not sessions:
        return None
    sign = -1.0 if figures[0].better == "lower" else 1.0
    means = [math.fsum(launches.values()) / len(launches) for launches in sessions.values()]
    return math.exp(sign * math.fsum(means) / len(means))
