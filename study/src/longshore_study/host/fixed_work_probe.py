"""Measures noise: each core repeats the same small piece of work for about a second.

On an idle machine every piece takes the same time. A longer piece lost its core to another process,
the kernel, or another virtual machine, which no file would show. (The fixed work quantum benchmark
of Sottile and Minnich, "Analysis of microbenchmarks for performance tuning of clusters", Cluster
2004.)
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from longshore_study.host.doctor import NOT_SUPPORTED, OK, UNKNOWN, WARN, CheckResult

_MOST_CORES = 64
_NOISY_LOST = 0.02  # of the time of a core
_UNEVEN = 0.10  # between the fastest and the slowest core
_PIECE = """
import json, os, sys, time
cpu, seconds = int(sys.argv[1]), float(sys.argv[2])
try:
    os.sched_setaffinity(0, {cpu})
except (OSError, AttributeError):
    pass
def piece():
    total = 0
    for i in range(2000):
        total += i * i
    return total
clock = time.perf_counter_ns
end = clock() + int(seconds * 1e9 * 0.2)
while clock() < end:
    piece()
times = []
end = clock() + int(seconds * 1e9)
before = clock()
while before < end:
    piece()
    now = clock()
    times.append(now - before)
    before = now
print(json.dumps(times))
"""


@dataclass(frozen=True)
class CoreNoise:
    """The time that one core lost while it repeated fixed work."""

    cpu: int
    pieces: int
    usual_microseconds: float
    """Time of an undisturbed piece: the 10 % quantile, so that a busy core does not look slow."""
    lost_fraction: float
    """Share of the whole time: the time of the pieces beyond the usual time."""
    longest_microseconds: float
    """The longest interruption."""


def noise_of(cpu: int, times: Sequence[int]) -> CoreNoise:
    """`times`: of the pieces, in nanoseconds."""
    usual = sorted(times)[len(times) // 10]
    # Pieces up to 5 % over the usual time are undisturbed: clock and caches are not perfectly
    # regular.
    lost = sum(time - usual for time in times if time > 1.05 * usual)
    return CoreNoise(cpu, len(times), usual / 1e3, lost / sum(times), (max(times) - usual) / 1e3)


def measure(cpus: Sequence[int], seconds: float = 1.0) -> list[CoreNoise]:
    """Measures all cores at the same time, each for `seconds`, with one bound process per core."""
    chosen = list(cpus)[:_MOST_CORES]
    processes = [
        subprocess.Popen(  # noqa: S603 - this Python, with the text above
            [sys.executable, "-I", "-c", _PIECE, str(cpu), str(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for cpu in chosen
    ]
    found = []
    try:
        for cpu, process in zip(chosen, processes, strict=True):
            output, _ = process.communicate(timeout=seconds * 10 + 30)
            if process.returncode == 0:
                found.append(noise_of(cpu, json.loads(output)))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
    return found


def check_results(cores: Sequence[CoreNoise]) -> list[CheckResult]:
    if not cores:
        return [CheckResult("noisy neighbour (measured)", UNKNOWN, NOT_SUPPORTED)]
    worst = max(cores, key=lambda core: core.lost_fraction)
    usual = statistics.median(core.lost_fraction for core in cores)
    longest = max(core.longest_microseconds for core in cores) / 1e3
    lost = f"{worst.lost_fraction:.1%} of the time lost on cpu {worst.cpu}, {usual:.1%} on a usual one"
    noisy = worst.lost_fraction > _NOISY_LOST
    advice = "something shares the cores (see top); in a virtual machine it may be an invisible neighbour"
    fastest = min(core.usual_microseconds for core in cores)
    slowest = max(cores, key=lambda core: core.usual_microseconds)
    difference = slowest.usual_microseconds / fastest - 1
    spread = f"the slowest core (cpu {slowest.cpu}) takes {difference:.1%} longer than the fastest"
    uneven = difference > _UNEVEN
    choose = "cores of different kinds or clocks, or hardware threads of one core: choose which to use"
    return [
        CheckResult(
            "noisy neighbour (measured)",
            WARN if noisy else OK,
            f"{lost}; longest break {longest:.2f} ms",
            advice if noisy else "",
        ),
        CheckResult("equal cores (measured)", WARN if uneven else OK, spread, choose if uneven else ""),
    ]
