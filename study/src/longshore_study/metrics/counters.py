"""Summaries of the counters that were read while variants were timed (member `counters` of a
result): one per variant, of medians over its launches. An event that a machine does not count is
missing, with the reason; it is never zero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.metrics.launch_metrics import pattern_rank
from longshore_study.metrics.variant_results import Names, by_variant, middle
from longshore_study.metrics.variant_rows import reading_order
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

COUNTED: dict[str, tuple[str, ...]] = {
    "minor faults": ("page_faults", "minor"),
    "major faults": ("page_faults", "major"),
    "voluntary switches": ("context_switches", "voluntary"),
    "involuntary switches": ("context_switches", "involuntary"),
    "waited mean": ("waited_seconds", "mean"),
    "waited max": ("waited_seconds", "max"),
}
"""The counters that every record has, with their paths in `counters`."""
HARDWARE = ("cycles", "instructions", "cache_misses", "llc_misses")


@dataclass(frozen=True)
class Phase:
    name: str
    waited: float | None
    """Seconds, mean over the ranks."""
    messages: float | None
    wire_bytes: float | None


@dataclass(frozen=True)
class CounterSummary:
    study: str
    tag: str
    pattern: str
    factors: Mapping[str, Any]
    launches: int
    numbers: Mapping[str, float]
    """Counts are of one operation on all ranks together; seconds are of one rank."""
    why_not: Mapping[str, str]
    """The reason, by event that the machine did not count."""
    phases: tuple[Phase, ...]


def counter_summaries(launches: Iterable[Launch]) -> list[CounterSummary]:
    summaries = [_summary(*one) for one in by_variant(launches, _counters)]
    return sorted(summaries, key=lambda a: (pattern_rank(a.pattern), a.study, a.tag, reading_order(a.factors)))


def _counters(result: Record) -> Mapping[str, Any] | None:
    counters = result.get("counters")
    return counters if isinstance(counters, dict) else None


def _summary(names: Names, factors: Mapping[str, Any], members: Sequence[Mapping[str, Any]]) -> CounterSummary:
    places = {**COUNTED, **{name: ("hardware", name) for name in HARDWARE}}
    numbers = {name: value for name, path in places.items() if (value := middle(members, *path)) is not None}
    reasons: dict[str, str] = {}
    for one in members:
        refused = one.get("hardware_why_not")
        for name, reason in refused.items() if isinstance(refused, dict) else ():
            if name not in numbers:
                reasons.setdefault(str(name), str(reason))
    by_launch = [phases for one in members if isinstance(phases := one.get("phases"), dict)]
    named = dict.fromkeys(name for one in by_launch for name in one)
    phases = tuple(
        Phase(
            str(name),
            middle(members, "phases", name, "waited_seconds", "mean"),
            middle(members, "phases", name, "messages"),
            middle(members, "phases", name, "wire_bytes"),
        )
        for name in named
    )
    return CounterSummary(*names, factors, len(members), numbers, reasons, phases)
