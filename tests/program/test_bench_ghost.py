"""Pattern ghost of longshore-bench: meshes, records, placements and errors."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from bench_runs import (
    BENCH,
    THREADS_FIRST,
    TRANSPORTS,
    Record,
    Run,
    of_kind,
    own_lines,
    read_records,
    thorough,
)

MPI_STRATEGIES = ("mpi-waitall", "mpi-persistent", "mpi-neighbor")
STRATEGIES = ("standard", "direct", "node-aware-2", "node-aware", *MPI_STRATEGIES, "auto")
MESHES = "random,band,hexahedra,tetrahedra"
# A ring of 12 rows, in which row 1 also has an entry in each column.
MATRIX = (
    "%%MatrixMarket matrix coordinate real general\n% a ring and a dense row\n12 12 24\n"
    + "".join(f"{i + 1} {(i + 1) % 12 + 1} -1\n" for i in range(12))
    + "".join(f"1 {i + 1} 2.5e0\n" for i in range(12))
)


def results_of(path: Path) -> list[Record]:
    return [result for result in of_kind(read_records(path), "result") if "skipped" not in result]


@pytest.mark.parametrize("transport", THREADS_FIRST)
@pytest.mark.parametrize(
    ("ranks", "per_node"), [(4, 2), thorough(1, 0), thorough(2, 1), thorough(3, 0), thorough(4, 1), thorough(7, 3)]
)
def test_every_strategy_is_verified_on_every_mesh(
    run: Run, tmp_path: Path, transport: str, ranks: int, per_node: int
) -> None:
    options = ["--strategy", ",".join(STRATEGIES), "--mesh", MESHES, "--operation", "update,accumulate"]
    options += ["--elements", "200", "--ghosts", "70", "--fields", "2", "--repetitions", "2", "--json", "r"]
    options += ["--ranks-per-node", str(per_node)] if per_node else []
    done = run(BENCH, "ghost", *options, transport=transport, ranks=ranks)
    assert done.returncode == 0, done.stderr
    assert own_lines(done.stderr) == []
    results = results_of(tmp_path / "r")
    assert all(result["verified"] is True for result in results)
    strategies = set(STRATEGIES) - (set(MPI_STRATEGIES) if transport == "threads" else set())
    meshes = MESHES.split(",") if ranks > 1 else ["random"]
    found = {(r["variant"]["strategy"], r["variant"]["mesh"], r["variant"]["operation"]) for r in results}
    assert found == {(s, m, o) for s in strategies for m in meshes for o in ("update", "accumulate")}
    for result in results:
        assert result["strategy"] in STRATEGIES[:-1]
        assert result["metrics"]["ghost_bandwidth"]["value"] > 0
        assert result["metrics"]["line_bandwidth"]["value"] > 0
        assert result["metrics"]["remake_seconds"]["value"] > 0
        ghosts = result["mesh"]["ghosts"]["mean"] * ranks
        assert result["traffic"]["payload_bytes"] == pytest.approx(2 * 8 * ghosts)


@pytest.mark.parametrize("transport", THREADS_FIRST)
@pytest.mark.parametrize("kind", [thorough("float"), "double", thorough("int32"), "int64"])
def test_every_type_and_memory_is_verified(run: Run, tmp_path: Path, kind: str, transport: str) -> None:
    options = ["--type", kind, "--memory", "shared,own", "--operation", "update,accumulate", "--reach", "1,2"]
    options += ["--mesh", "random,tetrahedra", "--elements", "300", "--ghosts", "50", "--fields", "1,3"]
    done = run(BENCH, "ghost", *options, "--repetitions", "1", "--json", "r", transport=transport, ranks=4)
    assert done.returncode == 0, done.stderr
    results = results_of(tmp_path / "r")
    assert len(results) == 2 * 2 * 2 * 2 * 2
    assert all(result["verified"] is True for result in results)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("file", ["ring.mtx", "ring.mtx.gz"])
def test_ghosts_are_those_of_the_matrix_of_a_file(run: Run, tmp_path: Path, transport: str, file: str) -> None:
    (tmp_path / "ring.mtx").write_text(MATRIX)
    (tmp_path / "ring.mtx.gz").write_bytes(gzip.compress(MATRIX.encode()))
    options = ["--mesh", "file", "--file", file, "--operation", "update,accumulate", "--json", "r"]
    done = run(BENCH, "ghost", *options, "--repetitions", "1", transport=transport, ranks=3)
    assert done.returncode == 0, done.stderr
    for result in results_of(tmp_path / "r"):
        assert result["verified"] is True
        assert result["variant"]["file"] == file
        assert "elements" not in result["variant"]
        # Rank 0 needs the 8 other columns; ranks 1 and 2 need the next row of the ring.
        assert result["mesh"]["elements"] == {"max": 4, "mean": 4}
        assert result["mesh"]["ghosts"]["max"] == 8
        assert result["mesh"]["ghosts"]["mean"] == pytest.approx(10 / 3)
        assert result["traffic"]["payload_bytes"] == 10 * 8


def test_a_good_placement_keeps_ghosts_on_their_node(run: Run, tmp_path: Path) -> None:
    options = ["--mesh", "hexahedra", "--elements", "64", "--placement", "random,linear,auto", "--ranks-per-node", "4"]
    done = run(BENCH, "ghost", *options, "--repetitions", "1", "--json", "r", transport="threads", ranks=16)
    assert done.returncode == 0, done.stderr
    results = results_of(tmp_path / "r")
    assert all(result["verified"] is True for result in results)
    left = {result["variant"]["placement"]: result["mesh"]["offnode_fraction"] for result in results}
    assert left["auto"] <= left["linear"] < left["random"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--mesh", "file"], "mesh file needs the name of a file: --file NAME"),
        (["--mesh", "file", "--file", "none.mtx"], "none.mtx: the file cannot be read"),
        (["--mesh", "file", "--file", "none.mtx.gz"], "none.mtx.gz: the file cannot be read"),
        (["--mesh", "file", "--file", "torn.mtx.gz"], "torn.mtx.gz: gzip cannot unpack it"),
        (["--mesh", "file", "--file", "bad.mtx"], "bad.mtx, line 5: column 13 is not in 1 to 12"),
        (["--mesh", "file", "--file", "diagonal.mtx"], "no part of this mesh has ghosts"),
        (["--file", "ring.mtx"], "--file is for --mesh file"),
        (["--mesh", "band", "--reach", "2"], "--reach is for the meshes random, hexahedra and tetrahedra"),
        (["--mesh", "bnad"], "'bnad' is not one of random, band, hexahedra, tetrahedra, file; did you mean 'band'?"),
        (["--ghosts", "-1"], "'-1' is not a whole number from 1"),
        (["--elements", "0"], "'0' is not a whole number from 1"),
        (["--strategy", "mpi-waitall"], "strategy mpi-waitall is a sequence of MPI calls"),
    ],
)
def test_wrong_requests_are_refused_with_a_reason(run: Run, tmp_path: Path, options: list[str], told: str) -> None:
    (tmp_path / "torn.mtx.gz").write_bytes(gzip.compress(MATRIX.encode())[:-10])
    (tmp_path / "bad.mtx").write_text(MATRIX.replace("2 3 -1", "2 13 -1"))
    (tmp_path / "ring.mtx").write_text(MATRIX)
    (tmp_path / "diagonal.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n1 1\n")
    done = run(BENCH, "ghost", *options, ranks=2)
    assert done.returncode == 2
    assert told in done.stdout + done.stderr


def test_meshes_without_ghosts_on_one_rank_are_skipped(run: Run, tmp_path: Path) -> None:
    done = run(BENCH, "ghost", "--mesh", "band,random", "--ghosts", "10", "--elements", "9", "--json", "r", ranks=1)
    assert done.returncode == 0, done.stderr
    assert [result["variant"]["mesh"] for result in results_of(tmp_path / "r")] == ["random"]
    (skipped,) = [r for r in of_kind(read_records(tmp_path / "r"), "result") if "skipped" in r]
    assert skipped["skipped"] == "mesh band has no ghosts on one rank: use more ranks"
