"""The sections of predicted times, by the communication model and by simulation: the ratio
predicted / measured of each exchange."""

from collections.abc import Mapping, Sequence

from longshore_study.analyses.predictions import CLOSE, Prediction, predictions_of
from longshore_study.analyses.simulated_and_measured import PredictedTime, lay_side_by_side
from longshore_study.base.groups import grouped
from longshore_study.base.texts import plain_number, ratio, seconds, share
from longshore_study.output.prediction_table import close_sentence
from longshore_study.output.simulated_table import summary
from longshore_study.report.facts import Facts
from longshore_study.report.labels import Naming, naming, pattern_title
from longshore_study.report.marks import band, grid, mark, named_axis, strip, vertical
from longshore_study.report.markup import Child, Element, block, element, remark, section
from longshore_study.report.scales import Scale, log_around
from longshore_study.report.tables import folded, number_cell, strip_row, strip_table

INTRODUCTION = (
    "A model predicts the time of the exchange from the times of single messages by size, of a barrier and of a "
    "fetch-and-add. They were measured in the same session and layout, while each rank sent to the next one. The "
    "phase also contains the waiting for ranks that begin it late, which the model cannot predict: the time since the "
    "last rank began stands beside it."
)


def predictions_section(facts: Facts) -> Element | None:
    rows = [(side.name, row) for side in facts.stored_sides for row in predictions_of(side.launches)]
    groups = grouped(rows, lambda pair: (pair[0], pair[1].session, pair[1].pattern, pair[1].phase))
    blocks = [
        _block(f"{pattern_title(pattern)}: {side}, {session}", [row for _, row in members])
        for (side, session, pattern, _), members in groups.items()
    ]
    return section("predictions", "Measured and predicted", remark(INTRODUCTION), blocks) if blocks else None


def _block(title: str, rows: Sequence[Prediction]) -> Element:
    predicted = [row for row in rows if row.ratio is not None]
    reasons = sorted({row.why_not for row in rows if row.why_not})
    names = naming(row.factors for row in rows)
    note = f"Phase {rows[0].phase}. {close_sentence(predicted)}." if predicted else ""
    note += names.constant_note
    times = {"Whole phase": "measured", "All begun": "begun", "Predicted": "predicted"}
    not_predicted = [element("li", f"Not predicted: {reason}") for reason in reasons]
    return block(
        title,
        remark(note) if note else None,
        _ratio_table(predicted, times, names) if predicted else None,
        element("ul", not_predicted, class_="reasons") if reasons else None,
    )


def side_by_side_section(facts: Facts) -> Element | None:
    if not facts.simulated:
        return None
    found = lay_side_by_side(facts.all_launches)
    groups = grouped(found.pairs, lambda pair: (pair.pattern, pair.machine, pair.study, pair.tag))
    blocks = [_simulated_block(members) for members in groups.values()]
    if not blocks:
        return None
    note = f"The band is a prediction within {share(CLOSE)} of the measured time; times are medians over launches."
    return section(
        "simulated-and-measured", "Simulated and measured", remark(f"{'. '.join(summary(found))}. {note}"), blocks
    )


def _simulated_block(rows: Sequence[PredictedTime]) -> Element:
    first = rows[0]
    side = ", ".join(dict.fromkeys((first.study, first.tag)))
    names = naming(row.factors for row in rows)
    return block(
        f"{pattern_title(first.pattern)}: simulated on {first.machine}, measured in {side}",
        remark(names.constant_note.strip()) if names.constant_note else None,
        _ratio_table(rows, {"Measured": "measured", "Predicted": "predicted"}, names),
    )


def _ratio_table(rows: Sequence[Prediction | PredictedTime], times: Mapping[str, str], names: Naming) -> list[Child]:
    """A table. Each row shows its ratio on a strip (a small plot), and its times as numbers.
    `times`: the heads of the last columns, with the attribute that has the seconds. Further rows
    are folded. REQUIRES: all rows have a ratio."""
    return folded(rows, "more prediction", lambda some: _table(some, times, names))


def _table(rows: Sequence[Prediction | PredictedTime], times: Mapping[str, str], names: Naming) -> Element:
    scale = log_around([1.0 - CLOSE, 1.0 + CLOSE, *(row.ratio for row in rows if row.ratio)])
    heads: list[tuple[str, Child]] = [
        ("name", "Variant"),
        ("plot", named_axis("predicted / measured, log axis", scale.ticks(plain_number))),
        ("share number", "Ratio"),
        *(("median number", head) for head in times),
    ]
    return strip_table(heads, [_row(row, names, scale, list(times.values())) for row in rows])


def _row(row: Prediction | PredictedTime, names: Naming, scale: Scale, times: Sequence[str]) -> Element:
    value = row.ratio or 0.0
    label = f"predicted / measured {ratio(value)}; close is within {share(CLOSE)}"
    drawn = strip(
        grid(scale.ticks(plain_number)),
        band(scale, 1.0 - CLOSE, 1.0 + CLOSE, "margin"),
        vertical(scale, 1.0, "unity"),
        mark("circle" if row.close else "diamond", scale.clipped(value), 0.5, "s1" if row.close else "s2 open", label),
        label=label,
    )
    share_cell = number_cell("share", f"{ratio(value)}{'' if row.close else ' (not close)'}")
    cells = [number_cell("median", seconds(getattr(row, time))) for time in times]
    return strip_row(names.markup(row.factors), drawn, share_cell, cells)
