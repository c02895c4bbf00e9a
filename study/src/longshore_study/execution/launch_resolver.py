"""Makes the command lines of launches from a longshore-bench, a launcher and an environment. If a
launch has a stack, all three come from the build of this stack."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from longshore_study.base.errors import LongshoreError
from longshore_study.base.groups import grouped
from longshore_study.execution.launchers import Command, Launcher, make_launcher
from longshore_study.host.bench_program import BENCH, find_bench
from longshore_study.host.stack_builds import Build, find_build
from longshore_study.planning.plan import Cell, Plan, PlannedLaunch
from longshore_study.store.provenance import Program
from longshore_study.study_file.study import filled


@dataclass(frozen=True)
class LaunchConfiguration:
    launcher: Launcher
    bench: str
    """The path of longshore-bench; empty if no cell needs the program."""
    environment: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class LaunchResolver:
    plan: Plan
    configurations: Mapping[str | None, LaunchConfiguration]
    """By stack."""

    def configuration_of(self, cell: Cell) -> LaunchConfiguration:
        return self.configurations[stack_of(cell)]

    def command(self, launch: PlannedLaunch, records_file: str = "-") -> Command:
        """The command of a launch. `records_file`: where the program writes records or output."""
        configuration = self.configuration_of(launch.cell)
        program = program_of(self.plan, launch, configuration.bench, records_file)
        command = configuration.launcher.command(launch.cell, program)
        return Command(command.argv, {**configuration.environment, **command.environment}, command.binding)

    def programs(self) -> list[Program]:
        """Every longshore-bench of the plan."""
        return [
            Program(configuration.bench, stack or "", configuration.environment.get("LD_LIBRARY_PATH"))
            for stack, configuration in self.configurations.items()
            if configuration.bench
        ]


def make_launch_resolver(
    plan: Plan, *, bench: str | None = None, mpirun: str | None = None, dry_run: bool = False
) -> LaunchResolver:
    """Finds the programs that the plan needs. Raises LongshoreError if a program is missing.

    With `dry_run`, the commands are only printed, so longshore-bench and mpirun may be missing.
    """
    bench = plan.study.state.bench or bench
    configurations: dict[str | None, LaunchConfiguration] = {}
    for stack, cells in grouped(plan.cells, stack_of).items():
        build = find_build(stack) if stack is not None else None
        configurations[stack] = _configuration(plan, cells, build, bench=bench, mpirun=mpirun, dry_run=dry_run)
    return LaunchResolver(plan, configurations)


def _configuration(
    plan: Plan, cells: list[Cell], build: Build | None, *, bench: str | None, mpirun: str | None, dry_run: bool
) -> LaunchConfiguration:
    launcher = make_launcher(plan.study.launcher, cells, build.mpirun if build else mpirun, dry_run=dry_run)
    environment = {**(build.launch_environment if build else {}), **plan.study.state.environment}
    if not any(cell.external is None for cell in cells):
        return LaunchConfiguration(launcher, "", environment)
    if build is not None:
        return LaunchConfiguration(launcher, build.bench, environment)
    try:
        return LaunchConfiguration(launcher, find_bench(bench), environment)
    except LongshoreError:
        if dry_run and bench is None:
            return LaunchConfiguration(launcher, BENCH, environment)
        raise


def stack_of(cell: Cell) -> str | None:
    stack = cell.between.get("stack")
    return None if stack is None else str(stack)


def program_of(plan: Plan, launch: PlannedLaunch, bench: str, records_file: str = "-") -> list[str]:
    """The program of a launch and its options, without the launcher."""
    cell = launch.cell
    if cell.external is not None:
        return [filled(argument, {**cell.between, "output": records_file}) for argument in cell.external.command]
    return [bench, *cell.options(plan.seed_of(launch.launch_index), records_file)]
