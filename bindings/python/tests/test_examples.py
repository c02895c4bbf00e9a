"""The examples and the docstrings, as a user runs them, and the same scripts over MPI."""

from __future__ import annotations

import doctest
import importlib.util
import os
import pydoc
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import longshore
import numpy as np
import pytest

REPOSITORY = Path(__file__).resolve().parents[3]
EXAMPLES = REPOSITORY / "examples" / "python"
MPI_RANKS = 3


def documented() -> Iterator[tuple[str, Any]]:
    for name in longshore.__all__:
        thing = getattr(longshore, name)
        yield name, thing
        if isinstance(thing, type):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value


def test_docstrings_say_what_is_so() -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for name, thing in documented():
        found = doctest.DocTestParser().get_doctest(
            thing.__doc__ or "", {"longshore": longshore, "np": np}, name, None, 0
        )
        runner.run(found)
    assert runner.failures == 0
    assert runner.tries >= 25


def test_everything_public_has_a_docstring_and_help_shows_the_signature() -> None:
    assert [name for name, thing in documented() if not thing.__doc__] == []
    text = pydoc.render_doc(longshore.gather, renderer=pydoc.plaintext)
    assert (
        "gather(table: Table, indices: numpy.ndarray, out: numpy.ndarray | None = None, *, strategy: str = 'auto'"
        in text
    )


def run_script(command: list[str], **more: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "LONGSHORE_TRANSPORT"} | more
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def mpirun(script: Path, *arguments: str) -> list[str]:
    if "mpi" not in longshore.transports():
        pytest.skip("this longshore was built without MPI")
    launcher = shutil.which("mpirun")
    if launcher is None:
        pytest.skip("mpirun is not in PATH")
    told = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False).stdout
    flags = ["--oversubscribe", "--bind-to", "none"] if "Open MPI" in told or "OpenRTE" in told else []
    return [launcher, "-n", str(MPI_RANKS), *flags, sys.executable, str(script), *arguments]


ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_mpi_yield_when_idle": "1"}


@pytest.fixture
def big_file(tmp_path: Path) -> Path:
    path = tmp_path / "numbers"
    (np.arange(50_000) % 7).astype("uint16").tofile(path)
    return path


EXPECTED = {
    "histogram.py": r"50000 pairs of bytes on RANKS ranks; the most frequent occurs 7143 times",
    "distributed_sort.py": r"numbers on RANKS ranks: sorted, \d+ stayed",
    "index_gather.py": r"(\w+ +[\d.]+ million elements per second, right\n){5}",
    "stream.py": r"(\w+ +[\d.]+ GB/s per node, best +[\d.]+, verified\n){4}",
}
ARGUMENTS = {"distributed_sort.py": ["5000"], "index_gather.py": ["2000"], "stream.py": ["20000"]}


@pytest.mark.parametrize(
    ("example", "ranks"),
    [(example, ranks) for example in sorted(EXPECTED) for ranks in ("1", "4")]
    + [
        ("distributed_sort.py", "mpi")
    ],  # heat.py is started by test_packages.py, and what the others do by mpi_program.py
)
def test_examples_do_what_they_say(example: str, ranks: str, big_file: Path) -> None:
    arguments = ARGUMENTS.get(example, [str(big_file)])
    script = EXAMPLES / example
    if ranks == "mpi":
        out = run_script(mpirun(script, *arguments), **ROOT)
        ranks = str(MPI_RANKS)
    else:
        out = run_script([sys.executable, str(script), *arguments], LONGSHORE_RANKS=ranks)
    assert re.search(EXPECTED[example].replace("RANKS", ranks), out), out


def test_the_list_of_examples_is_whole() -> None:
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted([*EXPECTED, "heat.py"])


def test_heat_is_the_same_on_any_number_of_ranks() -> None:
    spec = importlib.util.spec_from_file_location("heat", EXAMPLES / "heat.py")
    assert spec is not None
    assert spec.loader is not None
    heat = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(heat)
    grid = np.zeros((8, 9, 10))

    def main(team: longshore.Team) -> None:
        halo = longshore.Halo(team, grid.shape, fields=2, reach="faces")
        u, v = halo.fields
        start = np.random.default_rng(0).random(grid.shape)
        u[halo.interior] = start[halo.owned]
        for _ in range(5):
            halo.start(u)
            heat.step(u, v, halo.inner)
            halo.wait()
            for box in halo.shell:
                heat.step(u, v, box)
            u, v = v, u
        grid[halo.owned] = u[halo.interior]

    serial = np.random.default_rng(0).random(grid.shape)
    for _ in range(5):
        around = sum(np.roll(serial, shift, axis) for shift in (-1, 1) for axis in range(3))
        serial = serial + 0.1 * (around - 6 * serial)
    for ranks in (1, 2, 3, 4, 7):
        longshore.run(main, ranks)
        assert np.allclose(grid, serial, rtol=1e-12)
