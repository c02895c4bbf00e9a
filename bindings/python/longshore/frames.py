"""Results of studies as data frames.

The data comes from the command `longshore export` of the study tool, which is a separate package.
"""

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
    """Returns the results of studies or tags as a data frame: a row per launch, variant and metric.

    names: studies and tags; without names, everything in the store.
    store: the folder of results (default: LONGSHORE_STORE, else ./longshore-results).
    samples: return a row per repetition and variant, with the time in seconds.
    frame: 'pandas' or 'polars'; by default the library that is installed, pandas first.

    Raises ImportError if the study tool or the data frame library is missing, and ValueError for an
    unknown name. Leaves out damaged records with a warning.
    """
    if importlib.util.find_spec("longshore_study") is None:
        raise ImportError("results() needs the study tool, a separate package: pip install study/ of the sources")
    library = _frame_library(frame)
    rows = _exported(names, store, samples=samples)
    data_frame = importlib.import_module(library).DataFrame
    return data_frame(rows) if library == "pandas" else data_frame(rows, infer_schema_length=None, strict=False)


def _frame_library(name: str | None) -> str:
    if name not in (None, "pandas", "polars"):
        raise ValueError(f"frame {name!r}: allowed are 'pandas', 'polars'")
    for library in (name,) if name else ("pandas", "polars"):
        if importlib.util.find_spec(library) is not None:
            return library
    raise ImportError(f"results() needs {name or 'pandas or polars'}: pip install {name or 'pandas'}")


def _exported(names: tuple[str, ...], store: str | Path | None, *, samples: bool) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "longshore_study", "export", *names, "--format", "jsonl"]
    if samples:
        command.append("--samples")
    if store is not None:
        command += ["--store", str(store)]
    process = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - no shell, our own tool
    damaged = 3  # the status if some records are damaged; stderr names these records
    if process.returncode == damaged and process.stdout:
        warnings.warn(process.stderr.strip(), stacklevel=3)
    elif process.returncode != 0:
        raise ValueError(process.stderr.strip() or f"longshore export ended with status {process.returncode}")
    return [json.loads(line) for line in process.stdout.splitlines()]
