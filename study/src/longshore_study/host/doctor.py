"""What on this machine will spoil a measurement. Each check reads one thing and says ok, warn or
unknown, the value found, and what to do; a file that is not there makes it unknown ("not
supported"), never an error.

The checks read below a root folder, "/" unless a test brings its own.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from longshore_study.host.cores import available_cores, available_cpus
from longshore_study.host.mpi import find_mpi

OK, WARN, UNKNOWN = "ok", "warn", "unknown"
NOT_SUPPORTED = "not supported on this system"


@dataclass(frozen=True)
class Finding:
    """The answer of one check."""

    check: str
    state: str
    value: str
    advice: str = ""
    """What to do about it; empty when there is nothing to do."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Machine:
    """Where the checks look."""

    root: Path = Path("/")

    def text(self, path: str) -> str | None:
        """The content of a file, or None when it cannot be read."""
        try:
            return (self.root / path.lstrip("/")).read_text(encoding="utf-8", errors="replace").strip()
        except OSError:
            return None

    def number(self, path: str) -> int | None:
        text = self.text(path)
        try:
            return int(text) if text is not None else None
        except ValueError:
            return None

    def matching(self, pattern: str) -> list[str]:
        try:
            return sorted(str(path.relative_to(self.root)) for path in self.root.glob(pattern.lstrip("/")))
        except OSError:
            return []


def examine(machine: Machine, ranks: int | None = None) -> list[Finding]:
    """All checks that only read, in the order in which they are shown."""
    cpus = available_cpus()
    return [
        ranks_and_cores(ranks, available_cores()),
        affinity(cpus, os.cpu_count() or 1),
        hardware_threads(cpus, available_cores()),
        *(check(machine) for check in _READING),
        mpi_launcher(),
        allocation(os.environ),
        load_average(len(cpus)),
    ]


def ranks_and_cores(ranks: int | None, cores: int) -> Finding:
    if ranks is None:
        value = f"{cores} cores may be used; studies with more ranks than that oversubscribe"
        return Finding("ranks and cores", OK, value)
    if ranks > cores:
        advice = f"use at most {cores} ranks, or expect times of the scheduler and not of the network"
        return Finding("ranks and cores", WARN, f"{ranks} ranks on {cores} cores", advice)
    return Finding("ranks and cores", OK, f"{ranks} ranks on {cores} cores")


def affinity(allowed: Sequence[int], present: int) -> Finding:
    if not hasattr(os, "sched_getaffinity"):
        return Finding("affinity", UNKNOWN, NOT_SUPPORTED)
    if len(allowed) < present:
        advice = "fine when a batch system gave you these; else start longshore without taskset or numactl"
        return Finding("affinity", WARN, f"restricted to {len(allowed)} of {present} cpus: {ranges(allowed)}", advice)
    return Finding("affinity", OK, f"all {present} cpus; the program and the launcher pin their ranks")


def hardware_threads(allowed: Sequence[int], cores: int) -> Finding:
    if len(allowed) > cores:
        advice = "use one rank per core; two on the threads of one core share it"
        return Finding("hardware threads", WARN, f"{len(allowed)} cpus on {cores} cores", advice)
    return Finding("hardware threads", OK, f"one per core, or not visible ({cores} cores)")


def governor(machine: Machine) -> Finding:
    files = machine.matching("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    kinds = sorted({text for file in files if (text := machine.text(file))})
    if not kinds:
        return Finding("frequency governor", UNKNOWN, f"{NOT_SUPPORTED} (common in virtual machines)")
    if kinds == ["performance"]:
        return Finding("frequency governor", OK, "performance")
    advice = "cpupower frequency-set -g performance (needs root), or warm up for longer"
    return Finding("frequency governor", WARN, ", ".join(kinds), advice)


def turbo(machine: Machine) -> Finding:
    off = machine.number("sys/devices/system/cpu/intel_pstate/no_turbo")
    boost = machine.number("sys/devices/system/cpu/cpufreq/boost")
    if off is None and boost is None:
        return Finding("turbo", UNKNOWN, f"{NOT_SUPPORTED}; clocks may change with load and temperature")
    if off == 1 or (off is None and boost == 0):
        return Finding("turbo", OK, "off")
    advice = "figures depend on how many cores are busy; for the steadiest ones switch it off (needs root)"
    return Finding("turbo", WARN, "on", advice)


def huge_pages(machine: Machine) -> Finding:
    text = machine.text("sys/kernel/mm/transparent_hugepage/enabled")
    if text is None:
        return Finding("transparent huge pages", UNKNOWN, NOT_SUPPORTED)
    chosen = text.partition("[")[2].partition("]")[0] or text
    if chosen == "never":
        advice = "random access to large tables will pay for page walks; set it to madvise or always (needs root)"
        return Finding("transparent huge pages", WARN, chosen, advice)
    return Finding("transparent huge pages", OK, chosen)


def shared_memory(machine: Machine) -> Finding:
    check, path = "shared memory", machine.root / "dev" / "shm"
    try:
        free = shutil.disk_usage(path).free
    except OSError:
        return Finding(check, UNKNOWN, NOT_SUPPORTED, "MPI falls back to files in /tmp")
    value = f"{free / 2**20:.0f} MiB free in {path}"
    if free < 256 * 2**20:
        advice = "segments of ranks on one node live here; containers: start with --shm-size=2g"
        return Finding(check, WARN, value, advice)
    return Finding(check, OK, value)


def single_copy(machine: Machine) -> Finding:
    """Whether one process may copy out of another: CMA needs ptrace rights, XPMEM its own
    module."""
    if machine.matching("dev/xpmem"):
        return Finding("single copy (CMA, XPMEM)", OK, "XPMEM present")
    scope = machine.number("proc/sys/kernel/yama/ptrace_scope")
    if scope is None:
        if machine.text("proc/sys/kernel/ostype") is None:
            return Finding("single copy (CMA, XPMEM)", UNKNOWN, NOT_SUPPORTED)
        return Finding("single copy (CMA, XPMEM)", OK, "CMA not restricted by Yama; no XPMEM")
    if scope == 0:
        return Finding("single copy (CMA, XPMEM)", OK, "CMA allowed (ptrace_scope 0); no XPMEM")
    advice = "large messages between processes are copied twice; sysctl kernel.yama.ptrace_scope=0 (needs root)"
    return Finding("single copy (CMA, XPMEM)", WARN, f"CMA restricted (ptrace_scope {scope}), no XPMEM", advice)


def counters(machine: Machine) -> Finding:
    level = machine.number("proc/sys/kernel/perf_event_paranoid")
    if level is None:
        return Finding("performance counters", UNKNOWN, NOT_SUPPORTED)
    if level <= 2 or os.geteuid() == 0:
        return Finding("performance counters", OK, f"readable for own processes (perf_event_paranoid {level})")
    advice = "only needed to explain a figure, not to measure it; sysctl kernel.perf_event_paranoid=2 (needs root)"
    return Finding("performance counters", WARN, f"closed (perf_event_paranoid {level})", advice)


def cpu_quota(machine: Machine) -> Finding:
    text = _cgroup_text(machine, "cpu.max")
    if text is not None:
        quota, _, period = text.partition(" ")
    else:
        quota = machine.text("sys/fs/cgroup/cpu/cpu.cfs_quota_us") or ""
        period = machine.text("sys/fs/cgroup/cpu/cpu.cfs_period_us") or ""
        if not quota:
            return Finding("cpu quota", UNKNOWN, "no cgroup limit is visible")
    if quota in ("max", "-1") or not (quota.isdigit() and period.isdigit() and int(period)):
        return Finding("cpu quota", OK, "none")
    cpus = int(quota) / int(period)
    advice = "ranks are stopped when it is used up; use fewer ranks than that, or raise the limit of the container"
    return Finding("cpu quota", WARN, f"{cpus:g} cpus", advice)


def memory_limit(machine: Machine) -> Finding:
    text = _cgroup_text(machine, "memory.max") or machine.text("sys/fs/cgroup/memory/memory.limit_in_bytes")
    total = _memory_total(machine)
    if text is None or not total:
        return Finding("memory limit", UNKNOWN, "no cgroup limit is visible")
    if not text.isdigit() or int(text) >= total:
        return Finding("memory limit", OK, f"none; {total / 2**30:.1f} GiB in the machine")
    advice = "tables and arrays of all ranks together must stay well below it, or ranks are killed"
    return Finding("memory limit", WARN, f"{int(text) / 2**30:.1f} of {total / 2**30:.1f} GiB", advice)


def virtual_machine(machine: Machine) -> Finding:
    cpu = machine.text("proc/cpuinfo")
    if cpu is None:
        return Finding("virtual machine", UNKNOWN, NOT_SUPPORTED)
    name = machine.text("sys/class/dmi/id/product_name") or "kind unknown"
    container = machine.matching(".dockerenv") or machine.matching("run/.containerenv")
    if " hypervisor" in cpu:
        advice = "neighbours on the host are not visible and do disturb: take more sessions, at different times of day"
        return Finding("virtual machine", WARN, f"yes ({name})", advice)
    return Finding("virtual machine", OK, "no" + (", but a container" if container else ""))


_READING: tuple[Callable[[Machine], Finding], ...] = (
    governor,
    turbo,
    huge_pages,
    shared_memory,
    single_copy,
    counters,
    cpu_quota,
    memory_limit,
    virtual_machine,
)


def mpi_launcher() -> Finding:
    mpi = find_mpi()
    if mpi is None:
        advice = "install an MPI (Debian: openmpi-bin), or load its module, or set LONGSHORE_MPIRUN"
        return Finding("MPI launcher", WARN, "none found", advice)
    return Finding("MPI launcher", OK, f"{mpi.kind}: {mpi.path} ({mpi.version})")


_BATCH = {
    "Slurm": ("sbatch", ("SLURM_JOB_ID", "SLURM_JOBID"), "slurm-batch", "salloc --exclusive"),
    "PBS": ("qsub", ("PBS_JOBID",), "pbs-batch", "qsub -I"),
    "Flux": ("flux", ("FLUX_URI",), "flux-batch", "flux alloc"),
}
"""By batch system: what submits, what its jobs have in their environment, our launcher of it, and
how to get nodes."""


def allocation(environment: Mapping[str, str]) -> Finding:
    """Whether this is a node of one's own: login nodes are shared, and are not the nodes of the
    cluster."""
    check = "allocation"
    for name, (program, marks, kind, ask) in _BATCH.items():
        job = next((environment[mark] for mark in marks if environment.get(mark)), None)
        if job is not None:
            nodes = environment.get("SLURM_JOB_NUM_NODES")
            return Finding(check, OK, f"{name} job {job}" + (f" on {nodes} nodes" if nodes else ""))
        if shutil.which(program) is not None:
            advice = f'this may be a login node: measure within {ask}, or let kind = "{kind}" submit jobs'
            return Finding(check, WARN, f"none, and {name} is here", advice)
    return Finding(check, OK, "no batch system here")


def load_average(cpus: int) -> Finding:
    try:
        load = os.getloadavg()[0]
    except OSError:
        return Finding("load average", UNKNOWN, NOT_SUPPORTED)
    if load > max(0.5, 0.1 * cpus):
        advice = "something else is running, or has been until a minute ago: see top; measure when the machine is idle"
        return Finding("load average", WARN, f"{load:.2f} on {cpus} cpus", advice)
    return Finding("load average", OK, f"{load:.2f} on {cpus} cpus")


def ranges(numbers: Sequence[int]) -> str:
    """0-3,8 for [0, 1, 2, 3, 8], as the kernel writes cpu lists."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _cgroup_text(machine: Machine, name: str) -> str | None:
    """A limit of the control group (version 2) of this process: its own, or the nearest one above
    that sets it."""
    groups = (machine.text("proc/self/cgroup") or "").splitlines()
    own = next((line[3:] for line in groups if line.startswith("0::")), "/")
    folder = Path("sys/fs/cgroup", own.lstrip("/"))
    seen = None
    for place in (folder, *folder.parents):
        text = machine.text(str(place / name))
        seen = seen or text
        if text is not None and not text.startswith("max"):
            return text
        if place == Path("sys/fs/cgroup"):
            break
    return seen


def _memory_total(machine: Machine) -> int:
    for line in (machine.text("proc/meminfo") or "").splitlines():
        if line.startswith("MemTotal:"):
            return int(line.split()[1]) * 1024
    return 0


def python_and_system() -> dict[str, str]:
    """What a bug report about a doctor's answer needs."""
    return {"python": sys.version.split()[0], "system": " ".join(os.uname()[:3])}
