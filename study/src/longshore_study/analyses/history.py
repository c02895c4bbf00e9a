"""Figures over time: of each row the sessions of all tags in the order in which they were measured,
and when the level changed. A point is a session of a tag, for sessions are what differs by chance
(stats/change_points.py).

Known events are looked at first: those of events.toml, and the change from one tag to the next
where tags follow each other with several sessions each.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from longshore_study.base.errors import suggestion
from longshore_study.base.expression import Expression
from longshore_study.compare.estimate import ratio, ratios
from longshore_study.compare.pairing import known_factors
from longshore_study.metrics.launch_metrics import Figure, Key, Measured, measure, pattern_rank, require_metrics
from longshore_study.metrics.metric_rows import reading_order
from longshore_study.stats import change_points
from longshore_study.stats.change_points import Change, History
from longshore_study.store.launch_store import Launch
from longshore_study.study_file.events import Event
from longshore_study.study_file.factors import BETWEEN, FACTORS

SCHEMA = 1
DEFAULT_MARGIN = 0.05
STATISTIC = "geometric mean over sessions"
MOST_SESSIONS = 400  # of a row; of more, the latest


@dataclass(frozen=True)
class Point:
    tag: str
    session: str
    when: str
    """The start of the session's first launch; empty where nothing is known of the time."""
    value: float
    """Geometric mean over the launches."""
    launches: int


@dataclass
class Row:
    key: Key
    unit: str
    better: str
    points: list[Point]
    found: History = field(default_factory=lambda: History((), 0.0, None))
    events: dict[int, list[Event]] = field(default_factory=dict)
    """What is known to have happened before a point, by its place."""

    @property
    def logs(self) -> list[float]:
        sign = -1.0 if self.better == "lower" else 1.0
        return [sign * math.log(point.value) for point in self.points]

    @property
    def changes(self) -> tuple[Change, ...]:
        return self.found.changes

    def levels(self) -> list[tuple[int, int, float]]:
        """(first, last + 1, geometric mean) between the steps."""
        edges = [0, *(change.at for change in self.changes), len(self.points)]
        return [
            (a, b, math.exp(math.fsum(math.log(p.value) for p in self.points[a:b]) / (b - a)))
            for a, b in itertools.pairwise(edges)
        ]

    def interval(self, change: Change) -> tuple[float, float]:
        """Of the ratio of the figure, the smaller end first."""
        low, high = ratios(change.interval, self.better)
        return low, high

    def told_events(self, change: Change) -> list[str]:
        """What is known to have happened there; a drift has not begun with it."""
        return [event.text for event in self.events.get(change.at, ())] if change.known else []

    def ratio(self, change: Change) -> float:
        return ratio(change.difference, self.better)


@dataclass(frozen=True)
class Table:
    rows: list[Row]
    margin: float
    measured: Measured
    warnings: list[str] = field(default_factory=list)
    """Of events that name what no row has."""


def build(
    launches: Sequence[Launch],
    events: Sequence[Event] = (),
    *,
    tags: Sequence[str] = (),
    margin: float | None = None,
    where: Expression | None = None,
    metrics: Iterable[str] = (),
) -> Table:
    """A row per figure that was measured in any session, controls among them: they tell a change of
    the machine.

    `tags`: their order, where imported sessions do not tell their times.
    """
    if margin is None:
        margins = {float(m) for launch in launches if (m := launch.envelope.get("margin"))}
        margin = margins.pop() if len(margins) == 1 else DEFAULT_MARGIN
    wanted = tuple(metrics)
    require_metrics(wanted, launches)
    measured = measure(launches, metrics=wanted)
    times = _times(launches)
    groups: dict[Key, list[Figure]] = defaultdict(list)
    for figure in measured.figures:
        groups[figure.key].append(figure)
    warnings = _unknown_factors(events, groups)
    if where is not None:
        groups = defaultdict(list, {key: groups[key] for key in where.select(list(groups), known_factors)})
    order = {tag: place for place, tag in enumerate(tags)}
    rows = [_row(key, figures, times, order) for key, figures in groups.items()]
    rows.sort(
        key=lambda row: (pattern_rank(row.key.pattern), row.key.study, reading_order(row.key.factors), row.key.metric)
    )
    for row in rows:
        row.events = _events(row, events)
    found = change_points.find_changes([row.logs for row in rows], margin, [list(row.events) for row in rows])
    for row, history in zip(rows, found, strict=True):
        row.found = history
    return Table(rows, margin, measured, warnings)


def _unknown_factors(events: Iterable[Event], keys: Iterable[Key]) -> list[str]:
    """A warning and no error: an event may speak of other studies than those that are shown."""
    known = {name for key in keys for name in key.factors}
    ours = {name.replace("-", "_") for of_pattern in (*FACTORS.values(), BETWEEN) for name in of_pattern}
    return [
        f"the event of {event.date} touches nothing: no row has a factor '{name}'{suggestion(name, known | ours)}"
        for event in events
        for name in event.factors
        if known and name not in known | ours
    ]


def _times(launches: Iterable[Launch]) -> dict[tuple[str, str, str], str]:
    found: dict[tuple[str, str, str], str] = {}
    for launch in launches:
        started = launch.envelope.get("started")
        if isinstance(started, str):
            key = (launch.study, launch.tag, launch.session)
            found[key] = min(found.get(key, started), started)
    return found


def _row(key: Key, figures: Sequence[Figure], times: dict[tuple[str, str, str], str], order: Mapping[str, int]) -> Row:
    sessions: dict[tuple[str, str], list[Figure]] = defaultdict(list)
    for figure in figures:
        sessions[figure.tag, figure.session].append(figure)
    points = [
        Point(
            tag, session, times.get((key.study, tag, session), ""),
            math.exp(math.fsum(math.log(f.value) for f in members) / len(members)), len({f.launch for f in members}),
        )
        for (tag, session), members in sessions.items()
    ]  # fmt: skip
    points.sort(key=lambda point: (point.when, order.get(point.tag, len(order)), point.tag, point.session))
    return Row(key, figures[0].unit, figures[0].better, points[-MOST_SESSIONS:])


def _events(row: Row, events: Sequence[Event]) -> dict[int, list[Event]]:
    found: dict[int, list[Event]] = defaultdict(list)
    for event in events:
        if event.affects(row.key.factors):
            place = next((k for k, point in enumerate(row.points) if point.when >= event.date), 0)
            if place:
                found[place].append(event)
    tags = [(tag, len(list(members))) for tag, members in itertools.groupby(point.tag for point in row.points)]
    follow_each_other = len({tag for tag, _ in tags}) == len(tags)
    if follow_each_other and all(count >= change_points.LEAST_SESSIONS for _, count in tags):
        for place, (tag, _) in zip(itertools.accumulate(count for _, count in tags), tags[1:], strict=False):
            found[place].append(Event(row.points[place].when, f"tag {tag} begins"))
    return dict(found)


def document(table: Table, events: Sequence[Event]) -> dict[str, Any]:
    """What `history --json` prints."""
    return {
        "schema": SCHEMA,
        "margin": table.margin,
        "statistic": STATISTIC,
        "events": [{"date": e.date, "text": e.text, "factors": dict(e.factors)} for e in events],
        "rows": [_row_document(row) for row in table.rows],
        "problems": [*table.warnings, *table.measured.problems],
    }


def _row_document(row: Row) -> dict[str, Any]:
    return {
        "study": row.key.study, "pattern": row.key.pattern, "variant": row.key.variant, "between": row.key.cell,
        "metric": row.key.metric, "unit": row.unit, "better": row.better,
        "points": [
            {"tag": p.tag, "session": p.session, "when": p.when, "value": p.value, "launches": p.launches}
            for p in row.points
        ],
        "noise": row.found.noise, "correlation": row.found.correlation,
        "changes": [change_document(row, change) for change in row.changes],
    }  # fmt: skip


def change_document(row: Row, change: Change) -> dict[str, Any]:
    before, after = row.points[change.at - 1], row.points[change.at]
    return {
        "kind": change.kind,
        "between": [{"tag": p.tag, "session": p.session, "when": p.when} for p in (before, after)],
        "verdict": "improved" if change.difference > 0 else "regressed",
        "ratio": row.ratio(change),
        "interval": list(row.interval(change)),
        "p": change.p,
        "adjusted_p": change.adjusted_p,
        "known": change.known,
        "events": row.told_events(change),
    }
