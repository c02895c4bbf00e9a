"""The cores that this process may use, from its affinity and the kernel's topology."""

import os
from pathlib import Path


def available_cores() -> int:
    """Cores (not hardware threads) that this process may use."""
    allowed = available_cpus()
    cores = set()
    for cpu in allowed:
        topology = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology")
        try:
            cores.add((topology / "physical_package_id").read_text() + (topology / "core_id").read_text())
        except OSError:
            cores.add(f"cpu {cpu}")
    return max(1, len(cores))


def available_cpus() -> list[int]:
    """Hardware threads that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))
