"""Summaries of aggregation engines (member `engine` of a result): messages and their fill by hop,
latency of items, and waiting times of ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.base.groups import grouped
from longshore_study.base.json_values import number_in
from longshore_study.metrics.variant_results import Names, VariantSummary, by_variant, median_of
from longshore_study.patterns import pattern_rank
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

PERCENTILES = ("p50", "p90", "p99")
NUMBERS = ("messages", "partial", "items", "payload_bytes", "wire_bytes", "offnode_bytes", "refusals")


@dataclass(frozen=True, slots=True)
class Hop:
    """The messages of one hop of an engine in one direction."""

    direction: str
    hop: int
    numbers: Mapping[str, float]
    """The NUMBERS of one operation, on all ranks together."""
    fill: float | None
    """The sent items divided by the capacity of the messages. None if nothing was sent."""

    @property
    def wire_per_payload(self) -> float | None:
        payload = self.numbers.get("payload_bytes")
        return self.numbers["wire_bytes"] / payload if payload and "wire_bytes" in self.numbers else None

    @property
    def offnode_megabytes(self) -> float | None:
        sent = self.numbers.get("offnode_bytes")
        return None if sent is None else sent / 1e6


@dataclass(frozen=True, slots=True)
class Latency:
    samples: float
    seconds: Mapping[str, float]
    """The latency by percentile. Percentiles that the clock could not resolve are missing."""


@dataclass(frozen=True)
class EngineSummary(VariantSummary):
    """The work of the engines of one variant: medians over its launches."""

    seconds: float
    """The time of one operation, including waiting times, mean over the ranks."""
    slot_wait_seconds: float
    """Seconds of waiting for a free buffer."""
    arrival_wait_seconds: float
    """Seconds of waiting for items."""
    hops: tuple[Hop, ...]
    latency: Mapping[str, Latency]

    @property
    def working_seconds(self) -> float:
        return max(0.0, self.seconds - self.slot_wait_seconds - self.arrival_wait_seconds)

    @property
    def shares(self) -> list[float]:
        """Working, waiting for a buffer and waiting for items, as shares of an operation."""
        parts = (self.working_seconds, self.slot_wait_seconds, self.arrival_wait_seconds)
        return [part / self.seconds if self.seconds > 0 else 0.0 for part in parts]


def engine_summaries(launches: Iterable[Launch]) -> list[EngineSummary]:
    """The summaries of successful launches with engines, ordered by pattern and first record."""
    summaries = [_summary(*group) for group in by_variant(launches, _engine)]
    return sorted(summaries, key=lambda summary: pattern_rank(summary.pattern))


def _engine(result: Record) -> Mapping[str, Any] | None:
    engine = result.get("engine")
    return engine if isinstance(engine, dict) and number_in(engine, "seconds") is not None else None


def _summary(names: Names, factors: Mapping[str, Any], engines: Sequence[Mapping[str, Any]]) -> EngineSummary:
    return EngineSummary(
        *names,
        factors=factors,
        launches=len(engines),
        seconds=median_of(engines, "seconds") or 0.0,
        slot_wait_seconds=median_of(engines, "waited_seconds", "slot", "mean") or 0.0,
        arrival_wait_seconds=median_of(engines, "waited_seconds", "arrival", "mean") or 0.0,
        hops=_hops(engines),
        latency=_latency(engines),
    )


def _hops(engines: Sequence[Mapping[str, Any]]) -> tuple[Hop, ...]:
    listed = (hop for engine in engines if isinstance(hops := engine.get("hops"), list) for hop in hops)
    valid = (
        hop
        for hop in listed
        if isinstance(hop, dict) and isinstance(hop.get("direction"), str) and isinstance(hop.get("hop"), int)
    )
    return tuple(
        Hop(direction, number, _middles(members, NUMBERS), median_of(members, "fill"))
        for (direction, number), members in grouped(valid, lambda hop: (hop["direction"], hop["hop"])).items()
    )


def _latency(engines: Sequence[Mapping[str, Any]]) -> dict[str, Latency]:
    known = (latency for engine in engines if isinstance(latency := engine.get("latency_seconds"), dict))
    by_direction = grouped((item for latency in known for item in latency.items()), lambda item: item[0])
    numbers = {name: [of for _, of in items if isinstance(of, dict)] for name, items in by_direction.items()}
    return {
        name: Latency(sum(number_in(of, "samples") or 0.0 for of in members), _middles(members, PERCENTILES))
        for name, members in numbers.items()
        if members
    }


def _middles(members: Sequence[Mapping[str, Any]], names: Sequence[str]) -> dict[str, float]:
    return {name: value for name in names if (value := median_of(members, name)) is not None}
