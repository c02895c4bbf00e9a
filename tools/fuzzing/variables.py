"""The environment variables of runs. Drawn variables select code of the library."""

from __future__ import annotations

import random
from dataclasses import dataclass

ALL_TRANSPORTS = ("threads", "mpi", "shmem", "ucx")


@dataclass(frozen=True)
class Variable:
    name: str
    values: tuple[str, ...]
    share: float
    """The share of runs with this variable."""
    transports: tuple[str, ...] = ALL_TRANSPORTS


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
        # Variables of other transports draw random numbers too, so that a new transport does not
        # change later draws.
        is_set, value = random_numbers.random() < variable.share, random_numbers.choice(variable.values)
        if is_set and transport in variable.transports:
            drawn.append((variable.name, value))
    return tuple(drawn)


def common_variables(wait_seconds: int) -> dict[str, str]:
    """Variables of every run: no profile of earlier runs, and a limit for each wait."""
    return {"LONGSHORE_PROFILE": "off", "LONGSHORE_TIMEOUT": str(wait_seconds)}
