"""How the launches of a session are started: with which longshore-bench, by which launcher, in
which environment. A cell with a `stack` has all three from there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.execution.launchers import Command, Launcher, make_launcher
from longshore_study.host.bench_program import BENCH, find_bench
from longshore_study.host.stack_builds import Build, find_build
from longshore_study.planning.plan import Cell, Plan, PlannedLaunch
from longshore_study.store.provenance import Program


@dataclass(frozen=True)
class Way:
    """One way to start programs."""

    launcher: Launcher
    bench: str
    """Empty where no cell needs it."""
    environment: dict[str, str] = field(default_factory=dict)


class Starter:
    """From a launch to its command line."""

    def __init__(self, plan: Plan, ways: Mapping[str | None, Way]) -> None:
        self.plan = plan
        self.ways = ways

    def way_of(self, cell: Cell) -> Way:
        return self.ways[stack_of(cell)]

    def command(self, launch: PlannedLaunch, records_file: str = "-") -> Command:
        """`records_file`: where longshore-bench writes its records, or an external program its own
        file."""
        way = self.way_of(launch.cell)
        command = way.launcher.command(launch.cell, program_of(self.plan, launch, way.bench, records_file))
        return Command(command.argv, {**way.environment, **command.environment}, command.binding)

    def programs(self) -> list[Program]:
        """Each longshore-bench that may run."""
        return [
            Program(way.bench, "" if stack is None else stack, way.environment.get("LD_LIBRARY_PATH"))
            for stack, way in self.ways.items()
            if way.bench
        ]


def make_starter(plan: Plan, *, bench: str | None = None, mpirun: str | None = None, dry_run: bool = False) -> Starter:
    """What the plan's cells need, found; raises LongshoreError naming what is missing.

    `dry_run`: the command lines are only printed, and may be meant for another machine.
    """
    ways: dict[str | None, Way] = {}
    cells_of: dict[str | None, list[Cell]] = {}
    for cell in plan.cells:
        cells_of.setdefault(stack_of(cell), []).append(cell)
    for stack, cells in cells_of.items():
        build = find_build(stack) if stack is not None else None
        ways[stack] = _way(plan, cells, build, bench=bench, mpirun=mpirun, dry_run=dry_run)
    return Starter(plan, ways)


def _way(
    plan: Plan, cells: Iterable[Cell], build: Build | None, *, bench: str | None, mpirun: str | None, dry_run: bool
) -> Way:
    cells = list(cells)
    launcher = make_launcher(plan.study.launcher, cells, build.mpirun if build else mpirun, dry_run=dry_run)
    if not any(cell.external is None for cell in cells):
        return Way(launcher, "", build.environment if build else {})
    if build is not None:
        return Way(launcher, build.bench, build.environment)
    try:
        return Way(launcher, find_bench(bench))
    except LongshoreError:
        if dry_run and bench is None:
            return Way(launcher, BENCH)
        raise


def stack_of(cell: Cell) -> str | None:
    stack = cell.between.get("stack")
    return None if stack is None else str(stack)


def program_of(plan: Plan, launch: PlannedLaunch, bench: str, records_file: str = "-") -> list[str]:
    """The program of a launch with its options, before a launcher is put in front."""
    cell = launch.cell
    if cell.external is not None:
        return [_filled(argument, {**cell.between, "output": records_file}) for argument in cell.external.command]
    return [bench, *cell.options(plan.seed_of(launch.launch_index), records_file)]


def _filled(argument: str, factors: Mapping[str, Any]) -> str:
    """{ranks} and the like, and nothing else of what braces may mean. What was filled in is not
    looked at again."""
    filled, rest = "", argument
    while "{" in rest:
        before, _, after = rest.partition("{")
        name, brace, tail = after.partition("}")
        if brace and name in factors:
            filled, rest = filled + before + str(factors[name]), tail
        else:
            filled, rest = filled + before + "{", after
    return filled + rest
