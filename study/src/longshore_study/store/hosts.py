"""The hosts of a launch, and the launches that a condition on `host` selects."""

from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.base.errors import LongshoreError, UsageError, suggestion
from longshore_study.base.expression import Expression
from longshore_study.store.launch_store import Launch

HOST = "host"
"""The name of the hosts of a launch in a condition."""


def hosts_of(header: Mapping[str, Any] | None) -> frozenset[str]:
    """The hosts in the header of a launch. Empty if they are not recorded."""
    names = (header or {}).get("hosts")
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def on_hosts(
    sides: Sequence[Sequence[Launch]], where: Expression | None
) -> tuple[list[list[Launch]], Expression | None]:
    """The launches of each side whose hosts meet the condition, and the rest of the condition.

    A launch runs on one or several hosts. `host == 'n3'` means that n3 is among them. A study that
    has a factor named `host` keeps it: its condition is left to the rows.

    Raises UsageError for a host on which no launch ran, and if a condition joins `host` and other
    factors by anything but `and`. Raises LongshoreError if no launch has recorded hosts, or if a
    side has no launch that meets the condition.
    """
    launches = [launch for side in sides for launch in side]
    if not launches or where is None or HOST not in where.names or any(map(_has_factor, launches)):
        return [list(side) for side in sides], where
    wanted, rest = where.split(HOST)
    known = {host for launch in launches for host in hosts_of(launch.header)}
    if not known:
        raise LongshoreError(
            f'the condition "{where.text}" names host, but these launches have no recorded hosts: imported results '
            "have none; leave host out"
        )
    for _, host in wanted.comparisons():
        if str(host) not in known:
            raise UsageError(
                f'no launch ran on the host {str(host)!r} of the condition "{where.text}"'
                f"{suggestion(str(host), known)} (known: {', '.join(sorted(known))})"
            )
    chosen = [[one for one in side if wanted.matches({HOST: hosts_of(one.header)})] for side in sides]
    for index, (side, kept) in enumerate(zip(sides, chosen, strict=True)):
        if side and not kept:
            own = ", ".join(sorted({host for one in side for host in hosts_of(one.header)})) or "not recorded"
            whose = (" of the reference", " of the new side")[index] if len(sides) > 1 else ""
            raise LongshoreError(f'the condition "{where.text}" leaves no launch{whose}; its hosts: {own}')
    return chosen, rest


def _has_factor(launch: Launch) -> bool:
    return HOST in launch.cell or any(HOST in result["variant"] for result in launch.results)
