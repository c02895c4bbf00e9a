"""Shows the progress of a session: on a terminal, a bar with the current cell and the time left; in
a log, one line per launch. Longshore starts no threads, because they would disturb measurements."""

import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from longshore_study.base.durations import duration
from longshore_study.base.terminal import print_unless_closed
from longshore_study.base.terminal_escapes import escape_controls, raw
from longshore_study.planning.plan import Plan, PlannedLaunch
from longshore_study.planning.time_estimate import TimeEstimate

if TYPE_CHECKING:
    from rich.progress import TaskID


@dataclass(frozen=True)
class Outcome:
    launch: PlannedLaunch
    seconds: float
    failure: str | None
    """The reason why the launch is not a valid measurement; None if it is valid."""
    skipped: str | None = None
    """The reason if the program skipped every variant, which is not a failure."""

    @property
    def text(self) -> str:
        if self.failure:
            return f"FAILED, {self.failure}"
        return f"nothing to run here ({self.skipped})" if self.skipped else "recorded"


class LineProgress:
    """Follows a session. Prints one complete line per launch, for logs of batch systems."""

    def __init__(self, plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO) -> None:
        self.labels = plan.labels
        self.launches = list(launches)
        self.estimate = estimate
        self.out = out
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
        self.show(outcome)

    def show(self, outcome: Outcome) -> None:
        self.launch_started = time.monotonic()
        total = len(self.launches)
        line = f"[{self.finished:{len(str(total))}}/{total}] {self.label(outcome.launch)}: {outcome.text}"
        print_unless_closed(f"{line}, {outcome.seconds:.1f} s, {self.left()} left", self.out)

    def close(self) -> None:
        """Called after the last launch."""

    def left(self) -> str:
        """The time left, as text: that of unfinished launches, less what has passed."""
        left = self.estimate.total(launch.cell for launch in self.launches[self.finished :])
        return duration(max(0.0, left - (time.monotonic() - self.launch_started)))


class BarProgress(LineProgress):
    """Shows a bar on a terminal, with failures above it."""

    def __init__(self, plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO) -> None:
        from rich.console import Console  # noqa: PLC0415 - logs do not need it
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

        super().__init__(plan, launches, estimate, out)
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

    def show(self, outcome: Outcome) -> None:
        from rich.text import Text  # noqa: PLC0415

        if outcome.failure or outcome.skipped:
            text = escape_controls(f"{self.label(outcome.launch)}: {outcome.text}")
            with suppress(OSError):
                self.bar.console.print(Text(text, style="red" if outcome.failure else "yellow"), soft_wrap=True)
        self.tick()

    def close(self) -> None:
        with suppress(OSError):
            self.bar.stop()


def make_progress(
    plan: Plan, launches: Sequence[PlannedLaunch], estimate: TimeEstimate, out: TextIO | None = None
) -> LineProgress:
    """A bar for a terminal, lines for a log; by default on stderr, since stdout is for results."""
    out = out or sys.stderr
    return (BarProgress if out.isatty() else LineProgress)(plan, launches, estimate, out)
