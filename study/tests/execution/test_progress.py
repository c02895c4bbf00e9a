"""The progress of a session on a terminal and in a log."""

from __future__ import annotations

import io

import pytest

from longshore_study.base.durations import duration
from longshore_study.execution.progress import BarProgress, Outcome, make_progress
from longshore_study.planning.plan import Plan, make_plan
from longshore_study.planning.time_estimate import TimeEstimate
from longshore_study.study_file.reader import loads

TEXT = '[study]\nname = "x"\nlaunches = 2\n[[pattern]]\nprogram = "sort"\nbetween = { ranks = [1, 2] }\n'


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def plan() -> Plan:
    return make_plan(loads(TEXT, "s.toml"))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (200, "3 min 20 s"),
        (3600, "1 h"),
        (18600, "5 h 10 min"),
        (183600, "2 d 3 h"),
    ],
)
def test_durations_are_formatted_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_log_gets_whole_lines_with_count_and_time_left(plan: Plan) -> None:
    out = io.StringIO()
    launches = plan.order("s")
    progress = make_progress(plan, launches, TimeEstimate(), out)
    assert not isinstance(progress, BarProgress)
    for number, launch in enumerate(launches):
        progress.begin(launch)
        assert out.getvalue().count("\n") == number
        progress.end(Outcome(launch, 10.0, "exit status 3: no" if number == 1 else None))
    lines = out.getvalue().splitlines()
    assert lines[0].startswith("[1/8] ")
    assert "FAILED, exit status 3: no, 10.0 s" in lines[1]
    assert lines[-1].endswith("recorded, 10.0 s, 0.0 s left")
    # Each of the 4 cells has 2 launches of 10 s. After one launch of each cell, 40 s are left.
    assert lines[3].endswith(("40 s left", "39 s left"))


def test_a_terminal_shows_the_cell_at_hand_and_keeps_failures(plan: Plan) -> None:
    out = Terminal()
    launches = plan.order("s")
    progress = make_progress(plan, launches, TimeEstimate(), out)
    assert isinstance(progress, BarProgress)
    progress.begin(launches[0])
    progress.tick()
    assert plan.labels[launches[0].cell.cell_id] in out.getvalue()
    assert "0/8" in out.getvalue()
    progress.end(Outcome(launches[0], 1.0, "exit status 3: [bold] is no markup"))
    progress.end(Outcome(launches[1], 1.0, None, "not on this transport"))
    progress.close()
    assert "FAILED, exit status 3: [bold] is no markup" in out.getvalue()
    assert "nothing to run here (not on this transport)" in out.getvalue()
    assert "2/8" in out.getvalue()
