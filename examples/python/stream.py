"""Measures the memory bandwidth of all ranks with the STREAM triad, a = b + q * c.

python stream.py [ELEMENTS]
"""

import sys

import longshore


def main(team: longshore.Team, elements: int) -> bool:
    result = longshore.stream(team, "triad", elements)
    if team.rank == 0:
        speed = f"{result.bandwidth:.1f} best={result.best_bandwidth:.1f}"
        print(f"stream: ranks={team.size} gigabytes_per_second={speed} verified={'yes' if result.verified else 'no'}")
    return result.verified


if __name__ == "__main__":
    sys.exit(not longshore.run(main, args=(int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 22,)))
