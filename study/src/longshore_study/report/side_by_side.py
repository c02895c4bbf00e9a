"""The section that compares simulated with measured times: the ratio predicted / measured."""

from collections.abc import Sequence

from longshore_study.analyses.predictions import CLOSE
from longshore_study.analyses.simulated_and_measured import PredictedTime, lay_side_by_side
from longshore_study.base.texts import share
from longshore_study.output.simulated_table import summary
from longshore_study.report.facts import Facts
from longshore_study.report.labels import naming, pattern_title
from longshore_study.report.markup import Element, block, remark, section
from longshore_study.report.predictions import ratio_table


def side_by_side_section(facts: Facts) -> Element | None:
    """The section, or None if no variant is both simulated and measured."""
    if not facts.simulated:
        return None
    found = lay_side_by_side(facts.all_launches)
    groups: dict[tuple[str, str, str], list[PredictedTime]] = {}
    for pair in found.pairs:
        side = pair.study if pair.study == pair.tag else f"{pair.study}, {pair.tag}"
        groups.setdefault((pair.pattern, pair.machine, side), []).append(pair)
    blocks = [_block(*key, members) for key, members in groups.items()]
    if not blocks:
        return None
    note = f"The band is a prediction within {share(CLOSE)} of the measured time; times are medians over launches."
    return section(
        "simulated-and-measured", "Simulated and measured", remark(f"{'. '.join(summary(found))}. {note}"), blocks
    )


def _block(pattern: str, machine: str, side: str, rows: Sequence[PredictedTime]) -> Element:
    names = naming(row.factors for row in rows)
    return block(
        f"{pattern_title(pattern)}: simulated on {machine}, measured in {side}",
        remark(names.constant_note.strip()) if names.constant_note else None,
        ratio_table(rows, {"Measured": "measured", "Predicted": "predicted"}, names),
    )
