"""The tables that `longshore compare` prints on a terminal.

A column is an entry of COLUMNS: a heading and a function from a judged row to a text. To add a
column, add an entry; its number comes from compare/judged_row.py.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from longshore_study.base import terminal
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.differences import differences, in_words
from longshore_study.compare.estimate import PLAIN, STATISTIC, ratio
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.compare.pairing import known_factors
from longshore_study.metrics.launch_metrics import unit_of_whom
from longshore_study.stats import verdict

_MOST_DIFFERENCES = 12
_FILE = re.compile(r"\S+\.jsonl(:\d+)?: ")  # the file of a launch, before the problem that it has


@dataclass(frozen=True)
class CompareColumn:
    heading: Callable[[Comparison], str]
    text: Callable[[JudgedRow], str]
    shown: Callable[[Sequence[JudgedRow]], bool] = lambda _: True
    """Decides whether the table of these rows has the column."""
    right: bool = True
    """Numbers are aligned to the right."""


def _differs_from_raw(row: JudgedRow) -> bool:
    """Compares the printed texts: a difference that rounding hides needs no column."""
    return row.raw_ratio is not None and terminal.ratio(row.raw_ratio) != terminal.ratio(row.ratio)


def _verdict(row: JudgedRow) -> str:
    """Beside "inconclusive" stands the slowdown that these data could have found."""
    smallest = row.smallest_slowdown
    if row.verdict != verdict.INCONCLUSIVE or smallest is None:
        return row.verdict
    found = terminal.percent(smallest) if smallest < 1 else f"{terminal.significant(1 + smallest, 2)} times"
    return f"{row.verdict} (would find {found})"


COLUMNS = (
    CompareColumn(lambda comparison: comparison.reference.name, lambda row: terminal.number(row.reference_mean)),
    CompareColumn(lambda comparison: comparison.new.name, lambda row: terminal.number(row.new_mean)),
    CompareColumn(
        lambda _: "raw ratio",
        lambda row: terminal.ratio(row.raw_ratio),
        shown=lambda rows: any(_differs_from_raw(row) for row in rows),
    ),
    CompareColumn(lambda _: "ratio", lambda row: terminal.ratio(row.ratio)),
    CompareColumn(lambda _: "95 % interval", lambda row: terminal.interval(row.interval), right=False),
    CompareColumn(lambda _: "verdict", _verdict, right=False),
)
"""The columns after those of the factors that distinguish the rows."""


def render(comparison: Comparison, *, verbose: bool) -> None:
    """Prints a table per pattern and metric, and the summary. `verbose`: lists all differences
    between the sides."""
    groups: dict[tuple[str, str], list[JudgedRow]] = defaultdict(list)
    for row in comparison.rows:
        groups[row.key.pattern, row.key.metric].append(row)
    for (pattern, metric), rows in groups.items():
        _print_table(comparison, pattern, metric, rows)
    _print_summary(comparison, verbose=verbose)


def render_pivot(comparison: Comparison, down: str | None, across: str | None, *, verbose: bool) -> None:
    """Prints a table of ratios by two factors, and the summary. A cell of several rows shows the
    gravest one and their number."""
    cells: dict[tuple[str, str], list[JudgedRow]] = defaultdict(list)
    for row in comparison.rows:
        factors = known_factors(row.key)
        cells[_level(factors, down), _level(factors, across)].append(row)
    lines = list(dict.fromkeys(line for line, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    body = [[line, *(_pivot_cell(cells.get((line, column), [])) for column in columns)] for line in lines]
    title = f"{comparison.new.name} / {comparison.reference.name}" + (f" by {across} across" if across else "")
    terminal.print_table(title, [down or "", *columns], body)
    print(_legend(comparison.rows))
    print()
    _print_summary(comparison, verbose=verbose)


def _print_table(comparison: Comparison, pattern: str, metric: str, rows: Sequence[JudgedRow]) -> None:
    described = [_factors(row) for row in rows]
    shared, names = terminal.varying(described)
    unit = unit_of_whom(pattern, metric, next((row.unit for row in rows if row.unit), ""))
    shown = [column for column in COLUMNS if column.shown(rows)]
    headings = [column.heading(comparison) for column in shown]
    terminal.print_table(
        f"{pattern}: {metric} in {unit}{terminal.shared_factors(shared)}",
        [*names, *headings],
        [
            [*(terminal.factor(factors.get(name)) for name in names), *(column.text(row) for column in shown)]
            for factors, row in zip(described, rows, strict=True)
        ],
        right=[heading for heading, column in zip(headings, shown, strict=True) if column.right],
        styles=[row.verdict for row in rows],
    )
    print(_legend(rows))
    _print_warnings(rows, names)
    print()


def _factors(row: JudgedRow) -> dict[str, Any]:
    return {"study": row.key.study, **row.key.cell, **row.key.variant}


def _legend(rows: Sequence[JudgedRow]) -> str:
    """Explains the figures and the ratio under each table."""
    kinds = list(dict.fromkeys(row.ratio_kind for row in rows if row.ratio_kind))
    ratio_text = f"ratio: {' or '.join(kinds)}" if kinds else "no ratio"
    raw = f"; raw ratio: {PLAIN}" if any(row.estimate and row.estimate.taken_out for row in rows) else ""
    return f"figures: {STATISTIC}; {ratio_text}{raw}"


def _print_warnings(rows: Sequence[JudgedRow], names: list[str]) -> None:
    """One line per kind of warning: warnings that differ only in the file of a launch are alike."""
    grouped: dict[str, list[str]] = defaultdict(list)
    first: dict[str, str] = {}
    for row in rows:
        factors = _factors(row)
        label = " ".join(terminal.factor(factors[name]) for name in names if name in factors)
        for warning in row.warnings:
            kind = _FILE.sub("", warning)
            first.setdefault(kind, warning)
            grouped[kind].append(label)
    for kind, labels in grouped.items():
        which = "all rows" if len(labels) == len(rows) else ", ".join(labels[:4]) + (" ..." if len(labels) > 4 else "")
        print(f"warning: {which}: {first[kind]}")


def _level(factors: dict[str, Any], name: str | None) -> str:
    return terminal.factor(factors.get(name)) if name else "all"


def _pivot_cell(rows: list[JudgedRow]) -> str:
    if not rows:
        return ""
    gravest = min(rows, key=lambda row: verdict.VERDICTS.index(row.verdict))
    more = f" (gravest of {len(rows)})" if len(rows) > 1 else ""
    return f"{terminal.ratio(gravest.ratio)} {gravest.verdict}{more}"


def _grouped(problems: Sequence[str]) -> list[str]:
    """Launches with the same problem share one line, which names the file of the first."""
    alike: dict[str, list[str]] = {}
    for problem in problems:
        alike.setdefault(_FILE.sub("", problem), []).append(problem)
    return [
        members[0] if len(members) == 1 else f"{members[0]}; and {terminal.count(len(members) - 1, 'launch')} alike"
        for members in alike.values()
    ]


def _print_differences(comparison: Comparison, *, everything: bool) -> None:
    """Everything else that differs between the sides may be the cause."""
    found = differences(comparison.reference, comparison.new)
    if not found:
        return
    most = len(found) if everything else _MOST_DIFFERENCES
    print("other recorded differences between the sides:")
    for one in found[:most]:
        print(f"  {one.name}: {in_words(one.reference)} -> {in_words(one.new)}")
    if len(found) > most:
        print(f"  and {len(found) - most} more (-v lists them)")


def _print_summary(comparison: Comparison, *, verbose: bool) -> None:
    shift = comparison.shift
    if shift.ratio is not None:
        size = f"{terminal.ratio(shift.ratio)}, 95 % interval {terminal.interval(shift.interval)}"
        print(f"common shift: {terminal.times(shift.ratio)} (ratio of speed {size}); {shift.reason}")
    if explained := comparison.pulse_explained:
        rows = terminal.count(len(explained), "row")
        most = f"{100 * explained[0]:.0f} to {100 * explained[-1]:.0f} %"
        print(f"noise probe (pulse): removed from {rows}; it explained {most} of the variance between launches")
    for problem in _grouped(comparison.problems):
        print(f"warning: {problem}")
    _print_differences(comparison, everything=verbose)
    counts = ", ".join(f"{count} {name}" for name, count in comparison.counts.items())
    word = comparison.verdict
    terminal.print_line(
        f"{comparison.new.name} against {comparison.reference.name}: {word} ({counts};"
        f" margin {100 * comparison.margin:g} %)",
        word,
    )
    regressed = (row for row in comparison.rows if row.verdict == verdict.REGRESSED)
    worst = [(row.estimate.difference, row) for row in regressed if row.estimate]
    if worst:
        difference, row = min(worst, key=lambda one: one[0])
        how = terminal.times(ratio(difference, "higher"))
        print(f"worst: {row.key.pattern} {terminal.factors(row.key.variant)} is {how}")
