"""Variables that the two sides of a comparison had otherwise: what a confirming study sets as the
reference had it, and as the new side had it, whatever the state of the machine that it runs in.
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
"""What a batch system or a launcher tells its processes: no setting, and nothing to take from
them."""
_OF_THE_TOOL = frozenset(f"LONGSHORE_{name}" for name in ("BENCH", "MPIRUN", "SIMULATIONS", "STACKS", "STORE"))
_MASKED = "(masked)"


@dataclass(frozen=True)
class Suspected:
    """Both levels name the same variables; both are empty where there is nothing to suspect."""

    reference: Level
    new: Level
    masked: tuple[str, ...] = ()
    """Variables that differ, perhaps, and whose values are not recorded."""


def suspected_variables(sides: tuple[Side, Side], rows: Sequence[JudgedRow]) -> Suspected:
    """From the launches of these rows: what all of one side have alike, and the other side has
    not."""
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
    """The variables of these launches; None for one that some have otherwise. None where no launch
    tells any."""
    told = [one for launch in launches if isinstance(one := (launch.header or {}).get(ENVIRONMENT), dict)]
    if not told:
        return None
    names = dict.fromkeys(name for one in told for name in one)
    return {
        name: str(told[0][name]) if all(name in one and one[name] == told[0].get(name) for one in told) else None
        for name in names
    }
