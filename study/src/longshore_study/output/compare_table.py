"""The tables that `longshore compare` prints on a terminal.

To add a column, add an entry to `_columns`, and take the number from compare/judged_row.py.
"""

import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.groups import grouped
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.differences import differences, in_words
from longshore_study.compare.estimate import COMMON_SHIFT, PLAIN, PULSE, STATISTIC, metric_ratio
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.compare.level_order import in_order
from longshore_study.compare.pairing import known_factors
from longshore_study.metrics.launch_metrics import names_of, unit_of_whom
from longshore_study.output.host_warnings import host_warnings
from longshore_study.stats import verdict
from longshore_study.stats.verdict import Judgement
from longshore_study.store.launch_store import Launch
from longshore_study.store.selection import heading

_OTHER = {
    verdict.UNTESTABLE: "the data do not show how much sessions differ",
    verdict.FAILED: "launches of one side failed",
    verdict.INVALID: "a figure is above the bound of this machine, so the measurement is doubtful",
    verdict.MISSING: "one side did not measure it",
}


def reason(row: JudgedRow, margin: float) -> str:
    """The reason, with the p value that decided. A verdict needs 0.05 or less."""
    of_margin = f"the margin of {terminal.percent(margin)}"
    judged = row.judgement
    if row.simulated and row.verdict not in _OTHER:
        place = "within" if row.verdict == verdict.SAME else "beyond"
        return f"simulated figures have no noise, and the ratio is {place} {of_margin}"
    if judged is None:
        return _OTHER.get(row.verdict, "it was not tested")
    corrected = f"p {terminal.significant(judged.adjusted_p, 2)} after the correction for the number of rows"
    if row.verdict in (verdict.REGRESSED, verdict.IMPROVED):
        return f"the interval lies beyond {of_margin}; {corrected}"
    if row.verdict == verdict.SAME:
        p = terminal.significant(judged.equivalence_p, 2)
        return f"a difference larger than {of_margin} is ruled out, p {p}"
    return _why_inconclusive(judged, of_margin, corrected)


def _why_inconclusive(judged: Judgement, of_margin: str, corrected: str) -> str:
    low, high = judged.interval
    if judged.p <= verdict.LEVEL:
        return f"the interval lies beyond {of_margin}, as one of many rows may by chance; {corrected}"
    if low <= 0.0 <= high:
        return f"the interval holds both no change and changes beyond {of_margin}"
    word = "slower" if high < 0 else "faster"
    return f"it is {word}, but the interval does not tell whether by more than {of_margin}"


_MAX_DIFFERENCES = 12
_COLUMNS = 100  # of a title
_FILE = re.compile(r"\S+\.jsonl(:\d+)?: ")  # the file of a launch, at the beginning of a problem


def _differs_from_raw(row: JudgedRow) -> bool:
    return row.raw_ratio is not None and terminal.ratio_text(row.raw_ratio) != terminal.ratio_text(row.ratio)


def _verdict(row: JudgedRow) -> str:
    """The verdict, if inconclusive with the smallest slowdown that these data could show."""
    smallest = row.smallest_slowdown
    if row.verdict != verdict.INCONCLUSIVE or smallest is None:
        return row.verdict
    slowdown = terminal.percent(smallest) if smallest < 1 else f"{terminal.significant(1 + smallest, 2)} times"
    return f"{row.verdict} (would find {slowdown})"


def _columns(comparison: Comparison, rows: Sequence[JudgedRow]) -> list[tuple[str, Callable[[JudgedRow], str]]]:
    """The columns to the right of the factors that distinguish the rows: heading and text."""
    raw = ("raw ratio", lambda row: terminal.ratio_text(row.raw_ratio))
    return [
        (comparison.reference.name, lambda row: terminal.number(row.reference_mean)),
        (comparison.new.name, lambda row: terminal.number(row.new_mean)),
        *([raw] if any(_differs_from_raw(row) for row in rows) else []),
        ("ratio", lambda row: terminal.ratio_text(row.ratio)),
        ("95 % interval", lambda row: terminal.interval(row.interval)),
        ("verdict", _verdict),
    ]


def render(comparison: Comparison, *, verbose: bool) -> None:
    """Prints a table per pattern and metric, and the summary. With `verbose`, each verdict has a
    line with its reason, and the summary lists all differences between the sides."""
    groups = grouped(comparison.rows, lambda row: (row.simulated, row.key.pattern, row.key.metric))
    for rows in groups.values():
        _print_table(comparison, rows, verbose=verbose)
    print_summary(comparison, verbose=verbose)


def render_pivot(comparison: Comparison, down: str | None, across: str | None, *, verbose: bool) -> None:
    """Prints tables of ratios by two factors, and the summary. Measured rows have one table, and
    each simulated machine has one. A cell with several rows shows the row with the gravest verdict,
    and the number of rows."""
    for machine in dict.fromkeys(row.simulated for row in comparison.rows):
        _print_pivot(comparison, [row for row in comparison.rows if row.simulated == machine], down, across)
    print_summary(comparison, verbose=verbose)


def _print_pivot(comparison: Comparison, rows: Sequence[JudgedRow], down: str | None, across: str | None) -> None:
    cells = grouped(rows, lambda row: (_level(row, down), _level(row, across)))
    launches = [launch for side in (comparison.reference, comparison.new) for launch in side.launches]
    lines, columns = (_ordered_levels(rows, name, launches) for name in (down, across))
    body = [[line, *(ratio_and_verdict(cells.get((line, column), [])) for column in columns)] for line in lines]
    title = f"{comparison.new.name} / {comparison.reference.name}" + (f" by {across} across" if across else "")
    terminal.print_table(title + _simulated(rows), [down or "", *columns], body)
    print(_legend(rows))
    print()


def title(rows: Sequence[JudgedRow], shared: dict[str, Any]) -> str:
    """The title of a table of one metric, with the unit and the factors that all rows share."""
    key = rows[0].key
    unit = next((unit_of_whom(row.unit, row.per) for row in rows if row.unit), "")
    text = f"{key.pattern}: {key.metric} in {unit}{_simulated(rows)}{terminal.shared_factors(shared)}"
    return textwrap.fill(text, _COLUMNS, subsequent_indent="  ", break_on_hyphens=False)


def _print_table(comparison: Comparison, rows: Sequence[JudgedRow], *, verbose: bool) -> None:
    described = [row.key.told for row in rows]
    shared, names = terminal.varying(described)
    columns = _columns(comparison, rows)
    headings = [heading for heading, _ in columns]
    terminal.print_table(
        title(rows, shared),
        [*names, *headings],
        [
            [*(terminal.factor(factors.get(name)) for name in names), *(text(row) for _, text in columns)]
            for factors, row in zip(described, rows, strict=True)
        ],
        right=headings[:-2],
        styles=[row.verdict for row in rows],
    )
    print(_legend(rows))
    if verbose:
        _print_reasons(comparison, rows, names)
    _print_warnings(rows, names)
    print()


def _simulated(rows: Sequence[JudgedRow]) -> str:
    return f", {heading(rows[0].simulated)}" if rows[0].simulated else ""


def _legend(rows: Sequence[JudgedRow]) -> str:
    kinds = list(dict.fromkeys(row.ratio_kind for row in rows if row.ratio_kind))
    ratio_text = f"ratio: {' or '.join(kinds)}" if kinds else "no ratio"
    raw = f"; raw ratio: {PLAIN}" if any(row.estimate and row.estimate.taken_out for row in rows) else ""
    exact = "; simulated figures have no noise, so there is no interval" if rows[0].simulated else ""
    return f"figures: {STATISTIC}; {ratio_text}{raw}{exact}"


_WOULD_FIND = (
    "would find: a slowdown that would be called regressed in four of five cases; more sessions or launches would "
    "find less"
)
_TAKEN_OUT = {
    COMMON_SHIFT: "the change of the whole machine, which the control cells measured, is removed from the ratio",
    PULSE: "the noise that the noise probe explains is removed from the ratio",
}


def _print_reasons(comparison: Comparison, rows: Sequence[JudgedRow], names: list[str]) -> None:
    """Prints a line for each verdict, and one for each effect that was removed from ratios."""
    for row in rows:
        print(f"{_label(row, names) or row.key.pattern}: {row.verdict}: {reason(row, comparison.margin)}")
    if any(row.verdict == verdict.INCONCLUSIVE for row in rows):
        print(_WOULD_FIND)
    for effect in dict.fromkeys(name for row in rows if row.estimate for name in row.estimate.taken_out):
        print(f"without {effect}: {_TAKEN_OUT[effect]}")


def _label(row: JudgedRow, names: Sequence[str]) -> str:
    return " ".join(terminal.factor(row.key.told[name]) for name in names if name in row.key.told)


def _print_warnings(rows: Sequence[JudgedRow], names: list[str]) -> None:
    """Prints a line per kind of warning, whatever the file of the launch."""
    labelled = [(warning, _label(row, names)) for row in rows for warning in row.warnings]
    for of_kind in grouped(labelled, lambda pair: _FILE.sub("", pair[0])).values():
        warning, labels = of_kind[0][0], [label for _, label in of_kind]
        which = "all rows" if len(labels) == len(rows) else ", ".join(labels[:4]) + (" ..." if len(labels) > 4 else "")
        print(f"warning: {which}: {warning}")


def _level(row: JudgedRow, name: str | None) -> str:
    return terminal.factor(known_factors(row.key).get(name)) if name else "all"


def _ordered_levels(rows: Sequence[JudgedRow], name: str | None, launches: Sequence[Launch]) -> list[str]:
    """The texts of the levels in their order; a row without the factor is last."""
    if name is None:
        return ["all"]
    levels = [known_factors(row.key).get(name) for row in rows]
    ordered = in_order((level for level in levels if level is not None), name, launches)
    return list(dict.fromkeys(map(terminal.factor, [*ordered, *([None] if None in levels else [])])))


def ratio_and_verdict(rows: Sequence[JudgedRow]) -> str:
    """The ratio and the verdict of the row with the gravest verdict. Empty without rows."""
    if not rows:
        return ""
    gravest = min(rows, key=lambda row: verdict.VERDICTS.index(row.verdict))
    more = f" (gravest of {len(rows)})" if len(rows) > 1 else ""
    return f"{terminal.ratio_text(gravest.ratio)} {gravest.verdict}{more}"


def _grouped(problems: Sequence[str]) -> list[str]:
    """The problems as lines. Launches with the same problem share a line."""
    alike = grouped(problems, lambda problem: _FILE.sub("", problem))
    return [
        members[0] if len(members) == 1 else f"{members[0]}; and {terminal.count(len(members) - 1, 'launch')} alike"
        for members in alike.values()
    ]


def _print_differences(comparison: Comparison, *, everything: bool) -> None:
    found = differences(comparison.reference, comparison.new)
    if not found:
        return
    shown = len(found) if everything else _MAX_DIFFERENCES
    print("other recorded differences between the sides:")
    for difference in found[:shown]:
        print(f"  {difference.name}: {in_words(difference.reference)} -> {in_words(difference.new)}")
    if len(found) > shown:
        print(f"  and {len(found) - shown} more (-v lists them)")


def print_summary(comparison: Comparison, *, verbose: bool) -> None:
    """Prints what holds for all rows, and the verdict in one line."""
    shift = comparison.shift
    if shift.ratio is not None:
        size = f"{terminal.ratio_text(shift.ratio)}, 95 % interval {terminal.interval(shift.interval)}"
        print(f"common shift: {terminal.times(shift.ratio)} (ratio of speed {size}); {shift.reason}")
    source = "noise probe (pulse)" if comparison.noise_of is None else f"noise of {comparison.noise_of}"
    if explained := comparison.pulse_explained:
        rows = terminal.count(len(explained), "row")
        share = f"{100 * explained[0]:.0f} to {100 * explained[-1]:.0f} %"
        print(f"{source}: removed from {rows}; it explained {share} of the variance between launches")
    elif comparison.noise_of is not None:
        print(f"{source}: removed from no row; there are too few launches, or it changed between the two sides")
    for problem in _grouped(comparison.problems):
        print(f"warning: {problem}")
    for text in host_warnings(comparison):
        print(f"warning: {text}")
    _print_differences(comparison, everything=verbose)
    counts = ", ".join(f"{count} {name}" for name, count in comparison.counts.items())
    word = comparison.verdict
    terminal.print_line(
        f"{comparison.new.name} against {comparison.reference.name}: {word} ({counts};"
        f" margin {100 * comparison.margin:g} %)",
        word,
    )
    regressed = (row for row in comparison.rows if row.verdict == verdict.REGRESSED)
    worst = [(row.estimate.difference, row) for row in regressed if row.estimate]
    if worst:
        difference, row = min(worst, key=lambda pair: pair[0])
        how = terminal.times(metric_ratio(difference, "higher"))
        print(f"worst: {names_of(row.key for row in comparison.rows)(row.key)} is {how}")
