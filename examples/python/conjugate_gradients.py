"""Solves A x = b by conjugate gradients, for a sparse matrix in a Matrix Market file.

Each rank owns a block of rows, and the same elements of all vectors. A row needs the vector
elements of its columns. Elements that other ranks own are the ghosts of the rank. A ghost exchange
copies the ghosts before each product. Meanwhile the rank multiplies the entries that need no ghost.

Verification: the residual b - A x, and the known solution.

Usage: python conjugate_gradients.py [FILE.mtx], or mpirun -n 4 python conjugate_gradients.py
"""

import io
import sys

import longshore
import numpy as np


def poisson(n: int = 24) -> str:
    """A Matrix Market file: the Laplacian of a square of n x n cells, numbered without order."""
    row = (1 + np.arange(n * n) * 229 % (n * n)).reshape(n, n)
    links = [(row[:-1], row[1:]), (row[:, :-1], row[:, 1:])]
    lines = [f"{max(pair)} {min(pair)} -1" for a, b in links for pair in zip(a.flat, b.flat, strict=True)]
    lines += [f"{i} {i} 4" for i in row.flat]
    return f"%%MatrixMarket matrix coordinate real symmetric\n{n * n} {n * n} {len(lines)}\n" + "\n".join(lines)


def read_matrix(text: str) -> tuple[int, np.ndarray, np.ndarray, np.ndarray]:
    """The number of rows, and the rows, columns and values of all entries."""
    head = text[: text.index("\n")]
    if not head.startswith("%%MatrixMarket matrix coordinate"):
        raise ValueError(f"no Matrix Market file of a sparse matrix: {head}")
    table = np.loadtxt(io.StringIO(text), comments="%")
    size = int(table[0, 0])
    rows, columns, values = table[1:, 0].astype(int) - 1, table[1:, 1].astype(int) - 1, table[1:, 2]
    if "symmetric" in head:
        low = rows != columns
        rows, columns = np.append(rows, columns[low]), np.append(columns, rows[low])
        values = np.append(values, values[low])
    return size, rows, columns, values


def main(team: longshore.Team, text: str, is_poisson: bool) -> bool:
    size, rows, columns, values = read_matrix(text)
    first, last = size * team.rank // team.size, size * (team.rank + 1) // team.size
    mine = (rows >= first) & (rows < last)
    rows, columns, values, n = rows[mine] - first, columns[mine], values[mine], last - first

    # The place of a column in a vector of this rank: the elements that it owns, then the ghosts.
    is_owned = (columns >= first) & (columns < last)
    ghosts, numbers = np.unique(columns[~is_owned], return_inverse=True)
    places = columns - first
    places[~is_owned] = n + numbers
    graph = longshore.GhostGraph(team, n, ghosts)
    plan = longshore.Ghost(graph, accumulates=False)
    [p] = plan.fields

    def multiply(entries: np.ndarray) -> np.ndarray:
        return np.bincount(rows[entries], values[entries] * p[places[entries]], minlength=n)

    def product() -> np.ndarray:
        plan.start_update()
        q = multiply(is_owned)
        plan.wait()
        q += multiply(~is_owned)
        return q

    def dot(v: np.ndarray, w: np.ndarray) -> float:
        return team.allreduce(float(v @ w))

    def solution(indices: np.ndarray) -> np.ndarray:
        return np.sin(0.1 * indices) + 2

    b: np.ndarray = np.bincount(rows, values * solution(columns), minlength=n)
    x, r = np.zeros(n), b.copy()
    p[:n] = b
    bb = rr = dot(b, b)
    steps = 0
    while rr > 1e-24 * bb and steps < 10 * size:
        q = product()
        alpha = rr / dot(p[:n], q)
        x += alpha * p[:n]
        r -= alpha * q
        before, rr = rr, dot(r, r)
        p[:n] = r + rr / before * p[:n]
        steps += 1

    p[:n] = x
    r = b - product()
    residual = (dot(r, r) / bb) ** 0.5
    error = team.allreduce(float(np.abs(x - solution(np.arange(first, last))).max(initial=0)), "max")
    right = residual < 1e-9 and (error < 1e-9 or not is_poisson)
    if team.rank == 0:
        print(
            f"conjugate_gradients: ranks={team.size} rows={size} {steps=} {residual=:.1e} "
            f"verified={'yes' if right else 'no'}"
        )
    return right


if __name__ == "__main__":
    file = open(sys.argv[1], encoding="utf-8").read() if len(sys.argv) > 1 else poisson()  # noqa: PTH123, SIM115
    sys.exit(not longshore.run(main, args=(file, len(sys.argv) == 1)))
