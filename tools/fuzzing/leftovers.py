"""Finds processes and files of shared memory that a run leaves behind.

A variable in their environment marks the processes of a run. Other programs on the machine also
make files of shared memory. A file counts only if the file appeared during the run, belongs to the
same user, and is not mapped by any process for PATIENCE_SECONDS.
"""

import os
import signal
import time
from pathlib import Path

PROCESSES = Path("/proc")
# The tool only reads this folder. Tests use another folder, in which no other program leaves files.
SHARED_MEMORY = Path(os.environ.get("LONGSHORE_FUZZ_SHARED_MEMORY", "/dev/shm"))  # noqa: S108
MARK = "LONGSHORE_FUZZ_RUN"
PATIENCE_SECONDS = 5.0
LOOK_SECONDS = 0.1


def marked_processes(mark: str) -> list[int]:
    """The processes of the run with this mark, including processes that left their session."""
    wanted = f"{MARK}={mark}".encode()
    processes = []
    for folder in PROCESSES.glob("[0-9]*"):
        try:
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                processes.append(int(folder.name))
        except OSError:  # the process has ended, or belongs to another user
            continue
    return processes


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
    files = set()
    for path in SHARED_MEMORY.glob("*"):
        try:
            if path.stat().st_uid == os.geteuid():
                files.add(str(path))
        except OSError:
            continue
    return files


def mapped_files() -> set[str]:
    """All files that some process has mapped."""
    files = set()
    for maps in PROCESSES.glob("[0-9]*/maps"):
        try:
            lines = maps.read_text(errors="replace").splitlines()
        except OSError:
            continue
        # A line is: addresses, permissions, offset, device, inode, and the path if there is a file.
        files |= {fields[5] for line in lines if len(fields := line.split(maxsplit=5)) > 5}
    return files


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
