"""Measures noise for `longshore doctor`: each core repeats the same small piece of computation for
about a second. (The noise probe of longshore-bench is an exchange, and differs from this probe.)

On an idle machine all pieces take the same time. If a piece takes longer, another process, the
kernel, or another virtual machine used the core. This is the fixed work quantum benchmark of
Sottile and Minnich, "Analysis of microbenchmarks for performance tuning of clusters", Cluster 2004.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from longshore_study.host.doctor import NOT_SUPPORTED, OK, UNKNOWN, WARN, Diagnosis

_MAX_CORES = 64
_MAX_LOST_FRACTION = 0.02  # of the time of a core
_MAX_CORE_DIFFERENCE = 0.10  # between the fastest and the slowest core
_UNDISTURBED_UP_TO = 1.05  # times the usual time of a piece: clock and caches vary
_PROBE_PROGRAM = """
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
warm_up_fraction = 0.2  # of the measured time; these pieces are not recorded
end = clock() + int(seconds * 1e9 * warm_up_fraction)
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
    """Time that pieces took beyond the usual time, as a share of the whole time."""
    longest_microseconds: float
    """The longest interruption of a piece."""


def noise_of(cpu: int, times: Sequence[int]) -> CoreNoise:
    """The noise of a core, from the times of its pieces in nanoseconds."""
    usual = sorted(times)[len(times) // 10]
    lost = sum(time - usual for time in times if time > _UNDISTURBED_UP_TO * usual)
    return CoreNoise(cpu, len(times), usual / 1e3, lost / sum(times), (max(times) - usual) / 1e3)


def measure(cpus: Sequence[int], seconds: float = 1.0) -> list[CoreNoise]:
    """Measures all cores at the same time, each for `seconds`, with one bound process per core."""
    measured_cpus = list(cpus)[:_MAX_CORES]
    processes = [
        subprocess.Popen(  # noqa: S603 - this Python, with the text above
            [sys.executable, "-I", "-c", _PROBE_PROGRAM, str(cpu), str(seconds)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for cpu in measured_cpus
    ]
    cores = []
    try:
        for cpu, process in zip(measured_cpus, processes, strict=True):
            output, _ = process.communicate(timeout=seconds * 10 + 30)
            if process.returncode == 0:
                cores.append(noise_of(cpu, json.loads(output)))
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.communicate()
    return cores


def noise_and_core_speeds(cores: Sequence[CoreNoise]) -> dict[str, Diagnosis]:
    """Whether other programs disturb the cores, and whether all cores are equally fast."""
    noise = "noisy neighbour (measured)"
    if not cores:
        return {noise: Diagnosis(UNKNOWN, NOT_SUPPORTED)}
    return {noise: _noise(cores), "equal cores (measured)": _equal_cores(cores)}


def _noise(cores: Sequence[CoreNoise]) -> Diagnosis:
    worst = max(cores, key=lambda core: core.lost_fraction)
    median_lost = statistics.median(core.lost_fraction for core in cores)
    longest_milliseconds = max(core.longest_microseconds for core in cores) / 1e3
    value = (
        f"{worst.lost_fraction:.1%} of the time lost on cpu {worst.cpu}, {median_lost:.1%} on a usual one; "
        f"longest break {longest_milliseconds:.2f} ms"
    )
    if worst.lost_fraction <= _MAX_LOST_FRACTION:
        return Diagnosis(OK, value)
    advice = "something shares the cores (see top); in a virtual machine it may be an invisible neighbour"
    return Diagnosis(WARN, value, advice)


def _equal_cores(cores: Sequence[CoreNoise]) -> Diagnosis:
    fastest = min(cores, key=lambda core: core.usual_microseconds)
    slowest = max(cores, key=lambda core: core.usual_microseconds)
    difference = slowest.usual_microseconds / fastest.usual_microseconds - 1
    value = f"the slowest core (cpu {slowest.cpu}) takes {difference:.1%} longer than the fastest"
    if difference <= _MAX_CORE_DIFFERENCE:
        return Diagnosis(OK, value)
    advice = "cores of different kinds or clocks, or hardware threads of one core: choose which to use"
    return Diagnosis(WARN, value, advice)
