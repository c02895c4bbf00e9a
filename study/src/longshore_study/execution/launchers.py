"""Launchers: make the command and the environment that start a program with its ranks. A command is
a list of words, never a line for a shell. Jobs of a batch system (batch_systems.py) also use a
launcher."""

import os
import shlex
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

from longshore_study.base.errors import LongshoreError
from longshore_study.host import elf, mpi
from longshore_study.host.answers import output_of
from longshore_study.host.mpi import Mpi, find_mpi, missing_mpi
from longshore_study.planning.plan import Cell
from longshore_study.study_file import environment_variables
from longshore_study.study_file.environment_variables import Level
from longshore_study.study_file.study import LauncherChoice

LAUNCHER_IN_JOB = {"slurm-batch": "srun", "pbs-batch": "mpirun", "flux-batch": "flux"}


@dataclass(frozen=True)
class Command:
    argv: list[str]
    environment: Level = field(default_factory=dict)
    """Variables to set. A variable with the value None is removed."""
    binding: str = "none"
    """Says who binds the ranks to cores."""

    @property
    def line(self) -> str:
        """The command as a user would type it."""
        return " ".join([*environment_variables.shell_prefix(self.environment), shlex.join(self.argv)])


def needs_launcher(cell: Cell) -> bool:
    """Whether a launcher must start the ranks as processes. Threads, simulated ranks, and
    external commands that start their own ranks need no launcher."""
    if cell.external is not None:
        return cell.external.launch
    return str(cell.between["transport"]) not in ("threads", "simulated")


def nodes_of(cell: Cell, choice: LauncherChoice) -> int | None:
    """The number of nodes of a launch, if known. Simulated nodes are within one process."""
    if "nodes" in cell.between and cell.machine is None:
        return int(cell.between["nodes"])
    if not needs_launcher(cell):
        return 1
    return -(-cell.ranks // choice.ranks_per_node) if choice.ranks_per_node else None


@dataclass(frozen=True)
class LocalLauncher:
    """Starts ranks as threads, or with mpirun: here, or on the nodes of the current job."""

    mpi: Mpi | None
    choice: LauncherChoice = field(default_factory=LauncherChoice)
    shmem: Mpi | None = None
    """oshrun, if installed: some mpirun cannot start programs of OpenSHMEM."""
    name: ClassVar[str] = "local"

    def command(self, cell: Cell, program: list[str]) -> Command:
        if not needs_launcher(cell):
            if cell.external is None:
                return Command(program, cell.environment, "the program's own")
            # The command may be mpirun, which needs permission to start as root.
            return Command(program, {**mpi.root_permission(), **cell.environment}, "as the command says")
        transport = str(cell.between.get("transport"))
        starter = self.shmem if transport == "shmem" and self.shmem else self.mpi
        if starter is None:
            raise LongshoreError(missing_mpi())
        flags = mpi.placement(starter, cell.ranks, nodes_of(cell, self.choice))
        argv = [starter.path, "-n", str(cell.ranks), *flags, *self.choice.arguments, *program]
        return Command(argv, {**mpi.environment(starter, transport), **cell.environment}, f"default of {starter.kind}")


@dataclass(frozen=True)
class _JobLauncher:
    """Starts programs in the allocation of a batch system in which longshore runs. Even a program
    whose ranks are threads is started by the launcher, because longshore may run on a login node.
    """

    path: str
    choice: LauncherChoice
    name: ClassVar[str]
    system: ClassVar[str]
    marks: ClassVar[tuple[str, ...]]
    """Environment variables of the jobs of the system."""
    place: ClassVar[str]
    """Where launches run, and `way_in`: how users get there."""
    way_in: ClassVar[str]
    batch: ClassVar[str]
    """The kind of launcher that submits jobs."""

    def command(self, cell: Cell, program: list[str]) -> Command:
        if cell.external is not None and not cell.external.launch:
            return Command(program, cell.environment, "as the command says")
        flags, binding = self._flags(cell, program)
        return Command([self.path, *flags, *self.choice.arguments, *program], cell.environment, binding)

    def _flags(self, cell: Cell, program: list[str]) -> tuple[list[str], str]:
        """The options of the launcher, and the text that says who binds the ranks."""
        raise NotImplementedError


def _threads(cell: Cell) -> int:
    """The threads of a program that starts its own ranks. Simulated ranks share one."""
    return cell.ranks if cell.machine is None else 1


class SrunLauncher(_JobLauncher):
    name, system, batch = "srun", "Slurm", "slurm-batch"
    marks = ("SLURM_JOB_ID", "SLURM_JOBID")
    place, way_in = "Slurm allocation", "salloc or in a job"

    def _flags(self, cell: Cell, program: list[str]) -> tuple[list[str], str]:
        if not needs_launcher(cell):
            return ["-N", "1", "-n", "1", "-c", str(_threads(cell))], "the program's own"
        flags = ["-n", str(cell.ranks)]
        nodes = nodes_of(cell, self.choice)
        if nodes is not None:
            flags = ["-N", str(nodes), *flags, "--ntasks-per-node", str(-(-cell.ranks // nodes))]
        has_mpi_option = any(word.startswith("--mpi") for word in self.choice.arguments)
        if not has_mpi_option and (pmi := _pmi_of(self.path, program[0])):
            flags.append(f"--mpi={pmi}")
        return flags, "default of srun"


class FluxLauncher(_JobLauncher):
    name, system, batch = "flux", "Flux", "flux-batch"
    marks = ("FLUX_URI",)
    place, way_in = "Flux instance", "flux alloc"

    def _flags(self, cell: Cell, program: list[str]) -> tuple[list[str], str]:
        del program
        if needs_launcher(cell):
            nodes = nodes_of(cell, self.choice)
            flags = [*(["-N", str(nodes)] if nodes is not None else []), "-n", str(cell.ranks)]
        else:
            flags = ["-n", "1", "-c", str(_threads(cell))]
        return ["run", *flags], "default of flux"


Launcher = LocalLauncher | _JobLauncher


def make_launcher(
    choice: LauncherChoice, cells: Iterable[Cell], mpirun: str | None = None, *, dry_run: bool = False
) -> Launcher:
    """The launcher of the study file; for a batch system, the launcher within a job.

    Raises LongshoreError if the launcher, or an MPI that the cells need, is missing. With
    `dry_run`, the commands may be for another machine, so programs may be missing.
    """
    kind = LAUNCHER_IN_JOB.get(choice.kind, choice.kind)
    cells = list(cells)
    transports = {str(cell.between.get("transport")) for cell in cells}
    for in_job in (SrunLauncher, FluxLauncher):
        if kind == in_job.name:
            return in_job(_inside(in_job, choice.command, dry_run=dry_run), choice)
    wanted = mpirun or choice.command
    if not any(needs_launcher(cell) for cell in cells):
        return LocalLauncher(None, choice)
    found = find_mpi(wanted)
    if found is None and dry_run and wanted is None:
        found = Mpi("mpirun", mpi.UNKNOWN, "")
    shmem = find_mpi("oshrun") if "shmem" in transports and wanted is None else None
    if found is None and shmem is None:
        raise LongshoreError(missing_mpi(wanted))
    return LocalLauncher(found, choice, shmem)


def _inside(kind: type[_JobLauncher], asked_for: str | None, *, dry_run: bool) -> str:
    """The path of a launcher. Raises LongshoreError if it is missing, or works in a job only."""
    name = asked_for or kind.name
    path = shutil.which(name)
    if dry_run:
        return path or name
    if path is None:
        raise LongshoreError(f"'{name}' was not found; on a machine without {kind.system} use kind = \"local\"")
    if not any(os.environ.get(mark) for mark in kind.marks):
        raise LongshoreError(
            f'no {kind.place}, which kind = "{kind.name}" needs; run this under {kind.way_in}, or use '
            f'kind = "{kind.batch}", which submits the job itself'
        )
    return path


_PMI_OF_LIBRARY = {"libmpi.so.40": "pmix", "libmpi.so.12": "pmi2", "libmpich.so.12": "pmi2"}
"""The protocol (PMI) of an MPI library, by its soname. If srun uses another protocol than the
library, every rank starts as rank 0 of 1."""


@cache
def _pmi_of(srun: str, program: str) -> str | None:
    """The value of --mpi for a program. None if the default of the site applies."""
    path = shutil.which(program)
    needed = elf.read_info(path).needed if path is not None else []
    wanted = next((protocol for name, protocol in _PMI_OF_LIBRARY.items() if name in needed), None)
    if wanted is None or os.environ.get("SLURM_MPI_TYPE"):
        return None
    offered = output_of([srun, "--mpi=list"]).split()
    default = output_of(["scontrol", "show", "config"])
    if any(line.split()[:3:2] == ["MpiDefault", "none"] for line in default.splitlines()):
        return wanted if wanted in offered else None
    return None
