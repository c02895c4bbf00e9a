"""How often each byte pair occurs in a file, read by all ranks together: python histogram.py FILE."""

import sys
from pathlib import Path

import longshore
import numpy as np


def main(team: longshore.Team, path: str) -> None:
    pairs = np.memmap(path, dtype="uint16", mode="r", shape=Path(path).stat().st_size // 2)
    first, last = (len(pairs) * r // team.size for r in (team.rank, team.rank + 1))
    counts = longshore.Table(team, 1 << 16, "int64", "cyclic")
    longest = team.allreduce(last - first, "max")
    for begin in range(0, longest, 1 << 20):  # as many turns on all ranks, the last ones perhaps with nothing
        piece = pairs[min(first + begin, last) : min(first + begin + (1 << 20), last)]
        longshore.histogram(counts, piece.astype("int64"), strategy="direct" if team.node_count == 1 else "exstack")
    mine = counts.local
    most = team.allreduce(int(mine.max(initial=0)), "max")
    total = team.allreduce(int(mine.sum()))
    if team.rank == 0:
        print(f"{total} pairs of bytes on {team.size} ranks; the most frequent occurs {most} times")


if __name__ == "__main__":
    longshore.run(main, args=(sys.argv[1],))
