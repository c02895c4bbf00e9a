"""The section of ratios: a table whose middle column is a forest plot of the ratios, their
intervals and the margin.

A table keeps the numbers beside the marks, wraps on a phone, breaks over printed pages, and can be
read aloud.
"""

from collections.abc import Sequence

from longshore_study.base.groups import grouped
from longshore_study.base.texts import Quantity, plain_number, quantity, ratio, share
from longshore_study.compare.comparison import Comparison
from longshore_study.compare.judged_row import JudgedRow
from longshore_study.patterns import pattern_rank
from longshore_study.report.facts import Facts
from longshore_study.report.labels import Naming, metric_title, naming, pattern_title, split_by_work
from longshore_study.report.marks import band, grid, interval, mark, named_axis, strip, vertical
from longshore_study.report.markup import Child, Element, block, element, remark, section
from longshore_study.report.scales import Scale, log_around
from longshore_study.report.tables import folded, strip_table
from longshore_study.report.verdict_style import (
    badge,
    base_name,
    glyph_list,
    kinds_text,
    look_of,
    mark_style,
    order_of,
    ratio_text,
    shows_raw,
)

# An interval from two sessions may span decades. The axis goes at most this factor beyond the
# ratios; an arrow replaces the rest of the interval.
INTERVAL_REACH = 3.0


def forest_section(facts: Facts) -> Element | None:
    comparison = facts.comparison
    if comparison is None or not comparison.rows:
        return None
    scale = ratio_scale(comparison)
    present = sorted({base_name(r.verdict) for r in comparison.rows}, key=order_of)
    return section(
        "ratios",
        "Ratios",
        remark(
            f"Each row is one figure: {comparison.new.name} divided by {comparison.reference.name}, with its 95 % "
            f"interval on a logarithmic axis. {kinds_text(comparison.rows)} Inside the band, the margin of "
            f"{share(comparison.margin)}, a difference does not matter."
        ),
        glyph_list(present),
        _filter(present, len(comparison.rows)),
        [_group(comparison, rows, scale) for rows in row_groups(comparison)],
    )


def row_groups(comparison: Comparison) -> list[list[JudgedRow]]:
    """The rows of each table, split by pattern, metric and kind of work."""
    ordered = sorted(comparison.rows, key=lambda row: pattern_rank(row.key.pattern))
    groups = grouped(ordered, lambda row: (row.key.pattern, row.key.metric))
    return [
        group for (pattern, _), rows in groups.items() for group in split_by_work(rows, pattern, lambda r: r.factors)
    ]


def margin_band(margin: float) -> tuple[float, float]:
    """The ends of the margin, symmetric around 1 on a logarithmic axis."""
    return 1 / (1 + margin), 1 + margin


def ratio_scale(comparison: Comparison) -> Scale:
    """The common axis of all tables."""
    ratios = [r.ratio for r in comparison.rows if r.ratio and r.ratio > 0]
    low_margin, high_margin = margin_band(comparison.margin)
    reach = [*ratios, low_margin, high_margin]
    limits = (min(reach) / INTERVAL_REACH, max(reach) * INTERVAL_REACH)
    ends = [min(max(end, limits[0]), limits[1]) for r in comparison.rows if r.interval for end in r.interval if end > 0]
    return log_around([*reach, *ends])


def _filter(present: Sequence[str], count: int) -> Child:
    """A hidden form, which page.js shows; without script all rows are visible."""
    if count < 2:
        return None
    boxes = [
        element("label", element("input", type="checkbox", checked=True, value=name), " ", name) for name in present
    ]
    text = element("label", "Find ", element("input", type="search", placeholder="persistent 4 ranks", size=18))
    kinds, count_shown = boxes if len(present) > 1 else None, element("output", "")
    inner: list[Child] = [text, kinds, count_shown]
    return element("form", inner, class_="filter", hidden=True, aria_label="filter the rows")


def _group(comparison: Comparison, rows: list[JudgedRow], scale: Scale) -> Element:
    names = naming(row.factors for row in rows)
    ordered = sorted(rows, key=lambda r: (order_of(r.verdict), r.ratio if r.ratio is not None else 0.0))
    known = [v for row in rows for v in (row.reference_mean, row.new_mean) if v is not None]
    shown_as = quantity(rows[0].unit, known)
    metric = metric_title(rows[0].key.metric)
    heads: list[tuple[str, Child]] = [
        ("name", "Variant"),
        ("reference number", comparison.reference.name),
        ("new number", comparison.new.name),
        ("plot", named_axis("ratio, log axis", scale.ticks(plain_number))),
        ("ratio number", "Ratio [95 %]"),
        ("verdict", "Verdict"),
    ]

    def table(some: Sequence[JudgedRow]) -> Element:
        cells = [_row(comparison, row, names, scale, shown_as) for row in some]
        return strip_table(heads, cells, "strips forest sortable")

    return block(
        f"{pattern_title(rows[0].key.pattern)}: {metric}" + (f" ({shown_as.name})" if shown_as.name else ""),
        remark(f"All: {names.constant_text}.") if names.constant else None,
        folded(ordered, "less remarkable row", table, shown=60),
    )


def _row(comparison: Comparison, row: JudgedRow, names: Naming, scale: Scale, shown_as: Quantity) -> Element:
    interval_text = f"[{ratio(row.interval[0])}, {ratio(row.interval[1])}]" if row.interval else ""
    ratios: list[Child] = [element("b", ratio(row.ratio)), " ", element("span", interval_text, class_="interval-text")]
    if shows_raw(row):
        ratios.append(element("span", f"raw {ratio(row.raw_ratio)}", class_="warning"))
    notes = [*([power] if (power := _detectable_text(row)) else ()), *row.warnings]
    judged = [badge(row.verdict), *(element("span", note, class_="warning") for note in notes)]
    return element(
        "tr",
        element("th", names.markup(row.factors), class_="c-name", scope="row"),
        element("td", shown_as.number(row.reference_mean), class_="c-reference number", data_value=row.reference_mean),
        element("td", shown_as.number(row.new_mean), class_="c-new number", data_value=row.new_mean),
        element("td", _strip(comparison, row, names, scale), class_="c-plot"),
        element("td", ratios, class_="c-ratio number", data_value=row.ratio),
        element("td", judged, class_="c-verdict", data_value=str(order_of(row.verdict))),
        data_verdict=base_name(row.verdict),
    )


def _detectable_text(row: JudgedRow) -> str | None:
    """The slowdown that an inconclusive row could have shown; None for other verdicts."""
    if base_name(row.verdict) != "inconclusive" or row.smallest_slowdown is None:
        return None
    smallest = row.smallest_slowdown
    size = share(smallest) if smallest < 1 else f"a factor of {plain_number(float(f'{1 + smallest:.3g}'))}"
    return f"would have found {size}"


def _strip(comparison: Comparison, row: JudgedRow, names: Naming, scale: Scale) -> Element:
    name = names.text(row.factors)
    back: list[Child] = [
        band(scale, *margin_band(comparison.margin), "margin"),
        grid(scale.ticks(plain_number)),
        vertical(scale, 1.0, "unity"),
    ]
    if row.ratio is None or row.ratio <= 0:
        return strip(*back, label=f"{name}: {row.verdict}, no ratio")
    label = f"{name}: {ratio_text(row)}, {row.verdict}; sessions {row.sessions[0]} and {row.sessions[1]}"
    style = mark_style(row.verdict)
    front: list[Child] = []
    if row.interval:
        front += interval(scale, row.interval[0], row.interval[1], 0.5, style)
    front.append(mark(look_of(row.verdict).shape, scale.clipped(row.ratio), 0.5, style, label))
    return strip(*back, *front, label=label)
