"""The figures of launches. A figure is the value of one metric of one variant in one launch.

Comparisons, guidelines and tables are built from figures. This module also defines the main metric
of each pattern.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from longshore_study.base.errors import UsageError, suggestion
from longshore_study.base.json_values import canonical
from longshore_study.metrics import plausibility
from longshore_study.metrics.plausibility import Bounds
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

MAIN_METRICS = {
    "stream": "bandwidth",
    "gather": "injection_bandwidth",
    "halo": "process_bandwidth",
    "sort": "keys_per_second",
}
CONTROL = plausibility.CONTROL
CONTROL_METRICS = {"copy": "bandwidth", "pingpong": "latency_us"}
"""The control kernels that show whether the machine as a whole has changed, with their metrics. The
other kernels of pattern control are parameters of the communication model."""
PER = {
    ("stream", "bandwidth"): "node", ("stream", "best_bandwidth"): "node", ("stream", "mean_bandwidth"): "node",
    ("stream", "write_allocate_bandwidth"): "node", ("gather", "injection_bandwidth"): "node",
    ("gather", "mean_injection_bandwidth"): "node", ("sort", "exchange_bandwidth"): "node",
    ("control", "bandwidth"): "node", ("control", "best_bandwidth"): "node",
    ("control", "memcpy_best_bandwidth"): "node", ("control", "rank_bandwidth"): "rank",
    ("stream", "rank_bandwidth_max"): "rank", ("stream", "rank_bandwidth_mean"): "rank",
    ("stream", "rank_bandwidth_min"): "rank", ("halo", "process_bandwidth"): "rank",
}  # fmt: skip
"""By pattern and metric, whether a figure is per node or per rank (docs/reference/figures.md). All
other figures are of all ranks together."""
LEFT_TO_AUTO = {"gather": "strategy", "halo": "algorithm", "sort": "exchange"}
"""By pattern, the factor whose level the program chooses where it is `auto`."""
PATTERN_ORDER = ("stream", "gather", "halo", "sort")


@dataclass(frozen=True, slots=True)
class Key:
    """Identifies what a figure measures; it is the same on both sides of a comparison. Mappings are
    stored as JSON texts, so that keys can be compared and hashed."""

    study: str
    pattern: str
    metric: str
    variant_text: str
    cell_text: str

    @property
    def variant(self) -> dict[str, Any]:
        return dict(json.loads(self.variant_text))

    @property
    def cell(self) -> dict[str, Any]:
        return dict(json.loads(self.cell_text))

    @property
    def factors(self) -> dict[str, Any]:
        return {"pattern": self.pattern, **self.cell, **self.variant}

    @property
    def shown_factors(self) -> dict[str, Any]:
        """The factors without those that name the pattern."""
        return {name: level for name, level in self.factors.items() if name not in ("pattern", "program")}


def unit_of_whom(pattern: str, metric: str, unit: str) -> str:
    """`GB/s per node`: readers could take a plain GB/s for that of all ranks together."""
    whom = PER.get((pattern, metric))
    return f"{unit} per {whom}" if whom else unit


# A store has many figures and few different keys, so they share the objects.
_shared_key = lru_cache(maxsize=200_000)(Key)


@dataclass(frozen=True, slots=True)
class Figure:
    key: Key
    tag: str
    session: str
    launch: str
    """The file of the launch, which identifies it."""
    started: str | None
    position: int | None
    value: float
    unit: str
    better: str
    main: bool = True
    """Whether this is the metric by which the pattern is judged."""
    imported: bool = False
    above: str | None = None
    """Why the value is not plausible: it is above a bound."""
    pulse: float | None = None
    """The logarithm of the machine's speed at that time, from the noise probe: a small exchange
    before each repetition."""
    became: str | None = None
    """The level that `auto` chose, where the record states it."""
    nodes: int | None = None
    """The number of nodes of the launch, virtual ones included; None where it is not recorded."""

    @property
    def goodness(self) -> float:
        """The logarithm of the value, negated where less is better."""
        return math.log(self.value) if self.better != "lower" else -math.log(self.value)


@dataclass(slots=True)
class Measurements:
    """The figures of some launches, and everything that did not become a figure."""

    figures: list[Figure] = field(default_factory=list)
    absent: dict[Key, str] = field(default_factory=dict)
    """Results without a figure, with the reason: skipped or failed."""
    failed: list[Launch] = field(default_factory=list)
    """Launches that failed and were not repeated with success."""
    damaged: list[Launch] = field(default_factory=list)
    """The failed launches whose records are cut short or unreadable: data is missing."""
    partial: list[Launch] = field(default_factory=list)
    """Launches that were imported on purpose although they are cut short."""
    launches: int = 0

    @property
    def problems(self) -> list[str]:
        return [launch.problem for launch in self.failed if launch.problem]


def measure(launches: Iterable[Launch], *, metrics: Iterable[str] = (), with_study: bool = True) -> Measurements:
    """The figures of the main metrics and of `metrics`, which are names, or "all".

    `with_study`: False where two studies are compared, so that their figures get the same key.
    """
    measured = Measurements()
    kept = list(launches)
    measured.launches = len(kept)
    succeeded = {_attempt(launch) for launch in kept if launch.problem is None}
    wanted = frozenset(metrics)
    bounds = Bounds(kept)
    for launch in kept:
        if launch.problem is not None:
            if _attempt(launch) not in succeeded:
                measured.failed.append(launch)
                if not launch.complete and not launch.exit_status:
                    measured.damaged.append(launch)
            continue
        if launch.envelope.get("partial"):
            measured.partial.append(launch)
        for figure_or_reason in _of_launch(launch, wanted, bounds, with_study=with_study):
            if isinstance(figure_or_reason, Figure):
                measured.figures.append(figure_or_reason)
            else:
                key, reason = figure_or_reason
                measured.absent[key] = reason
    return measured


def require_metrics(wanted: Iterable[str], launches: Iterable[Launch]) -> None:
    """Raises UsageError for a metric that no launch has."""
    asked = set(wanted) - {"all"}
    if not asked:
        return
    known = {name for launch in launches for result in launch.results for name in result.get("metrics") or {}}
    for name in sorted(asked - known) if known else ():
        raise UsageError(f"unknown metric '{name}'{suggestion(name, known)} (known: {', '.join(sorted(known))})")


def main_metric(pattern: str, variant: Mapping[str, Any], metrics: Mapping[str, Any]) -> str | None:
    """The metric by which a pattern is judged; for unknown patterns the first one of the record."""
    wanted = CONTROL_METRICS.get(str(variant.get("kernel"))) if pattern == CONTROL else MAIN_METRICS.get(pattern)
    return wanted if wanted in metrics else next(iter(metrics), None)


def pattern_rank(pattern: str) -> tuple[int, str]:
    """Sorts our patterns in PATTERN_ORDER, then others by name, then the controls."""
    if pattern == CONTROL:
        return (len(PATTERN_ORDER) + 1, pattern)
    return (PATTERN_ORDER.index(pattern) if pattern in PATTERN_ORDER else len(PATTERN_ORDER), pattern)


def _attempt(launch: Launch) -> tuple[str, str, str, str, int]:
    return (launch.study, launch.tag, launch.session, launch.cell_id, launch.launch_index)


def _of_launch(
    launch: Launch, wanted: frozenset[str], bounds: Bounds, *, with_study: bool
) -> Iterator[Figure | tuple[Key, str]]:
    cell_text = canonical(launch.cell)
    started = launch.envelope.get("started")
    nodes = _nodes(launch)
    for result in launch.results:
        pattern, variant, metrics = result["pattern"], result["variant"], result.get("metrics") or {}
        main = main_metric(pattern, variant, metrics)
        names = [n for n in metrics if n == main or n in wanted or "all" in wanted] or [MAIN_METRICS.get(pattern, "")]
        variant_text = canonical(variant)
        pulse = _pulse(result)
        for name in names:
            key = _shared_key(launch.study if with_study else "", pattern, name, variant_text, cell_text)
            reason = _why_no_figure(result, name, main)
            if reason is not None:
                yield key, reason
                continue
            metric = metrics[name]
            yield Figure(
                key,
                launch.tag,
                launch.session,
                str(launch.path),
                started,
                launch.position,
                float(metric["value"]),
                str(metric.get("unit", "")),
                str(metric.get("better", "higher")),
                name == main,
                launch.imported,
                bounds.exceeded(launch, result, name),
                pulse,
                _became(result),
                nodes,
            )


def _nodes(launch: Launch) -> int | None:
    found = (launch.header or {}).get("nodes", launch.cell.get("nodes"))
    return found if isinstance(found, int) else None


def _became(result: Record) -> str | None:
    """docs/reference/records.md defines where a record states the choice."""
    factor = LEFT_TO_AUTO.get(result["pattern"])
    if factor is None or result["variant"].get(factor) != "auto":
        return None
    chosen = result.get("chosen")
    level = chosen.get(factor) if isinstance(chosen, dict) else result.get(factor)
    return level if isinstance(level, str) else None


def _pulse(result: Record) -> float | None:
    seconds = result.get("pulse_seconds")
    if not isinstance(seconds, float) or not math.isfinite(seconds) or seconds <= 0:
        return None
    return -math.log(seconds)


def _why_no_figure(result: Record, name: str, main: str | None) -> str | None:
    if result.get("skipped"):
        return f"skipped: {result['skipped']}"
    if result.get("verified") is False:
        return "failed: its result was wrong"
    metric = (result.get("metrics") or {}).get(name)
    value = metric.get("value") if isinstance(metric, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "failed: it has no figure"
    if value == 0 and name != main:
        return "skipped: a figure of 0 has no ratio"  # other programs print an overlap of 0 %
    if not (math.isfinite(value) and value > 0):
        return f"failed: a figure of {value} is not possible"
    return None
