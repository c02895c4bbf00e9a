"""Jacobi steps on a grid of cells, with Longshore in place of the exchange of jacobi_by_hand.py.

The rest of the program, in jacobi_domain.py, is the same.

Usage: mpirun -n 4 python jacobi_longshore.py 37 30 26 10 (37 x 30 x 26 cells, 10 steps)
"""

import sys

import longshore
from jacobi_domain import WIDTH, make_block, make_cells, print_result, step
from mpi4py import MPI


def main() -> None:
    *domain, steps = [int(word) for word in sys.argv[1:]] or [37, 30, 26, 10]
    cart, block = make_block(domain)
    u, v = make_cells(block)

    team = longshore.Team(cart)
    local_cells = [len(cells) for cells in block]
    halo = longshore.Halo(team, local_cells=local_cells, cart=cart, fields=[u, v], width=WIDTH)
    exchanging = 0.0
    begin = MPI.Wtime()
    for _ in range(steps):
        before = MPI.Wtime()
        halo.exchange(u)
        exchanging += MPI.Wtime() - before
        step(u, v)
        u, v = v, u
    seconds = MPI.Wtime() - begin
    team.close()  # also frees the halo

    print_result("jacobi_longshore", cart, u, seconds / steps, exchanging / steps)


main()
