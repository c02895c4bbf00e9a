"""A measured noisy neighbour: the same small piece of work, again and again on each core, for about
a second in all.

On an idle machine every piece takes the same time. A piece that takes longer has lost the core for
a while - to another process, to the kernel, or to another virtual machine, which no file would
show. (The fixed work quantum benchmark of Sottile and Minnich, "Analysis of microbenchmarks for
performance tuning of clusters", Cluster 2004.)
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from longshore_study.host.doctor import NOT_SUPPORTED, OK, UNKNOWN, WARN, Finding

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
    """What one core lost while doing fixed work."""

    cpu: int
    pieces: int
    usual_microseconds: float
    """Time of a piece that nothing disturbs: the 10 % quantile, so that a busy core does not pass
    for a slow one."""
    lost_fraction: float
    """Of the whole time: what pieces took beyond the usual time."""
    longest_microseconds: float
    """The longest interruption."""


def noise_of(cpu: int, times: Sequence[int]) -> CoreNoise:
    """From the times of the pieces in nanoseconds."""
    usual = sorted(times)[len(times) // 10]
    # A piece within 5 % of the usual time is a usual one; the clock and the caches are not
    # perfectly regular.
    lost = sum(time - usual for time in times if time > 1.05 * usual)
    return CoreNoise(cpu, len(times), usual / 1e3, lost / sum(times), (max(times) - usual) / 1e3)


def measure(cpus: Sequence[int], seconds: float = 1.0) -> list[CoreNoise]:
    """Measures the cores at the same time, each for `seconds` by a process of its own that is bound
    to it."""
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


def findings(cores: Sequence[CoreNoise]) -> list[Finding]:
    """What the measurement says."""
    if not cores:
        return [Finding("noisy neighbour (measured)", UNKNOWN, NOT_SUPPORTED)]
    worst = max(cores, key=lambda core: core.lost_fraction)
    usual = statistics.median(core.lost_fraction for core in cores)
    longest = max(core.longest_microseconds for core in cores) / 1e3
    lost = f"{worst.lost_fraction:.1%} of the time lost on cpu {worst.cpu}, {usual:.1%} on a usual one"
    noisy = worst.lost_fraction > _NOISY_LOST
    advice = "something shares the cores: see top; in a virtual machine it may be a neighbour that cannot be seen"
    fastest = min(core.usual_microseconds for core in cores)
    slowest = max(cores, key=lambda core: core.usual_microseconds)
    difference = slowest.usual_microseconds / fastest - 1
    spread = f"the slowest core (cpu {slowest.cpu}) takes {difference:.1%} longer than the fastest"
    uneven = difference > _UNEVEN
    choose = "cores of different kinds or clocks, or hardware threads that share a core: choose which to use"
    return [
        Finding(
            "noisy neighbour (measured)",
            WARN if noisy else OK,
            f"{lost}; longest break {longest:.2f} ms",
            advice if noisy else "",
        ),
        Finding("equal cores (measured)", WARN if uneven else OK, spread, choose if uneven else ""),
    ]
