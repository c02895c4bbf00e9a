"""Runs the programs of a release, and shows which step runs."""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

LAST_LINES = 30


class ReleaseError(Exception):
    """The release cannot be made. The message says what to do."""


def run(command: Sequence[str | Path], folder: Path, environment: Mapping[str, str] | None = None) -> str:
    """The output of a program. If the program fails, the end of its output is in the error."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=os.environ | (environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as missing:
        raise ReleaseError(
            f"{words[0]} is not installed; `tools/setup all` installs the tools of a release"
        ) from missing
    if done.returncode != 0:
        end = "\n".join(done.stdout.splitlines()[-LAST_LINES:])
        raise ReleaseError(f"exit status {done.returncode} of: {' '.join(words)}\n{end}")
    return done.stdout


def take_steps(steps: Sequence[tuple[str, Callable[[], object]]], show: Callable[[str], object]) -> None:
    """Takes the steps in order. Shows the number of each before it begins."""
    for number, (title, step) in enumerate(steps, start=1):
        show(f"release: {number}/{len(steps)} {title}")
        start = time.monotonic()
        step()
        show(f"release: {number}/{len(steps)} done in {time.monotonic() - start:.0f} seconds")
