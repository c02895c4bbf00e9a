"""What studies have measured, as data frames: over `longshore export` of the study tool, a package
of its own."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, Literal


def results(
    *names: str,
    store: str | Path | None = None,
    samples: bool = False,
    frame: Literal["pandas", "polars"] | None = None,
) -> Any:
    """The figures of studies or tags, or of all that is stored, as a data frame: a row per launch,
    variant and metric.

    store: the folder of results (default: ./longshore-results, or what LONGSHORE_STORE says).
    samples: a row for each repetition and variant instead, in seconds. frame: 'pandas' or 'polars';
    without it the one that is installed.
    """
    if importlib.util.find_spec("longshore_study") is None:
        raise ImportError(
            "results() needs the study tool, a package of the same sources: pip install study/ of the sources"
        )
    library = _frame_library(frame)
    rows = _exported(names, store, samples=samples)
    data_frame = importlib.import_module(library).DataFrame
    return data_frame(rows) if library == "pandas" else data_frame(rows, infer_schema_length=None, strict=False)


def _frame_library(asked: str | None) -> str:
    if asked not in (None, "pandas", "polars"):
        raise ValueError(f"frame {asked!r}: allowed are 'pandas', 'polars'")
    for library in (asked,) if asked else ("pandas", "polars"):
        if importlib.util.find_spec(library) is not None:
            return library
    raise ImportError(f"results() needs {asked or 'pandas or polars'}: pip install {asked or 'pandas'}")


def _exported(names: tuple[str, ...], store: str | Path | None, *, samples: bool) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "longshore_study", "export", *names, "--format", "jsonl"]
    if samples:
        command.append("--samples")
    if store is not None:
        command += ["--store", str(store)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no shell, our own tool
    damaged = 3  # the tool's status where it names on stderr what it could not read, and gives the rest
    if done.returncode == damaged and done.stdout:
        warnings.warn(done.stderr.strip(), stacklevel=3)
    elif done.returncode != 0:
        raise ValueError(done.stderr.strip() or f"longshore export ended with status {done.returncode}")
    return [json.loads(line) for line in done.stdout.splitlines()]
