"""The section of changes: tables of two factors, whose cells have a sign, a number and a colour."""

from collections.abc import Sequence
from math import log

from longshore_study.base.texts import change
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.metrics.variant_rows import sortable
from longshore_study.report.facts import Facts
from longshore_study.report.forest import row_groups
from longshore_study.report.labels import NO_BREAK, SELF_EXPLAINING, level_text, metric_title, naming, pattern_title
from longshore_study.report.markup import Child, Element, block, element, remark, section
from longshore_study.report.tables import scroll_table
from longshore_study.report.verdict_style import badge, base_name, glyph_mark, look_of, ratio_text

MAX_COLUMNS = 12
# The colour becomes stronger when |log ratio| passes the margin, and at each of these limits: 15 %,
# 1.5 times, 3 times.
COLOUR_LIMITS = (log(1.15), log(1.5), log(3))


def heat_map_section(facts: Facts) -> Element | None:
    comparison = facts.comparison
    groups = row_groups(comparison) if comparison else []
    tables = [t for rows in groups if comparison and (t := _table(rows, comparison.margin)) is not None]
    if not tables:
        return None
    return section(
        "changes",
        "Where it changed",
        remark("The change of each figure by two factors. ▲: better, ▼: worse, by verdict; no sign where undecided."),
        tables,
    )


def _table(rows: Sequence[JudgedRow], margin: float) -> Element | None:
    """The table, or None if the rows do not span two factors or the columns would not fit."""
    names = naming(row.factors for row in rows)
    if len(names.varying) < 2:
        return None
    row_factor = next((n for n in names.varying if n in SELF_EXPLAINING), names.varying[0])
    # `rows` are sorted by verdict, but a table of factors is read in the order of the levels.
    ordered = sorted(rows, key=lambda row: [sortable(row.factors.get(name)) for name in names.varying])
    columns = list(dict.fromkeys(names.text(row.factors, without=[row_factor]) for row in ordered))
    cells = {
        (level_text(row_factor, row.factors[row_factor]), names.text(row.factors, without=[row_factor])): row
        for row in ordered
        if row_factor in row.factors
    }
    row_names = list(dict.fromkeys(name for name, _ in cells))
    if not (2 <= len(columns) <= MAX_COLUMNS and len(row_names) >= 2):
        return None
    heads = [element("td"), *map(_broken_lines, columns)]
    body = [
        [element("th", name, scope="row"), *(_cell(cells.get((name, column)), margin) for column in columns)]
        for name in row_names
    ]
    pattern = pattern_title(rows[0].key.pattern)
    table = scroll_table(heads, body, f"changes of {pattern}", style="heat")
    return block(f"{pattern}: {metric_title(rows[0].key.metric)}", table)


def _broken_lines(text: str) -> Child:
    """One factor per line, so that columns stay narrow."""
    return [[part.replace(" ", NO_BREAK), element("br")] for part in text.split(", ")]


def _cell(row: JudgedRow | None, margin: float) -> Element:
    if row is None:
        return element("td", "not run", class_="absent")
    if row.ratio is None or row.ratio <= 0:
        return element("td", badge(row.verdict))
    glyph: Child = None
    if base_name(row.verdict) in ("regressed", "improved"):
        glyph = [glyph_mark(look_of(row.verdict).glyph), " "]
    better = (row.ratio > 1) == (row.better != "lower")
    size = abs(log(row.ratio))
    strength = sum(1 for limit in (log(1 + margin), *COLOUR_LIMITS) if size >= limit)
    return element(
        "td",
        glyph,
        change(row.ratio),
        class_=f"heat-{'better' if better else 'worse'}-{strength}" if strength else None,
        title=f"{row.verdict}, {ratio_text(row)}",
    )
