"""What differs between two sides besides what was compared: host, kernel, libraries, firmware, modules, options. Each
is a candidate for the cause of a change, and none is hidden: a comparison of two images that also changed the compiler
is a comparison of compilers too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longshore_study.launch_properties import is_fraction, values_by_side
from longshore_study.selection import Side

_NAMED_BY_THE_USER = frozenset({"source"})


@dataclass(frozen=True)
class Difference:
    """One property whose values are not the same on both sides; empty where a side did not record it."""

    name: str
    reference: tuple[str, ...]
    new: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"property": self.name, "reference": list(self.reference), "new": list(self.new)}


def differences(reference: Side, new: Side) -> list[Difference]:
    """In the order in which properties were met. What is measured anew in each launch, such as the overhead of the
    clock, always differs and is left out."""
    usable = [[launch for launch in side.launches if launch.problem is None] for side in (reference, new)]
    sides = values_by_side(usable)
    found = []
    for name in dict.fromkeys(name for side in sides for name in side):
        values = [tuple(side.get(name, ())) for side in sides]
        anew = any(len(texts) > 1 and all(map(is_fraction, texts)) for texts in values)
        if set(values[0]) != set(values[1]) and not anew and name not in _NAMED_BY_THE_USER:
            found.append(Difference(name, *values))
    return found
