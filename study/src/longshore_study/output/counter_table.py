"""The output of `show --counters`: JSON, or tables per study and pattern."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from longshore_study.base import terminal, texts
from longshore_study.base.groups import grouped
from longshore_study.base.json_values import attributes
from longshore_study.metrics.counters import COUNTED, HARDWARE, PHASE_SECONDS, CounterSummary, Phase
from longshore_study.output.rows import grouped_by, print_parts, print_rows, scaled

_SECONDS = ("waited mean", "waited max")
_PHASE_COLUMNS: dict[str, Callable[[Phase], str]] = {
    "phase": lambda phase: phase.name,
    **{kind: partial(lambda kind, phase: _seconds(phase.seconds[kind]), kind) for kind in PHASE_SECONDS},
    "waited": lambda phase: _seconds(phase.waited),
    "messages": lambda phase: terminal.number(phase.messages),
    "wire MB": lambda phase: scaled(phase.wire_bytes, 1e-6),
}


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
                        "seconds": dict(phase.seconds),
                        "waited_seconds": phase.waited,
                        **attributes(phase, "messages wire_bytes"),
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
        if columns:
            print_rows(f"{where}, of one operation, all ranks together", members, columns)
            why_not = dict.fromkeys(pair for summary in members for pair in summary.why_not.items())
            for reason, pairs in grouped(why_not, lambda pair: pair[1]).items():
                print(f"no {', '.join(event for event, _ in pairs)}: {reason}")
            print()
        if phases := [phase for summary in members for phase in summary.phases]:
            known = {name: text for name, text in _PHASE_COLUMNS.items() if {text(phase) for phase in phases} != {"-"}}
            title = f"{where}, by phase, times over the ranks"
            print_parts(title, members, lambda summary: summary.phases, known, left=("phase",))
            print()


def _number(summary: CounterSummary, name: str) -> str:
    return scaled(summary.numbers.get(name), 1e3 if name in _SECONDS else 1.0)


def _seconds(value: float | None) -> str:
    return "-" if value is None else texts.seconds(value)
