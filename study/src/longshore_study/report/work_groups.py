"""Splits variants into tables by kind of work. Works with the same factors are of one kind,
whatever their levels. For example, halos of contiguous faces and halos of a domain have different
factors."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from longshore_study.base.groups import grouped
from longshore_study.patterns import work_of

Item = TypeVar("Item")


def split_by_work(
    items: Iterable[Item], pattern: str, factors_of: Callable[[Item], Mapping[str, Any]]
) -> list[list[Item]]:
    """One group per kind of work, in the order of first occurrence. An item that has only some of
    the factors of a kind belongs to this kind, because an imported program may not state all
    factors."""
    names = work_of(pattern)
    by_factors = grouped(items, lambda item: frozenset(name for name in names if name in factors_of(item)))
    kinds = [factors for factors in by_factors if not any(factors < other for other in by_factors)]
    groups: dict[frozenset[str], list[Item]] = {}
    for factors, members in by_factors.items():
        groups.setdefault(next(kind for kind in kinds if factors <= kind), []).extend(members)
    return list(groups.values())
