"""Which variants belong in one table: those that do the same kind of work. Halos of contiguous
faces and halos of a domain are two; strategies of a gather are one, whether or not they have a
buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from longshore_study.analyses.winners import WORK

Item = TypeVar("Item")


def split_by_work(
    items: Iterable[Item], pattern: str, factors_of: Callable[[Item], Mapping[str, Any]]
) -> list[list[Item]]:
    """Groups in the order in which they are met. What names only a part of another's work belongs
    to it: an imported program may not say all of it."""
    names = WORK.get(pattern, ())
    found: dict[frozenset[str], list[Item]] = {}
    for item in items:
        found.setdefault(frozenset(name for name in names if name in factors_of(item)), []).append(item)
    kept = [work for work in found if not any(work < other for other in found)]
    home = {work: next(other for other in kept if work <= other) for work in found}
    groups: dict[frozenset[str], list[Item]] = {}
    for work, members in found.items():
        groups.setdefault(home[work], []).extend(members)
    return list(groups.values())
