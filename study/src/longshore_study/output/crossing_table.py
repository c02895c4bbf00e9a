"""The output of `show --crossings`: JSON, or a table and a sentence per race."""

from collections.abc import Sequence
from typing import Any

from longshore_study.analyses.crossings import Race
from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.base.texts import seconds


def document(races: Sequence[Race]) -> dict[str, Any]:
    return {
        "schema": 1,
        "races": [
            {
                **attributes(race, "study tag pattern axis work margin"),
                "seconds": {choice: {str(size): of[size] for size in of} for choice, of in race.seconds.items()},
                "fastest": [
                    {"choice": lead.choice, "as_fast": lead.as_fast, "from": lead.first, "to": lead.last}
                    for lead in race.leads
                ],
            }
            for race in races
        ],
    }


def render(races: Sequence[Race]) -> None:
    for race in races:
        headings = [terminal.count(size, race.axis.removesuffix("s")) for size in race.sizes]
        rows = [
            [choice, *(seconds(of[size]) if size in of else "-" for size in race.sizes)]
            for choice, of in race.seconds.items()
        ]
        title = f"{terminal.side(race.study, race.tag)}: {race.pattern}, seconds over {race.axis}"
        terminal.print_table(title + terminal.shared_factors(race.work), ["choice", *headings], rows, right=headings)
        print(f"fastest: {race.sentence} (a lead of less than {race.margin:.0%} does not count)\n")
