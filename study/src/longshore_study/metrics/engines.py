"""Summaries of aggregation engines (member `engine` of a result): messages and their fill by hop,
the latency of items, and the waiting time of the ranks. One summary per variant, of medians over
its launches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.base.json_values import number_in
from longshore_study.metrics.launch_metrics import pattern_rank
from longshore_study.metrics.variant_results import Names, by_variant, middle
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

PERCENTILES = ("p50", "p90", "p99")
NUMBERS = ("messages", "partial", "items", "payload_bytes", "wire_bytes", "offnode_bytes", "refusals")


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop of one direction; numbers are of one operation on all ranks together."""

    direction: str
    hop: int
    numbers: Mapping[str, float]
    fill: float | None
    """The items sent, relative to the capacity of the messages; None where nothing was sent."""

    @property
    def wire_per_payload(self) -> float | None:
        payload = self.numbers.get("payload_bytes")
        return self.numbers["wire_bytes"] / payload if payload and "wire_bytes" in self.numbers else None


@dataclass(frozen=True, slots=True)
class Latency:
    samples: float
    seconds: Mapping[str, float]
    """By percentile; percentiles that the clock could not resolve are missing."""


@dataclass(frozen=True, slots=True)
class EngineSummary:
    study: str
    tag: str
    pattern: str
    factors: Mapping[str, Any]
    launches: int
    seconds: float
    """The time of one operation, mean over the ranks; it includes the waiting times."""
    slot: float
    """Seconds of waiting for a free buffer."""
    arrival: float
    """Seconds of waiting for items."""
    hops: tuple[Hop, ...]
    latency: Mapping[str, Latency]

    @property
    def moving(self) -> float:
        return max(0.0, self.seconds - self.slot - self.arrival)

    def share(self, part: float) -> float:
        return part / self.seconds if self.seconds > 0 else 0.0

    @property
    def directions(self) -> list[str]:
        return list(dict.fromkeys(hop.direction for hop in self.hops))


def engine_summaries(launches: Iterable[Launch]) -> list[EngineSummary]:
    """The summaries of successful launches with engines, ordered by pattern and first record."""
    summaries = [_summary(*one) for one in by_variant(launches, _engine)]
    return sorted(summaries, key=lambda summary: pattern_rank(summary.pattern))


def _engine(result: Record) -> Mapping[str, Any] | None:
    engine = result.get("engine")
    return engine if isinstance(engine, dict) and number_in(engine, "seconds") is not None else None


def _summary(names: Names, factors: Mapping[str, Any], engines: Sequence[Mapping[str, Any]]) -> EngineSummary:
    return EngineSummary(
        *names,
        factors=factors,
        launches=len(engines),
        seconds=middle(engines, "seconds") or 0.0,
        slot=middle(engines, "waited_seconds", "slot", "mean") or 0.0,
        arrival=middle(engines, "waited_seconds", "arrival", "mean") or 0.0,
        hops=_hops(engines),
        latency=_latency(engines),
    )


def _hops(engines: Sequence[Mapping[str, Any]]) -> tuple[Hop, ...]:
    places: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for engine in engines:
        listed = engine.get("hops")
        for hop in listed if isinstance(listed, list) else ():
            if isinstance(hop, dict) and isinstance(hop.get("direction"), str) and isinstance(hop.get("hop"), int):
                places.setdefault((hop["direction"], hop["hop"]), []).append(hop)
    hops = []
    for (direction, number), members in places.items():
        hops.append(Hop(direction, number, _middles(members, NUMBERS), middle(members, "fill")))
    return tuple(hops)


def _latency(engines: Sequence[Mapping[str, Any]]) -> dict[str, Latency]:
    by_direction: dict[str, list[Mapping[str, Any]]] = {}
    for engine in engines:
        by_percentile = engine.get("latency_seconds")
        for direction, numbers in by_percentile.items() if isinstance(by_percentile, dict) else ():
            if isinstance(numbers, dict):
                by_direction.setdefault(direction, []).append(numbers)
    return {
        direction: Latency(
            samples=sum(number_in(one.get("samples")) or 0.0 for one in members),
            seconds=_middles(members, PERCENTILES),
        )
        for direction, members in by_direction.items()
    }


def _middles(members: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, float]:
    return {name: value for name in names if (value := middle(members, name)) is not None}
