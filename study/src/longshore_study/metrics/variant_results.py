"""Groups the results of successful launches by variant, for summaries and predictions."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from longshore_study.base.groups import grouped
from longshore_study.base.json_values import canonical, number_in
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

Names = tuple[str, str, str]
"""Study, tag and pattern."""


@dataclass(frozen=True)
class VariantSummary:
    """What the launches of one variant have in common."""

    study: str
    tag: str
    pattern: str
    factors: Mapping[str, Any]
    launches: int


def factors_of(launch: Launch, result: Record) -> dict[str, Any]:
    """The levels of the launch and of the variant, without the name of the program."""
    return {name: level for name, level in launch.cell.items() if name != "program"} | dict(result["variant"])


def correct_results(launches: Iterable[Launch]) -> Iterator[tuple[Launch, Record]]:
    """The results of successful launches, without those that were skipped or wrong."""
    for launch in launches:
        if launch.problem is None:
            for result in launch.results:
                if not result.get("skipped") and result.get("verified") is not False:
                    yield launch, result


def by_variant(
    launches: Iterable[Launch], part: Callable[[Record], Mapping[str, Any] | None]
) -> list[tuple[Names, dict[str, Any], list[Mapping[str, Any]]]]:
    """For each variant: names, factors, and `part` of each result, in the order of the first
    record. Results for which `part` returns None are left out."""
    found = [
        ((launch.study, launch.tag, str(result["pattern"])), factors_of(launch, result), member)
        for launch in launches
        if launch.problem is None
        for result in launch.results
        if (member := part(result)) is not None
    ]
    groups = grouped(found, lambda one: (one[0], canonical(one[1])))
    return [(*members[0][:2], [member for _, _, member in members]) for members in groups.values()]


def median_of(members: Sequence[object], *path: str) -> float | None:
    """The median of the numbers at `path` of the members. None if no member has a number there."""
    values = [value for member in members if (value := number_in(member, *path)) is not None]
    return median(values) if values else None
