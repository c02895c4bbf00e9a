"""Jacobi steps on a grid of cells, with a halo exchange that is written by hand over MPI.

jacobi_longshore.py is the same program with Longshore in place of the exchange.

The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and a
halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z all
values are 0. Arrays have the axes x, y, z.

Usage: mpirun -n 4 python jacobi_by_hand.py 37 30 26 10 (37 x 30 x 26 cells, 10 steps)
"""

import itertools
import sys

import numpy as np
from mpi4py import MPI

WIDTH = 2  # of the halo


def make_block(domain: list[int]) -> tuple[MPI.Cartcomm, list[range]]:
    """The grid of the ranks, and the cells of this rank's block along x, y, z."""
    world = MPI.COMM_WORLD
    cart = world.Create_cart(MPI.Compute_dims(world.size, 3), periods=[True, True, False])
    block = []
    for cells, ranks, position in zip(domain, cart.dims, cart.coords, strict=True):
        if cells < ranks * WIDTH:
            raise SystemExit(f"{cells} cells are too few for {ranks} ranks: give {ranks * WIDTH} or more")
        share, rest = divmod(cells, ranks)  # With a remainder, the first ranks get one cell more.
        first = position * share + min(position, rest)
        block.append(range(first, first + share + (position < rest)))
    return cart, block


def exchange(cart: MPI.Cartcomm, u: np.ndarray) -> None:
    """Fills the halo along x, then y, then z.

    Later messages include the halo that was received before: so edges and corners need no messages
    of their own.
    """
    box = [slice(WIDTH, -WIDTH)] * 3
    for d in range(3):
        n = u.shape[d]
        outgoing = [slice(WIDTH, 2 * WIDTH), slice(n - 2 * WIDTH, n - WIDTH)]  # below and above
        incoming = [slice(0, WIDTH), slice(n - WIDTH, n)]
        requests, received = [], []
        for side, neighbour in enumerate(cart.Shift(d, 1)):
            if neighbour == MPI.PROC_NULL:
                continue
            box[d] = incoming[side]
            buffer = np.empty_like(u[tuple(box)], order="C")
            received.append((tuple(box), buffer))
            requests.append(cart.Irecv(buffer, neighbour, 1 - side))
            box[d] = outgoing[side]
            requests.append(cart.Isend(np.array(u[tuple(box)], order="C"), neighbour, side))
        MPI.Request.Waitall(requests)
        for cells, buffer in received:
            u[cells] = buffer
        box[d] = slice(None)  # the next dimension includes this halo


def shifted(u: np.ndarray, *by: int) -> np.ndarray:
    return u[tuple(slice(WIDTH + s, n - WIDTH + s) for n, s in zip(u.shape, by, strict=True))]


def step(u: np.ndarray, v: np.ndarray) -> None:
    """One step from u to v."""
    faces = sum(shifted(u, *by) for s in (-1, 1) for by in ((s, 0, 0), (0, s, 0), (0, 0, s)))
    corners = sum(shifted(u, *by) for by in itertools.product((-WIDTH, WIDTH), repeat=3))
    shifted(v, 0, 0, 0)[...] = 0.4 * shifted(u, 0, 0, 0) + 0.05 * faces + 0.0375 * corners


def main() -> None:
    *domain, steps = [int(word) for word in sys.argv[1:]] or [37, 30, 26, 10]
    cart, block = make_block(domain)
    u, v = (np.zeros([len(cells) + 2 * WIDTH for cells in block]) for _ in range(2))
    x, y, z = np.ix_(*block)
    shifted(u, 0, 0, 0)[...] = (7 * x + 13 * y + 29 * z) % 17

    exchanging = 0.0
    begin = MPI.Wtime()
    for _ in range(steps):
        before = MPI.Wtime()
        exchange(cart, u)
        exchanging += MPI.Wtime() - before
        step(u, v)
        u, v = v, u
    seconds = MPI.Wtime() - begin

    checksum = cart.allreduce(float(np.sum(shifted(u, 0, 0, 0) ** 2)))
    if cart.rank == 0:
        times = f"step={1e6 * seconds / steps:.1f} us exchange={1e6 * exchanging / steps:.1f} us"
        print(f"jacobi_by_hand: {checksum=:.9e} {times}")


main()
