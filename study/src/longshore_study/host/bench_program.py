"""Finds the longshore-bench that a study runs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from longshore_study.base.errors import LongshoreError

BENCH = "longshore-bench"


def find_bench(asked_for: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The path of longshore-bench. Searches `asked_for`, LONGSHORE_BENCH, the folder of the
    `longshore` script, and PATH, in this order."""
    environment = os.environ if environment is None else environment
    for source, name in (("--bench", asked_for), ("LONGSHORE_BENCH", environment.get("LONGSHORE_BENCH"))):
        if name:
            path = shutil.which(name)
            if path is None:
                raise LongshoreError(f"{source} names '{name}', which is not an executable program")
            return str(Path(path).absolute())
    folders = [Path(sys.argv[0]).parent, Path(sys.executable).parent]
    for folder in folders:
        path = shutil.which(BENCH, path=str(folder))
        if path is not None:
            return str(Path(path).absolute())
    path = shutil.which(BENCH)
    if path is None:
        searched = ", ".join(dict.fromkeys(str(folder) for folder in folders))
        raise LongshoreError(
            f"{BENCH} was not found in {searched} or on PATH; "
            "build it with 'make build', or name it with --bench PATH or LONGSHORE_BENCH"
        )
    return str(Path(path).absolute())
