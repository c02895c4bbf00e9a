"""Finds hosts on which launches are slower than other launches of the same cells and sessions.

A host can be found only if, in one session, some launches of a cell ran on it and others did not.
The launches of one cell in one session form a group. A launch is one observation: the mean
logarithm of its figures, relative to the mean of its group. Least squares give the effect of each
host and its t test. In the terms of Montgomery, groups are blocks and hosts are treatments; a
launch may have several treatments. The effect of a host is relative to the mean of the other hosts.
The p values are corrected for the number of hosts (Bonferroni).

Source: Montgomery, Design and Analysis of Experiments, chapter 4 (balanced and incomplete blocks).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.metrics.launch_metrics import Figure
from longshore_study.stats import effect, student
from longshore_study.stats.verdict import LEVEL
from longshore_study.store.selection import Side

_MIN_DF = 2
_MAX_HOSTS = 200
"""The time grows with the third power: some seconds for 200 hosts. More hosts are not tested."""
_ROUNDING = 1e-6
"""A standard error below this comes from rounding, or from figures that repeat."""

_Group = Mapping[frozenset[str], list[float]]
"""The speeds of the launches of one cell and session, by the hosts that they ran on."""


@dataclass(frozen=True)
class SlowHost:
    """A host on which launches of one side are slower than its other launches."""

    side: str
    host: str
    """Its name, or several names if these hosts were always used together."""
    difference: float
    """The difference of the logarithms of speed. It is negative, because the host is slow."""
    interval: tuple[float, float]
    """The 95 % interval of the difference."""
    p: float
    """Two-sided, corrected for the number of hosts of both sides."""
    launches: tuple[int, int]
    """Numbers of launches on the host and on other hosts, in cells and sessions that have both."""

    @property
    def text(self) -> str:
        """Names the host, its slowdown, and the number of launches behind this result."""
        low, high = metric_ratios(self.interval, "higher")
        on, off = self.launches
        return (
            f"host {self.host} is slow in {self.side}: ratio of speed "
            f"{terminal.ratio_text(metric_ratio(self.difference, 'higher'))}, 95 % interval "
            f"{terminal.interval((low, high))}, of {terminal.count(on, 'launch')} on it to {off} on other hosts, in "
            "the same cells and sessions"
        )

    def as_json(self) -> dict[str, Any]:
        return {
            "side": self.side,
            "host": self.host,
            "ratio": metric_ratio(self.difference, "higher"),
            "interval": list(metric_ratios(self.interval, "higher")),
            "p": self.p,
            "launches": list(self.launches),
        }


def slow_hosts(comparison: Comparison) -> list[SlowHost]:
    """The hosts of both sides that are significantly slow, by more than the margin of the
    comparison. The slowest comes first."""
    rows = [row for row in comparison.rows if row.simulated is None]
    sides = ((comparison.reference, [row.reference for row in rows]), (comparison.new, [row.new for row in rows]))
    tested = [found for side, figures in sides for found in _tested(side, figures)]
    found = [replace(host, p=min(1.0, host.p * len(tested))) for host in tested]
    wanted = -math.log1p(comparison.margin)
    return sorted(
        (host for host in found if host.p <= LEVEL and host.difference < wanted), key=lambda host: host.difference
    )


def _tested(side: Side, rows: Sequence[Sequence[Figure]]) -> list[SlowHost]:
    hosts_of = {str(launch.path): _hosts(launch.header) for launch in side.launches}
    groups = []
    for speeds in _speeds(rows):
        group: dict[frozenset[str], list[float]] = defaultdict(list)
        for launch, speed in speeds.items():
            if hosts := hosts_of.get(launch):
                group[hosts].append(speed)
        if len(group) > 1:  # in a smaller group, nothing distinguishes hosts
            groups.append(group)
    return [host for connected in _connected(groups) for host in _effects(side.name, connected)]


def _hosts(header: Mapping[str, Any] | None) -> frozenset[str]:
    names = (header or {}).get("hosts")
    return frozenset(name for name in names if isinstance(name, str)) if isinstance(names, list) else frozenset()


def _speeds(rows: Sequence[Sequence[Figure]]) -> list[dict[str, float]]:
    """The speed of each launch, by cell and session: the logarithm of each figure minus the mean of
    its row, as a mean over the rows of the launch."""
    speeds: dict[tuple[str, str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for figures in rows:
        by_group = grouped(figures, lambda figure: (figure.key.study, figure.key.cell_text, figure.session))
        for name, members in by_group.items():
            mean = fmean([figure.goodness for figure in members])
            for figure in members:
                speeds[name][figure.launch].append(figure.goodness - mean)
    return [{launch: fmean(values) for launch, values in launches.items()} for launches in speeds.values()]


def _connected(groups: Sequence[_Group]) -> list[list[_Group]]:
    """Divides the groups into sets without a common host. Hosts of different sets cannot be
    compared."""
    sets: list[tuple[set[str], list[_Group]]] = []
    for group in groups:
        names, members = set[str]().union(*group), [group]
        apart = []
        for other_names, others in sets:
            if names & other_names:
                names |= other_names
                members = others + members
            else:
                apart.append((other_names, others))
        sets = [*apart, (names, members)]
    return [members for _, members in sets]


def _effects(side: str, groups: Sequence[_Group]) -> list[SlowHost]:
    """The effect of each host that the launches distinguish from other hosts. P values are not
    corrected."""
    launches = [
        (index, hosts, speed)
        for index, group in enumerate(groups)
        for hosts, speeds in group.items()
        for speed in speeds
    ]
    names = sorted({name for _, hosts, _ in launches for name in hosts})
    if len(names) > _MAX_HOSTS:
        return []
    together: dict[tuple[bool, ...], list[str]] = defaultdict(list)  # hosts with the same launches
    for name in names:
        together[tuple(name in hosts for _, hosts, _ in launches)].append(name)
    used = {", ".join(members): _centred(map(float, uses), launches) for uses, members in together.items()}
    used = {name: column for name, column in used.items() if any(column)}  # leaves out hosts that all launches used
    count = len(used)
    df = len(launches) - len(groups) - (count - 1)
    if count < 2 or df < _MIN_DF:
        return []
    speeds = _centred((speed for _, _, speed in launches), launches)
    columns = list(used.values())
    # The columns sum to 0, so the effects are determined up to a constant. Adding 1 to each element
    # of the matrix selects the solution whose effects sum to 0.
    inverse = _inverse([[_dot(a, b) + 1.0 for b in columns] for a in columns])
    if inverse is None:
        return []
    moments = [_dot(column, speeds) for column in columns]
    effects = [_dot(row, moments) for row in inverse]
    fitted = (_dot(effects, uses) for uses in zip(*columns, strict=True))
    variance = math.fsum((speed - fit) ** 2 for speed, fit in zip(speeds, fitted, strict=True)) / df
    to_others = count / (count - 1)  # converts effects relative to the mean of all hosts
    found = []
    for index, name in enumerate(used):
        se = max(to_others * math.sqrt(variance * max(inverse[index][index] - 1 / count**2, 0.0)), _ROUNDING)
        difference = to_others * effects[index]
        first = name.split(", ", 1)[0]
        with_it = [group for group in groups if 0 < sum(first in hosts for hosts in group) < len(group)]
        on = sum(len(speeds) for group in with_it for hosts, speeds in group.items() if first in hosts)
        off = sum(len(speeds) for group in with_it for hosts, speeds in group.items() if first not in hosts)
        p = student.two_sided(difference / se, df)
        found.append(SlowHost(side, name, difference, effect.interval(difference, se, df), p, (on, off)))
    return found


def _centred(values: Iterable[float], launches: Sequence[tuple[int, frozenset[str], float]]) -> list[float]:
    """The values of the launches, minus the mean of their group."""
    of_group: dict[int, list[float]] = defaultdict(list)
    listed = list(values)
    for (group, _, _), value in zip(launches, listed, strict=True):
        of_group[group].append(value)
    means = {group: fmean(members) for group, members in of_group.items()}
    return [value - means[group] for (group, _, _), value in zip(launches, listed, strict=True)]


def _inverse(matrix: Sequence[Sequence[float]]) -> list[list[float]] | None:
    """The inverse of a symmetric positive matrix, by Gauss-Jordan elimination; None if it is
    singular."""
    size = len(matrix)
    rows = [[*row, *(float(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    scale = max(row[i] for i, row in enumerate(rows))
    for i in range(size):
        pivot = rows[i][i]
        if pivot < 1e-9 * scale:
            return None
        rows[i] = [value / pivot for value in rows[i]]
        for k in range(size):
            if k != i and (factor := rows[k][i]) != 0.0:
                rows[k] = [value - factor * above for value, above in zip(rows[k], rows[i], strict=True)]
    return [row[size:] for row in rows]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))
