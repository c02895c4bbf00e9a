"""The output of `show --model`, measured and predicted exchanges: JSON, or a table per study,
session and pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longshore_study.analyses.predictions import CLOSE, Prediction
from longshore_study.base import terminal
from longshore_study.base.groups import grouped

COLUMNS = ("measured ms", "all begun ms", "predicted ms", "predicted/measured")


def document(rows: Sequence[Prediction]) -> dict[str, Any]:
    predicted = [row for row in rows if row.ratio is not None]
    return {
        "schema": 1,
        "close_within": CLOSE,
        "predicted": len(predicted),
        "close": sum(row.close for row in predicted),
        "close_or_between": sum(row.between for row in predicted),
        "rows": [
            {
                "study": row.study,
                "tag": row.tag,
                "session": row.session,
                "pattern": row.pattern,
                "factors": dict(row.factors),
                "phase": row.phase,
                "launches": row.launches,
                "measured_seconds": row.measured,
                "all_begun_seconds": row.begun,
                "predicted_seconds": row.predicted,
                "ratio": row.ratio,
                "close": row.close if row.ratio is not None else None,
                "parts_seconds": dict(row.parts),
                "why_not": row.why_not,
            }
            for row in rows
        ],
    }


def render(rows: Sequence[Prediction]) -> None:
    groups = grouped(rows, lambda row: (row.study, row.tag, row.session, row.pattern, row.phase))
    for (study, tag, session, pattern, phase), members in groups.items():
        predicted = [row for row in members if row.ratio is not None]
        if predicted:
            _print_predicted(f"{heading(study, tag, session)}: {pattern}, phase {phase}", predicted)
            print(f"{close_sentence(predicted)}\n")
        reasons: dict[str, int] = {}
        for row in members:
            if row.why_not is not None:
                reasons[row.why_not] = reasons.get(row.why_not, 0) + 1
        for reason, count in reasons.items():
            print(f"no prediction of {terminal.count(count, 'variant')}: {reason}")


def heading(study: str, tag: str, session: str) -> str:
    return terminal.side(study, tag) + f", session {session}"


def close_sentence(rows: Sequence[Prediction]) -> str:
    """Says how many of these rows are close. REQUIRES: all rows have a prediction."""
    close = sum(row.close for row in rows)
    between = sum(row.between for row in rows)
    return (
        f"{close} of {len(rows)} predictions are within {CLOSE:.0%} of the measured time; {between} are, or lie "
        "between the time since the last rank began and the whole phase, which includes waiting for that rank"
    )


def _print_predicted(title: str, rows: Sequence[Prediction]) -> None:
    shared, names = terminal.varying([row.factors for row in rows])
    parts = list(dict.fromkeys(part for row in rows for part in row.parts))
    columns = [*terminal.options(names), *COLUMNS, "close", *(f"{part} ms" for part in parts)]
    body = [
        [
            *terminal.levels(row.factors, names),
            _milliseconds(row.measured),
            _milliseconds(row.begun),
            _milliseconds(row.predicted),
            terminal.ratio_text(row.ratio),
            "yes" if row.close else "no",
            *(_milliseconds(row.parts.get(part)) for part in parts),
        ]
        for row in rows
    ]
    right = (*COLUMNS, *(f"{part} ms" for part in parts))
    terminal.print_table(title + terminal.shared_factors(shared), columns, body, right=right)


def _milliseconds(seconds: float | None) -> str:
    return terminal.number(None if seconds is None else seconds * 1e3)
