"""Prints the progress and the results of a sweep, and stores its failures.

A failure is a line in a file, with its shell command, and a folder with its output.
"""

import re
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from fuzzing.judging import PASSED, SKIPPED, Verdict, without_numbers
from fuzzing.running import Run

DRAWN = "failures.txt"
SMALLEST = "smallest.txt"
SECONDS_BETWEEN_LINES = 30.0
REASONS_SHOWN = 12


@dataclass
class Tally:
    """Counts of the verdicts of a sweep."""

    by_kind: Counter[str] = field(default_factory=Counter)
    by_layout: Counter[str] = field(default_factory=Counter)
    """Passed runs by pattern and transport."""
    reasons: Counter[str] = field(default_factory=Counter)
    variants: int = 0

    def add(self, layout: str, verdict: Verdict) -> None:
        self.by_kind[verdict.kind] += 1
        self.variants += verdict.variants
        if verdict.kind == PASSED:
            self.by_layout[layout] += 1
        if verdict.kind == SKIPPED:
            self.reasons[without_numbers(verdict.reason)] += 1

    @property
    def runs(self) -> int:
        return self.by_kind.total()

    @property
    def failures(self) -> int:
        return self.runs - self.by_kind[PASSED] - self.by_kind[SKIPPED]

    def line(self) -> str:
        return (
            f"{self.runs} runs, {self.by_kind[PASSED]} passed with {self.variants} variants, "
            f"{self.by_kind[SKIPPED]} skipped, {self.failures} failed"
        )


class Reporter:
    """Prints progress in one changing line of a terminal, or in occasional lines of a log."""

    def __init__(self) -> None:
        self.terminal = sys.stdout.isatty()
        self.shown = time.monotonic()
        self.line_is_open = False

    def say(self, text: str) -> None:
        print(("\r\x1b[K" if self.line_is_open else "") + text, flush=True)
        self.line_is_open = False

    def progress(self, text: str) -> None:
        now = time.monotonic()
        if self.terminal:
            print(f"\r\x1b[K{text}", end="", flush=True)
            self.line_is_open = True
        elif now - self.shown >= SECONDS_BETWEEN_LINES:
            self.shown = now
            print(text, flush=True)

    def summary(self, tally: Tally) -> None:
        layouts = sorted(tally.by_layout.items())
        self.say("passed:  " + (", ".join(f"{name} {count}" for name, count in layouts) or "none"))
        if tally.reasons:
            self.say(f"skipped: {tally.by_kind[SKIPPED]} runs, for {len(tally.reasons)} reasons")
        for reason, count in tally.reasons.most_common(REASONS_SHOWN):
            self.say(f"  {count:>4}  {reason}")
        if len(tally.reasons) > REASONS_SHOWN:
            rest = tally.reasons.most_common()[REASONS_SHOWN:]
            self.say(f"  {sum(count for _, count in rest):>4}  for {len(rest)} further reasons")


class FailureStore:
    """The folder of one sweep. The first failure creates it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, number: int, line: str, verdict: Verdict, run: Run) -> Path:
        """Store a failure, and return the folder with its output."""
        folder = self.folder / f"{number}-{re.sub(r'[^A-Za-z0-9]+', '-', verdict.kind).strip('-')}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "command").write_text(line + "\n")
        (folder / "verdict").write_text(f"{verdict.kind}: {verdict.reason}\n")
        (folder / "stdout").write_text(run.output)
        (folder / "stderr").write_text(run.errors)
        if run.records is not None:
            (folder / "records").write_bytes(run.records)
        self.append(DRAWN, number, line, verdict)
        return folder

    def keep_smallest(self, number: int, line: str, verdict: Verdict) -> None:
        self.append(SMALLEST, number, line, verdict)

    def append(self, name: str, number: int, line: str, verdict: Verdict) -> None:
        reason = " ".join(f"{verdict.kind}: {verdict.reason}".split())
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(f"{line}  # {number}: {reason}\n")
