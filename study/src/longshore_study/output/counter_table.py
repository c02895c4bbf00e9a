"""The output of `show --counters`: JSON, or tables per study and pattern."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.metrics.counters import COUNTED, HARDWARE, CounterSummary
from longshore_study.output.rows import grouped_by, print_rows

_SECONDS = ("waited mean", "waited max")


def document(summaries: Sequence[CounterSummary]) -> dict[str, Any]:
    return {
        "schema": 1,
        "rows": [
            {
                **attributes(summary, "study tag pattern factors launches"),
                "numbers": {
                    name.replace(" ", "_") + ("_seconds" if name in _SECONDS else ""): value
                    for name, value in summary.numbers.items()
                },
                "why_not": dict(summary.why_not),
                "phases": [
                    {
                        "phase": phase.name,
                        "waited_seconds": phase.waited,
                        "messages": phase.messages,
                        "wire_bytes": phase.wire_bytes,
                    }
                    for phase in summary.phases
                ],
            }
            for summary in summaries
        ],
    }


def render(summaries: Sequence[CounterSummary]) -> None:
    for (study, tag, pattern), members in grouped_by(summaries, "study tag pattern").items():
        where = f"{terminal.side(study, tag)}: {pattern}"
        columns = {
            f"{name} ms" if name in _SECONDS else name.replace("_", " "): partial(_number, name=name)
            for name in (*COUNTED, *HARDWARE)
            if any(name in summary.numbers for summary in members)
        }
        print_rows(f"{where}, of one operation, all ranks together", members, columns)
        for reason, events in _reasons(members).items():
            print(f"no {', '.join(events)}: {reason}")
        print()
        _print_phases(where, members)


def _print_phases(where: str, members: Sequence[CounterSummary]) -> None:
    names = terminal.varying([summary.factors for summary in members])[1]
    body = [
        [
            *terminal.levels(summary.factors, names),
            phase.name,
            terminal.number(None if phase.waited is None else 1e3 * phase.waited),
            terminal.number(phase.messages),
            terminal.number(None if phase.wire_bytes is None else phase.wire_bytes / 1e6),
        ]
        for summary in members
        for phase in summary.phases
    ]
    if body:
        right = ("waited ms", "messages", "wire MB")
        columns = [*terminal.options(names), "phase", *right]
        terminal.print_table(f"{where}, by phase", columns, body, right=right)
        print()


def _reasons(members: Sequence[CounterSummary]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for summary in members:
        for event, reason in summary.why_not.items():
            if event not in reasons.setdefault(reason, []):
                reasons[reason].append(event)
    return reasons


def _number(summary: CounterSummary, name: str) -> str:
    value = summary.numbers.get(name)
    return terminal.number(value * 1e3 if value is not None and name in _SECONDS else value)
