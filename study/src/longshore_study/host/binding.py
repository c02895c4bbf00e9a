"""What longshore-bench itself says of this machine's topology and of the cores that its ranks will
be bound to.

Findings of the doctor that only the program can make, because it is the program that binds.
"""

from __future__ import annotations

import json
import subprocess
from typing import Any

from longshore_study.host.doctor import OK, UNKNOWN, WARN, Finding

_SECONDS = 60
_PROGRAM_TOO_OLD = "longshore-bench --list does not say"


def ask(program: str) -> dict[str, Any] | None:
    """What `longshore-bench --list` answers, or None when it answers nothing of use."""
    try:
        done = subprocess.run(  # noqa: S603 - a program of ours
            [program, "--list"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True, timeout=_SECONDS
        )
        answer = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def findings(listing: dict[str, Any] | None, ranks: int | None = None) -> list[Finding]:
    if listing is None:
        advice = "make build, or name it by LONGSHORE_BENCH"
        return [Finding("topology", UNKNOWN, "no longshore-bench to ask", advice)]
    return [topology(listing.get("topology")), binding(listing.get("binding"), ranks)]


def topology(seen: dict[str, Any] | None) -> Finding:
    if not seen:
        return Finding("topology", UNKNOWN, _PROGRAM_TOO_OLD)
    description = str(seen.get("description", ""))
    if seen.get("why_little"):
        advice = "install hwloc (Debian: libhwloc-dev) and build again; placement then knows sockets and caches"
        return Finding("topology", WARN, f"{description}; {seen['why_little']}", advice)
    if description.startswith("uneven"):
        advice = "placement by levels needs equal parts: run ranks on equal numbers of cores per socket and cache"
        return Finding("topology", WARN, description, advice)
    return Finding("topology", OK, description)


def binding(seen: dict[str, Any] | None, ranks: int | None = None) -> Finding:
    check = "binding"
    if not seen:
        return Finding(check, UNKNOWN, _PROGRAM_TOO_OLD)
    word, by = seen.get("ranks"), seen.get("ranks_by")
    most = seen.get("most_bound_ranks")
    if ranks is not None and most is not None and ranks > most:
        advice = f"use at most {most} ranks: then each has cores of its own, and so do its tasks"
        return Finding(check, WARN, f"none with {ranks} ranks: {most} cores, ranks move between them", advice)
    if word == "none":
        advice = "unset LONGSHORE_PIN, or let the launcher bind: mpirun --bind-to core, srun --cpu-bind=cores"
        return Finding(check, WARN, "none: ranks and tasks move between cores (LONGSHORE_PIN=0)", advice)
    if by == "longshore":
        value = f"each rank to one {word} of {seen.get('cpus')}, by longshore, up to {most} ranks"
        return Finding(check, OK, f"{value}; tasks to one each of their rank's share")
    return Finding(check, OK, f"ranks within one {word} ({seen.get('cpus')}), by the launcher; tasks are not bound")
