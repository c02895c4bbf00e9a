"""Near and far cores. The key `cache_line_seconds` of records has the time of a cache line to the
core of a neighbour and back. A hypervisor can move the cores of a virtual machine. Then launches of
one variant differ for this reason alone.

No limit in nanoseconds separates near from far cores on all machines. So launches are compared with
each other.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from longshore_study.base.json_values import number_in

APART = 1.6
"""A cache line takes at least this many times as long to a far core as to a near one. Noise
lengthens a round trip less, and leaves no gap between the values."""


@dataclass(frozen=True, slots=True)
class CacheLineSeconds:
    """The round trip of a cache line over the repetitions of a launch."""

    median: float
    p10: float
    p90: float


def cache_line_seconds(value: object) -> CacheLineSeconds | None:
    """The value of a record. None if it is absent, as in records of older versions, or invalid."""
    numbers = [number_in(value, name) for name in ("median", "p10", "p90")]
    seconds = [number for number in numbers if number is not None and math.isfinite(number) and number > 0]
    return CacheLineSeconds(*seconds) if len(seconds) == len(numbers) else None


def least_far(lines: Iterable[CacheLineSeconds]) -> float:
    """The shortest time of far cores, which is the end of the widest gap between all times.
    Infinite if that gap is narrower than APART: then all cores are alike."""
    ordered = sorted(seconds for line in lines for seconds in (line.p10, line.median, line.p90))
    gap, end = max(((after / before, after) for before, after in itertools.pairwise(ordered)), default=(1.0, 0.0))
    return end if gap > APART else math.inf


def by_distance(lines: Sequence[CacheLineSeconds]) -> dict[str, list[float]]:
    """The medians of launches whose cores were `near`, `far`, or `moved`; or else `alike`."""
    far = least_far(lines)
    if lines and math.isinf(far):
        return {"alike": [line.median for line in lines]}
    found: dict[str, list[float]] = {"near": [], "far": [], "moved": []}
    for line in lines:
        found["near" if line.p90 < far else "far" if line.p10 >= far else "moved"].append(line.median)
    return {name: medians for name, medians in found.items() if medians}


def nanoseconds(seconds: Iterable[float]) -> str:
    """The median, such as `72 ns`."""
    return f"{1e9 * median(seconds):.0f} ns"
