"""Means of launches: the arithmetic mean with the smallest and the largest value, as ISx and many
papers have them, and the geometric mean with its 95 % interval: over sessions if there are several,
else over launches. The value of a launch is its median over repetitions."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any

from longshore_study.base.groups import mean_by
from longshore_study.base.json_values import canonical
from longshore_study.metrics.launch_metrics import Figure, one_simulated_machine
from longshore_study.metrics.variant_rows import reading_order
from longshore_study.patterns import facts_of, pattern_rank
from longshore_study.stats import effect


@dataclass(frozen=True)
class Mean:
    """The launches of one variant, with their means."""

    study: str
    tag: str
    pattern: str
    metric: str
    unit: str
    better: str
    factors: Mapping[str, Any]
    values: tuple[float, ...]
    """The value of each launch, in the order of the files."""
    sessions: int
    geometric: float
    interval: tuple[float, float] | None
    """None if the data do not show how much launches, or sessions, differ."""
    pooled: Mapping[str, int]
    """The number of levels of each factor whose levels were merged."""
    per: str = ""
    simulated: str | None = None

    @property
    def mean(self) -> float:
        return fmean(self.values)


def means_of(figures: Iterable[Figure], *, pooled: Collection[str] = ()) -> list[Mean]:
    """A row per shown metric, variant and cell. Launches that differ only in `pooled` share one."""
    groups: dict[tuple[str, ...], list[Figure]] = defaultdict(list)
    for figure in figures:
        key = figure.key
        facts = facts_of(key.pattern)
        # Other programs have patterns whose main metric is known from their figures only.
        is_main = key.metric == facts.main or (figure.main and not facts.main)
        if key.metric in facts.mean_metrics or (is_main and not facts.mean_metrics):
            factors = canonical(_factors(figure, pooled))
            groups[key.study, figure.tag, key.pattern, key.metric, factors].append(figure)
    return sorted(
        (_mean(members, pooled) for members in groups.values()),
        key=lambda row: (pattern_rank(row.pattern), row.study, row.tag, row.metric, reading_order(row.factors)),
    )


def _factors(figure: Figure, pooled: Collection[str]) -> dict[str, Any]:
    return {name: level for name, level in figure.key.shown_factors.items() if name not in pooled}


def _mean(figures: Sequence[Figure], pooled: Collection[str]) -> Mean:
    first, simulated = figures[0], one_simulated_machine(figures, "a mean")
    levels = {name: {canonical({"": figure.key.shown_factors.get(name)}) for figure in figures} for name in pooled}
    by_session = mean_by(figures, lambda figure: figure.session, lambda figure: math.log(figure.value))
    units = list(by_session.values()) if len(by_session) > 1 else [math.log(figure.value) for figure in figures]
    return Mean(
        study=first.key.study,
        tag=first.tag,
        pattern=first.key.pattern,
        metric=first.key.metric,
        unit=first.unit,
        better=first.better,
        per=first.per,
        factors=_factors(first, pooled),
        values=tuple(figure.value for figure in figures),
        sessions=len(by_session),
        geometric=math.exp(fmean(units)),
        interval=None if simulated else _interval(units),
        simulated=simulated,
        pooled={name: len(of_factor) for name, of_factor in levels.items() if len(of_factor) > 1},
    )


def _interval(logs: Sequence[float]) -> tuple[float, float] | None:
    """The 95 % interval of the geometric mean, by Student's t on the logarithms."""
    if len(logs) < 2 or (spread := stdev(logs)) <= 0.0:
        return None
    low, high = effect.interval(fmean(logs), spread / math.sqrt(len(logs)), len(logs) - 1.0)
    return (math.exp(low), math.exp(high))
