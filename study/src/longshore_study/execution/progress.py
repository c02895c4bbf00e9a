"""What a person sees while a session runs: a bar with the cell at hand and the time left on a
terminal, a line per launch in a log. Neither starts a thread: nothing of ours may run beside what
is measured."""

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


class _Account:
    """What is done and what is left of a session."""

    def __init__(self, plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate) -> None:
        self.labels = plan.labels
        self.launches = list(launches)
        self.estimate = estimate
        self.done = 0
        self.started = time.monotonic()
        self.begun = self.started

    def label(self, launch: PlannedLaunch) -> str:
        return self.labels[launch.cell.cell_id]

    def finish(self, outcome: Outcome) -> None:
        self.done += 1
        self.estimate.observe(outcome.launch.cell.cell_id, outcome.seconds)

    def left_seconds(self) -> float:
        """Of the launches not yet ended, less what the one at hand has already used."""
        left = self.estimate.total(launch.cell for launch in self.launches[self.done :])
        return max(0.0, left - (time.monotonic() - self.begun))


class LineProgress:
    """A line per launch, complete as soon as the launch is: what a batch system's log needs."""

    def __init__(self, plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO) -> None:
        self.account = _Account(plan, launches, estimate)
        self.out = out
        self.width = len(str(len(launches)))

    def begin(self, launch: PlannedLaunch) -> None:
        del launch
        self.account.begun = time.monotonic()

    def tick(self) -> None:
        return

    def end(self, outcome: Outcome) -> None:
        self.account.finish(outcome)
        self.account.begun = time.monotonic()
        count = f"{self.account.done:{self.width}}/{len(self.account.launches)}"
        left = duration(self.account.left_seconds())
        line = f"[{count}] {self.account.label(outcome.launch)}: {_said(outcome)}, {outcome.seconds:.1f} s"
        say(f"{line}, {left} left", self.out)

    def close(self) -> None:
        return


class BarProgress:
    """The bar. Failures stay above it; what went well leaves no trace."""

    def __init__(self, plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO) -> None:
        from rich.console import Console  # noqa: PLC0415 - a log needs none of it
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        self.account = _Account(plan, launches, estimate)
        self.bar = Progress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]} left", style="bold"),
            TextColumn("{task.description}", markup=False),
            console=Console(file=raw(out)),
            auto_refresh=False,
            transient=True,
        )
        self.task: TaskID = self.bar.add_task("", total=len(self.account.launches), left="")
        self.bar.start()

    def begin(self, launch: PlannedLaunch) -> None:
        self.account.begun = time.monotonic()
        self._show(self.account.label(launch))

    def tick(self) -> None:
        self._show(None)

    def end(self, outcome: Outcome) -> None:
        from rich.text import Text  # noqa: PLC0415

        self.account.finish(outcome)
        if outcome.failure or outcome.skipped:
            text = escape_controls(f"{self.account.label(outcome.launch)}: {_said(outcome)}")
            with suppress(OSError):
                self.bar.console.print(Text(text, style="red" if outcome.failure else "yellow"), soft_wrap=True)
        self.bar.update(self.task, completed=self.account.done)
        self._refresh()

    def _show(self, label: str | None) -> None:
        left = duration(self.account.left_seconds())
        if label is None:
            self.bar.update(self.task, left=left)
        else:
            self.bar.update(self.task, description=escape_controls(label), left=left)
        self._refresh()

    def _refresh(self) -> None:
        with suppress(OSError):  # the terminal has been closed; the study need not end for that
            self.bar.refresh()

    def close(self) -> None:
        with suppress(OSError):
            self.bar.stop()


def make_progress(
    plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO | None = None
) -> BarProgress | LineProgress:
    """The display that fits where it is shown; always on stderr, so that stdout is the result's."""
    out = out or sys.stderr
    if out.isatty():
        return BarProgress(plan, launches, estimate, out)
    return LineProgress(plan, launches, estimate, out)


def say(text: str, out: TextIO) -> None:
    """A line for whoever is still there: a study goes on when the reader of its log (`| head`) has
    left."""
    try:
        print(text, file=out, flush=True)
    except OSError:
        # What was not written stays in a buffer that Python flushes at its end: the exit status
        # would become 120.
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, out.fileno())
            os.close(nowhere)


def duration(seconds: float) -> str:
    """A time as people say it: 0.4 s, 12 s, 3 min 20 s, 5 h 10 min, 2 d 3 h."""
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


def _said(outcome: Outcome) -> str:
    if outcome.failure:
        return f"FAILED, {outcome.failure}"
    if outcome.skipped:
        return f"nothing to run here ({outcome.skipped})"
    return "recorded"
