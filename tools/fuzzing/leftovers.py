"""Finds processes and files of shared memory that a run leaves behind.

A variable in their environment marks the processes of a run. Other programs on the machine make
files of shared memory, too. A file counts only if it appeared during the run, belongs to the same
user, and no process has mapped it for PATIENCE_SECONDS.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

PROCESSES = Path("/proc")
# This folder is only read. Tests use another folder, in which no other program leaves files.
SHARED_MEMORY = Path(os.environ.get("LONGSHORE_FUZZ_SHARED_MEMORY", "/dev/shm"))  # noqa: S108
MARK = "LONGSHORE_FUZZ_RUN"
PATIENCE_SECONDS = 5.0
LOOK_SECONDS = 0.1


def marked_processes(mark: str) -> list[int]:
    """The processes of the run with this mark, also those that left their session."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in PROCESSES.glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:  # it has ended, or belongs to another user
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
    """The files of shared memory of this user."""
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
    """Finds the leftovers of one run. Create it before the run begins."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.before = shared_files()

    def found(self) -> list[str]:
        """Descriptions of everything left after the run. Kills the processes."""
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
