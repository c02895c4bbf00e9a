"""Figures over time: the sessions of all tags in the order of measurement, and the times at which
the level of a row changed. A point is one session of a tag. Known events are tested first: those of
events.toml, and the beginning of a tag if the sessions of each tag are consecutive."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

from longshore_study.base.errors import suggestion
from longshore_study.base.expression import Expression
from longshore_study.base.groups import grouped
from longshore_study.compare.comparison import margin_of
from longshore_study.compare.estimate import metric_ratio, metric_ratios
from longshore_study.compare.pairing import known_factors
from longshore_study.metrics.launch_metrics import Figure, Key, Measurements, measure, require_metrics
from longshore_study.metrics.variant_rows import reading_order
from longshore_study.patterns import FACTORS_BETWEEN_LAUNCHES, PATTERNS, pattern_rank
from longshore_study.stats import change_points
from longshore_study.stats.change_points import ChangePoint, History
from longshore_study.store.hosts import on_hosts
from longshore_study.store.launch_store import Launch
from longshore_study.study_file.events import Event

STATISTIC = "geometric mean over sessions"
MAX_SESSIONS = 400  # of a row, the latest ones


@dataclass(frozen=True)
class SessionPoint:
    """The figures of a row in one session, as one point in time."""

    tag: str
    session: str
    when: str
    """The start of the first launch of the session; empty if unknown."""
    value: float
    launches: int


@dataclass(frozen=True)
class HistoryRow:
    """A metric of a variant over time, with the changes of its level."""

    key: Key
    unit: str
    better: str
    points: list[SessionPoint]
    per: str = ""
    found: History = field(default_factory=lambda: History((), 0.0, None))
    events: dict[int, list[Event]] = field(default_factory=dict)
    """The known events before a point, by the index of the point."""

    @property
    def logs(self) -> list[float]:
        sign = -1.0 if self.better == "lower" else 1.0
        return [sign * math.log(point.value) for point in self.points]

    @property
    def changes(self) -> tuple[ChangePoint, ...]:
        return self.found.changes

    def levels(self) -> list[tuple[int, int, float]]:
        """The parts between changes: (first index, index after the last, geometric mean)."""
        edges = [0, *(change.at for change in self.changes), len(self.points)]
        return [
            (a, b, math.exp(math.fsum(math.log(p.value) for p in self.points[a:b]) / (b - a)))
            for a, b in itertools.pairwise(edges)
        ]

    def interval(self, change: ChangePoint) -> tuple[float, float]:
        return metric_ratios(change.interval, self.better)

    def known_events(self, change: ChangePoint) -> list[str]:
        """The known events at the change. A drift has none."""
        return [event.text for event in self.events.get(change.at, ())] if change.known else []

    def ratio(self, change: ChangePoint) -> float:
        return metric_ratio(change.difference, self.better)


@dataclass(frozen=True)
class HistoryTable:
    rows: list[HistoryRow]
    margin: float
    measured: Measurements
    warnings: list[str] = field(default_factory=list)
    """Events with a factor that no row has, and launches that are left out."""


def build(
    launches: Sequence[Launch],
    events: Sequence[Event] = (),
    *,
    tags: Sequence[str] = (),
    margin: float | None = None,
    where: Expression | None = None,
    metrics: Iterable[str] = (),
) -> HistoryTable:
    """A row for each metric of a variant in a cell. Controls have rows too, because they show
    changes of the machine. `tags` is the order of tags whose imported sessions have no times."""
    (launches,), where = on_hosts([launches], where)
    if margin is None:
        margin = margin_of(launches)
    wanted = tuple(metrics)
    require_metrics(wanted, launches)
    real = [launch for launch in launches if launch.simulated is None]
    measured = measure(real, metrics=wanted)
    starts = _session_starts(launches)
    groups = grouped(measured.figures, lambda figure: figure.key)
    warnings = _unknown_factors(events, groups)
    if len(real) < len(launches):
        warnings.append("simulated launches are left out: they change with the program and the machine file only")
    if where is not None:
        groups = {key: groups[key] for key in where.select(list(groups), known_factors)}
    order = {tag: index for index, tag in enumerate(tags)}
    rows = [_row(key, figures, starts, order) for key, figures in groups.items()]
    rows.sort(
        key=lambda row: (pattern_rank(row.key.pattern), row.key.study, reading_order(row.key.factors), row.key.metric)
    )
    known = [_events(row, events) for row in rows]
    found = change_points.find_changes([row.logs for row in rows], margin, [list(indices) for indices in known])
    rows = [replace(row, events=of_row, found=history) for row, of_row, history in zip(rows, known, found, strict=True)]
    return HistoryTable(rows, margin, measured, warnings)


def _unknown_factors(events: Iterable[Event], keys: Iterable[Key]) -> list[str]:
    """Warnings about events whose factors no row has; they may concern other studies."""
    known = {name for key in keys for name in key.factors}
    of_bench = {*FACTORS_BETWEEN_LAUNCHES, *(name for pattern in PATTERNS.values() for name in pattern.factors)}
    return [
        f"the event of {event.date} affects no row: no row has a factor '{name}'{suggestion(name, known | of_bench)}"
        for event in events
        for name in event.factors
        if known and name not in known | of_bench
    ]


def _session_starts(launches: Iterable[Launch]) -> dict[tuple[str, str, str], str]:
    known = (launch for launch in launches if isinstance(launch.envelope.get("started"), str))
    sessions = grouped(known, lambda launch: (launch.study, launch.tag, launch.session))
    return {name: min(launch.envelope["started"] for launch in of_it) for name, of_it in sessions.items()}


def _row(
    key: Key, figures: Sequence[Figure], starts: dict[tuple[str, str, str], str], order: Mapping[str, int]
) -> HistoryRow:
    sessions = grouped(figures, lambda figure: (figure.tag, figure.session))
    points = [
        SessionPoint(
            tag, session, starts.get((key.study, tag, session), ""),
            math.exp(fmean(math.log(f.value) for f in members)), len({f.launch for f in members}),
        )
        for (tag, session), members in sessions.items()
    ]  # fmt: skip
    points.sort(key=lambda point: (point.when, order.get(point.tag, len(order)), point.tag, point.session))
    return HistoryRow(key, figures[0].unit, figures[0].better, points[-MAX_SESSIONS:], figures[0].per)


def _events(row: HistoryRow, events: Sequence[Event]) -> dict[int, list[Event]]:
    """The events of the row, by the index of the first point after the event."""
    before_point: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.affects(row.key.factors):
            index = next((k for k, point in enumerate(row.points) if point.when >= event.date), 0)
            if index:
                before_point[index].append(event)
    tags = [(tag, len(list(members))) for tag, members in itertools.groupby(point.tag for point in row.points)]
    are_consecutive = len({tag for tag, _ in tags}) == len(tags)
    if are_consecutive and all(count >= change_points.MIN_SESSIONS_PER_SIDE for _, count in tags):
        for index, (tag, _) in zip(itertools.accumulate(count for _, count in tags), tags[1:], strict=False):
            before_point[index].append(Event(row.points[index].when, f"tag {tag} begins"))
    return dict(before_point)
