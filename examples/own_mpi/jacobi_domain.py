"""The common parts of jacobi_by_hand.py and jacobi_longshore.py: a block, a step, the result.

The two programs differ in the halo exchange.

The ranks form a grid of MPI, which is periodic along x and y. Each rank has a block of cells, and
a halo of 2 cells around it. The stencil reads corners of the halo, too. Beyond the borders in z all
values are 0. Arrays have the axes x, y, z.
"""

import itertools

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


def make_cells(block: list[range]) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays with halos: the values before the first step, and zeros."""
    u, v = (np.zeros([len(cells) + 2 * WIDTH for cells in block]) for _ in range(2))
    x, y, z = np.ix_(*block)
    shifted(u, 0, 0, 0)[...] = (7 * x + 13 * y + 29 * z) % 17
    return u, v


def shifted(u: np.ndarray, *by: int) -> np.ndarray:
    return u[tuple(slice(WIDTH + s, n - WIDTH + s) for n, s in zip(u.shape, by, strict=True))]


def step(u: np.ndarray, v: np.ndarray) -> None:
    """One step from u to v."""
    faces = sum(shifted(u, *by) for s in (-1, 1) for by in ((s, 0, 0), (0, s, 0), (0, 0, s)))
    corners = sum(shifted(u, *by) for by in itertools.product((-WIDTH, WIDTH), repeat=3))
    shifted(v, 0, 0, 0)[...] = 0.4 * shifted(u, 0, 0, 0) + 0.05 * faces + 0.0375 * corners


def print_result(program: str, cart: MPI.Cartcomm, u: np.ndarray, seconds: float, exchanging: float) -> None:
    """Prints the sum of all squares, and the mean seconds of a step and of an exchange."""
    checksum = cart.allreduce(float(np.sum(shifted(u, 0, 0, 0) ** 2)))
    if cart.rank == 0:
        print(f"{program}: {checksum=:.9e} step={1e6 * seconds:.1f} us exchange={1e6 * exchanging:.1f} us")
