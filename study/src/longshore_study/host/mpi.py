"""Finds the MPI launcher of this machine, its kind, and the options that each kind needs."""

import os
import shutil
from dataclasses import dataclass
from functools import cache

from longshore_study.host import machine
from longshore_study.host.answers import answer_of

OPEN_MPI, MPICH, INTEL, UNKNOWN = "Open MPI", "MPICH", "Intel MPI", "unknown"
LAUNCHER_NAMES = ("mpirun", "mpiexec")
# Intel MPI and MVAPICH derive from MPICH and print the name of its process manager (HYDRA), too. So
# Intel MPI precedes MPICH.
_MARKS = {
    OPEN_MPI: ("Open MPI", "OpenRTE", "PRRTE"),
    INTEL: ("Intel(R) MPI",),
    MPICH: ("HYDRA", "MPICH", "MVAPICH"),
}


@dataclass(frozen=True)
class Mpi:
    """An MPI launcher, such as mpirun, and the library that it belongs to."""

    path: str
    kind: str
    """Open MPI, MPICH, Intel MPI, or unknown."""
    version: str


def find_mpi(asked_for: str | None = None) -> Mpi | None:
    """The MPI launcher: `asked_for`, or LONGSHORE_MPIRUN if `asked_for` is None. If neither is set,
    the first on PATH that runs. None if the launcher is missing or does not run."""
    asked_for = asked_for or os.environ.get("LONGSHORE_MPIRUN")
    for name in [asked_for] if asked_for else LAUNCHER_NAMES:
        path = shutil.which(name)
        if path is not None and (mpi := identify(path)) is not None:
            return mpi
    return None


def missing_mpi(asked_for: str | None = None) -> str:
    launcher = f"'{asked_for}'" if asked_for else "mpirun"
    return (
        f"no MPI launcher: {launcher} is missing or does not run; install an MPI (Debian: openmpi-bin), name its "
        "mpirun with --mpirun or LONGSHORE_MPIRUN, or remove transport 'mpi' from the study"
    )


@cache
def identify(path: str) -> Mpi | None:
    """Kind and version of a launcher, from the output of --version. None if that call fails."""
    answer = answer_of([path, "--version"])
    if answer is None or answer.returncode:
        return None
    text = answer.stdout + answer.stderr
    kind = next((kind for kind, words in _MARKS.items() if any(word in text for word in words)), UNKNOWN)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    version = next((line for line in lines if "ersion" in line or kind in line), lines[0] if lines else "unknown")
    return Mpi(path, kind, version)


def placement(mpi: Mpi, ranks: int, nodes: int | None) -> list[str]:
    """Options of the launcher that distribute `ranks` over `nodes` nodes, and that allow more ranks
    than cores. If `nodes` is None, the launcher chooses the distribution.

    Only Open MPI refuses more ranks than cores. Hardware threads do not count as cores.
    """
    per_node = ranks if nodes is None else -(-ranks // nodes)
    if mpi.kind == OPEN_MPI:
        oversubscribe = ["--oversubscribe"] if per_node > machine.available_cores() else []
        return oversubscribe if nodes is None else [*oversubscribe, "--map-by", f"ppr:{per_node}:node"]
    return ["-ppn", str(per_node)] if nodes is not None and mpi.kind in (MPICH, INTEL) else []


def environment(mpi: Mpi, transport: str = "mpi") -> dict[str, str]:
    """Environment variables that Open MPI needs, also to start as root. OpenSHMEM of Open MPI 4.1
    crashes at exit unless UCX leaves the memory allocator alone. longshore-bench sets
    OMPI_MCA_opal_common_ucx_opal_mem_hooks for this itself. The variable is set here again, so that
    the record of the launch shows it."""
    if mpi.kind != OPEN_MPI:
        return {}
    hooks = {"OMPI_MCA_opal_common_ucx_opal_mem_hooks": "0"} if transport == "shmem" else {}
    return hooks | root_permission()


def root_permission() -> dict[str, str]:
    """Variables without which Open MPI refuses to start as root, the usual user of containers."""
    return {} if os.geteuid() != 0 else {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
