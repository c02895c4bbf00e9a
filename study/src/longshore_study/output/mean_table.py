"""The output of `show --means`: JSON, or a table per study, pattern and metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longshore_study.analyses.means import Mean
from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.metrics.launch_metrics import unit_of_whom


def document(rows: Sequence[Mean]) -> dict[str, Any]:
    return {
        "schema": 1,
        "rows": [
            {
                "study": row.study,
                "tag": row.tag,
                "pattern": row.pattern,
                "metric": row.metric,
                "unit": row.unit,
                "better": row.better,
                "factors": dict(row.factors),
                "pooled": dict(row.pooled),
                "launches": len(row.values),
                "sessions": row.sessions,
                "mean": row.mean,
                "min": row.smallest,
                "max": row.largest,
                "geometric_mean": row.geometric,
                "interval": list(row.interval) if row.interval else None,
            }
            for row in rows
        ],
    }


def render(rows: Sequence[Mean]) -> None:
    groups = grouped(rows, lambda row: (row.study, row.tag, row.pattern, row.metric, row.unit))
    for (study, tag, pattern, metric, unit), members in groups.items():
        shared, names = terminal.varying([row.factors for row in members])
        title = (
            f"{terminal.side(study, tag)}: {pattern} {metric}, {unit_of_whom(unit, members[0].per)}"
            + terminal.shared_factors(shared)
        )
        columns = [*terminal.options(names), "launches", "mean", "min", "max", "middle, 95 %"]
        body = [
            [
                *terminal.levels(row.factors, names),
                str(len(row.values)),
                *(terminal.number(value) for value in (row.mean, row.smallest, row.largest)),
                _interval(row),
            ]
            for row in members
        ]
        terminal.print_table(title, columns, body, right=("launches", "mean", "min", "max"))
        unit_of_interval = "sessions" if members[0].sessions > 1 else "launches"
        print(f"mean, min and max over launches; the geometric mean with its 95 % interval from {unit_of_interval}")
        for name in dict.fromkeys(name for row in members for name in row.pooled):
            print(f"pooled over {max(row.pooled.get(name, 1) for row in members)} levels of {name}")
        print()


def _interval(row: Mean) -> str:
    if row.interval is None:
        return terminal.number(row.geometric)
    low, high = (terminal.number(bound) for bound in row.interval)
    return f"{terminal.number(row.geometric)} ({low} to {high})"
