"""The section of guidelines: calls that must not be slower than others that replace them."""

from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.base.texts import counted, quantity, ratio_in_words
from longshore_study.compare.estimate import metric_ratios
from longshore_study.compare.guideline_check import GuidelineRow
from longshore_study.report.facts import Facts
from longshore_study.report.labels import Naming, levels_text, naming, pattern_title
from longshore_study.report.markup import Child, Element, element, remark, section
from longshore_study.report.tables import folded, scroll_table
from longshore_study.report.verdict_style import state_badge

# The style and the glyph of each verdict.
LOOKS = {
    "broken": ("regressed", "✕"), "holds": ("same", "✓"), "inconclusive": ("inconclusive", "?"),
    "untestable": ("untestable", "–"),
}  # fmt: skip


def guidelines_section(facts: Facts) -> Element | None:
    tables = [_tag(tag, rows, titled=len(facts.guidelines) > 1) for tag, rows in facts.guidelines.items()]
    note = (
        "Guidelines need no reference: the first variant must not be slower than the second, which does the same work "
        "with more general means. Measured: geometric means. A broken guideline is worth a question to the library’s "
        "authors."
    )
    return section("guidelines", "Guidelines", remark(note), tables) if tables else None


def _tag(tag: str, rows: Sequence[GuidelineRow], *, titled: bool) -> Child:
    broken = sum(1 for r in rows if r.holds is False)
    undecided = sum(1 for r in rows if r.holds is None)
    more = f", {undecided} not decided" if undecided else ""
    summary = f"{broken} of {counted(len(rows), 'guideline')} broken{more}."
    # Broken guidelines come first, then undecided ones; in each group, the worst is first.
    ordered = sorted(rows, key=lambda r: ({False: 0, None: 1, True: 2}[r.holds], -r.times_slower))
    names = naming(_where(r) for r in rows)
    return [
        element("h3", tag) if titled else None,
        element("p", summary),
        remark(f"All: {names.constant_text}.") if names.constant else None,
        *folded(ordered, "more guideline", lambda some: _table(tag, some, names)),
    ]


def _table(tag: str, rows: Sequence[GuidelineRow], names: Naming) -> Element:
    heads = ["Verdict", "Pattern", "This", "is not slower than", "Measured", "So it is"]
    if names.varying:
        heads.append("Where")
    return scroll_table(heads, [_row(row, names) for row in rows], f"guidelines of {tag}")


def _row(row: GuidelineRow, names: Naming) -> list[Child]:
    style, glyph = LOOKS[row.verdict]
    where = ", ".join(names.parts(_where(row)))
    notes = [row.guideline.why] if row.guideline.why and row.holds is False else []
    return [
        state_badge(glyph, row.verdict, style),
        element("td", pattern_title(row.pattern), class_="unbroken"),
        element("b", levels_text(row.guideline.faster) or "–"),
        [
            levels_text(row.guideline.than) or "–",
            [element("span", note, class_="warning") for note in (*notes, *row.warnings)],
        ],
        _measured(row),
        _slower_cell(row),
        *([element("td", where, class_="part")] if names.varying else []),
    ]


def _measured(row: GuidelineRow) -> str:
    shown_as = quantity(row.unit, row.values)
    return f"{' against '.join(shown_as.number(v) for v in row.values)} {shown_as.name}"


def _slower_cell(row: GuidelineRow) -> Child:
    size = ratio_in_words(row.times_slower, "slower", "faster")
    if row.interval is None:
        return size
    low, high = (ratio_in_words(bound, "slower", "faster") for bound in metric_ratios(row.interval, "lower"))
    return [size, element("span", f"95 % interval {low} to {high}", class_="warning")]


def _where(row: GuidelineRow) -> Mapping[str, Any]:
    return {k: v for k, v in row.context.items() if k not in ("program", "pattern")}
