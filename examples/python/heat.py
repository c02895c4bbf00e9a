"""The heat equation in three dimensions, computing while halos travel: python heat.py, or mpirun -n 4 python heat.py."""

import sys

import longshore


def step(u, v, box):
    z, y, x = box
    near = (slice(s.start - 1, s.stop - 1) for s in box), (slice(s.start + 1, s.stop + 1) for s in box)
    (zl, yl, xl), (zh, yh, xh) = near
    v[box] = u[box] + 0.1 * (u[zl, y, x] + u[zh, y, x] + u[z, yl, x] + u[z, yh, x] + u[z, y, xl] + u[z, y, xh] - 6 * u[box])


def main(team, cells, steps):
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
    after, hottest = team.allreduce(float(u[halo.interior].sum())), team.allreduce(float(u[halo.interior].max()), "max")
    if team.rank == 0:
        print(f"heat on {team.size} ranks: {before:.6f} before, {after:.6f} after {steps} steps, the hottest cell has {hottest:.6f}")


if __name__ == "__main__":
    cells, steps = (int(word) for word in sys.argv[1:3] or (32, 20))
    longshore.run(main, args=(cells, steps))
