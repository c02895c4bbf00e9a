"""Splits variants into tables by kind of work. Halos of contiguous faces and halos of a domain are
different kinds; all strategies of a gather are one kind, with or without a buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from longshore_study.analyses.winners import WORK

Item = TypeVar("Item")


def split_by_work(
    items: Iterable[Item], pattern: str, factors_of: Callable[[Item], Mapping[str, Any]]
) -> list[list[Item]]:
    """Groups of one kind of work, in the order of first occurrence. An item with only some of the
    factors of another kind belongs to it: an imported program may not state all of them."""
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
