"""Separates measured launches from simulated ones, which no table and no statistic mixes. Launches
that were simulated on different machines, or versions of a machine, are not mixed either."""

from collections.abc import Iterable

from longshore_study.base.groups import grouped
from longshore_study.store.launch_store import Launch


def by_machine(launches: Iterable[Launch]) -> dict[str | None, list[Launch]]:
    """The launches of each simulated machine, in the order of the machines' names. The key None has
    the measured launches and comes first, if there are any."""
    groups = grouped(launches, lambda launch: launch.simulated)
    for name in [name for name in groups if name is not None and not any(launch.header for launch in groups[name])]:
        # Launches that failed at their start do not have the version of their machine.
        versions = [other for other in groups if other is not None and other.rpartition(" ")[0] == name]
        if len(versions) == 1:
            groups[versions[0]] += groups.pop(name)
    return dict(sorted(groups.items(), key=lambda group: (group[0] is not None, group[0] or "")))


def heading(machine: str) -> str:
    return f"simulated on {machine}"
