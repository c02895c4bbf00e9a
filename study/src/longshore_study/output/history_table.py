"""The output of `longshore history`: JSON, or tables and a sentence per change."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from typing import Any

from longshore_study.analyses.history import STATISTIC, HistoryRow, HistoryTable, SessionPoint
from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import attributes
from longshore_study.metrics.launch_metrics import Key, names_of, unit_of_whom
from longshore_study.stats.change_points import DRIFT, MIN_SESSIONS, ChangePoint
from longshore_study.study_file.events import Event

_BARS = "▁▂▃▄▅▆▇█"
_MAX_BARS = 40
_LEAST_SPAN = math.log(1.1)  # of the bars, above and below their middle
_NOISE_SPAN = 3.0  # times the noise of the row
_MAX_LINES = 6  # for changes between the same two sessions


def document(table: HistoryTable, events: Sequence[Event]) -> dict[str, Any]:
    return {
        "schema": 1,
        "margin": table.margin,
        "statistic": STATISTIC,
        "events": [attributes(event, "date text factors") for event in events],
        "rows": [_row_document(row) for row in table.rows],
        "problems": [*table.warnings, *table.measured.problems],
    }


def _row_document(row: HistoryRow) -> dict[str, Any]:
    return {
        "study": row.key.study, "pattern": row.key.pattern, "variant": row.key.variant, "between": row.key.cell,
        "metric": row.key.metric, "unit": row.unit, "better": row.better,
        "points": [attributes(point, "tag session when value launches") for point in row.points],
        "noise": row.found.noise, "correlation": row.found.correlation,
        "changes": [change_document(row, change) for change in row.changes],
    }  # fmt: skip


def change_document(row: HistoryRow, change: ChangePoint) -> dict[str, Any]:
    before, after = row.points[change.at - 1], row.points[change.at]
    return {
        "kind": change.kind,
        "between": [attributes(point, "tag session when") for point in (before, after)],
        "verdict": _style(change),
        "ratio": row.ratio(change),
        "interval": list(row.interval(change)),
        **attributes(change, "p adjusted_p known"),
        "events": row.known_events(change),
    }


def render(table: HistoryTable, *, everything: bool) -> None:
    of_several = sessions_of_several_tags(table)
    groups = grouped(table.rows, lambda row: (row.key.pattern, row.key.metric, row.unit))
    for (pattern, metric, unit), rows in groups.items():
        described = [row.key.told for row in rows]
        shared, names = terminal.varying(described)
        shown = {name: value for name, value in shared.items() if value not in ("", {})}
        body = [
            [
                *terminal.levels(factors, names),
                str(len(row.points)), terminal.number(row.levels()[0][2]), terminal.number(row.levels()[-1][2]),
                "-" if row.found.noise is None else terminal.percent(math.expm1(row.found.noise)),
                spark(row), _changes(row, of_several),
            ]
            for factors, row in zip(described, rows, strict=True)
        ]  # fmt: skip
        whole = unit_of_whom(unit, rows[0].per)
        columns = [*names, "sessions", "first level", "last level", "noise", "over time", "changes"]
        right = {"sessions", "first level", "last level", "noise"}
        terminal.print_table(
            f"{pattern}: {metric} in {whole} ({terminal.factors(shown)})", columns, body, right=right,
            styles=[_style(row.changes[-1]) if row.changes else None for row in rows],
        )  # fmt: skip
        print(f"levels and ratios: {STATISTIC}")
        print()
    _print_changes(table, everything=everything)
    if any(not point.when for row in table.rows for point in row.points):
        print("warning: imported sessions have no times: their tags are in the order of the command line, else by name")
    for warning in (*table.warnings, *(f"not in the tables: {problem}" for problem in table.measured.problems)):
        print(f"warning: {warning}")


def _style(change: ChangePoint) -> str:
    return "improved" if change.difference > 0 else "regressed"


def sessions_of_several_tags(table: HistoryTable) -> set[str]:
    """The names of sessions that several tags have, so that a text must also name the tag."""
    tagged = {(point.session, point.tag) for row in table.rows for point in row.points}
    counts = Counter(session for session, _ in tagged)
    return {session for session, tags in counts.items() if tags > 1}


def _changes(row: HistoryRow, of_several: Collection[str]) -> str:
    if not row.changes:
        return "too few sessions" if len(row.points) < MIN_SESSIONS else "none"
    return "; ".join(
        f"{terminal.ratio_text(row.ratio(c))} at {_session(row.points[c.at], of_several)} ({c.kind})"
        for c in row.changes
    )


def _session(point: SessionPoint, of_several: Collection[str]) -> str:
    return f"{point.session} of tag {point.tag}" if point.session in of_several else point.session


def spark(row: HistoryRow) -> str:
    """The latest values as bars, logarithmic, with a least span so that noise is no step."""
    logs = [math.log(point.value) for point in row.points[-_MAX_BARS:]]
    middle = (min(logs) + max(logs)) / 2
    half = max(max(logs) - middle, _LEAST_SPAN, _NOISE_SPAN * (row.found.noise or 0.0))
    return "".join(_BARS[round((log - middle + half) / (2 * half) * (len(_BARS) - 1))] for log in logs)


def _print_changes(table: HistoryTable, *, everything: bool) -> None:
    found = [(row, change) for row in table.rows for change in row.changes]
    if not found:
        fewest = min(len(row.points) for row in table.rows)
        more = f"; {MIN_SESSIONS} sessions are needed, and some rows have {fewest}" if fewest < MIN_SESSIONS else ""
        print(f"no change beyond the margin of {table.margin:.0%}{more}")
    name = names_of(row.key for row in table.rows)

    def sessions(found_change: tuple[HistoryRow, ChangePoint]) -> tuple[str, ...]:
        row, change = found_change
        before, after = row.points[change.at - 1], row.points[change.at]
        return after.when, before.tag, before.session, after.tag, after.session

    for _, members in sorted(grouped(found, sessions).items()):
        if len(members) > _MAX_LINES and not everything:
            print(summary(members, name))
            continue
        for row, change in members:
            terminal.print_line(sentence(row, change, name), _style(change))


def summary(members: Sequence[tuple[HistoryRow, ChangePoint]], name: Callable[[Key], str]) -> str:
    """One sentence for rows that changed together: counts, and the largest change."""
    row, change = max(members, key=lambda member: abs(member[1].difference))
    worse = sum(change.difference < 0 for _, change in members)
    counts = [f"{count} {word}" for word, count in (("worse", worse), ("better", len(members) - worse)) if count]
    most = sentence(row, change, name)
    return f"{len(members)} rows changed together ({', '.join(counts)}; -v lists them), the most: {most}"


def sentence(row: HistoryRow, change: ChangePoint, name: Callable[[Key], str]) -> str:
    """`2026-03-04, between sessions a and b (tags x and y): halo became 17.5 times slower ...`."""
    before, after = row.points[change.at - 1], row.points[change.at]
    how = terminal.times(math.exp(change.difference))
    verb = "drifted" if change.kind == DRIFT else "became"
    low, high = row.interval(change)
    tags = f" (tags {before.tag} and {after.tag})" if before.tag != after.tag else f" (tag {after.tag})"
    events = "; ".join(row.known_events(change))
    known = f"; after: {events}" if events else "; no known event"
    date = f"{after.when[:10]}, " if after.when else ""
    return (
        f"{date}between sessions {before.session} and {after.session}{tags}: {name(row.key)} {verb} {how}"
        f" (ratio {terminal.ratio_text(row.ratio(change))}, 95 % interval {terminal.interval((low, high))}{known})"
    )
