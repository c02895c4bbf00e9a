"""Checks this machine for faults that spoil measurements, for `longshore doctor`. If a file of the
system is missing, the state is unknown ("not supported on this system"), never an error."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from longshore_study.host.machine import Machine, available_cores, available_cpus
from longshore_study.host.mpi import find_mpi

OK, WARN, UNKNOWN = "ok", "warn", "unknown"
NOT_SUPPORTED = "not supported on this system"


@dataclass(frozen=True)
class Diagnosis:
    state: str
    """OK, WARN or UNKNOWN."""
    value: str
    advice: str = ""
    """What the user can do. Empty if there is nothing to do."""


def examine(machine: Machine, ranks: int | None = None) -> dict[str, Diagnosis]:
    """The diagnoses of all checks that only read, by the name of the check."""
    cpus, cores = available_cpus(), available_cores()
    return {
        "ranks and cores": ranks_and_cores(ranks, cores),
        "affinity": affinity(cpus, os.cpu_count() or 1),
        "hardware threads": hardware_threads(cpus, cores),
        "frequency governor": governor(machine),
        "turbo": turbo(machine),
        "transparent huge pages": huge_pages(machine),
        "shared memory": shared_memory(machine),
        "single copy (CMA, XPMEM)": single_copy(machine),
        "performance counters": counters(machine),
        "cpu quota": cpu_quota(machine),
        "memory limit": memory_limit(machine),
        "system call filter": system_call_filter(machine),
        "virtual machine": virtual_machine(machine),
        "MPI launcher": mpi_launcher(),
        "allocation": allocation(os.environ),
        "load average": load_average(len(cpus)),
    }


def ranks_and_cores(ranks: int | None, cores: int) -> Diagnosis:
    if ranks is None:
        value = f"{cores} cores are available; studies with more ranks oversubscribe them"
        return Diagnosis(OK, value)
    if ranks > cores:
        advice = f"use at most {cores} ranks; more ranks measure the scheduler, not the network"
        return Diagnosis(WARN, f"{ranks} ranks on {cores} cores", advice)
    return Diagnosis(OK, f"{ranks} ranks on {cores} cores")


def affinity(allowed: Sequence[int], present: int) -> Diagnosis:
    if len(allowed) < present:
        advice = "expected in a job of a batch system; otherwise start longshore without taskset or numactl"
        return Diagnosis(WARN, f"restricted to {len(allowed)} of {present} cpus: {ranges(allowed)}", advice)
    return Diagnosis(OK, f"all {present} cpus; the program and the launcher pin their ranks")


def hardware_threads(allowed: Sequence[int], cores: int) -> Diagnosis:
    if len(allowed) > cores:
        advice = "use one rank per core: two ranks on one core slow each other down"
        return Diagnosis(WARN, f"{len(allowed)} cpus on {cores} cores", advice)
    return Diagnosis(OK, f"one per core, or not visible ({cores} cores)")


def governor(machine: Machine) -> Diagnosis:
    files = machine.matching("sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
    governors = sorted({text for file in files if (text := machine.text(file))})
    if not governors:
        return Diagnosis(UNKNOWN, f"{NOT_SUPPORTED} (common in virtual machines)")
    if governors == ["performance"]:
        return Diagnosis(OK, "performance")
    advice = "cpupower frequency-set -g performance (needs root), or warm up for longer"
    return Diagnosis(WARN, ", ".join(governors), advice)


def turbo(machine: Machine) -> Diagnosis:
    off = machine.number("sys/devices/system/cpu/intel_pstate/no_turbo")
    boost = machine.number("sys/devices/system/cpu/cpufreq/boost")
    if off is None and boost is None:
        return Diagnosis(UNKNOWN, f"{NOT_SUPPORTED}; clocks may change with load and temperature")
    if off == 1 or (off is None and boost == 0):
        return Diagnosis(OK, "off")
    advice = "results depend on the number of busy cores; switch turbo off for steadier results (needs root)"
    return Diagnosis(WARN, "on", advice)


def huge_pages(machine: Machine) -> Diagnosis:
    text = machine.text("sys/kernel/mm/transparent_hugepage/enabled")
    if text is None:
        return Diagnosis(UNKNOWN, NOT_SUPPORTED)
    setting = text.partition("[")[2].partition("]")[0] or text
    if setting == "never":
        advice = "random access to large tables causes page walks; set it to madvise or always (needs root)"
        return Diagnosis(WARN, setting, advice)
    return Diagnosis(OK, setting)


def shared_memory(machine: Machine) -> Diagnosis:
    path = machine.root / "dev" / "shm"
    try:
        free = shutil.disk_usage(path).free
    except OSError:
        return Diagnosis(UNKNOWN, NOT_SUPPORTED, "MPI falls back to files in /tmp")
    value = f"{free / 2**20:.0f} MiB free in {path}"
    if free < 256 * 2**20:
        advice = "ranks on one node share memory here; start containers with --shm-size=2g"
        return Diagnosis(WARN, value, advice)
    return Diagnosis(OK, value)


def single_copy(machine: Machine) -> Diagnosis:
    """Whether a process may copy directly from the memory of another process. CMA needs ptrace
    rights, XPMEM needs a kernel module."""
    if machine.matching("dev/xpmem"):
        return Diagnosis(OK, "XPMEM present")
    scope = machine.number("proc/sys/kernel/yama/ptrace_scope")
    if scope is None:
        if machine.text("proc/sys/kernel/ostype") is None:
            return Diagnosis(UNKNOWN, NOT_SUPPORTED)
        return Diagnosis(OK, "CMA not restricted by Yama; no XPMEM")
    if scope == 0:
        return Diagnosis(OK, "CMA allowed (ptrace_scope 0); no XPMEM")
    advice = "processes copy large messages twice; sysctl kernel.yama.ptrace_scope=0 avoids it (needs root)"
    return Diagnosis(WARN, f"CMA restricted (ptrace_scope {scope}), no XPMEM", advice)


def counters(machine: Machine) -> Diagnosis:
    level = machine.number("proc/sys/kernel/perf_event_paranoid")
    if level is None:
        return Diagnosis(UNKNOWN, NOT_SUPPORTED)
    if level <= 2 or os.geteuid() == 0:
        return Diagnosis(OK, f"readable for own processes (perf_event_paranoid {level})")
    advice = "counters explain results but are not needed; sysctl kernel.perf_event_paranoid=2 (needs root)"
    return Diagnosis(WARN, f"closed (perf_event_paranoid {level})", advice)


def cpu_quota(machine: Machine) -> Diagnosis:
    groups = _control_groups(machine, "cpu")
    texts = [text for _, folder in groups if (text := machine.text(f"{folder}/cpu.max"))]
    for version, folder in groups:
        if version == 1 and (quota := machine.text(f"{folder}/cpu.cfs_quota_us")):
            texts.append(f"{quota} {machine.text(f'{folder}/cpu.cfs_period_us')}")
    if not texts:
        return Diagnosis(UNKNOWN, "no cgroup limit is visible")
    words = [text.split() for text in texts]
    quotas = [int(w[0]) / int(w[1]) for w in words if len(w) == 2 and w[0].isdigit() and w[1].isdigit() and int(w[1])]
    if not quotas:
        return Diagnosis(OK, "none")
    advice = "ranks stop when the quota is used up; use fewer ranks, or raise the limit of the container"
    return Diagnosis(WARN, f"{min(quotas):g} cpus", advice)


def memory_limit(machine: Machine) -> Diagnosis:
    names = {1: "memory.limit_in_bytes", 2: "memory.max"}
    files = [f"{folder}/{names[version]}" for version, folder in _control_groups(machine, "memory")]
    texts = [text for file in files if (text := machine.text(file))]
    total = next((int(size) * 1024 for size in machine.lines("proc/meminfo", "MemTotal:")), 0)
    if not texts or not total:
        return Diagnosis(UNKNOWN, "no cgroup limit is visible")
    limit = min((int(text) for text in texts if text.isdigit()), default=total)
    if limit >= total:
        return Diagnosis(OK, f"none; {total / 2**30:.1f} GiB in the machine")
    advice = "keep the tables and arrays of all ranks well below it, or ranks are killed"
    return Diagnosis(WARN, f"{limit / 2**30:.1f} of {total / 2**30:.1f} GiB", advice)


def system_call_filter(machine: Machine) -> Diagnosis:
    """Whether a filter (seccomp) may refuse system calls. Containers have such a filter."""
    if machine.text("proc/self/status") is None:
        return Diagnosis(UNKNOWN, NOT_SUPPORTED)
    mode = next(machine.lines("proc/self/status", "Seccomp:"), None)
    if mode is None:
        return Diagnosis(UNKNOWN, "the kernel does not tell")
    if mode == "0":
        return Diagnosis(OK, "none")
    advice = (
        "it may refuse counters (perf_event_open), copies between processes (process_vm_readv) and the placement of "
        "memory (mbind); a container allows them with --security-opt seccomp=unconfined"
    )
    return Diagnosis(WARN, "seccomp is on", advice)


def virtual_machine(machine: Machine) -> Diagnosis:
    cpu = machine.text("proc/cpuinfo")
    if cpu is None:
        return Diagnosis(UNKNOWN, NOT_SUPPORTED)
    name = machine.text("sys/class/dmi/id/product_name") or "kind unknown"
    container = machine.matching(".dockerenv") or machine.matching("run/.containerenv")
    if " hypervisor" in cpu:
        advice = "other machines on the host may disturb invisibly: take more sessions, at different times of day"
        return Diagnosis(WARN, f"yes ({name})", advice)
    return Diagnosis(OK, "no" + (", but a container" if container else ""))


def mpi_launcher() -> Diagnosis:
    mpi = find_mpi()
    if mpi is None:
        advice = "install an MPI (Debian: openmpi-bin), or load its module, or set LONGSHORE_MPIRUN"
        return Diagnosis(WARN, "none found", advice)
    return Diagnosis(OK, f"{mpi.kind}: {mpi.path} ({mpi.version})")


_BATCH = {
    "Slurm": ("sbatch", ("SLURM_JOB_ID", "SLURM_JOBID"), "slurm-batch", "salloc --exclusive"),
    "PBS": ("qsub", ("PBS_JOBID",), "pbs-batch", "qsub -I"),
    "Flux": ("flux", ("FLUX_URI",), "flux-batch", "flux alloc"),
}
"""Of batch systems: submit program, variables of jobs, `kind` in a study file, allocation."""


def allocation(environment: Mapping[str, str]) -> Diagnosis:
    """Whether this node belongs to a job. Login nodes are shared and differ from compute nodes."""
    for name, (program, marks, kind, ask) in _BATCH.items():
        job = next((environment[mark] for mark in marks if environment.get(mark)), None)
        if job is not None:
            nodes = environment.get("SLURM_JOB_NUM_NODES")
            return Diagnosis(OK, f"{name} job {job}" + (f" on {nodes} nodes" if nodes else ""))
        if shutil.which(program) is not None:
            advice = f'this may be a login node: measure within {ask}, or submit jobs with kind = "{kind}"'
            return Diagnosis(WARN, f"none, although {name} is installed", advice)
    return Diagnosis(OK, "no batch system found")


def load_average(cpus: int) -> Diagnosis:
    try:
        load = os.getloadavg()[0]
    except OSError:
        return Diagnosis(UNKNOWN, NOT_SUPPORTED)
    if load > max(0.5, 0.1 * cpus):
        advice = "another program runs, or ran a minute ago (see top); measure when the machine is idle"
        return Diagnosis(WARN, f"{load:.2f} on {cpus} cpus", advice)
    return Diagnosis(OK, f"{load:.2f} on {cpus} cpus")


def ranges(numbers: Sequence[int]) -> str:
    """0-3,8 for [0, 1, 2, 3, 8], the notation of the kernel for lists of cpus."""
    # Consecutive numbers have the same distance to their positions.
    runs = groupby(enumerate(sorted(numbers)), lambda placed: placed[1] - placed[0])
    parts = [[number for _, number in run] for _, run in runs]
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)


def _control_groups(machine: Machine, controller: str) -> list[tuple[int, str]]:
    """The control group of this process for a controller, and all its ancestors: the version and
    the folder of each, because each may have a limit. In a container that sees the path of the
    host, only the top folder exists."""
    found = []
    for line in (machine.text("proc/self/cgroup") or "0::/").splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        top = Path("sys/fs/cgroup") / (controller if controllers else "")
        group = top / path.lstrip("/")
        folders = [folder for folder in (group, *group.parents) if folder.is_relative_to(top)]
        found += [(1 if controllers else 2, str(folder)) for folder in folders]
    return found


def python_and_system() -> dict[str, str]:
    """Versions for bug reports."""
    return {"python": sys.version.split()[0], "system": " ".join(os.uname()[:3])}
