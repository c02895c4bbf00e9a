"""Counts the words of 16 bits in a file that all ranks read together.

Each rank reads one part of the file. The 65536 counters are a distributed table, and one call adds
the words of the rank to counters on all ranks.

Usage: python histogram.py [FILE]
"""

import sys
from pathlib import Path

import longshore
import numpy as np


def main(team: longshore.Team, path: str) -> bool:
    words = np.memmap(path, dtype="uint16", mode="r", shape=Path(path).stat().st_size // 2)
    first, last = (len(words) * r // team.size for r in (team.rank, team.rank + 1))
    counts = longshore.Table(team, 1 << 16, "int64", "cyclic")
    longest = team.allreduce(last - first, "max")
    for begin in range(0, longest, 1 << 20):  # The call is collective, so ranks may call without words.
        piece = words[min(first + begin, last) : min(first + begin + (1 << 20), last)]
        longshore.histogram(counts, piece.astype("int64"), strategy="direct" if team.node_count == 1 else "exstack")
    most = team.allreduce(int(counts.local.max(initial=0)), "max")
    right = team.allreduce(int(counts.local.sum())) == len(words)
    if team.rank == 0:
        print(f"histogram: ranks={team.size} words={len(words)} {most=} verified={'yes' if right else 'no'}")
    return right


if __name__ == "__main__":
    sys.exit(not longshore.run(main, args=(sys.argv[1] if len(sys.argv) > 1 else sys.executable,)))
