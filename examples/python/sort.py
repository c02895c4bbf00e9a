"""Sorts random numbers that are distributed over the ranks, with the rank that drew each number.

After the sort, rank 0 holds the lowest numbers, rank 1 the next numbers, and so on.

Usage: python sort.py [NUMBERS]
"""

import sys

import longshore
import numpy as np


def main(team: longshore.Team, numbers: int) -> bool:
    keys = np.random.default_rng(team.rank).normal(size=numbers)
    mine, origins = longshore.sort(team, keys, np.full(numbers, team.rank))
    ends = team.allgather(np.array([mine[0], mine[-1]] if len(mine) else [np.nan, np.nan])).ravel()
    in_order = bool(np.all(np.diff(mine) >= 0) and np.all(np.diff(ends[~np.isnan(ends)]) >= 0))
    pairs_are_whole = np.isclose(team.allreduce(float(mine @ origins)), team.allreduce(float(keys.sum() * team.rank)))
    all_there = team.allreduce(len(mine)) == team.size * numbers
    right = bool(team.allreduce(int(in_order and pairs_are_whole and all_there), "min"))
    if team.rank == 0:
        print(f"sort: ranks={team.size} numbers={team.size * numbers} verified={'yes' if right else 'no'}")
    return right


if __name__ == "__main__":
    sys.exit(not longshore.run(main, args=(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000,)))
