"""Summaries of the counters that were read while variants were timed (member `counters` of a
result), and of the phases that were timed on request."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.metrics.variant_results import Names, VariantSummary, by_variant, median_of
from longshore_study.metrics.variant_rows import reading_order
from longshore_study.patterns import pattern_rank
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
"""The counters that all records have, with their paths in `counters`."""
HARDWARE = ("cycles", "instructions", "cache_misses", "llc_misses")
PHASE_SECONDS = {"mean": "phases_mean", "min": "phases_least", "max": "phases"}
"""What the seconds of a phase are over the ranks, with the member of a result that has them."""


@dataclass(frozen=True)
class Phase:
    name: str
    seconds: Mapping[str, float | None]
    """Seconds of one operation, by the names of PHASE_SECONDS."""
    waited: float | None
    """Waiting time in seconds, mean over the ranks."""
    messages: float | None
    wire_bytes: float | None


@dataclass(frozen=True)
class CounterSummary(VariantSummary):
    """The counters of one variant: medians over its launches."""

    numbers: Mapping[str, float]
    """Counts are those of one operation on all ranks together; seconds are those of one rank."""
    why_not: Mapping[str, str]
    """The reason for each event that the machine did not count."""
    phases: tuple[Phase, ...]


def counter_summaries(launches: Iterable[Launch]) -> list[CounterSummary]:
    summaries = [_summary(*group) for group in by_variant(launches, _counted)]
    return sorted(summaries, key=lambda s: (pattern_rank(s.pattern), s.study, s.tag, reading_order(s.factors)))


def _counted(result: Record) -> Record | None:
    """The result, if it has counters or times of phases. A simulated machine has no counters."""
    return result if any(isinstance(result.get(name), dict) for name in ("counters", "phases_mean")) else None


def _summary(names: Names, factors: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> CounterSummary:
    members = [counters for result in results if isinstance(counters := result.get("counters"), dict)]
    paths = {**COUNTED, **{name: ("hardware", name) for name in HARDWARE}}
    numbers = {name: value for name, path in paths.items() if (value := median_of(members, *path)) is not None}
    reasons: dict[str, str] = {}
    for counters in members:
        refused = counters.get("hardware_why_not")
        for name, reason in refused.items() if isinstance(refused, dict) else ():
            if name not in numbers:
                reasons.setdefault(str(name), str(reason))
    phases_of_launches = [result.get("phases_mean") for result in results] + [c.get("phases") for c in members]
    phase_names = dict.fromkeys(name for phases in phases_of_launches if isinstance(phases, dict) for name in phases)
    summaries = tuple(
        Phase(
            str(name),
            {kind: median_of(results, member, name) for kind, member in PHASE_SECONDS.items()},
            median_of(members, "phases", name, "waited_seconds", "mean"),
            median_of(members, "phases", name, "messages"),
            median_of(members, "phases", name, "wire_bytes"),
        )
        for name in phase_names
    )
    return CounterSummary(*names, factors, len(results), numbers, reasons, summaries)
