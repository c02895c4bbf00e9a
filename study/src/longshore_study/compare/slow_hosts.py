"""Finds hosts whose launches are slower than other launches of the same cells and sessions.

The launches of one cell in one session form a group. A launch is one observation: the mean
logarithm of its figures, relative to the mean of its group. Hosts are chosen one after another,
each by its t test beside those chosen before, and a permutation test must agree. For the reasons,
see docs/explanation/statistics.md, "Slow hosts".

Sources: Montgomery, Design and Analysis of Experiments, chapter 4 (balanced and incomplete blocks);
Draper and Smith, Applied Regression Analysis, chapter 15 (forward selection); Westfall and Young,
Resampling-Based Multiple Testing, chapter 2 (the most extreme host of each deal)."""

import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.groups import grouped, mean_by
from longshore_study.base.json_values import attributes
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.metrics.launch_metrics import Figure
from longshore_study.stats import effect, student, verdict
from longshore_study.stats.verdict import LEVEL
from longshore_study.store.hosts import hosts_of
from longshore_study.store.selection import Side

_MIN_DF = 2
_DEALS = 499
_MAX_HOSTS = 200
"""The time grows with the square of the number: some seconds for 200 hosts. More are not tested."""
_ROUNDING = 1e-6
"""A standard error below this comes from rounding, or from figures that repeat."""

_Group = Mapping[frozenset[str], list[float]]
"""The speeds of the launches of one cell and session, by the hosts that they ran on."""


@dataclass(frozen=True)
class SlowHost:
    """A host on which launches of one side are slower than its other launches."""

    side: str
    hosts: tuple[str, ...]
    """Its name, or several names if no launch tells these hosts apart."""
    difference: float
    """The difference of the logarithms of speed. It is negative, because the host is slow."""
    interval: tuple[float, float]
    """The 95 % interval of the difference."""
    p: float
    """Two-sided, corrected for the number of hosts of both sides."""
    launches: tuple[int, int]
    """Numbers of launches on the host and on other hosts, in cells and sessions that have both."""

    @property
    def host(self) -> str:
        return ", ".join(self.hosts)

    @property
    def text(self) -> str:
        bounds = terminal.interval(metric_ratios(self.interval, "higher"))
        on, off = self.launches
        what = f"host {self.host} is" if len(self.hosts) == 1 else f"one of the hosts {self.host} (always together) is"
        return (
            f"{what} slow in {self.side}: ratio of speed "
            f"{terminal.ratio_text(metric_ratio(self.difference, 'higher'))}, 95 % interval "
            f"{bounds}, of {terminal.count(on, 'launch')} on it to {off} on other hosts, in "
            f'the same cells and sessions; --where "{self.without}" leaves it out'
        )

    @property
    def without(self) -> str:
        """The condition of --where that leaves the launches on it out."""
        return f"host != {self.hosts[0]!r}" if len(self.hosts) == 1 else f"host not in {list(self.hosts)}"

    def as_json(self) -> dict[str, Any]:
        ratio, bounds = metric_ratio(self.difference, "higher"), metric_ratios(self.interval, "higher")
        return {
            **attributes(self, "side host hosts"), "ratio": ratio, "interval": bounds, **attributes(self, "p launches"),
        }  # fmt: skip


def slow_hosts(comparison: Comparison) -> list[SlowHost]:
    """The hosts that are significantly slow, by more than the margin, the slowest first."""
    rows = [row for row in comparison.rows if row.simulated is None]
    sides = ((comparison.reference, [row.reference for row in rows]), (comparison.new, [row.new for row in rows]))
    designs = [(side.name, design) for side, figures in sides for design in _designs(side, figures)]
    tests = sum(len(design.columns) for _, design in designs)
    level = LEVEL / max(1, len(designs))
    found = [host for name, design in designs for host in _slow(name, design, tests, level)]
    wanted = -math.log1p(comparison.margin)
    return sorted(
        (host for host in found if host.p <= LEVEL and host.difference < wanted), key=lambda host: host.difference
    )


def launch_speeds(rows: Sequence[Sequence[Figure]]) -> list[dict[str, float]]:
    """The speed of each launch, by cell and session: the logarithm of each figure minus the mean of
    its row, as a mean over the rows of the launch."""

    def group_of(figure: Figure) -> tuple[str, str, str]:
        return figure.key.study, figure.key.cell_text, figure.session

    speeds: list[tuple[tuple[str, str, str], str, float]] = []
    for figures in rows:
        means = mean_by(figures, group_of, lambda figure: figure.goodness)
        speeds += [(group_of(f), f.launch, f.goodness - means[group_of(f)]) for f in figures]
    groups = grouped(speeds, lambda speed: speed[0]).values()
    return [mean_by(group, lambda speed: speed[1], lambda speed: speed[2]) for group in groups]


def _connected(groups: Sequence[_Group]) -> list[list[_Group]]:
    """Divides the groups into sets without a common host, which cannot be compared."""
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


@dataclass(frozen=True)
class _Design:
    """Launches whose hosts can be compared, each value relative to the mean of its group."""

    columns: Mapping[tuple[str, ...], list[float]]
    """For each host, or hosts no launch tells apart: 1 for its launches, 0 for others, centred."""
    speeds: list[float]
    groups: Sequence[_Group]

    def effect(self, name: tuple[str, ...], others: Iterable[tuple[str, ...]]) -> tuple[float, float, int]:
        """The effect of this host beside the others, its standard error, and the degrees of
        freedom. The error is infinite if the others determine the host, or launches are too few."""
        beside = [self.columns[other] for other in others if other != name]
        orthogonal = _orthogonal(beside)
        column, speeds = _beside(self.columns[name], orthogonal), _beside(self.speeds, orthogonal)
        df = len(speeds) - len(self.groups) - len(beside) - 1
        size = _dot(column, column)
        if df < _MIN_DF or size < _ROUNDING:
            return 0.0, math.inf, df
        slope = _dot(column, speeds) / size
        rest = math.fsum((y - slope * x) ** 2 for x, y in zip(column, speeds, strict=True))
        return slope, max(math.sqrt(rest / df / size), _ROUNDING), df

    def is_by_chance(self, name: tuple[str, ...], others: Sequence[tuple[str, ...]], level: float) -> bool:
        """Whether some host looks as slow beside the others in more than the share `level` of
        random deals of the launches. False if the effect is larger than the range of the speeds
        without it."""
        orthogonal = _orthogonal([self.columns[other] for other in others])
        speeds = _beside(self.speeds, orthogonal)
        columns = {host: _beside(uses, orthogonal) for host, uses in self.columns.items() if host not in others}
        lengths = {host: math.sqrt(_dot(column, column)) for host, column in columns.items()}
        columns = {
            host: [value / lengths[host] for value in column]
            for host, column in columns.items()
            if lengths[host] ** 2 >= _ROUNDING
        }
        share = _dot(columns[name], speeds)
        rest = [speed - share * use for speed, use in zip(speeds, columns[name], strict=True)]
        if abs(share) / lengths[name] > max(rest) - min(rest):
            return False
        slow = share / math.sqrt(_dot(speeds, speeds))
        dealer = random.Random(0)  # noqa: S311 - the same launches give the same answer
        as_slow = 1
        for _ in range(_DEALS):
            dealt = _beside(self._dealt(speeds, dealer), orthogonal)
            slowest = min(_dot(column, dealt) for column in columns.values())
            as_slow += slowest <= slow * math.sqrt(_dot(dealt, dealt))
        return as_slow > level * (1 + _DEALS)

    def _dealt(self, speeds: Sequence[float], dealer: random.Random) -> list[float]:
        """The speeds in a random order within each group. A group has consecutive launches."""
        dealt: list[float] = []
        for group in self.groups:
            size = sum(map(len, group.values()))
            dealt += dealer.sample(speeds[len(dealt) : len(dealt) + size], size)
        return dealt


def changed_with_hosts(comparison: Comparison) -> tuple[list[str], list[str]] | None:
    """The hosts of the two sides, if a measured row changed and no host is on both sides."""
    changed = {
        figure.launch
        for row in comparison.rows
        if row.simulated is None and row.verdict in (verdict.REGRESSED, verdict.IMPROVED)
        for figure in (*row.reference, *row.new)
    }
    reference, new = (
        {host for one in side.launches if str(one.path) in changed for host in hosts_of(one.header)}
        for side in (comparison.reference, comparison.new)
    )
    return (sorted(reference), sorted(new)) if reference and new and not reference & new else None


def _designs(side: Side, rows: Sequence[Sequence[Figure]]) -> list[_Design]:
    by_launch = {str(launch.path): hosts_of(launch.header) for launch in side.launches}
    groups = []
    for speeds in launch_speeds(rows):
        group: dict[frozenset[str], list[float]] = defaultdict(list)
        for launch, speed in speeds.items():
            if hosts := by_launch.get(launch):
                group[hosts].append(speed)
        if len(group) > 1:  # in a smaller group, nothing distinguishes hosts
            groups.append(group)
    found = (_design(connected) for connected in _connected(groups))
    return [design for design in found if len(design.columns) <= _MAX_HOSTS]


def _design(groups: Sequence[_Group]) -> _Design:
    launches = [
        (index, hosts, speed)
        for index, group in enumerate(groups)
        for hosts, speeds in group.items()
        for speed in speeds
    ]

    def uses_of(name: str) -> tuple[float, ...]:
        uses = _centred((float(name in hosts) for _, hosts, _ in launches), launches)
        return tuple(round(value, 9) for value in uses)

    together = grouped(sorted({name for _, hosts, _ in launches for name in hosts}), uses_of)
    columns = {tuple(names): list(uses) for uses, names in together.items() if any(uses)}
    return _Design(columns, _centred((speed for _, _, speed in launches), launches), groups)


def _slow(side: str, design: _Design, tests: int, level: float) -> list[SlowHost]:
    """The slow hosts, chosen one by one: the most significant, given those chosen before, until
    none is significant at this level."""
    chosen: list[tuple[str, ...]] = []
    while candidates := [name for name in design.columns if name not in chosen]:
        fits = [(*design.effect(name, chosen), name) for name in candidates]
        difference, se, df, name = min(fits, key=lambda fit: fit[0] / fit[1])
        is_significant = difference < 0 and student.two_sided(difference / se, df) * tests <= LEVEL
        if not is_significant or design.is_by_chance(name, chosen, level):
            break
        chosen.append(name)
    found = []
    for name in chosen:
        difference, se, df = design.effect(name, chosen)
        if math.isfinite(se):
            interval, p = effect.interval(difference, se, df), min(1.0, student.two_sided(difference / se, df) * tests)
            found.append(SlowHost(side, name, difference, interval, p, _launches(name[0], design.groups)))
    return found


def _launches(host: str, groups: Sequence[_Group]) -> tuple[int, int]:
    """The numbers of launches on the host and on others, in groups that have both."""
    with_it = [group for group in groups if 0 < sum(host in hosts for hosts in group) < len(group)]
    on = sum(len(speeds) for group in with_it for hosts, speeds in group.items() if host in hosts)
    return on, sum(len(speeds) for group in with_it for speeds in group.values()) - on


def _orthogonal(columns: Iterable[Sequence[float]]) -> list[list[float]]:
    """Columns at right angles to each other that span the same space (Gram-Schmidt)."""
    found: list[list[float]] = []
    for column in columns:
        rest = _beside(column, found)
        if _dot(rest, rest) >= _ROUNDING:
            found.append(rest)
    return found


def _beside(column: Sequence[float], orthogonal: Iterable[Sequence[float]]) -> list[float]:
    """The part of the column that the other columns do not determine."""
    rest = list(column)
    for other in orthogonal:
        share = _dot(rest, other) / _dot(other, other)
        rest = [value - share * part for value, part in zip(rest, other, strict=True)]
    return rest


def _centred(values: Iterable[float], launches: Sequence[tuple[int, frozenset[str], float]]) -> list[float]:
    """The values of the launches, minus the mean of their group."""
    grouped_values = [(group, value) for (group, _, _), value in zip(launches, values, strict=True)]
    means = mean_by(grouped_values, lambda pair: pair[0], lambda pair: pair[1])
    return [value - means[group] for group, value in grouped_values]


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(a * b for a, b in zip(left, right, strict=True))
