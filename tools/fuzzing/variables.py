"""Draws environment variables that select code of the library, and has those of every run."""

from __future__ import annotations

import random
from dataclasses import dataclass

ALL = ("threads", "mpi", "shmem", "ucx")


@dataclass(frozen=True)
class Variable:
    name: str
    values: tuple[str, ...]
    share: float
    """The share of runs with this variable."""
    transports: tuple[str, ...] = ALL


DRAWN = (
    Variable("LONGSHORE_CHECK", ("1",), 0.5),
    Variable("LONGSHORE_PIN", ("0", "compact", "scatter"), 0.3),
    Variable("LONGSHORE_PROFILE", ("profile",), 0.1),
    Variable("LONGSHORE_TUNE", ("1",), 0.1),
    Variable("LONGSHORE_TUNING_SECONDS", ("0.01", "0.1"), 0.1),
    Variable("LONGSHORE_MPI_SHARED", ("0",), 0.15, ("mpi",)),
    Variable("LONGSHORE_UCX_START", ("mpi", "pmix"), 0.2, ("ucx",)),
    Variable("UCX_TLS", ("posix,self", "tcp,self", "all"), 0.2, ("ucx",)),
    Variable("UCX_RNDV_THRESH", ("256", "16K"), 0.1, ("ucx",)),
    Variable("OMP_NUM_THREADS", ("1", "3"), 0.1),
)


def draw_variables(random_numbers: random.Random, transport: str) -> tuple[tuple[str, str], ...]:
    drawn = []
    for variable in DRAWN:
        # Each variable draws its random numbers always, so that a new transport does not change the
        # draws of other variables.
        has, value = random_numbers.random() < variable.share, random_numbers.choice(variable.values)
        if has and transport in variable.transports:
            drawn.append((variable.name, value))
    return tuple(drawn)


def of_every_run(wait_seconds: int) -> dict[str, str]:
    """Variables of every run: no profile of earlier runs, and waits end before the run must end."""
    return {"LONGSHORE_PROFILE": "off", "LONGSHORE_TIMEOUT": str(wait_seconds)}
