"""The program that test_mpi.py starts under mpirun. Its argument names one of the functions."""

import os
import sys
from typing import Any

import longshore
import numpy as np


def check_everything(team: longshore.Team) -> None:
    """Checks all patterns on the ranks of the team."""
    size = 301
    for distribution in ("block", "cyclic"):
        table = longshore.Table(team, size, "float64", distribution)
        table.local[:] = 0.5 * table.indices
        indices = np.random.default_rng(team.rank).integers(0, size, 500)
        for strategy in ("agp", "exstack", "conveyor"):
            assert np.array_equal(longshore.gather(table, indices, strategy=strategy), 0.5 * indices)
        counts = longshore.Table(team, size, "int64", distribution)
        longshore.histogram(counts, indices, strategy="exstack")
        assert team.allreduce(int(counts.local.sum())) == 500 * team.size
    halo = longshore.Halo(team, (6, 7, 8), fields=2)
    u, _ = halo.fields
    cells = np.arange(6 * 7 * 8.0).reshape(6, 7, 8)
    u[halo.interior] = cells[halo.owned]
    halo.exchange(u)
    axes = [np.arange(s.start - 1, s.stop + 1) % n for s, n in zip(halo.owned, cells.shape, strict=True)]
    assert np.array_equal(u, cells[np.ix_(*axes)])
    keys = np.random.default_rng(team.rank).normal(size=200)
    mine = longshore.sort(team, keys)
    assert team.allreduce(len(mine)) == 200 * team.size
    assert np.isclose(team.allreduce(float(mine.sum())), team.allreduce(float(keys.sum())))
    if team.rank == 0:
        print(f"all right on {team.size} ranks of {team.transport}")


def run() -> None:
    longshore.run(check_everything, 2)  # the launcher decides the number of ranks
    longshore.run(check_everything)


def runs() -> None:
    for _ in range(3):  # MPI starts only once
        ranks, transport = longshore.run(lambda team: (team.allreduce(1), team.transport))
    print(f"three runs on {ranks} ranks of {transport}")


def world() -> None:
    check_everything(longshore.world())
    assert longshore.world().size > 1


def between_halves(world: Any) -> Any:
    low = world.rank == 0
    half = world.Split(0 if low else 1)
    return half.Create_intercomm(0, world, 1 if low else 0)


def communicator() -> None:
    from mpi4py import MPI  # noqa: PLC0415 - only this case needs it

    for wrong, words in ((MPI.COMM_NULL, "COMM_NULL"), (between_halves(MPI.COMM_WORLD), "intercommunicator")):
        said = ""
        try:
            longshore.Team(wrong)
        except longshore.UsageError as error:
            said = str(error)
        assert words in said
    with longshore.Team(MPI.COMM_WORLD) as team:
        check_everything(team)
    part = MPI.COMM_WORLD.Split(MPI.COMM_WORLD.rank % 2)
    kept = longshore.Team(part)  # ends with the program
    part.Free()
    check_everything(kept)
    assert kept.size < MPI.COMM_WORLD.size
    assert MPI.COMM_WORLD.allreduce(1) == MPI.COMM_WORLD.size


def fails() -> None:
    def main(team: longshore.Team) -> None:
        team.barrier()
        if team.rank == 1:
            raise RuntimeError("rank 1 says why")
        longshore.gather(longshore.Table(team, 10), np.arange(3))

    longshore.run(main)
    print("not reached")


def misuses() -> None:
    def main(team: longshore.Team) -> None:
        if team.rank == 1:
            team.allreduce(1, "product")
        team.barrier()

    longshore.run(main)


def views() -> None:
    kept: list[Any] = []

    def main(team: longshore.Team) -> Any:
        table = longshore.Table(team, 1000, "int64")
        table.local[:] = table.indices
        if team.rank != 1:
            kept.append(table)
        longshore.Table(team, 10)
        return table.local[:3]

    mine = longshore.run(main)
    longshore.run(main)
    assert np.array_equal(mine, mine[0] + np.arange(3))
    assert all(np.array_equal(table.local, table.indices) for table in kept)
    print("views are still there")


def forks() -> None:
    team = longshore.world()
    child = os.fork()
    if child == 0:
        try:
            team.barrier()
        except longshore.UsageError:
            print("the child was refused", flush=True)
        return  # the child process ends and must not finalise MPI
    assert os.waitpid(child, 0)[1] == 0
    assert team.allreduce(1) == team.size
    print("all right after a fork")


if __name__ == "__main__":
    cases = {
        "run": run,
        "runs": runs,
        "world": world,
        "communicator": communicator,
        "fails": fails,
        "misuses": misuses,
        "views": views,
        "forks": forks,
    }
    cases[sys.argv[1]]()
