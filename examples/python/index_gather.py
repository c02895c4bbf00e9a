"""Random elements of a table that is spread over the ranks, by each strategy: python index_gather.py [REQUESTS]."""

import sys

import longshore
import numpy as np


def main(team: longshore.Team, requests: int) -> None:
    table = longshore.Table(team, 10_000 * team.size, "int64", "cyclic")
    table.local[:] = 7 * table.indices
    indices = np.random.default_rng(team.rank).integers(0, len(table), requests)
    out = np.empty_like(indices)
    for strategy in ("agp", "exstack", "exstack2", "conveyor", "direct"):
        longshore.gather(table, indices, out, strategy=strategy)  # makes the plan
        team.barrier()
        began = team.now()
        longshore.gather(table, indices, out, strategy=strategy)
        seconds = team.allreduce(team.now() - began, "max")
        right = team.allreduce(int(np.array_equal(out, 7 * indices)), "min")
        rate = team.size * requests / seconds / 1e6
        if team.rank == 0:
            print(f"{strategy:9} {rate:8.1f} million elements per second, {'right' if right else 'WRONG'}")


if __name__ == "__main__":
    longshore.run(main, args=(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000,))
