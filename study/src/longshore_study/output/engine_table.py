"""The output of `show --engines`: JSON, or tables of hops and of times."""

from collections.abc import Callable, Sequence
from typing import Any

from longshore_study.base import terminal
from longshore_study.base.json_values import attributes
from longshore_study.metrics.engines import PERCENTILES, EngineSummary, Hop
from longshore_study.output.rows import grouped_by, print_parts, scaled

_HOP_COLUMNS: dict[str, Callable[[Hop], str]] = {
    "direction": lambda hop: hop.direction,
    "hop": lambda hop: str(hop.hop),
    "messages": lambda hop: terminal.number(hop.numbers.get("messages")),
    "partial": lambda hop: terminal.number(hop.numbers.get("partial")),
    "fill": lambda hop: "-" if hop.fill is None else f"{hop.fill:.1%}",
    "wire/payload": lambda hop: terminal.ratio_text(hop.wire_per_payload),
    "off-node MB": lambda hop: terminal.number(hop.offnode_megabytes),
    "refusals": lambda hop: terminal.number(hop.numbers.get("refusals")),
}
TIME_COLUMNS = ("ms", "moving", "no slot", "nothing arrived")


def document(summaries: Sequence[EngineSummary]) -> dict[str, Any]:
    return {
        "schema": 1,
        "rows": [
            {
                **attributes(summary, "study tag pattern factors launches seconds"),
                "waited_seconds": {"slot": summary.slot_wait_seconds, "arrival": summary.arrival_wait_seconds},
                "latency_seconds": {
                    direction: {"samples": latency.samples, **{name: latency.seconds.get(name) for name in PERCENTILES}}
                    for direction, latency in summary.latency.items()
                },
                "hops": [
                    {"direction": hop.direction, "hop": hop.hop, "fill": hop.fill, **hop.numbers}
                    for hop in summary.hops
                ],
            }
            for summary in summaries
        ],
    }


def render(summaries: Sequence[EngineSummary]) -> None:
    for (study, tag, pattern), members in grouped_by(summaries, "study tag pattern").items():
        shared, names = terminal.varying([summary.factors for summary in members])
        where = f"{terminal.side(study, tag)}: {pattern}" + terminal.shared_factors(shared)
        title = f"{terminal.side(study, tag)}: {pattern}, messages of one operation, all ranks together"
        print_parts(title, members, lambda summary: summary.hops, _HOP_COLUMNS, left=("direction",))
        print()
        terminal.print_table(
            f"{where}, time of one operation (mean over ranks), and of items on their way",
            [*terminal.options(names), *TIME_COLUMNS, "direction", *(f"{name} us" for name in PERCENTILES)],
            [row for summary in members for row in _times(summary, terminal.levels(summary.factors, names))],
            right=(*TIME_COLUMNS, *(f"{name} us" for name in PERCENTILES)),
        )
        print()


def _times(summary: EngineSummary, levels: list[str]) -> list[list[str]]:
    first_columns = [*levels, terminal.number(summary.seconds * 1e3), *(f"{share:.0%}" for share in summary.shares)]
    rows: list[list[str]] = []
    for direction, latency in summary.latency.items():
        texts = [scaled(latency.seconds.get(name), 1e6) for name in PERCENTILES]
        rows.append([*(first_columns if not rows else [""] * len(first_columns)), direction, *texts])
    return rows or [[*first_columns, "", *["-"] * len(PERCENTILES)]]
