"""Communication patterns: gather, scatter, update, halo, boxes, ghost, sort, stream.

Ranks are threads of this process, or processes over MPI. The same script runs on both::

    import longshore

    def main(team):
        table = longshore.Table(team, 1_000_000, "int64", "cyclic")
        table.local[:] = team.rank
        ...

    longshore.run(main)          # python script.py, or mpirun -n 4 python script.py

In a notebook, ``longshore.Table(None, n)`` uses a team of one rank. The guide to this package is
docs/reference/python.md.
"""

from __future__ import annotations

from importlib.metadata import version as _version

from longshore._core import (
    BoxCopy,
    Boxes,
    BoxLayout,
    Ghost,
    GhostGraph,
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
    "BoxCopy",
    "BoxLayout",
    "Boxes",
    "DeadlineError",
    "Error",
    "Ghost",
    "GhostGraph",
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
