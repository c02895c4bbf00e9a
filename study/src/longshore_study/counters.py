"""What was counted while variants were timed (member `counters` of a result): one account per variant, of the medians
over its launches. What a machine does not count is missing, with its reason, and never zero."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from longshore_study.figures import canonical, pattern_rank
from longshore_study.overview import reading_order
from longshore_study.store import Launch

COUNTED: dict[str, tuple[str, ...]] = {
    "minor faults": ("page_faults", "minor"),
    "major faults": ("page_faults", "major"),
    "voluntary switches": ("context_switches", "voluntary"),
    "involuntary switches": ("context_switches", "involuntary"),
    "waited mean": ("waited_seconds", "mean"),
    "waited max": ("waited_seconds", "max"),
}
"""What every record has, and where."""
HARDWARE = ("cycles", "instructions", "cache_misses", "llc_misses")


@dataclass(frozen=True)
class Phase:
    name: str
    waited: float | None
    """Seconds, mean over the ranks."""
    messages: float | None
    wire_bytes: float | None


@dataclass(frozen=True)
class Account:
    study: str
    tag: str
    pattern: str
    factors: Mapping[str, Any]
    launches: int
    numbers: Mapping[str, float]
    """Of one operation, all ranks together; seconds are of one rank."""
    why_not: Mapping[str, str]
    """By event that the machine did not count."""
    phases: tuple[Phase, ...]


def accounts_of(launches: Iterable[Launch]) -> list[Account]:
    found: dict[tuple[str, str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    factors: dict[tuple[str, str, str, str], dict[str, Any]] = {}
    for launch in launches:
        if launch.problem is not None:
            continue
        for result in launch.results:
            if isinstance(result.get("counters"), dict):
                told = {name: level for name, level in launch.cell.items() if name != "program"} | result["variant"]
                key = (launch.study, launch.tag, str(result["pattern"]), canonical(told))
                factors.setdefault(key, told)
                found[key].append(result["counters"])
    accounts = [_account(key, factors[key], members) for key, members in found.items()]
    return sorted(accounts, key=lambda a: (pattern_rank(a.pattern), a.study, a.tag, reading_order(a.factors)))


def _account(
    key: tuple[str, str, str, str], factors: Mapping[str, Any], members: Sequence[Mapping[str, Any]]
) -> Account:
    places = {**COUNTED, **{name: ("hardware", name) for name in HARDWARE}}
    numbers = {name: value for name, path in places.items() if (value := _middle(members, *path)) is not None}
    reasons: dict[str, str] = {}
    for one in members:
        refused = one.get("hardware_why_not")
        for name, reason in refused.items() if isinstance(refused, dict) else ():
            if name not in numbers:
                reasons.setdefault(str(name), str(reason))
    told = [phases for one in members if isinstance(phases := one.get("phases"), dict)]
    names = dict.fromkeys(name for one in told for name in one)
    phases = tuple(
        Phase(
            str(name),
            _middle(members, "phases", name, "waited_seconds", "mean"),
            _middle(members, "phases", name, "messages"),
            _middle(members, "phases", name, "wire_bytes"),
        )
        for name in names
    )
    return Account(*key[:3], factors, len(members), numbers, reasons, phases)


def _middle(members: Sequence[Mapping[str, Any]], *path: str) -> float | None:
    values = []
    for one in members:
        value: object = one
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            values.append(float(value))
    return median(values) if values else None
