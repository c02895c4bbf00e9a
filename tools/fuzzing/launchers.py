"""How a run is started: the launcher of each transport, and the variables of every run."""

import os
import shutil
import subprocess
from dataclasses import dataclass

PROGRAMS = {"mpi": ("mpirun", "mpiexec"), "shmem": ("oshrun", "mpirun"), "ucx": ("mpirun", "mpiexec")}
VERSION_SECONDS = 30


@dataclass(frozen=True)
class Launchers:
    words: dict[str, tuple[str, ...]]
    """For each transport: the launcher and its options without the number of ranks."""

    def why_not(self, transport: str) -> str | None:
        if transport in self.words:
            return None
        return f"no {' or '.join(PROGRAMS.get(transport, ('known launcher',)))} on PATH starts programs of {transport}"

    def prefix(self, transport: str, ranks: int) -> list[str]:
        words = self.words[transport]
        return [*words, "-n", str(ranks)] if words else []


def find_launchers() -> Launchers:
    words: dict[str, tuple[str, ...]] = {"threads": ()}
    for transport, names in PROGRAMS.items():
        for name in names:
            if (launcher := words_of(name)) is not None:
                words[transport] = launcher
                break
    return Launchers(words)


def words_of(name: str) -> tuple[str, ...] | None:
    """The launcher with options for more ranks than cores; None if the launcher does not run."""
    if shutil.which(name) is None:
        return None
    try:
        done = subprocess.run([name, "--version"], capture_output=True, text=True, check=True, timeout=VERSION_SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    if "Open MPI" not in done.stdout + done.stderr and "OpenRTE" not in done.stdout + done.stderr:
        return (name,)
    root = ("--allow-run-as-root",) if os.geteuid() == 0 else ()
    return (name, *root, "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1")


def common_variables(wait_seconds: int) -> dict[str, str]:
    """Variables of every run: no profile of earlier runs, and a limit for each wait."""
    return {"LONGSHORE_PROFILE": "off", "LONGSHORE_TIMEOUT": str(wait_seconds)}
