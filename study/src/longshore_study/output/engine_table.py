"""What engines did, as `show --engines` prints it: JSON, or a table of hops and one of times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from longshore_study.base import terminal
from longshore_study.metrics.engines import PERCENTILES, Account, Hop

HOP_COLUMNS = ("messages", "partial", "fill", "wire/payload", "off-node MB", "refusals")
TIME_COLUMNS = ("ms", "moving", "no slot", "nothing arrived")


def document(accounts: Sequence[Account]) -> dict[str, Any]:
    """What `show --engines --json` prints."""
    return {
        "schema": 1,
        "rows": [
            {
                "study": account.study,
                "tag": account.tag,
                "pattern": account.pattern,
                "factors": dict(account.factors),
                "launches": account.launches,
                "seconds": account.seconds,
                "waited_seconds": {"slot": account.slot, "arrival": account.arrival},
                "latency_seconds": {
                    direction: {"samples": latency.samples, **{name: latency.seconds.get(name) for name in PERCENTILES}}
                    for direction, latency in account.latency.items()
                },
                "hops": [
                    {"direction": hop.direction, "hop": hop.hop, "fill": hop.fill, **hop.numbers}
                    for hop in account.hops
                ],
            }
            for account in accounts
        ],
    }


def render(accounts: Sequence[Account]) -> None:
    """Two tables per study, tag and pattern."""
    groups: dict[tuple[str, str, str], list[Account]] = {}
    for account in accounts:
        groups.setdefault((account.study, account.tag, account.pattern), []).append(account)
    for (study, tag, pattern), members in groups.items():
        shared, names = terminal.varying([account.factors for account in members])
        where = f"{terminal.side(study, tag)}: {pattern}" + terminal.shared_factors(shared)
        named = terminal.options(names)
        terminal.print_table(
            f"{where}, messages of one operation, all ranks together",
            [*named, "direction", "hop", *HOP_COLUMNS],
            [[*terminal.levels(account.factors, names), *_hop(hop)] for account in members for hop in account.hops],
            right=("hop", *HOP_COLUMNS),
        )
        print()
        terminal.print_table(
            f"{where}, time of one operation (mean over ranks), and of items on their way",
            [*named, *TIME_COLUMNS, "direction", *(f"{name} us" for name in PERCENTILES)],
            [row for account in members for row in _times(account, terminal.levels(account.factors, names))],
            right=(*TIME_COLUMNS, *(f"{name} us" for name in PERCENTILES)),
        )
        print()


def _hop(hop: Hop) -> list[str]:
    numbers: Mapping[str, float] = hop.numbers
    offnode = numbers.get("offnode_bytes")
    return [
        hop.direction,
        str(hop.hop),
        *(terminal.number(numbers.get(name)) for name in ("messages", "partial")),
        "-" if hop.fill is None else f"{hop.fill:.1%}",
        terminal.ratio(hop.wire_per_payload),
        terminal.number(offnode / 1e6 if offnode is not None else None),
        terminal.number(numbers.get("refusals")),
    ]


def _times(account: Account, levels: list[str]) -> list[list[str]]:
    parts = (account.moving, account.slot, account.arrival)
    times = [terminal.number(account.seconds * 1e3), *(f"{account.share(part):.0%}" for part in parts)]
    before = [*levels, *times]
    rows: list[list[str]] = []
    for direction, latency in account.latency.items():
        known = [latency.seconds.get(name) for name in PERCENTILES]
        told = [terminal.number(None if value is None else value * 1e6) for value in known]
        rows.append([*(before if not rows else [""] * len(before)), direction, *told])
    return rows or [[*before, "", *["-"] * len(PERCENTILES)]]
