"""The data of the page, gathered once from stored launches, a comparison and checked guidelines.

metrics/launch_metrics.py decides which results are figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from statistics import median
from typing import Any

from longshore_study.analyses import history
from longshore_study.analyses.best_choices import BestChoice, best_choices
from longshore_study.analyses.winners import RankedVariant, ranked_variants
from longshore_study.attribution.association import Attribution
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import canonical
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.guideline_check import GuidelineRow
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.metrics.launch_metrics import Figure, Key, Measurements, measure_sides
from longshore_study.patterns import pattern_rank
from longshore_study.report.labels import split_by_work
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record
from longshore_study.store.selection import Side, by_machine

Factors = tuple[tuple[str, str], ...]
FigureKey = tuple[str, str, str, Factors]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlottedFigure(Figure):
    """A figure with the facts of its launch and its result. Only downloads have all metrics."""

    side: str
    study: str
    cell_id: str
    launch_index: int
    pattern: str
    factors: dict[str, Any]
    metric: str
    verified: bool | None
    repetitions: int | None
    spread: tuple[float, float] | None
    """The 10th and 90th percentile of the repetitions over the value; None for aggregates."""
    identity: FigureKey
    """Identifies the measured quantity; the same on all sides."""


@dataclass(frozen=True)
class Facts:
    """The measured figures, and the facts of each simulated machine, which no section mixes.

    REQUIRES: the sides have different names. The reference is the first side."""

    stored_sides: tuple[Side, ...]
    """The measured launches of each side, in reading order."""
    comparison: Comparison | None = None
    guidelines: Mapping[str, Sequence[GuidelineRow]] = field(default_factory=dict)
    figures: tuple[PlottedFigure, ...] = ()
    measured: Mapping[str, Measurements] = field(default_factory=dict)
    """The figures of each side, and what did not become a figure."""
    attribution: Attribution | None = None
    history: history.HistoryTable | None = None
    simulated: Mapping[str, Facts] = field(default_factory=dict)
    """The facts of the launches of each simulated machine."""
    simulated_rows: tuple[JudgedRow, ...] = ()
    """The simulated rows of a comparison that also has measured rows."""

    @property
    def all_sides(self) -> tuple[Side, ...]:
        """The measured and the simulated launches of each side. Statistics never use them."""
        kinds = [self, *self.simulated.values()]
        return tuple(
            replace(side, launches=[launch for facts in kinds for launch in facts.stored_sides[index].launches])
            for index, side in enumerate(self.stored_sides)
        )

    @property
    def all_launches(self) -> tuple[Launch, ...]:
        return tuple(chain.from_iterable(side.launches for side in self.all_sides))

    @property
    def sides(self) -> tuple[str, ...]:
        return tuple(side.name for side in self.stored_sides)

    @property
    def launches(self) -> tuple[Launch, ...]:
        return tuple(chain.from_iterable(side.launches for side in self.stored_sides))

    @property
    def imported_from(self) -> list[str]:
        return sorted({launch.source.removeprefix("import ") for launch in self.launches if launch.imported})

    @property
    def failed(self) -> list[tuple[str, Launch]]:
        """The side and the launch of each failure that was not repeated with success."""
        return [(side, launch) for side, measured in self.measured.items() for launch in measured.failed]

    @property
    def absent(self) -> list[tuple[str, Key, str]]:
        """Side, key and reason (`skipped: ` or `failed: `) of each variant without a figure."""
        return [(side, *absent) for side, measured in self.measured.items() for absent in measured.absent.items()]

    @cached_property
    def main_figures(self) -> tuple[PlottedFigure, ...]:
        return tuple(f for f in self.figures if f.main)

    def of_side(self, side: str) -> list[PlottedFigure]:
        """The figures of the main metrics of a side."""
        return [f for f in self.main_figures if f.side == side]

    @cached_property
    def _by_pattern(self) -> dict[str, list[PlottedFigure]]:
        return grouped(self.main_figures, lambda f: f.pattern)

    def of_pattern(self, pattern: str) -> list[PlottedFigure]:
        return self._by_pattern.get(pattern, [])

    def alike(self, pattern: str) -> list[list[PlottedFigure]]:
        """The main figures of a pattern, by metric, unit and kind of work."""
        kinds = grouped(self.of_pattern(pattern), lambda f: (f.metric, f.unit))
        return [group for figures in kinds.values() for group in split_by_work(figures, pattern, lambda f: f.factors)]

    @cached_property
    def ranked(self) -> dict[str, list[RankedVariant]]:
        """The ranked variants by side, without figures above bounds (coverage.py has these)."""
        return {
            side: ranked_variants(f for f in self.of_side(side) if f.why_implausible is None) for side in self.sides
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
    """The facts of measured launches, with those of each simulated machine."""
    kinds = by_machine(launch for side in sides for launch in side.launches)
    rows = comparison.rows if comparison else []
    measured = [row for row in rows if row.simulated is None]
    return replace(
        _facts_of_kind(_sides_of(sides, kinds.pop(None, []))),
        # A comparison that has only simulated rows is shown like one of measured rows.
        comparison=replace(comparison, rows=measured) if comparison and measured else comparison,
        guidelines=dict(guidelines or {}),
        attribution=attribution,
        history=past,
        simulated={str(machine): _facts_of_kind(_sides_of(sides, launches)) for machine, launches in kinds.items()},
        simulated_rows=tuple(row for row in rows if row.simulated is not None) if measured else (),
    )


def _sides_of(sides: Sequence[Side], launches: Sequence[Launch]) -> list[Side]:
    chosen = {id(launch) for launch in launches}
    return [replace(side, launches=[launch for launch in side.launches if id(launch) in chosen]) for side in sides]


def _facts_of_kind(sides: Sequence[Side]) -> Facts:
    """The figures, and what is missing, of measured launches or of those of one machine."""
    # Figures of different studies match only if the sides are studies, not tags.
    with_study = all(side.is_tag for side in sides)
    measured = measure_sides([side.launches for side in sides], metrics=["all"], with_study=with_study)
    figures = tuple(figure for pair in zip(sides, measured, strict=True) for figure in _figures(*pair))
    by_side = {side.name: of_side for side, of_side in zip(sides, measured, strict=True)}
    return Facts(tuple(sides), figures=figures, measured=by_side)


def frozen(factors: Mapping[str, Any]) -> Factors:
    return tuple(sorted((str(k), str(v)) for k, v in factors.items()))


def by_key(figures: Iterable[PlottedFigure]) -> dict[FigureKey, list[PlottedFigure]]:
    return grouped(figures, lambda figure: figure.identity)


def median_value(figures: Sequence[PlottedFigure]) -> float:
    return median(f.value for f in figures)


def _figures(side: Side, measured: Measurements) -> list[PlottedFigure]:
    launches = {str(launch.path): launch for launch in side.launches}
    results = {
        (str(launch.path), r["pattern"], canonical(r["variant"])): r for launch in side.launches for r in launch.results
    }
    figures = []
    for f in measured.figures:
        launch = launches[f.launch]
        result: Record = results[f.launch, f.key.pattern, f.key.variant_text]
        factors = f.key.shown_factors
        figures.append(
            PlottedFigure(
                **{one.name: getattr(f, one.name) for one in fields(Figure)}, side=side.name, study=launch.study,
                cell_id=launch.cell_id, launch_index=launch.launch_index, pattern=f.key.pattern, factors=factors,
                metric=f.key.metric, verified=result.get("verified"), repetitions=result.get("repetitions"),
                spread=_spread(result.get("seconds"), f.better),
                identity=(f.key.study, f.key.pattern, f.key.metric, frozen(factors)),
            )
        )  # fmt: skip
    return figures


def _spread(times: object, better: str) -> tuple[float, float] | None:
    """The 10th and the 90th percentile of a metric, divided by its median, from the times of the
    repetitions. If less is better, the metric grows with the time. If more is better, the metric
    falls with the time."""
    if not isinstance(times, dict):
        return None
    median, low, high = (times.get(k) for k in ("median", "p10", "p90"))
    if not median or not low or not high:
        return None
    return (low / median, high / median) if better == "lower" else (median / high, median / low)
