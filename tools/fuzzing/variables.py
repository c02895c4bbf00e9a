"""Environment variables that choose paths of the library, and those that every run has."""

from __future__ import annotations

import random
from dataclasses import dataclass

ALL = ("threads", "mpi", "shmem", "ucx")


@dataclass(frozen=True)
class Variable:
    name: str
    values: tuple[str, ...]
    share: float
    """Of the runs that have it."""
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
        # Every variable takes its numbers, so that a further transport changes no other variable.
        has, value = random_numbers.random() < variable.share, random_numbers.choice(variable.values)
        if has and transport in variable.transports:
            drawn.append((variable.name, value))
    return tuple(drawn)


def of_every_run(wait_seconds: int) -> dict[str, str]:
    """No profile of an earlier run decides, and a wait ends before the deadline of the run does."""
    return {"LONGSHORE_PROFILE": "off", "LONGSHORE_TIMEOUT": str(wait_seconds)}
