"""`longshore doctor`: what on this machine will spoil a measurement, and what to do about it."""

from __future__ import annotations

import argparse
import json
from typing import Any

from longshore_study.base.errors import EXIT_OK, LongshoreError, UsageError
from longshore_study.host import binding
from longshore_study.host.bench_program import find_bench
from longshore_study.host.cores import available_cpus
from longshore_study.host.doctor import UNKNOWN, WARN, CheckResult, Machine, examine, python_and_system

EXAMPLES = """examples:
  longshore doctor
  longshore doctor --ranks 8      also say whether so many ranks fit
  longshore doctor --json

exit status: 0, whatever is found: it advises and does not forbid"""

_MARKS = {"ok": ("ok", "green"), WARN: ("WARN", "bold yellow"), UNKNOWN: ("?", "dim")}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EXAMPLES
    parser.add_argument("--ranks", type=int, metavar="N", help="how many ranks a study will use here")
    parser.add_argument("--no-measure", action="store_true", help="only read; do not load the cores for a second")


def run(args: argparse.Namespace) -> int:
    if args.ranks is not None and args.ranks < 1:
        raise UsageError(f"--ranks must be at least 1, not {args.ranks}")
    found = examine(Machine(), args.ranks) + binding.check_results(_listing(), args.ranks)
    if not args.no_measure:
        from longshore_study.host import fixed_work_probe  # noqa: PLC0415 - not needed to read

        found += fixed_work_probe.check_results(fixed_work_probe.measure(available_cpus()))
    warnings = sum(finding.state == WARN for finding in found)
    if args.json:
        answer = {"schema": 1, **python_and_system(), "warnings": warnings, "findings": [f.as_json() for f in found]}
        print(json.dumps(answer, indent=1))
        return EXIT_OK
    _print(found)
    print(f"\n{warnings} of {len(found)} checks warn" if warnings else "\nnothing to warn about")
    return EXIT_OK


def _listing() -> dict[str, Any] | None:
    try:
        return binding.ask(find_bench())
    except LongshoreError:
        return None  # there is no program yet: the doctor goes on without it


def _print(found: list[CheckResult]) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(soft_wrap=True, highlight=False)
    width = max(len(finding.check) for finding in found)
    for finding in found:
        mark, style = _MARKS[finding.state]
        line = Text(f"{mark:<5}", style=style) + Text(f"{finding.check:<{width}}  {finding.value}", style="")
        console.print(line)
        if finding.advice:
            console.print(Text(f"{'':<5}{'':<{width}}  -> {finding.advice}"))
