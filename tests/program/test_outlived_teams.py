"""An object that outlives its team is reported and its memory is lost; the program goes on, and
ends with status 3.

The program is outlived_team.cpp.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest
from bench_runs import thorough
from repository import BUILD, REPOSITORY
from test_failing_ranks import ENVIRONMENT, FAR_TOO_LONG_SECONDS, launcher, own_lines
from test_one_sided_transports import need

OUTLIVED = BUILD / "tests" / "outlived_team"
MACHINE = REPOSITORY / "tests" / "machines" / "small.toml"
KINDS = {
    "direct": "a halo plan", "channel": "a halo plan", "faces": "an exchange of faces", "ghosts": "a plan of ghosts",
    "table": "an array", "gather": "a set of channels", "sorter": "a set of channels", "segment": "an array",
    "channels": "a set of channels",
}  # fmt: skip


def run(transport: str, kind: str, use: str, per_node: int = 0) -> subprocess.CompletedProcess[str]:
    launched = transport in ("mpi", "ucx")
    if launched and shutil.which("mpirun") is None:
        pytest.skip("no mpirun on this machine")
    if transport == "ucx":
        need(transport)
    settings = {"LONGSHORE_TRANSPORT": transport, "LONGSHORE_RANKS": "2", "LONGSHORE_RANKS_PER_NODE": str(per_node)}
    if transport == "simulated":
        settings["LONGSHORE_MACHINE"] = str(MACHINE)
    return subprocess.run(
        [*(launcher(2) if launched else []), str(OUTLIVED), kind, use],
        env=ENVIRONMENT | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=FAR_TOO_LONG_SECONDS,
    )


@pytest.mark.parametrize(
    ("transport", "per_node"),
    [("threads", 0), ("mpi", 0), thorough("mpi", 1), thorough("ucx", 0), thorough("simulated", 1)],
)
@pytest.mark.parametrize("kind", KINDS)
def test_an_object_that_outlives_its_team_is_an_error(kind: str, transport: str, per_node: int) -> None:
    done = run(transport, kind, "destroy", per_node)
    if transport == "threads" and kind not in ("direct", "channel", "faces", "ghosts"):
        # Its memory belongs to the process, and needs no team to be freed.
        assert (done.returncode, own_lines(done)) == (0, [])
        return
    assert done.returncode == 3, done.stderr
    lines = set(own_lines(done))
    assert len(lines) <= 2, lines  # the processes print at the same time
    for line in lines:
        assert "was destroyed after its team, and its memory is lost: destroy plans, arrays and channels" in line
    assert "it went on" in done.stdout


@pytest.mark.parametrize("transport", ["threads", "mpi"])
@pytest.mark.parametrize("kind", ["direct", "faces", "ghosts"])
def test_a_plan_is_not_used_after_its_team(kind: str, transport: str) -> None:
    done = run(transport, kind, "use")
    assert f"refused: {KINDS[kind]} is used after the end of its team" in done.stdout
    assert done.returncode == 3
