"""The output of `show --predicted`: JSON, or a table per machine, measured side and pattern."""

from typing import Any

from longshore_study.analyses.predictions import CLOSE
from longshore_study.analyses.simulated_and_measured import SideBySide
from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.base.texts import seconds
from longshore_study.output.rows import grouped_by, print_rows
from longshore_study.patterns import CONTROL


def document(found: SideBySide) -> dict[str, Any]:
    close, pairs = found.total
    return {
        "schema": 1,
        "close_within": CLOSE,
        "pairs": pairs,
        "close": close,
        "share_close": close / pairs if pairs else None,
        "patterns": {name: {"close": near, "pairs": total} for name, (near, total) in found.shares.items()},
        "ambiguous": found.ambiguous,
        "rows": [
            {
                **attributes(pair, "machine study tag pattern factors launches"),
                "measured_seconds": pair.measured,
                "measured_spread": list(pair.spread),
                "predicted_seconds": pair.predicted,
                **attributes(pair, "ratio close"),
            }
            for pair in found.pairs
        ],
    }


def render(found: SideBySide) -> None:
    for (machine, study, tag, pattern), members in grouped_by(found.pairs, "machine study tag pattern").items():
        print_rows(
            f"{terminal.side(study, tag)}: {pattern}, predicted on {machine}",
            members,
            {
                "measured": lambda pair: seconds(pair.measured),
                "predicted": lambda pair: seconds(pair.predicted),
                "predicted/measured": lambda pair: terminal.ratio_text(pair.ratio),
                "close": lambda pair: "yes" if pair.close else "no",
            },
            left=("close",),
        )
        print()
    for line in summary(found):
        print(line)


def summary(found: SideBySide) -> list[str]:
    """Sentences: how many predictions are within CLOSE, and what does not count."""
    close, pairs = found.total
    by_pattern = ", ".join(f"{name} {near} of {total}" for name, (near, total) in found.shares.items())
    share = f": {close / pairs:.0%}" if pairs else ""
    lines = [f"{close} of {pairs} predictions are within {CLOSE:.0%} of the measured time{share} ({by_pattern})"]
    if CONTROL in found.shares:
        lines.append("control cells measure what a machine file is made of, and are not counted in the sum")
    if found.ambiguous:
        what = terminal.count(found.ambiguous, "imported variant")
        lines.append(f"{what} agree with several simulated variants and are left out")
    return lines
