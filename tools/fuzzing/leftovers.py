"""What a run leaves behind: processes, which a mark in their environment tells, and files of shared
memory.

Other programs on the machine make files of shared memory, too. A file counts when it came up during
the run, belongs to the same user and is mapped by no process, for as long as the patience lasts.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

PROCESSES = Path("/proc")
# Looked at, not written. The tests of this tool have a folder of their own, in which no other
# program leaves files.
SHARED_MEMORY = Path(os.environ.get("LONGSHORE_FUZZ_SHARED_MEMORY", "/dev/shm"))  # noqa: S108
MARK = "LONGSHORE_FUZZ_RUN"
PATIENCE_SECONDS = 5.0
LOOK_SECONDS = 0.1


def marked_processes(mark: str) -> list[int]:
    """Those that were started by the run of this mark, however far they went from their parents."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in PROCESSES.glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # it ended meanwhile, or is another user's
            continue
    return found


def name_of_process(process: int) -> str:
    try:
        return (PROCESSES / str(process) / "comm").read_text().strip()
    except OSError:
        return "ended"


def kill(processes: list[int]) -> None:
    for process in processes:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


def shared_files() -> set[str]:
    """Those of this user."""
    found = set()
    for path in SHARED_MEMORY.glob("*"):
        try:
            if path.stat().st_uid == os.geteuid():
                found.add(str(path))
        except OSError:
            continue
    return found


def mapped_files() -> set[str]:
    """Files of shared memory that some process uses."""
    found = set()
    for maps in PROCESSES.glob("[0-9]*/maps"):
        try:
            lines = maps.read_text(errors="replace").splitlines()
        except OSError:
            continue
        found |= {fields[5] for line in lines if len(fields := line.split(maxsplit=5)) > 5}
    return found


class Leftovers:
    """What is left of one run. It is made before the run begins."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.before = shared_files()

    def found(self) -> list[str]:
        """What is left when the run has ended, in words. Processes that were left are killed."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            processes, files = marked_processes(self.mark), shared_files() - self.before
            files -= mapped_files() if files else set()
            if not (processes or files) or time.monotonic() > until:
                break
            time.sleep(LOOK_SECONDS)
        left = [f"process {process} ({name_of_process(process)})" for process in processes]
        kill(processes)
        return [*left, *sorted(files)]
