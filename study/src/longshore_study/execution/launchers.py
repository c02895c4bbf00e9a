"""How a cell becomes a command line: what is put in front of the program, and what is added to its
environment.

A launcher turns (cell, program with options) into argv and environment, and never into a line for a
shell. All of them run at once; a batch system starts a job in which one of them is used (see
batch_systems.py).
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Protocol

from longshore_study.base.errors import LongshoreError
from longshore_study.host import elf, mpi
from longshore_study.host.mpi import Mpi, find_mpi, missing_mpi
from longshore_study.planning.plan import Cell
from longshore_study.study_file.environment_variables import Level
from longshore_study.study_file.study import LauncherChoice

INSIDE = {"slurm-batch": "srun", "pbs-batch": "mpirun", "flux-batch": "flux"}
"""What starts programs within a job of each batch system."""


@dataclass(frozen=True)
class Command:
    argv: list[str]
    environment: Level = field(default_factory=dict)
    """What is added to the environment as it is, or taken away from it."""
    binding: str = "none"
    """Who decides where ranks run."""


class Launcher(Protocol):
    """What a study needs of a way to start programs."""

    name: str

    def command(self, cell: Cell, program: list[str]) -> Command: ...


def needs_launcher(cell: Cell) -> bool:
    """Whether ranks are processes that somebody must start: not for threads, and not where the
    command does it."""
    if cell.external is not None:
        return cell.external.launch
    return str(cell.between["transport"]) != "threads"


def nodes_of(cell: Cell, choice: LauncherChoice) -> int | None:
    """How many nodes a launch is spread over; None where neither study nor launcher says."""
    if "nodes" in cell.between:
        return int(cell.between["nodes"])
    if not needs_launcher(cell):
        return 1
    return -(-cell.ranks // choice.ranks_per_node) if choice.ranks_per_node else None


class LocalLauncher:
    """Ranks that threads of the program are, or that mpirun starts: here, or on the nodes of a job
    that it knows of."""

    name = "local"

    def __init__(self, mpi: Mpi | None, choice: LauncherChoice | None = None, shmem: Mpi | None = None) -> None:
        self.mpi = mpi
        self.choice = choice or LauncherChoice()
        self.shmem = shmem
        """oshrun, where there is one: mpirun starts programs of OpenSHMEM too, but not in every
        installation."""

    def command(self, cell: Cell, program: list[str]) -> Command:
        if not needs_launcher(cell):
            if cell.external is None:
                return Command(program, cell.environment, "the program's own")
            return Command(
                program, {**mpi.root_permission(), **cell.environment}, "as the command says"
            )  # it may be mpirun
        transport = str(cell.between.get("transport"))
        used = self.shmem if transport == "shmem" and self.shmem else self.mpi
        if used is None:
            raise LongshoreError(missing_mpi())
        flags = mpi.placement(used, cell.ranks, nodes_of(cell, self.choice))
        argv = [used.path, "-n", str(cell.ranks), *flags, *self.choice.arguments, *program]
        return Command(argv, {**mpi.environment(used, transport), **cell.environment}, f"default of {used.kind}")


class _JobLauncher:
    """Ranks that a batch system starts, in the allocation that longshore runs in. Programs of
    threads are started by it too: the node where longshore runs may be a login node."""

    def __init__(self, path: str, choice: LauncherChoice) -> None:
        self.path = path
        self.choice = choice

    def command(self, cell: Cell, program: list[str]) -> Command:
        if cell.external is not None and not cell.external.launch:
            return Command(program, cell.environment, "as the command says")
        flags, binding = self._flags(cell, program)
        return Command([self.path, *flags, *self.choice.arguments, *program], cell.environment, binding)

    def _flags(self, cell: Cell, program: list[str]) -> tuple[list[str], str]:
        """What stands behind the launcher's name, and who decides where ranks run."""
        raise NotImplementedError


class SrunLauncher(_JobLauncher):
    """By Slurm, as steps of a job."""

    name = "srun"

    def _flags(self, cell: Cell, program: list[str]) -> tuple[list[str], str]:
        if not needs_launcher(cell):
            return ["-N", "1", "-n", "1", "-c", str(cell.ranks)], "the program's own"
        flags = ["-n", str(cell.ranks)]
        nodes = nodes_of(cell, self.choice)
        if nodes is not None:
            flags = ["-N", str(nodes), *flags, "--ntasks-per-node", str(-(-cell.ranks // nodes))]
        told = any(word.startswith("--mpi") for word in self.choice.arguments)
        if not told and (flavour := _pmi_of(self.path, program[0])):
            flags.append(f"--mpi={flavour}")
        return flags, "default of srun"


class FluxLauncher(_JobLauncher):
    """By Flux, in an instance of it."""

    name = "flux"

    def _flags(self, cell: Cell, program: list[str]) -> tuple[list[str], str]:
        del program
        if needs_launcher(cell):
            nodes = nodes_of(cell, self.choice)
            flags = [*(["-N", str(nodes)] if nodes is not None else []), "-n", str(cell.ranks)]
        else:
            flags = ["-n", "1", "-c", str(cell.ranks)]
        return ["run", *flags], "default of flux"


def make_launcher(
    choice: LauncherChoice, cells: Iterable[Cell], mpirun: str | None = None, *, dry_run: bool = False
) -> Launcher:
    """The launcher that the study file asks for; raises when it, or what the cells need of it, is
    not there.

    Of a batch system it is the one that is used inside a job. `dry_run`: what is only printed may
    be run elsewhere.
    """
    kind = INSIDE.get(choice.kind, choice.kind)
    cells = list(cells)
    transports = {str(cell.between.get("transport")) for cell in cells}
    if kind == "srun":
        return SrunLauncher(_inside_slurm(choice.command, dry_run=dry_run), choice)
    if kind == "flux":
        return FluxLauncher(_inside_flux(choice.command, dry_run=dry_run), choice)
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


def _inside_slurm(asked_for: str | None, *, dry_run: bool) -> str:
    path = shutil.which(asked_for or "srun")
    if dry_run:
        return path or asked_for or "srun"
    if path is None:
        raise LongshoreError(f"'{asked_for or 'srun'}' is not found; on a machine without Slurm use kind = \"local\"")
    if not (os.environ.get("SLURM_JOB_ID") or os.environ.get("SLURM_JOBID")):
        raise LongshoreError(
            'no Slurm allocation, and kind = "srun" starts launches within one; '
            'run this under salloc or in a job, or use kind = "slurm-batch", which submits the job itself'
        )
    return path


def _inside_flux(asked_for: str | None, *, dry_run: bool) -> str:
    path = shutil.which(asked_for or "flux")
    if dry_run:
        return path or asked_for or "flux"
    if path is None:
        raise LongshoreError(f"'{asked_for or 'flux'}' is not found; on a machine without Flux use kind = \"local\"")
    if not os.environ.get("FLUX_URI"):
        raise LongshoreError(
            'no Flux instance, and kind = "flux" starts launches within one; '
            'run this under flux alloc, or use kind = "flux-batch", which submits the job itself'
        )
    return path


# How ranks find each other is agreed between srun and the MPI library: by its soname, since a step
# that speaks another dialect starts every rank as rank 0 of 1.
_PMI_OF_LIBRARY = {"libmpi.so.40": ("pmix",), "libmpi.so.12": ("pmi2",), "libmpich.so.12": ("pmi2",)}


@cache
def _pmi_of(srun: str, program: str) -> str | None:
    """The value of --mpi for a program, or None to leave it to the site: where the site has a
    default, it is meant."""
    path = shutil.which(program)
    needed = elf.describe(path).needed if path is not None else []
    wanted = next((flavours for name, flavours in _PMI_OF_LIBRARY.items() if name in needed), ())
    if not wanted or os.environ.get("SLURM_MPI_TYPE"):
        return None
    offered = _said([srun, "--mpi=list"]).split()
    default = _said(["scontrol", "show", "config"])
    if any(line.split()[:3:2] == ["MpiDefault", "none"] for line in default.splitlines()):
        return next((flavour for flavour in wanted if flavour in offered), None)
    return None


def _said(argv: list[str]) -> str:
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return ""
    return done.stdout + done.stderr
