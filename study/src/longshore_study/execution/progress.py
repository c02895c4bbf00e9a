"""Shows the progress of a session: on a terminal, a bar with the current cell and the time left; in
a log, one line per launch. Longshore starts no threads, because they would disturb measurements."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

from longshore_study.base.terminal_escapes import escape_controls, raw
from longshore_study.execution.launch_runner import Outcome
from longshore_study.planning.plan import Plan, PlannedLaunch
from longshore_study.planning.time_estimate import TimeEstimate

if TYPE_CHECKING:
    from rich.progress import TaskID


class _Progress:
    """Follows a session. The classes below show it."""

    def __init__(self, plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate) -> None:
        self.labels = plan.labels
        self.launches = list(launches)
        self.estimate = estimate
        self.finished = 0
        self.tag = ""
        self.launch_started = time.monotonic()

    def label(self, launch: PlannedLaunch) -> str:
        label = self.labels[launch.cell.cell_id]
        return f"{self.tag}: {label}" if self.tag else label

    def begin(self, launch: PlannedLaunch) -> None:
        del launch
        self.launch_started = time.monotonic()

    def tick(self) -> None:
        """Called every second."""

    def end(self, outcome: Outcome) -> None:
        self.finished += 1
        self.estimate.observe(outcome.launch.cell.cell_id, outcome.seconds)

    def close(self) -> None:
        """Called after the last launch."""

    def left(self) -> str:
        """The time left, as text: the expected time of the unfinished launches, minus the time
        since the current launch started."""
        left = self.estimate.total(launch.cell for launch in self.launches[self.finished :])
        return duration(max(0.0, left - (time.monotonic() - self.launch_started)))


class LineProgress(_Progress):
    """Prints one complete line per launch, for logs of batch systems."""

    def __init__(self, plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO) -> None:
        super().__init__(plan, launches, estimate)
        self.out = out

    def end(self, outcome: Outcome) -> None:
        super().end(outcome)
        self.launch_started = time.monotonic()
        total = len(self.launches)
        line = f"[{self.finished:{len(str(total))}}/{total}] {self.label(outcome.launch)}: {_result_text(outcome)}"
        print_unless_closed(f"{line}, {outcome.seconds:.1f} s, {self.left()} left", self.out)


class BarProgress(_Progress):
    """Shows a bar on a terminal. Failures are printed above the bar; successful launches leave no
    line."""

    def __init__(self, plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO) -> None:
        from rich.console import Console  # noqa: PLC0415 - logs do not need it
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        super().__init__(plan, launches, estimate)
        self.bar = Progress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]} left", style="bold"),
            TextColumn("{task.description}", markup=False),
            console=Console(file=raw(out)),
            auto_refresh=False,
            transient=True,
        )
        self.task: TaskID = self.bar.add_task("", total=len(self.launches), left="")
        self.bar.start()

    def begin(self, launch: PlannedLaunch) -> None:
        super().begin(launch)
        self.bar.update(self.task, description=escape_controls(self.label(launch)))
        self.tick()

    def tick(self) -> None:
        self.bar.update(self.task, completed=self.finished, left=self.left())
        with suppress(OSError):  # the terminal was closed; the session continues
            self.bar.refresh()

    def end(self, outcome: Outcome) -> None:
        from rich.text import Text  # noqa: PLC0415

        super().end(outcome)
        if outcome.failure or outcome.skipped:
            text = escape_controls(f"{self.label(outcome.launch)}: {_result_text(outcome)}")
            with suppress(OSError):
                self.bar.console.print(Text(text, style="red" if outcome.failure else "yellow"), soft_wrap=True)
        self.tick()

    def close(self) -> None:
        with suppress(OSError):
            self.bar.stop()


def make_progress(
    plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO | None = None
) -> BarProgress | LineProgress:
    """A bar for a terminal, lines for a log. The default of `out` is stderr, because stdout is for
    results."""
    out = out or sys.stderr
    if out.isatty():
        return BarProgress(plan, launches, estimate, out)
    return LineProgress(plan, launches, estimate, out)


def print_unless_closed(text: str, out: TextIO) -> None:
    """Prints a line. Ignores the error if the reader of a pipe (`| head`) is gone."""
    try:
        print(text, file=out, flush=True)
    except OSError:
        # Without this, Python would fail with exit status 120 when it flushes the buffer at exit.
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, out.fileno())
            os.close(nowhere)


def duration(seconds: float) -> str:
    """A duration for readers: 0.4 s, 12 s, 3 min 20 s, 5 h 10 min, 2 d 3 h."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    for large, large_name, small_name, small in ((86400, "d", "h", 3600), (3600, "h", "min", 60), (60, "min", "s", 1)):
        if whole >= large:
            rest = whole % large // small
            return f"{whole // large} {large_name}" + (f" {rest} {small_name}" if rest else "")
    return f"{whole} s"


def _result_text(outcome: Outcome) -> str:
    if outcome.failure:
        return f"FAILED, {outcome.failure}"
    if outcome.skipped:
        return f"nothing to run here ({outcome.skipped})"
    return "recorded"
