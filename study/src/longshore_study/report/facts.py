"""What the page shows, gathered once from stored launches and from the dicts of `compare` and `guidelines`.

A Figure is one metric of one variant in one launch: the dot of the plots. Sections see figures, never records.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from longshore_study.records import Record
from longshore_study.store import Launch

Factors = tuple[tuple[str, str], ...]

# The metric by which a pattern is judged; others are in the data to download.
MAIN_METRICS = {
    "stream": "bandwidth",
    "gather": "injection_bandwidth",
    "halo": "process_bandwidth",
    "sort": "keys_per_second",
}
CONTROL_METRICS = {"copy": "bandwidth", "pingpong": "latency_us"}
PATTERN_ORDER = ("stream", "gather", "halo", "sort", "control")


@dataclass(frozen=True, slots=True)
class Figure:
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
    main: bool
    verified: bool | None
    repetitions: int | None
    # The spread inside the launch, as factors on the value: (p10, p90) of the repetitions; None for aggregates.
    spread: tuple[float, float] | None
    aggregate: bool

    @property
    def key(self) -> tuple[str, str, str, Factors]:
        """What is measured, the same on both sides of a comparison."""
        return (self.study, self.pattern, self.metric, frozen(self.factors))


@dataclass(frozen=True, slots=True)
class Skipped:
    launch: Launch
    pattern: str
    factors: dict[str, Any]
    reason: str


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
    """REQUIRES: sides in the order in which they are to be read, the reference first."""

    launches: tuple[Launch, ...]
    sides: tuple[str, ...]
    comparison: Comparison | None = None
    guidelines: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    skipped: tuple[Skipped, ...] = ()

    @property
    def main_figures(self) -> tuple[Figure, ...]:
        return tuple(f for f in self.figures if f.main)

    def of_pattern(self, pattern: str) -> list[Figure]:
        return [f for f in self.figures if f.main and f.pattern == pattern]

    @property
    def patterns(self) -> list[str]:
        """Those with figures, the controls last."""
        return sorted({f.pattern for f in self.main_figures}, key=pattern_rank)


def gather_facts(
    launches: Iterable[Launch],
    sides: Sequence[str],
    compared: Mapping[str, Any] | None = None,
    guidelines: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
) -> Facts:
    kept = tuple(launches)
    figures = tuple(figure for launch in kept for figure in _figures(launch))
    return Facts(
        launches=kept,
        sides=tuple(sides),
        comparison=read_comparison(compared, {f.metric: f.better for f in figures}) if compared else None,
        guidelines=dict(guidelines or {}),
        figures=figures,
        skipped=tuple(
            Skipped(launch, r["pattern"], factors_of(r, launch), str(r["skipped"]))
            for launch in kept
            for r in launch.results
            if r.get("skipped")
        ),
    )


def read_comparison(compared: Mapping[str, Any], better: Mapping[str, str] | None = None) -> Comparison:
    """`better` maps metrics to "higher" or "lower"; a comparison itself does not say."""
    return Comparison(
        reference=str(compared["reference"]),
        new=str(compared["new"]),
        margin=float(compared["margin"]),
        verdict=str(compared["verdict"]),
        rows=tuple(_row(row, better or {}) for row in compared["rows"]),
        common_shift=compared.get("common_shift") or {},
        raw=compared,
    )


def factors_of(result: Record, launch: Launch) -> dict[str, Any]:
    """The cell's factors, then the variant's: together they say what was run."""
    return {**{k: v for k, v in launch.cell.items() if k not in ("pattern", "program")}, **result["variant"]}


def frozen(factors: Mapping[str, Any]) -> Factors:
    return tuple(sorted((str(k), str(v)) for k, v in factors.items()))


def pattern_rank(pattern: str) -> tuple[int, str]:
    known = PATTERN_ORDER.index(pattern) if pattern in PATTERN_ORDER else len(PATTERN_ORDER) - 1.5
    return (int(known * 2), pattern)


def main_metric(pattern: str, variant: Mapping[str, Any], metrics: Mapping[str, Any]) -> str | None:
    """The metric by name; for a pattern unknown to us the first of the record."""
    wanted = CONTROL_METRICS.get(str(variant.get("kernel"))) if pattern == "control" else MAIN_METRICS.get(pattern)
    if wanted in metrics:
        return wanted
    return next(iter(metrics), None)


def by_key(figures: Iterable[Figure]) -> dict[tuple[str, str, str, Factors], list[Figure]]:
    groups: dict[tuple[str, str, str, Factors], list[Figure]] = {}
    for figure in figures:
        groups.setdefault(figure.key, []).append(figure)
    return groups


def median_value(figures: Sequence[Figure]) -> float:
    return median(f.value for f in figures)


def _figures(launch: Launch) -> Iterator[Figure]:
    for result in launch.results:
        metrics = result.get("metrics")
        if result.get("skipped") or not isinstance(metrics, dict):
            continue
        main = main_metric(result["pattern"], result["variant"], metrics)
        for name, metric in metrics.items():
            value = metric.get("value") if isinstance(metric, dict) else None
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                continue
            yield Figure(
                study=launch.study,
                tag=launch.tag,
                session=launch.session,
                cell_id=launch.cell_id,
                launch_index=launch.launch_index,
                position=launch.position,
                pattern=result["pattern"],
                factors=factors_of(result, launch),
                metric=name,
                value=float(value),
                unit=str(metric.get("unit", "")),
                better=str(metric.get("better", "higher")),
                main=name == main,
                verified=result.get("verified"),
                repetitions=result.get("repetitions"),
                spread=_spread(result.get("seconds")),
                aggregate=launch.imported,
            )


def _spread(times: object) -> tuple[float, float] | None:
    """Of a rate: the time's p90 is the rate's low end."""
    if not isinstance(times, dict):
        return None
    middle, low, high = (times.get(k) for k in ("median", "p10", "p90"))
    if not middle or not low or not high:
        return None
    return (middle / high, middle / low)


def _row(row: Mapping[str, Any], better: Mapping[str, str]) -> Row:
    interval = row.get("interval")
    sessions = row.get("sessions") or (0, 0)
    return Row(
        pattern=str(row["pattern"]),
        factors={**(row.get("between") or row.get("cell") or {}), **row["variant"]},
        metric=str(row["metric"]),
        better=str(row.get("better") or better.get(str(row["metric"]), "higher")),
        verdict=str(row["verdict"]),
        ratio=row.get("ratio"),
        interval=(interval[0], interval[1]) if interval and None not in interval else None,
        reference=row.get("reference"),
        new=row.get("new"),
        unit=str(row.get("unit") or ""),
        sessions=(int(sessions[0]), int(sessions[1])),
        warnings=tuple(str(w) for w in row.get("warnings") or ()),
    )
