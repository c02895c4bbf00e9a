"""Pairs the simulated and the measured times of the same work: the ratio predicted / measured.

A pair agrees in all factors except those of the launch. Imported results rarely have all factors,
so they must agree only in the factors that they have. If they have no times, the ratio comes from
their main metric."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from longshore_study.analyses.predictions import CLOSE
from longshore_study.analyses.scaling import layout_of
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import canonical, positive_in
from longshore_study.metrics.launch_metrics import main_metric
from longshore_study.metrics.variant_results import correct_results, factors_of
from longshore_study.metrics.variant_rows import reading_order
from longshore_study.patterns import CONTROL, FACTORS_OF_A_LAUNCH, pattern_rank
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record


@dataclass(frozen=True)
class PredictedTime:
    """The predicted and the measured seconds of one operation."""

    machine: str
    study: str
    tag: str
    """Study and tag of the measured side."""
    pattern: str
    factors: Mapping[str, Any]
    """The factors of the measured side, with ranks and nodes."""
    predicted: float
    measured: float
    """The median over launches, as for `predicted`."""
    launches: int
    spread: tuple[float, float]
    """The smallest and the largest measured seconds of a launch."""

    @property
    def ratio(self) -> float:
        return self.predicted / self.measured

    @property
    def close(self) -> bool:
        return abs(self.ratio - 1.0) <= CLOSE


@dataclass(frozen=True)
class SideBySide:
    pairs: list[PredictedTime] = field(default_factory=list)
    simulated: int = 0
    measured: int = 0
    ambiguous: int = 0
    """Imported variants that agree with several simulated ones, and are left out."""

    @property
    def why_none(self) -> str:
        return f"{self.simulated} simulated and {self.measured} measured variants, none of them the same"

    @property
    def shares(self) -> dict[str, tuple[int, int]]:
        """The number of close pairs, and of all pairs, by pattern."""
        patterns = dict.fromkeys(pair.pattern for pair in self.pairs)
        return {name: _counts(pair for pair in self.pairs if pair.pattern == name) for name in patterns}

    @property
    def total(self) -> tuple[int, int]:
        """The counts over all patterns except control, of which a machine file is made."""
        return _counts(pair for pair in self.pairs if pair.pattern != CONTROL)


def _counts(pairs: Iterable[PredictedTime]) -> tuple[int, int]:
    close = [pair.close for pair in pairs]
    return sum(close), len(close)


@dataclass
class _Variant:
    launch: Launch
    factors: dict[str, Any]
    results: list[Record] = field(default_factory=list)

    @property
    def work(self) -> dict[str, Any]:
        return {name: level for name, level in self.factors.items() if name not in FACTORS_OF_A_LAUNCH}

    @property
    def seconds(self) -> list[float]:
        return [value for result in self.results if (value := positive_in(result, "seconds", "median"))]


Place = tuple[str, int, int]
"""Pattern, ranks, nodes."""


def lay_side_by_side(launches: Iterable[Launch]) -> SideBySide:
    simulated, measured = _variants(launches)
    by_place = grouped(simulated.items(), lambda item: item[0][0])
    pairs: list[PredictedTime] = []
    ambiguous = 0
    for (place, *_), variant in measured.items():
        agreeing = [other for _, other in by_place.get(place, ()) if _agree(variant, other)]
        for others in grouped(agreeing, lambda other: other.launch.simulated).values():
            if len(others) > 1 and len({canonical(other.work) for other in others}) > 1:
                ambiguous += 1
                continue
            pair = _pair(place, variant, others)
            pairs += [pair] if pair is not None else []
    pairs.sort(key=lambda one: (one.machine, one.study, one.tag, pattern_rank(one.pattern), reading_order(one.factors)))
    return SideBySide(pairs, len(simulated), len(measured), ambiguous)


def _variants(launches: Iterable[Launch]) -> tuple[dict[Any, _Variant], dict[Any, _Variant]]:
    kinds: tuple[dict[Any, _Variant], dict[Any, _Variant]] = ({}, {})
    for launch, result in correct_results(launches):
        if layout := layout_of(launch):
            factors = factors_of(launch, result)
            place: Place = (str(result["pattern"]), layout.ranks, layout.nodes)
            key = (place, launch.study, launch.tag, launch.simulated, canonical(factors))
            variants = kinds[0 if launch.simulated is not None else 1]
            variants.setdefault(key, _Variant(launch, factors)).results.append(result)
    return kinds


def _agree(measured: _Variant, simulated: _Variant) -> bool:
    left, right = measured.work, simulated.work
    if measured.launch.imported:
        return all(right[name] == level for name, level in left.items() if name in right)
    return canonical(left) == canonical(right)


def _pair(place: Place, measured: _Variant, simulated: Sequence[_Variant]) -> PredictedTime | None:
    """The times of both sides. None if a side has neither times nor a figure."""
    machine = str(simulated[0].launch.simulated)
    predicted = [value for variant in simulated for value in variant.seconds]
    times = measured.seconds
    if not times and predicted and (slower := _times_slower(measured.results, simulated[0].results)):
        times = [median(predicted) * value for value in slower]
    if not times or not predicted:
        return None
    pattern, ranks, nodes = place
    factors = {name: level for name, level in measured.factors.items() if name not in ("ranks", "nodes")}
    return PredictedTime(
        machine, measured.launch.study, measured.launch.tag, pattern, {"nodes": nodes, "ranks": ranks, **factors},
        median(predicted), median(times), len(measured.results), (min(times), max(times)),
    )  # fmt: skip


def _times_slower(measured: Sequence[Record], simulated: Sequence[Record]) -> list[float]:
    """For each measured result: its time relative to the simulated time, from the main metric."""
    found = []
    for result in measured:
        name = main_metric(str(result["pattern"]), result["variant"], result.get("metrics") or {})
        values = [positive_in(record, "metrics", str(name), "value") for record in (result, simulated[0])]
        if values[0] and values[1]:
            better = str(((result.get("metrics") or {}).get(name) or {}).get("better", "higher"))
            found.append(values[0] / values[1] if better == "lower" else values[1] / values[0])
    return found
