"""One rank passes other arguments than the others: all ranks get an error, and go on.

The program is disagreeing_rank.cpp, which draws the calls and arguments of a seed. `make test` has
the first seeds; the rest has more, and all transports.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest
from bench_runs import thorough
from repository import BUILD, REPOSITORY
from test_failing_ranks import ENVIRONMENT, FAR_TOO_LONG_SECONDS, launcher
from test_one_sided_transports import need

DISAGREEING = BUILD / "tests" / "disagreeing_rank"


@pytest.mark.parametrize(
    ("transport", "ranks", "per_node", "first", "count"),
    [
        ("threads", 3, 0, 0, 200),
        ("mpi", 2, 0, 0, 60),
        thorough("threads", 4, 0, 1000, 1000),
        thorough("mpi", 3, 0, 2000, 300),
        thorough("mpi", 4, 2, 3000, 300),
        thorough("ucx", 2, 0, 4000, 200),
        thorough("simulated", 4, 2, 5000, 300),
    ],
)
def test_every_rank_refuses_what_one_rank_does_differently(
    transport: str, ranks: int, per_node: int, first: int, count: int
) -> None:
    settings = {
        "LONGSHORE_TRANSPORT": transport,
        "LONGSHORE_RANKS": str(ranks),
        "LONGSHORE_RANKS_PER_NODE": str(per_node),
        "LONGSHORE_TIMEOUT": "60",
    }
    if transport == "simulated":
        settings["LONGSHORE_MACHINE"] = str(REPOSITORY / "tests" / "machines" / "small.toml")
    launched = transport in ("mpi", "ucx")
    if launched and shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine")
    if transport == "ucx":
        need(transport)
    done = subprocess.run(
        [*(launcher(ranks) if launched else []), str(DISAGREEING), str(first), str(count)],
        env=ENVIRONMENT | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=FAR_TOO_LONG_SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} seeds: every disagreement was refused on all ranks" in done.stdout
