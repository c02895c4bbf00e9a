"""Runs one combination in a separate folder, with a deadline."""

import os
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from fuzzing.combination import Combination
from fuzzing.launchers import Launchers, common_variables
from fuzzing.leftovers import MARK, Leftovers, kill, marked_processes

SECONDS_BETWEEN_CHECKS = 0.5
SECONDS_TO_END = 3.0
"""Time after SIGTERM for the launcher, which ends its ranks and removes its files."""
KEPT_CHARACTERS = 200_000


class Stopped(Exception):  # noqa: N818 - not an error: the user ended the sweep
    """The sweep was ended during this run."""


@dataclass(frozen=True)
class Run:
    """The end of a run and its output."""

    status: int | None
    """None if the run exceeded the deadline."""
    seconds: float
    output: str = ""
    errors: str = ""
    records: bytes | None = None
    """The file that --json wrote; None if the file is missing."""
    left: list[str] = field(default_factory=list)


class Runner:
    """Starts the program of one build."""

    def __init__(self, bench: Path, launchers: Launchers, work: Path, deadline: float) -> None:
        self.bench = bench
        self.launchers = launchers
        self.work = work
        self.deadline = deadline
        # A run ends when a wait exceeds its limit, or after twice the limit if a rank hangs. With a
        # third of the deadline as limit, the program itself ends and reports before the deadline.
        self.common = common_variables(max(1, int(deadline / 3)))
        self.stop = threading.Event()
        self.count = 0
        self.lock = threading.Lock()

    def run(self, combination: Combination) -> Run:
        """Run the combination once. Raises Stopped if the sweep is stopped meanwhile."""
        with self.lock:
            self.count += 1
            folder = self.work / str(self.count)
        folder.mkdir()
        mark = f"{os.getpid()}-{folder.name}"
        leftovers = Leftovers(mark)
        start = time.monotonic()
        with (folder / "stdout").open("wb") as output, (folder / "stderr").open("wb") as errors:
            process = subprocess.Popen(
                [*self.command(combination), "--json", "records"],
                cwd=folder,
                env=self.environment(combination, mark, folder),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
            status = self.wait(process, mark)
        seconds = time.monotonic() - start
        records = folder / "records"
        run = Run(
            status,
            seconds,
            text_of(folder / "stdout"),
            text_of(folder / "stderr"),
            records.read_bytes() if records.is_file() else None,
            # After a kill, the program is not responsible for remaining files.
            leftovers.found() if status is not None and 0 <= status < 128 else [],
        )
        kill(marked_processes(mark))
        subprocess.run(["rm", "-rf", folder], check=False)
        return run

    def command(self, combination: Combination) -> list[str]:
        prefix = self.launchers.prefix(combination.transport, combination.ranks)
        return [*prefix, str(self.bench), *combination.words()]

    def environment(self, combination: Combination, mark: str, folder: Path) -> dict[str, str]:
        """The environment without settings of the user, so that runs are reproducible."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("LONGSHORE_", "SHMEM_"))}
        return clean | {"TMPDIR": str(folder), MARK: mark} | self.common | dict(combination.variables)

    def wait(self, process: subprocess.Popen[bytes], mark: str) -> int | None:
        until = time.monotonic() + self.deadline
        while not self.stop.is_set() and (rest := until - time.monotonic()) > 0:
            try:
                return process.wait(min(rest, SECONDS_BETWEEN_CHECKS))
            except subprocess.TimeoutExpired:
                continue
        end(process, mark)
        if self.stop.is_set():
            raise Stopped
        return None


def end(process: subprocess.Popen[bytes], mark: str) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(SECONDS_TO_END)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    kill(marked_processes(mark))


def text_of(path: Path) -> str:
    """The text of a file. The middle of a very long text is left out."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if len(text) <= KEPT_CHARACTERS:
        return text
    half = KEPT_CHARACTERS // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
