"""The doctor, on machines made of files: what each check says of a good, a bad and an absent
one."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from longshore_study.base.near_and_far import CacheLineSeconds
from longshore_study.cli import command_line
from longshore_study.host import binding, doctor
from longshore_study.host.doctor import OK, UNKNOWN, WARN, Diagnosis
from longshore_study.host.fixed_work_probe import CoreNoise, measure, noise_and_core_speeds, noise_of
from longshore_study.host.machine import Machine
from started_programs import write_script


def machine(root: Path, **files: str) -> Machine:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    return Machine(root)


GOVERNOR = "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"
HUGE = "sys/kernel/mm/transparent_hugepage/enabled"
YAMA = "proc/sys/kernel/yama/ptrace_scope"


@pytest.mark.parametrize(
    ("check", "files", "state", "words"),
    [
        (doctor.governor, {}, UNKNOWN, "not supported"),
        (doctor.governor, {GOVERNOR: "performance"}, OK, "performance"),
        (doctor.governor, {GOVERNOR: "powersave"}, WARN, "powersave"),
        (doctor.turbo, {}, UNKNOWN, "not supported"),
        (doctor.turbo, {"sys/devices/system/cpu/intel_pstate/no_turbo": "1"}, OK, "off"),
        (doctor.turbo, {"sys/devices/system/cpu/cpufreq/boost": "1"}, WARN, "on"),
        (doctor.huge_pages, {}, UNKNOWN, "not supported"),
        (doctor.huge_pages, {HUGE: "always madvise [never]"}, WARN, "never"),
        (doctor.huge_pages, {HUGE: "always [madvise] never"}, OK, "madvise"),
        (doctor.single_copy, {}, UNKNOWN, "not supported"),
        (doctor.single_copy, {YAMA: "1"}, WARN, "ptrace_scope 1"),
        (doctor.single_copy, {YAMA: "0"}, OK, "ptrace_scope 0"),
        (doctor.single_copy, {YAMA: "1", "dev/xpmem": ""}, OK, "XPMEM"),
        (doctor.counters, {}, UNKNOWN, "not supported"),
        (doctor.counters, {"proc/sys/kernel/perf_event_paranoid": "1"}, OK, "readable"),
        (doctor.cpu_quota, {}, UNKNOWN, "no cgroup"),
        (doctor.cpu_quota, {"sys/fs/cgroup/cpu.max": "max 100000"}, OK, "none"),
        (doctor.cpu_quota, {"sys/fs/cgroup/cpu.max": "150000 100000"}, WARN, "1.5 cpus"),
        (doctor.cpu_quota, {"sys/fs/cgroup/cpu.max": "nonsense"}, OK, "none"),
        (
            doctor.cpu_quota,
            {
                "proc/self/cgroup": "0::/job/7",
                "sys/fs/cgroup/job/cpu.max": "200000 100000",
                "sys/fs/cgroup/job/7/cpu.max": "max 1",
            },
            WARN,
            "2 cpus",
        ),
        (
            doctor.cpu_quota,
            {
                "proc/self/cgroup": "0::/job/7",
                "sys/fs/cgroup/job/cpu.max": "200000 100000",
                "sys/fs/cgroup/job/7/cpu.max": "800000 100000",
            },
            WARN,
            "2 cpus",
        ),
        (
            doctor.cpu_quota,
            {
                "proc/self/cgroup": "4:memory:/other\n3:cpu,cpuacct:/docker/1\n0::/",
                "sys/fs/cgroup/cpu/docker/1/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/docker/1/cpu.cfs_period_us": "100000",
                "sys/fs/cgroup/cpu/docker/cpu.cfs_quota_us": "250000",
                "sys/fs/cgroup/cpu/docker/cpu.cfs_period_us": "100000",
            },
            WARN,
            "2.5 cpus",
        ),
        (doctor.system_call_filter, {}, UNKNOWN, "not supported"),
        (doctor.system_call_filter, {"proc/self/status": "Name:\tpython\nSeccomp:\t0"}, OK, "none"),
        (doctor.system_call_filter, {"proc/self/status": "Name:\tpython\nSeccomp:\t2"}, WARN, "seccomp is on"),
        (
            doctor.memory_limit,
            {
                "proc/meminfo": "MemTotal: 2097152 kB",
                "proc/self/cgroup": "4:memory:/job/1\n0::/",
                "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "536870912",
                "sys/fs/cgroup/memory/job/1/memory.limit_in_bytes": "9223372036854771712",
            },
            WARN,
            "0.5 of 2.0",
        ),
        (doctor.memory_limit, {}, UNKNOWN, "no cgroup"),
        (
            doctor.memory_limit,
            {"proc/meminfo": "MemTotal: 1048576 kB", "sys/fs/cgroup/memory.max": "max"},
            OK,
            "1.0 GiB",
        ),
        (
            doctor.memory_limit,
            {"proc/meminfo": "MemTotal: 2097152 kB", "sys/fs/cgroup/memory.max": "1073741824"},
            WARN,
            "1.0 of 2.0",
        ),
        (doctor.virtual_machine, {}, UNKNOWN, "not supported"),
        (doctor.virtual_machine, {"proc/cpuinfo": "flags: fpu hypervisor sse"}, WARN, "yes"),
        (doctor.virtual_machine, {"proc/cpuinfo": "flags: fpu sse"}, OK, "no"),
        (doctor.shared_memory, {}, UNKNOWN, "not supported"),
    ],
)
def test_a_check_says_what_it_finds(
    tmp_path: Path, check: Callable[[Machine], Diagnosis], files: dict[str, str], state: str, words: str
) -> None:
    diagnosis = check(machine(tmp_path, **files))
    assert (diagnosis.state, words in diagnosis.value) == (state, True), diagnosis
    assert bool(diagnosis.advice) or state != WARN


def test_an_empty_machine_fails_nothing(tmp_path: Path) -> None:
    found = doctor.examine(Machine(tmp_path), ranks=10_000)
    assert {diagnosis.state for diagnosis in found.values()} <= {OK, WARN, UNKNOWN}
    assert found["ranks and cores"].state == WARN  # so many ranks fit nowhere


def test_restricted_cpus_are_named() -> None:
    assert "2 of 8 cpus: 0,4" in doctor.affinity([0, 4], 8).value
    assert doctor.affinity(range(8), 8).state == OK
    assert doctor.ranges([0, 1, 2, 3, 8]) == "0-3,8"
    assert doctor.hardware_threads(range(8), 4).state == WARN


def test_interrupted_work_is_seen_and_quiet_work_is_not() -> None:
    quiet = noise_of(0, [1000] * 999 + [1010])
    assert quiet.lost_fraction == 0.0
    disturbed = noise_of(1, [1000] * 900 + [4_000_000])
    assert disturbed.lost_fraction == pytest.approx(3_999_000 / 4_900_000)
    assert disturbed.longest_microseconds == pytest.approx(3999.0)

    def states(*cores: CoreNoise) -> list[str]:
        return [diagnosis.state for diagnosis in noise_and_core_speeds(cores).values()]

    assert states(quiet, disturbed) == [WARN, OK]
    assert states(quiet) == [OK, OK]
    slow = CoreNoise(2, 100, 2 * quiet.usual_microseconds, 0.0, 0.0)
    assert states(quiet, slow) == [OK, WARN]
    assert states()[0] == UNKNOWN


def test_the_measurement_runs_on_this_machine() -> None:
    cores = measure([min(os.sched_getaffinity(0))], seconds=0.05)
    assert len(cores) == 1
    assert cores[0].pieces > 10
    assert 0.0 <= cores[0].lost_fraction < 1.0


@pytest.mark.parametrize(
    ("line", "state", "words"),
    [
        (None, UNKNOWN, "unknown"),
        (CacheLineSeconds(71e-9, 70e-9, 80e-9), OK, "near: 71 ns"),
        (CacheLineSeconds(240e-9, 230e-9, 260e-9), WARN, "far: 240 ns"),
        (CacheLineSeconds(71e-9, 70e-9, 240e-9), WARN, "moving: 70 ns to 240 ns"),
    ],
)
def test_the_distance_of_cores_is_one_line(line: CacheLineSeconds | None, state: str, words: str) -> None:
    found = binding.distance_of_cores(line)
    assert found.state == state
    assert found.value.startswith(words)
    assert bool(found.advice) == (state == WARN)


@pytest.mark.parametrize(
    ("printed", "median"),
    [
        ('{"record":"launch"}\n{"record":"result","cache_line_seconds":{"median":7e-8,"p10":6e-8,"p90":8e-8}}', 7e-8),
        ('{"record":"result"}', None),
        ("a message", None),
    ],
)
def test_longshore_bench_measures_the_distance_of_cores(tmp_path: Path, printed: str, median: float | None) -> None:
    program = write_script(tmp_path / "bench", f"cat <<'END'\n{printed}\nEND")
    found = binding.measured_line(str(program), "control", 2)
    assert (found.median if found else None) == median
    assert binding.measured_line(str(tmp_path / "absent"), "control") is None


def test_the_verb_prints_a_document(capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.main(["doctor", "--no-measure", "--json", "--ranks", "100000"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == 1
    assert {"check", "state", "value", "advice"} == set(answer["findings"][0])
    assert answer["warnings"] >= 1
    assert command_line.main(["doctor", "--no-measure"]) == 0
    assert "ranks and cores" in capsys.readouterr().out
    assert command_line.main(["doctor", "--no-measure", "--ranks", "0"]) == 64


@pytest.mark.parametrize(("load", "state"), [(0.1, OK), (3.0, WARN)])
def test_a_machine_that_is_busy_is_seen(monkeypatch: pytest.MonkeyPatch, load: float, state: str) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    assert doctor.load_average(4).state == state


def test_a_login_node_is_distinguished_from_an_allocated_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.allocation({}).state == "ok"
    write_script(tmp_path / "sbatch")
    outside = doctor.allocation({})
    assert (outside.state, outside.value) == ("warn", "none, although Slurm is installed")
    assert "slurm-batch" in outside.advice
    inside = doctor.allocation({"SLURM_JOB_ID": "17", "SLURM_JOB_NUM_NODES": "2"})
    assert (inside.state, inside.value) == ("ok", "Slurm job 17 on 2 nodes")
