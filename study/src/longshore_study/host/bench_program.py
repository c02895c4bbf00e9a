"""Finds the longshore-bench that a study runs."""

import os
import shutil
import sys
from pathlib import Path

from longshore_study.base.errors import LongshoreError

BENCH = "longshore-bench"


def find_bench(asked_for: str | None = None) -> str:
    """longshore-bench: `asked_for`, LONGSHORE_BENCH, beside the `longshore` script, or in PATH."""
    for source, name in (("--bench", asked_for), ("LONGSHORE_BENCH", os.environ.get("LONGSHORE_BENCH"))):
        if name:
            path = shutil.which(name)
            if path is None:
                raise LongshoreError(f"{source} names '{name}', which is not an executable program")
            return str(Path(path).absolute())
    folders = list(dict.fromkeys(str(Path(program).parent) for program in (sys.argv[0], sys.executable)))
    found = (shutil.which(BENCH, path=folder) for folder in (*folders, None))
    path = next(filter(None, found), None)
    if path is None:
        raise LongshoreError(
            f"{BENCH} was not found in {', '.join(folders)} or on PATH; "
            "build it with 'make build', or name it with --bench PATH or LONGSHORE_BENCH"
        )
    return str(Path(path).absolute())
