"""Reads random elements of a table that is too large for one rank (index gather).

The table is distributed: each rank owns a part of its elements. One call fetches any list of
elements.

Usage: python gather.py [REQUESTS]
"""

import sys

import longshore
import numpy as np


def main(team: longshore.Team, requests: int) -> bool:
    table = longshore.Table(team, 10_000 * team.size, "int64", "cyclic")
    table.local[:] = table.indices**2
    indices = np.random.default_rng(team.rank).integers(0, len(table), requests)
    values = longshore.gather(table, indices, strategy="auto")
    right = bool(team.allreduce(int(np.array_equal(values, indices**2)), "min"))
    if team.rank == 0:
        print(f"gather: ranks={team.size} {requests=} strategy={table.strategy} verified={'yes' if right else 'no'}")
    return right


if __name__ == "__main__":
    sys.exit(not longshore.run(main, args=(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000,)))
