"""Solves the heat equation on a periodic cube, on any number of ranks.

Each rank owns a box of cells. A cell needs its six neighbours, and some neighbours lie on other
ranks. A halo exchange copies those cells into a border around the box. Meanwhile the rank computes
the inner cells, which need no border.

Verification: a cosine wave keeps its shape, and its height falls by a known factor per step.

Usage: python heat.py, or mpirun -n 4 python heat.py
"""

import longshore
import numpy as np


def step(u: np.ndarray, v: np.ndarray, box: tuple[slice, ...]) -> None:
    near = [(*box[:d], slice(box[d].start + s, box[d].stop + s), *box[d + 1 :]) for d in range(3) for s in (-1, 1)]
    v[box] = 0.4 * u[box] + 0.1 * sum(u[shifted] for shifted in near)


def main(team: longshore.Team, n: int = 32, steps: int = 50) -> bool:
    halo = longshore.Halo(team, cells=(n, n, n), fields=2, algorithm="auto", reach="faces")
    wave = halo.fields[0][halo.interior] = np.einsum("i,j,k", *(np.cos(2 * np.pi / n * np.r_[o]) for o in halo.owned))
    for u, v in [halo.fields, halo.fields[::-1]] * (steps // 2):
        halo.start(u)
        step(u, v, halo.inner)
        halo.wait()
        for box in halo.shell:
            step(u, v, box)
    kept = (0.4 + 0.6 * np.cos(2 * np.pi / n)) ** steps
    error = team.allreduce(float(np.abs(halo.fields[0][halo.interior] - kept * wave).max()), "max")
    if team.rank == 0:
        print(f"heat: ranks={team.size} {steps=} {error=:.1e} verified={'yes' if error < 1e-9 else 'no'}")
    return error < 1e-9


raise SystemExit(not longshore.run(main))
