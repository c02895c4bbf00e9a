"""What bandwidth the memory has, for each kernel of STREAM: python stream.py [ELEMENTS]."""

import sys

import longshore


def main(team: longshore.Team, elements: int) -> None:
    for kernel in ("copy", "scale", "add", "triad"):
        result = longshore.stream(team, kernel, elements)
        if team.rank == 0:
            print(f"{kernel:6} {result.bandwidth:8.2f} GB/s per node, best {result.best_bandwidth:8.2f}, "
                  f"{'verified' if result.verified else 'WRONG'}")  # fmt: skip


if __name__ == "__main__":
    longshore.run(main, args=(int(sys.argv[1]) if len(sys.argv) > 1 else 1 << 22,))
