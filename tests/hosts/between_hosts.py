"""Programs, transports and settings of the tests between hosts."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from typing import Any

import pytest
from bench_runs import BENCH
from host_network import why_not

_reason = why_not()
needs_hosts = [pytest.mark.hosts, pytest.mark.skipif(_reason is not None, reason=str(_reason))]


@cache
def built_transports() -> list[str]:
    assert BENCH.exists(), "build first: tools/run_tests.py build"
    listed = subprocess.run([str(BENCH), "--list"], capture_output=True, text=True, check=True).stdout
    transports = json.loads(listed)["transports"]
    return [transport["name"] for transport in transports if transport["available"]]


def needs_transport(name: str) -> Any:
    missing = _reason is None and name not in built_transports()
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"this build has no transport {name}"))


TRANSPORTS = [needs_transport(name) for name in ("mpi", "shmem", "ucx")]


def environment(transport: str, timeout_seconds: float = 120) -> dict[str, str]:
    """Environment variables of a run between hosts that are connected by TCP only."""
    settings = {"LONGSHORE_TIMEOUT": str(timeout_seconds), "LONGSHORE_PIN": "0", "LONGSHORE_PROFILE": "off"}
    settings["UCX_HANDLE_ERRORS"] = "none"  # no backtraces: the line before them has the reason
    if transport == "shmem":
        settings["SHMEM_SYMMETRIC_SIZE"] = "256M"
    return settings
