"""Resolves launches to command lines: which longshore-bench, which launcher, which environment. The
build of a stack determines all three."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from longshore_study.base.errors import LongshoreError
from longshore_study.execution.launchers import Command, Launcher, make_launcher
from longshore_study.host.bench_program import BENCH, find_bench
from longshore_study.host.stack_builds import Build, find_build
from longshore_study.planning.plan import Cell, Plan, PlannedLaunch
from longshore_study.store.provenance import Program


@dataclass(frozen=True)
class LaunchConfiguration:
    """A launcher, a longshore-bench and an environment that belong together."""

    launcher: Launcher
    bench: str
    """Empty if no cell needs it."""
    environment: dict[str, str] = field(default_factory=dict)


class LaunchResolver:
    """Makes the command line of each launch."""

    def __init__(self, plan: Plan, configurations: Mapping[str | None, LaunchConfiguration]) -> None:
        self.plan = plan
        self.configurations = configurations

    def configuration_of(self, cell: Cell) -> LaunchConfiguration:
        return self.configurations[stack_of(cell)]

    def command(self, launch: PlannedLaunch, records_file: str = "-") -> Command:
        """`records_file`: for the records of longshore-bench, or the own file of an external
        program."""
        configuration = self.configuration_of(launch.cell)
        program = program_of(self.plan, launch, configuration.bench, records_file)
        command = configuration.launcher.command(launch.cell, program)
        return Command(command.argv, {**configuration.environment, **command.environment}, command.binding)

    def programs(self) -> list[Program]:
        """Each longshore-bench of the plan."""
        return [
            Program(one.bench, "" if stack is None else stack, one.environment.get("LD_LIBRARY_PATH"))
            for stack, one in self.configurations.items()
            if one.bench
        ]


def make_launch_resolver(
    plan: Plan, *, bench: str | None = None, mpirun: str | None = None, dry_run: bool = False
) -> LaunchResolver:
    """Finds the programs that the plan needs. Raises LongshoreError if one is missing.

    `dry_run`: the commands are only printed, and may be for another machine.
    """
    configurations: dict[str | None, LaunchConfiguration] = {}
    cells_of: dict[str | None, list[Cell]] = {}
    for cell in plan.cells:
        cells_of.setdefault(stack_of(cell), []).append(cell)
    for stack, cells in cells_of.items():
        build = find_build(stack) if stack is not None else None
        configurations[stack] = _configuration(plan, cells, build, bench=bench, mpirun=mpirun, dry_run=dry_run)
    return LaunchResolver(plan, configurations)


def _configuration(
    plan: Plan, cells: list[Cell], build: Build | None, *, bench: str | None, mpirun: str | None, dry_run: bool
) -> LaunchConfiguration:
    launcher = make_launcher(plan.study.launcher, cells, build.mpirun if build else mpirun, dry_run=dry_run)
    if not any(cell.external is None for cell in cells):
        return LaunchConfiguration(launcher, "", build.environment if build else {})
    if build is not None:
        return LaunchConfiguration(launcher, build.bench, build.environment)
    try:
        return LaunchConfiguration(launcher, find_bench(bench))
    except LongshoreError:
        if dry_run and bench is None:
            return LaunchConfiguration(launcher, BENCH)
        raise


def stack_of(cell: Cell) -> str | None:
    stack = cell.between.get("stack")
    return None if stack is None else str(stack)


def program_of(plan: Plan, launch: PlannedLaunch, bench: str, records_file: str = "-") -> list[str]:
    """The program of a launch with its options, without a launcher."""
    cell = launch.cell
    if cell.external is not None:
        return [_filled(argument, {**cell.between, "output": records_file}) for argument in cell.external.command]
    return [bench, *cell.options(plan.seed_of(launch.launch_index), records_file)]


def _filled(argument: str, factors: Mapping[str, Any]) -> str:
    """Replaces {ranks} and other factors. Other braces stay, and replaced text is not scanned
    again."""
    filled, rest = "", argument
    while "{" in rest:
        before, _, after = rest.partition("{")
        name, brace, tail = after.partition("}")
        if brace and name in factors:
            filled, rest = filled + before + str(factors[name]), tail
        else:
            filled, rest = filled + before + "{", after
    return filled + rest
