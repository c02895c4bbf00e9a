"""Finds the environment variables that differ between the two sides of a comparison. A confirming
study can then set them as in the reference and as on the new side."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from longshore_study.compare.judged_row import JudgedRow
from longshore_study.store.launch_properties import ENVIRONMENT
from longshore_study.store.launch_store import Launch
from longshore_study.store.selection import Side
from longshore_study.study_file.environment_variables import Level

_OF_LAUNCHERS = ("SLURM", "PMI", "PALS")
"""Prefixes of variables that a batch system or launcher sets, and which are no settings."""
_OF_THE_TOOL = frozenset(f"LONGSHORE_{name}" for name in ("BENCH", "MPIRUN", "SIMULATIONS", "STACKS", "STORE"))
_MASKED = "(masked)"


@dataclass(frozen=True)
class Suspected:
    """The suspected variables with their values on the two sides. Both are empty without any."""

    reference: Level
    new: Level
    masked: tuple[str, ...] = ()
    """Variables that may differ but whose values are not recorded."""


def suspected_variables(sides: tuple[Side, Side], rows: Sequence[JudgedRow]) -> Suspected:
    """The variables with one value in all launches of a side, and another one on the other side."""
    before = _common(_launches(sides[0], {f.launch for row in rows for f in row.reference}))
    after = _common(_launches(sides[1], {f.launch for row in rows for f in row.new}))
    if before is None or after is None:
        return Suspected({}, {})
    names = [name for name in sorted({*before, *after}) if before.get(name) != after.get(name)]
    chosen = [name for name in names if not name.startswith(_OF_LAUNCHERS) and name not in _OF_THE_TOOL]
    varying = {name for variables in (before, after) for name, value in variables.items() if value is None}
    masked = tuple(name for name in chosen if _MASKED in (before.get(name), after.get(name)))
    kept = [name for name in chosen if name not in masked and name not in varying]
    return Suspected({name: before.get(name) for name in kept}, {name: after.get(name) for name in kept}, masked)


def _launches(side: Side, paths: Collection[str]) -> list[Launch]:
    return [launch for launch in side.launches if str(launch.path) in paths]


def _common(launches: Sequence[Launch]) -> Level | None:
    """The variables of launches; None stands for several values, or for no record of any."""
    recorded = [found for launch in launches if isinstance(found := (launch.header or {}).get(ENVIRONMENT), dict)]
    if not recorded:
        return None
    first = recorded[0]
    return {
        name: str(first[name]) if all(v.get(name) == first.get(name) and name in v for v in recorded) else None
        for name in dict.fromkeys(name for variables in recorded for name in variables)
    }
