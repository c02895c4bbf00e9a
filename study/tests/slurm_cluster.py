"""A Slurm of a few pretended nodes on this machine, in a folder of its own: munged, slurmctld and
one slurmd per node.

Each slurmd has a host name of its own (a UTS namespace), so that programs see several hosts. Needs
root.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "unshare")


def why_not() -> str | None:
    """Why no Slurm can be started here; None when it can."""
    missing = [name for name in PROGRAMS if _path_of(name) is None]
    if missing:
        return f"Slurm is not installed ({', '.join(missing)} missing; Debian: slurm-wlm munge)"
    if os.geteuid() != 0:
        return "only root can start slurmd"
    if subprocess.run(["unshare", "-u", "true"], capture_output=True, check=False).returncode:
        return "this container may not make host names of its own (unshare -u)"
    return None


def _path_of(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


CONFIGURATION = """
ClusterName=box
SlurmctldHost={host}(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmctldPort={port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmdSpoolDir={folder}/spool/%n
StateSaveLocation={folder}/state
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TmpFS={folder}/tmp/%n
MpiDefault=none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0,build_queue_timeout=2000000
CompleteWait=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
KillWait=3
InactiveLimit=0
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
"""


@contextmanager
def cluster(folder: Path, nodes: int = 2, cpus: int = 4) -> Iterator[dict[str, str]]:
    """Starts it, and yields the variables that its commands need; ends every process that it
    started."""
    for name in ("state", *(f"{what}/n{node}" for node in range(nodes) for what in ("spool", "tmp"))):
        (folder / name).mkdir(parents=True)
    key = folder / "munge.key"
    key.write_bytes(bytes(range(256)) * 4)
    key.chmod(0o400)
    port, *node_ports = _free_ports(1 + nodes)
    lines = [CONFIGURATION.format(host=socket.gethostname().partition(".")[0], folder=folder, port=port)]
    lines += [
        f"NodeName=n{node} NodeHostname=n{node} NodeAddr=127.0.0.1 Port={node_ports[node]} CPUs={cpus} State=UNKNOWN\n"
        for node in range(nodes)
    ]
    (folder / "slurm.conf").write_text("".join(lines), encoding="utf-8")
    environment = {"SLURM_CONF": str(folder / "slurm.conf")}
    started: list[subprocess.Popen[bytes]] = []

    def start(*argv: str) -> None:
        log = (folder / f"{len(started)}.out").open("wb")
        with log:
            started.append(
                subprocess.Popen(
                    [_path_of(argv[0]) or argv[0], *argv[1:]],
                    env={**os.environ, **environment}, stdout=log, stderr=log, start_new_session=True,
                )
            )  # fmt: skip

    try:
        start(
            "munged", "--foreground", "--force", f"--key-file={key}", f"--socket={folder}/munge.socket",
            f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munge.seed",
        )  # fmt: skip
        _wait((folder / "munge.socket").exists, folder)
        start("slurmctld", "-D", "-c")
        for node in range(nodes):
            start("unshare", "-u", "sh", "-c", f"hostname n{node}; exec {_path_of('slurmd')} -D -N n{node}")
        _wait(lambda: _states(environment) == {"idle"}, folder)
        yield environment
    finally:
        for process in reversed(started):
            for number in (signal.SIGTERM, signal.SIGKILL):
                if process.poll() is None:
                    process.send_signal(number)
                    try:
                        process.wait(timeout=30)
                    except subprocess.TimeoutExpired:
                        continue


def _states(environment: dict[str, str]) -> set[str]:
    done = subprocess.run(
        ["sinfo", "-h", "-N", "-o", "%T"],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return set(done.stdout.split())


def _wait(condition: object, folder: Path, seconds: float = 300.0) -> None:
    assert callable(condition)
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            logs = "\n".join(
                f"{path.name}: {path.read_text(errors='replace')[-600:]}" for path in sorted(folder.glob("*.log"))
            )
            raise AssertionError(f"Slurm did not come up in {seconds:g} s:\n{logs}")
        time.sleep(0.1)
