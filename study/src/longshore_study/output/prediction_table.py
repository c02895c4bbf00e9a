"""The output of `show --model`: JSON, or a table per study, session and pattern."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from longshore_study.analyses.predictions import CLOSE, Prediction
from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.output.rows import grouped_by, print_rows, scaled


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
                **attributes(row, "study tag session pattern factors phase launches"),
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
    for (study, tag, session, pattern, phase), members in grouped_by(rows, "study tag session pattern phase").items():
        predicted = [row for row in members if row.ratio is not None]
        if predicted:
            title = f"{terminal.side(study, tag)}, session {session}: {pattern}, phase {phase}"
            _print_predicted(title, predicted)
            print(f"{close_sentence(predicted)}\n")
        reasons = Counter(row.why_not for row in members if row.why_not is not None)
        for reason, count in reasons.items():
            print(f"no prediction of {terminal.count(count, 'variant')}: {reason}")


def close_sentence(rows: Sequence[Prediction]) -> str:
    """Says how many of these rows are close. REQUIRES: all rows have a prediction."""
    close = sum(row.close for row in rows)
    between = sum(row.between for row in rows)
    return (
        f"{close} of {len(rows)} predictions are within {CLOSE:.0%} of the measured time; {between} are, or lie "
        "between the time since the last rank began and the whole phase, which includes waiting for that rank"
    )


def _print_predicted(title: str, rows: Sequence[Prediction]) -> None:
    columns: dict[str, Callable[[Prediction], str]] = {
        "measured ms": lambda row: scaled(row.measured, 1e3),
        "all begun ms": lambda row: scaled(row.begun, 1e3),
        "predicted ms": lambda row: scaled(row.predicted, 1e3),
        "predicted/measured": lambda row: terminal.ratio_text(row.ratio),
        "close": lambda row: "yes" if row.close else "no",
    }
    for part in dict.fromkeys(part for row in rows for part in row.parts):
        columns[f"{part} ms"] = lambda row, part=part: scaled(row.parts.get(part), 1e3)  # type: ignore[misc]
    print_rows(title, rows, columns, left=("close",))
