"""Checks of the doctor that ask longshore-bench: the topology, and the binding of ranks to
cores."""

from __future__ import annotations

import json
import subprocess
from typing import Any

from longshore_study.host.doctor import OK, UNKNOWN, WARN, CheckResult

_SECONDS = 60
_PROGRAM_TOO_OLD = "longshore-bench --list does not say"


def ask(program: str) -> dict[str, Any] | None:
    """The answer of `longshore-bench --list`, or None if there is no valid answer."""
    try:
        done = subprocess.run(  # noqa: S603 - a program of ours
            [program, "--list"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=_SECONDS
        )
        answer = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def check_results(listing: dict[str, Any] | None, ranks: int | None = None) -> list[CheckResult]:
    if listing is None:
        advice = "build it with 'make build', or name it with LONGSHORE_BENCH"
        return [CheckResult("topology", UNKNOWN, "longshore-bench was not found or does not answer", advice)]
    return [topology(listing.get("topology")), binding(listing.get("binding"), ranks)]


def topology(seen: dict[str, Any] | None) -> CheckResult:
    if not seen:
        return CheckResult("topology", UNKNOWN, _PROGRAM_TOO_OLD)
    description = str(seen.get("description", ""))
    if seen.get("why_little"):
        advice = "install hwloc (Debian: libhwloc-dev) and build again; placement then knows sockets and caches"
        return CheckResult("topology", WARN, f"{description}; {seen['why_little']}", advice)
    if description.startswith("uneven"):
        advice = "placement by levels needs equal parts: run ranks on equal numbers of cores per socket and cache"
        return CheckResult("topology", WARN, description, advice)
    return CheckResult("topology", OK, description)


def binding(seen: dict[str, Any] | None, ranks: int | None = None) -> CheckResult:
    check = "binding"
    if not seen:
        return CheckResult(check, UNKNOWN, _PROGRAM_TOO_OLD)
    word, by = seen.get("ranks"), seen.get("ranks_by")
    most = seen.get("most_bound_ranks")
    if ranks is not None and most is not None and ranks > most:
        advice = f"use at most {most} ranks, so that each rank has its own cores"
        return CheckResult(check, WARN, f"none with {ranks} ranks: {most} cores, ranks move between them", advice)
    if word == "none":
        advice = "unset LONGSHORE_PIN, or let the launcher bind: mpirun --bind-to core, srun --cpu-bind=cores"
        return CheckResult(check, WARN, "none: ranks and tasks move between cores (LONGSHORE_PIN=0)", advice)
    if by == "longshore":
        value = f"each rank to one {word} of {seen.get('cpus')}, by longshore, up to {most} ranks"
        return CheckResult(check, OK, f"{value}; tasks to one each of their rank's share")
    return CheckResult(check, OK, f"ranks within one {word} ({seen.get('cpus')}), by the launcher; tasks are not bound")
