"""Finds the recorded properties that differ between the two sides: host, kernel, libraries,
firmware, modules, variables. Each difference may be the cause of a change."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.compare.judged_row import JudgedRow
from longshore_study.store.launch_properties import is_fraction, values_by_side
from longshore_study.store.launch_store import Launch
from longshore_study.store.selection import Side

_NAMED_BY_THE_USER = frozenset({"source"})
_MAX_VALUES = 3
_MAX_VALUE_LENGTH = 60
Values = tuple[tuple[str, ...], ...]
"""The values of a property on each side; empty for a side that did not record the property."""


@dataclass(frozen=True)
class Difference:
    """A property whose values differ between the sides, with all values of each side."""

    name: str
    reference: tuple[str, ...]
    new: tuple[str, ...]
    rows: frozenset[int] = frozenset()
    """The indices of the rows whose launches show it. If empty, the values are of all launches."""

    def as_json(self) -> dict[str, Any]:
        return {"property": self.name, "reference": list(self.reference), "new": list(self.new)}


def in_words(values: Sequence[str]) -> str:
    """The values of one side in one line. Long texts and lists are cut off."""
    shown = [
        text if len(text) <= _MAX_VALUE_LENGTH else f"{text[: _MAX_VALUE_LENGTH - 3]}..."
        for text in values[:_MAX_VALUES]
    ]
    more = f" and {len(values) - _MAX_VALUES} more" if len(values) > _MAX_VALUES else ""
    return " or ".join(shown) + more if shown else "not recorded"


def differing(sides: Sequence[Iterable[Launch]]) -> dict[str, Values]:
    """The properties whose values are not the same on all sides.

    Failed launches are ignored, because their figures are not compared. Properties that every
    launch measures, such as the overhead of the clock, and properties that the user has named are
    left out.
    """
    recorded = values_by_side([[launch for launch in side if launch.problem is None] for side in sides])
    found = {}
    for name in dict.fromkeys(name for side in recorded for name in side):
        values = tuple(tuple(side.get(name, ())) for side in recorded)
        measured = any(len(texts) > 1 and all(map(is_fraction, texts)) for texts in values)
        if len({frozenset(texts) for texts in values}) > 1 and not measured and name not in _NAMED_BY_THE_USER:
            found[name] = values
    return found


def differences(reference: Side, new: Side) -> list[Difference]:
    found = differing([reference.launches, new.launches])
    return [Difference(name, values[0], values[1]) for name, values in found.items()]


def differences_in_rows(sides: tuple[Side, Side], rows: Sequence[JudgedRow]) -> list[Difference]:
    launches = [{str(launch.path): launch for launch in side.launches} for side in sides]
    by_paths: dict[tuple[frozenset[str], ...], Mapping[str, Values]] = {}  # rows of the same launches are alike
    values: dict[str, tuple[dict[str, None], dict[str, None]]] = defaultdict(lambda: ({}, {}))
    indices: dict[str, set[int]] = defaultdict(set)
    for index, row in enumerate(rows):
        paths = tuple(frozenset(figure.launch for figure in figures) for figures in (row.reference, row.new))
        if paths not in by_paths:
            by_paths[paths] = differing(
                [[of_side[p] for p in sorted(chosen)] for of_side, chosen in zip(launches, paths, strict=True)]
            )
        for name, of_sides in by_paths[paths].items():
            indices[name].add(index)
            for texts, more in zip(values[name], of_sides, strict=True):
                texts.update(dict.fromkeys(more))
    in_rows = {
        name: Difference(name, tuple(reference), tuple(new), frozenset(indices[name]))
        for name, (reference, new) in values.items()
    }
    return [in_rows.get(found.name, found) for found in differences(*sides)]
