"""Measures for `longshore doctor` how far apart the cores of neighbouring ranks are. The
measurement is the line probe of longshore-bench."""

import json
import math

from longshore_study.base.near_and_far import CacheLineSeconds, cache_line_seconds, least_far, nanoseconds
from longshore_study.host.answers import answer_of
from longshore_study.host.doctor import OK, UNKNOWN, WARN, CheckResult

_OPTIONS = ("--kernel", "barrier", "--transport", "threads", "--iterations", "1", "--repetitions", "1000")
_LEAST_FAR_SECONDS = 220e-9  # the limit that plans use: src/longshore/exchange/detail/movers/pair_caches.cpp


def measure(program: str, pattern: str, ranks: int | None = None) -> CacheLineSeconds | None:
    """Measures during barriers of `pattern`, for less than a second, with `ranks` or a rank on each
    core. None without an answer: the program is older, or ranks share cores."""
    command = [program, pattern, *_OPTIONS, *(["--ranks", str(ranks)] if ranks else []), "--json", "-"]
    answer = answer_of(command)
    if answer is None or answer.returncode:
        return None
    try:
        records = [json.loads(line) for line in answer.stdout.splitlines()]
    except ValueError:
        return None
    found = (cache_line_seconds(record.get("cache_line_seconds")) for record in records if isinstance(record, dict))
    return next((line for line in found if line), None)


def check_result(line: CacheLineSeconds | None) -> CheckResult:
    check = "distance of cores (measured)"
    if line is None:
        return CheckResult(check, UNKNOWN, "unknown: longshore-bench is absent or older, or ranks share cores")
    trip = "for a cache line to the next core and back"
    if not math.isinf(least_far([line])):
        between = f"{nanoseconds([line.p10])} to {nanoseconds([line.p90])}"
        advice = "compare states by launches in turns; 'longshore show' says which launches had near cores"
        return CheckResult(check, WARN, f"moving: {between} {trip}", advice)
    if line.median >= _LEAST_FAR_SECONDS:
        advice = "exchanges within a node are slow; a virtual machine may move its cores within minutes: look again"
        return CheckResult(check, WARN, f"far: {nanoseconds([line.median])} {trip}", advice)
    return CheckResult(check, OK, f"near: {nanoseconds([line.median])} {trip}")
