"""Groups of items with the same key, in the order of first occurrence; combinations of levels."""

import itertools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from statistics import fmean
from typing import Any, TypeVar

Item = TypeVar("Item")
Key = TypeVar("Key", bound=Hashable)


def grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    groups: dict[Key, list[Item]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def mean_by(items: Iterable[Item], key: Callable[[Item], Key], value: Callable[[Item], float]) -> dict[Key, float]:
    """The mean value of each group."""
    return {name: fmean(map(value, members)) for name, members in grouped(items, key).items()}


def combinations_of(levels: Mapping[str, Iterable[Any]]) -> Iterator[dict[str, Any]]:
    """All combinations of one level of each factor. The last factor varies fastest."""
    for combination in itertools.product(*levels.values()):
        yield dict(zip(levels, combination, strict=True))


def union_of(tables: Iterable[Mapping[str, Iterable[Any]]]) -> dict[str, list[Any]]:
    """The different levels of each factor, in the order of first occurrence."""
    union: dict[str, list[Any]] = {}
    for table in tables:
        for name, levels in table.items():
            known = union.setdefault(name, [])
            known += [level for level in levels if level not in known]
    return union
