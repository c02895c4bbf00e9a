"""The data of the page, gathered once from stored launches, a comparison and checked guidelines.

metrics/launch_metrics.py decides which results are figures, for the report and for every verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from statistics import median
from typing import Any

from longshore_study.analyses import history
from longshore_study.analyses.best_choices import BestChoice, best_choices
from longshore_study.analyses.winners import RankedVariant, ranked_variants
from longshore_study.attribution.association import Attribution
from longshore_study.base.json_values import canonical
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.guideline_check import GuidelineRow
from longshore_study.metrics.launch_metrics import Figure, Measurements, main_metric, measure, pattern_rank
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record
from longshore_study.store.selection import Side

Factors = tuple[tuple[str, str], ...]
FigureKey = tuple[str, str, str, Factors]


@dataclass(frozen=True, slots=True)
class PlottedFigure:
    side: str
    study: str
    tag: str
    session: str
    cell_id: str
    launch_index: int
    position: int | None
    pattern: str
    factors: dict[str, Any]
    metric: str
    value: float
    unit: str
    better: str
    # Whether this is the metric by which the pattern is judged; other metrics are only in the
    # downloads.
    main: bool
    # Why the value is not plausible: it is above a bound.
    above: str | None
    verified: bool | None
    repetitions: int | None
    # The spread within the launch, as factors of the value: (p10, p90) of the repetitions; None for
    # aggregates.
    spread: tuple[float, float] | None
    aggregate: bool
    key: FigureKey
    """Identifies what is measured; it is the same on all sides."""


@dataclass(frozen=True, slots=True)
class MissingVariant:
    """A variant without a figure."""

    side: str
    pattern: str
    factors: dict[str, Any]
    # "skipped: ..." or "failed: ..."
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A launch that failed and was not repeated with success."""

    side: str
    launch: Launch


@dataclass(frozen=True)
class Facts:
    """The data of the page. REQUIRES: sides with different names, in reading order, the reference
    first."""

    groups: tuple[Side, ...]
    comparison: Comparison | None = None
    guidelines: Mapping[str, Sequence[GuidelineRow]] = field(default_factory=dict)
    figures: tuple[PlottedFigure, ...] = ()
    # Per side, the figures of the main metrics.
    main_measured: Mapping[str, Sequence[Figure]] = field(default_factory=dict)
    # Per side, all figures.
    all_measured: Mapping[str, Sequence[Figure]] = field(default_factory=dict)
    absent: tuple[MissingVariant, ...] = ()
    failed: tuple[Failed, ...] = ()
    attribution: Attribution | None = None
    history: history.HistoryTable | None = None

    @property
    def sides(self) -> tuple[str, ...]:
        return tuple(side.name for side in self.groups)

    @property
    def launches(self) -> tuple[Launch, ...]:
        return tuple(chain.from_iterable(side.launches for side in self.groups))

    @property
    def imported_from(self) -> list[str]:
        """The programs whose output was imported."""
        return sorted({launch.source.removeprefix("import ") for launch in self.launches if launch.imported})

    @cached_property
    def main_figures(self) -> tuple[PlottedFigure, ...]:
        return tuple(f for f in self.figures if f.main)

    @cached_property
    def _by_pattern(self) -> dict[str, list[PlottedFigure]]:
        found: dict[str, list[PlottedFigure]] = {}
        for f in self.main_figures:
            found.setdefault(f.pattern, []).append(f)
        return found

    def of_pattern(self, pattern: str) -> list[PlottedFigure]:
        return self._by_pattern.get(pattern, [])

    @cached_property
    def ranked(self) -> dict[str, list[RankedVariant]]:
        """Per side, without figures above their bounds: coverage.py lists those."""
        return {
            side: ranked_variants(f for f in found if f.above is None) for side, found in self.main_measured.items()
        }

    @cached_property
    def best_choices(self) -> dict[str, list[BestChoice]]:
        return {side: best_choices(ranked) for side, ranked in self.ranked.items()}

    @property
    def patterns(self) -> list[str]:
        """The patterns with figures, the controls last."""
        return sorted(self._by_pattern, key=pattern_rank)


def gather_facts(
    sides: Sequence[Side],
    comparison: Comparison | None = None,
    guidelines: Mapping[str, Sequence[GuidelineRow]] | None = None,
    *,
    attribution: Attribution | None = None,
    past: history.HistoryTable | None = None,
) -> Facts:
    # Where sides are studies, their figures are matched. Where sides are tags, figures of different
    # studies are not.
    with_study = all(side.is_tag for side in sides)
    measured = [measure(side.launches, metrics=["all"], with_study=with_study) for side in sides]
    pairs = list(zip(sides, measured, strict=True))
    enriched = {side.name: _figures(side, m) for side, m in pairs}
    return Facts(
        groups=tuple(sides),
        comparison=comparison,
        guidelines=dict(guidelines or {}),
        figures=tuple(chain.from_iterable(enriched.values())),
        main_measured={
            side.name: [one for one, f in zip(m.figures, enriched[side.name], strict=True) if f.main]
            for side, m in pairs
        },
        all_measured={side.name: m.figures for side, m in pairs},
        absent=tuple(
            MissingVariant(side.name, key.pattern, key.shown_factors, reason)
            for side, m in pairs
            for key, reason in m.absent.items()
        ),
        failed=tuple(Failed(side.name, launch) for side, m in pairs for launch in m.failed),
        attribution=attribution,
        history=past,
    )


def frozen(factors: Mapping[str, Any]) -> Factors:
    return tuple(sorted((str(k), str(v)) for k, v in factors.items()))


def by_key(figures: Iterable[PlottedFigure]) -> dict[FigureKey, list[PlottedFigure]]:
    groups: dict[FigureKey, list[PlottedFigure]] = {}
    for figure in figures:
        groups.setdefault(figure.key, []).append(figure)
    return groups


def median_value(figures: Sequence[PlottedFigure]) -> float:
    return median(f.value for f in figures)


def _figures(side: Side, measured: Measurements) -> list[PlottedFigure]:
    launches = {str(launch.path): launch for launch in side.launches}
    results = {
        (str(launch.path), r["pattern"], canonical(r["variant"])): r for launch in side.launches for r in launch.results
    }
    found = []
    for f in measured.figures:
        launch = launches[f.launch]
        result: Record = results[f.launch, f.key.pattern, f.key.variant_text]
        factors = f.key.shown_factors
        found.append(
            PlottedFigure(
                side=side.name,
                study=launch.study,
                tag=launch.tag,
                session=f.session,
                cell_id=launch.cell_id,
                launch_index=launch.launch_index,
                position=f.position,
                pattern=f.key.pattern,
                factors=factors,
                metric=f.key.metric,
                value=f.value,
                unit=f.unit,
                better=f.better,
                main=f.key.metric == main_metric(f.key.pattern, result["variant"], result.get("metrics") or {}),
                above=f.above,
                verified=result.get("verified"),
                repetitions=result.get("repetitions"),
                spread=_spread(result.get("seconds")),
                aggregate=launch.imported,
                key=(f.key.study, f.key.pattern, f.key.metric, frozen(factors)),
            )
        )
    return found


def _spread(times: object) -> tuple[float, float] | None:
    """The spread of a rate: the p90 of the time is the low end of the rate."""
    if not isinstance(times, dict):
        return None
    middle, low, high = (times.get(k) for k in ("median", "p10", "p90"))
    if not middle or not low or not high:
        return None
    return (middle / high, middle / low)
