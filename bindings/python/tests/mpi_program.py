"""The program that test_mpi.py starts under mpirun. Its argument names one of the functions."""

import os
import sys
from typing import Any

import longshore
import numpy as np
import pytest


def check_boxes(team: longshore.Team) -> None:
    """Pairs of rows, dealt in turn, and one box of all cells on the last rank."""
    whole = ((0, 0), (8, 5))
    pairs = longshore.BoxLayout(team, [((r, 0), (2, 5)) for r in range(2 * team.rank, 8, 2 * team.size)], whole)
    one = longshore.BoxLayout(team, [whole], whole, owners=[team.size - 1])
    for mode in ("direct", "channel"):
        rows = longshore.Boxes(pairs, fields=[[np.zeros((4, 7), "float32") for _ in pairs.mine]], mode=mode)
        all_rows = longshore.Boxes(one, width=0, dtype="float32")
        for x, ((first, _), _) in zip(rows.fields[0], pairs.mine, strict=True):
            x[rows.interior] = np.arange(first, first + 2)[:, None]
        rows.update()
        for x, ((first, _), _) in zip(rows.fields[0], pairs.mine, strict=True):
            assert x[:, 1].tolist() == [max(first - 1, 0), first, first + 1, (first + 2) % 8]
        rows.assemble("add")
        longshore.BoxCopy(rows, all_rows, mode=mode).copy()
        for x in all_rows.fields[0]:
            assert x[:, 4].tolist() == [0, 2, 4, 6, 8, 10, 12, 7]


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
    halo.exchange(fields=1, width=((0, 1), 0, 0))
    for mode in ("direct", "channel", "isend-recv", "persistent"):
        edges = longshore.Halo(team, 6 * team.size, 1, {"u": "float64", "v": "int32"}, shared={"v": 1}, mode=mode)
        v = edges.fields[1]
        v[:] = 1
        edges.assemble(np.add, fields="v")
        assert v.tolist() == [2, 2, 2, 1, 1, 1, 2, 2, 2]
    check_boxes(team)
    graph = longshore.GhostGraph(team, 2, np.arange(2 * team.size))
    for strategy in ("direct", "standard", "mpi-persistent", "auto"):
        own = np.zeros(2 + graph.ghosts, "int32")
        ghost = longshore.Ghost(graph, [own, own.astype("float64")], strategy=strategy)
        for x in ghost.fields:
            x[:2] = 2 * team.rank + np.arange(2)
        ghost.update()
        for x in ghost.fields:
            assert np.array_equal(x[2:], np.arange(2 * team.size))
        ghost.accumulate("add")
        for x in ghost.fields:
            assert np.array_equal(x[:2], (team.size + 1) * (2 * team.rank + np.arange(2)))
        ghost.assemble("maximum")
        for x in ghost.fields:
            assert np.array_equal(x[2:], (team.size + 1) * np.arange(2 * team.size))
    later, made = longshore.Ghost(graph, None), longshore.Ghost(graph)
    for turn in range(3):
        own = np.zeros(2 + graph.ghosts)
        (read,) = longshore.Ghost(graph).fields  # in memory that neighbours read
        for ghost, x in ((later, own), (made, read)):
            x[:2] = turn + 2 * team.rank + np.arange(2)
            ghost.update(x)
            assert np.array_equal(x[2:], turn + np.arange(2 * team.size))
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


def options() -> None:
    from mpi4py import MPI  # noqa: PLC0415 - only this case needs it

    with longshore.Team(MPI.COMM_WORLD, ranks_per_node=1, timeout_seconds=50, check_calls=True) as team:
        assert team.node_count == team.size
    with longshore.Team(MPI.COMM_WORLD, timeout_seconds=50) as team:
        assert team.node_count == 1
    with pytest.raises(longshore.UsageError, match="timeout_seconds"):
        longshore.Team(MPI.COMM_WORLD, timeout_seconds=-1)
    print("all options are obeyed")


def cart_grid() -> None:
    """Compares the grids of Cartesian communicators with MPI_Cart_shift. Blocks have different
    sizes."""
    from mpi4py import MPI  # noqa: PLC0415

    for dimensions in (1, 2, 3):
        for reverse in (False, True):
            shape = MPI.Compute_dims(MPI.COMM_WORLD.size, dimensions)
            periods = [d != 1 for d in range(dimensions)]
            cart = MPI.COMM_WORLD.Create_cart(shape, periods)
            axes = range(dimensions)[::-1] if reverse else range(dimensions)  # of the directions
            coordinates = cart.Get_coords(cart.rank)
            block = [0] * dimensions
            for direction, axis in enumerate(axes):
                block[axis] = 3 + (coordinates[direction] + axis) % 2
            u = np.full([n + 2 for n in block], -1, "int64")
            with longshore.Team(cart) as team:
                order = "reversed" if reverse else "same"
                halo = longshore.Halo(team, local_cells=block, fields=[u], cart=cart, cart_order=order)
                assert all(halo.cells[axis] >= 3 * halo.grid[axis] for axis in axes)
                u[halo.interior] = team.rank
                halo.exchange()
                for direction, axis in enumerate(axes):
                    assert halo.grid[axis] == shape[direction]
                    assert halo.coordinates[axis] == coordinates[direction]
                    below, above = (-1 if rank == MPI.PROC_NULL else rank for rank in cart.Shift(direction, 1))
                    step = [0] * dimensions
                    step[axis] = 1
                    assert halo.neighbour(step) == above
                    assert halo.neighbour([-s for s in step]) == below
                    middle = [1] * dimensions
                    assert u[(*middle[:axis], 0, *middle[axis + 1 :])] == below
                    assert u[(*middle[:axis], -1, *middle[axis + 1 :])] == above
            cart.Free()
    with longshore.Team(MPI.COMM_WORLD) as team:
        cart = MPI.COMM_WORLD.Create_cart([team.size], [True])
        for wrong, words in (
            ({"cart": MPI.COMM_WORLD}, "MPI_Cart_create"),
            ({"cart": cart, "periodic": True}, "the communicator decides"),
            ({"cart_order": "reversed"}, "without cart"),
            ({"cart": MPI.COMM_NULL}, "COMM_NULL"),
            ({"cart": MPI.COMM_WORLD.Create_cart([team.size, 1], [True, True])}, "2 dimensions"),
        ):
            with pytest.raises(longshore.UsageError, match=words):
                longshore.Halo(team, 4 * team.size, **wrong)
        with pytest.raises(TypeError, match="either cells"):
            longshore.Halo(team)
    print("the grids are those of MPI")


def outlives() -> None:
    from mpi4py import MPI  # noqa: PLC0415

    team = longshore.Team(MPI.COMM_WORLD)
    table = longshore.Table(team, 100)
    MPI.Finalize()
    with pytest.raises(longshore.UsageError, match="after MPI_Finalize"):
        team.barrier()
    del table, team
    print("it went on")


def raises() -> None:
    from mpi4py import MPI  # noqa: PLC0415

    team = longshore.Team(MPI.COMM_WORLD)
    longshore.Table(team, 100)
    raise RuntimeError("every rank says why")


def leaves() -> None:
    """Rank 0 comes to its end, and the others to a barrier."""
    from mpi4py import MPI  # noqa: PLC0415

    team = longshore.Team(MPI.COMM_WORLD)
    table = longshore.Table(team, 100)
    if team.rank != 0:
        team.barrier()
    del table


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
        "options": options,
        "cart_grid": cart_grid,
        "outlives": outlives,
        "raises": raises,
        "leaves": leaves,
        "fails": fails,
        "misuses": misuses,
        "views": views,
        "forks": forks,
    }
    cases[sys.argv[1]]()
