"""Starts `longshore` as a program, and writes programs that act as longshore-bench."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

_SETTINGS = ("LONGSHORE", "FAKE", "SLURM", "FLUX", "PBS")


def write_script(path: Path, text: str = "") -> Path:
    """A program of these lines of the shell."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def write_bench(path: Path, variables: str = "") -> Path:
    """A program that acts as longshore-bench (fake_bench.py). It sets `variables`, such as
    `A=1 `."""
    fake = Path(__file__).with_name("fake_bench.py")
    return write_script(path, f'{variables}exec "{sys.executable}" -S "{fake}" "$@"')


def own_environment() -> dict[str, str]:
    """The variables of the tests without settings of longshore and of batch systems."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}


def longshore(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `longshore` in a folder, with these variables besides `own_environment`."""
    return subprocess.run(
        [sys.executable, "-m", "longshore_study", *words],
        cwd=folder, env={**own_environment(), **variables}, capture_output=True, text=True, errors="replace",
        check=False, timeout=600,
    )  # fmt: skip
