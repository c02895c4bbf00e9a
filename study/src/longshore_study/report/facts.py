"""What the page shows, gathered once from stored launches and from the documents of `compare` and
`guidelines`.

A Figure is one metric of one variant in one launch: the dot of the plots. Which results are
figures, and which are not and why, is decided by metrics/launch_metrics.py, the same for the report
and for every verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from statistics import median
from typing import Any

from longshore_study.analyses import history
from longshore_study.analyses.best_choices import Answer, answers
from longshore_study.analyses.winners import Entry, entries
from longshore_study.base.json_values import canonical, number_in
from longshore_study.metrics.launch_metrics import Figure as Measurement
from longshore_study.metrics.launch_metrics import Key, Measured, main_metric, measure, pattern_rank
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record
from longshore_study.store.selection import Side

Factors = tuple[tuple[str, str], ...]
FigureKey = tuple[str, str, str, Factors]


@dataclass(frozen=True, slots=True)
class Figure:
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
    # Whether this is the metric by which the pattern is judged; the others are in the data to
    # download.
    main: bool
    # Why the value cannot be: it is above a bound.
    above: str | None
    verified: bool | None
    repetitions: int | None
    # The spread inside the launch, as factors on the value: (p10, p90) of the repetitions; None for
    # aggregates.
    spread: tuple[float, float] | None
    aggregate: bool
    key: FigureKey
    """What is measured, the same on all sides."""


@dataclass(frozen=True, slots=True)
class Absent:
    """A variant without a figure."""

    side: str
    pattern: str
    factors: dict[str, Any]
    # "skipped: ..." or "failed: ..."
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A launch that is not to be trusted and was not repeated with success."""

    side: str
    launch: Launch


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a comparison."""

    pattern: str
    factors: dict[str, Any]
    metric: str
    better: str
    verdict: str
    ratio: float | None
    interval: tuple[float, float] | None
    reference: float | None
    new: float | None
    unit: str
    sessions: tuple[int, int]
    warnings: tuple[str, ...]
    smallest_slowdown: float | None = None
    """What these data would have shown in four of five cases, as a share."""
    ratio_is: str = ""
    """What was taken out of the ratio, in words; the raw one has it still."""
    raw_ratio: float | None = None
    raw_interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Comparison:
    reference: str
    new: str
    margin: float
    verdict: str
    rows: tuple[Row, ...]
    common_shift: Mapping[str, Any]
    raw: Mapping[str, Any]


@dataclass(frozen=True)
class Facts:
    """REQUIRES: sides with different names, in the order in which they are to be read, the
    reference first."""

    groups: tuple[Side, ...]
    comparison: Comparison | None = None
    guidelines: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    # Per side the figures of longshore_study.metrics.launch_metrics by which patterns are judged.
    main_measured: Mapping[str, Sequence[Measurement]] = field(default_factory=dict)
    # Per side all figures of longshore_study.metrics.launch_metrics.
    all_measured: Mapping[str, Sequence[Measurement]] = field(default_factory=dict)
    absent: tuple[Absent, ...] = ()
    failed: tuple[Failed, ...] = ()
    # What `attribute --json` says of the comparison.
    attribution: Mapping[str, Any] | None = None
    history: history.Table | None = None

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
    def main_figures(self) -> tuple[Figure, ...]:
        return tuple(f for f in self.figures if f.main)

    @cached_property
    def _by_pattern(self) -> dict[str, list[Figure]]:
        found: dict[str, list[Figure]] = {}
        for f in self.main_figures:
            found.setdefault(f.pattern, []).append(f)
        return found

    def of_pattern(self, pattern: str) -> list[Figure]:
        return self._by_pattern.get(pattern, [])

    @cached_property
    def ranked(self) -> dict[str, list[Entry]]:
        """Per side. A figure above its bound is told under what is missing, and wins nothing."""
        return {side: entries(f for f in found if f.above is None) for side, found in self.main_measured.items()}

    @cached_property
    def answers(self) -> dict[str, list[Answer]]:
        return {side: answers(ranked) for side, ranked in self.ranked.items()}

    @property
    def patterns(self) -> list[str]:
        """Those with figures, the controls last."""
        return sorted(self._by_pattern, key=pattern_rank)


def gather_facts(
    sides: Sequence[Side],
    compared: Mapping[str, Any] | None = None,
    guidelines: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    *,
    attribution: Mapping[str, Any] | None = None,
    past: history.Table | None = None,
) -> Facts:
    # Studies as sides are compared as a whole; under tags, figures of two studies are different
    # things.
    with_study = all(side.is_tag for side in sides)
    measured = [measure(side.launches, metrics=["all"], with_study=with_study) for side in sides]
    pairs = list(zip(sides, measured, strict=True))
    enriched = {side.name: _figures(side, m) for side, m in pairs}
    return Facts(
        groups=tuple(sides),
        comparison=read_comparison(compared) if compared else None,
        guidelines=dict(guidelines or {}),
        figures=tuple(chain.from_iterable(enriched.values())),
        main_measured={
            side.name: [one for one, f in zip(m.figures, enriched[side.name], strict=True) if f.main]
            for side, m in pairs
        },
        all_measured={side.name: m.figures for side, m in pairs},
        absent=tuple(
            Absent(side.name, key.pattern, factors_of(key), reason)
            for side, m in pairs
            for key, reason in m.absent.items()
        ),
        failed=tuple(Failed(side.name, launch) for side, m in pairs for launch in m.failed),
        attribution=attribution,
        history=past,
    )


def read_comparison(compared: Mapping[str, Any]) -> Comparison:
    return Comparison(
        reference=str(compared["reference"]),
        new=str(compared["new"]),
        margin=float(compared["margin"]),
        verdict=str(compared["verdict"]),
        rows=tuple(_row(row) for row in compared["rows"]),
        common_shift=compared.get("common_shift") or {},
        raw=compared,
    )


def factors_of(key: Key) -> dict[str, Any]:
    """The cell's factors, then the variant's: together they say what was run."""
    return told_factors({**key.cell, **key.variant})


def told_factors(factors: Mapping[str, Any]) -> dict[str, Any]:
    """Without the name of the program, which the pattern says already."""
    return {k: v for k, v in factors.items() if k not in ("pattern", "program")}


def frozen(factors: Mapping[str, Any]) -> Factors:
    return tuple(sorted((str(k), str(v)) for k, v in factors.items()))


def by_key(figures: Iterable[Figure]) -> dict[FigureKey, list[Figure]]:
    groups: dict[FigureKey, list[Figure]] = {}
    for figure in figures:
        groups.setdefault(figure.key, []).append(figure)
    return groups


def median_value(figures: Sequence[Figure]) -> float:
    return median(f.value for f in figures)


def _figures(side: Side, measured: Measured) -> list[Figure]:
    launches = {str(launch.path): launch for launch in side.launches}
    results = {
        (str(launch.path), r["pattern"], canonical(r["variant"])): r for launch in side.launches for r in launch.results
    }
    found = []
    for f in measured.figures:
        launch = launches[f.launch]
        result: Record = results[f.launch, f.key.pattern, f.key.variant_text]
        factors = factors_of(f.key)
        found.append(
            Figure(
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
    """Of a rate: the time's p90 is the rate's low end."""
    if not isinstance(times, dict):
        return None
    middle, low, high = (times.get(k) for k in ("median", "p10", "p90"))
    if not middle or not low or not high:
        return None
    return (middle / high, middle / low)


def _row(row: Mapping[str, Any]) -> Row:
    raw = row.get("raw") or {}
    sessions = row.get("sessions") or (0, 0)
    return Row(
        pattern=str(row["pattern"]),
        factors=told_factors({**(row.get("between") or {}), **row["variant"]}),
        metric=str(row["metric"]),
        better=str(row.get("better") or "higher"),
        verdict=str(row["verdict"]),
        ratio=row.get("ratio"),
        interval=_interval(row.get("interval")),
        reference=row.get("reference"),
        new=row.get("new"),
        unit=str(row.get("unit") or ""),
        sessions=(int(sessions[0]), int(sessions[1])),
        warnings=tuple(str(w) for w in row.get("warnings") or ()),
        smallest_slowdown=number_in(row.get("smallest_slowdown")),
        ratio_is=str(row.get("ratio_is") or ""),
        raw_ratio=number_in(raw.get("ratio")),
        raw_interval=_interval(raw.get("interval")),
    )


def _interval(bounds: Sequence[float | None] | None) -> tuple[float, float] | None:
    if not bounds or bounds[0] is None or bounds[1] is None:
        return None
    return bounds[0], bounds[1]
