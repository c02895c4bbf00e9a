"""The heat equation in three dimensions, computing while halos travel: python heat.py, or under mpirun."""

import sys

import longshore
import numpy as np


def step(u: np.ndarray, v: np.ndarray, box: tuple[slice, ...]) -> None:
    v[box] = 0.4 * u[box]
    for axis in range(3):
        for shift in (-1, 1):
            near = slice(box[axis].start + shift, box[axis].stop + shift)
            v[box] += 0.1 * u[(*box[:axis], near, *box[axis + 1 :])]


def main(team: longshore.Team, cells: int, steps: int) -> None:
    halo = longshore.Halo(team, (cells, cells, cells), width=1, fields=2, reach="faces")
    u, v = halo.fields
    u[halo.interior] = team.rank == 0  # the block of rank 0 is hot
    before = team.allreduce(float(u[halo.interior].sum()))
    for _ in range(steps):
        halo.start(u)
        step(u, v, halo.inner)
        halo.wait()
        for box in halo.shell:
            step(u, v, box)
        u, v = v, u
    after = team.allreduce(float(u[halo.interior].sum()))
    if team.rank == 0:
        print(f"heat on {team.size} ranks: {before:.6f} before, {after:.6f} after {steps} steps")


if __name__ == "__main__":
    longshore.run(main, args=(32, 20) if len(sys.argv) < 3 else (int(sys.argv[1]), int(sys.argv[2])))
