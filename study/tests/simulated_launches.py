"""Launches for simulations: as they would be read from the store, but never written, since
thousands are needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from longshore_study.store.launch_store import Launch


def halo(mode: str, log: float, pulse: float | None = None, line: float | None = None) -> dict[str, Any]:
    """A figure by its logarithm, relative to 1000 MiB/s; `pulse` likewise, relative to exchanges of
    1 us. `line` has the nanoseconds of a cache line."""
    metrics = {"process_bandwidth": {"value": 1000 * math.exp(log), "unit": "MiB/s", "better": "higher"}}
    beside: dict[str, Any] = {} if pulse is None else {"pulse_seconds": 1e-6 * math.exp(-pulse)}
    beside |= {} if line is None else {"cache_line_seconds": line_record(line)}
    return {"record": "result", "pattern": "halo", "variant": {"mode": mode}, **beside, "metrics": metrics}


def line_record(nanoseconds: float, p10: float | None = None, p90: float | None = None) -> dict[str, float]:
    """The `cache_line_seconds` of a result, with a spread of 5 % unless p10 and p90 are given."""
    low, high = p10 or 0.95 * nanoseconds, p90 or 1.05 * nanoseconds
    return {"median": 1e-9 * nanoseconds, "p10": 1e-9 * low, "p90": 1e-9 * high}


def copy(log: float) -> dict[str, Any]:
    metrics = {"bandwidth": {"value": 10 * math.exp(log), "unit": "GB/s", "better": "higher"}}
    return {"record": "result", "pattern": "control", "variant": {"kernel": "copy"}, "metrics": metrics}


def launch(
    tag: str,
    session: str,
    index: int,
    results: list[dict[str, Any]],
    *,
    cell: Mapping[str, Any] | None = None,
    started: str | None = None,
    hosts: Sequence[str] | None = None,
) -> Launch:
    factors = dict(cell or {"ranks": 2})
    name = "-".join(map(str, factors.values()))
    return Launch(
        study="s", tag=tag, session=session, cell=factors, cell_id=name, launch_index=index, position=index,
        path=Path(f"{tag}/{session}/{name}-{index}.jsonl"), exit_status=0,
        header={"hosts": list(hosts)} if hosts else None, complete=True, results=results,
        envelope={"started": started} if started else {},
    )  # fmt: skip
