"""The first section of a comparison: the verdict in a sentence, details, and counts by verdict."""

from collections import Counter
from collections.abc import Callable
from math import log
from typing import Any

from longshore_study.base.texts import change, counted, quantity, ratio_in_words, share
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.report.best_choice_table import best_section
from longshore_study.report.facts import Facts
from longshore_study.report.labels import metric_title, naming, pattern_title
from longshore_study.report.markup import Element, element
from longshore_study.report.verdict_style import VERDICTS, badge, base_name, glyph_mark, look_of, ratio_text
from longshore_study.stats import effect


def verdict_section(facts: Facts) -> Element:
    comparison = facts.comparison
    if comparison is None:
        return best_section(facts)
    return element(
        "section",
        element("p", badge(comparison.verdict), " ", comparison_sentence(comparison), class_="verdict"),
        [element("p", text) for text in comparison_details(comparison)],
        tiles(comparison),
        id="verdict",
    )


def comparison_sentence(comparison: Comparison) -> str:
    counts = Counter(base_name(row.verdict) for row in comparison.rows)
    total = len(comparison.rows)
    sides = f"“{comparison.new.name}” against “{comparison.reference.name}”"
    figures = counted(total, "figure")
    margin = share(comparison.margin)
    if counts["regressed"]:
        return f"{sides}: {counts['regressed']} of {figures} regressed beyond the margin of {margin}."
    if not total:
        return f"{sides}: there is nothing that both sides have measured."
    unjudged = counts["failed"] + counts["invalid"] + counts["missing"]
    if unjudged:
        return f"{sides}: none of {figures} regressed, but {unjudged} failed, are invalid or are missing on one side."
    if counts["improved"]:
        return f"{sides}: {counts['improved']} of {figures} improved beyond the margin of {margin}, none regressed."
    if counts["same"] == total:
        return f"{sides}: all {figures} are the same within the margin of {margin}."
    undecided = counts["inconclusive"] + counts["untestable"]
    return f"{sides}: none of {figures} regressed; {undecided} cannot be decided with these data."


def tiles(comparison: Comparison) -> Element:
    counts = Counter(base_name(row.verdict) for row in comparison.rows)
    shown = [name for name in VERDICTS if counts[name] or name in ("regressed", "improved", "same", "inconclusive")]
    return element("ul", [_tile(name, counts[name]) for name in shown], class_="tiles")


def _tile(name: str, count: int) -> Element:
    return element(
        "li",
        glyph_mark(look_of(name).glyph),
        element("b", str(count)),
        " ",
        element("span", name, class_="word"),
        element("span", look_of(name).meaning, class_="meaning"),
        class_=f"tile v-{name}" + ("" if count else " none"),
    )


def comparison_details(comparison: Comparison) -> list[str]:
    details = []
    names = naming(row.factors for row in comparison.rows)
    judged = [row for row in comparison.rows if row.ratio and row.ratio > 0]
    for verdict, word in (("regressed", "The worst"), ("improved", "The best gain")):
        rows = [row for row in judged if row.verdict == verdict]
        if rows:
            largest = max(rows, key=lambda row: abs(log(row.ratio)) if row.ratio else 0.0)
            details.append(f"{word}: {row_sentence(largest, names.text)}")
    session_counts = {row.sessions for row in comparison.rows if row.sessions != (0, 0) and not row.simulated}
    if session_counts:
        reference, new = min(s[0] for s in session_counts), min(s[1] for s in session_counts)
        details.append(
            f"Judged from {counted(reference, 'session')} of “{comparison.reference.name}” and {new} of "
            f"“{comparison.new.name}”; {_replication_unit(comparison)}."
        )
    if all(row.simulated for row in comparison.rows):
        return [*details, "All figures are simulated: they have no noise, and their ratios are exact."]
    return [*details, *_shift(comparison), *_noise_probe(comparison)]


def row_sentence(row: JudgedRow, name: Callable[[dict[str, Any]], str]) -> str:
    """REQUIRES: the row has a ratio."""
    text = f"{pattern_title(row.key.pattern).lower()}, {name(row.factors)}: {metric_title(row.key.metric)} "
    text += ratio_in_words(row.ratio or 0.0)
    if row.reference_mean is not None and row.new_mean is not None:
        shown_as = quantity(row.unit, [row.reference_mean, row.new_mean])
        text += f" ({shown_as.number(row.reference_mean)} → {shown_as.text(row.new_mean)}; {ratio_text(row)})"
    return text + "."


def _replication_unit(comparison: Comparison) -> str:
    designs = {row.effect.design for row in comparison.rows if row.effect}
    if designs == {effect.STRATIFIED}:
        return "they were measured in turns, so a launch is the unit of replication"
    return "a session is the unit of replication"


def _noise_probe(comparison: Comparison) -> list[str]:
    explained = comparison.pulse_explained
    if not explained:
        return []
    low, high = (f"{100 * part:.0f}" for part in (explained[0], explained[-1]))
    rows = counted(len(explained), "row")
    removed = f"was removed from {rows}: it explained {low} to {high} % of the variance between launches"
    return [f"The noise probe (pulse), a small exchange before each repetition, {removed}."]


def _shift(comparison: Comparison) -> list[str]:
    shift = comparison.shift
    if shift.ratio is None or shift.interval is None:
        return [f"Common shift of the whole machine: {shift.reason}."]
    low, high = (change(end) for end in shift.interval)
    size = f"{change(shift.ratio)} in speed, 95 % interval {low} to {high}"
    return [f"Common shift of the whole machine, by its controls (memory copy, ping-pong): {size}; {shift.reason}."]
