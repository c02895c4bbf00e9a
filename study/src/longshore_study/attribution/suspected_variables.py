"""Finds environment variables that differ between the two sides of a comparison. A confirming study
sets them as in the reference and as on the new side, in either state of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from longshore_study.compare.judged_row import JudgedRow
from longshore_study.store.launch_properties import ENVIRONMENT
from longshore_study.store.launch_store import Launch
from longshore_study.store.selection import Side
from longshore_study.study_file.environment_variables import Level

_OF_LAUNCHERS = ("SLURM", "PMI", "PALS")
"""Variables that a batch system or launcher sets for its processes. They are not settings."""
_OF_THE_TOOL = frozenset(f"LONGSHORE_{name}" for name in ("BENCH", "MPIRUN", "SIMULATIONS", "STACKS", "STORE"))
_MASKED = "(masked)"


@dataclass(frozen=True)
class Suspected:
    """Both levels have the same variables. Both are empty if none is suspected."""

    reference: Level
    new: Level
    masked: tuple[str, ...] = ()
    """Variables that may differ but whose values are not recorded."""


def suspected_variables(sides: tuple[Side, Side], rows: Sequence[JudgedRow]) -> Suspected:
    """Variables of the launches of these rows that have one value on each side, and different
    values on the two sides."""
    before, after = (
        _common(_launches(side, paths))
        for side, paths in zip(
            sides,
            ({f.launch for row in rows for f in row.reference}, {f.launch for row in rows for f in row.new}),
            strict=True,
        )
    )
    if before is None or after is None:
        return Suspected({}, {})
    names = [name for name in sorted({*before, *after}) if before.get(name, None) != after.get(name, None)]
    chosen = [name for name in names if not name.startswith(_OF_LAUNCHERS) and name not in _OF_THE_TOOL]
    varying = {name for one in (before, after) for name, value in one.items() if value is None}
    masked = tuple(name for name in chosen if _MASKED in (before.get(name), after.get(name)))
    kept = [name for name in chosen if name not in masked and name not in varying]
    return Suspected({name: before.get(name) for name in kept}, {name: after.get(name) for name in kept}, masked)


def _launches(side: Side, paths: Iterable[str]) -> list[Launch]:
    wanted = frozenset(paths)
    return [launch for launch in side.launches if str(launch.path) in wanted]


def _common(launches: Sequence[Launch]) -> Level | None:
    """The variables of these launches. None for a variable with several values. None if no launch
    records variables."""
    recorded = [one for launch in launches if isinstance(one := (launch.header or {}).get(ENVIRONMENT), dict)]
    if not recorded:
        return None
    names = dict.fromkeys(name for one in recorded for name in one)
    first = recorded[0]
    return {
        name: str(first[name]) if all(name in one and one[name] == first.get(name) for one in recorded) else None
        for name in names
    }
