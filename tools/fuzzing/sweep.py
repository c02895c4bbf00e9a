"""Runs combinations, several at a time, until the time is up or no combination is left.

After the last run, a sweep shrinks one failing combination of each fault.
"""

import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

from fuzzing.capabilities import Capabilities
from fuzzing.combination import Combination, line_of
from fuzzing.judging import Verdict, judge
from fuzzing.reporting import FailureStore, Reporter, Tally
from fuzzing.running import Run, Runner
from fuzzing.shrinking import shrink

PROGRESS_SECONDS = 1.0
MAX_FAULTS = 20
"""Number of different faults after which a sweep ends."""

Numbered = tuple[int, Combination]
Outcome = tuple[Combination, Run, Verdict]


@dataclass(frozen=True)
class Sweep:
    """One call of tools/fuzz. Failures with the same pattern and signature count as one fault."""

    runner: Runner
    capabilities: Capabilities
    failures: FailureStore
    reporter: Reporter
    seconds: float | None
    jobs: int
    shrink_seconds: float
    """Time for each fault. If 0, nothing is shrunk."""
    tally: Tally = field(default_factory=Tally)
    faults: dict[str, tuple[int, Combination, Verdict]] = field(default_factory=dict)
    """The first run of each fault."""

    def go(self, combinations: Iterator[Numbered]) -> None:
        """Run the combinations, then shrink one of each fault."""
        try:
            self.run_all(combinations)
            if self.shrink_seconds > 0:
                for first in self.faults.values():
                    self.shrink_one(*first)
        finally:
            self.runner.stop.set()

    def line(self, combination: Combination) -> str:
        return line_of(combination, self.runner.bench, self.runner.launchers, self.runner.common)

    def run_all(self, combinations: Iterator[Numbered]) -> None:
        start = time.monotonic()
        pending: dict[Future[Outcome], int] = {}
        with ThreadPoolExecutor(self.jobs) as pool:
            try:
                while True:
                    while len(pending) < self.jobs and self.may_start(start):
                        if (numbered := next(combinations, None)) is None:
                            break
                        number, combination = numbered
                        pending[pool.submit(self.run_one, combination)] = number
                    if not pending:
                        return
                    done, _ = wait(pending, PROGRESS_SECONDS, FIRST_COMPLETED)
                    for future in done:
                        self.take(pending.pop(future), *future.result())
                    self.reporter.progress(f"{time.monotonic() - start:.0f} s: {self.tally.line()}")
            except BaseException:
                self.runner.stop.set()  # otherwise, leaving the pool waits for the runs
                raise

    def may_start(self, start: float) -> bool:
        in_time = self.seconds is None or time.monotonic() - start < self.seconds
        return in_time and len(self.faults) < MAX_FAULTS

    def run_one(self, combination: Combination) -> Outcome:
        run = self.runner.run(combination)
        return combination, run, judge(run)

    def take(self, number: int, combination: Combination, run: Run, verdict: Verdict) -> None:
        self.tally.add(f"{combination.pattern}/{combination.transport}", verdict)
        if not verdict.failed:
            return
        line = self.line(combination)
        folder = self.failures.keep(number, line, verdict, run)
        fault = f"{combination.pattern} {verdict.signature}"
        self.reporter.say(f"FAILED {number}: {verdict.kind}: {verdict.reason}\n  {line}\n  its output: {folder}")
        if fault in self.faults:
            self.reporter.say(f"  it looks like run {self.faults[fault][0]}")
        self.faults.setdefault(fault, (number, combination, verdict))

    def shrink_one(self, number: int, combination: Combination, verdict: Verdict) -> None:
        def fails(candidate: Combination) -> bool:
            self.reporter.progress(f"shrinking {number}: {' '.join(candidate.words())}")
            return judge(self.runner.run(candidate)).kind == verdict.kind

        pattern = self.capabilities.pattern(combination.pattern)
        until = time.monotonic() + self.shrink_seconds
        shrunk = shrink(combination, pattern, self.capabilities.transports, fails, until)
        if not shrunk.failed:
            self.reporter.say(f"{number}: it did not fail again in {shrunk.tries} tries")
            return
        line = self.line(shrunk.combination)
        self.failures.keep_smallest(number, line, verdict)
        ending = "" if shrunk.complete else ", the time was up"
        self.reporter.say(f"{number}, smallest after {shrunk.tries} tries{ending}: {verdict.kind}\n  {line}")
