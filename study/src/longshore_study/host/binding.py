"""Checks of `longshore doctor` that ask longshore-bench for the topology of the machine and the
binding of ranks to cores, and for the distance of cores, which its line probe measures."""

import json
import math
from typing import Any

from longshore_study.base.near_and_far import CacheLineSeconds, cache_line_seconds, least_far, nanoseconds
from longshore_study.host.answers import answer_of
from longshore_study.host.doctor import OK, UNKNOWN, WARN, Diagnosis

_PROGRAM_TOO_OLD = "longshore-bench --list does not say"


def ask(program: str) -> dict[str, Any] | None:
    """The JSON object that `longshore-bench --list` prints. None if there is no valid answer."""
    answer = answer_of([program, "--list"])
    if answer is None or answer.returncode:
        return None
    try:
        listing = json.loads(answer.stdout)
    except ValueError:
        return None
    return listing if isinstance(listing, dict) else None


def topology_and_binding(listing: dict[str, Any] | None, ranks: int | None = None) -> dict[str, Diagnosis]:
    if listing is None:
        advice = "build it with 'make build', or name it with LONGSHORE_BENCH"
        return {"topology": Diagnosis(UNKNOWN, "longshore-bench was not found or does not answer", advice)}
    return {"topology": topology(listing.get("topology")), "binding": binding(listing.get("binding"), ranks)}


def topology(listed: dict[str, Any] | None) -> Diagnosis:
    if not listed:
        return Diagnosis(UNKNOWN, _PROGRAM_TOO_OLD)
    description = str(listed.get("description", ""))
    if listed.get("why_little"):
        advice = "install hwloc (Debian: libhwloc-dev) and build again; placement then knows sockets and caches"
        return Diagnosis(WARN, f"{description}; {listed['why_little']}", advice)
    if description.startswith("uneven"):
        advice = "placement by levels needs equal parts: run ranks on equal numbers of cores per socket and cache"
        return Diagnosis(WARN, description, advice)
    return Diagnosis(OK, description)


def binding(listed: dict[str, Any] | None, ranks: int | None = None) -> Diagnosis:
    if not listed:
        return Diagnosis(UNKNOWN, _PROGRAM_TOO_OLD)
    unit, bound_by = listed.get("ranks"), listed.get("ranks_by")
    max_ranks = listed.get("most_bound_ranks")
    if ranks is not None and max_ranks is not None and ranks > max_ranks:
        advice = f"use at most {max_ranks} ranks, so that each rank has its own cores"
        return Diagnosis(WARN, f"none with {ranks} ranks: {max_ranks} cores, ranks move between them", advice)
    if unit == "none":
        advice = "unset LONGSHORE_PIN, or let the launcher bind: mpirun --bind-to core, srun --cpu-bind=cores"
        return Diagnosis(WARN, "none: ranks and tasks move between cores (LONGSHORE_PIN=0)", advice)
    if bound_by == "longshore":
        value = f"each rank to one {unit} of {listed.get('cpus')}, by longshore, up to {max_ranks} ranks"
        return Diagnosis(OK, f"{value}; tasks to one each of their rank's share")
    return Diagnosis(OK, f"ranks within one {unit} ({listed.get('cpus')}), by the launcher; tasks are not bound")


_LINE_PROBE = ("--kernel", "barrier", "--transport", "threads", "--iterations", "1", "--repetitions", "1000")
_LEAST_FAR_SECONDS = 220e-9  # the limit that plans use: src/longshore/exchange/detail/movers/pair_caches.cpp


def measured_line(program: str, pattern: str, ranks: int | None = None) -> CacheLineSeconds | None:
    """Measures during barriers of `pattern`, for less than a second, with `ranks` or a rank on each
    core. None without an answer: the program is older, or ranks share cores."""
    command = [program, pattern, *_LINE_PROBE, *(["--ranks", str(ranks)] if ranks else []), "--json", "-"]
    answer = answer_of(command)
    if answer is None or answer.returncode:
        return None
    try:
        records = [json.loads(line) for line in answer.stdout.splitlines()]
    except ValueError:
        return None
    found = (cache_line_seconds(record.get("cache_line_seconds")) for record in records if isinstance(record, dict))
    return next((line for line in found if line), None)


def distance_of_cores(line: CacheLineSeconds | None) -> Diagnosis:
    if line is None:
        return Diagnosis(UNKNOWN, "unknown: longshore-bench is absent or older, or ranks share cores")
    trip = "for a cache line to the next core and back"
    if not math.isinf(least_far([line])):
        between = f"{nanoseconds([line.p10])} to {nanoseconds([line.p90])}"
        advice = "compare states by launches in turns; 'longshore show' says which launches had near cores"
        return Diagnosis(WARN, f"moving: {between} {trip}", advice)
    if line.median >= _LEAST_FAR_SECONDS:
        advice = "exchanges within a node are slow; a virtual machine may move its cores within minutes: look again"
        return Diagnosis(WARN, f"far: {nanoseconds([line.median])} {trip}", advice)
    return Diagnosis(OK, f"near: {nanoseconds([line.median])} {trip}")
