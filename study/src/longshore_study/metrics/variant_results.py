"""Groups the results of successful launches by variant. The summaries of engines and counters and
the predictions are built from these groups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from longshore_study.base.json_values import canonical, number_in
from longshore_study.store.launch_store import Launch
from longshore_study.store.records import Record

Names = tuple[str, str, str]
"""Study, tag and pattern."""


def factors_of(launch: Launch, result: Record) -> dict[str, Any]:
    """The levels of the launch and of the variant, without the name of the program."""
    return {name: level for name, level in launch.cell.items() if name != "program"} | dict(result["variant"])


def by_variant(
    launches: Iterable[Launch], part: Callable[[Record], Mapping[str, Any] | None]
) -> list[tuple[Names, dict[str, Any], list[Mapping[str, Any]]]]:
    """Names, factors and the parts of all launches, in the order of the first record. Results for
    which `part` is None are left out."""
    found: dict[tuple[Names, str], tuple[dict[str, Any], list[Mapping[str, Any]]]] = {}
    for launch in launches:
        if launch.problem is not None:
            continue
        for result in launch.results:
            member = part(result)
            if member is None:
                continue
            factors = factors_of(launch, result)
            names = (launch.study, launch.tag, str(result["pattern"]))
            found.setdefault((names, canonical(factors)), (factors, []))[1].append(member)
    return [(names, factors, parts) for (names, _), (factors, parts) in found.items()]


def middle(members: Sequence[object], *path: str) -> float | None:
    """The median over members of the number at `path`; None where no member has one."""
    values = [value for one in members if (value := number_in(one, *path)) is not None]
    return median(values) if values else None
