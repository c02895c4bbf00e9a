"""Numbers that no rank sees all of, sorted, each with where it came from: python distributed_sort.py [NUMBERS]."""

import sys

import longshore
import numpy as np


def main(team: longshore.Team, numbers: int) -> None:
    keys = np.random.default_rng(team.rank).normal(size=numbers)
    came_from = np.full(numbers, team.rank)
    mine, ranks = longshore.sort(team, keys, came_from)
    ends = team.allgather(np.array([mine[0], mine[-1]] if len(mine) else [np.nan, np.nan])).ravel()
    ends = ends[~np.isnan(ends)]
    in_order = bool(np.all(np.diff(mine) >= 0) and np.all(np.diff(ends) >= 0))
    right = team.allreduce(int(in_order), "min")
    own = team.allreduce(int((ranks == team.rank).sum()))
    if team.rank == 0:
        verdict = "sorted" if right else "NOT sorted"
        print(f"{team.size * numbers} numbers on {team.size} ranks: {verdict}, {own} stayed where they were")


if __name__ == "__main__":
    longshore.run(main, args=(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000,))
