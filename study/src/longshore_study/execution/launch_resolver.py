"""Makes the command lines of launches from a longshore-bench, a launcher and an environment. If a
launch has a stack, all three come from the build of this stack."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from longshore_study.base.errors import LongshoreError
from longshore_study.base.groups import grouped
from longshore_study.execution.launchers import Command, Launcher, make_launcher
from longshore_study.host.bench_program import BENCH, find_bench
from longshore_study.host.stack_builds import find_build
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
        command = configuration.launcher.command(launch.cell, self.program(launch, records_file))
        return replace(command, environment={**configuration.environment, **command.environment})

    def program(self, launch: PlannedLaunch, records_file: str) -> list[str]:
        """The program of a launch and its options, without the launcher."""
        cell = launch.cell
        if cell.external is not None:
            return [filled(argument, {**cell.between, "output": records_file}) for argument in cell.external.command]
        return [self.configuration_of(cell).bench, *cell.options(self.plan.seed_of(launch.launch_index), records_file)]

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
        launcher = make_launcher(plan.study.launcher, cells, build.mpirun if build else mpirun, dry_run=dry_run)
        program = ""
        if any(cell.external is None for cell in cells):
            program = build.bench if build else _find_bench(bench, dry_run=dry_run)
        environment = {**(build.launch_environment if build else {}), **plan.study.state.environment}
        configurations[stack] = LaunchConfiguration(launcher, program, environment)
    return LaunchResolver(plan, configurations)


def _find_bench(bench: str | None, *, dry_run: bool) -> str:
    try:
        return find_bench(bench)
    except LongshoreError:
        if dry_run and bench is None:
            return BENCH
        raise


def stack_of(cell: Cell) -> str | None:
    stack = cell.between.get("stack")
    return None if stack is None else str(stack)
