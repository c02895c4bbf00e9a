"""What was counted, as `show --counters` prints it: JSON, or a table per study and pattern."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from longshore_study.base import terminal
from longshore_study.metrics.counters import COUNTED, HARDWARE, Account

_SECONDS = ("waited mean", "waited max")


def document(accounts: Sequence[Account]) -> dict[str, Any]:
    """What `show --counters --json` prints."""
    return {
        "schema": 1,
        "rows": [
            {
                "study": account.study,
                "tag": account.tag,
                "pattern": account.pattern,
                "factors": dict(account.factors),
                "launches": account.launches,
                "numbers": {
                    name.replace(" ", "_") + ("_seconds" if name in _SECONDS else ""): value
                    for name, value in account.numbers.items()
                },
                "why_not": dict(account.why_not),
                "phases": [
                    {
                        "phase": phase.name,
                        "waited_seconds": phase.waited,
                        "messages": phase.messages,
                        "wire_bytes": phase.wire_bytes,
                    }
                    for phase in account.phases
                ],
            }
            for account in accounts
        ],
    }


def render(accounts: Sequence[Account]) -> None:
    groups: dict[tuple[str, str, str], list[Account]] = {}
    for account in accounts:
        groups.setdefault((account.study, account.tag, account.pattern), []).append(account)
    for (study, tag, pattern), members in groups.items():
        where = f"{terminal.side(study, tag)}: {pattern}"
        shared, names = terminal.varying([account.factors for account in members])
        counted = [name for name in (*COUNTED, *HARDWARE) if any(name in account.numbers for account in members)]
        columns = [f"{name} ms" if name in _SECONDS else name.replace("_", " ") for name in counted]
        terminal.print_table(
            f"{where}, of one operation, all ranks together" + terminal.shared_factors(shared),
            [*terminal.options(names), *columns],
            [
                [*terminal.levels(account.factors, names), *(_number(account, name) for name in counted)]
                for account in members
            ],
            right=columns,
        )
        for reason, events in _reasons(members).items():
            print(f"no {', '.join(events)}: {reason}")
        print()
        _print_phases(where, names, members)


def _print_phases(where: str, names: Sequence[str], members: Sequence[Account]) -> None:
    body = [
        [
            *terminal.levels(account.factors, names),
            phase.name,
            terminal.number(None if phase.waited is None else 1e3 * phase.waited),
            terminal.number(phase.messages),
            terminal.number(None if phase.wire_bytes is None else phase.wire_bytes / 1e6),
        ]
        for account in members
        for phase in account.phases
    ]
    if body:
        right = ("waited ms", "messages", "wire MB")
        columns = [*terminal.options(names), "phase", *right]
        terminal.print_table(f"{where}, by phase", columns, body, right=right)
        print()


def _reasons(members: Sequence[Account]) -> dict[str, list[str]]:
    reasons: dict[str, list[str]] = {}
    for account in members:
        for event, reason in account.why_not.items():
            if event not in reasons.setdefault(reason, []):
                reasons[reason].append(event)
    return reasons


def _number(account: Account, name: str) -> str:
    value = account.numbers.get(name)
    return terminal.number(value * 1e3 if value is not None and name in _SECONDS else value)
