"""Communication patterns of parallel programs: gather, scatter, histogram, halo exchange, sort and
stream.

Ranks are threads of this process or processes of MPI; the same script runs on both::

    import longshore

    def main(team):
        table = longshore.Table(team, 1_000_000, "int64", "cyclic")
        table.local[:] = team.rank
        ...

    longshore.run(main)          # python script.py, or mpirun -n 4 python script.py

In a notebook, ``longshore.Table(None, n)`` is on a team of this one rank. docs/reference/python.md
says more.
"""

from __future__ import annotations

from importlib.metadata import version as _version

from longshore._core import (
    Halo,
    StreamResult,
    Table,
    Team,
    gather,
    histogram,
    run,
    scatter,
    sort,
    stream,
    transports,
    update,
    world,
)
from longshore.errors import (
    DeadlineError,
    Error,
    OutOfMemoryError,
    PeerFailedError,
    TransportError,
    UnsupportedError,
    UsageError,
)
from longshore.frames import results

__version__ = _version("longshore")

__all__ = [
    "DeadlineError",
    "Error",
    "Halo",
    "OutOfMemoryError",
    "PeerFailedError",
    "StreamResult",
    "Table",
    "Team",
    "TransportError",
    "UnsupportedError",
    "UsageError",
    "gather",
    "histogram",
    "results",
    "run",
    "scatter",
    "sort",
    "stream",
    "transports",
    "update",
    "world",
]
