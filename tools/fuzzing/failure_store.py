"""Stores failures: a file with one shell command per failure, and a folder with its output."""

from __future__ import annotations

import re
from pathlib import Path

from fuzzing.judging import Verdict
from fuzzing.running import Run

DRAWN = "failures.txt"
SMALLEST = "smallest.txt"


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
