"""The recorded properties that differ between the two sides: host, kernel, libraries, firmware,
modules, variables.

Each difference is a candidate for the cause of a change, and none is hidden: a comparison of two
images with different compilers is also a comparison of compilers. `compare`, `attribute` and the
report use this module, so that they list the same differences.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.compare.pairing import PairedRow
from longshore_study.store.launch_properties import is_fraction, values_by_side
from longshore_study.store.launch_store import Launch
from longshore_study.store.selection import Side

_NAMED_BY_THE_USER = frozenset({"source"})
_MOST_VALUES = 3
_LONGEST_VALUE = 60
Values = tuple[tuple[str, ...], ...]
"""The values of a property on each side; empty where a side did not record it."""


@dataclass(frozen=True)
class Difference:
    """One property whose values are not the same on both sides."""

    name: str
    reference: tuple[str, ...]
    new: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"property": self.name, "reference": list(self.reference), "new": list(self.new)}


def in_words(values: Sequence[str]) -> str:
    """The values of one side in one line; long texts and lists are cut off."""
    shown = [
        text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..." for text in values[:_MOST_VALUES]
    ]
    more = f" and {len(values) - _MOST_VALUES} more" if len(values) > _MOST_VALUES else ""
    return " or ".join(shown) + more if shown else "not recorded"


def differing(sides: Sequence[Iterable[Launch]]) -> dict[str, Values]:
    """The properties whose values are not the same on all sides.

    Failed launches are ignored, because their figures are not compared. Two kinds of properties are
    left out: those that every launch measures, such as the overhead of the clock, and those that
    the user has named.
    """
    recorded = values_by_side([[launch for launch in side if launch.problem is None] for side in sides])
    found = {}
    for name in dict.fromkeys(name for side in recorded for name in side):
        values = tuple(tuple(side.get(name, ())) for side in recorded)
        anew = any(len(texts) > 1 and all(map(is_fraction, texts)) for texts in values)
        if len({frozenset(texts) for texts in values}) > 1 and not anew and name not in _NAMED_BY_THE_USER:
            found[name] = values
    return found


def differences(reference: Side, new: Side) -> list[Difference]:
    return [Difference(name, *values) for name, values in differing([reference.launches, new.launches]).items()]


@dataclass(frozen=True)
class DifferenceInRows:
    """A difference, and the rows whose own launches differ in it."""

    difference: Difference
    rows: frozenset[int]
    """The indices of these rows; if empty, the values are those of all launches."""


def differences_in_rows(sides: tuple[Side, Side], rows: Sequence[PairedRow]) -> list[DifferenceInRows]:
    """The differences between the sides, each with the rows in which it occurs."""
    launches = [{str(launch.path): launch for launch in side.launches} for side in sides]
    kept: dict[tuple[frozenset[str], ...], Mapping[str, Values]] = {}
    values: dict[str, tuple[dict[str, None], dict[str, None]]] = defaultdict(lambda: ({}, {}))
    places: dict[str, set[int]] = defaultdict(set)
    for place, row in enumerate(rows):
        paths = tuple(frozenset(figure.launch for figure in figures) for figures in (row.reference, row.new))
        if paths not in kept:
            kept[paths] = differing([[side[p] for p in sorted(own)] for side, own in zip(launches, paths, strict=True)])
        for name, of_sides in kept[paths].items():
            places[name].add(place)
            for texts, more in zip(values[name], of_sides, strict=True):
                texts.update(dict.fromkeys(more))
    return [
        DifferenceInRows(
            Difference(one.name, *(tuple(texts) for texts in values[one.name])) if one.name in places else one,
            frozenset(places[one.name]),
        )
        for one in differences(*sides)
    ]
