"""The output of `show --means`: JSON, or a table per study, pattern and metric."""

from collections.abc import Sequence
from typing import Any

from longshore_study.analyses.means import Mean
from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.metrics.launch_metrics import unit_of_whom
from longshore_study.output.rows import grouped_by, print_rows


def document(rows: Sequence[Mean]) -> dict[str, Any]:
    return {
        "schema": 1,
        "rows": [
            {
                **attributes(row, "study tag pattern metric unit better factors pooled"),
                "launches": len(row.values),
                **attributes(row, "sessions mean"),
                "min": min(row.values),
                "max": max(row.values),
                "geometric_mean": row.geometric,
                "interval": list(row.interval) if row.interval else None,
            }
            for row in rows
        ],
    }


def render(rows: Sequence[Mean]) -> None:
    for (study, tag, pattern, metric, unit), members in grouped_by(rows, "study tag pattern metric unit").items():
        print_rows(
            f"{terminal.side(study, tag)}: {pattern} {metric}, {unit_of_whom(unit, members[0].per)}",
            members,
            {
                "launches": lambda row: str(len(row.values)),
                "mean": lambda row: terminal.number(row.mean),
                "min": lambda row: terminal.number(min(row.values)),
                "max": lambda row: terminal.number(max(row.values)),
                "middle, 95 %": _interval,
            },
            left=("middle, 95 %",),
        )
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
