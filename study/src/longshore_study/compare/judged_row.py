"""A row of a comparison with its verdict and all numbers that users see. The table of `longshore
compare` (output/compare_table.py), its JSON (output/compare_document.py) and the report read the
numbers here, so that they agree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from longshore_study.compare.estimate import MAX_LOG, Estimate, metric_ratio, metric_ratios
from longshore_study.metrics.launch_metrics import Figure, Key, by_session
from longshore_study.stats import effect
from longshore_study.stats.covariate import Adjustment
from longshore_study.stats.effect import Effect
from longshore_study.stats.moderated import ModeratedError
from longshore_study.stats.verdict import UNTESTABLE, Judgement

Interval = tuple[float, float]


@dataclass(frozen=True)
class JudgedRow:
    """The figures of both sides for one metric of a variant in a cell, with the verdict on them."""

    key: Key
    reference: tuple[Figure, ...] = ()
    new: tuple[Figure, ...] = ()
    absent: tuple[str | None, str | None] = (None, None)
    """The reasons why the reference and the new side lack the figures of all or some launches."""
    effect: Effect | None = None
    """None if a side has no figures."""
    adjustment: Adjustment | None = None
    """The noise that the noise probe explained, removed from `effect`. None if nothing was."""
    moderated: ModeratedError | None = None
    """The error of the effect, from all rows of the same design. None if it is unknown."""
    estimate: Estimate | None = None
    """None without an effect."""
    judgement: Judgement | None = None
    """None if the row could not be tested."""
    verdict: str = UNTESTABLE
    warnings: tuple[str, ...] = ()

    @property
    def figures(self) -> tuple[Figure, ...]:
        return (*self.reference, *self.new)

    @cached_property
    def factors(self) -> dict[str, Any]:
        return self.key.shown_factors

    @property
    def simulated(self) -> str | None:
        """The simulated machine, or both if the sides have different ones. None if measured."""
        return " and ".join(sorted({figure.simulated for figure in self.figures if figure.simulated})) or None

    @property
    def unit(self) -> str:
        return next((figure.unit for figure in self.figures), "")

    @property
    def per(self) -> str:
        return next((figure.per for figure in self.figures), "")

    @property
    def better(self) -> str:
        return next((figure.better for figure in self.figures), "higher")

    @cached_property
    def reference_mean(self) -> float | None:
        """The figure of the reference, as estimate.STATISTIC defines it."""
        return _mean_of_sessions(self._used[0])

    @cached_property
    def new_mean(self) -> float | None:
        return _mean_of_sessions(self._used[1])

    @property
    def _used(self) -> tuple[Sequence[Figure], Sequence[Figure]]:
        """The figures from which the effect was computed: those of sessions with a partner."""
        if self.effect is None or self.effect.design == effect.UNPAIRED:
            return self.reference, self.new
        shared = {f.session for f in self.reference} & {f.session for f in self.new}
        return [f for f in self.reference if f.session in shared], [f for f in self.new if f.session in shared]

    @cached_property
    def ratio(self) -> float | None:
        """The ratio of the metric, new / reference, without the effects that `ratio_kind` names."""
        return metric_ratio(self.estimate.difference, self.better) if self.estimate else None

    @cached_property
    def interval(self) -> Interval | None:
        return self._interval(self.estimate.interval) if self.estimate else None

    @property
    def ratio_kind(self) -> str:
        """Describes the ratio, with the effects that were removed; empty without a ratio."""
        return self.estimate.kind if self.estimate else ""

    @property
    def raw_ratio(self) -> float | None:
        """The ratio of the two figures, new / reference, with nothing removed."""
        return metric_ratio(self.estimate.raw, self.better) if self.estimate else None

    @property
    def raw_interval(self) -> Interval | None:
        return self._interval(self.estimate.raw_interval) if self.estimate else None

    def _interval(self, bounds: Interval | None) -> Interval | None:
        return metric_ratios(bounds, self.better) if bounds else None

    @property
    def sessions(self) -> tuple[int, int]:
        """The number of sessions of the reference and of the new side."""
        return len({f.session for f in self.reference}), len({f.session for f in self.new})

    @property
    def launches(self) -> tuple[int, int]:
        return len({f.launch for f in self.reference}), len({f.launch for f in self.new})

    @property
    def smallest_slowdown(self) -> float | None:
        """The smallest slowdown to be seen in four of five cases: 0.1 is 10 %. None if untested."""
        return math.expm1(min(MAX_LOG, self.judgement.detectable)) if self.judgement else None


def _mean_of_sessions(figures: Sequence[Figure]) -> float | None:
    sessions = by_session(figures)
    if not sessions:
        return None
    sign = -1.0 if figures[0].better == "lower" else 1.0
    means = [fmean(launches.values()) for launches in sessions.values()]
    return math.exp(sign * fmean(means))
