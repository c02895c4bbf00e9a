"""`longshore doctor`: checks this machine for faults that spoil measurements, and gives advice."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict

from longshore_study.base.errors import EXIT_OK, LongshoreError
from longshore_study.cli.options import from_1
from longshore_study.cli.result_output import print_result
from longshore_study.host import binding
from longshore_study.host.bench_program import find_bench
from longshore_study.host.doctor import UNKNOWN, WARN, Diagnosis, examine, python_and_system
from longshore_study.host.machine import Machine, available_cpus
from longshore_study.patterns import CONTROL

EXAMPLES = """examples:
  longshore doctor
  longshore doctor --ranks 8      also check whether 8 ranks fit
  longshore doctor --json

exit status: always 0; the doctor only advises"""

_MARKS = {"ok": ("ok", "green"), WARN: ("WARN", "bold yellow"), UNKNOWN: ("?", "dim")}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ranks", type=from_1("--ranks"), metavar="N", help="how many ranks a study will use here")
    parser.add_argument("--no-measure", action="store_true", help="only read; do not load the cores for a second")


def run(args: argparse.Namespace) -> int:
    bench = _bench()
    found = examine(Machine(), args.ranks)
    found |= binding.topology_and_binding(binding.ask(bench) if bench else None, args.ranks)
    if not args.no_measure:
        from longshore_study.host import fixed_work_probe  # noqa: PLC0415 - needed only to measure

        found |= fixed_work_probe.noise_and_core_speeds(fixed_work_probe.measure(available_cpus()))
        line = binding.measured_line(bench, CONTROL, args.ranks) if bench else None
        found["distance of cores (measured)"] = binding.distance_of_cores(line)
    warnings = sum(diagnosis.state == WARN for diagnosis in found.values())
    findings = [{"check": check, **asdict(diagnosis)} for check, diagnosis in found.items()]
    document = {"schema": 1, **python_and_system(), "warnings": warnings, "findings": findings}
    print_result(args, lambda: document, lambda: _print(found, warnings))
    return EXIT_OK


def _bench() -> str | None:
    try:
        return find_bench()
    except LongshoreError:
        return None  # the other checks do not need longshore-bench


def _print(found: Mapping[str, Diagnosis], warnings: int) -> None:
    from rich.console import Console  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    console = Console(soft_wrap=True, highlight=False)
    width = max(map(len, found))
    for check, diagnosis in found.items():
        mark, style = _MARKS[diagnosis.state]
        line = Text(f"{mark:<5}", style=style) + Text(f"{check:<{width}}  {diagnosis.value}", style="")
        console.print(line)
        if diagnosis.advice:
            console.print(Text(f"{'':<5}{'':<{width}}  -> {diagnosis.advice}"))
    print(f"\n{warnings} of {len(found)} checks warn" if warnings else "\nno warnings")
