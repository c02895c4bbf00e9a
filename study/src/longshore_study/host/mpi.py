"""MPI launchers of this machine: which is found, what kind it is, and what each kind must be
told."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache

from longshore_study.host import cores

OPEN_MPI, MPICH, INTEL, UNKNOWN = "Open MPI", "MPICH", "Intel MPI", "unknown"
LAUNCHER_NAMES = ("mpirun", "mpiexec")
# Intel MPI and MVAPICH are made from MPICH and name its process manager too, so they are looked for
# before it.
_MARKS = {
    OPEN_MPI: ("Open MPI", "OpenRTE", "PRRTE"),
    INTEL: ("Intel(R) MPI",),
    MPICH: ("HYDRA", "MPICH", "MVAPICH"),
}


@dataclass(frozen=True)
class Mpi:
    """An MPI launcher on this machine."""

    path: str
    kind: str
    """Open MPI, MPICH, Intel MPI, or unknown."""
    version: str


def find_mpi(asked_for: str | None = None) -> Mpi | None:
    """The MPI launcher asked for, else LONGSHORE_MPIRUN, else the first of PATH; None when none
    runs."""
    asked_for = asked_for or os.environ.get("LONGSHORE_MPIRUN")
    for name in [asked_for] if asked_for else LAUNCHER_NAMES:
        path = shutil.which(name)
        if path is not None and (mpi := identify(path)) is not None:
            return mpi
    return None


def missing_mpi(asked_for: str | None = None) -> str:
    what = f"'{asked_for}'" if asked_for else "mpirun"
    return (
        f"no MPI launcher: {what} is not found or does not run; install an MPI (Debian: openmpi-bin), name its mpirun "
        "with --mpirun or LONGSHORE_MPIRUN, or leave transport 'mpi' out of the study"
    )


@cache
def identify(path: str) -> Mpi | None:
    """What a launcher says of itself; None when it does not answer."""
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    text = answer.stdout + answer.stderr
    kind = next((kind for kind, words in _MARKS.items() if any(word in text for word in words)), UNKNOWN)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    version = next((line for line in lines if "ersion" in line or kind in line), lines[0] if lines else "unknown")
    return Mpi(path, kind, version) if answer.returncode == 0 else None


def placement(mpi: Mpi, ranks: int, nodes: int | None) -> list[str]:
    """Options that put `ranks` on `nodes` nodes, and those without which the launcher refuses.

    `nodes` None: where the launcher puts them, all on this machine where it knows no other. Only
    Open MPI refuses more ranks than cores, and counts cores, not hardware threads.
    """
    per_node = ranks if nodes is None else -(-ranks // nodes)
    if mpi.kind == OPEN_MPI:
        more = ["--oversubscribe"] if per_node > cores.available_cores() else []
        return more if nodes is None else [*more, "--map-by", f"ppr:{per_node}:node"]
    return ["-ppn", str(per_node)] if nodes is not None and mpi.kind in (MPICH, INTEL) else []


def environment(mpi: Mpi, transport: str = "mpi") -> dict[str, str]:
    """What Open MPI must be told. It starts as root only when told twice, and its OpenSHMEM 4.1
    crashes at its end unless UCX leaves the memory allocator alone (the program sees to that too;
    here the launch's record shows it)."""
    if mpi.kind != OPEN_MPI:
        return {}
    told = {"OMPI_MCA_opal_common_ucx_opal_mem_hooks": "0"} if transport == "shmem" else {}
    return told | as_root()


def as_root() -> dict[str, str]:
    """Without this Open MPI starts nothing for root, whom containers have; nobody else minds."""
    return {} if os.geteuid() != 0 else {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
