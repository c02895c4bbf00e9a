"""One rank passes another argument than the others, or a wrong one: all ranks refuse the call."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import drawn_calls
import longshore
import pytest
from test_examples import ROOT, mpirun

PROGRAM = Path(drawn_calls.__file__)


@pytest.mark.parametrize(
    ("ranks", "first", "count"),
    [(3, 0, 150), pytest.param(2, 1000, 300, marks=pytest.mark.thorough)],
)
def test_no_drawn_call_is_accepted_by_some_ranks_only(ranks: int, first: int, count: int) -> None:
    assert longshore.run(drawn_calls.faults_of, ranks, args=(first, count)) == []


def test_no_drawn_call_is_accepted_by_some_processes_only() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "LONGSHORE_TRANSPORT"} | ROOT
    done = subprocess.run(
        mpirun(PROGRAM, "2000", "100"), env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_call_that_one_rank_accepts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused_by_rank_0(team: longshore.Team, given: drawn_calls.Arguments) -> None:
        if team.rank == 0 or given["odd"]:
            raise ValueError

    monkeypatch.setattr(drawn_calls, "CALLS", ((refused_by_rank_0, {"odd": (False, True)}),))
    faults = longshore.run(drawn_calls.faults_of, 3, args=(0, 10))
    assert any("of 3 ranks refuse refused_by_rank_0" in fault for fault in faults)
