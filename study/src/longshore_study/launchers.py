"""How a cell becomes a command line: which longshore-bench, which launcher, and what the launcher needs to be told.

A launcher turns (cell, program with options) into argv and environment. Local ones run at once; one that submits a
job has the same interface and another way of waiting, which is why it is not here yet.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Protocol

from longshore_study.errors import LongshoreError, UsageError
from longshore_study.plan import Cell
from longshore_study.study import LauncherChoice

BENCH = "longshore-bench"
_LOCAL_KINDS = ("local", "mpirun")
_LAUNCHER_NAMES = ("mpirun", "mpiexec")


@dataclass(frozen=True)
class Command:
    argv: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    """What is added to the environment as it is."""
    binding: str = "none"
    """Who decides where ranks run."""


class Launcher(Protocol):
    """What a study needs of a way to start programs."""

    name: str

    def command(self, cell: Cell, program: list[str]) -> Command: ...


@dataclass(frozen=True)
class Mpi:
    """An MPI launcher on this machine."""

    path: str
    kind: str
    """Open MPI, MPICH, Intel MPI, or unknown."""
    version: str


class LocalLauncher:
    """Ranks on this machine: threads of the program, or processes that mpirun starts."""

    name = "local"

    def __init__(self, mpi: Mpi | None, arguments: Iterable[str] = ()) -> None:
        self.mpi = mpi
        self.arguments = list(arguments)

    def command(self, cell: Cell, program: list[str]) -> Command:
        if cell.external is not None:
            return Command(program, cell.environment, "as the command says")
        if cell.between["transport"] == "threads":
            return Command(program, cell.environment, "the program's own")
        if self.mpi is None:
            raise LongshoreError(missing_mpi())
        flags, environment = _needs(self.mpi, cell.ranks)
        argv = [self.mpi.path, "-n", str(cell.ranks), *flags, *self.arguments, *program]
        return Command(argv, {**environment, **cell.environment}, f"default of {self.mpi.kind}")


def make_launcher(choice: LauncherChoice, cells: Iterable[Cell], mpirun: str | None = None) -> Launcher:
    """The launcher that the study file asks for; raises when it, or what the cells need of it, is not there."""
    if choice.kind not in _LOCAL_KINDS:
        message = f'[launcher] kind = "{choice.kind}" cannot be used yet; this version has {" and ".join(_LOCAL_KINDS)}'
        raise UsageError(message)
    transports = {str(cell.between["transport"]) for cell in cells if cell.external is None}
    for transport in sorted(transports - {"threads", "mpi"}):
        raise UsageError(f"transport '{transport}' cannot be launched yet; this version launches threads and mpi")
    mpi = find_mpi(mpirun or choice.command) if "mpi" in transports else None
    if "mpi" in transports and mpi is None:
        raise LongshoreError(missing_mpi(mpirun or choice.command))
    return LocalLauncher(mpi, choice.arguments)


def missing_mpi(asked_for: str | None = None) -> str:
    what = f"'{asked_for}'" if asked_for else "mpirun"
    return (
        f"no MPI launcher: {what} is not found or does not run; install an MPI (Debian: openmpi-bin), name its mpirun "
        "with --mpirun or LONGSHORE_MPIRUN, or leave transport 'mpi' out of the study"
    )


def _needs(mpi: Mpi, ranks: int) -> tuple[list[str], dict[str, str]]:
    """Flags and environment without which this launcher refuses. Only Open MPI refuses root and more ranks than
    cores; it counts cores, not hardware threads."""
    if mpi.kind != "Open MPI":
        return [], {}
    flags = ["--oversubscribe"] if ranks > available_cores() else []
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return flags, as_root if os.geteuid() == 0 else {}


def find_mpi(asked_for: str | None = None) -> Mpi | None:
    """The MPI launcher asked for, else LONGSHORE_MPIRUN, else the first of PATH; None when none runs."""
    asked_for = asked_for or os.environ.get("LONGSHORE_MPIRUN")
    for name in [asked_for] if asked_for else _LAUNCHER_NAMES:
        path = shutil.which(name)
        if path is not None and (mpi := _identify(path)) is not None:
            return mpi
    return None


@cache
def _identify(path: str) -> Mpi | None:
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = answer.stdout + answer.stderr
    marks = {"Open MPI": ("Open MPI", "OpenRTE", "PRRTE"), "Intel MPI": ("Intel(R) MPI",), "MPICH": ("HYDRA", "MPICH")}
    kind = next((kind for kind, words in marks.items() if any(word in text for word in words)), "unknown")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    version = next((line for line in lines if "ersion" in line or kind in line), lines[0] if lines else "unknown")
    return Mpi(path, kind, version) if answer.returncode == 0 else None


def available_cores() -> int:
    """Cores (not hardware threads) that this process may use."""
    allowed = available_cpus()
    cores = set()
    for cpu in allowed:
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            cores.add((topology / "physical_package_id").read_text() + (topology / "core_id").read_text())
        except OSError:
            cores.add(f"cpu {cpu}")
    return max(1, len(cores))


def available_cpus() -> list[int]:
    """Hardware threads that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def find_bench(asked_for: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    """longshore-bench: where asked, else LONGSHORE_BENCH, else beside the `longshore` script, else on PATH."""
    environment = os.environ if environment is None else environment
    for source, name in (("--bench", asked_for), ("LONGSHORE_BENCH", environment.get("LONGSHORE_BENCH"))):
        if name:
            path = shutil.which(name)
            if path is None:
                raise LongshoreError(f"{source} names '{name}', which is no program that can be run")
            return str(Path(path).absolute())
    folders = [Path(sys.argv[0]).parent, Path(sys.executable).parent]
    for folder in folders:
        path = shutil.which(BENCH, path=str(folder))
        if path is not None:
            return str(Path(path).absolute())
    path = shutil.which(BENCH)
    if path is None:
        looked = ", ".join(dict.fromkeys(str(folder) for folder in folders))
        raise LongshoreError(
            f"{BENCH} is not found in {looked} or on PATH; "
            "'make build' makes it, --bench PATH or LONGSHORE_BENCH names it"
        )
    return str(Path(path).absolute())
