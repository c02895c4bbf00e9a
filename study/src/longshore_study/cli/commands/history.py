"""`longshore history`: shows metrics over sessions and tags, and when they changed."""

from __future__ import annotations

import argparse
import json
import math
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from longshore_study.analyses import history
from longshore_study.analyses.history import Point, Row, Table
from longshore_study.base import expression, terminal
from longshore_study.base.errors import EXIT_INVALID, EXIT_OK, LongshoreError
from longshore_study.compare import judgement
from longshore_study.metrics.launch_metrics import unit_of_whom
from longshore_study.stats.change_points import DRIFT, FEWEST, Change
from longshore_study.store import selection
from longshore_study.store.launch_store import Launch, Store
from longshore_study.study_file import events

EXAMPLES = """\
examples:
  longshore history                                   all stored sessions
  longshore history nightly --where "mode == 'persistent'"
  longshore history nightly --events events.toml      with the dates of known events
  longshore history --json

A point is a session of a tag. A change is significantly larger than the margin (95 %, for all rows together), even if
consecutive sessions are correlated. 'step': between two sessions; 'drift': a slope explains it as well. The dates of
known events (--events, else STORE/events.toml) and changes of the tag are tested first. An event is a table:

  [[event]]
  date = 2026-03-01
  text = "new release of the MPI library"
  factors = { transport = "mpi" }                     the affected rows; default: all

exit status: 0; 3 nothing to show, or damaged data; 64 usage
"""

_BARS = "▁▂▃▄▅▆▇█"
_MOST_BARS = 40
_MOST_LINES = 6  # for changes between the same two sessions


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("names", metavar="NAME", nargs="*", help="tags or studies (default: all that is stored)")
    parser.add_argument("--where", metavar="CONDITION", help="only rows that meet it, such as 'nodes > 1'")
    parser.add_argument(
        "--metric", action="append", default=[], metavar="NAME", help="also this metric; 'all' for all metrics"
    )
    parser.add_argument("--margin", metavar="M", help="ignore changes below it: 5%% or 0.05")
    parser.add_argument("--events", metavar="FILE", type=Path, help="known events (default: STORE/events.toml)")


def run(args: argparse.Namespace) -> int:
    store = Store(args.store)
    known = events.of_store(store.path, args.events)
    table = history.build(
        named_launches(store, args.names),
        known,
        tags=args.names,
        margin=judgement.parse_margin(args.margin) if args.margin is not None else None,
        where=expression.parse(args.where) if args.where is not None else None,
        metrics=tuple(args.metric),
    )
    if not table.rows:
        problem = "".join(f"; {p}" for p in table.measured.problems[:1])
        raise LongshoreError(f"no results to show a history of{problem}")
    if args.json:
        print(json.dumps(history.document(table, known), indent=1, ensure_ascii=False))
    else:
        _print(table, everything=args.verbose)
    return EXIT_INVALID if table.measured.damaged else EXIT_OK


def named_launches(store: Store, names: Sequence[str]) -> list[Launch]:
    return [
        launch
        for study, tag, session in selection.named_sessions(store, names)
        for launch in store.launches(study, tag, session)
    ]


def _print(table: Table, *, everything: bool) -> None:
    groups: dict[tuple[str, str, str], list[Row]] = defaultdict(list)
    of_several = sessions_of_several_tags(table)
    for row in table.rows:
        groups[row.key.pattern, row.key.metric, row.unit].append(row)
    for (pattern, metric, unit), rows in groups.items():
        described = [{"study": row.key.study, **row.key.cell, **row.key.variant} for row in rows]
        shared, names = terminal.varying(described)
        shown = {name: value for name, value in shared.items() if value not in ("", {})}
        body = [
            [
                *terminal.levels(factors, names),
                str(len(row.points)), terminal.number(row.levels()[0][2]), terminal.number(row.levels()[-1][2]),
                _noise(row), spark(row), _changes(row, of_several),
            ]
            for factors, row in zip(described, rows, strict=True)
        ]  # fmt: skip
        whole = unit_of_whom(pattern, metric, unit)
        columns = [*names, "sessions", "first level", "last level", "noise", "over time", "changes"]
        right = {"sessions", "first level", "last level", "noise"}
        terminal.print_table(
            f"{pattern}: {metric} in {whole} ({terminal.factors(shown)})", columns, body, right=right,
            styles=[_style(row) for row in rows],
        )  # fmt: skip
        print(f"levels and ratios: {history.STATISTIC}")
        print()
    _print_changes(table, everything=everything)
    if any(not point.when for row in table.rows for point in row.points):
        print("warning: imported sessions have no time: their tags are in the order of the command line, else by name")
    for warning in table.warnings:
        print(f"warning: {warning}")
    for problem in table.measured.problems:
        print(f"warning: not in the tables: {problem}")


def _noise(row: Row) -> str:
    return "-" if row.found.noise is None else terminal.percent(math.expm1(row.found.noise))


def _style(row: Row) -> str | None:
    if not row.changes:
        return None
    return "improved" if row.changes[-1].difference > 0 else "regressed"


def sessions_of_several_tags(table: Table) -> set[str]:
    """Names of sessions that exist under several tags."""
    tags: dict[str, set[str]] = defaultdict(set)
    for row in table.rows:
        for point in row.points:
            tags[point.session].add(point.tag)
    return {session for session, those in tags.items() if len(those) > 1}


def _changes(row: Row, of_several: Collection[str]) -> str:
    if not row.changes:
        return "too few sessions" if len(row.points) < FEWEST else "none"
    return "; ".join(
        f"{terminal.ratio(row.ratio(c))} at {_session(row.points[c.at], of_several)} ({c.kind})" for c in row.changes
    )


def _session(point: Point, of_several: Collection[str]) -> str:
    return f"{point.session} of tag {point.tag}" if point.session in of_several else point.session


def spark(row: Row) -> str:
    """The latest sessions as bars on a logarithmic scale, from the smallest to the largest."""
    logs = [math.log(point.value) for point in row.points[-_MOST_BARS:]]
    low, high = min(logs), max(logs)
    if high - low < 1e-9:
        return _BARS[3] * len(logs)
    return "".join(_BARS[round((one - low) / (high - low) * (len(_BARS) - 1))] for one in logs)


def _print_changes(table: Table, *, everything: bool) -> None:
    found = [(row.points[change.at].when, row, change) for row in table.rows for change in row.changes]
    if not found:
        fewest = min(len(row.points) for row in table.rows)
        more = f"; {FEWEST} sessions are needed, and some rows have {fewest}" if fewest < FEWEST else ""
        print(f"no change beyond the margin of {table.margin:.0%}{more}")
    together: dict[tuple[str, ...], list[tuple[Row, Change]]] = defaultdict(list)
    for when, row, change in found:
        before = row.points[change.at - 1]
        after = row.points[change.at]
        together[when, before.tag, before.session, after.tag, after.session].append((row, change))
    for _, members in sorted(together.items()):
        if len(members) > _MOST_LINES and not everything:
            print(summary(members))
            continue
        for row, change in members:
            terminal.print_line(sentence(row, change), "improved" if change.difference > 0 else "regressed")


def summary(members: Sequence[tuple[Row, Change]]) -> str:
    """A line for rows that changed between the same two sessions: their number, and the largest
    change."""
    row, change = max(members, key=lambda one: abs(one[1].difference))
    worse = sum(one.difference < 0 for _, one in members)
    counts = [
        f"{count} worse" if k else f"{count} better" for k, count in ((1, worse), (0, len(members) - worse)) if count
    ]
    return (
        f"{len(members)} rows changed together ({', '.join(counts)}; -v lists them), the most: {sentence(row, change)}"
    )


def sentence(row: Row, change: Change) -> str:
    """`2026-03-04, between sessions a (tag x) and b (tag y): halo mode persistent became 17.5 times
    slower (...)`."""
    before, after = row.points[change.at - 1], row.points[change.at]
    how = terminal.times(math.exp(change.difference))
    name = f"{row.key.pattern} {terminal.factors(row.key.variant)}".rstrip()
    change_word = "drifted" if change.kind == DRIFT else "became"
    low, high = row.interval(change)
    tags = f" (tags {before.tag} and {after.tag})" if before.tag != after.tag else f" (tag {after.tag})"
    what = "; ".join(row.told_events(change))
    known = f"; after: {what}" if what else "; no known event"
    date = f"{after.when[:10]}, " if after.when else ""
    return (
        f"{date}between sessions {before.session} and {after.session}{tags}: {name} {change_word} {how}"
        f" (ratio {terminal.ratio(row.ratio(change))}, 95 % interval {terminal.interval((low, high))}{known})"
    )
