"""The section of aggregation engines: where their time went, and the messages of each hop."""

from collections.abc import Sequence

from longshore_study.base.groups import grouped
from longshore_study.base.texts import figure, ratio, seconds, share
from longshore_study.metrics.engines import PERCENTILES, EngineSummary, Hop, engine_summaries
from longshore_study.report.facts import Facts
from longshore_study.report.labels import Naming, naming, pattern_title
from longshore_study.report.marks import bar, legend
from longshore_study.report.markup import Child, Element, block, details, element, remark, section
from longshore_study.report.tables import number_cell, scroll_table, strip_row, strip_table

MAX_UNFOLDED = 12
"""The table of hops is folded if there are more variants."""
PARTS = (("moving items", "s1"), ("waiting for a slot", "s2"), ("waiting for items", "s3"))


def engines_section(facts: Facts) -> Element | None:
    blocks = []
    for side in facts.stored_sides:
        by_pattern = grouped(engine_summaries(side.launches), lambda summary: summary.pattern)
        where = f": {side.name}" if len(facts.stored_sides) > 1 else ""
        blocks += [_block(pattern_title(pattern) + where, members) for pattern, members in by_pattern.items()]
    return section("engines", "What the engines did", blocks) if blocks else None


def _block(title: str, summaries: Sequence[EngineSummary]) -> Element:
    names = naming(summary.factors for summary in summaries)
    note = (
        "The parts of the time of an operation, mean over the ranks: moving items; waiting for a free buffer, because "
        "a receiver was behind; waiting for items, with nothing left to send. Medians over launches."
    )
    note += names.constant_note
    return block(
        title,
        remark(note),
        legend([("square", style, name) for name, style in PARTS]),
        _times(summaries, names),
        details(
            "Messages, hop by hop",
            remark(
                "Of one operation, all ranks together. Fill: items sent, relative to the capacity of the messages. "
                "Latency: from the push of an item to its delivery; – where clocks differ or nothing was timed."
            ),
            _hops(summaries, names),
            open=len(summaries) <= MAX_UNFOLDED,
        ),
    )


def _times(summaries: Sequence[EngineSummary], names: Naming) -> Element:
    heads = [
        ("name", "Variant"),
        ("plot", "share of the time"),
        *(("share number", name) for name, _ in PARTS),
        ("median number", "Time"),
    ]
    return strip_table(heads, [_time_row(summary, names) for summary in summaries])


def _time_row(summary: EngineSummary, names: Naming) -> Element:
    parts = summary.shares
    bars: list[Child] = []
    start = 0.0
    for part, (_, style) in zip(parts, PARTS, strict=True):
        width = min(part, 1.0 - start)
        bars.append(bar(start, start + width, style, height=0.5))
        start += width
    drawn = element("svg", bars, class_="strip", aria_hidden="true")  # the numbers say the same
    numbers = [number_cell("share", share(part)) for part in parts]
    return strip_row(names.markup(summary.factors), drawn, numbers, number_cell("median", seconds(summary.seconds)))


def _hops(summaries: Sequence[EngineSummary], names: Naming) -> Element:
    heads = ["Variant", "Direction", "Hop", "Messages", "Fill", "Wire / payload", "Off-node MB", "Refusals"]
    rows = [row for summary in summaries for row in _hop_rows(summary, names)]
    return scroll_table([*heads, *PERCENTILES], rows, "hops")


def _hop_rows(summary: EngineSummary, names: Naming) -> list[list[Child]]:
    """Cells of several hops span their rows."""
    rows = []
    for index, hop in enumerate(summary.hops):
        cells: list[Child] = []
        if index == 0:
            cells.append(element("th", names.markup(summary.factors), scope="row", rowspan=len(summary.hops)))
        cells += _hop_texts(hop)
        if index == 0 or summary.hops[index - 1].direction != hop.direction:
            latency = summary.latency.get(hop.direction)
            rows_of_direction = sum(other.direction == hop.direction for other in summary.hops)
            known = latency.seconds if latency else {}
            cells += [element("td", seconds(known.get(name)), rowspan=rows_of_direction) for name in PERCENTILES]
        rows.append(cells)
    return rows


def _hop_texts(hop: Hop) -> list[str]:
    return [
        hop.direction,
        str(hop.hop),
        figure(hop.numbers.get("messages")),
        "–" if hop.fill is None else share(hop.fill),
        ratio(hop.wire_per_payload),
        figure(hop.offnode_megabytes),
        figure(hop.numbers.get("refusals")),
    ]
