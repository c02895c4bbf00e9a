"""Jacobi steps on a grid of cells, with a halo exchange that is written by hand over MPI.

jacobi_longshore.py is the same program with Longshore in place of the exchange.

Usage: mpirun -n 4 python jacobi_by_hand.py 37 30 26 10 (37 x 30 x 26 cells, 10 steps)
"""

import sys

import numpy as np
from jacobi_domain import WIDTH, make_block, make_cells, print_result, step
from mpi4py import MPI


def exchange(cart: MPI.Cartcomm, u: np.ndarray) -> None:
    """Fills the halo along x, then y, then z.

    Later messages include the halo that was received before, so edges and corners need no messages
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


def main() -> None:
    *domain, steps = [int(word) for word in sys.argv[1:]] or [37, 30, 26, 10]
    cart, block = make_block(domain)
    u, v = make_cells(block)

    exchanging = 0.0
    begin = MPI.Wtime()
    for _ in range(steps):
        before = MPI.Wtime()
        exchange(cart, u)
        exchanging += MPI.Wtime() - before
        step(u, v)
        u, v = v, u
    seconds = MPI.Wtime() - begin

    print_result("jacobi_by_hand", cart, u, seconds / steps, exchanging / steps)


main()
